//! Conversion of the files of other programs to result files, row by row.
//!
//! Each format has a folder or file. `places.rs` has the places of the parts of rows, which a file may have in any order, and
//! `text.rs` reads JSON with `NaN`. `names.rs` makes names of metrics, `scores.rs` outcomes, `detect.rs` describes a file of
//! another format.

mod atif;
mod detect;
mod error;
#[cfg(feature = "inspect")]
mod inspect;
mod lm_eval;
mod names;
mod otlp;
mod places;
mod scores;
mod text;

use std::path::Path;

pub use error::ImportError;

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// A log of inspect_ai: `.eval` or `.json`.
    Inspect,
    /// The samples of a task of lm-eval: `samples_TASK_DATE.jsonl`.
    LmEval,
    /// Spans of OpenTelemetry, in OTLP's JSON.
    Otlp,
    /// Trajectories of the Agent Trajectory Interchange Format.
    Atif,
}

/// What the epochs of a log become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epochs {
    /// Repeats of one row, whose score is their mean.
    Repeats,
    /// Rows of their own, to be scored again.
    Rows,
}

/// Converts a file to a result file of JSON Lines with its manifest, and returns notes on what a reader may not expect. The memory
/// that it takes is that of the longest row, and some 50 bytes for each.
///
/// # Errors
/// [`ImportError`], with the file and the place in it.
pub fn import(
    format: ForeignFormat,
    epochs: Epochs,
    file: &Path,
    out: &Path,
) -> Result<Vec<String>, ImportError> {
    match format {
        #[cfg(feature = "inspect")]
        ForeignFormat::Inspect => inspect::import(file, out, epochs),
        #[cfg(not(feature = "inspect"))]
        ForeignFormat::Inspect => {
            let _ = epochs;
            Err(ImportError::NoInspect)
        }
        ForeignFormat::LmEval => lm_eval::import(file, out),
        ForeignFormat::Otlp => otlp::import(file, out),
        ForeignFormat::Atif => atif::import(file, out),
    }
}
