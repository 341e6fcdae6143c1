//! The lines of rows before they are exported: in memory, and in the spool file.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use crate::evaluate::files::TemporaryFile;
use crate::in_order::in_order;

/// The size of a chunk of lines, in bytes.
pub(super) const CHUNK: u64 = 1 << 20;

/// The size of an entry in bytes: offset and length, both little-endian. A row without a line has length 0.
const ENTRY: usize = 16;

/// The place of a line in the spool file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpooledLine {
    pub(super) offset: u64,
    /// In bytes, greater than 0.
    pub(super) length: u64,
}

impl SpooledLine {
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
    /// The file next to which the temporary file is created.
    beside: PathBuf,
    /// `None` until there is a line.
    file: Option<BufWriter<TemporaryFile>>,
    /// The row after the last one that was recorded.
    next: u64,
    /// `true` if the rows were recorded in order.
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
            // Skipped rows have an entry of zeros.
            let offset = row
                .checked_mul(ENTRY as u64)
                .ok_or(io::ErrorKind::FileTooLarge)?;
            file.seek(SeekFrom::Start(offset))?;
        }
        self.next = row + 1;
        file.write_all(&line.offset.to_le_bytes())?;
        file.write_all(&line.length.to_le_bytes())
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
        // The next entry is written elsewhere than the last one was read.
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

    /// Inserts these rows into an index and returns its lines, twice.
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

/// The lines of rows, with line breaks, in the order in which the rows finished.
#[derive(Default)]
pub(crate) struct Lines {
    pub(super) rows: Vec<(u64, Range<usize>)>,
    pub(crate) text: Vec<u8>,
}

impl Lines {
    /// Adds the line of a row; `write` appends it.
    pub(crate) fn push(&mut self, row: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        self.text.push(b'\n');
        self.rows.push((row, start..self.text.len()));
    }

    /// Adds a string under a key to the last row's object.
    pub(super) fn add_to_last(&mut self, key: &str, value: &str) {
        let last = self
            .rows
            .iter()
            .enumerate()
            .max_by_key(|(_, (row, _))| *row);
        let Some((position, _)) = last else { return };
        let (row, place) = self.rows.swap_remove(position);
        let mut line = self.text[place].to_owned();
        // Without the closing brace and the line break.
        line.truncate(line.len().saturating_sub(2));
        self.push(row, |text| {
            text.extend_from_slice(&line);
            text.extend_from_slice(format!(",\"{key}\":\"{value}\"}}").as_bytes());
        });
    }

    /// Moves all lines of another list to the end of this one.
    pub(super) fn append(&mut self, other: &mut Self) {
        let start = self.text.len();
        let moved = |(row, Range { start: from, end }): (u64, _)| (row, start + from..start + end);
        self.rows.extend(other.rows.drain(..).map(moved));
        self.text.append(&mut other.text);
    }
}

/// A reader of the spooled lines in input order.
pub(super) struct SpoolReader<'a> {
    file: &'a File,
    lines: &'a mut LineIndex,
}

/// Consecutive lines.
pub(super) struct Chunk {
    text: Vec<u8>,
    /// The place of each line in the text.
    lines: Vec<Range<usize>>,
}

impl Chunk {
    /// Reads lines; those adjacent in the file are read together.
    fn read(mut file: &File, places: &[SpooledLine]) -> io::Result<Self> {
        let to_usize = |bytes: u64| usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge);
        let bytes = to_usize(places.iter().map(|line| line.length + 1).sum())?;
        let (mut text, mut lines) = (Vec::with_capacity(bytes), Vec::with_capacity(places.len()));
        for adjacent in places.chunk_by(|a, b| a.offset + a.length + 1 == b.offset) {
            let [first, ..] = adjacent else { continue };
            let mut length = 0;
            for line in adjacent {
                let start = text.len() + to_usize(line.offset - first.offset)?;
                lines.push(start..start + to_usize(line.length)?);
                length += line.length + 1;
            }
            file.seek(SeekFrom::Start(first.offset))?;
            if file.take(length).read_to_end(&mut text)? as u64 != length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Self { text, lines })
    }

    /// Returns the text, and the places of the lines in it.
    #[cfg(feature = "csv")]
    pub(super) fn into_parts(self) -> io::Result<(String, Vec<Range<usize>>)> {
        Ok((
            String::from_utf8(self.text).map_err(io::Error::other)?,
            self.lines,
        ))
    }
}

impl<'a> SpoolReader<'a> {
    pub(super) fn new(file: &'a File, lines: &'a mut LineIndex) -> Self {
        Self { file, lines }
    }

    /// Calls a function with each line, without its line break.
    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_full = |_, bytes| bytes >= CHUNK;
        self.map_chunks(is_full, Ok, |chunk| {
            let mut lines = chunk.lines.into_iter();
            lines.try_for_each(|place| each(&chunk.text[place]))
        })
    }

    /// Calls `work` with chunks of lines on all threads, and `each` with the results in line order. `is_full` decides
    /// where a chunk ends, given its number of lines and bytes.
    pub(super) fn map_chunks<R: Send>(
        &mut self,
        is_full: impl Fn(usize, u64) -> bool,
        work: impl Fn(Chunk) -> io::Result<R> + Sync,
        mut each: impl FnMut(R) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self { file, lines } = self;
        in_order(
            work,
            |result| each(result?),
            |pass| {
                let (mut places, mut bytes) = (Vec::new(), 0);
                lines.for_each(|line| {
                    places.push(line);
                    bytes += line.length;
                    if is_full(places.len(), bytes) {
                        pass(Chunk::read(file, &places)?)?;
                        places.clear();
                        bytes = 0;
                    }
                    Ok(())
                })?;
                if places.is_empty() {
                    Ok(())
                } else {
                    pass(Chunk::read(file, &places)?)
                }
            },
        )
    }
}
