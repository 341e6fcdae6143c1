//! Parsing of SPARQL queries, within limits on size and nesting.

use spargebra::{Query, SparqlParser, SparqlSyntaxError};

use super::deep_stack::on_deep_stack;
use super::nesting::depth;
use crate::syntax::Diagnostic;
use dsrs_metrics_values::messages::escape;

/// The maximum length of a query, in bytes. The parser's time grows with the length.
pub const MAX_BYTES: usize = 65_536;

/// The maximum nesting depth of brackets and negations.
pub const MAX_DEPTH: usize = 100;

/// Why a string is not a SPARQL query, or why it was not parsed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The string is empty or blank.
    #[error("the query is empty")]
    Empty,
    /// The string violates the grammar of SPARQL 1.1.
    #[error("{0}")]
    Syntax(Diagnostic),
    /// The string is an update, which changes data.
    #[error("expected a SPARQL query, found an update; use SELECT, ASK, CONSTRUCT or DESCRIBE")]
    Update,
    /// The string is longer than [`MAX_BYTES`], so it was not parsed.
    #[error("the query has {bytes} bytes; the maximum is {MAX_BYTES}")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The string is nested deeper than [`MAX_DEPTH`], so it was not parsed.
    #[error("the query is nested {depth} levels deep; the maximum is {MAX_DEPTH}")]
    TooDeep {
        /// Its depth.
        depth: usize,
    },
    /// No thread could be started to parse the query.
    #[error("cannot start a thread for the query: {0}")]
    NoThread(#[from] std::io::Error),
}

dsrs_metrics_values::debug_as_display!(QueryError);

impl QueryError {
    /// Whether the error was caused by the query: it was parsed, and it is invalid. Otherwise it
    /// was not parsed.
    pub const fn is_query_error(&self) -> bool {
        matches!(self, Self::Empty | Self::Syntax(_) | Self::Update)
    }
}

/// Checks that a string is a query by the grammar of SPARQL 1.1, without executing it.
///
/// The parser is Oxigraph's (`spargebra`). Prefixes must be declared, and a relative IRI needs a
/// `BASE`. Oxigraph's extensions `LATERAL` and `ADJUST` are accepted.
///
/// # Errors
/// [`QueryError`]. The position in [`QueryError::Syntax`] is where the parser stopped, which can be
/// a few characters after the mistake.
///
/// ```
/// use dsrs_metrics::sparql::check_query;
///
/// check_query("SELECT ?s WHERE { ?s ?p ?o }").unwrap();
/// let error = check_query("SELECT ?s WHERE {\n  ?s ex:name ?o }").unwrap_err();
/// assert_eq!(error.to_string(), "line 2, column 13: Prefix not found");
/// ```
pub fn check_query(query: &str) -> Result<(), QueryError> {
    with_parsed(query, |_| ())
}

/// Parses a query and passes it to a function, both on a large stack.
pub(super) fn with_parsed<T: Send>(
    query: &str,
    inspect: impl FnOnce(Query) -> T + Send,
) -> Result<T, QueryError> {
    check_size(query)?;
    on_deep_stack(|| parse(query).map(inspect))?
}

/// Checks that a query is within the limits on size and nesting, and is not empty.
pub(super) fn check_size(query: &str) -> Result<(), QueryError> {
    if query.trim().is_empty() {
        return Err(QueryError::Empty);
    }
    if query.len() > MAX_BYTES {
        return Err(QueryError::TooLong { bytes: query.len() });
    }
    match depth(query) {
        depth if depth > MAX_DEPTH => Err(QueryError::TooDeep { depth }),
        _ => Ok(()),
    }
}

/// Parses a query whose size was checked. The caller must be on a large stack, and must drop the
/// query there too.
pub(super) fn parse(query: &str) -> Result<Query, QueryError> {
    SparqlParser::new().parse_query(query).map_err(|error| {
        match SparqlParser::new().parse_update(query) {
            Ok(_) => QueryError::Update,
            Err(_) => QueryError::Syntax(diagnostic(&error, query)),
        }
    })
}

/// Converts the parser's error, which is available only as `error at LINE:COLUMN: expected
/// EXPECTED`. EXPECTED is a list of tokens, which help little, and of messages, which name the
/// mistake.
fn diagnostic(error: &SparqlSyntaxError, query: &str) -> Diagnostic {
    let message = error.to_string();
    let parts = message.strip_prefix("error at ").and_then(|rest| {
        let (position, expected) = rest.split_once(": expected ")?;
        let (line, column) = position.split_once(':')?;
        Some((
            line.parse::<usize>().ok()?,
            column.parse::<usize>().ok()?,
            expected,
        ))
    });
    let Some((line, column, expected)) = parts else {
        return Diagnostic {
            line: 1,
            column: 1,
            message,
        };
    };
    let messages: Vec<&str> = expected
        .strip_prefix("one of ")
        .unwrap_or(expected)
        .split(", ")
        .filter(|item| item.starts_with(char::is_alphabetic) && item.contains(' '))
        .collect();
    let message = match messages.is_empty() {
        true => unexpected(query, line, column),
        false => messages.join("; "),
    };
    Diagnostic {
        line,
        column,
        message,
    }
}

/// Describes a syntax error by the characters at its position, up to the next white space. The
/// parser looks ahead by the length of a keyword, so the mistake may be a few characters before the
/// position.
fn unexpected(query: &str, line: usize, column: usize) -> String {
    let line = query.split('\n').nth(line - 1).unwrap_or_default();
    let rest: String = line.chars().skip(column - 1).collect();
    match rest.split_whitespace().next() {
        Some(found) => {
            let found: String = found.chars().take(40).collect();
            format!(
                "syntax error at `{}` or just before it",
                escape::escaped(&found)
            )
        }
        None => "syntax error just before, or unexpected end of the query".to_owned(),
    }
}
