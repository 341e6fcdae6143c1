//! Parquet: typed columns, which are decoded in blocks of rows.
//!
//! The columns are the same as in CSV: `id`, `gold.answer`, `pred.answer`, and attributes. `gold` and `pred` may also be structs.
//! A value has the type of its column (`cell.rs`); a string stays a string. Only columns that the run reads are decoded
//! (`schema.rs`): in blocks by column (`block.rs`), whose rows any thread converts (`block_rows.rs`, `layout.rs`). Lists and
//! structs, and a row group with an error, are decoded row by row (`groups.rs`). `pages.rs` and `row_values.rs` limit the
//! memory that a page and a row need.

mod block;
mod block_rows;
mod cell;
mod groups;
mod guard;
mod layout;
mod pages;
mod row_values;
mod schema;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, FileReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::Row as ParquetRow;
use parquet::schema::types::{SchemaDescriptor, Type};

pub(crate) use self::block_rows::BlockRows;
use self::groups::{Decoded, Groups};
use self::guard::{invalid, unless_invalid};
use self::layout::Layout;
use super::chunk::{ChunkRow, ChunkRows, ROWS_AT_ONCE};
use super::csv::are_of_results;
use super::error::DataError;
use super::input::{ROW_LIMIT, value_limit};
use super::pairing::Pairing;
use super::row::{LocatedRow, Row, check_sides};
use crate::core::rows::pair::Origin;

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
    entries
        .into_iter()
        .flatten()
        .find(|entry| entry.key == EMBEDDED_MANIFEST)?
        .value
        .clone()
}

/// The rows of a Parquet file.
pub(super) struct ParquetRows {
    source: Source,
    pairing: Option<Arc<Pairing>>,
    groups: Groups,
    layout: Arc<Layout>,
    /// The rest of a block.
    block: Option<BlockRows>,
    /// The number of rows that were returned.
    returned: u64,
    /// Whether the other columns of the next row may be needed for an error.
    lacks_fields: bool,
    has_ended: bool,
}

/// Checks the sizes of the pages of these columns.
type PageCheck = Box<dyn Fn(&SchemaDescriptor) -> Result<(), DataError> + Send>;

/// A file whose columns can be read again.
struct Source {
    file: Arc<Path>,
    reader: Arc<dyn FileReader>,
    check: PageCheck,
    json_columns: HashSet<String>,
    row_limit: usize,
}

impl ParquetRows {
    /// Reads the schema, and checks it and the sizes of the pages.
    pub(super) fn new<R: ChunkReader + 'static>(
        file: Arc<Path>,
        open: impl Fn() -> std::io::Result<R> + Send + 'static,
        row_limit: usize,
        pairing: Option<Arc<Pairing>>,
    ) -> Result<Self, DataError> {
        let source = Source::open(file, open, row_limit)?;
        let whole = source.schema();
        let at = Origin {
            file: Arc::clone(&source.file),
            line: 1,
        };
        schema::check_names(&whole, &at)?;
        let names = whole
            .get_fields()
            .iter()
            .map(|column| column.name().to_owned())
            .collect();
        // Some rows of a result file may have fields, and others another value.
        let are_of_results = are_of_results(&names);
        if !are_of_results {
            check_sides(names.iter().map(String::as_str), &at)?;
        }
        let selecting = pairing.as_ref().and_then(|it| Some((it, it.selection()?)));
        let layout = match selecting {
            None => source.layout(whole),
            Some((pairing, selection)) => {
                let read = schema::project(&whole, selection, are_of_results);
                let read = read.map_err(|error| invalid(&source.file, 1, &error))?;
                let layout = source.layout(Arc::new(read));
                layout.with_selection(pairing, selection, are_of_results)
            }
        };
        Self::of_columns(source, layout, pairing)
    }

    /// Opens a file and selects one column; `None` if the file does not have the column.
    pub(super) fn of_column(file: &Path, column: &str) -> Result<Option<Self>, DataError> {
        let unreadable = |reason| DataError::Unreadable {
            file: file.to_owned(),
            reason,
        };
        let reader = std::fs::File::open(file).map_err(unreadable)?;
        let source = Source::open(file.into(), move || reader.try_clone(), ROW_LIMIT)?;
        let whole = source.schema();
        let mut columns = whole
            .get_fields()
            .iter()
            .filter(|field| field.name() == column);
        let Some(column) = columns.next() else {
            return Ok(None);
        };
        let columns = vec![Arc::clone(column)];
        let read = Type::group_type_builder(whole.name())
            .with_fields(columns)
            .build();
        let read = read.map_err(|error| invalid(&source.file, 1, &error))?;
        let layout = source.layout(Arc::new(read));
        Self::of_columns(source, layout, None).map(Some)
    }

    fn of_columns(
        source: Source,
        layout: Layout,
        pairing: Option<Arc<Pairing>>,
    ) -> Result<Self, DataError> {
        let (layout, block) = (Arc::new(layout), None);
        let groups = source.groups(&layout)?;
        let (returned, lacks_fields, has_ended) = (0, false, false);
        Ok(Self {
            source,
            pairing,
            groups,
            layout,
            block,
            returned,
            lacks_fields,
            has_ended,
        })
    }

    /// Reads the next rows; none after an error.
    pub(super) fn next_chunk(&mut self) -> Option<Result<ChunkRows, DataError>> {
        if self.has_ended {
            return None;
        }
        let chunk = self.chunk(usize::MAX).transpose();
        let is_error = |chunk: &Result<_, _>| match chunk {
            Ok(ChunkRows::Rows(rows)) => rows.last().is_some_and(Result::is_err),
            chunk => chunk.is_err(),
        };
        self.has_ended |= chunk.as_ref().is_none_or(is_error);
        chunk
    }

    /// Reads at most this number of rows.
    fn chunk(&mut self, most: usize) -> Result<Option<ChunkRows>, DataError> {
        loop {
            if let Some(rows) = self.block.as_mut().and_then(|block| block.take_chunk(most)) {
                self.returned += rows.len() as u64;
                return Ok(Some(ChunkRows::Block(rows)));
            }
            self.block = None;
            if self.lacks_fields {
                self.read_all_columns()?;
                continue;
            }
            match self.decoded(self.returned + 1)? {
                None => return Ok(None),
                Some(Decoded::Block(block)) => {
                    let mut block = BlockRows::new(&self.layout, block, self.returned + 1);
                    self.lacks_fields = block.keep_complete_rows();
                    self.block = Some(block);
                }
                Some(Decoded::Row(row)) => {
                    let rows = self.rows(row, most.min(ROWS_AT_ONCE));
                    self.returned += rows.len() as u64;
                    if !rows.is_empty() {
                        return Ok(Some(ChunkRows::Rows(rows)));
                    }
                }
            }
        }
    }

    /// Decodes the next rows; `number` is the number of the first one.
    fn decoded(&mut self, number: u64) -> Result<Option<Decoded>, DataError> {
        let Source {
            file, row_limit, ..
        } = &self.source;
        unless_invalid(file, number, *row_limit, || self.groups.next(number))
    }

    /// Returns rows that were not decoded by column, up to an error, or up to the first row whose other columns may be needed.
    fn rows(&mut self, first: ParquetRow, most: usize) -> Vec<Result<LocatedRow, DataError>> {
        let (mut rows, mut next) = (Vec::new(), Ok(Some(Decoded::Row(first))));
        loop {
            let number = self.returned + 1 + rows.len() as u64;
            match next {
                Err(error) => rows.push(Err(error)),
                Ok(None) => return rows,
                Ok(Some(Decoded::Row(row))) => {
                    let row = self.layout.row(row, number);
                    if row.as_ref().is_ok_and(|row| self.may_lack_fields(row)) {
                        self.lacks_fields = true;
                        return rows;
                    }
                    let at = self.layout.at(number);
                    rows.push(row.map(|row| LocatedRow { row, at, number }));
                }
                Ok(Some(Decoded::Block(block))) => {
                    let mut block = BlockRows::new(&self.layout, block, number);
                    self.lacks_fields = block.keep_complete_rows();
                    self.block = Some(block);
                    return rows;
                }
            }
            if rows.len() >= most || rows.last().is_some_and(Result::is_err) {
                return rows;
            }
            next = self.decoded(number + 1);
        }
    }

    fn may_lack_fields(&self, row: &Row) -> bool {
        let required = self
            .pairing
            .as_ref()
            .filter(|_| self.layout.selected.is_some());
        match (row, required) {
            (Row::Map(row), Some(pairing)) => !pairing.has_required(row),
            _ => false,
        }
    }

    /// Reads the file again, with all columns, up to the next row. All further rows have them too.
    fn read_all_columns(&mut self) -> Result<(), DataError> {
        self.lacks_fields = false;
        self.layout = Arc::new(self.source.layout(self.source.schema()));
        self.groups = self.source.groups(&self.layout)?;
        let end = std::mem::take(&mut self.returned);
        while self.returned < end {
            let most = usize::try_from(end - self.returned).unwrap_or(usize::MAX);
            let Some(chunk) = self.chunk(most)? else {
                return Ok(());
            };
            let mut error = None;
            chunk.each(|row| {
                error = row.and_then(ChunkRow::row).err();
                error.is_none()
            });
            if let Some(error) = error {
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Source {
    fn open<R: ChunkReader + 'static>(
        file: Arc<Path>,
        open: impl Fn() -> std::io::Result<R> + Send + 'static,
        row_limit: usize,
    ) -> Result<Self, DataError> {
        let name = Arc::clone(&file);
        let open = move || {
            open().map_err(|reason| DataError::Unreadable {
                file: name.to_path_buf(),
                reason,
            })
        };
        let reader = open()?;
        let reader = unless_invalid(&file, 0, row_limit, || SerializedFileReader::new(reader))?;
        let reader: Arc<dyn FileReader> = Arc::new(reader);
        let json_columns = json_columns(reader.metadata());
        let (name, checked) = (Arc::clone(&file), Arc::clone(&reader));
        let check = Box::new(move |columns: &SchemaDescriptor| {
            let (bytes, metadata) = (open()?, checked.metadata());
            let check = || {
                Ok(pages::check(
                    &name,
                    &bytes,
                    metadata,
                    columns,
                    limits(row_limit),
                ))
            };
            unless_invalid(&name, 0, row_limit, check)?
        });
        Ok(Self {
            file,
            reader,
            check,
            json_columns,
            row_limit,
        })
    }

    fn schema(&self) -> Arc<Type> {
        self.reader
            .metadata()
            .file_metadata()
            .schema_descr()
            .root_schema_ptr()
    }

    fn layout(&self, columns: Arc<Type>) -> Layout {
        Layout::new(&self.file, columns, &self.json_columns, self.row_limit)
    }

    /// Opens the rows with these columns, whose pages are checked first.
    fn groups(&self, layout: &Layout) -> Result<Groups, DataError> {
        let Self {
            file,
            reader,
            row_limit,
            ..
        } = self;
        let columns = Arc::new(SchemaDescriptor::new(Arc::clone(&layout.schema)));
        (self.check)(&columns)?;
        let limit = limits(*row_limit).values;
        let open = || {
            Groups::new(
                Arc::clone(reader),
                columns,
                limit,
                layout.has_required_columns(),
            )
        };
        unless_invalid(file, 0, *row_limit, open)
    }
}

fn limits(row_limit: usize) -> pages::Limits {
    pages::Limits {
        // Writers make pages of about 1 MiB; one with the longest row must fit.
        bytes: row_limit.max(1 << 20).saturating_mul(4) as u64,
        values: value_limit(row_limit) as u64,
    }
}

/// The columns of JSON of a result file; none of any other file.
fn json_columns(metadata: &ParquetMetaData) -> HashSet<String> {
    let entries = metadata.file_metadata().key_value_metadata();
    let entry = entries
        .into_iter()
        .flatten()
        .find(|entry| entry.key == JSON_COLUMNS);
    let names = entry.and_then(|entry| entry.value.as_deref());
    names
        .and_then(|names| serde_json::from_str(names).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod damaged_files;
#[cfg(test)]
mod tests;
