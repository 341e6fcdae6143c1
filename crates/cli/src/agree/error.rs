//! Errors of results and labels. Each message is one line: the place, the value that was found, a correction.

use std::fmt;
use std::path::PathBuf;

use crate::agreement::AgreementError;
use crate::core::rows::pair::Origin;
use crate::data::DataError;
use crate::error::CliError;
use crate::hint::Hint;
use crate::messages::escape;
use crate::results::ResultsError;

/// Why results cannot be compared with labels.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgreeError {
    #[error("{at}: `{field}`: expected {expected}, found {found}")]
    InvalidField {
        at: Origin,
        field: String,
        expected: &'static str,
        found: String,
    },
    #[error("{}: no row has a score of `{name}`{hint}", file.display())]
    NoMetric {
        file: PathBuf,
        name: String,
        hint: Hint,
    },
    #[error("{}: no row has a label `{field}`{hint}", file.display())]
    NoLabel {
        file: PathBuf,
        field: String,
        hint: Hint,
    },
    #[error("{at}: duplicate id `{id}`, first in line {first}; ids must be unique within a file")]
    DuplicateId { at: Origin, id: String, first: u64 },
    #[error(
        "{at}: expected an `id`, found a label without one{}",
        advice(column.as_deref(), *has_positional)
    )]
    LabelWithoutId {
        at: Origin,
        column: Option<String>,
        has_positional: bool,
    },
    #[error(
        "{at}: expected an id at `{}`, found neither a string nor a number; the row has {}",
        escape::name(path), escape::names(keys.iter().map(String::as_str))
    )]
    NoId {
        at: Origin,
        path: String,
        keys: Vec<String>,
    },
    #[error(
        "{}: no id matches {}: expected ids such as `{result}`, found ids such as `{label}`",
        labels.display(), results.display()
    )]
    NoCommonIds {
        labels: PathBuf,
        results: PathBuf,
        label: String,
        result: String,
    },
    #[error(
        "the gold rows of {} in {} are not the gold rows in {}; compare scores with labels of the same data",
        escape::names(ids.iter().map(String::as_str)), labels.display(), results.display()
    )]
    DifferentGold {
        labels: PathBuf,
        results: PathBuf,
        ids: Vec<String>,
    },
    #[error(
        "{label}: the label of `{}` is of another prediction than the one at {result}{}; label the predictions of these results, or, if the label holds for both, remove `pred` and `pred_hash` from the labels",
        escape::name(id), others_too(*others)
    )]
    DifferentPreds {
        id: String,
        label: Origin,
        result: Origin,
        others: usize,
    },
    #[error(
        "{}: no row has both a score of `{metric}` and a label `{field}`; rows with a score: {scored}, rows with a label: {labelled}",
        file.display()
    )]
    NothingInCommon {
        file: PathBuf,
        metric: String,
        field: String,
        scored: u64,
        labelled: u64,
    },
    #[error(
        "{}: the code of `{}` changed since these results; score the rows again, raise the version of the metric if its meaning changed, or leave out --strict-identity",
        file.display(), escape::name(metric)
    )]
    OtherCode { file: PathBuf, metric: String },
    #[error("{at}: `{metric}` against `{field}`: {error}")]
    NotComparable {
        at: Place,
        metric: String,
        field: String,
        error: Box<AgreementError>,
    },
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Cli(#[from] CliError),
}

/// The number of further labels of other predictions.
fn others_too(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => ", and so is 1 more label".to_owned(),
        others => format!(", and so are {others} more labels"),
    }
}

/// What to write so that labels have ids. The positions of rows are no ids: a label may be at another one.
fn advice(column: Option<&str>, has_positional: bool) -> String {
    match column {
        _ if has_positional => {
            "; the results have no ids either, so score again with --map id=COLUMN, and write it here too".to_owned()
        }
        Some(column) => format!("; write --map id={}", escape::name(column)),
        None => "; no column has an id of the results, so write --map id=COLUMN for both".to_owned(),
    }
}

/// A line, or a whole file.
#[derive(Debug)]
pub(crate) enum Place {
    Line(Origin),
    File(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(at) => at.fmt(f),
            Self::File(file) => file.display().fmt(f),
        }
    }
}
