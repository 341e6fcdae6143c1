//! Numbers in answers.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a field parameter is held for the call and passed on as it was read"
)]

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

use crate::core::requirements::{Requirement, Requires};
use crate::json::describe::shown;
use crate::metric;
use crate::metrics::check::at_least;
use crate::text::{DecimalMark, NumericOptions};

/// A text, or a number as if it were written out.
///
/// ```
/// use dsrs_metrics::metrics::TextOrNumber;
///
/// let number: TextOrNumber<'_> = serde_json::from_str("18.5").unwrap();
/// assert_eq!(number.as_str(), "18.5");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOrNumber<'a>(Cow<'a, str>);

impl TextOrNumber<'_> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextOrNumber<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumberVisitor).map(Self)
    }
}

struct TextOrNumberVisitor;

impl<'de> Visitor<'de> for TextOrNumberVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(format!("{number:?}")))
    }
}

macro_rules! give_written {
    ($($from:ty => $text:expr;)*) => {$(
        impl<'r> crate::core::rows::provide::Give<'r, crate::core::rows::fields::Owned<TextOrNumber<'r>>> for $from {
            fn give(&'r self) -> TextOrNumber<'r> {
                let text: fn(&'r $from) -> Cow<'r, str> = $text;
                TextOrNumber(text(self))
            }
        }
    )*};
}
give_written! {
    String => |text| Cow::Borrowed(text.as_str());
    &'static str => |text| Cow::Borrowed(text);
    f64 => |number| Cow::Owned(format!("{number:?}"));
    i64 => |number| Cow::Owned(number.to_string());
    u64 => |number| Cow::Owned(number.to_string());
    i32 => |number| Cow::Owned(number.to_string());
    u32 => |number| Cow::Owned(number.to_string());
}

/// Whether the last number of the prediction is the last number of the gold answer.
///
/// Thousands separators, currency signs and units are read as what they are: 1,300 is $1300.00, and 5 is
/// not inside 25. With both tolerances at 0 the comparison is exact on decimals of any length; see
/// [`last_number`](crate::text::last_number) for what counts as a number. A prediction without a number fails, a gold answer
/// without one is an error.
///
/// ```
/// use dsrs_metrics::metrics::NumericMatch;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => "1300" };
/// let pred = prediction! { "answer" => "13 * 100 = 1300, so she earns $1,300.00." };
/// assert_eq!(NumericMatch::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric]
pub fn numeric_match(
    #[gold] answer: TextOrNumber<'_>,
    #[pred("answer")] prediction: TextOrNumber<'_>,
    /// Largest accepted difference, in units of the number.
    #[param(default = 0.0)]
    abs_tolerance: f64,
    /// Largest accepted difference as a share of the gold number: 0.01 is one percent.
    #[param(default = 0.0)]
    rel_tolerance: f64,
    /// Which mark separates the fraction: `point` (1,234.5) or `comma` (1.234,5).
    #[param(default = DecimalMark::Point)]
    decimal_mark: DecimalMark,
    /// Whether 50% is 0.5; otherwise the sign is a unit like any other.
    #[param(default = false)]
    percent_as_fraction: bool,
) -> Result<bool, String> {
    let options =
        NumericOptions { abs_tolerance, rel_tolerance, decimal_mark, percent_as_fraction };
    let gold = options.last_number(answer.as_str());
    let gold =
        gold.ok_or_else(|| format!("no number in `gold.answer`: {}", shown(answer.as_str())))?;
    let prediction = options.last_number(prediction.as_str());
    Ok(prediction.is_some_and(|prediction| prediction.is_close(&gold, &options)))
}

impl Requires for NumericMatch {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let tolerances =
            [("abs_tolerance", self.abs_tolerance), ("rel_tolerance", self.rel_tolerance)];
        let tolerances = tolerances.into_iter().map(|(param, value)| at_least(param, value, 0.0));
        all.extend(tolerances.filter_map(|one| Requirement::unless(Self::SPEC.name, one)));
    }
}
