//! The places of spooled lines by row, in a temporary file, so that memory does not grow with the rows.
//!
//! Rows finish nearly in input order: the entries of the last rows are in memory, and earlier ones are
//! written to the file in blocks. A row that is later than that is written by itself.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::temporary_file::TemporaryFile;

/// The rows whose entries are in memory (128 KiB).
const WINDOW: u64 = 8_192;

/// The bytes of an entry: offset and length, both little-endian. The length of a row without a line is 0.
const ENTRY: usize = 16;

/// The place of a line in the spool file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpooledLine {
    pub(super) offset: u64,
    /// In bytes, greater than 0.
    pub(super) length: u64,
}

impl SpooledLine {
    fn to_bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// Returns the line of an entry, or `None` for a row without a line.
    fn read(entry: &[u8]) -> Option<Self> {
        let (offset, length) = (entry.first_chunk()?, entry.last_chunk()?);
        let line =
            Self { offset: u64::from_le_bytes(*offset), length: u64::from_le_bytes(*length) };
        (line.length > 0).then_some(line)
    }
}

/// An index of spooled lines by row.
pub(super) struct LineIndex {
    /// The file beside which the temporary file is created.
    beside: PathBuf,
    /// `None` while all rows are in the window.
    file: Option<TemporaryFile>,
    /// The row of the first entry of the window. No later row than those of the window is in the file.
    first: u64,
    window: Vec<u8>,
}

impl LineIndex {
    pub(super) fn new(beside: PathBuf) -> Self {
        Self { beside, file: None, first: 0, window: Vec::new() }
    }

    /// Records the line of a row.
    pub(super) fn insert(&mut self, row: u64, line: SpooledLine) -> io::Result<()> {
        if row < self.first {
            return write_at(&mut self.file, row, &line.to_bytes());
        }
        if row - self.first >= WINDOW {
            self.move_window(row - WINDOW / 2)?;
        }
        let start = offset(row - self.first)?;
        if self.window.len() < start + ENTRY {
            self.window.resize(start + ENTRY, 0);
        }
        self.window[start..start + ENTRY].copy_from_slice(&line.to_bytes());
        Ok(())
    }

    /// Moves the window so that it begins at `row`, and writes the entries that are no longer in it.
    fn move_window(&mut self, row: u64) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(TemporaryFile::anonymous_beside(&self.beside)?);
        }
        let written = offset((row - self.first).min(WINDOW))?.min(self.window.len());
        write_at(&mut self.file, self.first, &self.window[..written])?;
        self.window.drain(..written);
        self.first = row;
        Ok(())
    }

    /// Calls `each` with all lines in the order of the rows.
    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(SpooledLine) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(TemporaryFile { file, .. }) = &mut self.file {
            // The last rows before the window may have no line.
            file.set_len(self.first * ENTRY as u64)?;
            file.seek(SeekFrom::Start(0))?;
            let mut entries = BufReader::with_capacity(1 << 16, file);
            let mut entry = [0; ENTRY];
            for _ in 0..self.first {
                entries.read_exact(&mut entry)?;
                SpooledLine::read(&entry).map_or(Ok(()), &mut each)?;
            }
        }
        self.window.chunks_exact(ENTRY).filter_map(SpooledLine::read).try_for_each(each)
    }
}

fn offset(row: u64) -> io::Result<usize> {
    let offset = usize::try_from(row).ok().and_then(|row| row.checked_mul(ENTRY));
    offset.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

fn write_at(file: &mut Option<TemporaryFile>, row: u64, entries: &[u8]) -> io::Result<()> {
    let Some(TemporaryFile { file, .. }) = file else {
        return Ok(());
    };
    let offset = row.checked_mul(ENTRY as u64).ok_or(io::ErrorKind::FileTooLarge)?;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(entries)
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, SpooledLine, WINDOW};

    fn line(row: u64) -> SpooledLine {
        SpooledLine { offset: 7 * row, length: row % 5 + 1 }
    }

    /// The lines of an index into which these rows were inserted, twice.
    fn lines(rows: &[u64]) -> Vec<SpooledLine> {
        let mut index = LineIndex::new(std::env::temp_dir().join("dsrs-line-index"));
        rows.iter().try_for_each(|row| index.insert(*row, line(*row))).unwrap();
        let mut read = || {
            let mut lines = Vec::new();
            index.for_each(|line| {
                lines.push(line);
                Ok(())
            })?;
            std::io::Result::Ok(lines)
        };
        let (first, second) = (read().unwrap(), read().unwrap());
        assert_eq!(first, second);
        first
    }

    #[test]
    fn lines_are_in_the_order_of_the_rows() {
        let shuffled = |rows: u64, step: u64| (0..rows).map(move |row| row * step % rows);
        let mut orders: Vec<Vec<u64>> = vec![
            vec![],
            vec![0],
            vec![WINDOW - 1, 0],
            vec![WINDOW, 0, WINDOW - 1],
            vec![10 * WINDOW, 3, 10 * WINDOW + 1, 10 * WINDOW - 1, 9 * WINDOW],
            vec![5, 100 * WINDOW, 300 * WINDOW],
            (0..5 * WINDOW).rev().collect(),
            // Rows are missing.
            (0..9 * WINDOW).filter(|row| row % 3 != 0).collect(),
        ];
        // Every row is far from the one before it, and nearly in order.
        orders.push(shuffled(30_011, 10_007).collect());
        orders.push((0..40_000).map(|row| row ^ 31).collect());
        for rows in orders {
            let mut sorted = rows.clone();
            sorted.sort_unstable();
            assert_eq!(lines(&rows), sorted.into_iter().map(line).collect::<Vec<_>>());
        }
    }

    #[test]
    fn trap_20_memory_is_that_of_the_window() {
        let mut index = LineIndex::new(std::env::temp_dir().join("dsrs-line-index"));
        for row in 0..200_000 {
            index.insert(row ^ 63, line(row)).unwrap();
        }
        assert!(index.window.capacity() <= 2 * 16 * 8_192, "{}", index.window.capacity());
        assert!(index.first > 190_000, "{}", index.first);
    }
}
