//! The row groups of a file: decoded in blocks by column, or row by row where a column has structs, or an
//! error is found.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::record::Row;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::schema::types::SchemaDescPtr;

use super::block::{BLOCK_ROWS, Block, ColumnBlocks, unusual};
use super::row_values::LimitedGroup;
use crate::core::panic;

/// The most bytes of the rows that are decoded together, by the sizes in the metadata of their group.
const BLOCK_BYTES: u64 = 4 << 20;

/// The most values of these rows.
const BLOCK_VALUES: u64 = 1 << 18;

/// The rows of a file.
pub(super) struct Groups {
    file: Arc<dyn FileReader>,
    /// The columns that are decoded.
    columns: SchemaDescPtr,
    /// Whether groups are decoded by column, if their columns allow it.
    has_blocks: bool,
    /// The most values in a row.
    max_values: u64,
    /// The number of the current row, for which the readers of lists count values.
    row: Arc<AtomicU64>,
    next_group: usize,
    current: Option<Group>,
}

enum Group {
    Columns(ColumnGroup),
    Rows(ReaderIter),
}

/// Rows that were decoded together.
pub(super) enum Decoded {
    Block(Block),
    Row(Row),
}

impl Groups {
    pub(super) fn new(
        file: Arc<dyn FileReader>,
        columns: SchemaDescPtr,
        max_values: u64,
        has_blocks: bool,
    ) -> Result<Self> {
        let schema = file.metadata().file_metadata().schema_descr();
        if !schema.root_schema().check_contains(columns.root_schema()) {
            let error = "Root schema does not contain projection".to_owned();
            return Err(ParquetError::General(error));
        }
        let row = Arc::new(AtomicU64::new(0));
        Ok(Self {
            file,
            columns,
            has_blocks,
            max_values,
            row,
            next_group: 0,
            current: None,
        })
    }

    /// Decodes the next rows; `number` is the number of the first one.
    pub(super) fn next(&mut self, number: u64) -> Result<Option<Decoded>> {
        loop {
            self.row.store(number, Ordering::Relaxed);
            match &mut self.current {
                Some(Group::Columns(columns)) => match panic::catch(false, || columns.next()) {
                    Ok(Ok(Some(block))) => return Ok(Some(Decoded::Block(block))),
                    Ok(Ok(None)) => self.current = None,
                    // The decoder of rows returns the rows up to the error, and the error.
                    Ok(Err(_)) | Err(_) => {
                        let returned = columns.returned;
                        self.current = None;
                        self.current = Some(Group::Rows(self.rows(number, returned)?));
                    }
                },
                Some(Group::Rows(rows)) => match rows.next().transpose()? {
                    Some(row) => return Ok(Some(Decoded::Row(row))),
                    None => self.current = None,
                },
                None if self.next_group == self.file.num_row_groups() => return Ok(None),
                None => {
                    self.next_group += 1;
                    let columns = panic::catch(false, || self.columns());
                    self.current = Some(match columns {
                        Ok(Ok(columns)) => Group::Columns(columns),
                        Ok(Err(_)) | Err(_) => Group::Rows(self.rows(number, 0)?),
                    });
                }
            }
        }
    }

    /// Opens the group by column.
    fn columns(&self) -> Result<ColumnGroup> {
        if !self.has_blocks {
            return Err(unusual());
        }
        let group = self.group()?;
        let columns = self.columns.columns().iter();
        let columns = columns.map(|column| ColumnBlocks::new(&group, column.path()));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let left = usize::try_from(group.metadata().num_rows())?;
        if left == 0 || columns.is_empty() {
            return Err(unusual());
        }
        let at_once = self.rows_at_once(group.metadata());
        Ok(ColumnGroup {
            columns,
            at_once,
            left,
            ahead: None,
            returned: 0,
        })
    }

    fn group(&self) -> Result<LimitedGroup<'_>> {
        let group = self.file.get_row_group(self.next_group - 1)?;
        Ok(LimitedGroup::new(
            group,
            self.max_values,
            Arc::clone(&self.row),
        ))
    }

    /// Opens the group for the decoder of rows, after the rows that were returned; the next row has this number.
    fn rows(&self, number: u64, returned: u64) -> Result<ReaderIter> {
        let group = self.group()?;
        let has_lists = self
            .columns
            .columns()
            .iter()
            .any(|column| column.max_rep_level() > 0);
        // Rows of lists are decoded one by one, since each may need much memory.
        let at_once = if has_lists {
            1
        } else {
            self.rows_at_once(group.metadata())
        };
        let first = number.saturating_sub(returned);
        self.row.store(first, Ordering::Relaxed);
        let builder = TreeBuilder::new().with_batch_size(at_once);
        let mut rows = builder.as_iter(Arc::clone(&self.columns), &group)?;
        for row in first..number {
            self.row.store(row, Ordering::Relaxed);
            rows.next().transpose()?;
        }
        self.row.store(number, Ordering::Relaxed);
        Ok(rows)
    }

    fn rows_at_once(&self, group: &RowGroupMetaData) -> usize {
        let is_read = |path| {
            self.columns
                .columns()
                .iter()
                .any(|column| column.path() == path)
        };
        let columns = group
            .columns()
            .iter()
            .filter(|column| is_read(column.column_path()));
        let sum = |size: fn(&ColumnChunkMetaData) -> i64| {
            let sizes = columns
                .clone()
                .map(|column| u64::try_from(size(column)).unwrap_or(0));
            sizes.fold(0, u64::saturating_add)
        };
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let within = |most: u64, sum: u64| most / (sum / rows.max(1)).max(1);
        let bytes = within(BLOCK_BYTES, sum(ColumnChunkMetaData::uncompressed_size));
        let at_once = bytes.min(within(BLOCK_VALUES, sum(ColumnChunkMetaData::num_values)));
        usize::try_from(at_once)
            .unwrap_or(BLOCK_ROWS)
            .clamp(1, BLOCK_ROWS)
    }
}

/// A row group of columns that have at most one value or list for each row.
struct ColumnGroup {
    columns: Vec<ColumnBlocks>,
    at_once: usize,
    /// The number of rows that are not decoded yet.
    left: usize,
    /// The next block. The decoder of rows decodes the next batch before it returns the last row of a batch.
    ahead: Option<Block>,
    /// The number of rows that were returned.
    returned: u64,
}

impl ColumnGroup {
    fn next(&mut self) -> Result<Option<Block>> {
        if self.ahead.is_none() && self.left > 0 {
            self.ahead = self.read()?;
        }
        let Some(block) = self.ahead.take() else {
            return Ok(None);
        };
        self.ahead = self.read()?;
        self.returned += block.rows as u64;
        Ok(Some(block))
    }

    /// After the last row, checks that no column has another value.
    fn read(&mut self) -> Result<Option<Block>> {
        let rows = self.left.min(self.at_once);
        let columns = self
            .columns
            .iter_mut()
            .map(|column| column.read(self.at_once, rows));
        let columns = columns.collect::<Result<_>>()?;
        self.left -= rows;
        Ok((rows > 0).then_some(Block { rows, columns }))
    }
}
