//! Computes a row's score by aggregating the scores of its rollouts.
//!
//! Rows are never aggregated this way: `summary.rs` computes means over rows, with denominators.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::gate::Tiers;
use super::row::{FinalScore, Rollout, RowScore, RowStatus, ScorerError};
use crate::composite::{IsMissing, OnMissing};
use crate::contract::Outcome;
use crate::evaluate::Spending;
use crate::stats::exact_sum::ExactSum;

/// The configuration of a [`Scorer`](super::Scorer).
///
/// ```
/// use dsrs_metrics::scoring::{AggregationMethod, ScoringConfig};
///
/// let config = ScoringConfig {
///     threshold: 0.5,
///     num_rollouts: 3,
///     aggregation: AggregationMethod::Median,
///     budget_msats: Some(1000),
///     ..ScoringConfig::default()
/// };
/// assert_eq!(config.num_rollouts, 3);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScoringConfig {
    /// The minimum mean proxy score that a row needs for its truth metrics to be evaluated.
    ///
    /// The threshold is in [0, 1], and the default is 0.5. If it is 0, every row with a proxy score passes the gate.
    pub threshold: f64,
    /// The number of rollouts per row.
    ///
    /// The default is 1. [`Scorer::run`](super::Scorer::run) runs the program this many times on each example.
    ///
    /// If you pass predictions instead, rows with fewer predictions count as [`short`](super::ScoringSummary::short).
    pub num_rollouts: usize,
    /// The method for aggregating the scores of a row's rollouts.
    ///
    /// The default is the median.
    pub aggregation: AggregationMethod,
    /// The maximum total cost of all calls, in millisatoshis.
    ///
    /// By default, the budget is unlimited.
    pub budget_msats: Option<u64>,
    /// Determines what happens to a row if a metric has no score for it.
    ///
    /// By default, the row fails.
    pub on_missing: OnMissing,
}

impl Default for ScoringConfig {
    fn default() -> Self {
        Self {
            threshold: 0.5,
            num_rollouts: 1,
            aggregation: AggregationMethod::default(),
            budget_msats: None,
            on_missing: OnMissing::default(),
        }
    }
}

impl ScoringConfig {
    pub(super) fn check(&self) -> Result<(), ScorerError> {
        if !(0.0..=1.0).contains(&self.threshold) {
            let threshold = self.threshold;
            return Err(ScorerError::setup(format!(
                "expected `threshold` between 0 and 1, found {threshold:?}"
            )));
        }
        if self.num_rollouts == 0 {
            return Err(ScorerError::setup(
                "expected `num_rollouts` to be at least 1, found 0",
            ));
        }
        if self.budget_msats == Some(0) {
            return Err(ScorerError::setup(
                "expected `budget_msats` to be at least 1, found 0; omit it for no limit",
            ));
        }
        Ok(self.aggregation.check()?)
    }
}

/// A method for aggregating the scores of several rollouts of one example.
///
/// Don't combine the scores of different rows in this way. For example, the median of many passes and failures is
/// always 0, 0.5 or 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AggregationMethod {
    /// The middle value, or the midpoint of the two middle values.
    ///
    /// The median is robust to outliers.
    #[default]
    Median,
    /// The average.
    Mean,
    /// The lowest value.
    Min,
    /// The highest value.
    Max,
    /// The average after removing this percentage of the values at each end.
    ///
    /// The percentage must be 0, or at least 1 and below 50. For `n` values, `floor(percent * n / 100)` values are
    /// removed at each end.
    ///
    /// Percentages between 0 and 1 are rejected, because they are probably fractions. For example, SciPy's `trim_mean`
    /// takes a fraction.
    TrimmedMean(f64),
}

dsrs_metrics_values::message_errors! {
    /// An error returned when values cannot be aggregated.
    ///
    /// The error occurs if there are no values, if a value is not finite, or if the percentage of a trimmed mean is
    /// invalid.
    pub struct AggregationError;
}

/// Suggests a valid percentage: 100 times the value if it looks like a fraction, otherwise 10.
fn suggested(percent: f64) -> String {
    match percent * 100.0 {
        fraction @ 1.0.. if percent < 0.5 => format!("{:?}", fraction.round()),
        _ => "10.0".to_owned(),
    }
}

impl AggregationMethod {
    /// Aggregates finite values into a single value.
    ///
    /// The result lies between the smallest and the largest value. It does not depend on the order of the values.
    ///
    /// ```
    /// use dsrs_metrics::scoring::AggregationMethod;
    ///
    /// let values = [0.9, 0.1, 0.5, 0.6];
    /// assert_eq!(AggregationMethod::Median.aggregate(&values), Ok(0.55));
    /// assert_eq!(AggregationMethod::Mean.aggregate(&values), Ok(0.525));
    /// assert_eq!(AggregationMethod::Min.aggregate(&values), Ok(0.1));
    /// assert_eq!(AggregationMethod::Max.aggregate(&values), Ok(0.9));
    /// assert_eq!(AggregationMethod::TrimmedMean(25.0).aggregate(&values), Ok(0.55));
    /// let error = AggregationMethod::Mean.aggregate(&[]).unwrap_err();
    /// assert_eq!(error.to_string(), "expected at least one value to aggregate, found none");
    /// ```
    ///
    /// # Errors
    /// Returns an error if there are no values, if a value is NaN or infinite, or if the percentage of a trimmed mean
    /// is invalid.
    pub fn aggregate(&self, values: &[f64]) -> Result<f64, AggregationError> {
        self.check()?;
        let not_finite = values.iter().position(|value| !value.is_finite());
        if let Some(position) = not_finite {
            let value = values[position];
            return Err(
                format!("expected a finite number as value {position}, found {value}").into(),
            );
        }
        // Adding 0 turns -0 into 0, so the sign of a zero does not depend on the method.
        let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        match (&*sorted, self) {
            ([], _) => Err("expected at least one value to aggregate, found none".into()),
            ([min, ..], Self::Min) => Ok(*min),
            ([.., max], Self::Max) => Ok(*max),
            (sorted, Self::Median) => Ok(mean(&sorted[(sorted.len() - 1) / 2..=sorted.len() / 2])),
            (sorted, Self::Mean) => Ok(mean(sorted)),
            (sorted, Self::TrimmedMean(percent)) => Ok(mean(trimmed(sorted, *percent))),
        }
    }

    /// Validates the method's own parameters.
    pub(super) fn check(&self) -> Result<(), AggregationError> {
        match *self {
            Self::TrimmedMean(percent) if percent != 0.0 && !(1.0..50.0).contains(&percent) => {
                Err(format!(
                    "expected 0, or a percentage from 1 to less than 50, to trim at each end, found \
                     {percent:?}; write `TrimmedMean({})`",
                    suggested(percent)
                )
                .into())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the mean of sorted values. Rounding the exact sum before the division could exceed the range of the values
/// by one bit, so the result is clamped.
fn mean(sorted: &[f64]) -> f64 {
    let mut sum = ExactSum::default();
    sorted.iter().for_each(|value| sum.add(*value));
    sum.mean(sorted.len() as u64)
        .clamp(sorted[0], sorted[sorted.len() - 1])
}

/// Returns sorted values without the given percentage at each end. At least one remains, because the percentage is
/// below 50 and rounding cannot reach half of the values.
fn trimmed(sorted: &[f64], percent: f64) -> &[f64] {
    let cut = (percent * sorted.len() as f64 / 100.0) as usize;
    &sorted[cut..sorted.len() - cut]
}

impl RowScore {
    /// Converts the row into a [`FinalScore`].
    ///
    /// The [`FinalScore`] contains the score as a number.
    ///
    /// # Errors
    /// Returns [`ScorerError::NoScore`] with the row if a metric failed or the budget did not cover the row.
    pub fn into_score(self) -> Result<FinalScore, ScorerError> {
        let value = match self.status {
            RowStatus::Scored { score } => score,
            RowStatus::Gated { .. } => 0.0,
            RowStatus::Skipped { .. } | RowStatus::Failed { .. } => {
                let row = Box::new(self);
                return Err(ScorerError::NoScore { row });
            }
        };
        Ok(FinalScore { value, row: self })
    }
}

impl Tiers {
    /// Creates a rollout from these outcomes, proxies first.
    pub(super) fn rollout(&self, outcomes: Vec<Outcome>) -> Rollout {
        let (proxies, truth) = outcomes.split_at(self.proxies.min(outcomes.len()));
        let (status, passed, proxy) = match self.proxy_mean(proxies) {
            _ if let Some(Outcome::ProgramFailed { error }) = outcomes.first() => {
                let reason = format!("the program failed: {error}");
                (RowStatus::Failed { reason }, false, None)
            }
            Ok(proxy) => (self.status(proxy, truth), true, proxy),
            Err(RowStatus::Gated { proxy, by }) => {
                (RowStatus::Gated { proxy, by }, false, Some(proxy))
            }
            Err(status) => (status, false, None),
        };
        Rollout {
            status,
            passed,
            proxy,
            outcomes,
        }
    }

    /// Returns the truth calls that were skipped because the proxies rejected the rollouts. A failed proxy saves
    /// nothing.
    pub(super) fn saved(&self, rollouts: &[Rollout]) -> Spending {
        let is_gated = |rollout: &&Rollout| matches!(rollout.status, RowStatus::Gated { .. });
        let gated = rollouts.iter().filter(is_gated).count() as u64;
        let declared = self.truth().iter().map(|entry| entry.declared_cost);
        let declared = declared.fold(0, u64::saturating_add);
        Spending {
            truth_calls_gated: gated.saturating_mul(self.truth().len() as u64),
            saved_msats: gated.saturating_mul(declared),
            ..Spending::default()
        }
    }
}

/// Returns the status of a row, with the number of each failed rollout if there are several.
pub(super) fn of_row(rollouts: &[Rollout], config: &ScoringConfig) -> RowStatus {
    let all = rollouts.len();
    let status = |(number, rollout): (usize, &Rollout)| match &rollout.status {
        RowStatus::Failed { reason } if all > 1 => RowStatus::Failed {
            reason: format!("rollout {number} of {all}: {reason}"),
        },
        status => status.clone(),
    };
    let statuses = (1..).zip(rollouts).map(status);
    match combine(statuses, config.aggregation, config.on_missing) {
        _ if all == 0 => RowStatus::Failed {
            reason: "the row has no rollouts".to_owned(),
        },
        status => status,
    }
}

/// Aggregates the statuses of the metrics of a tier, or of the rollouts of a row. A gated rollout counts as 0, so
/// rejected rollouts never help a program. If the budget did not cover one of them, the result is skipped, regardless
/// of [`OnMissing`]. It would be based on fewer metrics or rollouts than the results of other rows.
pub(super) fn combine(
    statuses: impl Iterator<Item = RowStatus>,
    method: AggregationMethod,
    on_missing: OnMissing,
) -> RowStatus {
    let (mut scores, mut reasons, mut has_score) = (Vec::new(), Vec::new(), false);
    let (mut proxies, mut names) = (Vec::new(), BTreeSet::new());
    for status in statuses {
        let score = match status {
            RowStatus::Scored { score } => {
                has_score = true;
                Ok(Some(score))
            }
            RowStatus::Gated { proxy, by } => {
                proxies.push(proxy);
                names.extend(by.split(", ").map(str::to_owned));
                Ok(Some(0.0))
            }
            RowStatus::Skipped { .. } => return status,
            RowStatus::Failed { reason } => {
                reasons.push(reason);
                on_missing.replacement(0.0)
            }
        };
        scores.push(score);
    }
    let scores = scores.into_iter().filter_map(Result::transpose);
    let scores: Result<Vec<f64>, IsMissing> = scores.collect();
    match scores.ok().and_then(|it| method.aggregate(&it).ok()) {
        Some(score) if has_score || proxies.is_empty() => RowStatus::Scored { score },
        Some(_) => RowStatus::Gated {
            proxy: method.aggregate(&proxies).unwrap_or(0.0),
            by: Vec::from_iter(names).join(", "),
        },
        None => RowStatus::Failed {
            reason: reasons.join("; "),
        },
    }
}
