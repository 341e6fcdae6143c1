//! Reads rows from JSONL, JSON, CSV and Parquet files, one at a time.
//!
//! Memory use does not grow with the size of the file.
//!
//! Parquet files require the `parquet` feature.
//!
//! [`DataReader`] (`reader.rs`) opens files (`row_file.rs`). Each file returns its rows in batches (`batch.rs`) of JSON
//! text (`text.rs`, `json.rs`), CSV or Parquet.
//!
//! Any thread can decode the rows of a batch (`row.rs`). Only the fields that the run reads are decoded
//! (`selection.rs`, `pairing.rs`).
//!
//! This module does not depend on metrics. Each metric checks that a row has the fields it reads, and the harness
//! checks that ids are unique.

mod batch;
#[cfg(feature = "csv")]
mod csv;
mod data_file;
mod error;
mod gold;
mod input;
mod json;
mod mapping;
mod object_rows;
#[doc(hidden)]
pub mod outcome_labels;
mod pairing;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod result_row;
mod row;
mod row_file;
mod selection;
mod text;

pub(crate) use batch::RawRow;
pub use data_file::DataFile;
pub(crate) use data_file::DataFiles;
pub use error::{DataError, DataErrorKind};
pub use gold::{Join, Missing};
pub use input::{Encoding, ROW_LIMIT};
pub(crate) use json::Key;
#[doc(hidden)]
pub use mapping::guess_mappings;
pub use mapping::{Conversion, Mapping, MappingError};
#[doc(hidden)]
pub use object_rows::{ObjectRow, ObjectRows};
pub(crate) use object_rows::{column_strings, open_objects};
pub(crate) use pairing::Pairing;
#[cfg(feature = "parquet")]
pub(crate) use parquet::JSON_COLUMNS;
pub use reader::{DataReader, Pairs, Samples};
pub(crate) use result_row::{
    GOLD_HASH, POSITIONAL, PRED_HASH, attribute_columns, metric_of, parse_hash, row_hash,
};
pub use row_file::Format;
#[doc(hidden)]
pub use row_file::NamedFile;
pub(crate) use selection::FieldSelection;
