//! Where a row stands: scored, gated, skipped or without a score; and how rows rank.
//!
//! How a row gets there is in `gate.rs` and `flow.rs`.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

/// Where a row, or one rollout of it, stands after scoring. All scores are in [0, 1], 1 is best.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "standing")]
#[non_exhaustive]
pub enum Standing {
    /// It reached the threshold and has a score.
    Scored {
        /// The mean of the truth metrics, or of the proxies where there are no truth metrics.
        score: f64,
    },
    /// The proxies rejected it.
    Gated {
        /// The mean of the proxies, below the threshold.
        proxy: f64,
        /// The proxies that lie below the threshold, by name; or `proxies`.
        by: String,
    },
    /// The budget did not cover its calls.
    Skipped {
        /// The budget, in millisatoshis.
        budget: u64,
    },
    /// A metric failed or abstained, so it has no score.
    Failed {
        /// Which metrics, and why.
        reason: String,
    },
}

impl Standing {
    /// The score of a row that passed; neither a gated row nor one that failed has any.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        match self {
            Self::Scored { score } => Some(*score),
            _ => None,
        }
    }

    /// Where it stands among others.
    #[must_use]
    pub fn rank(&self) -> Rank {
        match self {
            Self::Scored { score } => Rank { class: Class::Scored, score: *score },
            Self::Gated { proxy, .. } => Rank { class: Class::Gated, score: *proxy },
            Self::Skipped { .. } | Self::Failed { .. } => Rank { class: Class::None, score: 0.0 },
        }
    }
}

/// `score 0.8000`, `gated by format (proxies 0.2500)`, `skipped: ..`, `no score: ..`.
impl fmt::Display for Standing {
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

/// A total order over rows, worst first: rows without a score, then gated rows by their proxies, then
/// scored rows by their score. So a gated row ranks below every row that passed, whatever the scores.
///
/// ```
/// use dsrs_metrics::Standing;
///
/// let failed = Standing::Failed { reason: "`f1` abstained".to_owned() };
/// let gated = Standing::Gated { proxy: 0.49, by: "format".to_owned() };
/// let wrong = Standing::Scored { score: 0.0 };
/// let right = Standing::Scored { score: 1.0 };
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
        self.class.cmp(&other.class).then_with(|| self.score.total_cmp(&other.score))
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
