//! The score of one row, its rollouts, and the errors of a scorer.

use std::fmt;

use serde::Serialize;

use super::combine::AggregationError;
use crate::contract::declared::requirements::NotReady;
use crate::contract::{Outcome, Scored};
use crate::evaluate::{EvaluateError, Spending};

/// A single prediction for a row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rollout {
    /// The status of the rollout, such as scored or gated.
    pub status: RowStatus,
    /// `true` if the rollout passed the gate, or if there is no gate.
    ///
    /// A rollout that passed may still have no score.
    pub passed: bool,
    /// The mean proxy score, in [0, 1].
    ///
    /// This is `None` if there are no proxies, or if a proxy has no score.
    pub proxy: Option<f64>,
    /// The outcome of each metric, in the order of [`MetricSet::all`](super::MetricSet::all).
    ///
    /// Truth metrics that were not evaluated have the outcome `Gated`. The outcome names the proxies that failed or
    /// scored below the threshold.
    pub outcomes: Vec<Outcome>,
}

/// A row's score, rollouts and cost.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct RowScore {
    /// The row's status, based on all its rollouts.
    pub status: RowStatus,
    /// The row's rollouts, in input order.
    pub rollouts: Vec<Rollout>,
    /// The configured number of rollouts.
    pub expected: usize,
    /// The number and cost of the calls made for the row.
    pub spending: Spending,
}

/// A row's score as a number.
///
/// This is returned by [`Scorer::score`](super::Scorer::score).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FinalScore {
    /// The score, in [0, 1].
    ///
    /// If the proxies rejected the row, this is 0. The proxy mean is not used here because it could exceed the score of
    /// a row that passed.
    ///
    /// The proxy mean is in [`status`](RowScore::status). To sort rejected rows by their proxy mean, use
    /// [`rank`](RowScore::rank).
    pub value: f64,
    /// The row with its status, outcomes and cost.
    pub row: RowScore,
}

impl RowScore {
    /// Returns the score, in [0, 1].
    ///
    /// Returns `None` if the row was gated, skipped or failed. The [`status`](Self::status) tells you which.
    pub fn score(&self) -> Option<f64> {
        self.status.score()
    }

    /// Returns the rank of the row.
    ///
    /// A gated row ranks below every row that has a score.
    pub fn rank(&self) -> Rank {
        self.status.rank()
    }

    /// Returns `true` if the row has fewer rollouts than the configuration requires.
    pub fn is_short(&self) -> bool {
        self.rollouts.len() < self.expected
    }

    /// Returns `true` if the row has a score even though a judge on a panel gave no verdict.
    pub fn is_judged_in_part(&self) -> bool {
        self.has(|scored| scored.lost_judges().is_some())
    }

    /// Returns `true` if a judge scored offline, without a language model.
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

    /// Returns the number of rollouts that failed.
    ///
    /// A failed rollout has no score because the program or a metric failed, or because a metric abstained.
    pub fn failed(&self) -> usize {
        self.count(|status| matches!(status, RowStatus::Failed { .. }))
    }

    fn count(&self, is: impl Fn(&RowStatus) -> bool) -> usize {
        let statuses = self.rollouts.iter().map(|rollout| &rollout.status);
        statuses.filter(|status| is(status)).count()
    }
}

/// The status of a row or rollout after scoring.
///
/// All scores are in [0, 1], where 1 is best.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status")]
#[non_exhaustive]
pub enum RowStatus {
    /// The row passed the gate and has a score.
    Scored {
        /// The mean score of the truth metrics, or of the proxies if there are no truth metrics.
        score: f64,
    },
    /// The proxies rejected the row.
    Gated {
        /// The proxy mean, which is below the threshold.
        proxy: f64,
        /// The names of the proxies below the threshold.
        by: String,
    },
    /// The budget did not cover the row's calls.
    Skipped {
        /// The budget, in millisatoshis.
        budget: u64,
    },
    /// The row has no score because of a failure.
    ///
    /// Either the program or a metric failed, or a metric abstained.
    Failed {
        /// A message that says what failed and why.
        reason: String,
    },
}

impl RowStatus {
    /// Returns the score if the status is [`Scored`](Self::Scored), and `None` otherwise.
    pub fn score(&self) -> Option<f64> {
        match self {
            Self::Scored { score } => Some(*score),
            _ => None,
        }
    }

    /// Returns a rank to sort rows by.
    pub fn rank(&self) -> Rank {
        let (class, score) = match self {
            Self::Scored { score } => (2, *score),
            Self::Gated { proxy, .. } => (1, *proxy),
            Self::Skipped { .. } | Self::Failed { .. } => (0, 0.0),
        };
        // Adding 0 turns -0 into 0.
        let score = (score + 0.0).to_bits();
        Rank { class, score }
    }
}

/// Writes `score 0.8000`, `gated by format (proxies 0.2500)`, `skipped: ..` or `no score: ..`.
impl fmt::Display for RowStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scored { score } => write!(f, "score {score:.4}"),
            Self::Gated { proxy, by } => write!(f, "gated by {by} (proxies {proxy:.4})"),
            Self::Skipped { budget } => {
                write!(f, "skipped: not covered by the budget of {budget} msat")
            }
            Self::Failed { reason } => write!(f, "no score: {reason}"),
        }
    }
}

/// A rank for sorting rows from worst to best.
///
/// Rows without a score come first, then gated rows by proxy mean, then scored rows by score.
///
/// ```
/// use dsrs_metrics::scoring::RowStatus;
///
/// let failed = RowStatus::Failed { reason: "`f1` abstained".to_owned() };
/// let gated = RowStatus::Gated { proxy: 0.49, by: "format".to_owned() };
/// let wrong = RowStatus::Scored { score: 0.0 };
/// let right = RowStatus::Scored { score: 1.0 };
/// assert!(failed.rank() < gated.rank());
/// assert!(gated.rank() < wrong.rank());
/// assert!(wrong.rank() < right.rank());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// The class of the row: 0 without a score, 1 if it is gated, 2 if it is scored.
    class: u8,
    /// The bits of the score, which sort like the score itself because it is not negative.
    score: u64,
}

/// An error that prevents a [`Scorer`](super::Scorer) from running or leaves it without a result.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScorerError {
    /// A metric or setting of the scorer is invalid.
    #[error("{message}")]
    Setup {
        /// A message that says what was found and what to write instead.
        message: String,
    },
    /// A row has no score.
    ///
    /// Either a metric or the program failed, or the budget does not cover the row.
    #[error("{}", row.status)]
    NoScore {
        /// The row, with each metric's outcome and the cost.
        row: Box<RowScore>,
    },
    /// The evaluation could not be built or had no result.
    #[error(transparent)]
    Run(#[from] EvaluateError),
}

dsrs_metrics_values::debug_as_display!(ScorerError);

impl ScorerError {
    pub(super) fn setup(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Setup { message }
    }
}

conversions! {
    NotReady => ScorerError: |error| Self::Run(error.into());
    AggregationError => ScorerError: |error| Self::setup(error.to_string());
}
