//! Numbers in strings: reads the last number of a string, and compares the last numbers of two strings.

mod decimal;
mod fractions;
mod latex;
mod scan;
mod shape;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use self::decimal::Decimal;
use self::scan::{Numeral, Scanner};
pub use self::shape::DecimalMark;
use self::shape::GROUP;
pub(super) use self::shape::grouped;

/// Options for reading and comparing numbers; see [`numeric_match`].
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
    /// The largest accepted `|prediction - reference|`, in the same unit as the numbers. A negative value or NaN counts
    /// as 0.
    pub abs_tolerance: f64,
    /// The largest accepted `|prediction - reference| / |reference|`, as a fraction: 0.01 is one percent. A negative
    /// value or NaN counts as 0.
    pub rel_tolerance: f64,
    /// The decimal mark used on both sides.
    pub decimal_mark: DecimalMark,
    /// `true` if `50%` is read as 0.5. Otherwise the percent sign is a unit like any other, and `50%` is read as 50.
    pub percent_as_fraction: bool,
}

impl NumericOptions {
    /// Like [`last_number`], but with these options.
    pub fn last_number(&self, text: &str) -> Option<Number> {
        let (symbols, numerals) = self.numerals(text);
        let last = numerals.last()?;
        Some(Number::build(&symbols, last, self.percent_as_fraction))
    }

    /// Returns all numbers in a string, in order. A mixed number such as `6 1/2` is one number.
    ///
    /// ```
    /// # use dsrs_metrics::text::NumericOptions;
    /// let numbers = NumericOptions::default().numbers("6 1/2 of 1,300, H2O");
    /// let written: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    /// assert_eq!(written, ["13/2", "1300"]);
    /// ```
    pub fn numbers(&self, text: &str) -> Vec<Number> {
        let (symbols, numerals) = self.numerals(text);
        let build = |numeral| Number::build(&symbols, numeral, self.percent_as_fraction);
        numerals.iter().map(build).collect()
    }

    /// Returns the symbols of a string, and the numerals in them.
    fn numerals<'t>(&self, text: &'t str) -> (Cow<'t, [u8]>, Vec<Numeral>) {
        let symbols = latex::symbols(text, self.decimal_mark);
        let scanner = Scanner {
            text: &symbols,
            mark: self.decimal_mark,
        };
        let numerals = scanner.all();
        (symbols, numerals)
    }

    /// Returns the number that makes up the whole string, apart from a sign, currency signs, percent signs, brackets
    /// and white space. Returns `None` if the string contains anything else.
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
        unit.iter().all(|byte| *byte == b'%').then_some(number)
    }

    /// Returns the number that a string begins with, and what follows it without spaces, currency signs and brackets.
    /// `None` if another number or anything else precedes it.
    pub(super) fn number_with_unit(&self, text: &str) -> Option<(Number, Vec<u8>)> {
        let (symbols, numerals) = self.numerals(text);
        let [numeral] = numerals.as_slice() else {
            return None;
        };
        let is_around =
            |byte: &u8| matches!(*byte, b' ' | b'$' | b'\\' | GROUP) || b"()[]{}".contains(byte);
        let before = &symbols[..numeral.start];
        let is_first = before
            .iter()
            .all(|byte| is_around(byte) || matches!(byte, b'-' | b'+'));
        let unit = symbols[numeral.end..]
            .iter()
            .copied()
            .filter(|byte| !is_around(byte))
            .collect();
        is_first.then(|| {
            (
                Number::build(&symbols, numeral, self.percent_as_fraction),
                unit,
            )
        })
    }
}

/// Returns the last number in a string, exactly as written.
///
/// - Digits can be from any script. A number is never part of a longer run of digits, the end of a word (`H2O`), an
///   exponent (`m^2`), or a chain of points (`1.2.3`).
/// - Thousands can be grouped as in `1,234,567` or `12,34,567`, or with apostrophes, underscores, thin spaces or
///   no-break spaces, including those of LaTeX (`10{,}000`, `10\,000`). Ordinary spaces separate numbers. `1.234.567`
///   and `1.234,56` are read as European notation, but `1.234` has three decimal places and `1,5` is a list. See
///   [`DecimalMark`] for other notations.
/// - A sign is a minus or hyphen directly before the number or its currency sign, unless it joins words or numbers: the
///   last number of `10-12` is 12, and the last number of `COVID-19` is 19.
/// - Exponents are read from `1.5e-3`, `1.5 × 10^-3` and `10⁵`, and have at most four digits. Degrees and ordinals
///   (`45^\circ`, `20^{th}`) are not exponents.
/// - Fractions are read from `1/2`, `6 1/2`, `6½`, `\frac{1}{2}` and `1\frac12`, but not from dates (`12/25/2020`).
/// - Other powers, roots, functions and constants (`2^10`, `\sqrt{2}`, `\frac{x}{2}`, `2\pi`) are not evaluated.
///   Neither they nor the numbers in or next to them count: in `\sqrt{16} = 4`, only 4 does.
/// - Currency signs, units and (by default) percent signs are ignored. Words such as "million" do not multiply a
///   number.
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

/// Returns `true` if the last number of the prediction equals the last number of the reference, within the
/// tolerances.
///
/// If both tolerances are 0, decimals of any length are compared exactly: 18 equals 18.0 and 1/2 equals 0.5, but
/// 10000000000000001 does not equal 10000000000000000. A tolerance is exact too, because it stands for the shortest
/// decimal that rounds to the float: 1.1 is within 0.1 of 1.0. Returns `false` if either side has no number.
///
/// ```
/// # use dsrs_metrics::text::{NumericOptions, numeric_match};
/// let exact = NumericOptions::default();
/// assert!(numeric_match("The total is $1300.00.", "1,300", &exact));
/// assert!(!numeric_match("The total is 25.", "5", &exact));
/// ```
pub fn numeric_match(prediction: &str, reference: &str, options: &NumericOptions) -> bool {
    match (
        options.last_number(prediction),
        options.last_number(reference),
    ) {
        (Some(prediction), Some(reference)) => prediction.is_close(&reference, options),
        _ => false,
    }
}

/// An exact rational number read from a string: a decimal of any length divided by an integer.
///
/// Numbers are equal if their values are, however they are written: 0.50 equals 1/2.
#[derive(Clone, Debug)]
pub struct Number {
    negative: bool,
    numerator: Decimal,
    denominator: Decimal,
}

impl Number {
    fn build(text: &[u8], numeral: &Numeral, percent_as_fraction: bool) -> Self {
        let (over, under) = (&numeral.over, numeral.under.as_ref());
        // Numerator and denominator are whole numbers: 1.5/2 is 15/20, and half a percent is 1/200.
        let places = under.map_or(0, |under| over.places().max(under.places()));
        let percent = if percent_as_fraction && numeral.is_percent {
            -2
        } else {
            0
        };
        let over = over.value(text, numeral.exponent + places);
        let under = under.map_or_else(Decimal::one, |under| under.value(text, places));
        let whole = numeral.whole.as_ref().map(|whole| whole.value(text, 0));
        let numerator = match whole {
            Some(whole) => whole.mul(&under).add(&over),
            None => over,
        };
        let (numerator, denominator) = if under.is_one() {
            (numerator.shift(percent), under)
        } else {
            (numerator, under.shift(-percent))
        };
        Self {
            negative: numeral.negative && !numerator.is_zero(),
            numerator,
            denominator,
        }
    }

    /// Returns the nearest float, or infinity if the number is outside the range of `f64`.
    pub fn to_f64(&self) -> f64 {
        let magnitude = self.numerator.to_f64() / self.denominator.to_f64();
        if self.negative { -magnitude } else { magnitude }
    }

    /// Returns `true` if this number is within the tolerances of `reference`. The relative tolerance is a
    /// fraction of `reference`.
    pub fn is_close(&self, reference: &Self, options: &NumericOptions) -> bool {
        if self == reference {
            return true;
        }
        let (absolute, relative) = (options.abs_tolerance, options.rel_tolerance);
        // Negative and NaN count as 0.
        let most = absolute.max(relative).max(0.0);
        if most == f64::INFINITY {
            return true;
        }
        if most == 0.0 {
            return false;
        }
        // |a/b - c/d| <= t is |ad - cb| <= t bd, and |a/b - c/d| <= r c/d is |ad - cb| <= r cb.
        let mine = self.numerator.mul(&reference.denominator);
        let theirs = reference.numerator.mul(&self.denominator);
        let unit = self.denominator.mul(&reference.denominator);
        let is_within = |bound: Decimal| match self.negative == reference.negative {
            true => mine <= theirs.add(&bound) && theirs <= mine.add(&bound),
            false => mine.add(&theirs) <= bound,
        };
        is_within(Decimal::from_f64(absolute).mul(&unit))
            || is_within(Decimal::from_f64(relative).mul(&theirs))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        let mine = || self.numerator.mul(&other.denominator);
        self.negative == other.negative
            && match self.denominator == other.denominator {
                true => self.numerator == other.numerator,
                false => mine() == other.numerator.mul(&self.denominator),
            }
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}{}", self.numerator)?;
        if self.denominator.is_one() {
            return Ok(());
        }
        write!(f, "/{}", self.denominator)
    }
}
