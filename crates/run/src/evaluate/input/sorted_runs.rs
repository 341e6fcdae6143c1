//! Hashes of ids as sorted runs in temporary files, and the duplicates among them.
//!
//! A run that cannot be written remains in memory: a full disk for temporary files does not end an evaluation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use crate::evaluate::files::TemporaryFile;

/// The hash of an id, and the place of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    pub(super) hash: [u64; 2],
    pub(super) place: u64,
}

/// The bytes of a file that are read or written at once.
const BLOCK: usize = 48 << 10;

impl Seen {
    fn write(self, file: &mut impl Write) -> io::Result<()> {
        let numbers = [self.hash[0], self.hash[1], self.place];
        numbers
            .iter()
            .try_for_each(|number| file.write_all(&number.to_le_bytes()))
    }

    /// Returns `None` at the end of the file.
    fn read(file: &mut impl Read) -> io::Result<Option<Self>> {
        let Some(first) = read_number(file)? else {
            return Ok(None);
        };
        let [Some(second), Some(place)] = [read_number(file)?, read_number(file)?] else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        Ok(Some(Self {
            hash: [first, second],
            place,
        }))
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
    runs: Vec<Run>,
    ids: IdLog,
}

enum Run {
    Written(TemporaryFile),
    InMemory(Vec<Seen>),
}

impl SortedRuns {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Notes the id of a row for the message about a duplicate. Of two rows with the same id in different runs,
    /// the second one is after the first run.
    pub(super) fn note(&mut self, place: u64, id: &str) {
        if !self.is_empty() {
            self.ids.note(place, id);
        }
    }

    /// Adds a run of hashes in any order.
    pub(super) fn push(&mut self, run: Vec<Seen>) {
        self.push_to(TemporaryFile::anonymous(), run);
    }

    fn push_to(&mut self, file: io::Result<TemporaryFile>, mut run: Vec<Seen>) {
        run.sort_unstable();
        let written = file.and_then(|file| {
            let mut file = BufWriter::with_capacity(BLOCK, file);
            run.iter().try_for_each(|seen| seen.write(&mut file))?;
            Ok(file.into_inner()?)
        });
        self.runs
            .push(written.map_or(Run::InMemory(run), Run::Written));
    }

    /// Merges the runs and returns the duplicate whose second row is the first in the input.
    pub(super) fn find_duplicate(&mut self) -> io::Result<Option<Duplicate>> {
        let mut runs = self
            .runs
            .iter()
            .map(Run::read)
            .collect::<io::Result<Vec<_>>>()?;
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next().transpose()?.map(|seen| Reverse((seen, number))));
        }
        let (mut last, mut found) = (None::<Seen>, None::<(u64, u64)>);
        while let Some(Reverse((seen, number))) = heads.pop() {
            if let Some(last) = last.filter(|last| last.hash == seen.hash)
                && found.is_none_or(|(_, second)| seen.place < second)
            {
                found = Some((last.place, seen.place));
            }
            last = Some(seen);
            heads.extend(
                runs[number]
                    .next()
                    .transpose()?
                    .map(|seen| Reverse((seen, number))),
            );
        }
        found
            .map(|(first, second)| {
                Ok(Duplicate {
                    first,
                    second,
                    id: self.ids.find(second)?,
                })
            })
            .transpose()
    }
}

impl Run {
    fn read(&self) -> io::Result<Box<dyn Iterator<Item = io::Result<Seen>> + '_>> {
        let mut file = match self {
            Self::InMemory(run) => return Ok(Box::new(run.iter().copied().map(Ok))),
            Self::Written(file) => file.file(),
        };
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::with_capacity(BLOCK, file);
        Ok(Box::new(std::iter::from_fn(move || {
            Seen::read(&mut file).transpose()
        })))
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
            *self = TemporaryFile::anonymous().map_or(Self::Failed, |file| {
                Self::File(BufWriter::with_capacity(BLOCK, file))
            });
        }
        let Self::File(file) = self else { return };
        let written = file.write_all(&place.to_le_bytes());
        let written = written.and_then(|()| file.write_all(&(id.len() as u64).to_le_bytes()));
        if written
            .and_then(|()| file.write_all(id.as_bytes()))
            .is_err()
        {
            *self = Self::Failed;
        }
    }

    /// Returns the id of the row at a place.
    fn find(&mut self, wanted: u64) -> io::Result<Option<String>> {
        let Self::File(file) = self else {
            return Ok(None);
        };
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
        Seen {
            hash: [hash, !hash],
            place,
        }
    }

    #[test]
    fn the_duplicate_whose_second_row_is_first_is_found() {
        let mut runs = SortedRuns::default();
        for run in 0..5 {
            let rows = || (0..10_000).rev().map(|row| run * 10_000 + row);
            runs.push(
                rows()
                    .map(|row| seen(u64::rotate_right(row, 7), row))
                    .collect(),
            );
        }
        assert_eq!(runs.find_duplicate().unwrap(), None);
        let duplicates = [
            (90_000, 31_003),
            (80_000, 17),
            (80_001, 17),
            (85_000, 49_999),
        ];
        for (place, of) in duplicates {
            let id = format!("id {place}");
            runs.note(place, &id);
            runs.push(vec![seen(u64::rotate_right(of, 7), place)]);
        }
        let found = Duplicate {
            first: 17,
            second: 80_000,
            id: Some("id 80000".to_owned()),
        };
        assert_eq!(runs.find_duplicate().unwrap(), Some(found));
        assert!(runs.runs.iter().all(|run| matches!(run, Run::Written(_))));
    }

    #[test]
    fn runs_that_cannot_be_written_are_in_memory() {
        let mut runs = SortedRuns::default();
        // A file that cannot be written, as on a full disk.
        runs.push_to(
            Ok(TemporaryFile::unwritable()),
            vec![seen(2, 2), seen(1, 1)],
        );
        runs.push_to(Err(io::ErrorKind::StorageFull.into()), vec![seen(2, 3)]);
        assert!(runs.runs.iter().all(|run| matches!(run, Run::InMemory(_))));
        let found = Duplicate {
            first: 2,
            second: 3,
            id: None,
        };
        assert_eq!(runs.find_duplicate().unwrap(), Some(found));
    }
}
