//! The score of one tier, and the decision of the gate between the tiers.
//!
//! `evaluate/row/rollouts.rs` evaluates the metrics.

use super::aggregate::AggregationMethod;
use super::error::ScorerError;
use super::normalization::Normalization;
use super::row_status::RowStatus;
use super::set::BoxedMetric;
use crate::composite::{IsMissing, OnMissing};
use crate::core::metric::Metric;
use crate::core::score::outcome::Outcome;

/// A metric of a tier.
pub(super) struct Entry {
    pub(super) name: String,
    normalization: Normalization,
    /// The declared maximum cost of one call, in millisatoshis. The cost of a judge covers its whole panel with all repairs.
    pub(super) declared_cost: u64,
    /// `true` if the metric may call a model or a service. A synchronous function of fields makes no call.
    pub(super) may_call: bool,
}

impl Entry {
    pub(super) fn new<G: Sync, P: Sync>(metric: &BoxedMetric<G, P>) -> Result<Self, ScorerError> {
        let spec = metric.spec();
        let normalization = Normalization::of(&spec)?;
        let declared_cost = spec.cost_msats.max(metric.cost_estimate());
        let (name, may_call) = (metric.name().to_owned(), spec.is_async || !spec.only_fields);
        Ok(Self {
            name,
            normalization,
            declared_cost,
            may_call,
        })
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
    /// Returns the mean of the proxies of one rollout, `None` without proxies.
    ///
    /// # Errors
    /// The status of a rollout that does not pass the gate.
    pub(super) fn proxy_mean(&self, outcomes: &[Outcome]) -> Result<Option<f64>, RowStatus> {
        let mean = mean(&self.proxies, outcomes, self.on_missing)?;
        match mean.filter(|proxy| *proxy < self.threshold) {
            None => Ok(mean),
            Some(proxy) => {
                let scores = normalized(&self.proxies, outcomes, self.on_missing);
                let low = scores.iter().filter(|(_, score)| *score < self.threshold);
                let by = joined_names(low.map(|(entry, _)| *entry));
                Err(RowStatus::Gated { proxy, by })
            }
        }
    }

    /// Returns the names of the proxies that reject a rollout; `None` if it passes the gate.
    pub(super) fn rejected_by(&self, outcomes: &[Outcome]) -> Option<String> {
        let by = match self.proxy_mean(outcomes).err()? {
            RowStatus::Gated { by, .. } => by,
            RowStatus::Failed { .. } => {
                joined_names(missing(&self.proxies, outcomes).map(|(entry, _)| entry))
            }
            _ => joined_names(std::iter::empty()),
        };
        Some(by)
    }

    /// Returns the status of a rollout that passed the gate with this mean of its proxies.
    pub(super) fn status(&self, proxy: Option<f64>, truth: &[Outcome]) -> RowStatus {
        match mean(&self.truth, truth, self.on_missing) {
            // Without truth metrics the proxy mean is the score; a scorer has at least one metric.
            Ok(score) => RowStatus::Scored {
                score: score.or(proxy).unwrap_or_default(),
            },
            Err(status) => status,
        }
    }
}

/// Returns the mean of the outcomes of one tier, each normalized to [0, 1]; `None` if the tier has no metric.
///
/// # Errors
/// The status of a rollout without this mean: a metric has no score, or the budget of the language models did not cover a
/// metric. In the second case the mean would be based on fewer metrics than the mean of other rows, whatever [`OnMissing`] is.
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
    AggregationMethod::Mean
        .aggregate(&values)
        .map(Some)
        .map_err(|_| {
            let mut reasons: Vec<String> = missing(entries, outcomes).map(reason).collect();
            // Sorted, so that the reason does not depend on the order of the metrics.
            reasons.sort_unstable();
            RowStatus::Failed {
                reason: reasons.join("; "),
            }
        })
}

/// Returns the normalized scores of a tier, with their metrics. There are none if the score of a metric is missing and not
/// replaced.
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
    entries
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| outcome.scored().is_none())
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
    if names.is_empty() {
        "proxies".to_owned()
    } else {
        names.join(", ")
    }
}
