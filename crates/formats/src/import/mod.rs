//! Import of files from other programs.
//!
//! Each format has its own folder or file. `text.rs` reads JSON with `NaN`, `table.rs` creates rows, outcomes and metric
//! names, and `detect.rs` describes a file in a different format.

mod benchmarks;
mod detect;
mod folder;
mod frameworks;
#[cfg(feature = "inspect")]
mod inspect;
mod lm_eval;
mod otlp;
mod outputs;
mod table;
mod text;
mod trec;

use std::path::Path;

#[cfg(not(feature = "inspect"))]
use crate::NO_INSPECT;
use crate::results::write_foreign_rows;
use crate::{FormatError, Input};

use table::Converted;

pub use detect::{ForeignFormat, recognize};
#[doc(hidden)]
pub use folder::source_files;
pub use table::Epochs;
pub(crate) use text::{as_string, fields, present};

/// Converts a file from another program to a result file in JSON Lines.
///
/// This function also writes the manifest. It returns notes about anything unexpected.
///
/// All rows are kept in memory.
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
/// If the conversion fails, returns a [`FormatError`] with the file and the position in it.
pub fn import_file(
    format: ForeignFormat,
    epochs: Epochs,
    file: &Path,
    out: &Path,
) -> Result<Vec<String>, FormatError> {
    import_files(format, epochs, &[file], out)
}

/// Converts several files from another program to one result file.
///
/// Together, the files contain the rows; for example, TREC judgements and a TREC run.
///
/// # Errors
/// If the conversion fails, returns a [`FormatError`] with the file and the position in it.
#[doc(hidden)]
pub fn import_files(
    format: ForeignFormat,
    epochs: Epochs,
    files: &[&Path],
    out: &Path,
) -> Result<Vec<String>, FormatError> {
    let Converted { rows, run, notes } = folder::convert(format, epochs, files)?;
    write_foreign_rows(out, rows, run).map_err(|error| {
        let reason = format_args!("the converted rows cannot be written: {error}");
        FormatError::at(files[0], reason)
    })?;
    Ok(notes)
}

/// Converts one file, or the files of a format that has several.
fn convert(
    format: ForeignFormat,
    epochs: Epochs,
    files: &[&Path],
) -> Result<Converted, FormatError> {
    let file = files[0];
    let input = Input { file };
    let inputs: Vec<Input<'_>> = files.iter().map(|file| Input { file }).collect();
    let table = match format {
        #[cfg(feature = "inspect")]
        ForeignFormat::Inspect => inspect::import(file, epochs),
        #[cfg(not(feature = "inspect"))]
        ForeignFormat::Inspect => Err(FormatError::new(format_args!(
            "--from inspect: {NO_INSPECT}"
        ))),
        ForeignFormat::LmEval => lm_eval::import(input),
        ForeignFormat::Otlp => otlp::import(input),
        ForeignFormat::Atif => outputs::import_atif(input),
        ForeignFormat::Promptfoo => frameworks::import_promptfoo(input),
        ForeignFormat::Deepeval => frameworks::import_deepeval(input),
        ForeignFormat::Ragas => frameworks::import_ragas(input),
        ForeignFormat::Helm => benchmarks::import_helm(input),
        ForeignFormat::OpenaiBatch => outputs::import_openai_batch(input),
        ForeignFormat::Bfcl => benchmarks::import_bfcl(&inputs),
        ForeignFormat::Swebench => benchmarks::import_swebench(&inputs),
        ForeignFormat::Trec => trec::import(&inputs),
        ForeignFormat::Trn => trec::import_transcripts(&inputs),
    };
    Ok(table?.finish(epochs))
}
