//! Rows become pairs: mappings, ids, and decoding only the fields that are read.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::error::DataError;
use super::mapping::{Mapping, Target};
#[cfg(feature = "parquet")]
use super::row::RowObject;
use super::row::{LocatedRow, validated_example, validated_row};
use super::selection::FieldSelection;
use super::undecoded_row::UndecodedRow;
use crate::core::rows::pair::{Origin, Pair};
use crate::core::spec::Side;
use crate::json::path;

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
        let mut pairing = Self {
            several,
            mappings,
            used,
            selection: None,
            are_examples: false,
        };
        if let Some(selection) = selection {
            pairing.select(selection);
        }
        pairing
    }

    /// Decodes only these fields, besides those that mappings read.
    pub(super) fn select(&mut self, mut selection: FieldSelection) {
        selection.extend(&self.mappings);
        self.selection = Some(selection);
    }

    /// Returns the pairing of a devset, whose rows need no prediction.
    pub(super) fn of_examples() -> Self {
        Self {
            are_examples: true,
            ..Self::new(false, Vec::new(), None)
        }
    }

    /// Returns the mappings whose path no row has had so far.
    pub(crate) fn unused_mappings(&self) -> impl Iterator<Item = &Mapping> {
        let mappings = self.mappings.iter().zip(&self.used);
        mappings
            .filter(|(_, used)| !used.load(Ordering::Relaxed))
            .map(|(mapping, _)| mapping)
    }

    /// The fields to decode, if not all are read.
    #[cfg(feature = "csv")]
    pub(super) fn selection(&self) -> Option<&FieldSelection> {
        self.selection.as_ref()
    }

    #[cfg(feature = "csv")]
    pub(super) fn has_mappings(&self) -> bool {
        !self.mappings.is_empty()
    }

    /// The paths of the required fields in a row of the file.
    #[cfg(feature = "parquet")]
    pub(super) fn required_paths(
        &self,
        selection: &FieldSelection,
    ) -> impl Iterator<Item = String> {
        selection.required().map(|(side, name)| {
            let mapping = self
                .mappings
                .iter()
                .find(|mapping| mapping.sets(side, name));
            mapping.map_or_else(
                || format!("{side}.{name}"),
                |mapping| mapping.path().to_owned(),
            )
        })
    }

    /// Returns whether no other fields of a row may be needed for an error: it is a row, and has a value in every required
    /// field.
    #[cfg(feature = "parquet")]
    pub(super) fn has_required(&self, row: &RowObject) -> bool {
        let has_value = |path: String| row.find(&path).is_some_and(|value| !value.is_null());
        let is_row = self.has_mappings() || row.gold.is_some() || row.pred.is_some();
        is_row
            && self
                .selection
                .iter()
                .all(|it| self.required_paths(it).all(has_value))
    }

    pub(super) fn pair(
        &self,
        LocatedRow { row, at, number }: LocatedRow,
    ) -> Result<Pair, DataError> {
        let mut row = match self.are_examples {
            true => validated_example(row, &at)?,
            false => validated_row(row, &at, &self.mappings, self.selection.as_ref())?,
        };
        let value = |path| (row.find(path).cloned(), row.is_string(path));
        let values: Vec<_> = self
            .mappings
            .iter()
            .map(|mapping| value(mapping.path()))
            .collect();
        for ((mapping, used), (value, is_string)) in
            self.mappings.iter().zip(&self.used).zip(values)
        {
            mark(used, value.is_some());
            row.set(mapping, value, is_string, &at)?;
        }
        Ok(row.into_pair(at, |at| {
            let mut id = String::new();
            self.write_default_id(at, number, &mut id);
            id
        }))
    }

    fn write_default_id(&self, at: &Origin, number: u64, id: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self.several {
            true => write!(id, "{}:{number}", at.file.display()),
            false => write!(id, "{number}"),
        };
    }

    /// Decodes a row in the memory of another row.
    pub(super) fn read(
        &self,
        undecoded: &dyn UndecodedRow,
        row: &mut Pair,
    ) -> Result<(), DataError> {
        if self.read_common(undecoded, row).is_none() {
            *row = self.pair(undecoded.row()?)?;
        }
        Ok(())
    }

    /// Decodes the selected fields, or all; `None` if the row is unusual, or if fields that are not selected may be needed for
    /// an error.
    fn read_common(&self, undecoded: &dyn UndecodedRow, row: &mut Pair) -> Option<()> {
        if self.are_examples {
            return None;
        }
        let selection = self.selection.as_ref();
        let keys = undecoded.decode(selection, row)?;
        if !keys.has_sides && self.mappings.is_empty() {
            return None;
        }
        match &mut row.origin {
            Some(at) if Arc::ptr_eq(&at.file, undecoded.file()) => at.line = undecoded.line(),
            origin => *origin = Some(undecoded.at()),
        }
        let has_id = self.map(row, keys.has_id)?;
        row.is_positional = !has_id;
        if let Some(at) = row.origin.as_ref().filter(|_| !has_id) {
            row.id.clear();
            self.write_default_id(at, undecoded.number(), &mut row.id);
        }
        let has_required = |it: &FieldSelection| it.has_required(&row.gold, &row.pred);
        selection.is_none_or(has_required).then_some(())
    }

    /// Sets the mapped fields. Returns whether the row has an id, or `None` if its id is not one.
    fn map(&self, row: &mut Pair, mut has_id: bool) -> Option<bool> {
        let find = |path| find(row, path).cloned();
        let values: Vec<_> = self
            .mappings
            .iter()
            .map(|mapping| find(mapping.path()))
            .collect();
        for ((mapping, used), value) in self.mappings.iter().zip(&self.used).zip(values) {
            mark(used, value.is_some());
            let (side, field) = match mapping.target() {
                Target::Id => {
                    has_id = value.is_some();
                    match value {
                        Some(Value::String(id)) => row.id = id,
                        Some(_) => return None,
                        None => {}
                    }
                    continue;
                }
                Target::Field(Side::Gold, field) => (&mut row.gold.data, field),
                Target::Field(Side::Pred, field) => (&mut row.pred.data, field),
            };
            match value {
                Some(value) => side.insert(field, value),
                None => side.remove(field),
            };
        }
        Some(has_id)
    }
}

/// Notes that a row had a value at the path of a mapping.
fn mark(used: &AtomicBool, has_value: bool) {
    if has_value && !used.load(Ordering::Relaxed) {
        used.store(true, Ordering::Relaxed);
    }
}

/// The value at a dotted path.
fn find<'r>(row: &'r Pair, path: &str) -> Option<&'r Value> {
    path::find(path, |name| row.attributes.get(name)).or_else(|| match path.split_once('.')? {
        ("gold", rest) => path::find(rest, |name| row.gold.get(name)),
        ("pred", rest) => path::find(rest, |name| row.pred.get(name)),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
