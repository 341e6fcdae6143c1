//! Fractions `1/2` and `\frac{1}{2}`, and mixed numbers.

use super::scan::{Numeral, Run, Scanner, is_word_byte};
use super::shape::{self, is_separator};
use super::shape::{GROUP, OTHER, TIMES};

/// The maximum number of digits of a numerator or denominator. With more, it is not a fraction.
const FRACTION_DIGITS: usize = 18;

impl Scanner<'_> {
    /// Reads `1/2` and `6 1/2`, but not a part of a chain such as 12/25/2020.
    pub(super) fn slash_fraction(&self, numeral: &mut Numeral, last: Option<&Numeral>) {
        let start = numeral.start;
        let from = numeral.end + 1;
        let length = self.count(from, u8::is_ascii_digit);
        let end = from + length;
        let under = Run {
            digits: from..end,
            point: None,
        };
        let plain = self.is_plain(&numeral.over)
            && numeral.over.digits.len() <= FRACTION_DIGITS
            && (1..=FRACTION_DIGITS).contains(&length)
            && !under.value(self.text, 0).is_zero();
        let goes_on = self
            .get(end)
            .is_some_and(|byte| byte == b'/' || is_separator(byte))
            && self.digit(end + 1);
        let chained = start > 0 && self.text[start - 1] == b'/';
        if self.get(numeral.end) != Some(b'/') || !plain || goes_on || chained {
            return;
        }
        numeral.under = Some(under);
        numeral.end = end;
        let space = start > 0 && self.text[start - 1] == b' ';
        if let Some(last) =
            last.filter(|last| space && last.end + 1 == start && self.is_plain(&last.over))
        {
            self.mix(numeral, last);
        }
    }

    /// Adds the integer before a proper fraction as its whole part. Returns `false` if they are not a mixed number.
    fn mix(&self, numeral: &mut Numeral, last: &Numeral) -> bool {
        let value = |run: &Run| run.value(self.text, 0);
        let is_integer = last.over.digits.end == last.end && last.over.point.is_none();
        let is_proper = numeral
            .under
            .as_ref()
            .is_some_and(|under| value(&numeral.over) < value(under));
        let is_mixed = is_integer && is_proper && !numeral.negative;
        if is_mixed {
            numeral.start = last.start;
            numeral.negative = last.negative;
            numeral.whole = Some(last.over.clone());
        }
        is_mixed
    }

    /// Reads `\frac{1}{2}`, `\frac12` and `½`, with the whole part before it.
    pub(super) fn fraction(&self, at: usize, last: Option<&Numeral>) -> Option<Numeral> {
        let (over, over_negative, end) = self.argument(at + 1)?;
        let (under, under_negative, end) = self.argument(end)?;
        let places = usize::try_from(over.places().max(under.places())).ok()?;
        let is_long = |run: &Run| run.digits.len() + places > FRACTION_DIGITS;
        if under.value(self.text, 0).is_zero()
            || is_long(&over)
            || is_long(&under)
            || self.digit(end)
        {
            return None;
        }
        let negative = self.is_negative(at) != (over_negative != under_negative);
        let mut numeral = Numeral {
            start: at,
            end,
            negative,
            over,
            under: Some(under),
            ..Numeral::default()
        };
        let is_apart = |byte: &u8| !matches!(*byte, b' ' | GROUP);
        let before = self.text[..at]
            .iter()
            .rposition(is_apart)
            .map_or(0, |last| last + 1);
        let has_whole = last.is_some_and(|last| last.end == before);
        if has_whole && !self.mix(&mut numeral, last?) {
            return None;
        }
        self.percent(&mut numeral);
        Some(numeral)
    }

    /// Reads a numerator or denominator: its digits, whether it is negative, and its end.
    fn argument(&self, at: usize) -> Option<(Run, bool, usize)> {
        let space = |at| at + self.count(at, |&byte| byte == b' ');
        let at = space(at);
        if self.digit(at) {
            return Some((
                Run {
                    digits: at..at + 1,
                    point: None,
                },
                false,
                at + 1,
            ));
        }
        let sign = space(at + 1);
        let from = space(sign + usize::from(matches!(self.get(sign), Some(b'-' | b'+'))));
        let digits = from..self.run_end(from);
        let close = space(digits.end);
        if self.get(at) != Some(b'{') || digits.is_empty() || self.get(close) != Some(b'}') {
            return None;
        }
        let shape = shape::read(&self.text[digits.clone()], self.mark)?;
        let run = Run {
            digits,
            point: shape.point.map(|point| from + point),
        };
        (shape.skipped == 0).then_some((run, self.get(sign) == Some(b'-'), close + 1))
    }
}

/// The maximum number of digits of an exponent. With more, the numeral is not a number.
const EXPONENT_DIGITS: usize = 4;

impl Scanner<'_> {
    /// Reads `e-3`, `× 10^-3`, or the exponent of a ten. Returns `None` if the numeral is the base of another power.
    pub(super) fn scientific(&self, numeral: &mut Numeral) -> Option<()> {
        let end = numeral.end;
        if matches!(self.get(end), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(self.get(end + 1), Some(b'+' | b'-')));
            let from = end + 1 + signed;
            let length = self.count(from, u8::is_ascii_digit);
            if length > 0 && !self.get(from + length).is_some_and(is_word_byte) {
                numeral.exponent = self.exponent_value(from, length, self.get(end + 1))?;
                numeral.end = from + length;
                return Some(());
            }
        }
        if self.is_power(end) {
            // A power is a number only if its value is known: 10^5, but neither 2^10 nor 10^n.
            let (exponent, end) = self.power(end)?;
            if self.text[numeral.over.digits.clone()] != *b"10" {
                return None;
            }
            numeral.over.digits.end -= 1;
            numeral.exponent = exponent;
            numeral.end = end;
        } else if let Some((exponent, end)) = self.times_ten(end) {
            numeral.exponent = exponent;
            numeral.end = end;
        }
        Some(())
    }

    /// Returns `true` if an exponent follows. A unit's superscript (`45^\\circ`), an ordinal (`20^{th}`) or a mark is
    /// not one.
    pub(super) fn is_power(&self, at: usize) -> bool {
        if self.get(at) != Some(b'^') {
            return false;
        }
        let from = at + 1 + self.count(at + 1, |byte| matches!(byte, b'{' | b' '));
        let word = &self.text[from..from + self.count(from, u8::is_ascii_alphabetic)];
        !(matches!(word, b"st" | b"nd" | b"rd" | b"th" | b"o")
            || matches!(self.get(from), Some(OTHER | b'*' | b'\'')))
    }

    /// Reads `^5` or `^{-5}`. Returns the exponent and its end.
    fn power(&self, at: usize) -> Option<(i64, usize)> {
        let braced = usize::from(self.get(at + 1) == Some(b'{'));
        let sign = at + 1 + braced;
        let from = sign + usize::from(matches!(self.get(sign), Some(b'+' | b'-')));
        let length = self.count(from, u8::is_ascii_digit);
        let end = from + length;
        let ends = match braced {
            1 => self.get(end) == Some(b'}'),
            _ => !(self.get(end) == Some(b'.') && self.digit(end + 1)),
        };
        let value = self.exponent_value(from, length, self.get(sign))?;
        (ends && length > 0).then_some((value, end + braced))
    }

    fn exponent_value(&self, from: usize, length: usize, sign: Option<u8>) -> Option<i64> {
        if length > EXPONENT_DIGITS {
            return None;
        }
        let digits = self.text[from..from + length].iter();
        let value = digits.fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
        Some(if sign == Some(b'-') { -value } else { value })
    }

    /// Reads a multiplication sign followed by a power of 10.
    fn times_ten(&self, end: usize) -> Option<(i64, usize)> {
        let at = end + self.count(end, |&byte| byte == b' ');
        let rest = self.text.get(at..)?;
        if !matches!(rest.first()?, b'x' | b'X' | b'*' | &TIMES) {
            return None;
        }
        let ten = at + 1 + self.count(at + 1, |&byte| byte == b' ');
        let is_ten = self.text.get(ten..ten + 2) == Some(b"10") && self.is_power(ten + 2);
        is_ten.then(|| self.power(ten + 2)).flatten()
    }
}
