//! Errors of the HTML report.

use std::path::PathBuf;

use crate::text::shown;

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HtmlError {
    /// A run has no rows.
    #[error("{}: no rows; expected at least one row", shown::name(run))]
    NoRows {
        /// The name of the run.
        run: String,
    },
    /// The two runs have no row in common.
    #[error(
        "{} and {} have no row with the same id; write a report for each",
        shown::name(a),
        shown::name(b)
    )]
    NothingInCommon {
        /// The name of the first run.
        a: String,
        /// The name of the second run.
        b: String,
    },
    /// No row has the field of the groups.
    #[error("no row has the field `{}`; the rows have {}", shown::name(field), known_fields(known))]
    NoGroup {
        /// The field.
        field: String,
        /// The fields of the first row, as paths.
        known: Vec<String>,
    },
    /// The file cannot be written.
    #[error("{}: cannot be written: {reason}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The rows cannot be written as JSON.
    #[error("the rows cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The template of the page cannot be rendered, which is an error in this library.
    #[error("the page cannot be rendered: {0}")]
    Template(#[from] minijinja::Error),
}

fn known_fields(known: &[String]) -> String {
    match known {
        [] => "only ids and scores; write the result file again with `--with-rows`".to_owned(),
        known => shown::names(known.iter().map(String::as_str)),
    }
}
