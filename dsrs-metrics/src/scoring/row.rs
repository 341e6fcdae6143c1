//! What scoring one row gives: its rollouts, and how they become one standing.

use std::collections::BTreeSet;

use super::aggregate::AggregationMethod;
use super::spending::Spending;
use super::standing::{Rank, Standing};
use crate::composite::OnMissing;
use crate::core::outcome::Outcome;

/// One rollout of a row: one prediction for its example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rollout {
    /// Where it stands.
    pub standing: Standing,
    /// Whether it passed the gate, or there is none; it may still have no score.
    pub passed: bool,
    /// The mean of its proxies in [0, 1]; `None` without proxies, or if they gave no mean.
    pub proxy: Option<f64>,
    /// What became of it under each metric, in the order of [`MetricSet::all`](super::MetricSet::all).
    /// Truth metrics that were not asked are `Gated` by the proxies that are to blame.
    pub outcomes: Vec<Outcome>,
}

/// What scoring one row gives.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct RowScore {
    /// Where the row stands, over its rollouts.
    pub standing: Standing,
    /// Its rollouts, in the order in which they were given.
    pub rollouts: Vec<Rollout>,
    /// How many rollouts the scorer is configured for.
    pub wanted: usize,
    /// What was asked for and paid.
    pub spending: Spending,
}

impl RowScore {
    /// The score in [0, 1] of a row that passed the gate; `None` if it was gated or skipped, or a
    /// metric failed. [`standing`](Self::standing) says which.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.standing.score()
    }

    /// Where the row stands among others; a gated row is below every row that passed.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.standing.rank()
    }

    /// Whether there were fewer rollouts than the scorer is configured for.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.rollouts.len() < self.wanted
    }

    /// How many rollouts have a score.
    #[must_use]
    pub fn scored(&self) -> usize {
        self.count(|standing| matches!(standing, Standing::Scored { .. }))
    }

    /// How many rollouts the proxies rejected.
    #[must_use]
    pub fn gated(&self) -> usize {
        self.count(|standing| matches!(standing, Standing::Gated { .. }))
    }

    /// How many rollouts have no score because a metric failed or abstained.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.count(|standing| matches!(standing, Standing::Failed { .. }))
    }

    fn count(&self, is: impl Fn(&Standing) -> bool) -> usize {
        self.rollouts.iter().filter(|rollout| is(&rollout.standing)).count()
    }
}

/// One standing from those of all rollouts. A gated rollout counts as 0, so that a program gains
/// nothing from having some of its rollouts rejected.
pub(super) fn combine(
    rollouts: &[Rollout],
    method: AggregationMethod,
    on_missing: OnMissing,
) -> Standing {
    let standings = || rollouts.iter().map(|rollout| &rollout.standing);
    if let Some(skipped) = standings().find(|it| matches!(it, Standing::Skipped { .. })) {
        return skipped.clone();
    }
    let scored: Vec<f64> = standings().filter_map(|it| counted(it, on_missing)).collect();
    let passed = standings().any(|standing| standing.score().is_some());
    let failures = failures(rollouts);
    let hopeless = on_missing == OnMissing::Fail || scored.is_empty();
    if !failures.is_empty() && hopeless {
        return Standing::Failed { reason: failures.join("; ") };
    }
    if !passed && !scored.is_empty() {
        return gated(rollouts, method);
    }
    match method.aggregate(&scored) {
        Ok(score) => Standing::Scored { score },
        Err(_) => Standing::Failed { reason: "there are no rollouts".to_owned() },
    }
}

/// What a rollout counts as among the others.
fn counted(standing: &Standing, on_missing: OnMissing) -> Option<f64> {
    match standing {
        Standing::Scored { score } => Some(*score),
        Standing::Gated { .. } => Some(0.0),
        Standing::Failed { .. } if on_missing == OnMissing::Zero => Some(0.0),
        Standing::Failed { .. } | Standing::Skipped { .. } => None,
    }
}

/// Why rollouts have no score; of several rollouts, which.
fn failures(rollouts: &[Rollout]) -> Vec<String> {
    let reason = |(number, rollout): (usize, &Rollout)| match &rollout.standing {
        Standing::Failed { reason } if rollouts.len() == 1 => Some(reason.clone()),
        Standing::Failed { reason } => {
            Some(format!("rollout {} of {}: {reason}", number + 1, rollouts.len()))
        }
        _ => None,
    };
    rollouts.iter().enumerate().filter_map(reason).collect()
}

/// No rollout passed.
fn gated(rollouts: &[Rollout], method: AggregationMethod) -> Standing {
    let (mut proxies, mut names) = (Vec::new(), BTreeSet::new());
    for rollout in rollouts {
        if let Standing::Gated { proxy, by } = &rollout.standing {
            proxies.push(*proxy);
            names.extend(by.split(", "));
        }
    }
    let proxy = method.aggregate(&proxies).unwrap_or(0.0);
    Standing::Gated { proxy, by: names.into_iter().collect::<Vec<_>>().join(", ") }
}
