//! The first rows that do not pass, which `--markdown` shows. The other rows are not kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::evaluate::{Observer, RowResult};
use crate::results::{MAX_MARKDOWN_ROWS, does_not_pass};

/// The position of a file, the line of a row, and the length and the text of its id. All rows of a JSON array may be in one
/// line, where their ids count up.
type Place = (usize, u64, usize, String);

/// The rows by their place.
pub(super) struct NotPassed {
    files: Vec<PathBuf>,
    rows: Mutex<BTreeMap<Place, RowResult>>,
}

impl NotPassed {
    pub(super) fn new(files: &[PathBuf]) -> Self {
        Self {
            files: files.to_vec(),
            rows: Mutex::default(),
        }
    }

    /// Returns the rows in the order of the input: one more than are shown, if there are more.
    pub(super) fn rows(&self) -> Vec<RowResult> {
        self.rows
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }
}

impl Observer for NotPassed {
    /// The report has ids and scores.
    fn reads_rows(&self) -> bool {
        false
    }

    fn on_row(&self, row: &RowResult) {
        let Some(origin) = row
            .origin
            .as_ref()
            .filter(|_| row.outcomes.iter().any(does_not_pass))
        else {
            return;
        };
        let file = self.files.iter().position(|file| **file == *origin.file);
        let id = row.id.clone();
        let place = (file.unwrap_or(self.files.len()), origin.line, id.len(), id);
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = rows.len() > MAX_MARKDOWN_ROWS;
        if is_full && rows.last_key_value().is_some_and(|(last, _)| *last < place) {
            return;
        }
        rows.insert(place, row.clone());
        if is_full {
            rows.pop_last();
        }
    }
}
