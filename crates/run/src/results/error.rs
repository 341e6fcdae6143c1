//! Errors of result files. Each message is one line: where, what was found, what to do.

use std::path::PathBuf;

use crate::core::rows::pair::Origin;
use crate::data::{DataError, DataErrorKind};
use crate::evaluate::manifest::ManifestError;
use crate::messages::escape;

/// The most metrics in a result file. A run has some of them; names that rows make up would be compared with every row.
#[doc(hidden)]
pub const MAX_METRICS: usize = 1_000;

impl From<ResultsError> for std::io::Error {
    fn from(error: ResultsError) -> Self {
        Self::other(error)
    }
}

/// Why a result file cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// A row has no scores, so the file contains something else: data to score, or labels.
    #[error(
        "{at}: no `scores` in the row{}; expected a file written by `score --out`",
        only(keys)
    )]
    NotResults {
        /// The row.
        at: Origin,
        /// The keys of the row.
        keys: Vec<String>,
    },
    /// The file is the manifest of a result file.
    #[error(
        "{}: expected a result file, found its manifest; write {}",
        manifest.display(),
        results.display()
    )]
    IsManifest {
        /// The file.
        manifest: PathBuf,
        /// The result file that it describes.
        results: PathBuf,
    },
    /// A result file does not exist, only its manifest.
    #[error(
        "{}: no such file, only its manifest {}; restore the result file, or score again",
        file.display(),
        manifest.display()
    )]
    OnlyManifest {
        /// The result file.
        file: PathBuf,
        /// Its manifest.
        manifest: PathBuf,
    },
    /// It is unknown what a run measured, and that is [required](crate::results::ComparisonBuilder::require_identity).
    #[error(
        "{}: --require-identity and --fail-if-worse need to know what was measured, but {reason}; restore the manifest, or score the rows again with --out (in code, `require_identity`)",
        escape::name(file)
    )]
    UnknownIdentity {
        /// The name of the run.
        file: String,
        /// Why it is unknown.
        reason: String,
    },
    /// A row has no id, so it cannot be matched with a row of another file.
    #[error("{at}: no `id` in the row; write the file again with `score --out`, or add the ids")]
    MissingId {
        /// The row.
        at: Origin,
    },
    /// Two rows have the same id.
    #[error(
        "{at}: duplicate id `{}`, first in line {first}; ids must be unique within a file",
        escape::name(id)
    )]
    DuplicateId {
        /// The second row with the id.
        at: Origin,
        /// The id.
        id: String,
        /// The line of the first row with the id.
        first: u64,
    },
    /// A field of a row has a wrong type or an unknown value.
    #[error("{at}: `{}`: expected {expected}, found {found}", escape::name(field))]
    InvalidField {
        /// The row.
        at: Origin,
        /// The field, as a path.
        field: String,
        /// What the field must contain.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// The rows have too many different metrics.
    #[error(
        "{at}: expected at most {limit} metrics in a result file, found more; write results of fewer metrics"
    )]
    TooManyMetrics {
        /// The row.
        at: Origin,
        /// The limit.
        limit: usize,
    },
    /// A file that is read twice had other rows the second time.
    #[error("{}: the rows changed while the file was read; read it again when it is complete", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// The file ends within a row: writing or copying it was interrupted.
    #[error(
        "{at}: the row is cut off, after {complete} complete rows; write the file again, or remove the row"
    )]
    CutOff {
        /// The row.
        at: Origin,
        /// The number of rows before it.
        complete: u64,
    },
    /// A JSON file contains no array, such as the output of `score --json`.
    #[error(
        "{found}; write it with `score --out`, since the output of `score --json` has no rows; if each line is a row, name \
         the file .jsonl"
    )]
    NotArray {
        /// The file, what was expected and what was found.
        found: String,
    },
    /// An evaluation without rows: none was evaluated, or they were not kept.
    #[error("the evaluation has no rows; do not set `keep_results(false)`")]
    NoRows,
    /// The manifest of the file cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The file cannot be read as rows.
    #[error(transparent)]
    Data(#[from] DataError),
}

dsrs_metrics_values::debug_as_display!(ResultsError);

impl ResultsError {
    /// Names the interruption, which a parser reports as the end of its input.
    pub(super) fn of_row(error: DataError, complete: u64) -> Self {
        match (error.kind(), error.origin()) {
            (DataErrorKind::CutOff, Some(at)) => Self::CutOff {
                at: at.clone(),
                complete,
            },
            (DataErrorKind::NotArray, _) => Self::NotArray {
                found: error.reason().to_owned(),
            },
            _ => Self::Data(error),
        }
    }

    #[doc(hidden)]
    pub fn too_many_metrics(at: &Origin) -> Self {
        Self::TooManyMetrics {
            at: at.clone(),
            limit: MAX_METRICS,
        }
    }

    /// An error about the value of a field.
    pub(super) fn invalid(
        at: &Origin,
        field: String,
        expected: &'static str,
        found: String,
    ) -> Self {
        Self::InvalidField {
            at: at.clone(),
            field,
            expected,
            found,
        }
    }
}

/// `` , only `a`, `b` ``
fn only(keys: &[String]) -> String {
    match keys {
        [] => String::new(),
        keys => format!(", only {}", escape::names(keys.iter().map(String::as_str))),
    }
}
