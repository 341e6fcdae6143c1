//! Aggregates the scores of several rollouts of one example.
//!
//! Rows are never aggregated this way: over rows there are means with denominators, in `summary.rs`.

use serde::{Deserialize, Serialize};

use crate::stats::exact_sum::ExactSum;

/// A method to aggregate the scores of several rollouts of one example.
///
/// Not for the scores of several rows: the median of many passes and fails is 0, 0.5 or 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AggregationMethod {
    /// The middle value, or the midpoint of the two middle values; robust to outliers.
    #[default]
    Median,
    /// The average.
    Mean,
    /// The lowest value.
    Min,
    /// The highest value.
    Max,
    /// The average without this fraction, in [0, 0.5), of the values at each end: of `n` values,
    /// `floor(fraction * n)` at each end are excluded, as in SciPy's `trim_mean`.
    TrimmedMean(f64),
}

/// An error in the aggregation of values.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AggregationError {
    /// There are no values.
    #[error("expected at least one value to aggregate, found none")]
    Empty,
    /// A value is NaN or infinite.
    #[error("value {position} must be a finite number, found {value}")]
    NotFinite {
        /// Its position, from 0.
        position: usize,
        /// The value.
        value: f64,
    },
    /// The fraction is not in [0, 0.5).
    #[error("the fraction of a trimmed mean must be in [0, 0.5), found {fraction:?}")]
    Trim {
        /// The fraction.
        fraction: f64,
    },
}

impl AggregationMethod {
    /// Aggregates finite values. The result lies between the smallest and the largest value, and does not
    /// depend on their order, to the last bit.
    ///
    /// ```
    /// use dsrs_metrics::{AggregationError, AggregationMethod};
    ///
    /// let values = [0.9, 0.1, 0.5, 0.6];
    /// assert_eq!(AggregationMethod::Median.aggregate(&values), Ok(0.55));
    /// assert_eq!(AggregationMethod::Mean.aggregate(&values), Ok(0.525));
    /// assert_eq!(AggregationMethod::Min.aggregate(&values), Ok(0.1));
    /// assert_eq!(AggregationMethod::Max.aggregate(&values), Ok(0.9));
    /// assert_eq!(AggregationMethod::TrimmedMean(0.25).aggregate(&values), Ok(0.55));
    /// assert_eq!(AggregationMethod::Mean.aggregate(&[]), Err(AggregationError::Empty));
    /// ```
    ///
    /// # Errors
    /// There are no values, a value is NaN or infinite, or the fraction is outside [0, 0.5).
    pub fn aggregate(&self, values: &[f64]) -> Result<f64, AggregationError> {
        self.check()?;
        let not_finite = values.iter().position(|value| !value.is_finite());
        if let Some(position) = not_finite {
            return Err(AggregationError::NotFinite { position, value: values[position] });
        }
        // Adding 0 turns -0 into 0, so that the sign of a zero does not depend on the method.
        let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        match (&*sorted, self) {
            ([], _) => Err(AggregationError::Empty),
            ([min, ..], Self::Min) => Ok(*min),
            ([.., max], Self::Max) => Ok(*max),
            (sorted, Self::Median) => Ok(median(sorted)),
            (sorted, Self::Mean) => Ok(mean(sorted)),
            (sorted, Self::TrimmedMean(fraction)) => Ok(mean(trimmed(sorted, *fraction))),
        }
    }

    /// Validates the method's own parameters.
    pub(super) fn check(&self) -> Result<(), AggregationError> {
        match *self {
            Self::TrimmedMean(fraction) if !(0.0..0.5).contains(&fraction) => {
                Err(AggregationError::Trim { fraction })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the median of sorted values.
fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { sorted[half - 1].midpoint(sorted[half]) }
}

/// Returns the mean of sorted values. The exact sum is rounded and then divided, which could exceed the
/// range of the values by one bit, so the result is clamped.
fn mean(sorted: &[f64]) -> f64 {
    let mut sum = ExactSum::default();
    sorted.iter().for_each(|value| sum.add(*value));
    sum.mean(sorted.len() as u64).clamp(sorted[0], sorted[sorted.len() - 1])
}

/// Returns sorted values without the given fraction at each end. At least one remains, since the product
/// with a fraction below one half never rounds up to half the number of values.
fn trimmed(sorted: &[f64], fraction: f64) -> &[f64] {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction below one half of a number of rollouts"
    )]
    let cut = (fraction * sorted.len() as f64) as usize;
    &sorted[cut..sorted.len() - cut]
}
