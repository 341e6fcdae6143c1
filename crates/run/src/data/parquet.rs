//! Parquet: typed columns, decoded in Arrow record batches.
//!
//! The columns are the same as in CSV: `id`, `gold.answer`, `pred.answer`, and attributes. `gold` and `pred` may also
//! be structs. A value has the type of its column (`parquet/cell.rs`); a string stays a string. Only columns that the
//! run reads are decoded. The sizes in the metadata decide how many rows are decoded at once, and each batch has a byte
//! limit.
//!
//! The file is long because its limits on sizes belong to the reader that they protect.

mod cell;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
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

use super::csv::duplicate_column;
use super::error::{DataError, DataErrorKind, Read};
use super::input::value_limit;
use super::pairing::Pairing;
use super::result_row::are_of_results;
use super::row::{Column, Row, RowObject, check_sides, has_not_finite};
use super::selection::FieldSelection;
use crate::contract::{Origin, Side, panic};
use crate::messages::escape;

/// The metadata key of a result file that lists its JSON columns.
pub(crate) const JSON_COLUMNS: &str = "dsrs_metrics.json_columns";

/// The maximum number of rows in a batch.
const BATCH_ROWS: u64 = 1024;

/// The maximum number of bytes in a batch, according to the metadata of its row group.
const BATCH_BYTES: u64 = 4 << 20;

/// The maximum number of values in a batch.
const BATCH_VALUES: u64 = 1 << 18;

fn entry<'m>(metadata: &'m ParquetMetaData, key: &str) -> Option<&'m str> {
    let entries = metadata.file_metadata().key_value_metadata()?;
    entries
        .iter()
        .find(|entry| entry.key == key)?
        .value
        .as_deref()
}

/// Opens a row group, given its number, how many of its rows to skip, and the number of rows in a batch.
type Open = Box<
    dyn Fn(usize, usize, usize, ProjectionMask) -> Result<ParquetRecordBatchReader, ParquetError>
        + Send,
>;

/// The rows of a Parquet file.
pub(super) struct ParquetFile {
    file: Arc<Path>,
    metadata: Arc<ParquetMetaData>,
    open: Open,
    pairing: Option<Arc<Pairing>>,
    are_of_results: bool,
    row_limit: usize,
    /// The columns that are decoded.
    columns: ProjectionMask,
    has_all_columns: bool,
    json_columns: Arc<HashSet<String>>,
    /// The current row group, and the number of rows in the groups before it.
    group: usize,
    group_start: u64,
    reader: Option<ParquetRecordBatchReader>,
    /// The number of rows that were returned.
    returned: u64,
    has_ended: bool,
}

/// Rows of a record batch.
pub(super) struct ColumnRows {
    batch: RecordBatch,
    columns: Vec<Column>,
    json_columns: Arc<HashSet<String>>,
    are_of_results: bool,
    row_limit: usize,
}

impl ParquetFile {
    /// Reads the schema, and checks it along with the sizes of the columns that are read.
    pub(super) fn new<R: ChunkReader + 'static>(
        file: Arc<Path>,
        reopen: impl Fn() -> io::Result<R> + Send + 'static,
        row_limit: usize,
        pairing: Option<Arc<Pairing>>,
    ) -> Result<Self, DataError> {
        let reader = reopen().map_err(|reason| DataError::unreadable(&file, &reason))?;
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let load = || ArrowReaderMetadata::load(&reader, options.clone());
        let metadata = unless_invalid(&file, 0, load)?;
        let at = Origin {
            file: Arc::clone(&file),
            line: 1,
        };
        check_names(
            metadata.parquet_schema().root_schema(),
            &mut Vec::new(),
            &at,
        )?;
        let metadata = unless_invalid(&file, 0, || with_views(&metadata, options))?;
        let schema = metadata.parquet_schema();
        let columns = schema.root_schema().get_fields().iter();
        let names: Vec<_> = columns.map(|column| column.name().to_owned()).collect();
        // In a result file, some rows may have fields and others another value.
        let are_of_results = are_of_results(&names);
        if !are_of_results {
            check_sides(&names, &at)?;
        }
        let selection = pairing
            .as_ref()
            .and_then(|pairing| pairing.selection.as_ref());
        let columns = match selection {
            None => ProjectionMask::all(),
            Some(selection) => projection(schema, &names, selection, are_of_results),
        };
        let json_columns = entry(metadata.metadata(), JSON_COLUMNS);
        let json_columns = json_columns.and_then(|names| serde_json::from_str(names).ok());
        let rows = Self {
            file,
            metadata: Arc::clone(metadata.metadata()),
            has_all_columns: selection.is_none(),
            columns,
            json_columns: Arc::new(json_columns.unwrap_or_default()),
            open: Box::new(move |group, skipped, at_once, columns| {
                ParquetRecordBatchReaderBuilder::new_with_metadata(reopen()?, metadata.clone())
                    .with_row_groups(vec![group])
                    .with_offset(skipped)
                    .with_batch_size(at_once)
                    .with_projection(columns)
                    .build()
            }),
            pairing,
            are_of_results,
            row_limit,
            group: 0,
            group_start: 0,
            reader: None,
            returned: 0,
            has_ended: false,
        };
        rows.check_columns()?;
        Ok(rows)
    }

    /// Reads the next rows; `None` at the end of the file or after an error.
    pub(super) fn next(&mut self) -> Option<Read<ColumnRows>> {
        if self.has_ended {
            return None;
        }
        let (batch, error) = match self.next_complete() {
            Ok(batch) => (batch, None),
            Err(error) => (
                Some(RecordBatch::new_empty(Arc::new(Schema::empty()))),
                Some(error),
            ),
        };
        self.has_ended = batch.is_none() || error.is_some();
        let batch = batch?;
        let selection = self.pairing.as_deref().and_then(|it| it.selection.as_ref());
        let fields = batch.schema_ref().fields().iter();
        let rows = ColumnRows {
            columns: fields
                .map(|field| Column::new(field.name(), true, selection))
                .collect(),
            batch,
            json_columns: Arc::clone(&self.json_columns),
            are_of_results: self.are_of_results,
            row_limit: self.row_limit,
        };
        Some((rows, error))
    }

    /// Reads rows up to the first one that may need its other columns for an error. From there on, all columns are
    /// read.
    fn next_complete(&mut self) -> Result<Option<RecordBatch>, DataError> {
        while let Some(batch) = self.next_batch()? {
            let incomplete = self.first_incomplete(&batch);
            let complete = incomplete.unwrap_or(batch.num_rows());
            self.returned += complete as u64;
            if incomplete.is_some() {
                self.columns = ProjectionMask::all();
                self.has_all_columns = true;
                self.reader = None;
                self.check_columns()?;
            }
            if complete > 0 {
                return Ok(Some(batch.slice(0, complete)));
            }
        }
        Ok(None)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        while self.group < self.metadata.num_row_groups() {
            if let Some(batch) = self.read()? {
                self.check_size(&batch)?;
                return Ok(Some(batch));
            }
            self.reader = None;
            self.group += 1;
            self.group_start = self.returned;
        }
        Ok(None)
    }

    /// Reads the next rows of the current group.
    fn read(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = self.returned + 1;
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let group = self.metadata.row_group(self.group);
                let skipped = usize::try_from(self.returned - self.group_start);
                let at_once = rows_at_once(group, &self.columns);
                let open = || (self.open)(self.group, skipped?, at_once, self.columns.clone());
                none.insert(unless_invalid(&self.file, next, open)?)
            }
        };
        unless_invalid(&self.file, next, || Ok(reader.next().transpose()?))
    }

    /// Returns the first row that lacks a required field, because its error may name other fields.
    fn first_incomplete(&self, batch: &RecordBatch) -> Option<usize> {
        let pairing = self.pairing.as_ref().filter(|_| !self.has_all_columns)?;
        let required: Vec<_> = pairing
            .required_paths()
            .map(|path| column(batch, &path))
            .collect();
        let needs_side = pairing.needs_a_side();
        let sides: Vec<_> = batch
            .columns()
            .iter()
            .zip(batch.schema_ref().fields())
            .filter(|(_, field)| {
                let (first, _) = field.name().split_once('.').unwrap_or((field.name(), ""));
                matches!(first, "gold" | "pred")
            })
            .map(|(column, _)| column)
            .collect();
        (0..batch.num_rows()).find(|row| {
            let lacks = |column: &Option<&ArrayRef>| column.is_none_or(|it| it.is_null(*row));
            required.iter().any(lacks) || needs_side && sides.iter().all(|side| side.is_null(*row))
        })
    }

    /// Checks the metadata of the columns that are read: their compression and mean row size.
    fn check_columns(&self) -> Result<(), DataError> {
        let (limit, value_limit) = (self.byte_limit(), value_limit(self.row_limit) as u64);
        for group in self.metadata.row_groups() {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
            for column in read_columns(group, &self.columns) {
                check_compression(&self.file, column)?;
                let bytes = size(column.uncompressed_size()) / rows;
                let values = size(column.num_values()) / rows;
                let name = column.column_path().string();
                if bytes > limit {
                    return Err(self.too_large(&name, limit, "bytes", bytes));
                }
                if values > value_limit {
                    return Err(self.too_large(&name, value_limit, "values", values));
                }
            }
        }
        Ok(())
    }

    /// Checks the memory of a batch's columns, which may be more than their metadata declares.
    fn check_size(&self, batch: &RecordBatch) -> Result<(), DataError> {
        let limit = self.byte_limit();
        for (column, field) in batch.columns().iter().zip(batch.schema_ref().fields()) {
            let found = column.get_array_memory_size() as u64;
            if found > limit {
                return Err(self.too_large(field.name(), limit, "bytes", found));
            }
        }
        Ok(())
    }

    /// Writers make pages of about 1 MiB, and one with the longest row must fit.
    fn byte_limit(&self) -> u64 {
        self.row_limit.max(1 << 20).saturating_mul(4) as u64
    }

    fn too_large(&self, column: &str, limit: u64, unit: &str, found: u64) -> DataError {
        DataError::new(
            DataErrorKind::TooLarge,
            format!(
                "{}: column `{}`: expected pages of at most {limit} {unit}, found {found}; rewrite the file with smaller pages",
                self.file.display(),
                escape::name(column)
            ),
        )
    }
}

impl ColumnRows {
    pub(super) fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Converts a row.
    pub(super) fn read(&self, row: usize, at: &Origin) -> Result<Row, DataError> {
        let convert = || Ok(self.convert(row, at));
        unless_invalid(&at.file, at.line, convert)?
    }

    fn convert(&self, row: usize, at: &Origin) -> Result<Row, DataError> {
        let mut object = RowObject {
            is_flat: true,
            is_of_results: self.are_of_results,
            ..RowObject::default()
        };
        let mut size = 0;
        let fields = self.batch.schema_ref().fields().iter();
        let columns = self.batch.columns().iter().zip(&self.columns);
        for ((column, target), field) in columns.zip(fields) {
            if column.is_null(row) || *column.data_type() == DataType::Null {
                continue;
            }
            let value =
                cell::value(column, row, &mut size).and_then(|value| match value.as_str() {
                    Some(text) if self.json_columns.contains(field.name()) => cell::json(text),
                    _ => Ok(value),
                });
            let value = value.map_err(|problem| {
                let column = escape::name(field.name());
                invalid(&at.file, at.line, &format!("column `{column}`: {problem}"))
            })?;
            object.has_nan |= has_not_finite(&value);
            object.add_cell(target, value, false);
        }
        if size > self.row_limit {
            return Err(DataError::too_long(at, self.row_limit));
        }
        Ok(Row::Map(object))
    }
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

/// Calls the decoder and reports its errors as errors of the file. On some invalid files, it panics.
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

/// Returns the columns to read, and the fields to read of the structs `gold` and `pred`. A side that is not a struct is
/// read completely, because an error may name it.
fn projection(
    schema: &SchemaDescriptor,
    names: &[String],
    selection: &FieldSelection,
    are_of_results: bool,
) -> ProjectionMask {
    let read = selection.reads_columns(names, are_of_results);
    let is_read = |leaf: &usize| {
        let root = schema.get_column_root_idx(*leaf);
        let side = match &*names[root] {
            "gold" => Side::Gold,
            "pred" => Side::Pred,
            _ => return read[root],
        };
        let column = schema.get_column_root(*leaf);
        let info = column.get_basic_info();
        let is_struct = column.is_group()
            && info.converted_type() == ConvertedType::NONE
            && info.repetition() != Repetition::REPEATED;
        let path = schema.column(*leaf);
        !is_struct || selection.reads_field(side, &path.path().parts()[1])
    };
    ProjectionMask::leaves(schema, (0..schema.num_columns()).filter(is_read))
}

/// Returns the column at a path, or the field of a struct.
fn column<'b>(batch: &'b RecordBatch, path: &str) -> Option<&'b ArrayRef> {
    batch.column_by_name(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        let column = batch.column_by_name(first)?;
        let Some(fields) = column.as_struct_opt() else {
            return Some(column);
        };
        let (name, _) = rest.split_once('.').unwrap_or((rest, ""));
        fields
            .column_by_name(rest)
            .or_else(|| fields.column_by_name(name))
    })
}

fn read_columns<'g>(
    group: &'g RowGroupMetaData,
    columns: &ProjectionMask,
) -> impl Iterator<Item = &'g ColumnChunkMetaData> {
    let all = group.columns().iter().enumerate();
    all.filter(|(leaf, _)| columns.leaf_included(*leaf))
        .map(|(_, column)| column)
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

/// Treats a negative size, an error of the decoder, as 0.
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
