//! A limit on the values of a row, which may be a list that spans many pages of its column.
//!
//! The decoder assembles a whole row before it returns. So the pages that one row reads are counted.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

/// A row has more values than the limit.
#[derive(Debug)]
pub(super) struct TooManyValues;

impl fmt::Display for TooManyValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many values in a row")
    }
}

impl std::error::Error for TooManyValues {}

/// The limit, and the row that is read.
#[derive(Clone)]
struct Limit {
    values: u64,
    row: Arc<AtomicU64>,
}

/// A row group whose rows have a limit of values.
pub(super) struct LimitedGroup<'f> {
    group: Box<dyn RowGroupReader + 'f>,
    limit: Limit,
}

impl<'f> LimitedGroup<'f> {
    /// `row` is the number of the row that is read.
    pub(super) fn new(
        group: Box<dyn RowGroupReader + 'f>,
        values: u64,
        row: Arc<AtomicU64>,
    ) -> Self {
        Self {
            group,
            limit: Limit { values, row },
        }
    }
}

impl RowGroupReader for LimitedGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.group.metadata()
    }

    fn num_columns(&self) -> usize {
        self.group.num_columns()
    }

    fn get_column_page_reader(&self, column: usize) -> Result<Box<dyn PageReader>> {
        let pages = self.group.get_column_page_reader(column)?;
        // A row has one value of any other column.
        if self
            .metadata()
            .column(column)
            .column_descr()
            .max_rep_level()
            == 0
        {
            return Ok(pages);
        }
        Ok(Box::new(LimitedPages {
            pages,
            limit: self.limit.clone(),
            row: 0,
            values: 0,
        }))
    }

    fn get_column_bloom_filter(&self, column: usize) -> Option<&Sbbf> {
        self.group.get_column_bloom_filter(column)
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

struct LimitedPages {
    pages: Box<dyn PageReader>,
    limit: Limit,
    row: u64,
    /// The number of values in the pages that were read for this row.
    values: u64,
}

impl Iterator for LimitedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for LimitedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let row = self.limit.row.load(Ordering::Relaxed);
        if row != self.row {
            (self.row, self.values) = (row, 0);
        }
        // The row needs another page, so all values of these pages are its own.
        if self.values > self.limit.values {
            return Err(ParquetError::External(Box::new(TooManyValues)));
        }
        let page = self.pages.get_next_page()?;
        if let Some(page) = page.as_ref().filter(|page| page.is_data_page()) {
            self.values = self.values.saturating_add(u64::from(page.num_values()));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Encoding;

    use super::*;

    /// Pages of this number of values.
    struct Pages(Vec<u32>);

    impl Iterator for Pages {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Result<Page>> {
            self.get_next_page().transpose()
        }
    }

    impl PageReader for Pages {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            let page = |num_values| Page::DataPage {
                buf: bytes::Bytes::new(),
                num_values,
                encoding: Encoding::PLAIN,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            Ok(self.0.pop().map(page))
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            Ok(None)
        }

        fn skip_next_page(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn trap_40_a_row_that_spans_pages_has_a_limit_of_values() {
        let row = Arc::new(AtomicU64::new(1));
        let limit = Limit {
            values: 10,
            row: Arc::clone(&row),
        };
        let mut pages = LimitedPages {
            pages: Box::new(Pages(vec![6; 9])),
            limit,
            row: 0,
            values: 0,
        };
        let mut read = || pages.get_next_page().map(|page| page.is_some());
        assert_eq!([read().ok(), read().ok()], [Some(true); 2]);
        assert_eq!(
            read().unwrap_err().to_string(),
            "External: too many values in a row"
        );
        row.store(2, Ordering::Relaxed);
        assert_eq!(
            [read().ok(), read().ok(), read().ok()],
            [Some(true), Some(true), None]
        );
    }
}
