//! The metrics of the heritage document that look at a SPARQL query.

use crate::metric;
use crate::metrics::check::{Check, Unscored};
use crate::sparql::{QueryError, check_query};

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
