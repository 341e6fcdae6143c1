//! The result of a query: counts, or the reason why there are none; and the limits on its execution.

use std::time::Duration;

use super::query::QueryError;

/// Limits on the execution of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// The time after which the execution is stopped.
    pub timeout: Duration,
    /// The number of solutions or triples after which reading stops; the rest is discarded.
    pub max_results: usize,
}

/// The results of a query, as counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryResults {
    /// The number of solutions of a `SELECT`.
    Solutions(usize),
    /// The value of an `ASK`.
    Boolean(bool),
    /// The number of triples of a `CONSTRUCT` or `DESCRIBE`.
    Triples(usize),
}

impl QueryResults {
    /// Whether there is at least one solution or triple. The value of an `ASK` counts as a result,
    /// also if it is `false`; so does the single solution of a `SELECT (COUNT(*) ..)` that counts
    /// 0.
    pub const fn has_results(self) -> bool {
        match self {
            Self::Solutions(count) | Self::Triples(count) => count > 0,
            Self::Boolean(_) => true,
        }
    }
}

/// Why a query returned no results.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ExecutionError {
    /// The string is not a query, or was not parsed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The query must not run.
    #[error("{0}")]
    Rejected(String),
    /// The evaluation of the query failed, or exceeded a limit.
    #[error("{0}")]
    Failed(String),
    /// The engine or the endpoint failed.
    #[error("{0}")]
    Unavailable(String),
}

dsrs_metrics_values::debug_as_display!(ExecutionError);

impl ExecutionError {
    /// Whether the error was caused by the query. If not, it allows no conclusion about the query.
    pub const fn is_query_error(&self) -> bool {
        match self {
            Self::Query(error) => error.is_query_error(),
            Self::Rejected(_) | Self::Failed(_) => true,
            Self::Unavailable(_) => false,
        }
    }
}
