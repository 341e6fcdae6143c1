//! Why an evaluation could not run. Rows that fail are no such error: they are counted.

use std::path::PathBuf;

use crate::core::requirements::NotReady;

/// Why an evaluation could not be set up or gave no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// There is nothing to score with.
    #[error("no metric: add at least one with `.metric(..)`")]
    NoMetric,
    /// Two metrics could not be told apart in the report.
    #[error("two metrics are called `{name}`: rename one with `#[metric(name = \"..\")]`")]
    DuplicateMetric {
        /// The name.
        name: String,
    },
    /// A metric's name could not stand beside the others in result files and on the command line.
    #[error(
        "a metric cannot be called {name:?}: {reason}; \
         rename it with `#[metric(name = \"..\")]`, for instance to `{instead}`"
    )]
    MetricName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
        /// A name that would do.
        instead: String,
    },
    /// `run` needs rows.
    #[error(
        "no devset: give one with `.devset(..)`, or score finished predictions with `.score(..)`"
    )]
    NoDevset,
    /// There is nothing to average over.
    #[error(
        "not enough rows: there are none, and an average over none is not 0; check where the rows come from"
    )]
    NoRows,
    /// The devset was a stream, and an earlier run has used it up.
    #[error(
        "the devset was a stream and is used up: give it anew, or use a list with `.devset(..)`"
    )]
    DevsetUsedUp,
    /// Nothing would ever run.
    #[error("a concurrency of 0 runs nothing: use at least 1")]
    ZeroConcurrency,
    /// Every row would time out.
    #[error("a timeout of 0 s fails every row: use a longer one, or none")]
    ZeroTimeout,
    /// One failed row would make the whole mean NaN or infinite.
    #[error("a failure score of {value} would spoil every mean: use a finite number")]
    FailureScore {
        /// The failure score.
        value: f64,
    },
    /// A metric cannot score any row: the language model that it asks is not configured or does not answer, or it is
    /// configured wrongly itself.
    /// Found out before any row is paid for.
    #[error("metric `{metric}`: {reason}")]
    NotReady {
        /// The metric, or the component of one.
        metric: String,
        /// What to set.
        reason: String,
    },
    /// Two rows could not be told apart in the results.
    #[error("rows {first} and {second} both have the id `{id}`: ids must be unique within a run")]
    DuplicateId {
        /// The id.
        id: String,
        /// The first row that has it: its place in the file, or its number from 1.
        first: String,
        /// The second.
        second: String,
    },
    /// A row could not be read.
    #[error("{message}")]
    Input {
        /// What the source of the rows said, unchanged.
        message: String,
    },
    /// The results could not be written; found out before any row is run.
    #[error("cannot write `{}`: {reason}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Two result files would overwrite each other.
    #[error("`{}` is to be written twice: save each format to a file of its own", path.display())]
    DuplicateOutput {
        /// The file.
        path: PathBuf,
    },
    /// The future is not driven by tokio, or by a tokio without timers although they are needed.
    #[error(
        "{missing}: run this under `#[tokio::main]`, or `enable_all()` on the runtime's builder"
    )]
    Runtime {
        /// What is missing.
        missing: &'static str,
    },
    /// No row has a score, so there is no average.
    #[error(
        "not enough rows: none of {rows} has a score under `{metric}` ({failed} failed{})",
        First(first_error)
    )]
    NothingScored {
        /// The metric.
        metric: String,
        /// How many rows there were.
        rows: u64,
        /// How many of them failed.
        failed: u64,
        /// Why the first of them failed.
        first_error: Option<String>,
    },
    /// A worker died outside of the user's program and metrics: in `Drop` of a row, or by a mistake in
    /// this library.
    #[error("a worker stopped: {message}")]
    Worker {
        /// What it said.
        message: String,
    },
}

impl From<NotReady> for EvaluateError {
    fn from(NotReady { metric, reason }: NotReady) -> Self {
        Self::NotReady { metric, reason }
    }
}

struct First<'a>(&'a Option<String>);

impl std::fmt::Display for First<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(error) => write!(f, ", the first: {error}"),
            None => Ok(()),
        }
    }
}
