//! [`RowIndex`]: the ids, lines and gold rows of a result file, in a few bytes for each row.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::error::ResultsError;
use crate::core::rows::pair::Origin;
use crate::evaluate::report::ResultRow;

/// The ids, lines and gold rows of a file.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct RowIndex {
    ids: RowIds,
    file: Option<Arc<Path>>,
    lines: Lines,
    /// The hash of each gold row.
    gold: Vec<Option<u64>>,
    /// `true` if a row has no id of its own.
    has_positional: bool,
}

impl RowIndex {
    /// Adds a row.
    ///
    /// # Errors
    /// [`ResultsError`] if an earlier row has the same id.
    pub fn add(&mut self, row: &ResultRow) -> Result<(), ResultsError> {
        let place = self.ids.len();
        if let Err(first) = self.ids.push_unique(&row.id) {
            let first = self.lines.get(first);
            return Err(ResultsError::duplicate_id(&row.at(), &row.id, first));
        }
        if let Some(origin) = &row.origin {
            self.file.get_or_insert_with(|| Arc::clone(&origin.file));
        }
        self.lines
            .push(place, row.origin.as_ref().map_or(0, |origin| origin.line));
        if row.gold_hash.is_some() {
            set(&mut self.gold, place, row.gold_hash);
        }
        self.has_positional |= row.is_positional;
        Ok(())
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a row.
    pub fn id(&self, row: usize) -> &str {
        self.ids.get(row)
    }

    /// The place of an id. `hint` is the place where it probably is.
    pub fn find(&self, id: &str, hint: usize) -> Option<usize> {
        let is_here = hint < self.len() && self.id(hint) == id;
        if is_here {
            Some(hint)
        } else {
            self.ids.find(id)
        }
    }

    /// The position of a row, for an error.
    pub fn at(&self, row: usize) -> Origin {
        let file = self
            .file
            .clone()
            .unwrap_or_else(|| Path::new("evaluation").into());
        Origin {
            file,
            line: self.lines.get(row),
        }
    }

    /// Returns `true` if a row has no id of its own, so that its id is its position.
    pub fn has_positional(&self) -> bool {
        self.has_positional
    }

    /// The hash of a gold row; `None` if the file has neither the hash nor the gold row.
    pub fn gold_hash(&self, row: usize) -> Option<u64> {
        self.gold.get(row).copied().flatten()
    }
}

/// Sets the value of a row in a column that may lack the rows before.
pub(super) fn set<T: Clone + Default>(column: &mut Vec<T>, row: usize, value: T) {
    column.resize(row, T::default());
    column.push(value);
}

/// The ids of rows.
#[derive(Debug, Clone, Default)]
struct RowIds {
    text: String,
    /// The end of each id in the text.
    ends: Vec<usize>,
    /// The row of each id. `None` while the ids ascend: they cannot have duplicates, and binary search finds them.
    by_id: Option<HashTable<usize>>,
}

impl RowIds {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// Adds an id; the error is the place of an earlier row with this id.
    fn push_unique(&mut self, id: &str) -> Result<(), usize> {
        let row = self.len();
        if self.by_id.is_none() {
            let last = row.checked_sub(1).map(|last| self.get(last));
            if last.is_none_or(|last| order(last, id).is_lt()) {
                self.push(id);
                return Ok(());
            }
            let mut by_id = HashTable::with_capacity(row + 1);
            for row in 0..row {
                by_id.insert_unique(hash(self.get(row)), row, |row| hash(self.get(*row)));
            }
            self.by_id = Some(by_id);
        }
        let mut by_id = self.by_id.take().unwrap_or_default();
        let is_same = |row: &usize| self.get(*row) == id;
        let found = match by_id.entry(hash(id), is_same, |row| hash(self.get(*row))) {
            Entry::Occupied(found) => Err(*found.get()),
            Entry::Vacant(free) => {
                free.insert(row);
                Ok(())
            }
        };
        self.by_id = Some(by_id);
        found.map(|()| self.push(id))
    }

    fn find(&self, id: &str) -> Option<usize> {
        if let Some(by_id) = &self.by_id {
            return by_id.find(hash(id), |row| self.get(*row) == id).copied();
        }
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = start.midpoint(end);
            match order(self.get(middle), id) {
                Ordering::Less => start = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => end = middle,
            }
        }
        None
    }

    fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }
}

/// The order of ids that count up, with and without leading zeros.
fn order(id: &str, other: &str) -> Ordering {
    id.len().cmp(&other.len()).then_with(|| id.cmp(other))
}

static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);

fn hash(value: impl Hash) -> u64 {
    HASHER.hash_one(value)
}

/// The lines of rows, as the rows whose line does not follow the line of the previous row.
#[derive(Debug, Clone, Default)]
struct Lines(Vec<(usize, u64)>);

impl Lines {
    fn push(&mut self, row: usize, line: u64) {
        let follows = self
            .0
            .last()
            .is_some_and(|(first, at)| line == at + (row - first) as u64);
        if !follows {
            self.0.push((row, line));
        }
    }

    fn get(&self, row: usize) -> u64 {
        let before = self.0.partition_point(|(first, _)| *first <= row);
        let (first, line) = before
            .checked_sub(1)
            .map_or((row, 0), |place| self.0[place]);
        line + (row - first) as u64
    }
}
