//! Rows become pairs: mappings, ids, and decoding only the fields that are read.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::DataError;
use super::json_lines::Line;
#[cfg(any(feature = "cli", test))]
use super::lent_row::{LentRow, RowVisitor};
use super::mapping::Mapping;
#[cfg(feature = "parquet")]
use super::row::RowObject;
use super::row::{Row, ValidRow};
use super::row_file::{LocatedRow, RowChunk};
use super::selection::FieldSelection;
use crate::core::rows::pair::{Origin, Pair};
#[cfg(feature = "parquet")]
use crate::core::spec::Side;

/// How the rows of a run become pairs.
#[derive(Debug)]
pub(crate) struct Pairing {
    /// Whether several files are read.
    several: bool,
    mappings: Vec<Mapping>,
    /// For each mapping, whether a row had a value at its path.
    used: Vec<AtomicBool>,
    selection: Option<FieldSelection>,
    /// Whether a row may be the gold row itself.
    are_examples: bool,
}

impl Pairing {
    pub(super) fn new(
        several: bool,
        mappings: Vec<Mapping>,
        selection: Option<FieldSelection>,
    ) -> Self {
        let used = mappings.iter().map(|_| AtomicBool::new(false)).collect();
        let selection = selection.map(|mut selection| {
            selection.extend(&mappings);
            selection
        });
        Self { several, mappings, used, selection, are_examples: false }
    }

    /// Returns the pairing of a devset, whose rows need no prediction.
    pub(super) fn of_examples() -> Self {
        Self { are_examples: true, ..Self::new(false, Vec::new(), None) }
    }

    /// Returns the mappings whose path no row has had so far.
    pub(crate) fn unused_mappings(&self) -> impl Iterator<Item = &Mapping> {
        let mappings = self.mappings.iter().zip(&self.used);
        mappings.filter(|(_, used)| !used.load(Ordering::Relaxed)).map(|(mapping, _)| mapping)
    }

    /// The fields to decode, if not all are read.
    #[cfg(feature = "parquet")]
    pub(super) fn selection(&self) -> Option<&FieldSelection> {
        self.selection.as_ref()
    }

    /// Returns whether no other fields of a row may be needed for an error: it is a row, and has a value in every required
    /// field.
    #[cfg(feature = "parquet")]
    pub(super) fn has_required(&self, row: &RowObject) -> bool {
        let has_value = |side: Side, name: &str| {
            let mapping = self.mappings.iter().find(|mapping| mapping.sets(side, name));
            let value = match mapping {
                Some(mapping) => row.find(mapping.path()),
                None => row.find(&format!("{side}.{name}")),
            };
            value.is_some_and(|value| !value.is_null())
        };
        let is_row = !self.mappings.is_empty() || row.gold.is_some() || row.pred.is_some();
        is_row && self.selection.iter().all(|selection| selection.all_required(has_value))
    }

    fn pair(&self, LocatedRow { row, at, number }: LocatedRow) -> Result<Pair, DataError> {
        let row = self.mapped(row, &at)?;
        Ok(self.with_id(row, at, number))
    }

    fn mapped(&self, row: Row, at: &Origin) -> Result<ValidRow, DataError> {
        let mut row = match self.are_examples {
            true => row.validate_example(at)?,
            false => row.validate(at, &self.mappings)?,
        };
        let values: Vec<_> =
            self.mappings.iter().map(|mapping| row.find(mapping.path()).cloned()).collect();
        for ((mapping, used), value) in self.mappings.iter().zip(&self.used).zip(values) {
            if value.is_some() && !used.load(Ordering::Relaxed) {
                used.store(true, Ordering::Relaxed);
            }
            row.set(mapping, value, at)?;
        }
        Ok(row)
    }

    fn with_id(&self, row: ValidRow, at: Origin, number: u64) -> Pair {
        row.into_pair(at, |at| self.default_id(at, number))
    }

    fn default_id(&self, at: &Origin, number: u64) -> String {
        let mut id = String::new();
        self.write_default_id(at, number, &mut id);
        id
    }

    fn write_default_id(&self, at: &Origin, number: u64, id: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self.several {
            true => write!(id, "{}:{number}", at.file.display()),
            false => write!(id, "{number}"),
        };
    }

    fn pair_of_line(&self, line: &Line<'_>) -> Result<Pair, DataError> {
        match self.selected(line) {
            Some(pair) => Ok(pair),
            None => self.pair(line.row()?),
        }
    }

    /// Decodes only the selected fields; `None` if the row is unusual, or other fields may be needed for an error.
    fn selected(&self, line: &Line<'_>) -> Option<Pair> {
        let selection = self.selection.as_ref().filter(|_| !line.is_too_long())?;
        let row = selection.decode(line.text?)?;
        let (at, number) = (line.at(), line.number);
        let pair = match self.mappings.is_empty() {
            true => row.into_plain_pair(at, |at| self.default_id(at, number))?,
            false => self.pair(LocatedRow { row: Row::Map(row), at, number }).ok()?,
        };
        selection.has_required(&pair.gold, &pair.pred).then_some(pair)
    }

    /// As [`selected`](Self::selected), in the memory of another row and without attributes; `None` also if there are
    /// mappings.
    #[cfg(any(feature = "cli", test))]
    fn lend(&self, line: &Line<'_>, row: &mut LentRow) -> Option<()> {
        let selection = self.selection.as_ref().filter(|_| self.mappings.is_empty())?;
        let text = line.text.filter(|_| !line.is_too_long())?;
        row.at.line = line.number;
        if !selection.decode_into(text, row)? {
            row.id.clear();
            self.write_default_id(&row.at, line.number, &mut row.id);
        }
        Some(())
    }
}

/// Some rows that are not decoded yet.
pub(crate) struct PairChunk {
    rows: Result<RowChunk, DataError>,
    pairing: Arc<Pairing>,
}

impl PairChunk {
    pub(super) fn new(rows: Result<RowChunk, DataError>, pairing: Arc<Pairing>) -> Self {
        Self { rows, pairing }
    }

    /// Passes the rows to a visitor, up to the first error.
    #[cfg(any(feature = "cli", test))]
    pub(crate) fn visit(self, visitor: &mut impl RowVisitor) {
        let Ok(RowChunk::Lines(lines)) = &self.rows else {
            self.decode().into_iter().all(|row| visitor.own(row));
            return;
        };
        let mut row = LentRow::new(lines.at().clone());
        lines.each_row(|line| {
            if visitor.takes_lent()
                && self.pairing.lend(line, &mut row).is_some()
                && visitor.lent(&row)
            {
                return true;
            }
            let pair = self.pairing.pair_of_line(line);
            let is_last = pair.is_err();
            visitor.own(pair) && !is_last
        });
    }

    /// Returns the pairs of the rows, up to the first error.
    pub(crate) fn decode(self) -> Vec<Result<Pair, DataError>> {
        match self.rows {
            Err(error) => vec![Err(error)],
            Ok(RowChunk::One(row)) => vec![self.pairing.pair(*row)],
            Ok(RowChunk::Lines(lines)) => {
                lines.collect_rows(|line| self.pairing.pair_of_line(line))
            }
        }
    }
}

#[cfg(test)]
mod tests;
