//! Reads folders. The logs of several tasks become one run, and some formats consist of several files.

use std::fs;
use std::path::{Path, PathBuf};

use super::convert as convert_files;
use super::detect::ForeignFormat;
use super::detect::recognize;
use super::table::{Converted, Epochs};
use crate::FormatError;
use crate::messages::escape;

/// Replaces each folder in a list of paths with the files in it.
///
/// Files in a folder are only included if they have the given format.
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

/// Converts files, or the files of a folder.
pub(super) fn convert(
    format: ForeignFormat,
    epochs: Epochs,
    files: &[&Path],
) -> Result<Converted, FormatError> {
    let all = source_files(format, files)?;
    let all: Vec<&Path> = all.iter().map(PathBuf::as_path).collect();
    let is_folder = all != files;
    match format {
        ForeignFormat::Inspect | ForeignFormat::LmEval if is_folder => merge(format, epochs, &all),
        _ => convert_files(format, epochs, &all),
    }
}

/// Returns the files of a format in a folder and the folders in it, by name.
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
            // Links to folders may lead back.
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

/// Merges the logs of several tasks into one run. A row's id becomes `TASK:ID`, and its task an attribute.
fn merge(format: ForeignFormat, epochs: Epochs, files: &[&Path]) -> Result<Converted, FormatError> {
    let mut merged: Option<Converted> = None;
    let mut tasks: Vec<(String, &Path)> = Vec::new();
    for file in files {
        let mut log = convert_files(format, epochs, &[file])?;
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
        all.run.label = all
            .run
            .label
            .take()
            .filter(|it| run.label.as_ref() == Some(it));
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
