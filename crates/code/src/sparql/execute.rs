//! Execution of a query on a store, with limits on time, memory and results.

use std::sync::Arc;
use std::time::Duration;

use oxigraph::model::Dataset;
use oxigraph::sparql::{QueryEvaluationError, QueryResults as EngineResults, SparqlEvaluator};
use spargebra::Query;

use super::analysis::{Cost, cost};
use super::evaluations::{self, MAX_MEBIBYTES, ThreadOutcome};
use super::functions::with_functions;
use super::instrument::instrument;
use super::metered::{Exceeded, Limits, MAX_STRING_BYTES, MAX_TERMS, MeteredDataset, metered};
use super::query::{check_size, parse};
use super::query_results::{ExecutionError, QueryLimits, QueryResults};
use super::store::{Backend, SparqlStore};

/// How long to wait after the timeout for an evaluation that cannot be interrupted: during
/// planning, in a match of a regular expression, or in a program that aborts on panics.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

impl SparqlStore {
    /// Executes an untrusted query.
    ///
    /// The query cannot change the data or access the network (`SERVICE`). If it exceeds
    /// `limits.timeout`, or the limits of this module on its size, on the terms that it processes,
    /// on the memory that it uses (256 MiB) and on its regular expressions, that is an error of the
    /// query. All evaluations of the process together use at most 1 GiB; others wait, and the time
    /// of waiting does not count.
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
        match &self.backend {
            Backend::Embedded(dataset) => {
                let (dataset, query) = (Arc::clone(dataset), query.to_owned());
                evaluate_on_thread(dataset, query, limits).await
            }
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(endpoint) => endpoint.execute(query, limits).await,
        }
    }
}

/// Evaluates a query. An evaluation that does not stop counts as a timeout: otherwise a query could
/// choose to be a failure of the metric instead of a wrong answer.
async fn evaluate_on_thread(
    dataset: Arc<Dataset>,
    query: String,
    limits: QueryLimits,
) -> Result<QueryResults, ExecutionError> {
    let time = limits.timeout.saturating_add(GRACE_PERIOD);
    let evaluate = move |bytes| match evaluate(&dataset, &query, limits, bytes) {
        Err(error) => error.map(Err),
        Ok(results) => Some(Ok(results)),
    };
    match evaluations::run(time, evaluate).await? {
        ThreadOutcome::Returned(Some(results)) => results,
        ThreadOutcome::Returned(None) => Err(ExecutionError::Failed(describe(
            Exceeded::Memory,
            limits.timeout,
        ))),
        ThreadOutcome::Stuck => Err(ExecutionError::Failed(describe(
            Exceeded::Timeout,
            limits.timeout,
        ))),
        ThreadOutcome::Panicked => Err(ExecutionError::Unavailable(
            "the SPARQL engine panicked".to_owned(),
        )),
    }
}

fn evaluate(
    dataset: &Dataset,
    query: &str,
    limits: QueryLimits,
    bytes: usize,
) -> Result<QueryResults, Option<ExecutionError>> {
    let failed = |message| Some(ExecutionError::Failed(message));
    let mut query = parse(query).map_err(|error| Some(error.into()))?;
    let Cost { slots, template } =
        cost(&mut query).map_err(|reason| Some(ExecutionError::Rejected(reason)))?;
    instrument(&mut query);
    let timeout = limits.timeout;
    match metered(
        Limits {
            timeout,
            bytes,
            slots,
            template,
        },
        || run(dataset, query, limits.max_results),
    ) {
        Ok(results) => results.map_err(|error| failed(error.to_string())),
        Err(Exceeded::Memory) => Err(None),
        Err(exceeded) => Err(failed(describe(exceeded, timeout))),
    }
}

fn run(
    dataset: &Dataset,
    query: Query,
    max_results: usize,
) -> Result<QueryResults, QueryEvaluationError> {
    let evaluator = with_functions(SparqlEvaluator::new());
    match evaluator
        .for_query(query)
        .on_queryable_dataset(MeteredDataset(dataset))
        .execute()?
    {
        EngineResults::Boolean(value) => Ok(QueryResults::Boolean(value)),
        EngineResults::Solutions(solutions) => {
            count(solutions, max_results).map(QueryResults::Solutions)
        }
        EngineResults::Graph(triples) => count(triples, max_results).map(QueryResults::Triples),
    }
}

fn count<T, E>(items: impl Iterator<Item = Result<T, E>>, max: usize) -> Result<usize, E> {
    items
        .take(max)
        .try_fold(0, |count, item| item.map(|_| count + 1))
}

fn describe(exceeded: Exceeded, timeout: Duration) -> String {
    match exceeded {
        Exceeded::Timeout => format!("timed out after {} s", timeout.as_secs_f64()),
        Exceeded::Terms => format!("stopped after processing {MAX_TERMS} terms"),
        Exceeded::StringLength => {
            format!("stopped at a string of more than {MAX_STRING_BYTES} bytes")
        }
        Exceeded::Memory => format!("stopped after storing {MAX_MEBIBYTES} MiB"),
        Exceeded::Pattern => "stopped at a regular expression that is too large".to_owned(),
    }
}
