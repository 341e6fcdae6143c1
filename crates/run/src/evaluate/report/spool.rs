//! The lines of rows before they are exported: in memory, and in the spool file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::evaluate::files::hidden_beside;
use crate::evaluate::manifest::REFERENCE_KEY;
use crate::in_order::in_order;

/// The size of a chunk of lines, in bytes.
pub(super) const CHUNK: usize = 1 << 20;

/// The maximum size of the lines that are sorted in memory, in bytes.
const MAX_LATEST: usize = 1 << 20;

/// The lines of rows, with line breaks, in the order the rows finished.
#[derive(Default)]
pub(crate) struct Lines {
    rows: Vec<(u64, Range<usize>)>,
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

    /// Moves all lines of another list to the end of this one.
    fn append(&mut self, other: &mut Self) {
        let start = self.text.len();
        let moved = |(row, Range { start: from, end }): (u64, _)| (row, start + from..start + end);
        self.rows.extend(other.rows.drain(..).map(moved));
        self.text.append(&mut other.text);
    }
}

/// The place of a row's line in the spool file.
struct SpooledLine {
    row: u64,
    offset: u64,
    /// The length in bytes, including the line break.
    length: usize,
}

/// A temporary file of lines. Rows finish nearly in input order, so the latest lines are sorted before they are written.
pub(super) struct Spool {
    file: File,
    path: TempPath,
    latest: Lines,
    lines: Vec<SpooledLine>,
    end: u64,
    /// The reference to the manifest, which is added to the last row when that row is read.
    reference: String,
}

impl Spool {
    /// Creates the file in the folder of another file. Only the owner can read it.
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        let (file, path) = hidden_beside(target, true)?;
        Ok(Self {
            file,
            path,
            latest: Lines::default(),
            lines: Vec::new(),
            end: 0,
            reference: String::new(),
        })
    }

    /// Moves the lines into the spool.
    pub(super) fn write(&mut self, lines: &mut Lines) -> io::Result<()> {
        self.latest.append(lines);
        match self.latest.text.len() < MAX_LATEST {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Prepares the lines for reading. The last row gets the reference to the manifest.
    pub(super) fn finish(&mut self, reference: String) -> io::Result<()> {
        self.reference = reference;
        self.flush()?;
        self.lines.sort_by_key(|line| line.row);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let Lines { rows, text } = &mut self.latest;
        rows.sort_by_key(|(row, _)| *row);
        let mut sorted = Vec::with_capacity(text.len());
        for (row, place) in rows.drain(..) {
            self.lines.push(SpooledLine {
                row,
                offset: self.end + sorted.len() as u64,
                length: place.len(),
            });
            sorted.extend_from_slice(&text[place]);
        }
        text.clear();
        self.end += sorted.len() as u64;
        self.file.write_all(&sorted)
    }

    /// Keeps the file under a name that later runs do not remove, and returns its path.
    pub(super) fn keep(&mut self) -> PathBuf {
        // On a full disk there may still be room for some of them.
        let _ = self.flush();
        self.path.disable_cleanup(true);
        let name = self.path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
        let kept = name.map(|name| self.path.with_file_name(format!("{name}.rows.jsonl")));
        let is_free = |kept: &PathBuf| fs::exists(kept).is_ok_and(|exists| !exists);
        let renamed = kept.filter(|kept| is_free(kept) && fs::rename(&self.path, kept).is_ok());
        renamed.unwrap_or_else(|| self.path.to_path_buf())
    }

    /// Calls a function with each line in input order, without its line break.
    pub(super) fn for_each(&self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let is_full = |_, bytes| bytes >= CHUNK;
        self.map_chunks(is_full, Ok, |chunk| {
            let mut lines = chunk.lines.into_iter();
            lines.try_for_each(|place| each(chunk.text[place].as_bytes()))
        })
    }

    /// Calls `work` with chunks of lines on all threads, and `each` with the results in input order. `is_full` decides
    /// where a chunk ends, given its number of lines and bytes.
    pub(super) fn map_chunks<R: Send>(
        &self,
        is_full: impl Fn(usize, usize) -> bool,
        work: impl Fn(Chunk) -> io::Result<R> + Sync,
        mut each: impl FnMut(R) -> io::Result<()>,
    ) -> io::Result<()> {
        in_order(
            work,
            |result| result.take().map_or(Ok(()), |result| each(result?)),
            |pass| {
                let mut rest = &*self.lines;
                while !rest.is_empty() {
                    let (mut number, mut bytes) = (0, 0);
                    while number < rest.len() && !is_full(number, bytes) {
                        bytes += rest[number].length;
                        number += 1;
                    }
                    let (places, others) = rest.split_at(number);
                    let mut chunk = Chunk::read(&self.file, places)?;
                    if others.is_empty() {
                        chunk.set_manifest(&self.reference);
                    }
                    pass(chunk)?;
                    rest = others;
                }
                Ok(())
            },
        )
    }
}

/// Consecutive lines.
pub(super) struct Chunk {
    pub(super) text: String,
    /// The place of each line in the text.
    pub(super) lines: Vec<Range<usize>>,
}

impl Chunk {
    /// Adds the reference to the manifest to the last row.
    fn set_manifest(&mut self, reference: &str) {
        if let Some(last) = self.lines.last_mut() {
            let line = &self.text[..last.end];
            self.text
                .truncate(line.strip_suffix('}').unwrap_or(line).len());
            self.text += &format!(",\"{REFERENCE_KEY}\":\"{reference}\"}}\n");
            last.end = self.text.len() - 1;
        }
    }

    /// Reads lines; those adjacent in the file are read together.
    fn read(mut file: &File, places: &[SpooledLine]) -> io::Result<Self> {
        let (mut text, mut lines) = (Vec::new(), Vec::with_capacity(places.len()));
        for adjacent in places.chunk_by(|a, b| a.offset + a.length as u64 == b.offset) {
            let start = text.len();
            let mut end = start;
            for line in adjacent {
                lines.push(end..end + line.length - 1);
                end += line.length;
            }
            text.resize(end, 0);
            file.seek(SeekFrom::Start(adjacent[0].offset))?;
            file.read_exact(&mut text[start..])?;
        }
        let text = String::from_utf8(text).map_err(io::Error::other)?;
        Ok(Self { text, lines })
    }
}
