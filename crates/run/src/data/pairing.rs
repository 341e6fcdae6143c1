//! How rows become pairs: mappings, ids, and decoding only the fields that are read.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::DataError;
use super::mapping::Mapping;
use super::row::{Row, id_of, into_object};
use super::selection::FieldSelection;
use crate::contract::{Origin, Pair};

/// How the rows of a run become pairs.
#[derive(Debug)]
pub(crate) struct Pairing {
    /// `true` if several files are read.
    several: bool,
    mappings: Vec<Mapping>,
    /// For each mapping, `true` if any row had a value at its path.
    used: Vec<AtomicBool>,
    selection: Option<FieldSelection>,
    /// `true` if a row may be the gold row itself, without a prediction.
    are_examples: bool,
}

impl Pairing {
    pub(super) fn new(several: bool, mappings: Vec<Mapping>, are_examples: bool) -> Self {
        Self {
            several,
            used: mappings.iter().map(|_| AtomicBool::new(false)).collect(),
            mappings,
            selection: None,
            are_examples,
        }
    }

    /// Decodes only these fields and those that mappings read.
    pub(super) fn select(&mut self, mut selection: FieldSelection) {
        selection.extend(&self.mappings);
        self.selection = Some(selection);
    }

    /// Returns the mappings whose path no row has had so far.
    pub(crate) fn unused_mappings(&self) -> impl Iterator<Item = &Mapping> {
        let mappings = self.mappings.iter().zip(&self.used);
        mappings
            .filter(|(_, used)| !used.load(Ordering::Relaxed))
            .map(|(mapping, _)| mapping)
    }

    /// Returns the fields to decode; `None` if all are read.
    pub(super) fn selection(&self) -> Option<&FieldSelection> {
        self.selection.as_ref()
    }

    #[cfg(feature = "csv")]
    pub(super) fn has_mappings(&self) -> bool {
        !self.mappings.is_empty()
    }

    /// Returns `true` if a row needs a gold row or prediction, which the selected fields alone cannot show.
    #[cfg(feature = "parquet")]
    pub(super) fn needs_a_side(&self) -> bool {
        let has_required = self.required_paths().next().is_some();
        !self.are_examples && self.mappings.is_empty() && !has_required
    }

    /// Returns the paths of the required fields in a row of the file.
    #[cfg(feature = "parquet")]
    pub(super) fn required_paths(&self) -> impl Iterator<Item = String> {
        let required = self.selection.iter().flat_map(FieldSelection::required);
        required.map(|(side, name)| {
            let mapping = self.mappings.iter().find(|it| it.sets(side, name));
            match mapping {
                Some(mapping) => mapping.path().to_owned(),
                None => format!("{side}.{name}"),
            }
        })
    }

    /// Makes a pair from the row at this location, with its number in the file.
    pub(super) fn pair_of(&self, row: Row, at: &Origin, number: u64) -> Result<Pair, DataError> {
        let mut row = into_object(row, at)?;
        if self.are_examples {
            row.validate_example(at)?;
        } else {
            row.validate_scored(at, &self.mappings, self.selection.as_ref())?;
        }
        row.map(&self.mappings, |mapping| {
            self.used[mapping].store(true, Ordering::Relaxed);
        });
        let id = row.id.take().map(|id| id_of(id, at)).transpose()?;
        let is_positional = row.is_positional || id.is_none();
        let id = id.unwrap_or_else(|| match self.several {
            true => format!("{}:{}", at.file.display(), number),
            false => number.to_string(),
        });
        Ok(row.into_pair(at, id, is_positional))
    }
}

#[cfg(test)]
mod tests;
