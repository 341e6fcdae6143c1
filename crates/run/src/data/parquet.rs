//! Parquet: typed columns, decoded in Arrow record batches.
//!
//! The columns are the same as in CSV: `id`, `gold.answer`, `pred.answer`, and attributes. `gold` and `pred` may also
//! be structs. A value has the type of its column (`parquet/cell.rs`); a string stays a string. Only columns that the
//! run reads are decoded. The sizes in the metadata determine how many rows are decoded at once, and each batch has a
//! byte limit.
//!
//! The file is long because the choice of columns, the batches and their limits are read together.

mod cell;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array as _, RecordBatch, RecordBatchReader as _};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, ConvertedType, Repetition};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::{SchemaDescriptor, Type};

use self::cell::Cells;
use super::csv::duplicate_column;
use super::error::{DataError, DataErrorKind, Read};
use super::input::value_limit;
use super::pairing::Pairing;
use super::result_row::are_of_results;
use super::row::{Column, RowObject, check_sides};
use super::selection::FieldSelection;
use crate::contract::{Origin, Side, panic};
use crate::messages::escape;

/// The metadata key of a result file that lists its JSON columns.
pub(crate) const JSON_COLUMNS: &str = "dsrs_metrics.json_columns";

/// The maximum number of rows in a batch.
const BATCH_ROWS: u64 = 1024;

/// The maximum number of bytes in a batch, according to the metadata of the row groups.
const BATCH_BYTES: u64 = 4 << 20;

/// The maximum number of values in a batch.
const BATCH_VALUES: u64 = 1 << 18;

/// The rows of a Parquet file.
pub(super) struct ParquetFile {
    file: Arc<Path>,
    rows: ParquetRecordBatchReader,
    columns: Arc<Columns>,
    /// The number of rows returned so far.
    returned: u64,
    has_ended: bool,
}

/// What is known about the columns that are read.
struct Columns {
    /// Where a column's values belong, and whether they are JSON.
    targets: Vec<(Column, bool)>,
    are_of_results: bool,
    row_limit: usize,
}

/// Rows of a record batch.
pub(super) struct ColumnRows {
    batch: RecordBatch,
    columns: Arc<Columns>,
}

impl ParquetFile {
    /// Reads the schema, and checks it along with the sizes of the columns that are read.
    pub(super) fn new(
        file: Arc<Path>,
        reader: impl ChunkReader + 'static,
        row_limit: usize,
        pairing: Option<&Pairing>,
    ) -> Result<Self, DataError> {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let load = || ArrowReaderMetadata::load(&reader, options.clone());
        let metadata = unless_invalid(&file, 0, load)?;
        let schema = metadata.parquet_schema();
        let at = Origin {
            file: Arc::clone(&file),
            line: 1,
        };
        check_names(schema.root_schema(), &mut Vec::new(), &at)?;
        let names = schema.root_schema().get_fields().iter();
        let names: Vec<_> = names.map(|column| column.name().to_owned()).collect();
        // In a result file, a side can have fields in some rows and be a different value in others.
        let are_of_results = are_of_results(&names);
        if !are_of_results {
            check_sides(&names, &at)?;
        }
        let pairing = pairing.filter(|it| has_required(schema, &names, it));
        let selection = pairing.and_then(|it| it.selection_of(are_of_results));
        let mask = selection.map_or_else(ProjectionMask::all, |selection| {
            projection(schema, selection)
        });
        let groups = metadata.metadata().row_groups();
        for group in groups {
            check_group(&file, group, &mask, row_limit)?;
        }
        let at_once = groups.iter().map(|group| rows_at_once(group, &mask)).min();
        let json_columns = json_columns(metadata.metadata());
        let rows = unless_invalid(&file, 0, || {
            let metadata = with_views(&metadata, options)?;
            ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata)
                .with_batch_size(at_once.unwrap_or(1))
                .with_projection(mask)
                .build()
        })?;
        let schema = rows.schema();
        let target = |field: &FieldRef| {
            let column = Column::new(field.name(), true, selection);
            (column, json_columns.contains(field.name()))
        };
        let columns = Columns {
            targets: schema.fields().iter().map(target).collect(),
            are_of_results,
            row_limit,
        };
        Ok(Self {
            file,
            rows,
            columns: Arc::new(columns),
            returned: 0,
            has_ended: false,
        })
    }

    /// Reads the next rows. Returns `None` at the end of the file or after an error.
    pub(super) fn next(&mut self) -> Option<Read<ColumnRows>> {
        if self.has_ended {
            return None;
        }
        let (batch, error) = match self.next_batch() {
            Ok(batch) => (batch?, None),
            Err(error) => (RecordBatch::new_empty(self.rows.schema()), Some(error)),
        };
        self.returned += batch.num_rows() as u64;
        self.has_ended = error.is_some();
        let columns = Arc::clone(&self.columns);
        Some((ColumnRows { batch, columns }, error))
    }

    /// Reads the next batch and checks how much memory its columns use, which may be more than their metadata declares.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = || Ok(self.rows.next().transpose()?);
        let batch = unless_invalid(&self.file, self.returned + 1, next)?;
        let limit = byte_limit(self.columns.row_limit);
        if let Some(batch) = &batch {
            for (column, field) in batch.columns().iter().zip(batch.schema_ref().fields()) {
                let found = column.get_array_memory_size() as u64;
                check_size(&self.file, field.name(), found, limit, "bytes")?;
            }
        }
        Ok(batch)
    }
}

/// Returns the byte limit of a batch. Writers make pages of about 1 MiB, and a page with the longest row must fit.
fn byte_limit(row_limit: usize) -> u64 {
    row_limit.max(1 << 20).saturating_mul(4) as u64
}

fn check_size(
    file: &Path,
    column: &str,
    found: u64,
    limit: u64,
    unit: &str,
) -> Result<(), DataError> {
    if found <= limit {
        return Ok(());
    }
    Err(DataError::new(
        DataErrorKind::TooLarge,
        format!(
            "{}: column `{}`: expected pages of at most {limit} {unit}, found {found}; rewrite the file with smaller pages",
            file.display(),
            escape::name(column)
        ),
    ))
}

impl ColumnRows {
    pub(super) fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Converts a row.
    pub(super) fn read(&self, row: usize, at: &Origin) -> Result<RowObject, DataError> {
        let convert = || Ok(self.convert(row, at));
        unless_invalid(&at.file, at.line, convert)?
    }

    fn convert(&self, row: usize, at: &Origin) -> Result<RowObject, DataError> {
        let Columns {
            targets,
            are_of_results,
            row_limit,
        } = &*self.columns;
        let mut object = RowObject {
            is_flat: true,
            is_of_results: *are_of_results,
            ..RowObject::default()
        };
        let mut cells = Cells::default();
        for (place, (target, is_json)) in targets.iter().enumerate() {
            let column = self.batch.column(place);
            if column.is_null(row) || *column.data_type() == DataType::Null {
                continue;
            }
            let value = cells.value(column, row);
            let value = value.and_then(|value| match value.as_str() {
                Some(text) if *is_json => cell::json(text),
                _ => Ok(value),
            });
            let value = value.map_err(|problem| {
                let column = escape::name(self.batch.schema_ref().field(place).name());
                invalid(&at.file, at.line, &format!("column `{column}`: {problem}"))
            })?;
            object.add_cell(target, value, false);
        }
        object.has_nan = cells.has_nan;
        if cells.size > *row_limit {
            return Err(DataError::too_long(at, *row_limit));
        }
        Ok(object)
    }
}

/// Returns the JSON columns of a result file.
fn json_columns(metadata: &ParquetMetaData) -> HashSet<String> {
    let entries = metadata.file_metadata().key_value_metadata().into_iter();
    let entry = entries.flatten().find(|entry| entry.key == JSON_COLUMNS);
    let names = entry.and_then(|entry| serde_json::from_str(entry.value.as_ref()?).ok());
    names.unwrap_or_default()
}

/// Reads strings as views, which do not copy what a dictionary repeats.
fn with_views(
    metadata: &ArrowReaderMetadata,
    options: ArrowReaderOptions,
) -> Result<ArrowReaderMetadata, ParquetError> {
    let fields = metadata.schema().fields().iter().map(viewed);
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options.with_schema(schema))
}

fn viewed(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        DataType::List(item) => DataType::List(viewed(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(viewed).collect()),
        DataType::Map(entries, is_sorted) => DataType::Map(viewed(entries), *is_sorted),
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}

/// Calls the decoder and reports its errors as errors for the file. The decoder panics on some invalid files.
fn unless_invalid<T>(
    file: &Path,
    row: u64,
    decode: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, DataError> {
    let reason = match panic::catch(false, decode) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic.message,
    };
    let reason = format!("invalid Parquet: {}", escape::name(&reason));
    Err(invalid(file, row.max(1), &reason))
}

fn invalid(file: &Path, row: u64, problem: &str) -> DataError {
    DataError::invalid_file(file, format_args!("row {row}: {problem}"))
}

/// Checks that no column or struct field occurs twice, because only one of them would be read.
fn check_names<'s>(group: &'s Type, path: &mut Vec<&'s str>, at: &Origin) -> Result<(), DataError> {
    let mut names = HashSet::new();
    for field in group.get_fields() {
        path.push(field.name());
        if !names.insert(field.name()) {
            return Err(duplicate_column(at, &path.join(".")));
        }
        if field.is_group() {
            check_names(field, path, at)?;
        }
        path.pop();
    }
    Ok(())
}

/// Returns the columns to read, and the fields to read from the structs `gold` and `pred`. A side that is not a struct
/// is read completely, because an error may name it.
fn projection(schema: &SchemaDescriptor, selection: &FieldSelection) -> ProjectionMask {
    let is_read = |leaf: &usize| {
        let column = schema.get_column_root(*leaf);
        let side = match column.name() {
            "gold" => Side::Gold,
            "pred" => Side::Pred,
            name => return selection.reads_column(name),
        };
        let info = column.get_basic_info();
        let is_struct = column.is_group()
            && info.converted_type() == ConvertedType::NONE
            && info.repetition() != Repetition::REPEATED;
        let path = schema.column(*leaf);
        !is_struct || selection.reads_field(side, &path.path().parts()[1])
    };
    ProjectionMask::leaves(schema, (0..schema.num_columns()).filter(is_read))
}

/// Returns `true` if the file has the columns that each row must have. If a column is missing, the whole file is read,
/// so the message can name its columns.
fn has_required(schema: &SchemaDescriptor, names: &[String], pairing: &Pairing) -> bool {
    let is_below = |path: &str, other: &str| {
        let below = path.strip_prefix(other);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let has_column = |path: String| {
        let mut columns = schema.columns().iter().map(|column| column.path().string());
        columns.any(|column| is_below(&column, &path) || is_below(&path, &column))
    };
    let is_of_side = |name: &String| is_below(name, "gold") || is_below(name, "pred");
    let has_row = pairing.are_examples || !pairing.mappings.is_empty();
    (has_row || names.iter().any(is_of_side)) && pairing.required_paths().all(has_column)
}

fn read_columns<'g>(
    group: &'g RowGroupMetaData,
    columns: &ProjectionMask,
) -> impl Iterator<Item = &'g ColumnChunkMetaData> {
    let all = group.columns().iter().enumerate();
    all.filter(|(leaf, _)| columns.leaf_included(*leaf))
        .map(|(_, column)| column)
}

/// Checks the metadata of the columns that are read: their compression and mean row size.
fn check_group(
    file: &Path,
    group: &RowGroupMetaData,
    mask: &ProjectionMask,
    row_limit: usize,
) -> Result<(), DataError> {
    let (bytes, values) = (byte_limit(row_limit), value_limit(row_limit) as u64);
    let rows = size(group.num_rows()).max(1);
    for column in read_columns(group, mask) {
        check_compression(file, column)?;
        let name = column.column_path().string();
        let mean = |sum| size(sum) / rows;
        check_size(
            file,
            &name,
            mean(column.uncompressed_size()),
            bytes,
            "bytes",
        )?;
        check_size(file, &name, mean(column.num_values()), values, "values")?;
    }
    Ok(())
}

fn check_compression(file: &Path, column: &ColumnChunkMetaData) -> Result<(), DataError> {
    let found = match column.compression() {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::ZSTD(_)
        | Compression::GZIP(_) => return Ok(()),
        Compression::BROTLI(_) => "brotli",
        Compression::LZ4 | Compression::LZ4_RAW => "lz4",
        Compression::LZO => "lzo",
    };
    let name = column.column_path().string();
    Err(DataError::invalid_file(
        file,
        format_args!(
            "column `{}`: expected snappy, gzip, zstd or no compression, found {found}; rewrite the file with a supported codec",
            escape::name(&name)
        ),
    ))
}

/// Returns the size, or 0 for a negative size, which is a decoder error.
fn size(size: i64) -> u64 {
    u64::try_from(size).unwrap_or(0)
}

fn rows_at_once(group: &RowGroupMetaData, columns: &ProjectionMask) -> usize {
    let rows = size(group.num_rows()).max(1);
    let sum = |size_of: fn(&ColumnChunkMetaData) -> i64| {
        let sizes = read_columns(group, columns).map(|column| size(size_of(column)));
        sizes.fold(0, u64::saturating_add)
    };
    let within = |most: u64, sum: u64| most / (sum / rows).max(1);
    let bytes = within(BATCH_BYTES, sum(ColumnChunkMetaData::uncompressed_size));
    let values = within(BATCH_VALUES, sum(ColumnChunkMetaData::num_values));
    let rows = bytes.min(values).clamp(1, BATCH_ROWS);
    usize::try_from(rows).unwrap_or(1)
}

#[cfg(test)]
mod tests;
