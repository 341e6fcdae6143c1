//! Execution of a query on a store, with limits on time and results.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use oxigraph::model::Dataset;
use oxigraph::sparql::{QueryEvaluationError, QueryResults as EngineResults, SparqlEvaluator};
use spargebra::Query;

use super::analysis::rejection;
use super::deep_stack::STACK_BYTES;
use super::metered::{Exceeded, MAX_STRING_BYTES, MAX_TERMS, MeteredDataset, metered};
use super::query::{QueryError, check_size, parse};
use super::store::{Backend, SparqlStore};

/// How long to wait after the timeout for an evaluation that cannot be interrupted: during
/// planning, or in a program that aborts on panics.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Limits on the execution of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// The time after which the execution is stopped.
    pub timeout: Duration,
    /// The number of solutions or triples after which reading stops; the rest is discarded.
    pub max_results: usize,
}

/// What a query returned, as counts.
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
    #[must_use]
    pub const fn has_results(self) -> bool {
        match self {
            Self::Solutions(count) | Self::Triples(count) => count > 0,
            Self::Boolean(_) => true,
        }
    }
}

/// Why a query returned no results.
#[derive(Debug, thiserror::Error)]
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

impl ExecutionError {
    /// Whether the error was caused by the query. If not, it allows no conclusion about the query.
    #[must_use]
    pub const fn is_query_error(&self) -> bool {
        match self {
            Self::Query(error) => error.is_query_error(),
            Self::Rejected(_) | Self::Failed(_) => true,
            Self::Unavailable(_) => false,
        }
    }
}

impl SparqlStore {
    /// Executes an untrusted query.
    ///
    /// The query cannot change the data or access the network (`SERVICE`). If it exceeds
    /// `limits.timeout`, or the limits of this module on its size and on the terms that it
    /// processes, that is an error.
    ///
    /// # Errors
    /// [`ExecutionError`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::sparql::{QueryLimits, QueryResults, SparqlStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris' .")?;
    /// let limits = QueryLimits { timeout: Duration::from_secs(10), max_results: 10_000 };
    /// let cities = store.execute("SELECT ?c { ?m <a:city> ?c }", limits).await?;
    /// assert_eq!(cities, QueryResults::Solutions(1));
    /// let has_river = store.execute("ASK { ?m <a:river> ?r }", limits).await?;
    /// assert_eq!(has_river, QueryResults::Boolean(false));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(
        &self,
        query: &str,
        limits: QueryLimits,
    ) -> Result<QueryResults, ExecutionError> {
        check_size(query)?;
        match &self.0 {
            Backend::Embedded(dataset) => {
                let (dataset, query) = (Arc::clone(dataset), query.to_owned());
                on_new_thread(limits.timeout, move || evaluate(&dataset, &query, limits)).await
            }
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(endpoint) => endpoint.execute(query, limits).await,
        }
    }
}

/// Runs a function on a thread with a large stack. If it does not return in time, the thread is
/// detached.
async fn on_new_thread(
    timeout: Duration,
    run: impl FnOnce() -> Result<QueryResults, ExecutionError> + Send + 'static,
) -> Result<QueryResults, ExecutionError> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let started = thread::Builder::new()
        .name("sparql".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || drop(send.send(run())));
    started.map_err(QueryError::NoThread)?;
    let unavailable = |reason: &str| ExecutionError::Unavailable(reason.to_owned());
    match tokio::time::timeout(timeout.saturating_add(GRACE_PERIOD), receive).await {
        Ok(Ok(results)) => results,
        Ok(Err(_)) => Err(unavailable("the SPARQL engine panicked")),
        Err(_) => Err(unavailable("the SPARQL engine did not stop in time")),
    }
}

fn evaluate(
    dataset: &Dataset,
    query: &str,
    limits: QueryLimits,
) -> Result<QueryResults, ExecutionError> {
    let query = parse(query)?;
    if let Some(reason) = rejection(&query) {
        return Err(ExecutionError::Rejected(reason));
    }
    match metered(limits.timeout, || run(dataset, query, limits.max_results)) {
        Ok(results) => results.map_err(|error| ExecutionError::Failed(error.to_string())),
        Err(exceeded) => Err(ExecutionError::Failed(describe(exceeded, limits.timeout))),
    }
}

fn run(
    dataset: &Dataset,
    query: Query,
    max_results: usize,
) -> Result<QueryResults, QueryEvaluationError> {
    let evaluator = SparqlEvaluator::new();
    match evaluator.for_query(query).on_queryable_dataset(MeteredDataset(dataset)).execute()? {
        EngineResults::Boolean(value) => Ok(QueryResults::Boolean(value)),
        EngineResults::Solutions(solutions) => {
            count(solutions, max_results).map(QueryResults::Solutions)
        }
        EngineResults::Graph(triples) => count(triples, max_results).map(QueryResults::Triples),
    }
}

fn count<T, E>(items: impl Iterator<Item = Result<T, E>>, max: usize) -> Result<usize, E> {
    items.take(max).try_fold(0, |count, item| item.map(|_| count + 1))
}

fn describe(exceeded: Exceeded, timeout: Duration) -> String {
    match exceeded {
        Exceeded::Timeout => format!("timed out after {} s", timeout.as_secs_f64()),
        Exceeded::Terms => format!("stopped after processing {MAX_TERMS} terms"),
        Exceeded::StringLength => {
            format!("stopped at a string of more than {MAX_STRING_BYTES} bytes")
        }
    }
}
