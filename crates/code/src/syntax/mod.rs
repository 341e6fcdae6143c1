//! Checks the syntax of source code.
//!
//! Brackets and quotes can be checked in any language. For a known [`Language`], a parser checks the entire syntax.
//!
//! The parsers require the `syntax` feature.
//!
//! For metrics that score rows, see `metrics::syntax` and `metrics::diff`.

mod balance;
#[cfg(feature = "syntax")]
mod equivalence;
#[cfg(feature = "syntax")]
mod parse;
mod pattern;

pub use balance::{BalanceOptions, check_balance};
pub use pattern::RegexPattern;
#[doc(hidden)]
pub use pattern::schema_pattern_size;

use serde::{Deserialize, Serialize};

/// A syntax error, with its position in the code.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Diagnostic {
    /// The line number of the error, starting at 1.
    pub line: usize,
    /// The column number of the error in characters, starting at 1.
    pub column: usize,
    /// A message that explains the error.
    pub message: String,
}

dsrs_metrics_values::debug_as_display!(Diagnostic);

impl Diagnostic {
    /// Creates a diagnostic at a byte offset in the code.
    fn at(code: &str, byte: usize, message: String) -> Self {
        let boundary = (0..=byte.min(code.len()))
            .rev()
            .find(|&at| code.is_char_boundary(at));
        let before = &code[..boundary.unwrap_or(0)];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        Self {
            line,
            column: before[start..].chars().count() + 1,
            message,
        }
    }
}

/// A programming or data language that can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Language {
    /// Rust.
    #[serde(alias = "rs")]
    Rust,
    /// Python 3.
    #[serde(alias = "py")]
    Python,
    /// JavaScript, with JSX.
    #[serde(alias = "js")]
    JavaScript,
    /// TypeScript, without JSX.
    #[serde(alias = "ts")]
    TypeScript,
    /// JSON, as defined in RFC 8259.
    Json,
    /// SQL, including the syntax of common dialects.
    Sql,
    /// Bash.
    #[serde(alias = "sh", alias = "shell")]
    Bash,
}

dsrs_metrics_values::message_errors! {
    /// The error returned when the parser for a language is unavailable or fails.
    ///
    /// Invalid code is not an error. It is reported as a [`Diagnostic`].
    pub struct ParserError;
}

impl Language {
    #[cfg(not(feature = "syntax"))]
    fn unavailable(self) -> ParserError {
        ParserError::from(format!(
            "this build has no parser for {self:?}; build dsrs-metrics with the `syntax` feature, or omit the language"
        ))
    }

    /// Returns the first syntax error in the code, or `None` if the code is valid.
    ///
    /// # Errors
    /// Returns a [`ParserError`] if the parser is unavailable, fails or times out.
    ///
    /// ```
    /// use dsrs_metrics::syntax::Language;
    ///
    /// # #[cfg(feature = "syntax")] {
    /// let error = Language::Json.first_error("{\n  \"a\": [1 2]\n}").unwrap().unwrap();
    /// assert_eq!(error.to_string(), "line 2, column 11: expected `,` or `]`");
    /// # }
    /// ```
    pub fn first_error(self, code: &str) -> Result<Option<Diagnostic>, ParserError> {
        #[cfg(feature = "syntax")]
        return parse::first_error(self, code);
        #[cfg(not(feature = "syntax"))]
        {
            let _ = code;
            Err(self.unavailable())
        }
    }

    /// Compares the syntax trees of two pieces of code, ignoring layout and comments.
    ///
    /// Layout is anything that a formatter can change:
    ///
    /// - Whitespace and line breaks, except for Python's indentation.
    /// - Trailing commas, and semicolons that only end a statement.
    /// - The quote style in Python and JavaScript.
    /// - The case of SQL keywords.
    ///
    /// Names, literals, operators and parentheses must match exactly, so renaming a local variable counts as a
    /// difference.
    ///
    /// JSON is compared as data: key order and number notation don't matter.
    ///
    /// # Errors
    /// Returns a [`ParserError`] if the parser is unavailable, fails or times out.
    ///
    /// ```
    /// use dsrs_metrics::syntax::{Comparison, Language};
    ///
    /// # #[cfg(feature = "syntax")] {
    /// let python = |left, right| Language::Python.compare(left, right).unwrap();
    /// assert_eq!(python("x = 'a'", "x  =  \"a\"  # a string"), Comparison::Same);
    /// assert_eq!(python("x = 1", "y = 1"), Comparison::Different);
    /// # }
    /// ```
    pub fn compare(self, left: &str, right: &str) -> Result<Comparison, ParserError> {
        #[cfg(feature = "syntax")]
        return equivalence::compare(self, left, right);
        #[cfg(not(feature = "syntax"))]
        {
            let _ = (left, right);
            Err(self.unavailable())
        }
    }
}

/// The result of comparing the syntax of two pieces of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The two pieces of code have the same syntax tree.
    Same,
    /// The two pieces of code have different syntax trees.
    Different,
    /// The first piece of code has a syntax error.
    LeftBroken(Diagnostic),
    /// The second piece of code has a syntax error, but the first does not.
    RightBroken(Diagnostic),
}

impl Comparison {
    #[cfg(feature = "syntax")]
    pub(super) fn of(same: bool) -> Self {
        if same { Self::Same } else { Self::Different }
    }
}
