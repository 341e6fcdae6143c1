//! Parquet: typed columns, read one row at a time.
//!
//! The columns are the same as in CSV: `id`, `gold.answer`, `pred.answer`, and attributes. `gold` and `pred` may also be structs.
//! A value has the type of its column (`cell.rs`); a string stays a string. Only columns that the run reads are decoded
//! (`schema.rs`). `pages.rs` and `row_values.rs` limit the memory that a page and a row need.

mod cell;
mod pages;
mod row_values;
mod schema;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row as ParquetRow};
use parquet::schema::types::{SchemaDescriptor, Type};
use serde_json::Value;

use super::csv::are_of_results;
use super::error::DataError;
use super::input::value_limit;
use super::pairing::Pairing;
use super::row::{Row, RowObject, check_sides};
use crate::core::panic;
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::Origin;
use crate::json::unique_keys::Shape;
use row_values::{LimitedFile, TooManyValues};

/// The key in the metadata of a result file whose value is the list of its columns of JSON.
pub(crate) const JSON_COLUMNS: &str = "dsrs_metrics.json_columns";

/// The key in the metadata of a result file whose value is the manifest of the run.
pub(crate) const EMBEDDED_MANIFEST: &str = "dsrs_metrics.manifest";

/// Returns the manifest in the metadata of a result file; `None` if there is none, or if the file cannot be read.
pub(crate) fn embedded_manifest(file: &Path) -> Option<String> {
    let file = std::fs::File::open(file).ok()?;
    let read = || ParquetMetaDataReader::new().parse_and_finish(&file);
    let metadata = unless_invalid(&Arc::from(Path::new("")), 0, 0, read).ok()?;
    let entries = metadata.file_metadata().key_value_metadata();
    entries.into_iter().flatten().find(|entry| entry.key == EMBEDDED_MANIFEST)?.value.clone()
}

/// The rows of a Parquet file.
pub(super) struct ParquetRows<R: ChunkReader + 'static> {
    source: Source<R>,
    pairing: Option<Arc<Pairing>>,
    rows: RowIter<'static>,
    json_columns: HashSet<String>,
    /// The columns that are decoded.
    schema: Arc<Type>,
    /// Whether these are not all columns.
    is_projected: bool,
    /// The number of the current row, from 1.
    row: Arc<AtomicU64>,
    at: u64,
}

/// A file that can be opened again.
struct Source<R> {
    file: Arc<Path>,
    open: Box<dyn Fn() -> std::io::Result<R> + Send>,
    metadata: ParquetMetaData,
    row_limit: usize,
}

impl<R: ChunkReader + 'static> ParquetRows<R> {
    /// Reads the schema, and checks it and the sizes of the pages.
    pub(super) fn new(
        file: Arc<Path>,
        open: impl Fn() -> std::io::Result<R> + Send + 'static,
        row_limit: usize,
        pairing: Option<Arc<Pairing>>,
    ) -> Result<Self, DataError> {
        let unreadable = |reason| DataError::Unreadable { file: file.to_path_buf(), reason };
        let reader = open().map_err(unreadable)?;
        let read = || ParquetMetaDataReader::new().parse_and_finish(&reader);
        let metadata = unless_invalid(&file, 0, row_limit, read)?;
        let whole = metadata.file_metadata().schema_descr().root_schema_ptr();
        let at = Origin { file: Arc::clone(&file), line: 1 };
        schema::check_names(&whole, &at)?;
        let names = whole.get_fields().iter().map(|column| column.name().to_owned()).collect();
        // Some rows of a result file may have fields, and others another value.
        let are_of_results = are_of_results(&names);
        if !are_of_results {
            check_sides(names.iter().map(String::as_str), &at)?;
        }
        // All columns are needed to find out which rows are results.
        let selection = pairing.as_ref().filter(|_| !are_of_results);
        let selection = selection.and_then(|pairing| pairing.selection());
        let projected = selection.map(|selection| schema::project(&whole, selection));
        let projected = projected.transpose().map_err(|error| invalid(&file, 1, &error))?;
        let json_columns = json_columns(&metadata);
        let source = Source { file, open: Box::new(open), metadata, row_limit };
        let row = Arc::new(AtomicU64::new(0));
        let is_projected = projected.is_some();
        let schema = projected.map_or(whole, Arc::new);
        let rows = source.rows(&schema, &row)?;
        Ok(Self { source, pairing, rows, json_columns, schema, is_projected, row, at: 0 })
    }

    fn start_row(&mut self) {
        self.at += 1;
        self.row.store(self.at, Ordering::Relaxed);
    }

    fn read(&mut self) -> Option<Result<Row, DataError>> {
        let Source { file, row_limit, .. } = &self.source;
        let rows = &mut self.rows;
        let row = unless_invalid(file, self.at, *row_limit, || rows.next().transpose());
        Some(row.transpose()?.and_then(|row| self.row(row)))
    }

    /// Returns the next row again, if other columns may be needed for an error of it. All further rows have them too.
    fn reread(&mut self, row: Row) -> Result<Row, DataError> {
        let lacks_fields = match (&row, &self.pairing) {
            (Row::Map(row), Some(pairing)) => !pairing.has_required(row),
            _ => false,
        };
        if !self.is_projected || !lacks_fields {
            return Ok(row);
        }
        self.is_projected = false;
        self.schema = self.source.metadata.file_metadata().schema_descr().root_schema_ptr();
        self.rows = self.source.rows(&self.schema, &self.row)?;
        let current = std::mem::take(&mut self.at);
        while self.at + 1 < current {
            if let Some(Err(error)) = self.next() {
                return Err(error);
            }
        }
        self.start_row();
        self.read().unwrap_or(Ok(row))
    }

    fn row(&self, row: ParquetRow) -> Result<Row, DataError> {
        let at = || Origin { file: Arc::clone(&self.source.file), line: self.at };
        let mut size = 0;
        let columns = row.into_columns().into_iter().zip(self.schema.get_fields());
        let columns = columns.filter(|((_, cell), _)| *cell != Field::Null);
        let mut row = RowObject { is_flat: true, ..RowObject::default() };
        let (mut gold, mut pred) = (Fields::default(), Fields::default());
        for ((name, cell), kind) in columns {
            let value = cell::value(cell, Some(kind), &mut size);
            let value = value.and_then(|value| match value {
                Value::String(text) if self.json_columns.contains(&name) => cell::json(&text),
                value => Ok(value),
            });
            let value = value.map_err(|problem| DataError::InvalidCell {
                at: at(),
                column: name.clone(),
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
        if size > self.source.row_limit {
            return Err(DataError::TooLong { at: at(), limit: self.source.row_limit });
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

impl<R: ChunkReader + 'static> Source<R> {
    /// Opens the rows with these columns, whose pages are checked first. `row` is the number of the current row.
    fn rows(
        &self,
        schema: &Arc<Type>,
        row: &Arc<AtomicU64>,
    ) -> Result<RowIter<'static>, DataError> {
        let Self { file, metadata, row_limit, .. } = self;
        let unreadable = |reason| DataError::Unreadable { file: file.to_path_buf(), reason };
        let reader = (self.open)().map_err(unreadable)?;
        let columns = SchemaDescriptor::new(Arc::clone(schema));
        let limits = pages::Limits {
            // Writers make pages of about 1 MiB; one with the longest row must fit.
            bytes: (*row_limit).max(1 << 20).saturating_mul(4) as u64,
            values: value_limit(*row_limit) as u64,
        };
        let checked = || Ok(pages::check(file, &reader, metadata, &columns, limits));
        unless_invalid(file, 0, *row_limit, checked)??;
        let has_lists = columns.columns().iter().any(|column| column.max_rep_level() > 0);
        unless_invalid(file, 0, *row_limit, || {
            let reader = SerializedFileReader::new(reader)?;
            let reader = LimitedFile::new(reader, limits.values, Arc::clone(row));
            let rows = RowIter::from_file_into(Box::new(reader));
            let rows = rows.project(Some(Type::clone(schema)))?;
            // Rows of lists are decoded one by one, since each may need much memory.
            Ok(if has_lists { rows.with_batch_size(1) } else { rows })
        })
    }
}

impl<R: ChunkReader + 'static> Iterator for ParquetRows<R> {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.start_row();
        let row = self.read()?.and_then(|row| self.reread(row));
        Some(row.map(|row| (row, self.at)))
    }
}

/// The columns of JSON of a result file; none of any other file.
fn json_columns(metadata: &ParquetMetaData) -> HashSet<String> {
    let entries = metadata.file_metadata().key_value_metadata();
    let entry = entries.into_iter().flatten().find(|entry| entry.key == JSON_COLUMNS);
    let names = entry.and_then(|entry| entry.value.as_deref());
    names.and_then(|names| serde_json::from_str(names).ok()).unwrap_or_default()
}

/// Calls the decoder. It also panics on some invalid files.
fn unless_invalid<T>(
    file: &Arc<Path>,
    row: u64,
    row_limit: usize,
    decode: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, DataError> {
    let at = || Origin { file: Arc::clone(file), line: row.max(1) };
    Err(match panic::catch(false, decode) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(ParquetError::External(error))) if error.is::<TooManyValues>() => {
            DataError::TooManyValues { at: at(), limit: value_limit(row_limit) }
        }
        Ok(Err(error)) => invalid(file, row, &error),
        Err(panic) => DataError::InvalidParquet { at: at(), reason: panic.message },
    })
}

fn invalid(file: &Arc<Path>, row: u64, error: &ParquetError) -> DataError {
    let at = Origin { file: Arc::clone(file), line: row.max(1) };
    DataError::InvalidParquet { at, reason: error.to_string() }
}

fn shape(value: Value) -> Shape<Fields> {
    match value {
        Value::Object(fields) => Shape::Map(Fields::from_iter(fields)),
        other => Shape::Other(other),
    }
}

#[cfg(test)]
mod tests;
