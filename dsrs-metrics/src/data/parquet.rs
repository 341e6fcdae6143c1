//! Parquet: typed columns, read one row at a time.
//!
//! The columns are those of CSV: `id`, `gold.answer`, `pred.answer`, and attributes. `gold` and `pred` may also be structs.
//! Strings are read as cells of CSV, so that a column may contain lists as JSON; all other values have their type.

use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row as ParquetRow};
use serde_json::{Map, Value};

use super::error::DataError;
use super::parquet_pages;
use super::row::{Row, RowObject};
use crate::core::panic;
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::Origin;
use crate::json::unique_keys::Shape;

/// The rows of a Parquet file.
pub(super) struct ParquetRows {
    file: Arc<Path>,
    rows: RowIter<'static>,
    row_limit: usize,
    /// The number of the current row, from 1.
    row: u64,
}

impl ParquetRows {
    /// Reads the schema, and checks the sizes of the pages.
    pub(super) fn new<R: ChunkReader + 'static>(
        file: Arc<Path>,
        reader: R,
        row_limit: usize,
    ) -> Result<Self, DataError> {
        let metadata =
            unless_invalid(&file, 0, || ParquetMetaDataReader::new().parse_and_finish(&reader))?;
        // Writers make pages of about 1 MiB; one with the longest row must fit.
        let page_limit = (row_limit.max(1 << 20) as u64).saturating_mul(4);
        let checked = || Ok(parquet_pages::check(&file, &reader, &metadata, page_limit));
        unless_invalid(&file, 0, checked)??;
        let open = || Ok(RowIter::from_file_into(Box::new(SerializedFileReader::new(reader)?)));
        let rows = unless_invalid(&file, 0, open)?;
        Ok(Self { file, rows, row_limit, row: 0 })
    }

    fn at(&self) -> Origin {
        Origin { file: Arc::clone(&self.file), line: self.row }
    }

    fn row(&self, row: ParquetRow) -> Result<Row, DataError> {
        let mut size = 0;
        let columns = row.into_columns().into_iter().filter(|(_, cell)| *cell != Field::Null);
        let mut row = RowObject::default();
        let (mut gold, mut pred) = (Fields::default(), Fields::default());
        for (name, cell) in columns {
            let value = json(cell, &mut size).map_err(|problem| {
                let at = self.at();
                DataError::InvalidCell { at, column: name.clone(), problem }
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
            return Err(DataError::TooLong { at: self.at(), limit: self.row_limit });
        }
        add(&mut row.gold, gold);
        add(&mut row.pred, pred);
        row.attributes = row.attributes.textual();
        Ok(Row::Map(row))
    }
}

impl Iterator for ParquetRows {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.row += 1;
        let rows = &mut self.rows;
        let row = unless_invalid(&self.file, self.row, || rows.next().transpose());
        let row = row.transpose()?.and_then(|row| self.row(row));
        Some(row.map(|row| (row, self.row)))
    }
}

/// Calls the decoder. It also panics on some invalid files.
fn unless_invalid<T>(
    file: &Arc<Path>,
    row: u64,
    decode: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, DataError> {
    let reason = match panic::catch(false, decode) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic.message,
    };
    let at = Origin { file: Arc::clone(file), line: row.max(1) };
    Err(DataError::InvalidParquet { at, reason })
}

fn shape(value: Value) -> Shape<Fields> {
    match value {
        Value::Object(fields) => Shape::Map(Fields::from_iter(fields)),
        other => Shape::Other(other),
    }
}

/// Adds the fields that have columns of their own.
fn add(side: &mut Option<Shape<Fields>>, fields: Fields) {
    if fields.is_empty() {
        return;
    }
    match side {
        Some(Shape::Map(side)) => {
            for (name, value) in fields.iter() {
                side.insert(name, value.clone());
            }
        }
        _ => *side = Some(Shape::Map(fields)),
    }
}

/// Converts a cell, and adds its size in bytes.
fn json(cell: Field, size: &mut usize) -> Result<Value, &'static str> {
    let float = |value: f64| {
        serde_json::Number::from_f64(value).map(Value::Number).ok_or("the number is not finite")
    };
    *size += size_of::<Value>();
    Ok(match cell {
        Field::Null => Value::Null,
        Field::Bool(value) => value.into(),
        Field::Byte(value) => value.into(),
        Field::Short(value) => value.into(),
        Field::Int(value) => value.into(),
        Field::Long(value) => value.into(),
        Field::UByte(value) => value.into(),
        Field::UShort(value) => value.into(),
        Field::UInt(value) => value.into(),
        Field::ULong(value) => value.into(),
        Field::Float16(value) => float(f64::from(value))?,
        // The shortest decimal number: 0.1 is not 0.10000000149.
        Field::Float(value) => float(value.to_string().parse().unwrap_or(f64::NAN))?,
        Field::Double(value) => float(value)?,
        Field::Str(text) => {
            *size += text.len();
            text.into()
        }
        Field::Bytes(bytes) => {
            *size += bytes.len();
            let text = bytes.as_utf8().map_err(|_| "the bytes are not UTF-8")?;
            text.to_owned().into()
        }
        Field::Group(row) => {
            let fields = row.into_columns().into_iter();
            let field = |(name, cell)| json(cell, size).map(|value| (name, value));
            Value::Object(fields.map(field).collect::<Result<Map<_, _>, _>>()?)
        }
        Field::ListInternal(list) => {
            let cells = list.elements().iter().cloned();
            Value::Array(cells.map(|cell| json(cell, size)).collect::<Result<_, _>>()?)
        }
        Field::MapInternal(map) => {
            let entries = map.entries().iter().cloned();
            let entry = |(key, cell): (Field, Field)| match json(key, size)? {
                Value::String(key) => Ok((key, json(cell, size)?)),
                other => Ok((other.to_string(), json(cell, size)?)),
            };
            Value::Object(entries.map(entry).collect::<Result<Map<_, _>, &'static str>>()?)
        }
        // Decimals, dates and times.
        other => other.to_string().into(),
    })
}
