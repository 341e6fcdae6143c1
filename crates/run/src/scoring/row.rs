//! The score of one row, and its rollouts.

use super::row_status::{Rank, RowStatus};
use crate::core::score::Scored;
use crate::core::score::outcome::Outcome;
use crate::evaluate::Spending;

/// One rollout of a row: one prediction for its example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rollout {
    /// Its status: scored, gated, skipped or failed.
    pub status: RowStatus,
    /// Whether it passed the gate, or there is none. It may still have no score.
    pub passed: bool,
    /// The mean of its proxies in [0, 1]; `None` without proxies, or if one of them has no score.
    pub proxy: Option<f64>,
    /// The outcome of each metric, in the order of [`MetricSet::all`](super::MetricSet::all). Truth metrics
    /// that were not evaluated are `Gated`, by the proxies that are below the threshold or failed.
    pub outcomes: Vec<Outcome>,
}

/// The score of one row.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct RowScore {
    /// The status of the row, over its rollouts.
    pub status: RowStatus,
    /// Its rollouts, in input order.
    pub rollouts: Vec<Rollout>,
    /// The configured number of rollouts.
    pub expected: usize,
    /// The calls and the cost of the row.
    pub spending: Spending,
}

/// The score of a row as a number, returned by [`Scorer::score`](super::Scorer::score).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FinalScore {
    /// The score in [0, 1]. A row that the proxies rejected has 0, as in every mean, and not the mean of its proxies:
    /// that could exceed the score of a row that passed. [`status`](RowScore::status) has that mean, and
    /// [`rank`](RowScore::rank) orders rejected rows by it.
    pub value: f64,
    /// The row: its status, the outcome of each metric, and the cost.
    pub row: RowScore,
}

impl RowScore {
    /// Returns the score in [0, 1] of a row that passed the gate; `None` if it was gated or skipped, or a
    /// metric failed. [`status`](Self::status) distinguishes them.
    pub fn score(&self) -> Option<f64> {
        self.status.score()
    }

    /// Returns the rank of the row; a gated row ranks below every row that passed.
    pub fn rank(&self) -> Rank {
        self.status.rank()
    }

    /// Returns whether there are fewer rollouts than configured.
    pub fn is_short(&self) -> bool {
        self.rollouts.len() < self.expected
    }

    /// Returns whether a judge of a panel returned no verdict, although the metric has a score.
    pub fn is_judged_in_part(&self) -> bool {
        self.has(|scored| scored.lost_judges().is_some())
    }

    /// Returns whether a judge scored by its offline stand-in, without a language model.
    pub fn is_judged_offline(&self) -> bool {
        self.has(Scored::is_judged_offline)
    }

    fn has(&self, is: impl Fn(&Scored) -> bool) -> bool {
        let mut outcomes = self.rollouts.iter().flat_map(|rollout| &rollout.outcomes);
        outcomes.any(|outcome| outcome.scored().is_some_and(&is))
    }

    /// Returns the number of rollouts with a score.
    pub fn scored(&self) -> usize {
        self.count(|status| matches!(status, RowStatus::Scored { .. }))
    }

    /// Returns the number of rollouts rejected by the proxies.
    pub fn gated(&self) -> usize {
        self.count(|status| matches!(status, RowStatus::Gated { .. }))
    }

    /// Returns the number of rollouts without a score because the program or a metric failed, or a metric abstained.
    pub fn failed(&self) -> usize {
        self.count(|status| matches!(status, RowStatus::Failed { .. }))
    }

    fn count(&self, is: impl Fn(&RowStatus) -> bool) -> usize {
        self.rollouts
            .iter()
            .filter(|rollout| is(&rollout.status))
            .count()
    }
}
