//! Metrics for predicted SPARQL queries: valid syntax, execution without error, and at least one result.

use std::time::Duration;

use crate::contract::{Check, Unscored, at_least};
use crate::metric;
use crate::sparql::{QueryLimits, SparqlError, SparqlStore, check_query};

/// Passes if the predicted query is valid SPARQL.
///
/// The result is pass or fail, and the feedback shows the line and column of the syntax error. See [`check_query`] for
/// the grammar.
///
/// The query is read from `pred.sparql_query`. A missing or empty query fails.
///
/// An update such as `INSERT`, `DELETE` or `LOAD` is not a query, so it fails.
///
/// If a query is longer than 65,536 bytes or has more than 100 nested brackets, the metric does not parse it. The row
/// then has no score.
///
/// The heritage document only checks that the query contains `SELECT` and `WHERE`, has matching braces, and contains no
/// `???`. Its check rejects `ASK`, `CONSTRUCT` and a `SELECT` without `WHERE`, and accepts many invalid queries.
///
/// ```
/// use dsrs_metrics::metrics::SparqlSyntaxValid;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let score = |query: &str| SparqlSyntaxValid.score(&example! {}, &prediction! { "sparql_query" => query });
/// assert_eq!(score("ASK { ?museum a <https://schema.org/Museum> }")?.value, 1.0);
/// assert_eq!(score("SELECT ?museum WHERE { ?museum a schema:Museum }")?.value, 0.0); // no PREFIX schema:
/// # Ok(())
/// # }
/// ```
#[metric(explain = |_, score| (score > 0.0).then_some("the query is valid SPARQL"))]
pub fn sparql_syntax_valid(#[pred(missing)] sparql_query: &str) -> Result<Check, Unscored> {
    match check_query(sparql_query) {
        Ok(()) => Ok(Check::pass()),
        Err(error) => fail_or_unscored(&error),
    }
}

/// Fails the row if the query caused the error. After any other error, the row has no score.
fn fail_or_unscored(error: &SparqlError) -> Result<Check, Unscored> {
    match error.is_query_error() {
        true => Ok(Check::fail(error.to_string())),
        false => Err(Unscored::because(error)),
    }
}

/// Passes if the predicted query runs without error.
///
/// The result is pass or fail, and the feedback shows the error. The query is read from `pred.sparql_query`. A missing
/// or empty query fails.
///
/// `data` is an RDF file or an endpoint's URL; see [`SparqlStore`]. An embedded Oxigraph database loads the file once
/// for all rows and metrics.
///
/// A query fails if it is invalid, is an update, uses `SERVICE`, or causes an evaluation error. It also fails if it
/// exceeds a limit: `timeout_secs`, 50 million processed terms, 256 MiB of stored terms, or strings of 64 KiB. A query
/// cannot write or access the network.
///
/// If a `SELECT` has more than `max_results` solutions, the query passes, and the remaining solutions are skipped.
///
/// At most four queries run at a time. The time that a query spends waiting for other queries does not count towards
/// its limit.
///
/// If `data` is an endpoint, the statuses 400 and 422 mean that the query is invalid. After any other failure, such as
/// a timeout, a 5xx status or an invalid response, the row has no score. In the heritage document, the row scores 0.
///
/// ```
/// use dsrs_metrics::metrics::SparqlExecutes;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::sparql::SparqlStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris' .")?;
/// let metric = SparqlExecutes::builder().data(store).build();
/// let pred = |query: &str| prediction! { "sparql_query" => query };
/// let valid = metric.evaluate(&example! {}, &pred("SELECT ?c WHERE { ?m <a:city> ?c }")).await?;
/// assert_eq!(valid.value, 1.0);
/// let update = metric.evaluate(&example! {}, &pred("DELETE WHERE { ?s ?p ?o }")).await?;
/// assert_eq!(update.value, 0.0);
/// # Ok(())
/// # }
/// ```
///
/// On the command line, write `--param sparql_executes.data=examples/data/heritage/heritage.ttl`.
#[metric(tier = truth)]
pub async fn sparql_executes(
    #[pred(missing)] sparql_query: &str,
    /// The data to query: an RDF file, a JSON list of RDF files, or the URL of an endpoint.
    #[param]
    data: &SparqlStore,
    /// The time limit for a query, in seconds.
    #[param(default = 10)]
    timeout_secs: u64,
    /// The maximum number of results to read.
    #[param(default = 10_000)]
    max_results: usize,
) -> Result<Check, Unscored> {
    let limits = QueryLimits {
        timeout: Duration::from_secs(timeout_secs),
        max_results,
    };
    match data.execute(sparql_query, limits).await {
        Ok(_) => Ok(Check::pass().with_feedback("the query runs without an error")),
        Err(error) => fail_or_unscored(&error),
    }
}

/// Passes if the predicted query returns at least one result.
///
/// The result is pass or fail. A `SELECT` passes if it has at least one solution, so a `COUNT` that returns 0 passes. A
/// `CONSTRUCT` or `DESCRIBE` passes if it returns at least one triple.
///
/// An `ASK` passes if it runs, because `false` is a result too. In the heritage document, an `ASK` scores 0, because
/// the code looks for bindings and an `ASK` has none.
///
/// Everything else works as in [`sparql_executes`](sparql_executes()).
///
/// ```
/// use dsrs_metrics::metrics::SparqlReturnsResults;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::sparql::SparqlStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris' .")?;
/// let metric = SparqlReturnsResults::builder().data(store).build();
/// let pred = |query: &str| prediction! { "sparql_query" => query };
/// let found = metric.evaluate(&example! {}, &pred("SELECT ?c WHERE { ?m <a:city> ?c }")).await?;
/// assert_eq!(found.value, 1.0);
/// let nothing = metric.evaluate(&example! {}, &pred("SELECT ?r WHERE { ?m <a:river> ?r }")).await?;
/// assert_eq!(nothing.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(tier = truth)]
pub async fn sparql_returns_results(
    #[pred(missing)] sparql_query: &str,
    /// The data to query: an RDF file, a JSON list of RDF files, or the URL of an endpoint.
    #[param]
    data: &SparqlStore,
    /// The time limit for a query, in seconds.
    #[param(default = 10)]
    timeout_secs: u64,
) -> Result<Check, Unscored> {
    // A single result is enough to decide.
    let limits = QueryLimits {
        timeout: Duration::from_secs(timeout_secs),
        max_results: 1,
    };
    match data.execute(sparql_query, limits).await {
        Ok(results) if results.has_results() => {
            Ok(Check::pass().with_feedback("the query returns results"))
        }
        Ok(_) => Ok(Check::fail("the query returns no results")),
        Err(error) => fail_or_unscored(&error),
    }
}

requires_valid! {
    SparqlExecutes: |metric| at_least("timeout_secs", metric.timeout_secs, 1)
        .and(at_least("max_results", metric.max_results, 1));
    SparqlReturnsResults: |metric| at_least("timeout_secs", metric.timeout_secs, 1);
}
