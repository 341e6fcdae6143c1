//! Results as Parquet, with the columns of `columns.rs`.
//!
//! Each column has the type of its values. Lists, objects and columns of mixed types are stored as JSON strings. Not
//! every program reads the logical type JSON as text, so the file's metadata names these columns instead. Cells without
//! a value are null.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::columns::{self, Kind, Layout};
use super::spool::{Chunk, Spool};
use crate::data::JSON_COLUMNS;

/// The maximum number of rows in a row group, and of bytes in their lines. Each thread holds one row group in memory.
const MAX_ROWS: usize = 10_000;
const MAX_BYTES: usize = 32 << 20;

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Null | Self::Text | Self::Json => DataType::Utf8,
        }
    }

    /// Returns a column of these cells. If a cell's value has a different type, the cell is null.
    fn array(self, cells: &[Option<Cow<'_, str>>]) -> ArrayRef {
        let cells = cells.iter().map(Option::as_deref);
        match self {
            Self::Bool => Arc::new(cells.map(|it| it?.parse().ok()).collect::<BooleanArray>()),
            Self::Integer => Arc::new(cells.map(|it| it?.parse().ok()).collect::<Int64Array>()),
            Self::Float => Arc::new(cells.map(|it| it?.parse().ok()).collect::<Float64Array>()),
            Self::Null | Self::Text => {
                Arc::new(cells.map(|it| columns::text(it?)).collect::<StringArray>())
            }
            Self::Json => Arc::new(cells.collect::<StringArray>()),
        }
    }
}

/// Writes the lines as Parquet. Threads convert the lines of each row group, which are encoded in order.
pub(super) fn export(lines: &Spool, out: &mut (impl Write + Send)) -> io::Result<()> {
    let layout = Layout::of(lines)?;
    let columns = &layout.columns;
    let fields = columns
        .iter()
        .map(|(name, kind)| Field::new(name, kind.data_type(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let json = columns
        .iter()
        .filter(|(_, kind)| **kind == Kind::Json)
        .map(|(name, _)| name);
    let json = serde_json::to_string(&json.collect::<Vec<_>>())?;
    let json = KeyValue::new(JSON_COLUMNS.to_owned(), json);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![json]))
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true)
        .with_schema_root("results".to_owned());
    let file = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options);
    let mut file = file.map_err(io::Error::other)?;
    let batch = |chunk: Chunk| {
        let Chunk { text, lines } = chunk;
        let mut cells = vec![Vec::with_capacity(lines.len()); columns.len()];
        layout.each_row(&text, &lines, |row| {
            cells
                .iter_mut()
                .zip(row)
                .for_each(|(column, cell)| column.push(cell.clone()));
            Ok(())
        })?;
        let arrays = columns
            .values()
            .zip(&cells)
            .map(|(kind, cells)| kind.array(cells));
        RecordBatch::try_new(Arc::clone(&schema), arrays.collect()).map_err(io::Error::other)
    };
    let is_full = |rows, bytes| rows == MAX_ROWS || bytes >= MAX_BYTES;
    lines.map_chunks(is_full, batch, |batch| {
        file.write(&batch)
            .and_then(|()| file.flush())
            .map_err(io::Error::other)
    })?;
    file.close().map_err(io::Error::other)?;
    Ok(())
}
