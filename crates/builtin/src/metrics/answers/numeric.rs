//! The numeric match of answers.

use crate::core::declared::requirements::{Requirement, Requires};
use crate::core::rows::field_types::StrOrNumber;
use crate::core::score::check::at_least;
use crate::json::describe::shown;
use crate::metric;
use crate::metrics::explained::answers as explained;
use crate::text::{DecimalMark, NumericOptions};

/// Whether the last number of the prediction is the last number of the gold answer.
///
/// Thousands separators, currency signs, units and LaTeX are understood: 1,300 equals $1300.00 and
/// `1{,}300`, and 5 is not part of 25. With both tolerances at 0 the comparison is exact on decimals of any length; see
/// [`last_number`](crate::text::last_number) for the definition of a number. A prediction without a
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
    let options = NumericOptions {
        abs_tolerance,
        rel_tolerance,
        decimal_mark,
        percent_as_fraction,
    };
    let gold = options.last_number(answer.as_str());
    let gold = gold.ok_or_else(|| {
        format!(
            "expected a number in `gold.answer`, found {}",
            shown(answer.as_str())
        )
    })?;
    let prediction = options.last_number(prediction.as_str());
    Ok(prediction.is_some_and(|prediction| prediction.is_close(&gold, &options)))
}

impl Requires for NumericMatch {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let tolerances = [
            ("abs_tolerance", self.abs_tolerance),
            ("rel_tolerance", self.rel_tolerance),
        ];
        let tolerances = tolerances
            .into_iter()
            .map(|(param, value)| at_least(param, value, 0.0));
        all.extend(tolerances.filter_map(|one| Requirement::unless(Self::SPEC.name, one)));
    }
}
