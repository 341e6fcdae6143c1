//! The rows of a run, before they are evaluated.
//!
//! Rows are numbered in reading order, and their ids are checked. `source.rs` hands out rows from a list, a stream or
//! chunks (`chunks.rs`) to a run's threads or tasks. `devset.rs` has the rows that a program is run on and checks their
//! inputs.

mod chunks;
mod devset;
mod source;

pub(super) use self::chunks::Chunk;
pub(crate) use self::devset::hash_order;
pub(super) use self::devset::{Devset, RowId, check_rows};
pub(super) use self::source::{Source, read_on_thread};

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::contract::{Origin, Pair};
use crate::evaluate::error::{EvaluateError, EvaluateErrorKind};

/// A row before it is evaluated.
pub(crate) type Input<G, P> = Pair<Arc<G>, Given<P>>;

/// The predictions that a row already has before it is evaluated.
pub(crate) enum Given<P> {
    /// No predictions, so the program is run.
    Nothing,
    Prediction(P),
    Rollouts(Vec<P>),
}

/// Returns a row without an id. The source that it belongs to numbers it.
pub(crate) fn listed<G, P>(gold: Arc<G>, pred: P) -> Pair<Arc<G>, P> {
    Pair {
        is_positional: true,
        ..Pair::new("", gold, pred)
    }
}

/// Changes both sides of a row.
pub(crate) fn changed<G, P, H, Q>(
    row: Pair<G, P>,
    gold: impl FnOnce(G) -> H,
    pred: impl FnOnce(P) -> Q,
) -> Pair<H, Q> {
    Pair {
        id: row.id,
        is_positional: row.is_positional,
        gold: gold(row.gold),
        pred: pred(row.pred),
        attributes: row.attributes,
        origin: row.origin,
        run: row.run,
    }
}

/// Returns `true` once the row has an id of its own or has been numbered.
pub(super) fn has_id<G, P>(row: &Pair<G, P>) -> bool {
    !row.is_positional || !row.id.is_empty()
}

/// A row and its position, counted from 0.
pub(crate) type Numbered<G, P> = (u64, Input<G, P>);

/// The next row, or the position and error of the row that ends the run.
pub(crate) type NextRow<G, P> = Result<Numbered<G, P>, (u64, EvaluateError)>;

/// Rows that a thread has taken but not yet evaluated. Once the source is empty, other threads may take them, so no row
/// waits for a blocked thread.
pub(crate) type OwnRows<G, P> = Mutex<VecDeque<Numbered<G, P>>>;

/// Rows in reading order, with the count and ids of the rows read so far.
pub(crate) struct Numbering<S> {
    pub(crate) rows: S,
    next: u64,
    seen: SeenIds,
}

impl<S> Numbering<S> {
    pub(crate) fn new(rows: S) -> Self {
        Self {
            rows,
            next: 0,
            seen: SeenIds::default(),
        }
    }

    pub(crate) fn number<G, P>(
        &mut self,
        row: Result<Input<G, P>, EvaluateError>,
    ) -> NextRow<G, P> {
        let at = self.next;
        let mut row = row.map_err(|error| (at, error))?;
        if has_id(&row) {
            if row.id.is_empty() {
                let place = row.origin.as_ref().map(ToString::to_string);
                let place = place.unwrap_or_else(|| format!("row {}", at + 1));
                let reason = "`id`: expected a string or a number, found an empty string";
                return Err((at, EvaluateError::input(format!("{place}: {reason}"))));
            }
            let inserted = self.seen.insert(&row.id, at, row.origin.as_ref());
            inserted.map_err(|error| (at, error))?;
        } else {
            row.id = at.to_string();
        }
        self.next += 1;
        Ok((at, row))
    }
}

/// Detects duplicate ids with two keyed hashes, 128 bits in all. With 10^9 different ids, one run in 10^20 has a
/// collision. An id takes 40 to 80 bytes.
#[derive(Default)]
pub(super) struct SeenIds {
    hashers: (RandomState, foldhash::quality::RandomState),
    /// The location of the first row with each hash.
    places: HashMap<[u64; 2], Place, foldhash::fast::RandomState>,
    files: Vec<Arc<Path>>,
}

/// A file's number and a line number in it, both counted from 1. If there is no file, 0 and a row number.
type Place = (usize, u64);

impl SeenIds {
    /// Adds the id of a row.
    ///
    /// # Errors
    /// Returns an error if another row has the same id.
    pub(super) fn insert(
        &mut self,
        id: &str,
        row: u64,
        origin: Option<&Origin>,
    ) -> Result<(), EvaluateError> {
        let place = origin.map_or((0, row + 1), |origin| self.place(origin));
        let hash = [self.hashers.0.hash_one(id), self.hashers.1.hash_one(id)];
        let first = match self.places.entry(hash) {
            Entry::Vacant(free) => {
                free.insert(place);
                return Ok(());
            }
            Entry::Occupied(first) => *first.get(),
        };
        let (first, second) = (self.named(first), self.named(place));
        Err(EvaluateError::new(
            EvaluateErrorKind::DuplicateId,
            format!(
                "duplicate row id `{id}` (rows {first} and {second}); ids must be unique within a run"
            ),
        ))
    }

    fn place(&mut self, origin: &Origin) -> Place {
        // The rows of a file are consecutive.
        let last = self.files.last();
        if last.is_none_or(|file| !Arc::ptr_eq(file, &origin.file)) {
            self.files.push(Arc::clone(&origin.file));
        }
        (self.files.len(), origin.line)
    }

    fn named(&self, (file, line): Place) -> String {
        match file.checked_sub(1) {
            Some(file) => {
                let file = Arc::clone(&self.files[file]);
                Origin { file, line }.to_string()
            }
            None => line.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the message of the error for rows with these ids.
    fn error(ids: &[&str]) -> Option<String> {
        let mut seen = SeenIds::default();
        let mut rows = ids.iter().zip(0..);
        let inserted = rows.try_for_each(|(id, row)| seen.insert(id, row, None));
        inserted.err().map(|error| error.to_string())
    }

    #[test]
    fn the_rows_of_a_duplicate_are_named() {
        let ids = ["a", "b", "c", "1", "2", "b", "c", "é"];
        let found = "duplicate row id `b` (rows 2 and 6); ids must be unique within a run";
        assert_eq!(error(&ids).as_deref(), Some(found));
        let all_different = ["1", "2", "+2", "02", "2.0", "-1", "0", "3"];
        assert_eq!(error(&all_different), None);
    }

    #[test]
    fn the_place_is_a_line_of_a_file() {
        let files = ["a.jsonl", "b.jsonl"].map(|file| Arc::<Path>::from(Path::new(file)));
        let mut seen = SeenIds::default();
        let mut insert = |row: u64, id: &str| {
            let origin = Origin {
                file: Arc::clone(&files[usize::from(row >= 500)]),
                line: row % 500 + 1,
            };
            let inserted = seen.insert(id, row, Some(&origin));
            inserted.map_err(|error| error.to_string())
        };
        for row in 0..720 {
            assert_eq!(insert(row, &format!("r{row}x")), Ok(()));
        }
        let found = "duplicate row id `r40x` (rows a.jsonl:41 and b.jsonl:221); ids must be unique within a run";
        assert_eq!(insert(720, "r40x"), Err(found.to_owned()));
    }
}
