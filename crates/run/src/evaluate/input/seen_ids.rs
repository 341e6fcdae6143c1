//! Detects duplicate ids, in memory that does not grow with the rows.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::counting_ids::{CountingIds, Inserted};
use super::sorted_runs::{Seen, SortedRuns};
use crate::core::rows::pair::Origin;
use crate::evaluate::error::EvaluateError;

/// The number of ids that are in memory: as many as a table of 2^20 slots has space for, in at most 29 bytes each.
const IN_MEMORY: usize = 7 << 17;

/// Detects duplicate ids by 128 bits of a keyed hash: two of 10^9 different ids collide once in 10^20 runs.
///
/// The last ids are in memory, and a duplicate among them is detected at once. Earlier ones are in a temporary
/// file as sorted runs; [`check`](Self::check) detects the duplicates among all.
///
/// Ids that count up, as positions do, take no memory.
pub(super) struct SeenIds {
    counting: CountingIds,
    hashers: [RandomState; 2],
    /// By the first half of the hash.
    last: HashTable<Seen>,
    limit: usize,
    earlier: SortedRuns,
    /// Each file, with the number of lines of the files before it.
    files: Vec<(Arc<Path>, u64)>,
    lines: u64,
}

impl SeenIds {
    pub(super) fn new() -> Self {
        #[cfg(not(test))]
        let limit = IN_MEMORY;
        #[cfg(test)]
        let limit = tests::LIMIT.get();
        Self::with_limit(limit)
    }

    /// Detects every duplicate at once, whatever the number of rows.
    pub(super) fn in_memory() -> Self {
        Self::with_limit(usize::MAX)
    }

    fn with_limit(limit: usize) -> Self {
        Self {
            counting: CountingIds::default(),
            hashers: <[RandomState; 2]>::default(),
            last: HashTable::new(),
            limit,
            earlier: SortedRuns::default(),
            files: Vec::new(),
            lines: 0,
        }
    }

    /// Adds the id of a row.
    ///
    /// # Errors
    /// One of the last rows has the same id.
    pub(super) fn insert(
        &mut self,
        id: &str,
        row: u64,
        origin: Option<&Origin>,
    ) -> Result<(), EvaluateError> {
        let place = origin.map_or(row + 1, |origin| self.line_in_run(origin));
        match self.counting.insert(id, place) {
            Inserted::New => return Ok(()),
            Inserted::Duplicate { first } => {
                return Err(self.duplicate(id.to_owned(), first, place));
            }
            Inserted::NotCounting => {}
        }
        let hash = self.hashers.each_ref().map(|hasher| hasher.hash_one(id));
        match self
            .last
            .entry(hash[0], |seen| seen.hash == hash, |seen| seen.hash[0])
        {
            Entry::Vacant(free) => _ = free.insert(Seen { hash, place }),
            Entry::Occupied(found) => {
                let first = found.get().place;
                return Err(self.duplicate(id.to_owned(), first, place));
            }
        }
        self.earlier.note(place, id);
        if self.last.len() >= self.limit {
            self.spill();
        }
        Ok(())
    }

    /// Compares all ids. Call this after the last row.
    ///
    /// # Errors
    /// Two rows have the same id, or the temporary file cannot be read.
    pub(super) fn check(&mut self) -> Result<(), EvaluateError> {
        if self.earlier.is_empty() {
            return Ok(());
        }
        self.spill();
        let found = self.earlier.find_duplicate();
        let found = found.map_err(|error| {
            let message = format!(
                "cannot read the temporary file of row ids: {error}; set TMPDIR to a folder on another disk"
            );
            EvaluateError::Input { message }
        })?;
        match found {
            None => Ok(()),
            Some(duplicate) => {
                let id = duplicate.id.unwrap_or_else(|| "(unknown)".to_owned());
                Err(self.duplicate(id, duplicate.first, duplicate.second))
            }
        }
    }

    /// Makes the ids in memory a run.
    fn spill(&mut self) {
        self.earlier.push(self.last.drain().collect());
    }

    fn duplicate(&self, id: String, first: u64, second: u64) -> EvaluateError {
        EvaluateError::DuplicateId {
            id,
            first: self.place(first),
            second: self.place(second),
        }
    }

    /// Returns the line number counted over all files, so that one number replaces file and line.
    fn line_in_run(&mut self, origin: &Origin) -> u64 {
        // Compared by pointer, since one file may be read twice.
        let known = self.files.last();
        if known.is_none_or(|(file, _)| !Arc::ptr_eq(file, &origin.file)) {
            self.files.push((Arc::clone(&origin.file), self.lines));
        }
        let before = self.files.last().map_or(0, |(_, before)| *before);
        self.lines = before + origin.line;
        self.lines
    }

    fn place(&self, place: u64) -> String {
        let later = self.files.partition_point(|(_, before)| *before < place);
        match later.checked_sub(1).and_then(|last| self.files.get(last)) {
            Some((file, before)) => {
                let line = place - before;
                Origin {
                    file: Arc::clone(file),
                    line,
                }
                .to_string()
            }
            None => place.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::core::rows::dynamic::{Example, Prediction};
    use crate::core::rows::pair::Pair;
    use crate::evaluate::Evaluate;

    thread_local! {
        /// The number of ids in memory in the runs of a test.
        pub(super) static LIMIT: Cell<usize> = const { Cell::new(IN_MEMORY) };
    }

    #[test]
    fn a_duplicate_that_is_found_after_the_last_row_ends_the_run_without_a_file() {
        LIMIT.set(8);
        let path = std::env::temp_dir().join(format!("dsrs-ids-{}.jsonl", std::process::id()));
        let metric = dsrs_metrics::metric_fn("any", |_: &Example, _: &Prediction| true);
        let evaluate = Evaluate::builder()
            .metric(metric)
            .save_as_jsonl(&path)
            .build()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let score = |ids: &[u64]| {
            let pair =
                |id: &u64| Pair::new(format!("r{id}x"), Example::default(), Prediction::default());
            let rows: Vec<Pair> = ids.iter().map(pair).collect();
            runtime
                .block_on(evaluate.score(rows))
                .map(|result| result.rows)
        };
        let mut ids: Vec<u64> = (0..100).collect();
        assert_eq!((score(&ids), path.exists()), (Ok(100), true));
        std::fs::remove_file(&path).unwrap();
        ids[90] = 11;
        let error = score(&ids).unwrap_err().to_string();
        let found = "duplicate row id `r11x` (rows 12 and 91); ids must be unique within a run";
        assert_eq!((&*error, path.exists()), (found, false));
    }

    /// The error of rows with these ids, if at most `limit` ids are in memory.
    fn error(ids: &[&str], limit: usize) -> Option<String> {
        let mut seen = SeenIds::with_limit(limit);
        let mut rows = ids.iter().zip(0..);
        let inserted = rows.try_for_each(|(id, row)| seen.insert(id, row, None));
        inserted
            .and_then(|()| seen.check())
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn a_duplicate_is_the_same_error_wherever_the_first_one_is() {
        let ids = ["a", "b", "c", "d", "e", "f", "g", "b", "c", "é"];
        let found = "duplicate row id `b` (rows 2 and 8); ids must be unique within a run";
        for limit in [1, 2, 3, 7, 8, 100] {
            assert_eq!(error(&ids, limit).as_deref(), Some(found), "limit {limit}");
            assert_eq!(error(&ids[..7], limit), None, "limit {limit}");
        }
        assert_eq!(error(&[], 1), None);
    }

    #[test]
    fn the_place_is_a_line_of_a_file_in_earlier_rows_too() {
        let files = ["a.jsonl", "b.jsonl"].map(|file| Arc::<Path>::from(Path::new(file)));
        let mut seen = SeenIds::with_limit(100);
        for (row, line) in (0..1_000).zip((1..=500).chain(1..=500)) {
            let origin = Origin {
                file: Arc::clone(&files[usize::from(row >= 500)]),
                line,
            };
            let id = format!("r{}x", if row == 720 { 40 } else { row });
            seen.insert(&id, row, Some(&origin)).unwrap();
        }
        let found = "duplicate row id `r40x` (rows a.jsonl:41 and b.jsonl:221); ids must be unique within a run";
        assert_eq!(seen.check().unwrap_err().to_string(), found);
    }

    #[test]
    fn trap_20_memory_is_that_of_the_last_ids() {
        let mut seen = SeenIds::with_limit(64);
        for row in 0..100_000 {
            seen.insert(&format!("r{row}x"), row, None).unwrap();
            assert!(seen.last.len() < 64);
        }
        assert!(seen.last.capacity() < 256, "{}", seen.last.capacity());
        seen.check().unwrap();
    }

    #[test]
    fn consecutive_numbers_take_no_memory_and_duplicates_of_them_are_found() {
        let mut seen = SeenIds::with_limit(64);
        for row in 0..100_000 {
            seen.insert(&(row + 7).to_string(), row, None).unwrap();
        }
        assert_eq!((seen.last.capacity(), seen.earlier.is_empty()), (0, true));
        let found = seen.insert("19", 100_000, None).unwrap_err().to_string();
        assert_eq!(
            found,
            "duplicate row id `19` (rows 13 and 100001); ids must be unique within a run"
        );
    }

    #[test]
    fn numbers_that_are_not_consecutive_are_ids_like_others() {
        let duplicate = |id: &str, first: usize, second: usize| {
            let rows = format!("(rows {first} and {second})");
            Some(format!(
                "duplicate row id `{id}` {rows}; ids must be unique within a run"
            ))
        };
        assert_eq!(
            error(&["5", "6", "8", "7", "9", "8"], 9),
            duplicate("8", 3, 6)
        );
        assert_eq!(error(&["x", "5", "6", "5"], 9), duplicate("5", 2, 4));
        assert_eq!(error(&["5", "x", "6", "5"], 9), duplicate("5", 1, 4));
        assert_eq!(error(&["5", "x", "6", "6"], 9), duplicate("6", 3, 4));
        assert_eq!(error(&["x", "1", "x"], 9), duplicate("x", 1, 3));
        let all_different = [
            "1",
            "2",
            "+2",
            "02",
            "2.0",
            "-1",
            "0",
            "3",
            "18446744073709551616",
        ];
        assert_eq!(error(&all_different, 9), None);
        assert_eq!(error(&["18446744073709551615", "0"], 9), None);
    }

    #[test]
    fn rows_of_one_line_are_compared_too() {
        let file = Arc::<Path>::from(Path::new("a.json"));
        let mut seen = SeenIds::with_limit(100);
        let mut insert = |id: &str, line: u64| {
            let origin = Origin {
                file: Arc::clone(&file),
                line,
            };
            seen.insert(id, line, Some(&origin))
                .map_err(|error| error.to_string())
        };
        assert_eq!(insert("19", 1), Ok(()));
        assert_eq!(insert("21", 2), Ok(()));
        assert_eq!(insert("20", 2), Ok(()));
        let found =
            "duplicate row id `21` (rows a.json:2 and a.json:3); ids must be unique within a run";
        assert_eq!(insert("21", 3), Err(found.to_owned()));
    }
}
