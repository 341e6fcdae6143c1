//! The lines of rows before they are exported: in memory, and in the spool file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
#[cfg(feature = "csv")]
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
#[cfg(feature = "csv")]
use std::thread;

use super::line_index::LineIndex;

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

/// A thread that works on chunks, one after another.
#[cfg(feature = "csv")]
struct Worker<R> {
    chunks: SyncSender<Chunk>,
    results: Receiver<io::Result<R>>,
}

#[cfg(feature = "csv")]
impl<R: Send> Worker<R> {
    fn start<'scope>(
        scope: &'scope thread::Scope<'scope, '_>,
        work: &'scope (impl Fn(Chunk) -> io::Result<R> + Sync),
    ) -> Self
    where
        R: 'scope,
    {
        let ((chunks, input), (output, results)) = (sync_channel(1), sync_channel(1));
        scope.spawn(move || input.iter().try_for_each(|chunk| output.send(work(chunk))));
        Self { chunks, results }
    }

    fn send(&self, chunk: Chunk) -> io::Result<()> {
        self.chunks.send(chunk).map_err(|_| ended())
    }

    fn receive(&self) -> io::Result<R> {
        self.results.recv().map_err(|_| ended())?
    }
}

/// The scope of a thread that panicked panics too, with its message.
#[cfg(feature = "csv")]
fn ended() -> io::Error {
    io::Error::other("a thread ended")
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
        let number = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..number).map(|_| Worker::start(scope, &work)).collect();
            let (mut sent, mut received) = (0, 0);
            // A thread has at most one chunk in progress and one that waits.
            let mut pass = |chunk: Option<Chunk>, waiting: usize| -> io::Result<()> {
                if let Some(chunk) = chunk {
                    workers[sent % number].send(chunk)?;
                    sent += 1;
                }
                while sent - received > waiting {
                    each(workers[received % number].receive()?)?;
                    received += 1;
                }
                Ok(())
            };
            let mut chunk = Chunk::default();
            self.for_each(|line| {
                chunk.push(line)?;
                match is_full(&chunk) {
                    true => pass(Some(std::mem::take(&mut chunk)), number),
                    false => Ok(()),
                }
            })?;
            pass((chunk.len() > 0).then_some(chunk), 0)
        })
    }
}
