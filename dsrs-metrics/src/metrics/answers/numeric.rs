//! The numeric match of answers.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a metric function takes its field parameters by value"
)]

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

use crate::core::requirements::{Requirement, Requires};
use crate::core::value_type::{TypeHelp, ValueKind, ValueType};
use crate::json::describe::shown;
use crate::metric;
use crate::metrics::check::at_least;
use crate::metrics::explained::answers as explained;
use crate::text::{DecimalMark, NumericOptions};

/// A string, or a number in its written form.
///
/// ```
/// use dsrs_metrics::metrics::StrOrNumber;
///
/// let number: StrOrNumber<'_> = serde_json::from_str("18.5").unwrap();
/// assert_eq!(number.as_str(), "18.5");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrOrNumber<'a>(Cow<'a, str>);

impl StrOrNumber<'_> {
    /// Returns the string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for StrOrNumber<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrOrNumberVisitor).map(Self)
    }
}

struct StrOrNumberVisitor;

impl<'de> Visitor<'de> for StrOrNumberVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
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
        impl<'r> crate::core::rows::provide::Provide<'r, crate::core::rows::fields::Owned<StrOrNumber<'r>>> for $from {
            fn provide(&'r self) -> StrOrNumber<'r> {
                let text: fn(&'r $from) -> Cow<'r, str> = $text;
                StrOrNumber(text(self))
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
/// Thousands separators, currency signs and units are understood: 1,300 equals $1300.00, and 5 is
/// not part of 25. With both tolerances at 0 the comparison is exact on decimals of any length; see
/// [`last_number`](crate::text::last_number) for what counts as a number. A prediction without a
/// number fails. A gold answer without a number is an error.
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
#[metric(missing = false, explain = explained::numeric_match)]
pub fn numeric_match(
    #[gold] answer: StrOrNumber<'_>,
    #[pred("answer")] prediction: StrOrNumber<'_>,
    /// Largest accepted difference, in units of the number.
    #[param(default = 0.0)]
    abs_tolerance: f64,
    /// Largest accepted difference as a share of the gold number: 0.01 is one percent.
    #[param(default = 0.0)]
    rel_tolerance: f64,
    /// The decimal mark: `point` (1,234.5) or `comma` (1.234,5).
    #[param(default = DecimalMark::Point)]
    decimal_mark: DecimalMark,
    /// Whether 50% is 0.5; otherwise the percent sign is a unit like any other.
    #[param(default = false)]
    percent_as_fraction: bool,
) -> Result<bool, String> {
    let options =
        NumericOptions { abs_tolerance, rel_tolerance, decimal_mark, percent_as_fraction };
    let gold = options.last_number(answer.as_str());
    let gold = gold.ok_or_else(|| {
        format!("expected a number in `gold.answer`, found {}", shown(answer.as_str()))
    })?;
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

impl ValueType for StrOrNumber<'_> {
    const HELP: TypeHelp =
        TypeHelp::new("a string or number").with_kinds(&[ValueKind::Str, ValueKind::Number]);
}
