//! The score of one tier, and how the gate between the tiers decides.
//!
//! `evaluate/row/rollouts.rs` evaluates the metrics.

use super::combine::{AggregationMethod, ScoringConfig};
use super::row::{RowStatus, ScorerError};
use crate::composite::{IsMissing, OnMissing};
use crate::contract::{Direction, Metric, MetricSpec, Outcome, ScoreKind, ScoreRange};

/// A metric of a tier.
pub(super) struct Entry {
    pub(super) name: String,
    normalization: Normalization,
    /// The declared maximum cost of one call, in millisatoshis. For a judge, this covers its whole panel with all
    /// repairs.
    pub(super) declared_cost: u64,
}

impl Entry {
    pub(super) fn new<G: Sync, P: Sync>(metric: &dyn Metric<G, P>) -> Result<Self, ScorerError> {
        let spec = metric.spec();
        Ok(Self {
            name: metric.name().to_owned(),
            normalization: Normalization::of(&spec)?,
            declared_cost: spec.cost_msats.max(metric.cost_estimate()),
        })
    }
}

/// The metrics of both tiers, and the gate between them.
pub(super) struct Tiers {
    /// Proxies first.
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

    /// Returns the mean of one rollout's proxies; `None` if there are none.
    ///
    /// # Errors
    /// Returns the status of a rollout that does not pass the gate.
    pub(super) fn proxy_mean(&self, outcomes: &[Outcome]) -> Result<Option<f64>, RowStatus> {
        let mean = mean(self.proxies(), outcomes, self.config.on_missing)?;
        match mean.filter(|proxy| *proxy < self.config.threshold) {
            None => Ok(mean),
            Some(proxy) => {
                let scores = normalized(self.proxies(), outcomes, self.config.on_missing);
                let low = scores
                    .iter()
                    .filter(|(_, score)| *score < self.config.threshold);
                let by = joined_names(low.map(|(entry, _)| *entry));
                Err(RowStatus::Gated { proxy, by })
            }
        }
    }

    /// Returns the names of the proxies that reject a rollout; `None` if it passes.
    pub(super) fn rejected_by(&self, outcomes: &[Outcome]) -> Option<String> {
        let by = match self.proxy_mean(outcomes).err()? {
            RowStatus::Gated { by, .. } => by,
            RowStatus::Failed { .. } => {
                joined_names(missing(self.proxies(), outcomes).map(|(entry, _)| entry))
            }
            _ => joined_names(std::iter::empty()),
        };
        Some(by)
    }

    /// Returns the status of a rollout that passed the gate with this proxy mean.
    pub(super) fn status(&self, proxy: Option<f64>, truth: &[Outcome]) -> RowStatus {
        match mean(self.truth(), truth, self.config.on_missing) {
            // Without truth metrics the proxy mean is the score; a scorer has at least one metric.
            Ok(score) => RowStatus::Scored {
                score: score.or(proxy).unwrap_or_default(),
            },
            Err(status) => status,
        }
    }
}

/// Returns the mean of one tier's outcomes, each normalized to [0, 1]; `None` if the tier has no metric.
///
/// # Errors
/// Returns the status of a rollout without this mean: a metric has no score, or the budget of the language models did
/// not cover it. In the second case, the mean would be based on fewer metrics than for other rows, regardless of
/// [`OnMissing`].
fn mean(
    entries: &[Entry],
    outcomes: &[Outcome],
    on_missing: OnMissing,
) -> Result<Option<f64>, RowStatus> {
    if entries.is_empty() {
        return Ok(None);
    }
    if let Some(Outcome::Skipped { budget, .. }) = outcomes.iter().find(|it| it.is_skipped()) {
        return Err(RowStatus::Skipped { budget: *budget });
    }
    let scores = normalized(entries, outcomes, on_missing);
    let values: Vec<f64> = scores.iter().map(|(_, score)| *score).collect();
    let mean = AggregationMethod::Mean.aggregate(&values);
    mean.map(Some).map_err(|_| {
        let mut reasons: Vec<String> = missing(entries, outcomes).map(reason).collect();
        // Sorted, so the reason does not depend on the order of the metrics.
        reasons.sort_unstable();
        let reason = reasons.join("; ");
        RowStatus::Failed { reason }
    })
}

/// Returns the normalized scores of a tier, with their metrics. Empty if a metric's score is missing and not replaced.
fn normalized<'a>(
    entries: &'a [Entry],
    outcomes: &[Outcome],
    on_missing: OnMissing,
) -> Vec<(&'a Entry, f64)> {
    let score = |(entry, outcome): (&'a Entry, &Outcome)| {
        let score = outcome
            .value()
            .map(|value| entry.normalization.apply(value));
        let score = score.map_or_else(|| on_missing.replacement(0.0), |score| Ok(Some(score)));
        score.transpose().map(|score| Ok((entry, score?)))
    };
    let scores = entries.iter().zip(outcomes).filter_map(score);
    scores.collect::<Result<_, IsMissing>>().unwrap_or_default()
}

/// Returns the metrics of a tier that have no score.
fn missing<'a>(
    entries: &'a [Entry],
    outcomes: &'a [Outcome],
) -> impl Iterator<Item = (&'a Entry, &'a Outcome)> {
    let outcomes = entries.iter().zip(outcomes);
    outcomes.filter(|(_, outcome)| outcome.scored().is_none())
}

/// Returns why a metric has no score.
fn reason((entry, outcome): (&Entry, &Outcome)) -> String {
    outcome
        .error()
        .unwrap_or_else(|| format!("metric `{}` {}", entry.name, outcome.name()))
}

fn joined_names<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut names: Vec<&str> = entries.map(|entry| &*entry.name).collect();
    names.sort_unstable();
    match &*names {
        [] => "proxies".to_owned(),
        names => names.join(", "),
    }
}

/// The linear map from a metric's values to [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Normalization {
    range: ScoreRange,
    higher_is_better: bool,
}

impl Normalization {
    /// Returns the normalization of a metric, whose range must have a finite width above 0.
    pub(super) fn of(spec: &MetricSpec<'_>) -> Result<Self, ScorerError> {
        if spec.kind == ScoreKind::Corpus {
            let metric = spec.name;
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
        let metric = spec.name;
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
            range,
            higher_is_better,
        })
    }

    /// Maps a value to [0, 1].
    pub(super) fn apply(&self, value: f64) -> f64 {
        let ScoreRange { min, max } = self.range;
        let above = match self.higher_is_better {
            true => value - min,
            false => max - value,
        };
        (above / (max - min)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_a_strict_metric_with_a_verdict_is_its_verdict() {
        let stars = MetricSpec::new("stars").with_range(1.0, 5.0);
        let correct = stars.with_kind(ScoreKind::Bool);
        let of = |spec: MetricSpec<'_>| Normalization::of(&spec).unwrap();
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
            assert_eq!(of(spec).apply(value), expected, "{value} of {spec:?}");
        }
    }

    #[test]
    fn a_metric_of_rows_with_a_range_of_some_width_can_be_normalized() {
        let refused = |spec: MetricSpec<'_>| Normalization::of(&spec).unwrap_err().to_string();
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
