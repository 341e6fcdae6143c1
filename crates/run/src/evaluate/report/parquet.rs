//! Results as Parquet, with the columns of `columns.rs`.
//!
//! Each column has the type of its values. Lists, objects and columns of mixed types are stored as JSON strings. Not
//! every program reads the logical type JSON as text, so the file's metadata names these columns instead. Cells without
//! a value are null.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use super::columns::{self, Kind, Layout};
use super::spool::{Chunk, SpoolReader};
use crate::data::{EMBEDDED_MANIFEST, JSON_COLUMNS};
use crate::evaluate::manifest::{Embedded, RunManifest};

/// The maximum number of rows in a row group, and of bytes in their lines. Each thread holds one row group in memory.
const MAX_ROWS: usize = 10_000;
const MAX_BYTES: u64 = 32 << 20;

impl Kind {
    fn cells(self) -> Cells {
        match self {
            Self::Bool => Cells::Bool(Vec::new()),
            Self::Integer => Cells::Integer(Vec::new()),
            Self::Float => Cells::Float(Vec::new()),
            Self::Null | Self::Text => Cells::Text(Vec::new()),
            Self::Json => Cells::Json(Vec::new()),
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

/// Writes the lines as Parquet. One thread encodes each row group; the groups are added to the file in order.
pub(super) fn export(
    lines: &mut SpoolReader<'_>,
    out: &mut (impl Write + Send),
    manifest: &RunManifest,
) -> io::Result<()> {
    let layout = Layout::of(lines)?;
    let columns = &layout.columns;
    let schema = Arc::new(schema(columns).map_err(io::Error::other)?);
    let json = columns
        .iter()
        .filter(|(_, kind)| **kind == Kind::Json)
        .map(|(name, _)| name);
    let json = serde_json::to_string(&json.collect::<Vec<_>>())?;
    let json = KeyValue::new(JSON_COLUMNS.to_owned(), json);
    let embedded = KeyValue::new(EMBEDDED_MANIFEST.to_owned(), Embedded::to_text(manifest));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![json, embedded]))
        .build();
    let properties = Arc::new(properties);
    let descriptor = SchemaDescriptor::new(Arc::clone(&schema));
    let file = SerializedFileWriter::new(out, schema, Arc::clone(&properties));
    let mut file = file.map_err(io::Error::other)?;
    let encode = |chunk: Chunk| {
        let columns = columns_of(chunk, &layout)?
            .into_iter()
            .zip(descriptor.columns());
        let encoded = columns.map(|(column, description)| column.encode(description, &properties));
        encoded
            .collect::<Result<Vec<_>, _>>()
            .map_err(io::Error::other)
    };
    let is_full = |rows, bytes| rows == MAX_ROWS || bytes >= MAX_BYTES;
    lines.map_chunks(is_full, encode, |columns| {
        let mut group = file.next_row_group().map_err(io::Error::other)?;
        for (bytes, closed) in columns {
            group
                .append_column(&bytes, closed)
                .map_err(io::Error::other)?;
        }
        group.close().map_err(io::Error::other)?;
        Ok(())
    })?;
    file.close().map_err(io::Error::other)?;
    Ok(())
}

fn schema(columns: &IndexMap<String, Kind>) -> Result<Type, ParquetError> {
    let field = |(name, kind): (&String, &Kind)| {
        let field = Type::primitive_type_builder(name, kind.physical());
        let field = field
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(kind.logical());
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("results")
        .with_fields(fields)
        .build()
}

/// The cells of a column in a row group.
struct Column {
    cells: Cells,
    /// 1 for a cell with a value, 0 for one without.
    levels: Vec<i16>,
}

/// The values of a column.
enum Cells {
    Bool(Vec<bool>),
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Text(Vec<ByteArray>),
    Json(Vec<ByteArray>),
}

fn columns_of(chunk: Chunk, layout: &Layout) -> io::Result<Vec<Column>> {
    let (text, lines) = chunk.into_parts()?;
    let rows = lines.len();
    let new = |kind: &Kind| Column {
        cells: kind.cells(),
        levels: Vec::with_capacity(rows),
    };
    let mut columns: Vec<_> = layout.columns.values().map(new).collect();
    let bytes = Bytes::from(text);
    let text = std::str::from_utf8(&bytes).map_err(io::Error::other)?;
    layout.each_row(text, &lines, |values| {
        for (column, value) in columns.iter_mut().zip(values) {
            let has_value = value
                .as_ref()
                .is_some_and(|value| column.cells.push(value, &bytes));
            column.levels.push(i16::from(has_value));
        }
        Ok(())
    })?;
    Ok(columns)
}

impl Cells {
    /// Adds a value without copying it if it is part of the row group's text. Returns `true` if the value has the type
    /// of the column.
    fn push(&mut self, value: &str, text: &Bytes) -> bool {
        let array = |value: Cow<'_, str>| match value {
            Cow::Owned(value) => ByteArray::from(value.into_bytes()),
            Cow::Borrowed(value) => ByteArray::from(text.slice_ref(value.as_bytes())),
        };
        match self {
            Self::Bool(values) => add(values, value.parse().ok()),
            Self::Integer(values) => add(values, value.parse().ok()),
            Self::Float(values) => add(values, value.parse().ok()),
            Self::Text(values) => add(values, columns::text(value).map(array)),
            Self::Json(values) => add(values, Some(array(columns::json(value)))),
        }
    }
}

/// Adds a value; returns `true` if there is one.
fn add<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
    let is_some = value.is_some();
    values.extend(value);
    is_some
}

impl Column {
    /// Returns the encoded pages.
    fn encode(
        self,
        description: &ColumnDescPtr,
        properties: &WriterPropertiesPtr,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let mut out = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut out));
        let mut writer = get_column_writer(Arc::clone(description), Arc::clone(properties), pages);
        let levels = Some(&*self.levels);
        match (&mut writer, &self.cells) {
            (ColumnWriter::BoolColumnWriter(out), Cells::Bool(values)) => {
                out.write_batch(values, levels, None)
            }
            (ColumnWriter::Int64ColumnWriter(out), Cells::Integer(values)) => {
                out.write_batch(values, levels, None)
            }
            (ColumnWriter::DoubleColumnWriter(out), Cells::Float(values)) => {
                out.write_batch(values, levels, None)
            }
            (
                ColumnWriter::ByteArrayColumnWriter(out),
                Cells::Text(values) | Cells::Json(values),
            ) => out.write_batch(values, levels, None),
            _ => Err(ParquetError::General("a column of another type".to_owned())),
        }?;
        let closed = writer.close()?;
        Ok((Bytes::from(out.into_inner()?), closed))
    }
}
