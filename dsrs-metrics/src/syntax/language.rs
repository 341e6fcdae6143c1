//! The languages that have a parser.

use serde::{Deserialize, Serialize};

use super::Fault;

/// A language whose text can be parsed.
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
    /// JSON, by RFC 8259.
    Json,
    /// SQL, a union of the common dialects.
    Sql,
    /// Bash.
    #[serde(alias = "sh", alias = "shell")]
    Bash,
}

/// Why a text could not be parsed at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// This build has no parsers.
    #[error(
        "this build has no parser for {0:?}: build dsrs-metrics with its feature `syntax`, or leave the language out"
    )]
    NoParser(Language),
    /// The parser gave up.
    #[error("the {language:?} parser gave up on the text after {seconds} s")]
    TooSlow {
        /// The language.
        language: Language,
        /// How long it was given, in seconds.
        seconds: u64,
    },
    /// A text is valid JSON, but cannot be held as a value.
    #[error("valid JSON that cannot be compared: {reason}")]
    Unreadable {
        /// What the parser said.
        reason: String,
    },
    /// The parser and its grammar do not fit together.
    #[error("the {language:?} grammar cannot be loaded: {reason}")]
    Grammar {
        /// The language.
        language: Language,
        /// What the parser said.
        reason: String,
    },
}

impl Language {
    /// The first error of the text, if it has one.
    ///
    /// # Errors
    /// [`SyntaxError`] if the text cannot be parsed at all; wrong text is no error.
    pub fn fault(self, text: &str) -> Result<Option<Fault>, SyntaxError> {
        #[cfg(feature = "syntax")]
        return super::parse::fault(self, text);
        #[cfg(not(feature = "syntax"))]
        {
            let _ = text;
            Err(SyntaxError::NoParser(self))
        }
    }

    /// Whether two texts have the same syntax tree, layout and comments aside.
    ///
    /// Layout is what a formatter may change: white space, line breaks, trailing commas, semicolons that only end a
    /// statement, the kind of quotes in Python and JavaScript, the case of SQL's keywords. Python's indentation is no
    /// layout. Names, literals, operators and parentheses must be equal as written: a renamed local is a difference.
    /// JSON is compared as data: neither the order of keys nor the form of numbers matters.
    ///
    /// # Errors
    /// [`SyntaxError`] if a text cannot be parsed at all; wrong text is no error.
    pub fn compare(self, left: &str, right: &str) -> Result<Comparison, SyntaxError> {
        #[cfg(feature = "syntax")]
        return super::same::compare(self, left, right);
        #[cfg(not(feature = "syntax"))]
        {
            let _ = (left, right);
            Err(SyntaxError::NoParser(self))
        }
    }
}

/// How two texts of one language compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// They have the same tree.
    Same,
    /// Their trees differ.
    Different,
    /// The first has an error.
    LeftBroken(Fault),
    /// The second has an error, and the first has none.
    RightBroken(Fault),
}

impl Comparison {
    #[cfg(feature = "syntax")]
    pub(super) fn of(same: bool) -> Self {
        if same { Self::Same } else { Self::Different }
    }
}
