//! The strings in one column of a file, without the other columns.

use std::iter;
use std::path::Path;

use super::chunk::ChunkRows;
use super::error::DataError;
use super::format::Format;
use super::object_rows;
#[cfg(feature = "parquet")]
use super::parquet::ParquetRows;
use crate::in_order::in_order;

/// Returns the strings in a column, or under a key of JSON rows, up to the first row that cannot be read.
pub(crate) fn column_strings(file: &Path, format: Option<Format>, name: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let Ok(mut next) = chunks(file, format, name) else {
        return strings;
    };
    // The error ends the search.
    let _ = in_order(
        |chunk| strings_in(chunk, name),
        |(found, error)| {
            strings.extend(found);
            error.map_or(Ok(()), Err)
        },
        |pass| iter::from_fn(&mut next).try_for_each(pass),
    );
    strings
}

type NextChunk = Box<dyn FnMut() -> Option<Result<ChunkRows, DataError>>>;

fn chunks(file: &Path, format: Option<Format>, name: &str) -> Result<NextChunk, DataError> {
    #[cfg(not(feature = "parquet"))]
    let _ = name;
    #[cfg(feature = "parquet")]
    if format.or_else(|| Format::of(file)) == Some(Format::Parquet) {
        let mut rows = ParquetRows::of_column(file, name)?;
        return Ok(Box::new(move || rows.as_mut()?.next_chunk()));
    }
    let mut file = object_rows::open(file, format)?;
    Ok(Box::new(move || {
        Some(file.next_chunk()?.map(|chunk| chunk.rows))
    }))
}

fn strings_in(chunk: Result<ChunkRows, DataError>, name: &str) -> (Vec<String>, Option<DataError>) {
    let (mut strings, mut error) = (Vec::new(), None);
    match chunk {
        Err(unreadable) => error = Some(unreadable),
        Ok(chunk) => chunk.each(|row| {
            match row.and_then(|row| row.string(name)) {
                Ok(string) => strings.extend(string),
                Err(invalid) => error = Some(invalid),
            }
            error.is_none()
        }),
    }
    (strings, error)
}
