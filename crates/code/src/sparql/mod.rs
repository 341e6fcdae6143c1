//! Checks and runs SPARQL queries.
//!
//! A query can run on an embedded Oxigraph database or on a remote endpoint.
//!
//! The queries are a program's predictions, so they are untrusted. Before a query runs, its size, nesting, network
//! access and cost are checked. While it runs, its time and memory are limited.
//!
//! For metrics that score rows, see `dsrs_metrics::metrics::sparql_executes`.

mod analysis;
#[cfg(feature = "sparql-http")]
mod endpoint;
mod metered;
mod query;
mod store;

pub use self::query::{MAX_BYTES, MAX_DEPTH, QueryLimits, QueryResults, SparqlError, check_query};
pub use self::store::SparqlStore;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use oxigraph::model::Dataset;
use oxigraph::sparql::{QueryEvaluationError, QueryResults as EngineResults, SparqlEvaluator};
use spargebra::Query;
use tokio::sync::Semaphore;

use self::metered::{Meter, MeteredDataset, metered, timed_out};
use self::query::{check_size, parse};
use self::store::Backend;
use crate::within_deadline;

/// How long to wait past the timeout for an evaluation that cannot be interrupted: during planning, in a regular
/// expression match, or in a program that aborts on panics.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The permits for evaluations that run concurrently. Together, they store at most 1 GiB.
static FREE: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(4)));

impl SparqlStore {
    /// Executes an untrusted SPARQL query.
    ///
    /// The query cannot change the data or access the network, so `SERVICE` is not allowed.
    ///
    /// The query fails if it exceeds `limits.timeout`. Fixed limits also apply to its size, to the number of terms it
    /// processes and to the memory it uses (256 MiB).
    ///
    /// At most four queries run at a time. The timeout excludes the time a query spends waiting for its turn.
    ///
    /// # Errors
    /// Returns a [`SparqlError`] if the query is invalid, fails or exceeds a limit.
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
    ) -> Result<QueryResults, SparqlError> {
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

/// Evaluates a query. If the evaluation does not stop, it counts as a timeout. Otherwise, a query could make the metric
/// fail, and so avoid being scored as a wrong answer.
async fn evaluate_on_thread(
    dataset: Arc<Dataset>,
    query: String,
    limits: QueryLimits,
) -> Result<QueryResults, SparqlError> {
    let permit = Arc::clone(&FREE).acquire_owned().await;
    let permit = permit.map_err(SparqlError::new)?;
    let timeout = limits.timeout;
    // A thread that does not stop keeps its permit.
    let evaluate = move || {
        let results = evaluate(&dataset, &query, limits);
        drop(permit);
        results
    };
    let in_time = move || within_deadline(timeout.saturating_add(GRACE_PERIOD), evaluate);
    match tokio::task::spawn_blocking(in_time).await {
        Ok(Ok(Some(results))) => results,
        Ok(Ok(None)) => Err(SparqlError::of_query(timed_out(timeout))),
        Ok(Err(error)) => Err(SparqlError::new(format_args!("the SPARQL engine: {error}"))),
        Err(error) => Err(SparqlError::new(error)),
    }
}

fn evaluate(
    dataset: &Dataset,
    text: &str,
    limits: QueryLimits,
) -> Result<QueryResults, SparqlError> {
    let mut query = parse(text)?;
    let metered_limits = analysis::limits(text, &mut query, limits.timeout);
    let meter = &Meter::new(metered_limits.map_err(SparqlError::of_query)?);
    let dataset = MeteredDataset { dataset, meter };
    let results = metered(|| run(dataset, query, limits.max_results));
    let results = results.map_err(SparqlError::of_query)?;
    results.map_err(SparqlError::of_query)
}

fn run(
    dataset: MeteredDataset<'_>,
    query: Query,
    max_results: usize,
) -> Result<QueryResults, QueryEvaluationError> {
    let query = SparqlEvaluator::new().for_query(query);
    match query.on_queryable_dataset(dataset).execute()? {
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
