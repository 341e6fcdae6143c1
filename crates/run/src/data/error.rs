//! The error for an invalid row file. Each message is a single line with the file and line number, what was expected,
//! what was found, and what to do.

use std::path::Path;
use std::{fmt, io};

use super::input::EncodingError;
use crate::contract::Origin;

/// An error returned when a data file cannot be read.
///
/// ```
/// use dsrs_metrics::data::{DataErrorKind, DataReader, Format};
///
/// let mut pairs = DataReader::new().read_from("reply", Format::Jsonl, &b"{\"pred\": "[..]);
/// let error = pairs.next().unwrap().unwrap_err();
/// assert_eq!(error.kind(), DataErrorKind::CutOff);
/// assert!(error.to_string().starts_with("reply:1:"));
/// ```
pub struct DataError(Box<Content>);

/// Rows in one format, and the error that follows them.
pub(super) type Read<R> = (R, Option<DataError>);

struct Content {
    kind: DataErrorKind,
    at: Option<Origin>,
    message: String,
}

/// Creates an error for an invalid row, with a message formatted like `format!`.
macro_rules! invalid {
    ($at:expr, $($message:tt)*) => {
        $crate::data::DataError::invalid($at, format_args!($($message)*))
    };
}
pub(super) use invalid;

/// The kind of a [`DataError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataErrorKind {
    /// The file cannot be opened or read, or its format is unknown.
    Unreadable,
    /// The file has no rows.
    Empty,
    /// The file ends in the middle of a row.
    ///
    /// For example, the program that wrote it may have been killed.
    CutOff,
    /// The JSON in the file is neither an array of rows nor another supported layout.
    NotArray,
    /// A row or file exceeds a limit.
    TooLarge,
    /// A row or file violates its format or has unexpected content.
    Invalid,
}

impl DataError {
    pub(super) fn new(kind: DataErrorKind, message: String) -> Self {
        Self(Box::new(Content {
            kind,
            at: None,
            message,
        }))
    }

    /// Creates an error about a row. The message begins with the row's location.
    pub(super) fn at(at: &Origin, kind: DataErrorKind, message: impl fmt::Display) -> Self {
        Self(Box::new(Content {
            kind,
            at: Some(at.clone()),
            message: format!("{at}{message}"),
        }))
    }

    /// Creates an error for an invalid row.
    pub(super) fn invalid(at: &Origin, message: impl fmt::Display) -> Self {
        Self::at(at, DataErrorKind::Invalid, format_args!(": {message}"))
    }

    /// Creates an error for an invalid file.
    pub(super) fn invalid_file(file: &Path, message: impl fmt::Display) -> Self {
        let message = format!("{}: {message}", file.display());
        Self::new(DataErrorKind::Invalid, message)
    }

    pub(super) fn unreadable(file: &Path, reason: &io::Error) -> Self {
        let source = reason.get_ref().and_then(|source| source.downcast_ref());
        let source: Option<&EncodingError> = source;
        if let Some(error) = source {
            let at = Origin {
                file: file.into(),
                line: error.line,
            };
            let message = format_args!(":{}: {}", error.column, error.reason);
            return Self::at(&at, DataErrorKind::Invalid, message);
        }
        let message = format!("{}: cannot be read: {reason}", file.display());
        Self::new(DataErrorKind::Unreadable, message)
    }

    pub(super) fn too_long(at: &Origin, limit: usize) -> Self {
        Self::too_large(
            at,
            format_args!(
                "the row is longer than {limit} bytes, the limit for one row; check for a missing line end or closing quote"
            ),
        )
    }

    pub(super) fn too_large(at: &Origin, message: impl fmt::Display) -> Self {
        Self::at(at, DataErrorKind::TooLarge, format_args!(": {message}"))
    }

    /// Creates an error for invalid JSON. `column` is the byte in the line, counted from 1.
    pub(super) fn syntax(at: &Origin, column: usize, reason: &str) -> Self {
        let kind = match reason.starts_with("EOF") {
            true => DataErrorKind::CutOff,
            false => DataErrorKind::Invalid,
        };
        Self::at(at, kind, format_args!(":{column}: invalid JSON: {reason}"))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> DataErrorKind {
        self.0.kind
    }

    /// Returns the location of the row that caused the error.
    ///
    /// If the row spans several lines, this is the location of its first line. Returns `None` if the error is about the
    /// whole file.
    pub fn origin(&self) -> Option<&Origin> {
        self.0.at.as_ref()
    }

    /// Returns the message without its advice.
    pub(crate) fn reason(&self) -> &str {
        let message = &self.0.message;
        message
            .split_once("; ")
            .map_or(message, |(reason, _)| reason)
    }

    /// Adds advice to the message.
    pub(super) fn with_advice(mut self, advice: &str) -> Self {
        self.0.message.push_str(advice);
        self
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for DataError {}

dsrs_metrics_values::debug_as_display!(DataError);

#[cfg(test)]
impl DataError {
    /// Returns the message without the suggested mappings, because only a run knows the names of the fields.
    pub(super) fn without_advice(&self) -> String {
        let message = self.to_string();
        message
            .split("; map the fields")
            .next()
            .unwrap_or_default()
            .to_owned()
    }
}
