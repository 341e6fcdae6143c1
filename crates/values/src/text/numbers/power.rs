//! Powers of ten after a numeral: `e-3`, `× 10^-3`, and the exponent of a ten itself.

use super::scan::{Numeral, Scanner, is_word_byte};
use super::symbols::{OTHER, TIMES};

/// The most digits of an exponent. With a longer exponent the numeral is not a number.
const EXPONENT_DIGITS: usize = 4;

impl Scanner<'_> {
    /// Reads `e-3`, `× 10^-3`, or the exponent of a ten. `None` if the numeral is the base of
    /// another power.
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

    /// `true` if an exponent follows. A superscript of a unit (`45^\\circ`), an ordinal (`20^{th}`) or a
    /// mark is none.
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
