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
    #[cfg_attr(not(feature = "syntax"), expect(clippy::unused_self, reason = "there is no parser"))]
    pub fn fault(self, text: &str) -> Result<Option<Fault>, SyntaxError> {
        #[cfg(feature = "syntax")]
        return super::parse::fault(self, text);
        #[cfg(not(feature = "syntax"))]
        {
            let _ = text;
            Err(SyntaxError::NoParser(self))
        }
    }

    /// Whether two texts have the same syntax tree, layout and comments aside; `None` if one of them has an error.
    ///
    /// Names, literals and operators must be equal as written; nothing is renamed. Layout that means something, such as
    /// Python's indentation, is part of the tree. JSON is compared as data: the order of keys and the form of
    /// numbers do not matter.
    ///
    /// # Errors
    /// As [`fault`](Self::fault).
    pub fn same(self, left: &str, right: &str) -> Result<Option<bool>, SyntaxError> {
        #[cfg(feature = "syntax")]
        return super::same::same(self, left, right);
        #[cfg(not(feature = "syntax"))]
        {
            let _ = (left, right);
            Err(SyntaxError::NoParser(self))
        }
    }
}
