//! Whether a text is a SPARQL query, and what is wrong with it.

use spargebra::{Query, SparqlParser, SparqlSyntaxError};

use super::nesting::depth;
use super::stack::deep;
use crate::syntax::Fault;

/// The longest query that is read, in bytes. Longer ones are no work of a person or a model, and time to read them grows.
pub const MAX_BYTES: usize = 65_536;

/// The deepest nesting of brackets and negations that is read.
pub const MAX_DEPTH: usize = 100;

/// Why a text is no SPARQL query, or why that cannot be said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// There is no text.
    #[error("there is no query")]
    Empty,
    /// The text breaks the grammar of SPARQL 1.1.
    #[error("{0}")]
    Syntax(Fault),
    /// The text is an update, which changes data, where a query is wanted.
    #[error("this is a SPARQL update, not a query: use SELECT, ASK, CONSTRUCT or DESCRIBE")]
    Update,
    /// The text is longer than [`MAX_BYTES`], so it was not read.
    #[error("the query has {bytes} bytes; queries are read up to {MAX_BYTES}")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The text nests deeper than [`MAX_DEPTH`], so it was not read.
    #[error("the query nests {depth} deep; queries are read up to a depth of {MAX_DEPTH}")]
    TooDeep {
        /// Its depth.
        depth: usize,
    },
    /// The system gave no thread to read the query on.
    #[error("no thread to read the query on: {0}")]
    NoThread(#[from] std::io::Error),
}

impl QueryError {
    /// Whether the text is surely no query; otherwise it could not be looked at.
    #[must_use]
    pub const fn is_the_querys(&self) -> bool {
        matches!(self, Self::Empty | Self::Syntax(_) | Self::Update)
    }
}

/// Checks that a text is a query by the grammar of SPARQL 1.1, which is all that can be said without data.
///
/// The parser is Oxigraph's (`spargebra`). Prefixes have to be declared, and a relative IRI needs a `BASE`. `LATERAL`
/// and `ADJUST`, which Oxigraph adds to SPARQL 1.1, are accepted.
///
/// # Errors
/// [`QueryError`]; [`QueryError::Syntax`] says in which line and column the parser gave up, which can be a few characters
/// after the mistake.
///
/// ```
/// use dsrs_metrics::sparql::check_query;
///
/// check_query("SELECT ?s WHERE { ?s ?p ?o }").unwrap();
/// let error = check_query("SELECT ?s WHERE {\n  ?s ex:name ?o }").unwrap_err();
/// assert_eq!(error.to_string(), "line 2, column 13: Prefix not found");
/// ```
pub fn check_query(text: &str) -> Result<(), QueryError> {
    with_query(text, |_| ())
}

/// Reads a query and looks at it, both on a stack that is deep enough.
pub(super) fn with_query<T: Send>(
    text: &str,
    look: impl FnOnce(Query) -> T + Send,
) -> Result<T, QueryError> {
    check_size(text)?;
    deep(|| read(text).map(look))?
}

/// Checks that a text can be read without harm.
pub(super) fn check_size(text: &str) -> Result<(), QueryError> {
    if text.trim().is_empty() {
        return Err(QueryError::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(QueryError::TooLong { bytes: text.len() });
    }
    match depth(text) {
        depth if depth > MAX_DEPTH => Err(QueryError::TooDeep { depth }),
        _ => Ok(()),
    }
}

/// Reads a query of bounded size; to be called on a deep stack, where the query must be dropped, too.
pub(super) fn read(text: &str) -> Result<Query, QueryError> {
    SparqlParser::new().parse_query(text).map_err(|error| {
        match SparqlParser::new().parse_update(text) {
            Ok(_) => QueryError::Update,
            Err(_) => QueryError::Syntax(fault(&error, text)),
        }
    })
}

/// The parser gives its error as text, `error at LINE:COLUMN: expected WHAT`. WHAT lists tokens, which tell a reader
/// little, and sentences, which tell what is wrong.
fn fault(error: &SparqlSyntaxError, text: &str) -> Fault {
    let message = error.to_string();
    let place = message.strip_prefix("error at ").and_then(|rest| {
        let (place, what) = rest.split_once(": expected ")?;
        let (line, column) = place.split_once(':')?;
        Some((line.parse::<usize>().ok()?, column.parse::<usize>().ok()?, what))
    });
    let Some((line, column, what)) = place else {
        return Fault { line: 1, column: 1, what: message };
    };
    let sentences: Vec<&str> = what
        .strip_prefix("one of ")
        .unwrap_or(what)
        .split(", ")
        .filter(|item| item.starts_with(char::is_alphabetic) && item.contains(' '))
        .collect();
    let what = match sentences.is_empty() {
        true => unexpected(text, line, column),
        false => sentences.join("; "),
    };
    Fault { line, column, what }
}

/// What stands at the place, up to the next white space. The parser looks ahead by the length of a keyword, so the mistake may be
/// a few characters before it.
fn unexpected(text: &str, line: usize, column: usize) -> String {
    let line = text.split('\n').nth(line - 1).unwrap_or_default();
    let rest: String = line.chars().skip(column - 1).collect();
    match rest.split_whitespace().next() {
        Some(found) => {
            let found: String = found.chars().take(40).collect();
            format!("not understood at `{found}`, or just before it")
        }
        None => "not understood just before, or it ends too early".to_owned(),
    }
}
