//! The score of one tier, and the decision of the gate between the tiers.
//!
//! `evaluate/rollouts.rs` evaluates the metrics.

use super::aggregate::AggregationMethod;
use super::error::ScorerError;
use super::normalization::Normalization;
use super::row_status::RowStatus;
use super::set::BoxedMetric;
use crate::composite::OnMissing;
use crate::core::metric::Metric;
use crate::core::outcome::Outcome;

/// A metric of a tier.
pub(super) struct Entry {
    pub(super) name: String,
    normalization: Normalization,
    /// The declared maximum cost of one call, in millisatoshis. The cost of a judge covers its whole panel with all repairs.
    pub(super) declared_cost: u64,
}

impl Entry {
    pub(super) fn new<G: Sync, P: Sync>(metric: &BoxedMetric<G, P>) -> Result<Self, ScorerError> {
        let spec = metric.spec();
        let normalization = Normalization::of(&spec)?;
        let declared_cost = spec.cost_msats.max(metric.cost_estimate());
        Ok(Self { name: metric.name().to_owned(), normalization, declared_cost })
    }
}

/// The metrics of both tiers, and the gate between them.
pub(super) struct Tiers {
    pub(super) proxies: Vec<Entry>,
    pub(super) truth: Vec<Entry>,
    pub(super) threshold: f64,
    pub(super) on_missing: OnMissing,
}

impl Tiers {
    pub(super) fn decide(&self, proxies: &[Outcome]) -> Decision {
        decide(&self.proxies, proxies, self.on_missing, self.threshold)
    }

    /// Returns the score of a rollout that passed the gate.
    pub(super) fn truth_score(&self, truth: &[Outcome]) -> TierScore {
        tier_score(&self.truth, truth, self.on_missing)
    }
}

/// The mean of one tier over one rollout.
pub(super) enum TierScore {
    /// The tier has no metric.
    NoMetric,
    Mean(f64),
    /// A metric has no score; the reason.
    Missing(String),
    /// The budget of the language models did not cover a metric. Without it, the score would be based on fewer metrics
    /// than that of other rows, whatever [`OnMissing`] says.
    Skipped {
        budget: u64,
    },
}

/// Returns the mean of the outcomes of one tier, each normalized to [0, 1].
fn tier_score(entries: &[Entry], outcomes: &[Outcome], on_missing: OnMissing) -> TierScore {
    if entries.is_empty() {
        return TierScore::NoMetric;
    }
    let skipped = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Skipped { budget, .. } => Some(*budget),
        _ => None,
    });
    if let Some(budget) = skipped {
        return TierScore::Skipped { budget };
    }
    let scores = normalized(entries, outcomes, on_missing);
    let missing = outcomes.iter().any(|outcome| outcome.scored().is_none());
    if missing && (on_missing == OnMissing::Fail || scores.is_empty()) {
        return TierScore::Missing(reason(entries, outcomes));
    }
    let values: Vec<f64> = scores.iter().map(|(_, score)| *score).collect();
    match AggregationMethod::Mean.aggregate(&values) {
        Ok(mean) => TierScore::Mean(mean),
        Err(error) => TierScore::Missing(error.to_string()),
    }
}

/// Returns the normalized scores of a tier, with the names of their metrics.
fn normalized<'a>(
    entries: &'a [Entry],
    outcomes: &[Outcome],
    on_missing: OnMissing,
) -> Vec<(&'a str, f64)> {
    let score = |(entry, outcome): (&'a Entry, &Outcome)| {
        let score = match outcome.value() {
            Some(value) => entry.normalization.apply(value),
            None if on_missing == OnMissing::Zero => 0.0,
            None => return None,
        };
        Some((&*entry.name, score))
    };
    entries.iter().zip(outcomes).filter_map(score).collect()
}

/// Returns which metrics have no score and why, in an order independent of that of the metrics.
fn reason(entries: &[Entry], outcomes: &[Outcome]) -> String {
    let missing = entries.iter().zip(outcomes).filter(|(_, outcome)| outcome.scored().is_none());
    let mut reasons: Vec<String> = missing
        .map(|(entry, outcome)| {
            outcome.error().unwrap_or_else(|| format!("metric `{}` {}", entry.name, outcome.name()))
        })
        .collect();
    reasons.sort_unstable();
    reasons.join("; ")
}

/// The decision of the gate on one rollout.
pub(super) enum Decision {
    Pass { proxy: Option<f64> },
    Stop { proxy: Option<f64>, by: String, status: RowStatus },
}

/// Compares the proxies of one rollout with the threshold. Without proxies every rollout passes.
fn decide(
    entries: &[Entry],
    outcomes: &[Outcome],
    on_missing: OnMissing,
    threshold: f64,
) -> Decision {
    match tier_score(entries, outcomes, on_missing) {
        TierScore::NoMetric => Decision::Pass { proxy: None },
        TierScore::Mean(proxy) if proxy >= threshold => Decision::Pass { proxy: Some(proxy) },
        TierScore::Mean(proxy) => {
            let scores = normalized(entries, outcomes, on_missing);
            let low = scores.iter().filter(|(_, score)| *score < threshold);
            let by = joined_names(low.map(|(name, _)| *name));
            let status = RowStatus::Gated { proxy, by: by.clone() };
            Decision::Stop { proxy: Some(proxy), by, status }
        }
        TierScore::Skipped { budget } => {
            let by = joined_names(std::iter::empty());
            Decision::Stop { proxy: None, by, status: RowStatus::Skipped { budget } }
        }
        TierScore::Missing(reason) => {
            let unscored = |(_, outcome): &(_, &Outcome)| outcome.scored().is_none();
            let missing = entries.iter().zip(outcomes).filter(unscored);
            let by = joined_names(missing.map(|(entry, _)| &*entry.name));
            Decision::Stop { proxy: None, by, status: RowStatus::Failed { reason } }
        }
    }
}

fn joined_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    if names.is_empty() { "proxies".to_owned() } else { names.join(", ") }
}
