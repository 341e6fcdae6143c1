//! The grammar of numbers. A numeral consists only of positions; the caller computes its value.
//!
//! ```text
//! numeral   = decimal [exponent] ["/" digits]  |  [digits] fraction        followed by [percent]
//! decimal   = digits and separators, as in `shape`
//! exponent  = ("e" | "E") [sign] digits  |  times "10" power  |  power, if the decimal is 10
//! power     = "^" [sign] digits  |  "^{" [sign] digits "}"
//! fraction  = FRACTION argument argument
//! argument  = digit  |  "{" [sign] decimal "}"
//! chain     = (numeral | opaque) {operators, brackets, spaces (numeral | opaque)}
//! opaque    = OPAQUE arguments  |  another fraction, power or subscript
//! ```
//!
//! A chain with an opaque part has a value that is not computed, so none of its numerals counts.

use std::ops::Range;

use super::decimal::Decimal;
use super::shape::{self, DecimalMark, is_separator};
use super::shape::{FRACTION, GROUP, LETTER, OPAQUE, TIMES, UNCASED};

/// The longest argument of a function, in bytes.
const ARGUMENT: usize = 256;
/// Digits, separators and the position of the decimal mark.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) digits: Range<usize>,
    pub(super) point: Option<usize>,
}

impl Run {
    /// Returns the number of digits after the decimal mark.
    pub(super) fn places(&self) -> i64 {
        let places = self.point.map_or(0, |point| self.digits.end - point - 1);
        i64::try_from(places).unwrap_or(i64::MAX)
    }

    /// Returns the value, times ten to the power of `exponent`.
    pub(super) fn value(&self, text: &[u8], exponent: i64) -> Decimal {
        let digits = text[self.digits.clone()]
            .iter()
            .filter(|&&byte| !is_separator(byte));
        Decimal::new(
            digits.map(|byte| byte - b'0').collect(),
            exponent - self.places(),
        )
    }
}

/// The position of a number in the string, and its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Numeral {
    /// Where the number begins, without its sign.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) negative: bool,
    /// The whole part of a mixed number such as 6 1/2.
    pub(super) whole: Option<Run>,
    pub(super) over: Run,
    pub(super) under: Option<Run>,
    pub(super) exponent: i64,
    /// `true` if a percent sign follows the number.
    pub(super) is_percent: bool,
}

/// The result of scanning one position.
enum Step {
    Found(Numeral),
    /// A part without a known value ends at this position.
    Opaque(usize),
    /// There is no number here; continue at this position.
    Skip(usize),
}

pub(super) struct Scanner<'a> {
    pub(super) text: &'a [u8],
    pub(super) mark: DecimalMark,
}

impl Scanner<'_> {
    /// Returns all numerals, in order. A whole part is not a separate numeral: `6 1/2` is one.
    pub(super) fn all(&self) -> Vec<Numeral> {
        let mut found: Vec<Numeral> = Vec::new();
        // The first numeral of the chain, its end, and whether it has an opaque part.
        let (mut chain, mut end, mut is_opaque) = (0, 0, false);
        let mut at = 0;
        while let Some(ahead) = self.text[at..].iter().position(|byte| may_start(*byte)) {
            at += ahead;
            let step = self.step(at, found.last());
            let start = match &step {
                Step::Skip(next) => {
                    at = *next;
                    continue;
                }
                Step::Found(numeral) => numeral.start,
                Step::Opaque(_) => at,
            };
            if start >= end && !self.is_joined(end, start) {
                found.truncate(if is_opaque { chain } else { found.len() });
                chain = found.len();
                is_opaque = false;
            }
            match step {
                Step::Found(numeral) => {
                    at = numeral.end;
                    found.truncate(found.len() - usize::from(start < end));
                    found.push(numeral);
                }
                Step::Opaque(next) | Step::Skip(next) => {
                    at = next;
                    is_opaque = true;
                }
            }
            end = at;
        }
        found.truncate(if is_opaque { chain } else { found.len() });
        found
    }

    /// Returns `true` if only spaces, operators and brackets separate two parts of a chain. A bracket after a space is
    /// a remark: `2^10 (1024)`.
    fn is_joined(&self, end: usize, start: usize) -> bool {
        let gap = &self.text[end..start];
        let is_operator = |byte: &u8| matches!(*byte, b'+' | b'-' | b'/' | b'^' | TIMES);
        let is_space = |byte: &u8| matches!(*byte, b' ' | GROUP);
        let joins = |byte: &u8| is_operator(byte) || is_space(byte) || b"()[]{}".contains(byte);
        let is_remark = gap.starts_with(b" (") && !gap.iter().any(is_operator);
        gap == b"." || (gap.iter().all(joins) && !is_remark)
    }

    fn step(&self, at: usize, last: Option<&Numeral>) -> Step {
        let opaque = |from| Step::Opaque(self.arguments_end(from));
        let starts = match self.text[at] {
            FRACTION => {
                let found = self
                    .fraction(at, last)
                    .filter(|found| self.has_value(found.end));
                return found.map_or_else(|| opaque(at + 1), Step::Found);
            }
            OPAQUE => return opaque(at + 1),
            // A subscript has no value of its own.
            b'_' => return Step::Skip(self.group_end(at + 1)),
            b'.' => self.mark == DecimalMark::Point && self.digit(at + 1) && self.opens(at),
            _ => true,
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
        let Some(mut numeral) = self.decimal(at, end) else {
            return Step::Skip(end);
        };
        if self.scientific(&mut numeral).is_none() {
            return Step::Opaque(self.script_end(end));
        }
        if numeral.exponent == 0 {
            self.slash_fraction(&mut numeral, last);
        }
        if !self.has_value(numeral.end) {
            return Step::Opaque(numeral.end);
        }
        self.percent(&mut numeral);
        Step::Found(numeral)
    }

    /// Returns `true` if neither an exponent nor a subscript follows, even after a bracket: `(1/2)^2`, `101_{2}`.
    fn has_value(&self, end: usize) -> bool {
        let at = end + self.count(end, |byte| b")]}".contains(byte));
        !self.is_power(at) && !self.text[at..].starts_with(b"_{")
    }

    /// Reads the digits in `at..end`; in a list, the last ones.
    fn decimal(&self, at: usize, end: usize) -> Option<Numeral> {
        let run = &self.text[at..end];
        let (skipped, point) = if run[0] == b'.' {
            (0, Some(0))
        } else {
            let shape = shape::read(run, self.mark)?;
            (shape.skipped, shape.point)
        };
        let start = at + skipped;
        let over = Run {
            digits: start..end,
            point: point.map(|point| start + point),
        };
        let negative = skipped == 0 && self.is_negative(start);
        Some(Numeral {
            start,
            end,
            negative,
            over,
            ..Numeral::default()
        })
    }

    /// Returns the end of the arguments of a function: groups, subscripts and exponents.
    fn arguments_end(&self, mut at: usize) -> usize {
        loop {
            let open = at + self.count(at, |&byte| byte == b' ');
            let end = match self.get(open) {
                Some(b'{') => self.group_end(open),
                Some(b'(' | b'[') if open == at => self.group_end(open),
                Some(b'_' | b'^') => {
                    let end = self.script_end(open);
                    end + self.count(end, |&byte| byte == b' ')
                }
                _ => return at,
            };
            if end == open {
                return at;
            }
            at = end;
        }
    }

    /// Returns the end of the subscript or exponent whose mark is at `at`.
    fn script_end(&self, at: usize) -> usize {
        let sign = usize::from(matches!(self.get(at + 1), Some(b'-' | b'+')));
        let digits = self.count(at + 1 + sign, u8::is_ascii_digit).max(1);
        self.group_end(at + 1)
            .max((at + 1 + sign + digits).min(self.text.len()))
    }

    /// Returns the end of the group that opens at `at`, or `at` if none does or it is too long.
    fn group_end(&self, at: usize) -> usize {
        let mut depth = 0;
        for (length, byte) in self.text[at..].iter().take(ARGUMENT).enumerate() {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return if length == 0 { at } else { at + length + 1 };
            }
        }
        at
    }

    pub(super) fn percent(&self, numeral: &mut Numeral) {
        let space = usize::from(matches!(self.get(numeral.end), Some(b' ' | GROUP)));
        numeral.is_percent = self.get(numeral.end + space) == Some(b'%');
    }

    /// Returns `true` if a minus directly precedes the number, its currency sign or its bracket. A hyphen that joins
    /// (10-12, COVID-19, $10$-$12$) or is half of a dash is not a minus.
    pub(super) fn is_negative(&self, start: usize) -> bool {
        let opening = self.text[..start]
            .iter()
            .rev()
            .take_while(|byte| b"${(".contains(byte));
        let at = start - opening.count();
        // In formulas a space may follow a sign: `x = - 5`, `$- 5$`.
        if let Some(equation) = self.text[..at].strip_suffix(b"- ") {
            return equation
                .trim_ascii_end()
                .last()
                .is_some_and(|byte| b"=${(".contains(byte));
        }
        let Some(before) = at.checked_sub(2) else {
            return at == 1 && self.text[0] == b'-';
        };
        let closes = self.text[before] == b'$'
            && self
                .before(before)
                .is_some_and(|byte| byte.is_ascii_digit() || byte == b'}');
        self.text[at - 1] == b'-' && !joins(self.text[before]) && !closes
    }

    /// Returns `true` if a leading decimal point can start a number here, as in `.5` but not in `x.5` or
    /// `...5`.
    fn opens(&self, at: usize) -> bool {
        let before = self.before(at);
        !before.is_some_and(|byte| is_word_byte(byte) || matches!(byte, b'.' | b')' | b']'))
    }

    /// Returns `true` if the digits end a word: H2O, gpt4, x_1. The x of 5x3 is not such a word.
    fn glued_to_word(&self, at: usize) -> bool {
        let multiplies = matches!(self.before(at), Some(b'x' | b'X'))
            && at.checked_sub(2).is_some_and(|before| self.digit(before));
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | LETTER);
        self.before(at).is_some_and(is_letter) && !multiplies
    }

    /// Returns `true` if the digits are an exponent: `m^2`, `x^{2}`, `x^{-2}`.
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
            && self
                .get(end + 1)
                .is_some_and(|byte| byte.is_ascii_hexdigit())
    }

    pub(super) fn is_plain(&self, run: &Run) -> bool {
        self.text[run.digits.clone()].iter().all(u8::is_ascii_digit)
    }

    /// Returns the end of the digits from `at`, including the separators between them.
    pub(super) fn run_end(&self, at: usize) -> usize {
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

    pub(super) fn digit(&self, at: usize) -> bool {
        self.get(at).is_some_and(|byte| byte.is_ascii_digit())
    }

    pub(super) fn count(&self, from: usize, accept: impl Fn(&u8) -> bool) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| accept(byte)).count()
    }
}

/// Returns `true` if a number can start with this byte.
fn may_start(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | FRACTION | OPAQUE)
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == LETTER
}

/// Returns `true` if a hyphen after this byte joins instead of being a sign.
fn joins(byte: u8) -> bool {
    is_word_byte(byte) || byte >= UNCASED || matches!(byte, b')' | b']' | b'}' | b'%' | b'-')
}
