//! The status of a row (scored, gated, skipped or failed), and the ranking of rows.
//!
//! The status is determined in `gate.rs` and `combine.rs`.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

/// The status of a row, or of one rollout, after scoring. All scores are in [0, 1], where 1 is best.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status")]
#[non_exhaustive]
pub enum RowStatus {
    /// The row passed the gate and has a score.
    Scored {
        /// The mean of the truth metrics, or of the proxies where there are no truth metrics.
        score: f64,
    },
    /// The proxies rejected the row.
    Gated {
        /// The mean of the proxies, below the threshold.
        proxy: f64,
        /// The names of the proxies below the threshold, or `proxies`.
        by: String,
    },
    /// The budget did not cover the calls of the row.
    Skipped {
        /// The budget, in millisatoshis.
        budget: u64,
    },
    /// The program or a metric failed, or a metric abstained, so the row has no score.
    Failed {
        /// What failed, and why.
        reason: String,
    },
}

impl RowStatus {
    /// Returns the score of a row that passed; `None` for any other row.
    pub fn score(&self) -> Option<f64> {
        match self {
            Self::Scored { score } => Some(*score),
            _ => None,
        }
    }

    /// Returns the rank, by which rows are ordered.
    pub fn rank(&self) -> Rank {
        match self {
            Self::Scored { score } => Rank {
                class: Class::Scored,
                score: *score,
            },
            Self::Gated { proxy, .. } => Rank {
                class: Class::Gated,
                score: *proxy,
            },
            Self::Skipped { .. } | Self::Failed { .. } => Rank {
                class: Class::None,
                score: 0.0,
            },
        }
    }
}

/// `score 0.8000`, `gated by format (proxies 0.2500)`, `skipped: ..`, `no score: ..`.
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

/// A total order of rows, worst first: rows without a score, then gated rows by their proxy mean, then
/// scored rows by their score. A gated row therefore ranks below every row that passed.
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
#[derive(Debug, Clone, Copy)]
pub struct Rank {
    class: Class,
    score: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    None,
    Gated,
    Scored,
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.class
            .cmp(&other.class)
            .then_with(|| self.score.total_cmp(&other.score))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rank {}
