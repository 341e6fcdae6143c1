//! Exact arithmetic on non-negative decimals of any length, as far as comparing two numbers needs
//! it.

use std::cmp::Ordering;
use std::fmt;

/// The integer `digits` times ten to the power of `exponent`. No leading or trailing zeros; zero
/// has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

/// With more leading or trailing zeros than this, a decimal is displayed in scientific notation.
const SHOWN_ZEROS: i64 = 30;

impl Decimal {
    /// Creates a decimal from digit values 0..=9, most significant first.
    pub(super) fn new(mut digits: Vec<u8>, mut exponent: i64) -> Self {
        let leading = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..leading);
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        if digits.is_empty() {
            exponent = 0;
        }
        Self { digits, exponent }
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
        let places = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
        let digits = mantissa.bytes().filter(u8::is_ascii_digit);
        let exponent: i64 = exponent.parse().unwrap_or(0);
        Self::new(
            digits.map(|b| b - b'0').collect(),
            exponent - i64::try_from(places).unwrap_or(0),
        )
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_one(&self) -> bool {
        self.digits == [1] && self.exponent == 0
    }

    pub(super) fn shift(mut self, places: i64) -> Self {
        if !self.is_zero() {
            self.exponent += places;
        }
        self
    }

    /// Returns the power of ten above the first digit: 0.05 -> -1, 7 -> 1, 123 -> 3.
    fn magnitude(&self) -> i64 {
        self.exponent + length(&self.digits)
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
        Self::new(digits, self.exponent + other.exponent)
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        let (mut a, b, exponent) = self.align(other);
        let mut carry = 0;
        for (digit, other) in a.iter_mut().zip(&b).rev() {
            let sum = *digit + other + carry;
            *digit = sum % 10;
            carry = sum / 10;
        }
        a.insert(0, carry);
        Self::new(a, exponent)
    }

    pub(super) fn abs_diff(&self, other: &Self) -> Self {
        let (larger, smaller) = (self.max(other), self.min(other));
        let (mut a, b, exponent) = larger.align(smaller);
        let mut borrow = 0;
        for (digit, other) in a.iter_mut().zip(&b).rev() {
            let take = other + borrow;
            borrow = u8::from(*digit < take);
            *digit = *digit + 10 * borrow - take;
        }
        Self::new(a, exponent)
    }

    /// Returns the digits of both over one exponent, padded to the same length.
    fn align(&self, other: &Self) -> (Vec<u8>, Vec<u8>, i64) {
        let low = self.exponent.min(other.exponent);
        let high = self.magnitude().max(other.magnitude());
        let spread = |decimal: &Self| {
            let count = |from: i64, to: i64| usize::try_from(to - from).unwrap_or(0);
            let mut out = vec![0; count(decimal.magnitude(), high)];
            out.extend_from_slice(&decimal.digits);
            out.resize(count(low, high), 0);
            out
        };
        (spread(self), spread(other), low)
    }

    pub(super) fn to_f64(&self) -> f64 {
        let digits: String = self.digits.iter().map(|&d| char::from(b'0' + d)).collect();
        format!("0{digits}e{}", self.exponent)
            .parse()
            .unwrap_or(f64::INFINITY)
    }
}

fn length(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            // Without trailing zeros, a decimal that is a prefix of another is the smaller number.
            (false, false) => {
                (self.magnitude(), &self.digits).cmp(&(other.magnitude(), &other.digits))
            }
            (mine, others) => others.cmp(&mine),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: String = self.digits.iter().map(|&d| char::from(b'0' + d)).collect();
        let magnitude = self.magnitude();
        if self.is_zero() {
            return f.write_str("0");
        }
        if self.exponent > SHOWN_ZEROS || magnitude < -SHOWN_ZEROS {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return write!(f, "{first}{point}{rest}e{}", magnitude - 1);
        }
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        if self.exponent >= 0 {
            write!(f, "{digits}{}", zeros(self.exponent))
        } else if magnitude > 0 {
            let (whole, places) = digits.split_at(usize::try_from(magnitude).unwrap_or(0));
            write!(f, "{whole}.{places}")
        } else {
            write!(f, "0.{}{digits}", zeros(-magnitude))
        }
    }
}
