//! Reading the rows of a result file in blocks, which are made on all threads.

use std::path::Path;

use super::error::ResultsError;
use super::parse::UncheckedRow;
use super::scan::{Reads, Shape};
use crate::data::{DataError, NamedFile, read_objects};
use crate::evaluate::manifest::{self, MANIFEST_SUFFIX, manifest_path};
use crate::evaluate::report::ResultRow;

/// Returns an error if the file is a manifest, or if there is only the manifest of it.
fn check_is_no_manifest(file: &Path) -> Result<(), ResultsError> {
    let manifest = manifest_path(file);
    if !file.exists() && manifest.exists() {
        return Err(ResultsError::OnlyManifest {
            file: file.to_owned(),
            manifest,
        });
    }
    match file
        .to_str()
        .and_then(|path| path.strip_suffix(MANIFEST_SUFFIX))
    {
        Some(results) => {
            let (manifest, results) = (file.to_owned(), results.into());
            Err(ResultsError::IsManifest { manifest, results })
        }
        None => Ok(()),
    }
}

/// Rows of two files are matched by their ids.
pub(super) fn check_has_id(row: &ResultRow, has_id: bool) -> Result<(), ResultsError> {
    if has_id {
        Ok(())
    } else {
        Err(ResultsError::MissingId { at: row.at() })
    }
}

/// Reads the rows of a file in blocks, which are made on all threads, and calls `merge` with them in order. `add` adds a row to a
/// block, with whether it contains its id; the id of a row without one is its number. It may take the content of the row.
/// Returns the references of manifests that the rows contain.
#[doc(hidden)]
pub fn read_rows<'f, B: Send, E: From<ResultsError> + Send>(
    file: impl Into<NamedFile<'f>>,
    reads: Reads,
    new: impl Fn() -> B + Sync,
    add: impl Fn(&mut B, &mut ResultRow, bool) -> Result<(), E> + Sync,
    merge: impl FnMut(B) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    read_lines(file.into(), reads, |_| true, new, add, merge)
}

/// Reads the rows in the lines for which `is_read` returns true, as [`read_rows`].
pub(super) fn read_lines<B: Send, E: From<ResultsError> + Send>(
    file: NamedFile<'_>,
    reads: Reads,
    is_read: impl Fn(u64) -> bool + Sync,
    new: impl Fn() -> B + Sync,
    add: impl Fn(&mut B, &mut ResultRow, bool) -> Result<(), E> + Sync,
    mut merge: impl FnMut(B) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    check_is_no_manifest(file.path)?;
    manifest::check_version_of(file.path).map_err(ResultsError::from)?;
    let (mut complete, mut references) = (0, Vec::new());
    let new = || Block {
        rows: new(),
        scanned: ResultRow::default(),
        shape: Shape::new(reads),
        complete: 0,
        references: Vec::new(),
    };
    let add = |block: &mut Block<B>, mut row: ResultRow, has_id: bool| {
        block.references.extend(row.manifest.take());
        block.complete += 1;
        add(&mut block.rows, &mut row, has_id).map_err(Failure::Row)?;
        Ok::<_, Failure<E>>(row)
    };
    read_objects(
        file,
        is_read,
        new,
        |block, text, at| {
            let mut row = std::mem::take(&mut block.scanned);
            let is_scanned = block.shape.scan(text, at, &mut row).is_some();
            block.scanned = if is_scanned {
                add(block, row, true)?
            } else {
                row
            };
            Ok(is_scanned)
        },
        |block, row| {
            let has_id = row.has_id;
            let row = UncheckedRow::from(row)
                .check()
                .map_err(|error| Failure::Row(error.into()))?;
            add(block, row, has_id).map(|_| ())
        },
        |block, error| {
            complete += block.complete;
            references.extend(block.references);
            merge(block.rows).map_err(Failure::Row)?;
            match error {
                Some(Failure::Data(error)) => {
                    Err(Failure::Row(ResultsError::of_row(error, complete).into()))
                }
                Some(error) => Err(error),
                None => Ok(()),
            }
        },
    )
    .map_err(|error| match error {
        Failure::Data(error) => ResultsError::from(error).into(),
        Failure::Row(error) => error,
    })?;
    Ok(references)
}

/// Rows that follow each other.
struct Block<B> {
    rows: B,
    /// The memory of the last row that was scanned.
    scanned: ResultRow,
    shape: Shape,
    complete: u64,
    references: Vec<String>,
}

/// Why a block ends.
enum Failure<E> {
    Data(DataError),
    Row(E),
}

impl<E> From<DataError> for Failure<E> {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}
