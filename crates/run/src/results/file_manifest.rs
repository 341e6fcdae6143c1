//! The manifest of a result file: beside it, in it, or missing.

use std::path::Path;

#[cfg(feature = "parquet")]
use crate::data::embedded_manifest;
use crate::data::{Format, ObjectRows, column_strings};
use crate::evaluate::manifest::{self, Manifest, ManifestError, REFERENCE_KEY, manifest_path};

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
