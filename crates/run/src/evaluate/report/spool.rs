//! The lines of rows before they are exported: in memory, and in the spool file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;

use super::line_index::LineIndex;
#[cfg(feature = "csv")]
use crate::in_order::in_order;

/// The lines of rows, with line breaks, in the order in which the rows finished.
#[derive(Default)]
pub(crate) struct Lines {
    pub(super) rows: Vec<(u64, Range<usize>)>,
    pub(crate) text: Vec<u8>,
}

impl Lines {
    /// Adds the line of a row, which a function appends.
    pub(crate) fn push(&mut self, row: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        self.text.push(b'\n');
        self.rows.push((row, start..self.text.len()));
    }

    /// Adds a key with a string to the object of the last row.
    pub(super) fn add_to_last(&mut self, key: &str, value: &str) {
        let last = self.rows.iter().enumerate().max_by_key(|(_, (row, _))| *row);
        let Some((position, _)) = last else { return };
        let (row, place) = self.rows.swap_remove(position);
        let mut line = self.text[place].to_owned();
        // Without the line break and the brace.
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
    file: BufReader<&'a File>,
    offset: u64,
    lines: &'a mut LineIndex,
    buffer: Vec<u8>,
}

impl<'a> SpoolReader<'a> {
    pub(super) fn new(file: &'a File, lines: &'a mut LineIndex) -> Self {
        let file = BufReader::with_capacity(1 << 16, file);
        Self { file, offset: 0, lines, buffer: Vec::new() }
    }

    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self { file, offset, lines, buffer } = self;
        lines.for_each(|line| {
            // A relative seek keeps the buffer for adjacent lines.
            file.seek_relative(line.offset.cast_signed() - offset.cast_signed())?;
            let length = usize::try_from(line.length).map_err(|_| io::ErrorKind::FileTooLarge)?;
            buffer.resize(length, 0);
            file.read_exact(buffer)?;
            *offset = line.offset + line.length;
            each(buffer)
        })
    }
}

/// Lines that follow each other.
#[cfg(feature = "csv")]
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) text: String,
    /// The end of each line in the text.
    ends: Vec<usize>,
}

#[cfg(feature = "csv")]
impl Chunk {
    fn push(&mut self, line: &[u8]) -> io::Result<()> {
        self.text.push_str(std::str::from_utf8(line).map_err(io::Error::other)?);
        self.ends.push(self.text.len());
        Ok(())
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        Self::lines_of(&self.text, &self.ends)
    }

    pub(super) fn lines_of<'t>(text: &'t str, ends: &[usize]) -> impl Iterator<Item = &'t str> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends).map(|(start, end)| &text[start..*end])
    }

    #[cfg(feature = "parquet")]
    pub(super) fn into_parts(self) -> (String, Vec<usize>) {
        (self.text, self.ends)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(feature = "csv")]
impl SpoolReader<'_> {
    /// Calls `work` with chunks of the lines on all threads, and `each` with the results in the order of the lines. `is_full`
    /// decides where a chunk ends.
    pub(super) fn map_chunks<R: Send>(
        &mut self,
        is_full: impl Fn(&Chunk) -> bool,
        work: impl Fn(Chunk) -> io::Result<R> + Sync,
        mut each: impl FnMut(R) -> io::Result<()>,
    ) -> io::Result<()> {
        in_order(
            work,
            |result| each(result?),
            |pass| {
                let mut chunk = Chunk::default();
                self.for_each(|line| {
                    chunk.push(line)?;
                    match is_full(&chunk) {
                        true => pass(std::mem::take(&mut chunk)),
                        false => Ok(()),
                    }
                })?;
                if chunk.len() > 0 { pass(chunk) } else { Ok(()) }
            },
        )
    }
}
