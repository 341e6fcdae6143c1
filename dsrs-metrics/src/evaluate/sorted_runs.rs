//! Hashes of ids as sorted runs in a temporary file, and the duplicates among them.
//!
//! If the file cannot be written, the runs remain in memory: a full disk for temporary files does not end a
//! run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::report::TemporaryFile;

/// The hash of an id, and the place of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    pub(super) hash: [u64; 2],
    pub(super) place: u64,
}

/// The bytes of a [`Seen`] in the file.
const ENTRY: usize = 24;

/// The bytes of a run that are read at once.
const BLOCK: usize = ENTRY << 11;

impl Seen {
    fn to_bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        for (to, from) in bytes.chunks_exact_mut(8).zip([self.hash[0], self.hash[1], self.place]) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.chunks_exact(8).map(|chunk| {
            let number = chunk.iter().rev();
            number.fold(0, |number, byte| number << 8 | u64::from(*byte))
        });
        let mut next = || numbers.next().unwrap_or_default();
        Self { hash: [next(), next()], place: next() }
    }
}

/// Two rows with the same id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Duplicate {
    pub(super) first: u64,
    pub(super) second: u64,
    /// `None` if it could not be written.
    pub(super) id: Option<String>,
}

/// Sorted runs of hashes.
#[derive(Default)]
pub(super) struct SortedRuns {
    file: Option<TemporaryFile>,
    /// The runs in the file, each with its first byte and the byte after it.
    written: Vec<(u64, u64)>,
    in_memory: Vec<Vec<Seen>>,
    ids: IdLog,
}

impl SortedRuns {
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && self.in_memory.is_empty()
    }

    /// Notes the id of a row for the message about a duplicate. Of two rows with the same id in different runs,
    /// the second one is after the first run.
    pub(super) fn note(&mut self, place: u64, id: &str) {
        if !self.is_empty() {
            self.ids.note(place, id);
        }
    }

    /// Adds a run of hashes in any order.
    pub(super) fn push(&mut self, mut run: Vec<Seen>) {
        run.sort_unstable();
        match self.write(&run) {
            Ok(bytes) => self.written.push(bytes),
            Err(_) => self.in_memory.push(run),
        }
    }

    /// Returns the first byte of the run in the file, and the byte after it.
    fn write(&mut self, run: &[Seen]) -> io::Result<(u64, u64)> {
        if self.file.is_none() {
            self.file = Some(TemporaryFile::anonymous()?);
        }
        let mut file =
            self.file.as_ref().map(TemporaryFile::file).ok_or(io::ErrorKind::NotFound)?;
        let start = self.written.last().map_or(0, |(_, end)| *end);
        file.seek(SeekFrom::Start(start))?;
        let mut file = BufWriter::with_capacity(BLOCK, file);
        run.iter().try_for_each(|seen| file.write_all(&seen.to_bytes()))?;
        file.flush()?;
        Ok((start, start + (run.len() * ENTRY) as u64))
    }

    /// Merges the runs and returns the duplicate whose second row is the first in the input.
    pub(super) fn find_duplicate(&mut self) -> io::Result<Option<Duplicate>> {
        let written = self.written.iter().map(|(start, end)| Run::Written {
            next: *start,
            end: *end,
            block: Vec::new(),
            read: 0,
        });
        let in_memory = self.in_memory.iter().map(|run| Run::InMemory(run.iter()));
        let mut runs: Vec<Run<'_>> = written.chain(in_memory).collect();
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next(self.file.as_ref())?.map(|seen| Reverse((seen, number))));
        }
        let (mut last, mut found) = (None::<Seen>, None::<(u64, u64)>);
        while let Some(Reverse((seen, number))) = heads.pop() {
            if let Some(last) = last.filter(|last| last.hash == seen.hash)
                && found.is_none_or(|(_, second)| seen.place < second)
            {
                found = Some((last.place, seen.place));
            }
            last = Some(seen);
            heads
                .extend(runs[number].next(self.file.as_ref())?.map(|seen| Reverse((seen, number))));
        }
        drop(runs);
        found
            .map(|(first, second)| Ok(Duplicate { first, second, id: self.ids.find(second)? }))
            .transpose()
    }
}

/// A run while it is merged.
enum Run<'a> {
    Written {
        /// The next byte to read from the file.
        next: u64,
        end: u64,
        block: Vec<u8>,
        /// The bytes of the block that were used.
        read: usize,
    },
    InMemory(std::slice::Iter<'a, Seen>),
}

impl Run<'_> {
    fn next(&mut self, file: Option<&TemporaryFile>) -> io::Result<Option<Seen>> {
        let (next, end, block, read) = match self {
            Self::InMemory(run) => return Ok(run.next().copied()),
            Self::Written { next, end, block, read } => (next, *end, block, read),
        };
        if *read == block.len() {
            if *next == end {
                return Ok(None);
            }
            let mut file = file.map(TemporaryFile::file).ok_or(io::ErrorKind::NotFound)?;
            file.seek(SeekFrom::Start(*next))?;
            block.resize(usize::try_from(end - *next).map_or(BLOCK, |left| left.min(BLOCK)), 0);
            file.read_exact(block)?;
            (*next, *read) = (*next + block.len() as u64, 0);
        }
        let seen = Seen::from_bytes(&block[*read..*read + ENTRY]);
        *read += ENTRY;
        Ok(Some(seen))
    }
}

/// The ids of rows by place, in a temporary file that is read only for the message about a duplicate.
#[derive(Default)]
enum IdLog {
    #[default]
    Empty,
    File(BufWriter<TemporaryFile>),
    /// It could not be written.
    Failed,
}

impl IdLog {
    fn note(&mut self, place: u64, id: &str) {
        if matches!(self, Self::Empty) {
            *self = TemporaryFile::anonymous()
                .map_or(Self::Failed, |file| Self::File(BufWriter::with_capacity(BLOCK, file)));
        }
        let Self::File(file) = self else { return };
        let written = file.write_all(&place.to_le_bytes());
        let written = written.and_then(|()| file.write_all(&(id.len() as u64).to_le_bytes()));
        if written.and_then(|()| file.write_all(id.as_bytes())).is_err() {
            *self = Self::Failed;
        }
    }

    /// Returns the id of the row at a place.
    fn find(&mut self, wanted: u64) -> io::Result<Option<String>> {
        let Self::File(file) = self else { return Ok(None) };
        file.flush()?;
        let mut file = file.get_ref().file();
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::with_capacity(BLOCK, file);
        loop {
            let [Some(place), Some(length)] = [read_number(&mut file)?, read_number(&mut file)?]
            else {
                return Ok(None);
            };
            if place == wanted {
                let mut id = String::new();
                file.take(length).read_to_string(&mut id)?;
                return Ok(Some(id));
            }
            file.seek_relative(length.cast_signed())?;
        }
    }
}

/// Returns `None` at the end of the file.
fn read_number(file: &mut impl Read) -> io::Result<Option<u64>> {
    let mut bytes = [0; 8];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u64::from_le_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(hash: u64, place: u64) -> Seen {
        Seen { hash: [hash, !hash], place }
    }

    #[test]
    fn the_duplicate_whose_second_row_is_first_is_found() {
        let mut runs = SortedRuns::default();
        for run in 0..5 {
            let rows = || (0..10_000).rev().map(|row| run * 10_000 + row);
            runs.push(rows().map(|row| seen(u64::rotate_right(row, 7), row)).collect());
        }
        assert_eq!(runs.find_duplicate().unwrap(), None);
        let duplicates = [(90_000, 31_003), (80_000, 17), (80_001, 17), (85_000, 49_999)];
        for (place, of) in duplicates {
            let id = format!("id {place}");
            runs.note(place, &id);
            runs.push(vec![seen(u64::rotate_right(of, 7), place)]);
        }
        let found = Duplicate { first: 17, second: 80_000, id: Some("id 80000".to_owned()) };
        assert_eq!(runs.find_duplicate().unwrap(), Some(found));
        assert!(runs.in_memory.is_empty(), "all runs were written");
    }

    #[test]
    fn runs_that_cannot_be_written_are_in_memory() {
        // A file that cannot be written, as on a full disk.
        let file = Some(TemporaryFile::unwritable());
        let mut runs = SortedRuns { file, ..SortedRuns::default() };
        runs.push(vec![seen(2, 2), seen(1, 1)]);
        runs.push(vec![seen(2, 3)]);
        assert_eq!((runs.written.len(), runs.in_memory.len()), (0, 2));
        let found = Duplicate { first: 2, second: 3, id: None };
        assert_eq!(runs.find_duplicate().unwrap(), Some(found));
    }
}
