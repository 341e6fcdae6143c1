//! The bytes of an open file, with the file name and row limit that every format reader needs.

use std::io::{self, BufRead, Read as _};
use std::path::Path;
use std::sync::Arc;

use super::encoding::{Encoding, decompressed};
use super::error::DataError;
use crate::contract::Origin;
use crate::json::size::MAX_VALUES;

/// The default limit for one row, in bytes: 64 MiB. Change it with
/// [`DataReader::with_row_limit`](super::DataReader::with_row_limit).
///
/// A longer row almost always means that a line break is missing or a quote is unclosed. Without the limit, the rest of
/// the file would be read into memory.
pub const ROW_LIMIT: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How many bytes are needed to tell if a file is compressed: a byte order mark and the longest of [`COMPRESSED`].
const START: usize = BYTE_ORDER_MARK.len() + 5;

/// The first bytes of files that are compressed in another way than this build reads.
const COMPRESSED: [(&[u8], &str); 3] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ", "xz"),
];

const HTML: &str = "it may be the error page of a download; download the file again";

/// How other files start, what they are, and what to do.
const OTHERS: [(&[u8], &str, &str); 7] = [
    (
        b"version https://git-lfs",
        "a Git LFS pointer",
        "run `git lfs pull` to get the file",
    ),
    (b"<!doctype html", "an HTML page", HTML),
    (b"<html", "an HTML page", HTML),
    (
        b"PAR1",
        "Parquet",
        "name the file .parquet, or pass --format parquet",
    ),
    (
        b"PK\x03\x04",
        "a zip archive",
        "save a workbook as CSV, or read an inspect log with --from inspect",
    ),
    (b"\xff\xfe", "UTF-16", "pass --encoding utf-16"),
    (b"\xfe\xff", "UTF-16", "pass --encoding utf-16"),
];

/// An open file of rows.
pub(super) struct Input {
    pub(super) file: Arc<Path>,
    pub(super) reader: Box<dyn BufRead + Send>,
    /// The maximum number of bytes in one row.
    pub(super) row_limit: usize,
}

impl Input {
    /// Opens the input at the first byte after any byte order mark.
    pub(super) fn new(
        file: Arc<Path>,
        reader: Box<dyn BufRead + Send>,
        row_limit: usize,
        encoding: Encoding,
    ) -> Result<Self, DataError> {
        let unreadable = |reason| DataError::unreadable(&file, &reason);
        let reader = with_whole_start(reader).and_then(decompressed);
        let mut reader = encoding.decoded(reader.map_err(unreadable)?);
        if reader
            .fill_buf()
            .map_err(unreadable)?
            .starts_with(BYTE_ORDER_MARK)
        {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        // No row starts with the first bytes of a compressed file.
        let start = reader.fill_buf().map_err(unreadable)?;
        let compressed = COMPRESSED
            .iter()
            .find(|(magic, _)| start.starts_with(magic));
        if let Some((_, found)) = compressed {
            return Err(DataError::compressed(&file, found));
        }
        let is_other = |magic: &[u8]| {
            let found = start.get(..magic.len());
            let is_html = magic.starts_with(b"<");
            found.is_some_and(|it| it == magic || is_html && it.eq_ignore_ascii_case(magic))
        };
        match OTHERS.iter().find(|(magic, ..)| is_other(magic)) {
            Some((_, found, advice)) => Err(DataError::invalid_file(
                &file,
                format_args!("expected rows, found {found}; {advice}"),
            )),
            None => Ok(Self {
                file,
                reader,
                row_limit,
            }),
        }
    }

    /// Returns the maximum number of JSON values in one row.
    pub(super) fn value_limit(&self) -> usize {
        value_limit(self.row_limit)
    }

    /// Returns the location of a line, counted from 1.
    pub(super) fn at(&self, line: u64) -> Origin {
        Origin {
            file: Arc::clone(&self.file),
            line,
        }
    }

    pub(super) fn unreadable(&self, reason: &io::Error) -> DataError {
        DataError::unreadable(&self.file, reason)
    }
}

/// Returns the maximum number of values in one row. It grows with the byte limit.
pub(super) fn value_limit(row_limit: usize) -> usize {
    row_limit.max(ROW_LIMIT) / (ROW_LIMIT / MAX_VALUES)
}

/// Returns a reader whose buffer has the first [`START`] bytes, or the whole input if it is shorter. A pipe may return
/// fewer bytes at first.
fn with_whole_start(mut reader: Box<dyn BufRead + Send>) -> io::Result<Box<dyn BufRead + Send>> {
    if reader.fill_buf()?.len() >= START {
        return Ok(reader);
    }
    let mut start = Vec::with_capacity(START);
    reader.by_ref().take(START as u64).read_to_end(&mut start)?;
    Ok(Box::new(io::Cursor::new(start).chain(reader)))
}
