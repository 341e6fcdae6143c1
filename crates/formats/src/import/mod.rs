//! Imports files from other programs.
//!
//! Each format has its own folder or file. If a folder contains the logs of several tasks, they become one run; some
//! formats consist of several files. `text.rs` reads JSON with `NaN`, `table.rs` creates rows, outcomes and metric
//! names, and `detect.rs` describes a file in a different format.

mod benchmarks;
mod detect;
mod frameworks;
#[cfg(feature = "inspect")]
mod inspect;
mod lm_eval;
mod otlp;
mod outputs;
mod table;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(not(feature = "inspect"))]
use crate::NO_INSPECT;
use crate::messages::escape;
use crate::results::write_foreign_rows;
use crate::{FormatError, Input};

use table::Converted;

pub use detect::{ForeignFormat, recognize};
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
/// The files belong together: for example, one contains TREC judgements and the other a TREC run.
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
    let Converted { rows, run, notes } = convert_all(format, epochs, files)?;
    write_foreign_rows(out, rows, run).map_err(|error| {
        let reason = format_args!("the converted rows cannot be written: {error}");
        FormatError::at(files[0], reason)
    })?;
    Ok(notes)
}

/// Converts one file, or all files if the format consists of several.
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
        ForeignFormat::Trec => outputs::import_trec(&inputs),
        ForeignFormat::Trn => outputs::import_transcripts(&inputs),
    };
    let table = table.map_err(|error| detect::or_other_format(format, files, error))?;
    Ok(table.finish(epochs))
}

/// Replaces each folder in a list of paths with the files in it.
///
/// Files in a folder are included only if they have the given format.
///
/// # Errors
/// Returns a [`FormatError`] if a folder cannot be read or contains no file of this format.
#[doc(hidden)]
pub fn source_files(format: ForeignFormat, files: &[&Path]) -> Result<Vec<PathBuf>, FormatError> {
    let mut all = Vec::new();
    for file in files {
        match file.is_dir() {
            true => all.extend(files_of(format, file)?),
            false => all.push(file.to_path_buf()),
        }
    }
    Ok(all)
}

/// Converts files, or the files in a folder.
fn convert_all(
    format: ForeignFormat,
    epochs: Epochs,
    files: &[&Path],
) -> Result<Converted, FormatError> {
    let all = source_files(format, files)?;
    let all: Vec<&Path> = all.iter().map(PathBuf::as_path).collect();
    let is_folder = all != files;
    match format {
        ForeignFormat::Inspect | ForeignFormat::LmEval if is_folder => merge(format, epochs, &all),
        _ => convert(format, epochs, &all),
    }
}

/// Returns the files of a format in a folder and its subfolders, sorted by name.
fn files_of(format: ForeignFormat, folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let is_log = |path: &Path| recognize(path).is_some_and(|it| it.contains("--from inspect"));
    let is_read = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match format {
            ForeignFormat::Inspect => {
                name.ends_with(".eval") || (name.ends_with(".json") && is_log(path))
            }
            ForeignFormat::LmEval => name.starts_with("samples_") && name.ends_with(".jsonl"),
            ForeignFormat::Helm => name == "per_instance_stats.json",
            ForeignFormat::Bfcl | ForeignFormat::Swebench => {
                name.ends_with(".json") || name.ends_with(".jsonl")
            }
            ForeignFormat::Trec => !name.starts_with('.'),
            _ => false,
        }
    };
    let unreadable = |error| FormatError::at(folder, error);
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            // Links to folders can form a cycle.
            if entry.file_type().map_err(unreadable)?.is_dir() {
                folders.push(path);
            } else if path.is_file() && is_read(&path) {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    match (&*found, format) {
        ([], _) => Err(FormatError::at(
            folder,
            "no file of this format in the folder; pass the files",
        )),
        ([_, second, ..], ForeignFormat::Helm) => Err(FormatError::at(
            second,
            "found several runs in the folder; pass a folder with only one run",
        )),
        _ => Ok(found),
    }
}

/// Merges the logs of several tasks into one run. A row's id becomes `TASK:ID`, and its task becomes an attribute.
fn merge(format: ForeignFormat, epochs: Epochs, files: &[&Path]) -> Result<Converted, FormatError> {
    let mut merged: Option<Converted> = None;
    let mut tasks: Vec<(String, &Path)> = Vec::new();
    for file in files {
        let mut log = convert(format, epochs, &[file])?;
        let task = log.run.tags.get("task").cloned().unwrap_or_default();
        if let Some((_, first)) = tasks.iter().find(|(other, _)| *other == task) {
            let (task, first) = (escape::name(&task), first.display());
            return Err(FormatError::at(
                file,
                format_args!(
                    "duplicate log for the task `{task}`, first in {first}; keep only one in the folder"
                ),
            ));
        }
        for row in &mut log.rows {
            row.id = format!("{task}:{}", row.id);
            row.attributes.insert("task", task.clone());
        }
        for note in &mut log.notes {
            *note = format!("{}: {note}", file.display());
        }
        tasks.push((task, file));
        let Some(all) = &mut merged else {
            merged = Some(log);
            continue;
        };
        let run = log.run;
        all.rows.extend(log.rows);
        all.notes.extend(log.notes);
        all.run.is_partial |= run.is_partial;
        all.run.repeats = all.run.repeats.max(run.repeats);
        if all.run.label != run.label {
            all.run.label = None;
        }
        let tags = &mut all.run.tags;
        tags.retain(|name, value| run.tags.get(name) == Some(value));
        for (name, identity) in run.metrics {
            match all.run.metrics.get_mut(&name) {
                Some(first) if first.direction() != identity.direction() => {
                    let name = escape::name(&name);
                    return Err(FormatError::at(
                        file,
                        format_args!(
                            "lower scores of `{name}` are better in some tasks and worse in others; pass only files of the same kind"
                        ),
                    ));
                }
                Some(first) => first.join(&identity),
                None => drop(all.run.metrics.insert(name, identity)),
            }
        }
    }
    merged.ok_or_else(|| FormatError::new("no file"))
}
