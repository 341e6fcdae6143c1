//! Errors of the HTML report.

use std::path::PathBuf;

use crate::messages::escape;
use crate::messages::suggest::nearest;
use crate::results::{CompareError, ResultsError};

/// Why a report cannot be written.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HtmlError {
    /// The two runs cannot be compared.
    #[error(transparent)]
    Compare(#[from] Box<CompareError>),
    /// A file cannot be read again for the rows that the page shows.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// No row has the field of the groups.
    #[error(
        "no row has the field `{}`; {}",
        escape::name(field),
        meant(field, known).unwrap_or_else(|| format!("the rows have {}", known_fields(known)))
    )]
    NoGroup {
        /// The field.
        field: String,
        /// The fields of the first row, as paths.
        known: Vec<String>,
    },
    /// A metric whose lower scores are better is in no run.
    #[error(
        "lower is better for `{}`, which no run has; {}",
        escape::name(metric),
        meant(metric, known).unwrap_or_else(|| {
            format!("the runs have {}", escape::names(known.iter().map(String::as_str)))
        })
    )]
    NoMetric {
        /// The metric.
        metric: String,
        /// The metrics of the runs.
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

dsrs_metrics_values::debug_as_display!(HtmlError);

/// The question for the name that was meant, if one is similar.
fn meant(name: &str, known: &[String]) -> Option<String> {
    let nearest = nearest(name, known.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", escape::name(nearest)))
}

fn known_fields(known: &[String]) -> String {
    match known {
        [] => "only ids and scores; write the result file again with `--with-rows`".to_owned(),
        known => escape::names(known.iter().map(String::as_str)),
    }
}
