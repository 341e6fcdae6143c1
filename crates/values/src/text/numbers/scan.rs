//! The scanner that finds the numbers of a string.
//!
//! It passes once over the bytes of [`symbols`](super::symbols). A numeral consists of positions
//! only; the caller computes the values of those that it needs.

use std::ops::Range;

use super::DecimalMark;
use super::shape::{self, is_separator};
use super::symbols::{FRACTION, LETTER, PER_MILLE, fraction};

/// The most digits of a numerator or denominator. Longer ones are not fractions.
const FRACTION_DIGITS: usize = 18;
/// Words that may directly precede an amount.
const CURRENCY_CODES: [&[u8]; 12] =
    [b"USD", b"EUR", b"GBP", b"JPY", b"CNY", b"INR", b"CHF", b"CAD", b"AUD", b"KRW", b"RMB", b"Rs"];

/// The position of a number in the string, and its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Numeral {
    pub(super) negative: bool,
    /// Where the command of a LaTeX fraction begins.
    pub(super) command: Option<usize>,
    /// The whole part of a mixed number such as 6 1/2.
    pub(super) whole: Option<Range<usize>>,
    /// Digits, separators and an optional decimal mark; empty for a lone vulgar fraction.
    pub(super) digits: Range<usize>,
    pub(super) point: Option<usize>,
    pub(super) exponent: i64,
    pub(super) denominator: Option<Range<usize>>,
    pub(super) vulgar: Option<(u8, u8)>,
    /// The exponent of a percent or per mille sign after the number; 0 without one.
    pub(super) percent: i64,
    pub(super) end: usize,
}

impl Numeral {
    /// Whether a number that was found before is the whole part of this one.
    fn includes(&self, before: &Self) -> bool {
        let is_before = |digits: &Range<usize>| *digits == before.digits;
        self.whole.as_ref().is_some_and(is_before)
            || (self.vulgar.is_some() && !self.digits.is_empty() && is_before(&self.digits))
    }

    /// Where the number begins, without its sign.
    pub(super) fn start(&self) -> usize {
        self.command.unwrap_or(self.whole.as_ref().unwrap_or(&self.digits).start)
    }
}

/// The result of scanning one position.
enum Step {
    Found(Numeral),
    /// No number here; continue at this position.
    Skip(usize),
}

pub(super) struct Scanner<'a> {
    pub(super) text: &'a [u8],
    pub(super) mark: DecimalMark,
}

impl Scanner<'_> {
    pub(super) fn last(&self) -> Option<Numeral> {
        self.scan(|_| {})
    }

    /// Returns all numerals, in order. A whole part is not a numeral of its own: `6 1/2` is one.
    pub(super) fn all(&self) -> Vec<Numeral> {
        let mut all: Vec<Numeral> = Vec::new();
        let last = self.scan(|earlier| all.push(earlier.clone()));
        all.extend(last);
        all
    }

    /// Passes each numeral but the last to a function, and returns the last one.
    fn scan(&self, mut earlier: impl FnMut(&Numeral)) -> Option<Numeral> {
        let mut last: Option<Numeral> = None;
        let mut at = 0;
        while let Some(ahead) = self.count_before_start(at) {
            at += ahead;
            match self.step(at, last.as_ref()) {
                Step::Skip(next) => at = next,
                Step::Found(numeral) => {
                    at = numeral.end;
                    if let Some(before) = last.filter(|before| !numeral.includes(before)) {
                        earlier(&before);
                    }
                    last = Some(numeral);
                }
            }
        }
        last
    }

    /// Returns the number of bytes between `at` and the next position where a number can start.
    fn count_before_start(&self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        rest.iter().position(|&byte| may_start(byte))
    }

    fn step(&self, at: usize, last: Option<&Numeral>) -> Step {
        let byte = self.text[at];
        if let Some(value) = fraction(byte) {
            return Step::Found(self.vulgar(at, value, last));
        }
        let starts = match byte {
            b'0'..=b'9' => true,
            b'.' => self.mark == DecimalMark::Point && self.digit(at + 1) && self.opens(at),
            b'\\' => {
                return self.latex_fraction(at).map_or(Step::Skip(at + 1), Step::Found);
            }
            _ => false,
        };
        if !starts {
            return Step::Skip(at + 1);
        }
        let end = self.run_end(at);
        if self.is_hexadecimal(at, end) {
            return Step::Skip(self.count(end, u8::is_ascii_alphanumeric) + end);
        }
        if self.glued_to_word(at) || self.is_exponent(at) {
            return Step::Skip(end);
        }
        self.numeral(at, end, last).map_or(Step::Skip(end), Step::Found)
    }

    /// Reads the numeral in `at..end` with its exponent, fraction and percent sign.
    fn numeral(&self, at: usize, end: usize, last: Option<&Numeral>) -> Option<Numeral> {
        let run = &self.text[at..end];
        let (skipped, point) = if run[0] == b'.' {
            (0, Some(0))
        } else {
            let shape = shape::read(run, self.mark)?;
            (shape.skipped, shape.point)
        };
        let start = at + skipped;
        let mut numeral = Numeral {
            negative: skipped == 0 && self.is_negative(start),
            digits: start..end,
            point: point.map(|point| start + point),
            end,
            ..Numeral::default()
        };
        self.scientific(&mut numeral)?;
        if numeral.exponent == 0 {
            self.slash_fraction(&mut numeral, last);
        }
        self.percent(&mut numeral);
        Some(numeral)
    }

    /// Reads `1/2` and `6 1/2`, but not a part of a chain such as 12/25/2020.
    fn slash_fraction(&self, numeral: &mut Numeral, last: Option<&Numeral>) {
        let start = numeral.digits.start;
        if let Some(value) = self.get(numeral.end).and_then(fraction) {
            numeral.vulgar = (numeral.point.is_none()).then_some(value);
            numeral.end += 1;
            return;
        }
        let from = numeral.end + 1;
        let length = self.count(from, u8::is_ascii_digit);
        let end = from + length;
        let plain = self.text[numeral.digits.clone()].iter().all(u8::is_ascii_digit)
            && numeral.digits.len() <= FRACTION_DIGITS
            && (1..=FRACTION_DIGITS).contains(&length)
            && self.text[from..end].iter().any(|&byte| byte != b'0');
        let goes_on = self.get(end).is_some_and(|byte| byte == b'/' || is_separator(byte))
            && self.digit(end + 1);
        let chained = start > 0 && self.text[start - 1] == b'/';
        if self.get(numeral.end) != Some(b'/') || !plain || goes_on || chained {
            return;
        }
        if self.whole_before(start, last) && self.is_proper(&numeral.digits, from..end) {
            numeral.whole = last.map(|whole| whole.digits.clone());
            numeral.negative = last.is_some_and(|whole| whole.negative);
        }
        numeral.denominator = Some(from..end);
        numeral.end = end;
    }

    fn is_proper(&self, numerator: &Range<usize>, denominator: Range<usize>) -> bool {
        let value = |range: Range<usize>| {
            let digits = self.text[range].iter();
            digits.fold(0_u64, |value, byte| value * 10 + u64::from(byte - b'0'))
        };
        value(numerator.clone()) < value(denominator)
    }

    /// Whether a plain integer precedes `at`, separated by one space.
    fn whole_before(&self, at: usize, last: Option<&Numeral>) -> bool {
        last.is_some_and(|last| {
            last.end + 1 == at
                && self.text[last.end] == b' '
                && last.digits.end == last.end
                && self.text[last.digits.clone()].iter().all(u8::is_ascii_digit)
        })
    }

    fn vulgar(&self, at: usize, value: (u8, u8), last: Option<&Numeral>) -> Numeral {
        let whole = last.filter(|_| self.whole_before(at, last));
        let mut numeral = Numeral {
            negative: whole.map_or_else(|| self.is_negative(at), |whole| whole.negative),
            digits: whole.map_or(at..at, |whole| whole.digits.clone()),
            vulgar: Some(value),
            end: at + 1,
            ..Numeral::default()
        };
        self.percent(&mut numeral);
        numeral
    }

    /// Reads `\frac{1}{2}`, `\dfrac{1}{2}`, `\tfrac{1}{2}` with plain integers.
    fn latex_fraction(&self, at: usize) -> Option<Numeral> {
        let name = self.count(at + 1, u8::is_ascii_lowercase);
        let open = at + 1 + name;
        if !matches!(&self.text[at + 1..open], b"frac" | b"dfrac" | b"tfrac") {
            return None;
        }
        let numerator = self.braced(open)?;
        let denominator = self.braced(numerator.end + 1)?;
        let nonzero = self.text[denominator.clone()].iter().any(|&byte| byte != b'0');
        let mut numeral = Numeral {
            negative: self.is_negative(at),
            command: Some(at),
            end: denominator.end + 1,
            digits: numerator,
            denominator: Some(denominator),
            ..Numeral::default()
        };
        self.percent(&mut numeral);
        nonzero.then_some(numeral)
    }

    fn braced(&self, open: usize) -> Option<Range<usize>> {
        let from = open + 1;
        let length = self.count(from, u8::is_ascii_digit);
        let is_braced = self.get(open) == Some(b'{') && self.get(from + length) == Some(b'}');
        (is_braced && (1..=FRACTION_DIGITS).contains(&length)).then(|| from..from + length)
    }

    fn percent(&self, numeral: &mut Numeral) {
        let space = usize::from(self.get(numeral.end) == Some(b' '));
        let escape = usize::from(self.get(numeral.end + space) == Some(b'\\'));
        numeral.percent = match self.get(numeral.end + space + escape) {
            Some(b'%') => -2,
            Some(PER_MILLE) => -3,
            _ => 0,
        };
    }

    /// Whether a minus directly precedes the number or its currency sign. A hyphen that joins
    /// (10-12, COVID-19) or is half of a dash is not a minus.
    fn is_negative(&self, start: usize) -> bool {
        let mut at = start;
        while at > 0
            && (self.text[at - 1] == b'$' || (self.text[at - 1] == b'\\' && self.text[at] == b'$'))
        {
            at -= 1;
        }
        at > 0 && self.text[at - 1] == b'-' && !self.before(at - 1).is_some_and(joins)
    }

    /// Whether a leading decimal point can start a number here, as in `.5` but not in `x.5` or
    /// `...5`.
    fn opens(&self, at: usize) -> bool {
        let before = self.before(at);
        !before.is_some_and(|byte| is_word_byte(byte) || matches!(byte, b'.' | b')' | b']'))
    }

    /// Whether the digits are the end of a word: H2O, gpt4, x_1. A currency code, a LaTeX command
    /// and the x of 5x3 are not such words.
    fn glued_to_word(&self, at: usize) -> bool {
        let Some(before) = self.before(at) else {
            return false;
        };
        if before == b'_' || before == LETTER {
            return true;
        }
        if !before.is_ascii_alphabetic() {
            return false;
        }
        let letters = self.text[..at].iter().rev().take_while(|byte| byte.is_ascii_alphabetic());
        let word_start = at - letters.count();
        let word = &self.text[word_start..at];
        let multiplies =
            matches!(word, b"x" | b"X") && word_start > 0 && self.digit(word_start - 1);
        !(multiplies || CURRENCY_CODES.contains(&word) || self.before(word_start) == Some(b'\\'))
    }

    /// Whether the digits are an exponent: `m^2`, `x^{2}`, `x^{-2}`.
    fn is_exponent(&self, at: usize) -> bool {
        let mut front = self.text[..at].iter().rev().copied().peekable();
        front.next_if(|byte| matches!(byte, b'-' | b'+'));
        front.next_if(|&byte| byte == b'{');
        front.next() == Some(b'^')
    }

    fn is_hexadecimal(&self, at: usize, end: usize) -> bool {
        let marked = matches!(self.get(end), Some(b'x' | b'X'));
        self.text[at..end] == *b"0"
            && marked
            && self.get(end + 1).is_some_and(|byte| byte.is_ascii_hexdigit())
    }

    /// Returns the end of the digits from `at`, including the separators between them.
    fn run_end(&self, at: usize) -> usize {
        let mut end = at;
        while self.digit(end) || (self.get(end).is_some_and(is_separator) && self.digit(end + 1)) {
            end += 1;
        }
        end
    }

    pub(super) fn get(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).map(|before| self.text[before])
    }

    fn digit(&self, at: usize) -> bool {
        self.get(at).is_some_and(|byte| byte.is_ascii_digit())
    }

    pub(super) fn count(&self, from: usize, accept: impl Fn(&u8) -> bool) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| accept(byte)).count()
    }
}

/// Whether a number can start with this byte.
fn may_start(byte: u8) -> bool {
    byte.is_ascii_digit() || byte >= FRACTION || matches!(byte, b'.' | b'\\')
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == LETTER
}

/// Whether a hyphen after this byte joins instead of being a sign.
fn joins(byte: u8) -> bool {
    is_word_byte(byte) || byte >= PER_MILLE || matches!(byte, b')' | b']' | b'}' | b'%' | b'-')
}
