//! The places of spooled lines by row, in a temporary file, so that memory does not grow with the rows.
//!
//! Rows are nearly in input order: entries of rows that follow each other are written in blocks.

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::evaluate::files::TemporaryFile;

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
        let line = Self {
            offset: u64::from_le_bytes(*offset),
            length: u64::from_le_bytes(*length),
        };
        (line.length > 0).then_some(line)
    }
}

/// An index of spooled lines by row.
pub(super) struct LineIndex {
    /// The file beside which the temporary file is created.
    beside: PathBuf,
    /// `None` until there is a line.
    file: Option<BufWriter<TemporaryFile>>,
    /// The row after the last one that was recorded.
    next: u64,
    /// Whether the rows were recorded in order.
    pub(super) is_sorted: bool,
}

impl LineIndex {
    pub(super) fn new(beside: PathBuf) -> Self {
        Self {
            beside,
            file: None,
            next: 0,
            is_sorted: true,
        }
    }

    /// Records the line of a row.
    pub(super) fn insert(&mut self, row: u64, line: SpooledLine) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = TemporaryFile::anonymous_beside(&self.beside)?;
                none.insert(BufWriter::with_capacity(1 << 16, file))
            }
        };
        if row != self.next {
            self.is_sorted &= row > self.next;
            // Rows that are left out have an entry of zeros.
            let offset = row
                .checked_mul(ENTRY as u64)
                .ok_or(io::ErrorKind::FileTooLarge)?;
            file.seek(SeekFrom::Start(offset))?;
        }
        self.next = row + 1;
        file.write_all(&line.to_bytes())
    }

    /// Calls `each` with all lines in the order of the rows.
    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(SpooledLine) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        file.flush()?;
        // The next entry is not written where the last one was read.
        self.next = u64::MAX;
        let mut file = file.get_ref().file();
        let end = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let mut entries = BufReader::with_capacity(1 << 16, file);
        let mut entry = [0; ENTRY];
        for _ in 0..end / ENTRY as u64 {
            entries.read_exact(&mut entry)?;
            SpooledLine::read(&entry).map_or(Ok(()), &mut each)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, SpooledLine};

    /// The entries of a block and a half.
    const BLOCK: u64 = 6_144;

    fn line(row: u64) -> SpooledLine {
        SpooledLine {
            offset: 7 * row,
            length: row % 5 + 1,
        }
    }

    /// The lines of an index into which these rows were inserted, twice.
    fn lines(rows: &[u64]) -> Vec<SpooledLine> {
        let mut index = LineIndex::new(std::env::temp_dir().join("dsrs-line-index"));
        rows.iter()
            .try_for_each(|row| index.insert(*row, line(*row)))
            .unwrap();
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
            vec![BLOCK - 1, 0],
            vec![BLOCK, 0, BLOCK - 1],
            vec![10 * BLOCK, 3, 10 * BLOCK + 1, 10 * BLOCK - 1, 9 * BLOCK],
            vec![5, 100 * BLOCK, 300 * BLOCK],
            (0..5 * BLOCK).rev().collect(),
            // Rows are missing.
            (0..9 * BLOCK).filter(|row| row % 3 != 0).collect(),
        ];
        // First every row is far from the row before it; then the rows are nearly in order.
        orders.push(shuffled(30_011, 10_007).collect());
        orders.push((0..40_000).map(|row| row ^ 31).collect());
        for rows in orders {
            let mut sorted = rows.clone();
            sorted.sort_unstable();
            assert_eq!(
                lines(&rows),
                sorted.into_iter().map(line).collect::<Vec<_>>()
            );
        }
    }
}
