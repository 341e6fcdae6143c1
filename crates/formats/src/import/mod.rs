//! Conversion of the files of other programs to result files.
//!
//! Each format has a folder or file. `text.rs` reads JSON with `NaN`, `scores.rs` makes outcomes and names of metrics, and `detect.rs`
//! describes a file of another format.

mod atif;
mod detect;
mod format;
#[cfg(feature = "inspect")]
mod inspect;
mod lm_eval;
mod otlp;
mod scores;
mod text;

use std::path::Path;

use crate::error::FormatError;
#[cfg(not(feature = "inspect"))]
use crate::error::NO_INSPECT;

pub use format::{Epochs, ForeignFormat};
pub(crate) use text::as_string;

/// Converts a file to a result file of JSON Lines with its manifest, and returns notes on what a reader may not expect. All rows
/// are in memory.
///
/// ```
/// use dsrs_metrics::runs::formats::{Epochs, ForeignFormat, import_file};
/// use dsrs_metrics::results::Results;
///
/// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-import-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let [samples, out] = ["samples_sums_2026-11-28.jsonl", "sums.jsonl"].map(|name| folder.join(name));
/// std::fs::write(&samples, r#"{"doc_id": 7, "target": "4", "filtered_resps": ["5"], "metrics": ["acc"], "acc": 0.0}"#)?;
///
/// let notes = import_file(ForeignFormat::LmEval, Epochs::Repeats, &samples, &out)?;
/// assert!(notes[0].ends_with("the version of the task and the direction of its metrics are unknown"));
/// assert_eq!(Results::read(&out)?.row("7").unwrap().scores["acc"].value, Some(0.0));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FormatError`], with the file and the place in it.
pub fn import_file(
    format: ForeignFormat,
    epochs: Epochs,
    file: &Path,
    out: &Path,
) -> Result<Vec<String>, FormatError> {
    match format {
        #[cfg(feature = "inspect")]
        ForeignFormat::Inspect => inspect::import(file, out, epochs),
        #[cfg(not(feature = "inspect"))]
        ForeignFormat::Inspect => {
            let _ = epochs;
            Err(FormatError::new(format_args!(
                "--from inspect: {NO_INSPECT}"
            )))
        }
        ForeignFormat::LmEval => lm_eval::import(file, out),
        ForeignFormat::Otlp => otlp::import(file, out),
        ForeignFormat::Atif => atif::import(file, out),
    }
}
