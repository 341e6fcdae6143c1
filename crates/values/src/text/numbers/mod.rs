//! Reads and compares numbers in strings.
//!
//! [`numeric_match`] compares the last numbers of two strings.

mod grammar;
mod symbols;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use serde::{Deserialize, Serialize};

pub(super) use self::grammar::grouped;
use self::grammar::{Numeral, Scanner};
use self::symbols::GROUP;

/// The character before a number's fractional part, `.` or `,`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecimalMark {
    /// A point, as in 1,234.5.
    ///
    /// A single comma groups thousands (1,234) or separates the items of a list (1,5).
    #[default]
    Point,
    /// A comma, as in 1.234,5.
    ///
    /// A single point groups thousands where possible (1.234). Otherwise, it is a decimal point (1.5).
    Comma,
}

impl DecimalMark {
    fn char(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }
}

/// Options for reading and comparing numbers.
///
/// See [`numeric_match`].
///
/// ```
/// # use dsrs_metrics::text::{NumericOptions, numeric_match};
/// let close = NumericOptions { rel_tolerance: 0.01, ..NumericOptions::default() };
/// assert!(numeric_match("about 3.14", "3.14159", &close));
/// assert!(!numeric_match("about 3.14", "3.14159", &NumericOptions::default()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NumericOptions {
    /// The largest absolute difference between two numbers that count as equal.
    ///
    /// The difference is `|prediction - reference|`, in the same unit as the numbers. A negative value or NaN counts as
    /// 0.
    pub abs_tolerance: f64,
    /// The largest relative difference between two numbers that count as equal.
    ///
    /// The difference is `|prediction - reference| / |reference|`, as a fraction: 0.01 is one percent. A negative value
    /// or NaN counts as 0.
    pub rel_tolerance: f64,
    /// The decimal mark used in both the prediction and the reference.
    pub decimal_mark: DecimalMark,
    /// `true` to read `50%` as 0.5.
    ///
    /// Otherwise, the percent sign is treated like any other unit, and `50%` is read as 50.
    pub percent_as_fraction: bool,
}

impl NumericOptions {
    /// Returns the last number in a string, read according to these options.
    ///
    /// See the function [`last_number`] for how numbers are read.
    pub fn last_number(&self, text: &str) -> Option<Number> {
        let (_, numerals) = self.numerals(text);
        Some(self.number(numerals.last()?))
    }

    /// Returns all numbers in a string, in order.
    ///
    /// A mixed number such as `6 1/2` is a single number.
    ///
    /// ```
    /// # use dsrs_metrics::text::NumericOptions;
    /// let numbers = NumericOptions::default().numbers("6 1/2 of 1,300, H2O");
    /// let written: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    /// assert_eq!(written, ["13/2", "1300"]);
    /// ```
    pub fn numbers(&self, text: &str) -> Vec<Number> {
        let (_, numerals) = self.numerals(text);
        numerals.iter().map(|it| self.number(it)).collect()
    }

    /// Returns a string's symbols, and the numerals in them.
    fn numerals<'t>(&self, text: &'t str) -> (Cow<'t, str>, Vec<Numeral>) {
        let symbols = symbols::symbols(text, self.decimal_mark);
        let scanner = Scanner {
            text: &symbols,
            mark: self.decimal_mark,
        };
        let numerals = scanner.all();
        (symbols, numerals)
    }

    fn number(&self, numeral: &Numeral) -> Number {
        Number::new(numeral, self.percent_as_fraction && numeral.is_percent)
    }

    /// Returns the number if the whole string is a single number.
    ///
    /// The string can also contain a sign, currency signs, percent signs, brackets and whitespace. Returns `None` if it
    /// contains anything else.
    ///
    /// ```
    /// # use dsrs_metrics::text::NumericOptions;
    /// let only = |text| NumericOptions::default().only_number(text).map(|number| number.to_string());
    /// assert_eq!(only("-$1,300.00").as_deref(), Some("-1300"));
    /// assert_eq!(only(r"$\frac{1}{2}$").as_deref(), Some("1/2"));
    /// assert_eq!((only("1300 apples"), only("~1300"), only("1 2")), (None, None, None));
    /// ```
    pub fn only_number(&self, text: &str) -> Option<Number> {
        let (number, unit) = self.number_with_unit(text)?;
        unit.chars().all(|c| c == '%').then_some(number)
    }

    /// Returns the number at the start of a string, and the text after it without spaces, currency signs and brackets.
    /// Returns `None` if another number or anything else precedes the number.
    pub(super) fn number_with_unit(&self, text: &str) -> Option<(Number, String)> {
        let (symbols, numerals) = self.numerals(text);
        let [numeral] = numerals.as_slice() else {
            return None;
        };
        let around = [' ', '$', '\\', GROUP, '(', ')', '[', ']', '{', '}'];
        let before = symbols[..numeral.start].replace(around, "");
        let unit = symbols[numeral.end..].replace(around, "");
        let is_first = before.chars().all(|c| matches!(c, '-' | '+'));
        is_first.then(|| (self.number(numeral), unit))
    }
}

/// Returns the last number in a string, exactly as written.
///
/// - Digits may be from any script. A number has at most 10,000 digits. Digits are not read as a number inside a longer
///   run of digits, at the end of a word (`H2O`), in an exponent (`m^2`), or in a chain of points (`1.2.3`).
/// - Thousands can be grouped as in `1,234,567` or `12,34,567`. They can also be grouped with apostrophes, underscores,
///   thin spaces or no-break spaces, including those of LaTeX (`10{,}000`, `10\,000`). Ordinary spaces separate
///   numbers. `1.234.567` and `1.234,56` are read as European notation, but `1.234` has three decimal places and `1,5`
///   is a list. See [`DecimalMark`] for other notations.
/// - A sign is a minus or hyphen directly before the number or its currency sign. A hyphen that joins words or numbers
///   is not a sign: the last number of `10-12` is 12, and the last number of `COVID-19` is 19.
/// - Exponents are read from `1.5e-3`, `1.5 × 10^-3` and `10⁵`. They have at most four digits. Degrees and ordinals
///   (`45^\circ`, `20^{th}`) are not exponents.
/// - Fractions are read from `1/2`, `6 1/2`, `6½`, `\frac{1}{2}` and `1\frac12`, but not from dates (`12/25/2020`).
/// - Other powers, roots, functions and constants (`2^10`, `\sqrt{2}`, `\frac{x}{2}`, `2\pi`) are not evaluated. The
///   numbers in or next to them are ignored: in `\sqrt{16} = 4`, the only number is 4.
/// - Currency signs and units are ignored. By default, percent signs are ignored too. Words such as "million" do not
///   multiply a number.
///
/// ```
/// # use dsrs_metrics::text::last_number;
/// let last = |text| last_number(text).map(|number| number.to_string());
/// assert_eq!(last("18 - 5 = 13, so she makes -$1,300.50.").as_deref(), Some("-1300.5"));
/// assert_eq!(last("no digits"), None);
/// ```
pub fn last_number(text: &str) -> Option<Number> {
    NumericOptions::default().last_number(text)
}

/// Returns `true` if the last numbers of two strings are equal within the tolerances.
///
/// Returns `false` if either string has no number.
///
/// If the tolerances are 0, decimals are compared exactly: 18 equals 18.0 and 1/2 equals 0.5, but 10000000000000001
/// does not equal 10000000000000000. A tolerance is treated as a decimal too, so 1.1 is within 0.1 of 1.0.
///
/// ```
/// # use dsrs_metrics::text::{NumericOptions, numeric_match};
/// let exact = NumericOptions::default();
/// assert!(numeric_match("The total is $1300.00.", "1,300", &exact));
/// assert!(!numeric_match("The total is 25.", "5", &exact));
/// ```
pub fn numeric_match(prediction: &str, reference: &str, options: &NumericOptions) -> bool {
    let [prediction, reference] = [prediction, reference].map(|it| options.last_number(it));
    let both = prediction.zip(reference);
    both.is_some_and(|(prediction, reference)| prediction.is_close(&reference, options))
}

/// An exact rational number, read from a string.
///
/// Numbers are compared by value, so 0.50 equals 1/2.
#[derive(Clone, Debug)]
pub struct Number {
    numerator: BigInt,
    denominator: BigInt,
    /// The power of ten, or 0 if the denominator is not 1.
    exponent: i32,
}

/// A decimal with more leading or trailing zeros than this is displayed in scientific notation.
const SHOWN_ZEROS: i64 = 30;

impl Number {
    fn new(numeral: &Numeral, is_percent: bool) -> Self {
        let places = |decimal: &str| {
            let split = decimal.split_once('.');
            split.map_or(0, |(_, places)| places.len())
        };
        // Numerator and denominator are whole numbers: 1.5/2 is 15/20, and half a percent is 1/200.
        let under = numeral.under.as_deref();
        let width = places(&numeral.over).max(under.map_or(0, places));
        let scaled = |decimal: &str| {
            let (whole, places) = decimal.split_once('.').unwrap_or((decimal, ""));
            let digits = format!("{whole}{places:0<width$}");
            digits.parse::<BigInt>().unwrap_or_default()
        };
        let whole: BigInt = numeral.whole.parse().unwrap_or_default();
        let hundredths = if is_percent { 2 } else { 0 };
        let (denominator, exponent) = match under {
            Some(under) => (scaled(under) * BigInt::from(10).pow(hundredths), 0),
            None => {
                let places = i32::try_from(width + hundredths as usize).unwrap_or(i32::MAX);
                (BigInt::from(1), numeral.exponent.saturating_sub(places))
            }
        };
        let numerator = scaled(&numeral.over) + whole * &denominator;
        let is_negative = numeral.negative;
        Self {
            numerator: if is_negative { -numerator } else { numerator },
            denominator,
            exponent,
        }
    }

    fn ratio(&self) -> BigRational {
        let power = BigInt::from(10).pow(self.exponent.unsigned_abs());
        let (numerator, denominator) = (self.numerator.clone(), self.denominator.clone());
        match self.exponent < 0 {
            true => BigRational::new_raw(numerator, denominator * power),
            false => BigRational::new_raw(numerator * power, denominator),
        }
    }

    /// Returns the nearest `f64`, or infinity if the number is out of range.
    pub fn to_f64(&self) -> f64 {
        let float = |integer: &BigInt, exponent| {
            let decimal = format!("{integer}e{exponent}");
            decimal.parse().unwrap_or(f64::NAN)
        };
        float(&self.numerator, self.exponent) / float(&self.denominator, 0)
    }

    /// Returns `true` if this number equals `reference` within the given tolerances.
    ///
    /// The relative tolerance is a fraction of `reference`.
    pub fn is_close(&self, reference: &Self, options: &NumericOptions) -> bool {
        if self == reference {
            return true;
        }
        let (absolute, relative) = (options.abs_tolerance, options.rel_tolerance);
        // Negative and NaN count as 0.
        let largest = absolute.max(relative).max(0.0);
        if largest == 0.0 || largest == f64::INFINITY {
            return largest > 0.0;
        }
        let magnitude = |number: BigRational| number.clone().max(-number);
        let theirs = reference.ratio();
        let difference = magnitude(self.ratio() - &theirs);
        difference <= tolerance(absolute) || difference <= tolerance(relative) * magnitude(theirs)
    }
}

/// Returns the shortest decimal that rounds to this float, or zero if the float is negative or NaN.
fn tolerance(value: f64) -> BigRational {
    let shortest = last_number(&format!("{:e}", value.max(0.0)));
    shortest.map_or_else(BigRational::default, |number| number.ratio())
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self.exponent, &self.denominator) == (other.exponent, &other.denominator) {
            true => self.numerator == other.numerator,
            false => self.ratio() == other.ratio(),
        }
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (numerator, denominator) = (self.numerator.to_string(), self.denominator.to_string());
        if denominator != "1" {
            return write!(f, "{numerator}/{denominator}");
        }
        let (sign, written) = match numerator.strip_prefix('-') {
            Some(written) => ("-", written),
            None => ("", &*numerator),
        };
        let digits = written.trim_end_matches('0');
        if digits.is_empty() {
            return f.write_str("0");
        }
        f.write_str(sign)?;
        let exponent = i64::from(self.exponent) + (written.len() - digits.len()) as i64;
        let magnitude = digits.len() as i64 + exponent;
        if exponent > SHOWN_ZEROS || magnitude < -SHOWN_ZEROS {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return write!(f, "{first}{point}{rest}e{}", magnitude - 1);
        }
        let places = usize::try_from(-exponent).unwrap_or(0);
        if places == 0 {
            let zeros = usize::try_from(exponent).unwrap_or(0);
            return write!(f, "{digits}{:0<zeros$}", "");
        }
        // At least one digit before the point.
        let padded = format!("{digits:0>width$}", width = places + 1);
        let (whole, places) = padded.split_at(padded.len() - places);
        write!(f, "{whole}.{places}")
    }
}
