//! The score of one tier, and how the gate between the tiers decides.
//!
//! `evaluate/row/rollouts.rs` evaluates the metrics.

use std::collections::BTreeMap;

use super::combine::{AggregationMethod, ScoringConfig, combine};
use super::row::{RowStatus, ScorerError};
use crate::contract::{Direction, MetricSpec, Outcome, ScoreKind, ScoreRange};

/// A metric of a tier, with the linear map from its values to [0, 1].
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    range: ScoreRange,
    higher_is_better: bool,
    /// The declared maximum cost of one call, in millisatoshis. For a judge, this covers its whole panel with all
    /// repairs.
    pub(super) declared_cost: u64,
}

impl Entry {
    /// Returns the entry of a metric, whose range must have a finite width above 0.
    pub(super) fn new(
        metric: &str,
        spec: &MetricSpec<'_>,
        cost_estimate: u64,
    ) -> Result<Self, ScorerError> {
        if spec.kind == ScoreKind::Corpus {
            return Err(ScorerError::setup(format!(
                "`{metric}` scores all rows together, not single rows; run it with `Evaluate`"
            )));
        }
        let has_verdict = spec.threshold.is_some() || spec.kind == ScoreKind::Bool;
        let is_verdict = spec.strict && has_verdict;
        let range = match is_verdict {
            // A strict score is 1 for a pass and 0 for a fail, regardless of the raw score's range.
            true => Some(ScoreRange::UNIT),
            false => spec.range,
        };
        let Some(range) = range else {
            return Err(ScorerError::setup(format!(
                "`{metric}` declares no range, which is required to average it with other metrics; \
                 declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`"
            )));
        };
        let width = range.max - range.min;
        if !(width.is_finite() && width > 0.0) {
            return Err(ScorerError::setup(format!(
                "the range {range} of `{metric}` cannot be normalized to [0, 1]; declare a finite range whose maximum exceeds its minimum"
            )));
        }
        let higher_is_better = is_verdict || spec.direction == Direction::HigherIsBetter;
        Ok(Self {
            name: metric.to_owned(),
            range,
            higher_is_better,
            declared_cost: spec.cost_msats.max(cost_estimate),
        })
    }

    /// Maps a value to [0, 1].
    fn normalized(&self, value: f64) -> f64 {
        let ScoreRange { min, max } = self.range;
        let above = match self.higher_is_better {
            true => value - min,
            false => max - value,
        };
        (above / (max - min)).clamp(0.0, 1.0)
    }
}

/// The metrics of both tiers, and the gate between them.
pub(super) struct Tiers {
    /// All metrics, proxies first.
    pub(super) metrics: Vec<Entry>,
    pub(super) proxies: usize,
    pub(super) config: ScoringConfig,
}

impl Tiers {
    fn proxies(&self) -> &[Entry] {
        &self.metrics[..self.proxies]
    }

    pub(super) fn truth(&self) -> &[Entry] {
        &self.metrics[self.proxies..]
    }

    /// Returns the mean of one rollout's proxies, or `None` if there are no proxies.
    ///
    /// # Errors
    /// If the rollout does not pass the gate, its status is returned instead.
    pub(super) fn proxy_mean(&self, outcomes: &[Outcome]) -> Result<Option<f64>, RowStatus> {
        if self.proxies == 0 {
            return Ok(None);
        }
        match self.mean(statuses(self.proxies(), outcomes)) {
            RowStatus::Scored { score } if score < self.config.threshold => Err(RowStatus::Gated {
                proxy: score,
                by: self.rejecting(outcomes),
            }),
            RowStatus::Scored { score } => Ok(Some(score)),
            status => Err(status),
        }
    }

    /// Returns the names of the proxies that reject a rollout, or `None` if the rollout passes.
    pub(super) fn rejected_by(&self, outcomes: &[Outcome]) -> Option<String> {
        let rejected = self.proxy_mean(outcomes).err();
        rejected.map(|_| self.rejecting(outcomes))
    }

    /// Returns the names of the proxies that have no score or score below the threshold.
    fn rejecting(&self, outcomes: &[Outcome]) -> String {
        let mut proxies = statuses(self.proxies(), outcomes);
        proxies.retain(|_, status| status.score() < Some(self.config.threshold));
        Vec::from_iter(proxies.into_keys()).join(", ")
    }

    /// Returns the status of a rollout that passed the gate with this proxy mean.
    pub(super) fn status(&self, proxy: Option<f64>, truth: &[Outcome]) -> RowStatus {
        match self.truth() {
            // The proxy mean is the score; a scorer has at least one metric.
            [] => RowStatus::Scored {
                score: proxy.unwrap_or_default(),
            },
            metrics => self.mean(statuses(metrics, truth)),
        }
    }

    fn mean(&self, statuses: BTreeMap<&str, RowStatus>) -> RowStatus {
        let (method, on_missing) = (AggregationMethod::Mean, self.config.on_missing);
        combine(statuses.into_values(), method, on_missing)
    }
}

/// Returns the status of each metric of a tier for one rollout, with scores normalized to [0, 1]. The metrics are
/// sorted by name, so reasons do not depend on their order.
fn statuses<'a>(metrics: &'a [Entry], outcomes: &[Outcome]) -> BTreeMap<&'a str, RowStatus> {
    let status = |(entry, outcome): (&'a Entry, &Outcome)| {
        let status = match (outcome, outcome.value()) {
            (Outcome::Skipped { budget, .. }, _) => RowStatus::Skipped { budget: *budget },
            (_, Some(value)) => RowStatus::Scored {
                score: entry.normalized(value),
            },
            (_, None) => {
                let reason = || format!("metric `{}` {}", entry.name, outcome.name());
                let reason = outcome.error().unwrap_or_else(reason);
                RowStatus::Failed { reason }
            }
        };
        (&*entry.name, status)
    };
    metrics.iter().zip(outcomes).map(status).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_a_strict_metric_with_a_verdict_is_its_verdict() {
        let stars = MetricSpec::new("stars").with_range(1.0, 5.0);
        let correct = stars.with_kind(ScoreKind::Bool);
        let of = |spec: MetricSpec<'_>| Entry::new("it", &spec, 0).unwrap();
        for (spec, value, expected) in [
            (stars, 3.0, 0.5),
            (stars.with_direction(Direction::LowerIsBetter), 2.0, 0.75),
            (stars.with_threshold(2.0), 3.0, 0.5),
            (stars.with_strict(), 3.0, 0.5),
            (correct, 0.25, 0.25),
            (correct.with_strict(), 0.5, 0.5),
            (stars.with_threshold(2.0).with_strict(), 0.5, 0.5),
            (stars, 9.0, 1.0),
            (stars, -9.0, 0.0),
        ] {
            assert_eq!(of(spec).normalized(value), expected, "{value} of {spec:?}");
        }
    }

    #[test]
    fn a_metric_of_rows_with_a_range_of_some_width_can_be_normalized() {
        let refused = |spec: MetricSpec<'_>| Entry::new("it", &spec, 0).unwrap_err().to_string();
        let it = MetricSpec::new("it");
        assert!(refused(it).starts_with("`it` declares no range"));
        let corpus = it.with_range(0.0, 1.0).with_kind(ScoreKind::Corpus);
        assert!(refused(corpus).starts_with("`it` scores all rows together"));
        for (min, max) in [(1.0, 1.0), (0.0, f64::INFINITY)] {
            let range = ScoreRange { min, max };
            let expected = format!("the range {range} of `it` cannot be normalized");
            assert!(refused(it.with_range(min, max)).starts_with(&expected));
        }
    }
}
