//! Whether text is well-formed code: brackets and quotes by rule, or a language's own parser.
//!
//! Pure functions on strings; the metrics over rows are elsewhere. The parsers need the feature `syntax`.

mod balance;
mod comments;
mod language;
#[cfg(feature = "syntax")]
mod parse;
#[cfg(feature = "syntax")]
mod same;

use std::fmt;

pub use balance::{Balance, unbalanced};
pub use language::{Comparison, Language, SyntaxError};

/// What is wrong with a piece of code, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl Fault {
    /// At a byte of the text.
    fn at(text: &str, byte: usize, what: String) -> Self {
        let at = (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
        let before = &text[..at.unwrap_or(0)];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        Self { line, column: before[start..].chars().count() + 1, what }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}
