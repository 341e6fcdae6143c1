//! The lines of rows before they are exported: in memory, and in the spool file.

use std::fs::File;
use std::io::{self, BufReader, Read};
#[cfg(feature = "csv")]
use std::io::{Seek, SeekFrom};
use std::ops::Range;

use super::line_index::LineIndex;
#[cfg(feature = "csv")]
use super::line_index::SpooledLine;
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
        let last = self
            .rows
            .iter()
            .enumerate()
            .max_by_key(|(_, (row, _))| *row);
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
        Self {
            file,
            offset: 0,
            lines,
            buffer: Vec::new(),
        }
    }

    pub(super) fn for_each(
        &mut self,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self {
            file,
            offset,
            lines,
            buffer,
        } = self;
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
pub(super) struct Chunk {
    text: Vec<u8>,
    /// The place of each line in the text.
    lines: Vec<Range<usize>>,
}

#[cfg(feature = "csv")]
impl Chunk {
    /// Reads lines. Those that are adjacent in the file are read at once.
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
    pub(super) fn into_parts(self) -> io::Result<(String, Vec<Range<usize>>)> {
        Ok((
            String::from_utf8(self.text).map_err(io::Error::other)?,
            self.lines,
        ))
    }
}

#[cfg(feature = "csv")]
impl SpoolReader<'_> {
    /// Calls `work` with chunks of the lines on all threads, and `each` with the results in the order of the lines. `is_full`
    /// decides by the number of lines and their bytes where a chunk ends.
    pub(super) fn map_chunks<R: Send>(
        &mut self,
        is_full: impl Fn(usize, u64) -> bool,
        work: impl Fn(Chunk) -> io::Result<R> + Sync,
        mut each: impl FnMut(R) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self { file, lines, .. } = self;
        let file = *file.get_ref();
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
