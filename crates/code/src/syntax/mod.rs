//! Functions for checking the syntax of source code.
//!
//! Brackets and quotes can be checked in any language. For a known [`Language`], a parser checks the whole syntax.
//!
//! The parsers require the `syntax` feature.
//!
//! For metrics that score rows, see `metrics::proxies` and `metrics::diff`.

mod balance;
#[cfg(feature = "syntax")]
mod equivalence;
mod language;
#[cfg(feature = "syntax")]
mod parse;
mod pattern;
#[doc(hidden)]
pub mod pattern_size;

pub use balance::{BalanceOptions, check_balance};
pub use language::{Comparison, Language, ParserError};
pub use pattern::RegexPattern;

/// A syntax error, with its position in the code.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Diagnostic {
    /// The line of the error, starting at 1.
    pub line: usize,
    /// The column of the error in characters, starting at 1.
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
