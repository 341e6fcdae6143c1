//! Reads, compares and shows result files.
//!
//! A result file has a record for each row, written by `score --out` or [`Evaluate`](crate::Evaluate).
//!
//! [`Results`] reads a file, or takes the rows of an [`EvaluationResult`](crate::EvaluationResult). The guide's
//! `command_line` page describes the format. `evaluate/report/record.rs` has the record of a row. `run.rs` reads
//! rows: serde decodes lines of JSON, and `parse.rs` everything else. `run_scores.rs` stores columns instead of
//! rows. [`Comparison`] compares two runs. `html/` writes the HTML report.

mod compare;
mod error;
mod figures;
mod file;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "junit")]
mod junit;
mod markdown;
mod parse;
mod run;
mod run_scores;
#[cfg(feature = "csv")]
mod summary_csv;

#[doc(hidden)]
pub use compare::aligned;
pub(crate) use compare::other_code;
pub use compare::{
    Comparison, ComparisonBuilder, DifferenceTest, GroupComparison, IdentityComparison,
    MetricComparison, MetricDifference, PairedDifference, RunTotals, SampledRows, Sides, Verdict,
};
pub use error::{ResultsError, ResultsErrorKind};
#[doc(hidden)]
pub use figures::{Counts, MetricFigures};
pub(crate) use figures::{Unit, p_equals};
pub use file::Results;
#[doc(hidden)]
pub use file::{ForeignRow, ForeignRun, RowAttempt, write_foreign_rows};
#[cfg(feature = "html")]
pub use html::{HtmlReport, ReportRun};
pub use markdown::markdown;
#[doc(hidden)]
pub use markdown::{MAX_MARKDOWN_ROWS, annotation, does_not_pass, markdown_with_rows};
#[doc(hidden)]
pub use parse::parse_cell;
#[doc(hidden)]
pub use run::{RowIndex, manifest_of, read_rows};
pub use run_scores::RunScores;
#[cfg(feature = "csv")]
pub use summary_csv::summary_csv;

#[doc(hidden)]
pub use crate::evaluate::manifest::FORMAT;
pub use crate::evaluate::manifest::{
    DescribedFile, GitCommit, Library, Manifest, ManifestError, ProcessManifest, RunCosts,
    RunManifest, manifest_path,
};
pub use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};

use crate::messages::thousands;
