//! Powers of ten after a numeral: `e-3`, `× 10^-3`, and the exponent of a ten itself.

use super::scan::{Numeral, Scanner, is_word_byte};
use super::symbols::{RAISED, RAISED_MINUS, RAISED_PLUS, TIMES};

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
            if self.text[numeral.digits.clone()] != *b"10" {
                return None;
            }
            numeral.digits.end -= 1;
            numeral.exponent = exponent;
            numeral.end = end;
            return Some(());
        }
        if let Some((exponent, end)) = self.times_ten(end) {
            numeral.exponent = exponent;
            numeral.end = end;
        }
        Some(())
    }

    fn is_power(&self, at: usize) -> bool {
        let raised = |byte| (RAISED..=RAISED_PLUS).contains(&byte);
        self.get(at).is_some_and(|byte| byte == b'^' || raised(byte))
    }

    /// Reads `^5`, `^{-5}` or `⁻⁵`. Returns the exponent and its end.
    fn power(&self, at: usize) -> Option<(i64, usize)> {
        if self.get(at) != Some(b'^') {
            return self.raised_power(at);
        }
        let braced = usize::from(self.get(at + 1) == Some(b'{'));
        let sign = at + 1 + braced;
        let from = sign + usize::from(matches!(self.get(sign), Some(b'+' | b'-')));
        let length = self.count(from, u8::is_ascii_digit);
        let end = from + length + braced;
        let closed = braced == 0 || self.get(from + length) == Some(b'}');
        let value = self.exponent_value(from, length, self.get(sign))?;
        (closed && length > 0).then_some((value, end))
    }

    fn raised_power(&self, at: usize) -> Option<(i64, usize)> {
        let signed = usize::from(matches!(self.get(at), Some(RAISED_MINUS | RAISED_PLUS)));
        let from = at + signed;
        let length = self.count(from, |byte| (RAISED..RAISED_MINUS).contains(byte));
        if length == 0 || length > EXPONENT_DIGITS {
            return None;
        }
        let digits = self.text[from..from + length].iter();
        let value = digits.fold(0, |value, byte| value * 10 + i64::from(byte - RAISED));
        let negative = self.get(at) == Some(RAISED_MINUS);
        Some((if negative { -value } else { value }, from + length))
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
        let sign = match rest.first()? {
            b'x' | b'X' | b'*' | &TIMES => 1,
            _ if rest.starts_with(b"\\times") => 6,
            _ if rest.starts_with(b"\\cdot") => 5,
            _ => return None,
        };
        let ten = at + sign + self.count(at + sign, |&byte| byte == b' ');
        let is_ten = self.text.get(ten..ten + 2) == Some(b"10") && self.is_power(ten + 2);
        is_ten.then(|| self.power(ten + 2)).flatten()
    }
}
