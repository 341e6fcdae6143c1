//! Metrics of predicted probabilities.

use crate::core::rows::field_types::Truth;
use crate::core::score::check::within;
use crate::metric;
use crate::stats::{Brier, Calibration};

/// Checks a probability.
///
/// # Errors
/// It is outside [0, 1].
fn checked(probability: f64) -> Result<f64, String> {
    within("pred.probability", probability, [0.0, 1.0]).map(|()| probability)
}

/// The Brier score: the mean squared error of predicted probabilities, over all rows; 0 is best.
///
/// `gold.answer` is true or false, 1 or 0, and `pred.probability` the probability of true, in [0, 1].
///
/// ```
/// use dsrs_metrics::metrics::BrierScore;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (bool, f64)| {
///     Pair::new(pred.to_string(), example! { "answer" => gold }, prediction! { "probability" => pred })
/// };
/// let rows = [(true, 0.75), (false, 0.25), (true, 1.0)].map(row);
/// let result = Evaluate::builder().metric(BrierScore).score(rows).await?;
/// assert_eq!(result.to_string(), "brier_score  0.0417 (over 3/3 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0, lower_is_better)]
pub fn brier_score(#[gold] answer: Truth, #[pred] probability: f64) -> Result<Brier, String> {
    Ok(Brier::of(answer.0, checked(probability)?))
}

/// The expected calibration error of predicted probabilities, over all rows; 0 is best.
///
/// Rows are divided by their probability into bins of equal width; the score is the mean difference between the mean
/// probability of a bin and the share of its rows that are true (Guo et al. 2017). `gold.answer` is true or false, 1 or 0:
/// for the confidence of an answer, whether the answer is right. `pred.probability` is in [0, 1].
///
/// ```
/// use dsrs_metrics::metrics::ExpectedCalibrationError;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (bool, f64)| {
///     Pair::new(pred.to_string(), example! { "answer" => gold }, prediction! { "probability" => pred })
/// };
/// let rows = [(true, 0.75), (false, 0.25), (true, 1.0)].map(row);
/// let result = Evaluate::builder().metric(ExpectedCalibrationError::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "expected_calibration_error  0.1667 (over 3/3 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0, lower_is_better)]
pub fn expected_calibration_error(
    #[gold] answer: Truth,
    #[pred] probability: f64,
    /// The number of bins.
    #[param(default = 10)]
    bins: u32,
) -> Result<Calibration, String> {
    Ok(Calibration::of(answer.0, checked(probability)?, bins))
}

requires_valid! {
    ExpectedCalibrationError: |metric| within("bins", metric.bins, [1, 1000]);
}
