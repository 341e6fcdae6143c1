//! Exact arithmetic on non-negative decimals of any length, limited to what comparing two numbers needs.

use std::fmt;

/// The decimal 0.`digits` times ten to the power of `magnitude`: 0.05 has the magnitude -1, 7 has 1, and 123 has 3. It
/// has no leading or trailing zeros. Zero has no digits and the smallest magnitude, so the order of the fields is the
/// order of the numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Decimal {
    magnitude: i64,
    digits: Vec<u8>,
}

/// With more leading or trailing zeros than this, a decimal is displayed in scientific notation.
const SHOWN_ZEROS: i64 = 30;

impl Decimal {
    /// Creates the integer of these digit values 0..=9, most significant first, times ten to the power of `exponent`.
    pub(super) fn new(mut digits: Vec<u8>, exponent: i64) -> Self {
        let leading = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..leading);
        let magnitude = exponent + length(&digits);
        let last = digits.iter().rposition(|&digit| digit != 0);
        digits.truncate(last.map_or(0, |last| last + 1));
        Self {
            magnitude: if digits.is_empty() {
                i64::MIN
            } else {
                magnitude
            },
            digits,
        }
    }

    pub(super) fn one() -> Self {
        Self::new(vec![1], 0)
    }

    /// Returns the shortest decimal that rounds to this float; zero for negative numbers and NaN.
    pub(super) fn from_f64(value: f64) -> Self {
        if !value.is_finite() || value <= 0.0 {
            return Self::new(Vec::new(), 0);
        }
        let shortest = format!("{value:e}");
        let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit);
        let digits: Vec<u8> = digits.map(|byte| byte - b'0').collect();
        // One digit is before the point.
        let exponent = exponent.parse().unwrap_or(0) + 1 - length(&digits);
        Self::new(digits, exponent)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_one(&self) -> bool {
        *self == Self::one()
    }

    pub(super) fn shift(mut self, places: i64) -> Self {
        self.magnitude = self
            .magnitude
            .saturating_add(if self.is_zero() { 0 } else { places });
        self
    }

    /// Returns the power of ten of the last digit.
    fn exponent(&self) -> i64 {
        self.magnitude.saturating_sub(length(&self.digits))
    }

    pub(super) fn mul(&self, other: &Self) -> Self {
        let mut digits = vec![0_u8; self.digits.len() + other.digits.len()];
        for (i, &a) in self.digits.iter().enumerate().rev() {
            let mut carry = 0;
            for (j, &b) in other.digits.iter().enumerate().rev() {
                let sum = digits[i + j + 1] + a * b + carry;
                digits[i + j + 1] = sum % 10;
                carry = sum / 10;
            }
            digits[i] += carry;
        }
        Self::new(digits, self.exponent().saturating_add(other.exponent()))
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return self.max(other).clone();
        }
        let low = self.exponent().min(other.exponent());
        let high = self.magnitude.max(other.magnitude);
        // The digits of both over one exponent, padded to the same length.
        let aligned = |decimal: &Self| {
            let count = |from: i64, to: i64| usize::try_from(to - from).unwrap_or(0);
            let mut digits = vec![0; count(decimal.magnitude, high)];
            digits.extend_from_slice(&decimal.digits);
            digits.resize(count(low, high), 0);
            digits
        };
        let (mut sum, mut carry) = (aligned(self), 0);
        for (digit, more) in sum.iter_mut().zip(aligned(other)).rev() {
            let both = *digit + more + carry;
            *digit = both % 10;
            carry = both / 10;
        }
        sum.insert(0, carry);
        Self::new(sum, low)
    }

    pub(super) fn to_f64(&self) -> f64 {
        let magnitude = self.magnitude.max(-10_000);
        format!("0.{}e{magnitude}", self.written())
            .parse()
            .unwrap_or(f64::INFINITY)
    }

    fn written(&self) -> String {
        self.digits
            .iter()
            .map(|&digit| char::from(b'0' + digit))
            .collect()
    }
}

fn length(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, magnitude, exponent) = (self.written(), self.magnitude, self.exponent());
        if self.is_zero() {
            return f.write_str("0");
        }
        if exponent > SHOWN_ZEROS || magnitude < -SHOWN_ZEROS {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return write!(f, "{first}{point}{rest}e{}", magnitude - 1);
        }
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        if exponent >= 0 {
            write!(f, "{digits}{}", zeros(exponent))
        } else if magnitude > 0 {
            let (whole, places) = digits.split_at(usize::try_from(magnitude).unwrap_or(0));
            write!(f, "{whole}.{places}")
        } else {
            write!(f, "0.{}{digits}", zeros(-magnitude))
        }
    }
}
