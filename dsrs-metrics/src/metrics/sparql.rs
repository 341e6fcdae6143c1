//! The metrics of the heritage document that look at a SPARQL query.

use std::time::Duration;

use crate::core::requirements::{Requirement, Requires};
use crate::metric;
use crate::metrics::check::{Check, Unscored, at_least};
use crate::sparql::{AskError, Bounds, QueryError, SparqlStore, check_query};

/// Whether the predicted query is SPARQL, by a parser.
///
/// Passes or fails; the feedback has line and column of what is wrong. Reads `pred.sparql_query`; a row without it, or with an
/// empty one, fails, as in the heritage document. There the check is of text (it has `SELECT` and `WHERE`, braces match, no `???`), which
/// refuses `ASK` and `CONSTRUCT`, or a `SELECT` whose optional `WHERE` is left out, and passes much that no endpoint
/// accepts. An update (`INSERT`, `DELETE`, `LOAD` ..) is no query. See [`check_query`] for the grammar; a query beyond its bounds of
/// 65,536 bytes and 100 nested brackets is not read, and its row has no score.
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
#[metric]
pub fn sparql_syntax_valid(#[pred] sparql_query: Option<&str>) -> Result<Check, Unscored> {
    match check_query(sparql_query.unwrap_or_default()) {
        Ok(()) => Ok(Check::pass()),
        Err(error) => fail(&error),
    }
}

/// What is wrong with a query fails its row; what kept it from being looked at is no score.
fn fail(error: &QueryError) -> Result<Check, Unscored> {
    match error.is_the_querys() {
        true => Ok(Check::fail(error.to_string())),
        false => Err(Unscored::because(error)),
    }
}

/// Whether the predicted query runs without error.
///
/// Passes or fails; the feedback says why it fails. Reads `pred.sparql_query`; a row without it, or with an empty one, fails, as in
/// the heritage document. `data` is an RDF file, which an embedded Oxigraph holds, loaded once for all rows and metrics, or the
/// address of an endpoint; see [`SparqlStore`]. A query that is invalid, is an update, uses `SERVICE`, runs into a bound
/// (`timeout_secs`, 50 million terms touched, texts of 64 KiB) or into an error of the engine fails. Nothing that a query says writes or
/// reaches the network. A `SELECT` with more than `max_results` solutions is read that far and passes.
///
/// With an endpoint the statuses 400 and 422 are the query's fault; any other failure (unreachable, timeout, 5xx,
/// an answer that cannot be read) is the endpoint's, and its row has no score. In the document each is 0.
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
    #[pred] sparql_query: Option<&str>,
    /// The RDF file that is asked, a JSON list of such files, or the address of an endpoint.
    #[param]
    data: &SparqlStore,
    /// Seconds by the clock, after which a query is stopped.
    #[param(default = 10)]
    timeout_secs: u64,
    /// How many results are read.
    #[param(default = 10_000)]
    max_results: usize,
) -> Result<Check, Unscored> {
    let bounds = Bounds { time: Duration::from_secs(timeout_secs), results: max_results };
    match data.ask(sparql_query.unwrap_or_default(), bounds).await {
        Ok(_) => Ok(Check::pass()),
        Err(error) => unanswered(&error),
    }
}

/// Whether the predicted query returns something.
///
/// Passes or fails. A `SELECT` passes with at least one solution, so a count of 0 passes; `CONSTRUCT` and `DESCRIBE` with at least one
/// triple; an `ASK` that runs always passes, since `false` is an answer too (the heritage document's code finds no
/// bindings there, and gives 0). All else is as in [`sparql_executes`](sparql_executes()).
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
    #[pred] sparql_query: Option<&str>,
    /// The RDF file that is asked, a JSON list of such files, or the address of an endpoint.
    #[param]
    data: &SparqlStore,
    /// Seconds by the clock, after which a query is stopped.
    #[param(default = 10)]
    timeout_secs: u64,
) -> Result<Check, Unscored> {
    // The first result decides.
    let bounds = Bounds { time: Duration::from_secs(timeout_secs), results: 1 };
    match data.ask(sparql_query.unwrap_or_default(), bounds).await {
        Ok(answer) if answer.has_results() => Ok(Check::pass()),
        Ok(_) => Ok(Check::fail("the query returns nothing")),
        Err(error) => unanswered(&error),
    }
}

impl Requires for SparqlExecutes {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let bounds = at_least("timeout_secs", self.timeout_secs, 1).and(at_least(
            "max_results",
            self.max_results,
            1,
        ));
        all.extend(Requirement::unless(Self::SPEC.name, bounds));
    }
}

impl Requires for SparqlReturnsResults {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let bounds = at_least("timeout_secs", self.timeout_secs, 1);
        all.extend(Requirement::unless(Self::SPEC.name, bounds));
    }
}

fn unanswered(error: &AskError) -> Result<Check, Unscored> {
    match error.is_the_querys() {
        true => Ok(Check::fail(error.to_string())),
        false => Err(Unscored::because(error)),
    }
}
