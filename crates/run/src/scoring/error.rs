//! Errors in the setup or run of a scorer. A row without a score is counted instead.

use super::aggregate::AggregationError;
use super::row::RowScore;
use crate::contract::declared::requirements::NotReady;
use crate::evaluate::EvaluateError;

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
    /// A row has no score because a metric or the program failed, or because the budget does not cover the row.
    #[error("{}", row.status)]
    NoScore {
        /// The row, which has the outcome of each metric and the cost.
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

impl From<NotReady> for ScorerError {
    fn from(error: NotReady) -> Self {
        Self::Run(error.into())
    }
}

impl From<AggregationError> for ScorerError {
    fn from(error: AggregationError) -> Self {
        Self::setup(error.to_string())
    }
}
