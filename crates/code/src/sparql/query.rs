//! Parses SPARQL queries within limits on size and nesting. Also defines the execution limits, results and errors of
//! queries.

use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use spargebra::{Query, SparqlParser, SparqlSyntaxError};

use crate::syntax::Diagnostic;
use crate::within_deadline;
use dsrs_metrics_values::messages::escape;

/// The maximum length of a SPARQL query, in bytes.
pub const MAX_BYTES: usize = 65_536;

/// The time limit for parsing, far more than any query within the limits takes.
const PARSE_TIME: Duration = Duration::from_secs(60);

/// The maximum nesting depth of brackets and negations in a SPARQL query.
pub const MAX_DEPTH: usize = 100;

/// Limits for executing a SPARQL query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// The maximum time that a query can run.
    pub timeout: Duration,
    /// The maximum number of solutions or triples to read.
    ///
    /// Any further results are discarded.
    pub max_results: usize,
}

/// The result of executing a SPARQL query.
///
/// Contains the number of results for `SELECT`, `CONSTRUCT` and `DESCRIBE`, or the answer for `ASK`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryResults {
    /// The number of solutions that a `SELECT` query returned.
    Solutions(usize),
    /// The answer to an `ASK` query.
    Boolean(bool),
    /// The number of triples that a `CONSTRUCT` or `DESCRIBE` query returned.
    Triples(usize),
}

impl QueryResults {
    /// Returns `true` if the query has a result.
    ///
    /// A `SELECT`, `CONSTRUCT` or `DESCRIBE` query has a result if it returned at least one solution or triple. A
    /// `SELECT (COUNT(*) ..)` query has one solution even if the count is 0. An `ASK` query always has a result, even
    /// if its value is `false`.
    pub const fn has_results(self) -> bool {
        match self {
            Self::Solutions(count) | Self::Triples(count) => count > 0,
            Self::Boolean(_) => true,
        }
    }
}

/// The error returned when loading data or running a query fails.
#[derive(thiserror::Error)]
#[error("{message}")]
pub struct SparqlError {
    message: String,
    is_query_error: bool,
}

dsrs_metrics_values::debug_as_display!(SparqlError);

impl SparqlError {
    /// Creates an error that the query caused.
    pub(super) fn of_query(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            is_query_error: true,
        }
    }

    /// Creates any other error.
    pub(super) fn new(message: impl fmt::Display) -> Self {
        Self {
            message: message.to_string(),
            is_query_error: false,
        }
    }

    /// Returns `true` if the error was caused by the query itself.
    ///
    /// For example, the query may be invalid, fail to evaluate, or time out. Returns `false` for all other errors, such
    /// as a file that cannot be loaded.
    pub const fn is_query_error(&self) -> bool {
        self.is_query_error
    }
}

/// Checks that a string is a valid SPARQL 1.1 query, without executing it.
///
/// Prefixes must be declared, and relative IRIs need a `BASE`. The parser is Oxigraph's (`spargebra`), so its
/// extensions `LATERAL` and `ADJUST` are also accepted.
///
/// # Errors
/// Returns a [`SparqlError`] if the query is invalid. The error's position can be a few characters after the mistake.
///
/// ```
/// use dsrs_metrics::sparql::check_query;
///
/// check_query("SELECT ?s WHERE { ?s ?p ?o }").unwrap();
/// let error = check_query("SELECT ?s WHERE {\n  ?s ex:name ?o }").unwrap_err();
/// assert_eq!(error.to_string(), "line 2, column 13: Prefix not found");
/// ```
pub fn check_query(query: &str) -> Result<(), SparqlError> {
    with_parsed(query, |_| ())
}

/// Parses a query and passes it to a function. Both steps run on a large stack.
pub(super) fn with_parsed<T: Send + 'static>(
    query: &str,
    inspect: fn(Query) -> T,
) -> Result<T, SparqlError> {
    check_size(query)?;
    let query = query.to_owned();
    let no_thread = |reason: &dyn fmt::Display| {
        SparqlError::new(format_args!(
            "cannot start a thread for the query: {reason}"
        ))
    };
    within_deadline(PARSE_TIME, move || parse(&query).map(inspect))
        .map_err(|error| no_thread(&error))?
        .ok_or_else(|| no_thread(&"it takes too long"))?
}

/// Checks that a query is within the limits on size and nesting and is not empty.
pub(super) fn check_size(query: &str) -> Result<(), SparqlError> {
    if query.trim().is_empty() {
        return Err(SparqlError::of_query("the query is empty"));
    }
    if query.len() > MAX_BYTES {
        let bytes = query.len();
        return Err(SparqlError::new(format_args!(
            "expected a query of at most {MAX_BYTES} bytes, found {bytes}"
        )));
    }
    match depth(query) {
        depth if depth > MAX_DEPTH => Err(SparqlError::new(format_args!(
            "expected a query nested at most {MAX_DEPTH} levels deep, found {depth}"
        ))),
        _ => Ok(()),
    }
}

/// Parses a query whose size has already been checked. The caller must run on a large stack, and must drop the query
/// there too.
pub(super) fn parse(query: &str) -> Result<Query, SparqlError> {
    SparqlParser::new().parse_query(query).map_err(|error| {
        match SparqlParser::new().parse_update(query) {
            Ok(_) => SparqlError::of_query(
                "expected a SPARQL query, found an update; use SELECT, ASK, CONSTRUCT or DESCRIBE",
            ),
            Err(_) => SparqlError::of_query(diagnostic(&error, query)),
        }
    })
}

/// Converts the parser's error, which is available only as `error at LINE:COLUMN: expected EXPECTED`. EXPECTED lists
/// tokens, which are of little help, and messages that name the mistake.
fn diagnostic(error: &SparqlSyntaxError, query: &str) -> Diagnostic {
    let text = error.to_string();
    let parts = || {
        let (position, expected) = text.strip_prefix("error at ")?.split_once(": expected ")?;
        let (line, column) = position.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?, expected))
    };
    let (line, column, expected) = parts().unwrap_or((1, 1, &text));
    // The other items are grammar tokens, often more than a hundred.
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

/// Describes a syntax error by the characters at its position, up to the next whitespace. The parser looks ahead by the
/// length of a keyword, so the mistake can be a few characters earlier.
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
        None => "syntax error just before this point, or unexpected end of query".to_owned(),
    }
}

/// Returns the maximum nesting depth of brackets and of consecutive negations.
///
/// Strings and comments are skipped. In anything that looks like an IRI, only opening brackets count, because `?a<(1)>`
/// can be an IRI or a comparison. The result is never less than the depth that a parser finds.
pub(super) fn depth(query: &str) -> usize {
    let (mut open, mut negations, mut deepest) = (0_usize, 0, 0);
    for token in TOKENS.find_iter(query).map(|token| token.as_str()) {
        let first = token.as_bytes().first().copied();
        match first {
            Some(b'!') => negations += 1,
            Some(b'#') => continue,
            _ => negations = 0,
        }
        match first {
            Some(b'<') => {
                let mut inside = usize::from(token == "<<");
                for byte in token.bytes() {
                    match byte {
                        b'(' | b'[' => inside += 1,
                        b')' | b']' => inside = inside.saturating_sub(1),
                        b'!' => negations += 1,
                        _ => {}
                    }
                    deepest = deepest.max(open + inside + negations);
                }
                open += inside;
            }
            Some(b'(' | b'[' | b'{') => open += 1,
            Some(b')' | b']' | b'}') => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open + negations);
    }
    deepest
}

/// Matches the parts of a query: an escaped character in a local name, a comment, a string, an IRI, or any other
/// character.
///
/// The `<<` of a quoted triple also counts: SPARQL 1.1 has no quoted triples, but the parser recurses before it reports
/// that.
static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    let long = |quote: &str| format!(r#"{quote}{{3}}(?:\\.?|[^\\])*?(?:{quote}{{3}}|\z)"#);
    let short = |quote: &str| format!(r#"{quote}(?:\\.?|[^\\{quote}])*(?:{quote}|\z)"#);
    let strings = ["\"", "'"].map(|quote| format!("{}|{}", long(quote), short(quote)));
    let others = r#"<[^\x00-\x20<>"{}|^`]*>|<<|\S"#;
    let tokens = format!(r"(?s)\\.|#[^\n\r]*|{}|{others}", strings.join("|"));
    Regex::new(&tokens).expect("the pattern is valid")
});

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn brackets_and_negations_are_counted_where_they_nest() {
        assert_eq!(depth("SELECT * WHERE { ?s ?p ?o }"), 1);
        assert_eq!(depth("SELECT * WHERE { { ?s ?p ?o } { ?s ?q (1 2) } }"), 3);
        assert_eq!(depth("ASK { FILTER(! !!?x) }"), 5);
        assert_eq!(depth(&"(".repeat(100_000)), 100_000);
        assert_eq!(depth(&"<<".repeat(1_000)), 1_000);
    }

    #[test]
    fn strings_comments_and_iris_do_not_nest() {
        assert_eq!(
            depth("ASK { ?s ?p \"((((\" , '[[' , '''(\n'((''' , \"\\\"(((\" }"),
            1
        );
        assert_eq!(depth("ASK { # (((( \n ?s ?p ?o }"), 1);
        assert_eq!(
            depth("ASK { ?s <http://a/b#(((c)> 1 }"),
            4,
            "counted, because it could be a comparison"
        );
        assert_eq!(depth("ASK { ?s <http://a/b_(c)#d> <http://a/b_(c)> }"), 2);
        assert_eq!(depth("ASK { FILTER(?a<((((1))))&&?b>2) }"), 6);
        assert_eq!(
            depth(&format!(
                "ASK {{ FILTER(?a<{}1{}>2) }}",
                "(".repeat(50),
                ")".repeat(50)
            )),
            52
        );
        assert_eq!(depth("\"))))))\" (((((("), 6);
        assert_eq!(depth("h:o\\'brien (((((("), 6);
    }
}
