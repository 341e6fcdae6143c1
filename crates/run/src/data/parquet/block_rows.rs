//! Rows of a block, which any thread decodes.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::schema::types::Type;
use serde_json::Value;

use super::block::{Block, Column};
use super::cell;
use super::guard::unless_invalid;
use super::layout::{Layout, SelectedColumns};
use crate::core::panic;
use crate::core::rows::named_values::Fields;
use crate::core::rows::pair::Pair;
use crate::core::spec::Side;
use crate::data::columns::Target;
use crate::data::error::DataError;
use crate::data::result_row::PROGRAM_FAILED;
use crate::data::row::LocatedRow;
use crate::data::selection::{DecodedKeys, FieldSelection};
use crate::data::undecoded_row::UndecodedRow;
use crate::json::scanner::Scanner;
use crate::json::set_string;
use crate::json::size::{MAX_VALUES, is_too_large};

/// The most bytes of strings in the rows of a chunk, but for its first row.
const CHUNK_BYTES: usize = 1 << 16;

/// The most rows of a chunk. A thread keeps the memory of about as many rows for other ones.
const CHUNK_ROWS: usize = 256;

/// Consecutive rows of a block.
pub(crate) struct BlockRows {
    layout: Arc<Layout>,
    block: Arc<Block>,
    rows: Range<usize>,
    /// The number of the first row in the file, from 1.
    number: u64,
}

impl BlockRows {
    /// Returns all rows of a block; `number` is the number of the first one.
    pub(super) fn new(layout: &Arc<Layout>, block: Block, number: u64) -> Self {
        let rows = 0..block.rows;
        Self {
            layout: Arc::clone(layout),
            block: Arc::new(block),
            rows,
            number,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Removes the first rows: at most this number, and few if they are long.
    pub(super) fn take_chunk(&mut self, most: usize) -> Option<Self> {
        let rows = self.rows.start..self.rows.end.min(self.rows.start + most.min(CHUNK_ROWS));
        let columns = &self.block.columns;
        let copied = columns
            .iter()
            .try_fold(0, |sum, column| Some(sum + column.copied()?));
        let end = if copied.is_some_and(|bytes| bytes <= CHUNK_BYTES) {
            rows.end
        } else {
            let mut bytes = 0;
            let mut is_full = |row| {
                bytes += columns
                    .iter()
                    .map(|column| column.bytes(row))
                    .sum::<usize>();
                bytes > CHUNK_BYTES && row > rows.start
            };
            rows.clone().find(|row| is_full(*row)).unwrap_or(rows.end)
        };
        (rows.start < end).then(|| self.split_to(end))
    }

    /// Removes the rows before this row of the block.
    fn split_to(&mut self, end: usize) -> Self {
        let (layout, block) = (Arc::clone(&self.layout), Arc::clone(&self.block));
        let first = Self {
            layout,
            block,
            rows: self.rows.start..end,
            number: self.number,
        };
        self.number += first.rows.len() as u64;
        self.rows.start = end;
        first
    }

    /// Keeps only the rows before the first one whose other columns may be needed for an error. Returns whether there is one.
    pub(super) fn keep_complete_rows(&mut self) -> bool {
        let Some(selected) = &self.layout.selected else {
            return false;
        };
        let mut rows = self.rows.clone();
        let lacks_fields = |row| {
            selected.may_lack_fields(|column| {
                let cells = &self.block.columns[column];
                let is_null = |text: &str| self.layout.is_json(column) && text.trim() == "null";
                !cells.is_null(row) && !cells.text(row).is_some_and(is_null)
            })
        };
        let first = rows.find(|row| lacks_fields(*row));
        self.rows.end = first.unwrap_or(self.rows.end);
        first.is_some()
    }

    /// Calls a function with each row in order, until the function returns false.
    pub(crate) fn each_row(&self, mut read: impl FnMut(&BlockRow<'_>) -> bool) {
        let rows = self.rows.clone().zip(self.number..);
        let mut rows = rows.map(|(row, number)| BlockRow {
            rows: self,
            row,
            number,
        });
        rows.all(|row| read(&row));
    }
}

/// A row of a block.
pub(crate) struct BlockRow<'b> {
    rows: &'b BlockRows,
    /// Its position in the block.
    row: usize,
    number: u64,
}

impl UndecodedRow for BlockRow<'_> {
    fn row(&self) -> Result<LocatedRow, DataError> {
        let Layout {
            file, row_limit, ..
        } = &*self.rows.layout;
        let columns = self.rows.block.columns.iter();
        let cells = || columns.map(|column| column.cell(self.row)).collect();
        let cells: Vec<_> = unless_invalid(file, self.number, *row_limit, cells)?;
        let row = self.rows.layout.row_of(cells.into_iter(), self.number)?;
        Ok(LocatedRow {
            row,
            at: self.at(),
            number: self.number,
        })
    }

    fn decode(&self, _: Option<&FieldSelection>, row: &mut Pair) -> Option<DecodedKeys> {
        let selected = self.rows.layout.selected.as_ref();
        let selected = selected.filter(|selected| !selected.are_results_mapped)?;
        let mut decoder = Decoder::new(self, row);
        for (column, target) in selected.targets.iter().enumerate() {
            if !self.column(column).is_null(self.row) {
                decoder.add(column, target)?;
            }
        }
        decoder.finish(selected)
    }

    fn file(&self) -> &Arc<Path> {
        &self.rows.layout.file
    }

    fn line(&self) -> u64 {
        self.number
    }

    fn number(&self) -> u64 {
        self.number
    }
}

impl<'b> BlockRow<'b> {
    fn column(&self, column: usize) -> &'b Column {
        &self.rows.block.columns[column]
    }
}

/// Decodes a common row in the memory of another one.
struct Decoder<'d, 'b> {
    of: &'d BlockRow<'b>,
    row: &'d mut Pair,
    keys: DecodedKeys,
    gold_len: usize,
    pred_len: usize,
    /// Whether the row has the results of a metric.
    has_outcome: bool,
    /// The bytes of the row, which have a limit.
    size: usize,
}

impl<'d, 'b> Decoder<'d, 'b> {
    fn new(of: &'d BlockRow<'b>, row: &'d mut Pair) -> Self {
        (row.attributes, row.run) = (Fields::default(), None);
        (row.gold.data.textual, row.pred.data.textual) = (false, false);
        let keys = DecodedKeys::default();
        Self {
            of,
            row,
            keys,
            gold_len: 0,
            pred_len: 0,
            has_outcome: false,
            size: 0,
        }
    }

    /// Adds a cell that is not null.
    fn add(&mut self, column: usize, target: &Target) -> Option<()> {
        let Decoder { of, row, size, .. } = self;
        match target {
            // It is read, so its errors count and its size does.
            Target::Unread => value_into(of, column, &mut Value::Null, size)?,
            Target::Unusual => return None,
            Target::Id => {
                self.keys.has_id = true;
                match of
                    .column(column)
                    .text(of.row)
                    .filter(|_| !of.rows.layout.is_json(column))
                {
                    Some("") => return None,
                    Some(text) => {
                        *size += size_of::<Value>() + text.len();
                        row.id.clear();
                        row.id.push_str(text);
                    }
                    None => {
                        let mut id = Value::Null;
                        value_into(of, column, &mut id, size)?;
                        row.id = id.as_number()?.to_string();
                    }
                }
            }
            Target::Field(side, name) => {
                let (fields, len) = match side {
                    Side::Gold => (&mut row.gold.data, &mut self.gold_len),
                    Side::Pred => (&mut row.pred.data, &mut self.pred_len),
                };
                self.keys.has_sides = true;
                value_into(of, column, fields.rewrite_static(*len, name)?, size)?;
                *len += 1;
            }
            Target::Attribute(name) => {
                let mut value = Value::Null;
                value_into(of, column, &mut value, size)?;
                row.attributes.insert(name.as_str(), value);
            }
            Target::Outcome(costs) => {
                let outcome = of.column(column).text(of.row)?;
                let outcome = Some(outcome).filter(|_| !of.rows.layout.is_json(column))?;
                *size += size_of::<Value>() + outcome.len();
                self.has_outcome |= !of.column(*costs).is_null(of.row);
                if outcome == PROGRAM_FAILED {
                    return None;
                }
            }
        }
        Some(())
    }

    fn finish(self, selected: &SelectedColumns) -> Option<DecodedKeys> {
        self.row.gold.data.truncate(self.gold_len);
        self.row.pred.data.truncate(self.pred_len);
        let is_common = self.has_outcome == selected.are_of_results;
        (is_common && self.size <= self.of.rows.layout.row_limit).then_some(self.keys)
    }
}

/// Writes a cell over another value.
fn value_into(of: &BlockRow<'_>, column: usize, value: &mut Value, size: &mut usize) -> Option<()> {
    let (cells, layout) = (of.column(column), &of.rows.layout);
    if let Some(entries) = cells.list(of.row) {
        return list_into(cells, entries, value, size);
    }
    let Some(text) = cells.text(of.row) else {
        // A date is a string too.
        if layout.is_json(column) {
            return None;
        }
        let kind = &layout.schema.get_fields()[column];
        *value = converted(cells, of.row, Some(kind), size)?;
        return Some(());
    };
    *size += size_of::<Value>() + text.len();
    if layout.is_json(column) {
        let mut scanner = Scanner::new(text).filter(|_| !is_too_large(text, MAX_VALUES))?;
        scanner.value_into(value)?;
        return scanner.is_at_end().then_some(());
    }
    set_string(value, text);
    Some(())
}

/// Writes a list over another value.
fn list_into(
    cells: &Column,
    entries: Range<usize>,
    value: &mut Value,
    size: &mut usize,
) -> Option<()> {
    let mut items = match value {
        Value::Array(items) => std::mem::take(items),
        _ => Vec::new(),
    };
    *size += size_of::<Value>();
    items.resize(entries.len(), Value::Null);
    for (entry, item) in entries.zip(&mut items) {
        match cells.entry_text(entry) {
            Some(text) => {
                *size += size_of::<Value>() + text.len();
                set_string(item, text);
            }
            None => *item = converted(cells, entry, None, size)?,
        }
    }
    *value = Value::Array(items);
    Some(())
}

/// Converts an entry that is not a string; `None` if this is an error, or a panic of the `parquet` crate.
fn converted(cells: &Column, entry: usize, kind: Option<&Type>, size: &mut usize) -> Option<Value> {
    let convert = || cell::value(cells.field(entry).ok()?, kind, size).ok();
    panic::catch(false, convert).ok().flatten()
}
