//! Metrics of predicted SPARQL queries: valid syntax, execution without error, and at least one
//! result.

use std::time::Duration;

use crate::contract::{Check, Unscored, at_least};
use crate::metric;
use crate::sparql::{QueryLimits, SparqlError, SparqlStore, check_query};

/// Passes if a parser accepts the predicted query as valid SPARQL.
///
/// The result is pass or fail; the feedback shows the line and column of the syntax error. Reads `pred.sparql_query`.
/// As in the heritage document, a row fails if this field is missing or empty. The document checks the text instead of
/// parsing it: the query must contain `SELECT` and `WHERE`, have matching braces, and contain no `???`. That check
/// rejects `ASK`, `CONSTRUCT` and a `SELECT` without the optional `WHERE`, and accepts many strings that no endpoint
/// accepts. An update (`INSERT`, `DELETE`, `LOAD` ..) is not a query and fails. See [`check_query`] for the grammar. A
/// query that is longer than 65,536 bytes or has more than 100 nested brackets is not parsed, and its row has no score.
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

/// Fails the row for an error that the query caused; after any other error the row has no score.
fn fail_or_unscored(error: &SparqlError) -> Result<Check, Unscored> {
    match error.is_query_error() {
        true => Ok(Check::fail(error.to_string())),
        false => Err(Unscored::because(error)),
    }
}

/// Passes if the predicted query runs without error.
///
/// The result is pass or fail; the feedback shows the error. Reads `pred.sparql_query`; a row without it, or with an
/// empty one, fails, as in the heritage document. `data` is an RDF file, which an embedded Oxigraph loads once for all
/// rows and metrics, or the URL of an endpoint; see [`SparqlStore`]. A query fails if it is invalid, is an update, uses
/// `SERVICE`, exceeds a limit (`timeout_secs`, 50 million processed terms, 256 MiB of stored terms, strings of 64 KiB)
/// or causes an evaluation error. It cannot write or access the network. If a `SELECT` has more than `max_results`
/// solutions, the rest are not read, and it passes. Four queries run at a time; the others wait, and the time they wait
/// does not count.
///
/// With an endpoint, the statuses 400 and 422 mean an invalid query. After any other failure (unreachable, timeout,
/// 5xx, an invalid response) the row has no score; in the document it scores 0.
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
/// On the command line: `--param sparql_executes.data=examples/data/heritage/heritage.ttl`.
#[metric(tier = truth)]
pub async fn sparql_executes(
    #[pred(missing)] sparql_query: &str,
    /// The RDF file, a JSON list of RDF files, or the URL of an endpoint.
    #[param]
    data: &SparqlStore,
    /// Seconds after which a query is stopped.
    #[param(default = 10)]
    timeout_secs: u64,
    /// The maximum number of results that are read.
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
/// The result is pass or fail. A `SELECT` passes with at least one solution, so a `COUNT` that returns 0 passes; a
/// `CONSTRUCT` or `DESCRIBE` passes with at least one triple. An `ASK` passes if it runs, because `false` is a result
/// too (the code of the heritage document finds no bindings there and returns 0). Everything else is as in
/// [`sparql_executes`](sparql_executes()).
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
    /// The RDF file, a JSON list of RDF files, or the URL of an endpoint.
    #[param]
    data: &SparqlStore,
    /// Seconds after which a query is stopped.
    #[param(default = 10)]
    timeout_secs: u64,
) -> Result<Check, Unscored> {
    // One result is enough to decide.
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
