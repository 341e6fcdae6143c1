//! Converts the cells of a record to a row.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use parquet::record::Row as ParquetRow;
use parquet::schema::types::Type;
use serde_json::Value;

use super::cell::{self, Cell};
use crate::core::rows::named_values::Fields;
use crate::core::rows::pair::Origin;
use crate::data::columns::{Target, target};
use crate::data::error::DataError;
use crate::data::pairing::Pairing;
use crate::data::row::{Row, RowObject};
use crate::data::selection::FieldSelection;
use crate::json::unique_keys::Shape;

/// The columns that are read, and the field that each becomes.
pub(super) struct Layout {
    pub(super) file: Arc<Path>,
    pub(super) schema: Arc<Type>,
    /// Whether the strings of each column are JSON.
    are_json: Vec<bool>,
    pub(super) row_limit: usize,
    /// Present if these are the selected columns and not all.
    pub(super) selected: Option<SelectedColumns>,
}

/// The fields that the selected columns become.
pub(super) struct SelectedColumns {
    pub(super) targets: Vec<Target>,
    /// Whether a common row has results of a run.
    pub(super) are_of_results: bool,
    /// Whether a mapping may read results.
    pub(super) are_results_mapped: bool,
    /// The columns of the required fields. `None` if a field is not a column of its own.
    required: Option<Vec<usize>>,
    /// Whether a row needs `gold` or `pred`.
    needs_side: bool,
}

impl Layout {
    pub(super) fn new(
        file: &Arc<Path>,
        schema: Arc<Type>,
        json_columns: &HashSet<String>,
        row_limit: usize,
    ) -> Self {
        let columns = schema.get_fields().iter();
        let are_json = columns
            .map(|column| json_columns.contains(column.name()))
            .collect();
        Self {
            file: Arc::clone(file),
            schema,
            are_json,
            row_limit,
            selected: None,
        }
    }

    /// Sets that the columns are those that the pairing selects.
    pub(super) fn with_selection(
        mut self,
        pairing: &Pairing,
        selection: &FieldSelection,
        are_of_results: bool,
    ) -> Self {
        let names: Vec<_> = self
            .schema
            .get_fields()
            .iter()
            .map(|column| column.name())
            .collect();
        let position = |name: &str| names.iter().position(|other| *other == name);
        let target = |name: &&str| target(name, selection, are_of_results, position);
        let required = pairing.required_paths(selection).map(|path| match &*path {
            // These are not attributes.
            "id" | "gold" | "pred" => None,
            path => position(path),
        });
        let required: Option<Vec<_>> = required.collect();
        let needs_side = !pairing.has_mappings() && required.as_ref().is_none_or(Vec::is_empty);
        let targets = names.iter().map(target).collect();
        let are_results_mapped = are_of_results && pairing.has_mappings();
        self.selected = Some(SelectedColumns {
            targets,
            are_of_results,
            are_results_mapped,
            required,
            needs_side,
        });
        self
    }

    /// Whether each required field is a column of its own, if only selected columns are read.
    pub(super) fn has_required_columns(&self) -> bool {
        self.selected
            .as_ref()
            .is_none_or(|selected| selected.required.is_some())
    }

    pub(super) fn is_json(&self, column: usize) -> bool {
        self.are_json[column]
    }

    pub(super) fn at(&self, row: u64) -> Origin {
        Origin {
            file: Arc::clone(&self.file),
            line: row,
        }
    }

    /// Converts a record that was not decoded by column.
    pub(super) fn row(&self, row: ParquetRow, number: u64) -> Result<Row, DataError> {
        let cells = row.into_columns().into_iter();
        self.row_of(cells.map(|(_, cell)| Cell::Field(cell)), number)
    }

    /// Converts the cells of each column.
    pub(super) fn row_of(
        &self,
        cells: impl Iterator<Item = Cell>,
        number: u64,
    ) -> Result<Row, DataError> {
        let mut size = 0;
        let columns = self.schema.get_fields().iter().zip(&self.are_json);
        let columns = cells.zip(columns).filter(|(cell, _)| !cell.is_null());
        let mut row = RowObject {
            is_flat: true,
            ..RowObject::default()
        };
        let (mut gold, mut pred) = (Fields::default(), Fields::default());
        for (cell, (kind, is_json)) in columns {
            let name = kind.name();
            let value = cell.into_value(kind, &mut size);
            let value = value.and_then(|value| match value {
                Value::String(text) if *is_json => cell::json(&text),
                value => Ok(value),
            });
            let value = value.map_err(|problem| DataError::InvalidCell {
                at: self.at(number),
                column: name.to_owned(),
                problem,
            })?;
            match name.split_once('.') {
                _ if name == "id" => row.id = Some(value),
                Some(("gold", field)) => _ = gold.insert(field, value),
                Some(("pred", field)) => _ = pred.insert(field, value),
                _ if name == "gold" => row.gold = Some(shape(value)),
                _ if name == "pred" => row.pred = Some(shape(value)),
                _ => _ = row.attributes.insert(name, value),
            }
        }
        if size > self.row_limit {
            return Err(DataError::TooLong {
                at: self.at(number),
                limit: self.row_limit,
            });
        }
        if !gold.is_empty() {
            row.gold = Some(Shape::Map(gold));
        }
        if !pred.is_empty() {
            row.pred = Some(Shape::Map(pred));
        }
        Ok(Row::Map(row))
    }
}

impl SelectedColumns {
    /// Returns whether the other columns of a row may be needed for an error. `has_value` returns whether a column has a value
    /// that is not null.
    pub(super) fn may_lack_fields(&self, has_value: impl Fn(usize) -> bool) -> bool {
        let Some(required) = &self.required else {
            return true;
        };
        let is_side = |target: &Target| matches!(target, Target::Field(..));
        let mut sides = (0..self.targets.len()).filter(|column| is_side(&self.targets[*column]));
        let has_side = !self.needs_side || sides.any(&has_value);
        !has_side || !required.iter().all(|column| has_value(*column))
    }
}

fn shape(value: Value) -> Shape<Fields> {
    match value {
        Value::Object(fields) => Shape::Map(Fields::from_iter(fields)),
        other => Shape::Other(other),
    }
}
