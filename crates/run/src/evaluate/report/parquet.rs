//! Results as Parquet, with the columns of `columns.rs`.
//!
//! A column has the type of its values. Lists, objects, and columns of several types are JSON in strings: not every
//! program reads the logical type JSON as text, so the metadata of the file names these columns. Cells without a value are
//! null.

use std::io::{self, Write};
use std::sync::Arc;

use indexmap::IndexMap;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::Value;

use super::columns::{Cells, Columns, Line};
use super::spool::SpoolReader;
use crate::data::{EMBEDDED_MANIFEST, JSON_COLUMNS};
use crate::evaluate::manifest::{Embedded, RunManifest};

/// The rows of a row group, which are in memory at once.
const ROWS_IN_MEMORY: usize = 10_000;

/// The type of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    /// All values are null.
    #[default]
    Null,
    Bool,
    Integer,
    Float,
    Text,
    Json,
}

impl Kind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_i64() => Self::Integer,
            Value::Number(_) => Self::Float,
            Value::String(_) => Self::Text,
            Value::Array(_) | Value::Object(_) => Self::Json,
        }
    }

    /// Returns the type of a column with values of both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (kind, Self::Null) | (Self::Null, kind) => kind,
            (a, b) if a == b => a,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            _ => Self::Json,
        }
    }

    fn physical(self) -> Physical {
        match self {
            Self::Bool => Physical::BOOLEAN,
            Self::Integer => Physical::INT64,
            Self::Float => Physical::DOUBLE,
            Self::Null | Self::Text | Self::Json => Physical::BYTE_ARRAY,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        (self.physical() == Physical::BYTE_ARRAY).then_some(LogicalType::String)
    }
}

/// Writes the lines as Parquet. Reads them twice, since the columns are known only after the last row.
pub(super) fn export(
    lines: &mut SpoolReader<'_>,
    out: &mut (impl Write + Send),
    manifest: &RunManifest,
) -> io::Result<()> {
    let mut columns = Columns::<Kind>::default();
    lines.for_each(|line| {
        columns.add(Line::read(line)?, |kind, value| *kind = kind.with(Kind::of(value)));
        Ok(())
    })?;
    let (columns, packing) = columns.finish(|| Kind::Json);
    let schema = Arc::new(schema(&columns).map_err(io::Error::other)?);
    let json = columns.iter().filter(|(_, kind)| **kind == Kind::Json).map(|(name, _)| name);
    let json = serde_json::to_string(&json.collect::<Vec<_>>())?;
    let json = KeyValue::new(JSON_COLUMNS.to_owned(), json);
    let embedded = KeyValue::new(EMBEDDED_MANIFEST.to_owned(), Embedded::to_text(manifest));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![json, embedded]))
        .build();
    let mut file =
        SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(io::Error::other)?;
    let mut rows: Vec<Cells> = Vec::new();
    lines.for_each(|line| {
        rows.push(packing.cells(Line::read(line)?));
        if rows.len() == ROWS_IN_MEMORY {
            let group = file.next_row_group().map_err(io::Error::other)?;
            write_group(group, &columns, &std::mem::take(&mut rows)).map_err(io::Error::other)?;
        }
        Ok(())
    })?;
    if !rows.is_empty() {
        let group = file.next_row_group().map_err(io::Error::other)?;
        write_group(group, &columns, &rows).map_err(io::Error::other)?;
    }
    file.close().map_err(io::Error::other)?;
    Ok(())
}

fn schema(columns: &IndexMap<String, Kind>) -> Result<Type, ParquetError> {
    let field = |(name, kind): (&String, &Kind)| {
        let field = Type::primitive_type_builder(name, kind.physical());
        let field = field.with_repetition(Repetition::OPTIONAL).with_logical_type(kind.logical());
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("results").with_fields(fields).build()
}

fn write_group<W: Write + Send>(
    mut group: SerializedRowGroupWriter<'_, W>,
    columns: &IndexMap<String, Kind>,
    rows: &[Cells],
) -> Result<(), ParquetError> {
    for (name, kind) in columns {
        let cells = rows.iter().map(|row| row.get(name).filter(|value| !value.is_null()));
        match kind {
            Kind::Bool => write_column::<BoolType, _>(&mut group, cells, Value::as_bool),
            Kind::Integer => write_column::<Int64Type, _>(&mut group, cells, Value::as_i64),
            Kind::Float => write_column::<DoubleType, _>(&mut group, cells, Value::as_f64),
            Kind::Null | Kind::Text => {
                write_column::<ByteArrayType, _>(&mut group, cells, |text| {
                    Some(ByteArray::from(text.as_str()?))
                })
            }
            Kind::Json => write_column::<ByteArrayType, _>(&mut group, cells, |value| {
                Some(ByteArray::from(value.to_string().into_bytes()))
            }),
        }?;
    }
    group.close().map(|_| ())
}

/// Writes the cells of the next column.
fn write_column<'a, T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = Option<&'a Value>>,
    convert: impl Fn(&'a Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than in the schema".to_owned()));
    };
    let cells: Vec<Option<T::T>> = cells.map(|cell| cell.and_then(&convert)).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}
