//! Errors about result files, comparisons and reports. Each message is a single line with the location, what was found,
//! and what to do.

use crate::contract::Origin;
use crate::data::{DataError, DataErrorKind};
use crate::evaluate::manifest::ManifestError;
use crate::messages::escape;

/// An error returned when results cannot be read, compared or shown.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ResultsError {
    kind: ResultsErrorKind,
    message: String,
    /// The metric or setting that the error is about.
    name: String,
}

/// The kind of a [`ResultsError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultsErrorKind {
    /// A file cannot be read, is not a result file, or does not match its manifest.
    Read,
    /// Two runs have different rows, data, metrics or groups.
    Rows,
    /// A metric cannot be compared.
    ///
    /// See [`ResultsError::name`].
    Metric,
    /// The runs measured different things, or it is unknown what a run measured.
    Identity,
    /// A setting names a metric or field that no run has.
    ///
    /// See [`ResultsError::name`].
    Setting,
    /// A report cannot be written.
    Output,
}

dsrs_metrics_values::debug_as_display!(ResultsError);

impl ResultsError {
    pub(super) fn new(kind: ResultsErrorKind, message: impl Into<String>) -> Self {
        let (message, name) = (message.into(), String::new());
        Self {
            kind,
            message,
            name,
        }
    }

    pub(super) fn read(message: impl Into<String>) -> Self {
        Self::new(ResultsErrorKind::Read, message)
    }

    pub(super) fn rows(message: impl Into<String>) -> Self {
        Self::new(ResultsErrorKind::Rows, message)
    }

    /// Creates an error about a metric. The message begins with the metric's name.
    pub(super) fn metric(metric: &str, message: &str) -> Self {
        let name = metric.to_owned();
        let message = format!("`{}`: {message}", escape::name(metric));
        Self {
            name,
            ..Self::new(ResultsErrorKind::Metric, message)
        }
    }

    pub(super) fn setting(setting: &str, message: impl Into<String>) -> Self {
        let name = setting.to_owned();
        Self {
            name,
            ..Self::new(ResultsErrorKind::Setting, message)
        }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ResultsErrorKind {
        self.kind
    }

    /// Returns the name of the metric or setting that caused the error.
    ///
    /// The error names a metric that cannot be compared, or an invalid setting such as `lower_is_better`.
    pub fn name(&self) -> Option<&str> {
        Some(&*self.name).filter(|name| !name.is_empty())
    }

    /// Creates the error for a row. Reports an interrupted file as such, because a parser sees only the end of its
    /// input.
    pub(super) fn of_row(error: DataError, complete: u64) -> Self {
        match (error.kind(), error.origin()) {
            (DataErrorKind::CutOff, Some(at)) => Self::read(format!(
                "{at}: the row is cut off, after {complete} complete rows; write the file again, or remove the row"
            )),
            (DataErrorKind::NotArray, _) => Self::read(format!(
                "{}; write it with `score --out`, because the output of `score --json` \
                 has no rows; if each line is a row, rename it to .jsonl",
                error.reason()
            )),
            _ => error.into(),
        }
    }

    /// Creates an error for a run if it is unknown what the run measured.
    ///
    /// This is an error only if a manifest is [required](crate::results::ComparisonBuilder::require_identity).
    #[doc(hidden)]
    pub fn unknown_identity(file: &str, reason: &str) -> Self {
        let file = escape::name(file);
        Self::new(
            ResultsErrorKind::Identity,
            format!(
                "{file}: --require-identity and --fail-if-worse need to know what was measured, but {reason}; restore the manifest, or score the rows again with --out (in code, `require_identity`)"
            ),
        )
    }

    /// Creates an error about the value of a field.
    pub(super) fn invalid(at: &Origin, field: &str, expected: &str, found: &str) -> Self {
        let field = escape::name(field);
        Self::read(format!(
            "{at}: `{field}`: expected {expected}, found {found}"
        ))
    }
}

impl From<DataError> for ResultsError {
    fn from(error: DataError) -> Self {
        Self::read(error.to_string())
    }
}

impl From<ManifestError> for ResultsError {
    fn from(error: ManifestError) -> Self {
        Self::read(error.to_string())
    }
}

impl From<ResultsError> for std::io::Error {
    fn from(error: ResultsError) -> Self {
        Self::other(error)
    }
}

/// The maximum number of ids in a sentence.
const SHOWN_IDS: usize = 3;

/// Formats the first ids of a list.
pub(super) fn first_ids(ids: &[String]) -> String {
    first_of(ids, ids.len() as u64)
}

/// Formats the first ids of a list, and says how many more of the `all` ids there are.
pub(super) fn first_of(ids: &[String], all: u64) -> String {
    let first = ids
        .iter()
        .take(SHOWN_IDS)
        .map(|id| format!("`{}`", escape::name(id)));
    let first = first.collect::<Vec<_>>().join(", ");
    match all.saturating_sub(ids.len().min(SHOWN_IDS) as u64) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
