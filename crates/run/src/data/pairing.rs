//! Converts rows to pairs: applies mappings, assigns ids, and decodes only the fields that are read.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{DataError, invalid};
use super::gold::{GoldFile, without_id};
use super::mapping::{Conversion, Mapping, Target};
use super::row::{RowObject, id_of};
use super::selection::{FieldSelection, ReadField};
use crate::contract::{Fields, MetricSpec, Origin, Pair, Side};
use crate::json::read::Shape;

/// How the rows of a run become pairs.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    /// `true` if several files are read.
    pub(super) several: bool,
    pub(super) mappings: Vec<Mapping>,
    /// For each mapping, `true` if any row had a value at its path.
    pub(super) used: Vec<AtomicBool>,
    pub(super) selection: Option<FieldSelection>,
    /// The fields that the metrics read.
    pub(super) read: Vec<ReadField>,
    /// The file of gold rows, if the predictions are in a different file.
    pub(super) gold: Option<GoldFile>,
    pub(super) conversions: Vec<Conversion>,
    /// `true` if a row can be the gold row itself, without a prediction.
    pub(super) are_examples: bool,
}

impl Pairing {
    /// Limits decoding to these fields and those that mappings read.
    pub(super) fn select(&mut self, mut selection: FieldSelection) {
        selection.extend(&self.mappings);
        if let Some(join) = self.gold.as_ref().and_then(|gold| gold.join.as_ref()) {
            selection.add_path(&join.pred);
        }
        self.selection = Some(selection);
    }

    /// Returns notes about gold rows and predictions that have no partner in the other file.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.gold.as_ref().map(GoldFile::notes).unwrap_or_default()
    }

    /// Returns `true` if the pair is a gold row without a prediction. Its location is then in the file of gold rows.
    pub(crate) fn lacks_pred(&self, pair: &Pair) -> bool {
        let file = pair.origin.as_ref().zip(self.gold.as_ref());
        file.is_some_and(|(at, gold)| Arc::ptr_eq(&at.file, &gold.file))
    }

    /// Returns the path of the id that joins a prediction to its gold row.
    pub(super) fn join_path<'p>(&'p self, gold: &'p GoldFile) -> &'p str {
        let id = self.id_mapping().map_or("id", Mapping::path);
        gold.join.as_ref().map_or(id, |join| &join.pred)
    }

    /// Sets the fields that the metrics read, without duplicates.
    pub(super) fn set_read<'s>(&mut self, specs: impl Iterator<Item = MetricSpec<'s>>) {
        for spec in specs {
            for (side, field) in spec.get_input_spec() {
                let is_field = |read: &ReadField| read.side == side && read.name == field.name;
                if !self.read.iter().any(is_field) {
                    let (name, help) = (field.name.to_owned(), field.help);
                    self.read.push(ReadField { side, name, help });
                }
            }
        }
    }

    /// Returns the mappings whose path has not been found in any row so far.
    pub(crate) fn unused_mappings(&self) -> impl Iterator<Item = &Mapping> {
        let mappings = self.mappings.iter().zip(&self.used);
        mappings
            .filter(|(_, used)| !used.load(Ordering::Relaxed))
            .map(|(mapping, _)| mapping)
    }

    /// Returns the fields to read from a file with columns. A result file that is scored again is read completely.
    #[cfg(feature = "csv")]
    pub(super) fn selection_of(&self, are_of_results: bool) -> Option<&FieldSelection> {
        let selection = self.selection.as_ref();
        selection.filter(|_| self.are_examples || !are_of_results)
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

    /// Makes a pair from the row at this location. `number` is the row's number in the file. Returns `None` if the file
    /// of gold rows has no gold row for it.
    pub(super) fn pair_of(
        &self,
        mut row: RowObject,
        at: &Origin,
        number: u64,
    ) -> Result<Option<Pair>, DataError> {
        if row.is_plain {
            self.name_value(&mut row, at)?;
        }
        if let Some(gold) = &self.gold
            && !self.join(gold, &mut row, at, number)?
        {
            return Ok(None);
        }
        self.map(&mut row, at)?;
        let id = row.id.take().map(|id| id_of(id, at)).transpose()?;
        let is_positional = row.is_positional || id.is_none();
        let id = id.unwrap_or_else(|| match self.several {
            true => format!("{}:{}", at.file.display(), number),
            false => number.to_string(),
        });
        Ok(Some(row.into_pair(at, id, is_positional)))
    }

    /// Makes a pair with an empty prediction from a gold row without a prediction.
    pub(super) fn pair_without_pred(
        &self,
        position: usize,
        at: &Origin,
    ) -> Result<Option<Pair>, DataError> {
        let gold = self.gold.as_ref().map(|gold| gold.row(position));
        let Some((id, fields)) = gold.transpose()?.flatten() else {
            return Ok(None);
        };
        let mut row = RowObject::default();
        self.set_gold(&mut row, fields, at)?;
        self.map(&mut row, at)?;
        Ok(Some(row.into_pair(at, id, false)))
    }

    /// Sets the fields that mappings and conversions produce.
    fn map(&self, row: &mut RowObject, at: &Origin) -> Result<(), DataError> {
        if self.are_examples {
            row.validate_example(at)?;
        } else {
            row.validate_scored(at, &self.mappings, &self.read)?;
        }
        row.map(&self.mappings, |mapping| {
            self.used[mapping].store(true, Ordering::Relaxed);
        });
        for conversion in &self.conversions {
            if let Some(fields) = row.fields_of(conversion.side()) {
                conversion.apply(fields);
            }
        }
        row.write_scalars(&self.read);
        if row.has_nan || self.gold.as_ref().is_some_and(GoldFile::has_nan) {
            row.clear_not_finite();
        }
        Ok(())
    }

    /// Stores a prediction that is a plain value as the only prediction field that the metrics read.
    fn name_value(&self, row: &mut RowObject, at: &Origin) -> Result<(), DataError> {
        let is_mapped = |mapping: &Mapping| mapping.path() == "value";
        if self.mappings.iter().any(is_mapped) {
            return Ok(());
        }
        let value = row.attributes.get("value").cloned().unwrap_or_default();
        let name = self.only_field(Side::Pred, at)?;
        row.pred = Some(Shape::Map([(name, value)].into_iter().collect()));
        Ok(())
    }

    /// Returns the name of the only field of a side that the metrics read.
    fn only_field(&self, side: Side, at: &Origin) -> Result<String, DataError> {
        let mut of_side = self.read.iter().filter(|field| field.side == side);
        match (of_side.next(), of_side.next()) {
            (Some(field), None) => Ok(field.name.clone()),
            _ => Err(invalid!(
                at,
                "expected a row with fields, found a single value; unless the metrics read exactly one field of `{side}`, pass --map {side}.FIELD=value"
            )),
        }
    }

    /// Sets the gold row of a prediction. Returns `false` if there is no gold row.
    fn join(
        &self,
        gold: &GoldFile,
        row: &mut RowObject,
        at: &Origin,
        number: u64,
    ) -> Result<bool, DataError> {
        if row.gold.is_some() {
            return Err(DataError::invalid(
                at,
                "expected a prediction without a gold row, found `gold`; remove it, or leave out --gold",
            ));
        }
        let path = gold.join.as_ref().map(|join| &*join.pred);
        let id = match (path, self.id_mapping()) {
            (Some(path), _) => row.find(path).map(Cow::into_owned),
            (None, Some(mapping)) => row.value_of(mapping).map(|(value, _)| value),
            (None, None) => row.id.clone(),
        };
        let id = match id {
            Some(id) => id_of(id, at)?,
            None if gold.is_by_position => number.to_string(),
            None => return Err(without_id(row, path.unwrap_or("id"), at)),
        };
        let Some(fields) = gold.find(&id, at)? else {
            return Ok(false);
        };
        self.set_gold(row, fields, at)?;
        if row.id.is_none() && !gold.is_by_position {
            row.id = Some(id.into());
        }
        Ok(true)
    }

    fn id_mapping(&self) -> Option<&Mapping> {
        let mut mappings = self.mappings.iter();
        mappings.find(|mapping| *mapping.target() == Target::Id)
    }

    /// Sets the row's gold row.
    fn set_gold(
        &self,
        row: &mut RowObject,
        mut fields: Fields,
        at: &Origin,
    ) -> Result<(), DataError> {
        if let Some(value) = fields.get("value").filter(|_| fields.len() == 1).cloned() {
            fields.insert(self.only_field(Side::Gold, at)?, value);
        }
        row.gold = Some(Shape::Map(fields));
        row.is_joined = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
