//! That no two rows of a run have one id.
//!
//! Exact detection has to remember every row. What it remembers is a 128-bit keyed hash of the id
//! and a line number, about 50 bytes a row whatever the length of the ids; by chance alone two ids of
//! a thousand million would share a hash once in 10^20 runs.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use super::DataError;
use crate::pair::{Origin, Pair};

#[derive(Default)]
pub(super) struct Ids {
    seen: HashMap<[u64; 2], u64>,
    /// Each file, with the number of lines in those before it.
    files: Vec<(Arc<Path>, u64)>,
    lines: u64,
    keys: [RandomState; 2],
}

impl Ids {
    /// Takes the pair's id.
    ///
    /// # Errors
    /// [`DataError::DuplicateId`] if a row before has it.
    pub(super) fn claim(&mut self, pair: &Pair) -> Result<(), DataError> {
        let Some(at) = &pair.origin else {
            return Ok(());
        };
        let line = self.line_in_run(at);
        let hash = [&self.keys[0], &self.keys[1]].map(|key| key.hash_one(&pair.id));
        match self.seen.insert(hash, line) {
            None => Ok(()),
            Some(first) => Err(DataError::DuplicateId {
                at: at.clone(),
                first: self.origin_of(first),
                id: pair.id.clone(),
            }),
        }
    }

    fn line_in_run(&mut self, at: &Origin) -> u64 {
        // By pointer, since each file that is opened has its own name, even if one is read twice.
        let known = self.files.last();
        if known.is_none_or(|(file, _)| !Arc::ptr_eq(file, &at.file)) {
            self.files.push((Arc::clone(&at.file), self.lines));
        }
        let before = self.files.last().map_or(0, |(_, before)| *before);
        self.lines = before + at.line;
        self.lines
    }

    fn origin_of(&self, line: u64) -> Origin {
        let later = self.files.partition_point(|(_, before)| *before < line);
        let (file, before) = &self.files[later - 1];
        Origin { file: Arc::clone(file), line: line - before }
    }
}
