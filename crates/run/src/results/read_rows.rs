//! Reading the rows of a result file, which are decoded on all threads.

use std::path::Path;

use super::error::ResultsError;
use super::json_row;
use super::parse::UncheckedRow;
#[cfg(feature = "parquet")]
use crate::data::embedded_manifest;
use crate::data::{DataError, Format, NamedFile, ObjectRows, column_strings, read_objects};
use crate::evaluate::manifest::{
    self, MANIFEST_SUFFIX, Manifest, ManifestError, REFERENCE_KEY, manifest_path,
};
use crate::evaluate::report::ResultRow;

/// Returns an error if the file is a manifest, or if there is only the manifest of it.
fn check_is_no_manifest(file: &Path) -> Result<(), ResultsError> {
    let manifest = manifest_path(file);
    if !file.exists() && manifest.exists() {
        return Err(ResultsError::read(format!(
            "{}: no such file, only its manifest {}; restore the result file, or score again",
            file.display(),
            manifest.display()
        )));
    }
    match file
        .to_str()
        .and_then(|path| path.strip_suffix(MANIFEST_SUFFIX))
    {
        Some(results) => {
            let manifest = file.display();
            Err(ResultsError::read(format!(
                "{manifest}: expected a result file, found its manifest; write {results}"
            )))
        }
        None => Ok(()),
    }
}

/// Rows of two files are matched by their ids.
pub(super) fn check_has_id(row: &ResultRow, has_id: bool) -> Result<(), ResultsError> {
    if has_id {
        Ok(())
    } else {
        Err(ResultsError::read(format!(
            "{}: no `id` in the row; write the file again with `score --out`, or add the ids",
            row.at()
        )))
    }
}

/// Reads the rows of a file, and calls a function with each in order, and with whether it contains its id; the id of a row without
/// one is its number. Returns the references of manifests that the rows contain.
#[doc(hidden)]
pub fn read_rows<'f, E: From<ResultsError>>(
    file: impl Into<NamedFile<'f>>,
    each: impl FnMut(ResultRow, bool) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    read_lines(file.into(), |_| true, each)
}

/// Reads the rows in the lines for which `is_read` returns true, as [`read_rows`].
pub(super) fn read_lines<E: From<ResultsError>>(
    file: NamedFile<'_>,
    is_read: impl Fn(u64) -> bool + Sync,
    mut each: impl FnMut(ResultRow, bool) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    check_is_no_manifest(file.path)?;
    manifest::check_version_of(file.path).map_err(ResultsError::from)?;
    let (mut complete, mut references) = (0, Vec::new());
    read_objects(
        file,
        is_read,
        |text, at| Some((json_row::read(text, at)?, true)),
        |row| {
            let has_id = row.has_id;
            let row = UncheckedRow::from(row).check().map_err(Failure::Results)?;
            Ok((row, has_id))
        },
        |row| {
            let (mut row, has_id) = row.map_err(|error| match error {
                Failure::Data(error) => ResultsError::of_row(error, complete),
                Failure::Results(error) => error,
            })?;
            references.extend(row.manifest.take());
            complete += 1;
            each(row, has_id)
        },
    )?;
    Ok(references)
}

/// Why a row cannot be read.
enum Failure {
    Data(DataError),
    Results(ResultsError),
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

/// Returns the manifest of a result file, or the reason why there is none. `references` are the references that its rows
/// contain.
#[doc(hidden)]
pub fn read_manifest(
    file: &Path,
    references: &[String],
) -> Result<Result<Box<Manifest>, String>, ManifestError> {
    if file.as_os_str() == "-" {
        return Ok(Err("standard input has no manifest".to_owned()));
    }
    #[cfg(feature = "parquet")]
    let embedded = match Format::of(file) {
        Some(Format::Parquet) => embedded_manifest(file),
        _ => None,
    };
    #[cfg(not(feature = "parquet"))]
    let embedded = None;
    manifest::find(file, references, embedded)
}

/// Returns the manifest of a file of rows, or the reason why there is none; `None` if it is not a result file. A row that
/// cannot be read ends the search.
///
/// # Errors
/// [`ManifestError`] if the file is not the one that its manifest describes.
#[doc(hidden)]
pub fn manifest_of(
    file: &Path,
    format: Option<Format>,
) -> Result<Option<Result<Box<Manifest>, String>>, ManifestError> {
    manifest::check_version_of(file)?;
    let first = ObjectRows::open(file, format)
        .ok()
        .and_then(|mut rows| rows.next()?.ok());
    if !first.is_some_and(|row| row.is_result) && !manifest_path(file).is_file() {
        return Ok(None);
    }
    // The last row of each run contains the reference of its manifest.
    let mut references = column_strings(file, format, REFERENCE_KEY);
    references.retain(|reference| !reference.is_empty());
    read_manifest(file, &references).map(Some)
}
