//! What can be wrong with results and labels. Each message is one line: where, what was found, what to do.

use std::fmt;
use std::path::PathBuf;

use crate::agreement::AgreementError;
use crate::core::rows::pair::Origin;

#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum AgreeError {
    #[error(
        "{at}: the row has no `scores`{}; `agree` reads what `score --out` writes",
        Known(keys, "only ")
    )]
    NotResults { at: Origin, keys: Vec<String> },
    #[error("{at}: `{field}` should be {expected}, found {found}")]
    BadField { at: Origin, field: String, expected: &'static str, found: String },
    #[error("{}: no row has a score of `{name}`{}", file.display(), Meant(nearest, known))]
    NoMetric { file: PathBuf, name: String, nearest: Option<String>, known: Vec<String> },
    #[error("{}: no row has a label `{field}`{}", file.display(), Meant(nearest, known))]
    NoLabel { file: PathBuf, field: String, nearest: Option<String>, known: Vec<String> },
    #[error(
        "{at}: the id `{id}` stands twice, first in line {first}; a row can be counted only once"
    )]
    IdTwice { at: Origin, id: String, first: u64 },
    #[error(
        "{}: none of its ids is in {}: there the first is `{result}`, here `{label}`",
        labels.display(), results.display()
    )]
    NoCommonIds { labels: PathBuf, results: PathBuf, label: String, result: String },
    #[error(
        "{}: no row has both a score of `{metric}` and a label `{field}`: {scored} have a score, {labelled} a label",
        file.display()
    )]
    NothingInCommon { file: PathBuf, metric: String, field: String, scored: u64, labelled: u64 },
    #[error(
        "{}: `{metric}` against `{field}`: all {rows} labels that are compared are `{label}`; agreement needs rows with another one",
        file.display()
    )]
    OneClass { file: PathBuf, metric: String, field: String, rows: u64, label: String },
    #[error("{at}: `{metric}` against `{field}`: {error}")]
    NotComparable { at: Place, metric: String, field: String, error: Box<AgreementError> },
}

/// A line, or a whole file.
#[derive(Debug)]
pub(in crate::cli) enum Place {
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

/// The names that there are.
struct Known<'a>(&'a [String], &'static str);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            names => write!(f, ", {}`{}`", self.1, names.join("`, `")),
        }
    }
}

/// The name that was meant, or else those that there are.
struct Meant<'a>(&'a Option<String>, &'a [String]);

impl fmt::Display for Meant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Known(self.1, "only ").fmt(f),
        }
    }
}
