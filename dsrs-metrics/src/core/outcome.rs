//! The outcome of one metric on one row: a score, or the reason why there is none.

use std::sync::Arc;

use crate::core::counted::Counted;
use crate::core::error::{MetricError, MetricErrorKind};
use crate::core::score::Scored;

/// The outcome of one metric on one row. Only [`Scored`](Self::Scored) has a value; no other variant is converted to a
/// number implicitly.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The metric returned a score.
    Scored(Scored),
    /// A cheaper metric rejected the row, so this one was not evaluated.
    Gated {
        /// The name of the metric that rejected the row.
        by: String,
    },
    /// The budget did not cover the call, so the metric was not evaluated, or was stopped.
    Skipped {
        /// The budget, in millisatoshis.
        budget: u64,
        /// The cost before the budget was used up, in millisatoshis: of a judge that was stopped between two calls.
        cost_msats: u64,
    },
    /// The metric scores all rows together; this row has no score, but contributes to that of all.
    Counted(Counted),
    /// The metric returned `None`.
    Abstained,
    /// The metric failed.
    MetricFailed {
        /// The metric's error.
        error: MetricError,
    },
    /// The program returned no prediction, so there was nothing to score.
    ProgramFailed {
        /// The program's error, shared by all metrics of the row.
        error: Arc<str>,
    },
}

impl Outcome {
    /// Returns the score, if there is one.
    #[must_use]
    pub fn scored(&self) -> Option<&Scored> {
        match self {
            Self::Scored(scored) => Some(scored),
            _ => None,
        }
    }

    /// Returns the score's value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.scored().map(|scored| scored.score.value)
    }

    /// Returns the cost of the call, in millisatoshis, whether it returned a score or failed.
    #[must_use]
    pub fn cost_msats(&self) -> u64 {
        match self {
            Self::Scored(scored) => scored.score.cost_msats,
            Self::MetricFailed { error } => error.cost_msats(),
            Self::Skipped { cost_msats, .. } => *cost_msats,
            _ => 0,
        }
    }

    /// Sets the cost to zero, for an outcome that is reused.
    pub(crate) fn remove_cost(&mut self) {
        *self = match std::mem::replace(self, Self::Abstained) {
            Self::Scored(scored) => Self::Scored(scored.without_cost()),
            Self::MetricFailed { error } => Self::MetricFailed { error: error.with_cost_msats(0) },
            Self::Skipped { budget, .. } => Self::Skipped { budget, cost_msats: 0 },
            other => other,
        };
    }

    /// Returns whether the metric or the program failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::MetricFailed { .. } | Self::ProgramFailed { .. })
    }

    /// Returns the outcome's name in snake case, as in result files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Scored(_) => "scored",
            Self::Gated { .. } => "gated",
            Self::Skipped { .. } => "skipped",
            Self::Counted(_) => "counted",
            Self::Abstained => "abstained",
            Self::MetricFailed { .. } => "metric_failed",
            Self::ProgramFailed { .. } => "program_failed",
        }
    }

    /// Returns the error message, if the metric or the program failed.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        match self {
            Self::MetricFailed { error } => Some(error.to_string()),
            Self::ProgramFailed { error } => Some(error.to_string()),
            _ => None,
        }
    }
}

impl From<Result<Scored, MetricError>> for Outcome {
    fn from(result: Result<Scored, MetricError>) -> Self {
        match result {
            Ok(scored) => Self::Scored(scored),
            Err(error) => match error.kind() {
                MetricErrorKind::Abstained => Self::Abstained,
                MetricErrorKind::Counted(_) => match error.into_counted() {
                    Some(counted) => Self::Counted(counted),
                    None => Self::Abstained,
                },
                MetricErrorKind::Gated { by } => Self::Gated { by: by.clone() },
                MetricErrorKind::OverBudget { budget_msats } => {
                    Self::Skipped { budget: *budget_msats, cost_msats: error.cost_msats() }
                }
                _ => Self::MetricFailed { error },
            },
        }
    }
}
