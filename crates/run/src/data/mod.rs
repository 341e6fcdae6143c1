//! Reading pairs from JSONL, JSON, CSV and (feature `parquet`) Parquet files, one row at a time, in
//! memory that does not grow with the file.
//!
//! [`DataReader`] (`reader.rs`) opens files (`row_file.rs`) and validates each row (`row.rs`). It decodes only the fields that
//! the run reads (`selection.rs`, `pairing.rs`). Each format has a file of its own. This module knows nothing about metrics: a metric checks whether a
//! row has the fields it reads, and the harness checks that ids are unique.

mod chunk;
mod column_strings;
#[cfg(feature = "csv")]
mod columns;
#[cfg(feature = "csv")]
mod csv;
mod data_file;
mod error;
mod format;
mod inexact_numbers;
mod input;
mod json_array;
mod json_lines;
mod json_row;
mod mapping;
mod object_rows;
pub mod outcome_labels;
mod pairing;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod result_row;
mod row;
mod row_file;
mod row_hash;
mod selection;
mod undecoded_row;
mod whole_file;

pub(crate) use column_strings::column_strings;
pub use data_file::DataFile;
pub(crate) use data_file::DataFiles;
pub use error::DataError;
pub use format::Format;
pub use input::ROW_LIMIT;
pub use mapping::{Mapping, MappingError};
pub(crate) use object_rows::read_objects;
#[doc(hidden)]
pub use object_rows::{ObjectRow, ObjectRows};
#[cfg(feature = "parquet")]
pub(crate) use parquet::{EMBEDDED_MANIFEST, JSON_COLUMNS, embedded_manifest};
pub use reader::{DataReader, Pairs};
pub(crate) use result_row::{
    ATTRIBUTES, GOLD_HASH, OUTCOME, POSITIONAL, PRED_HASH, attribute_columns,
};
#[doc(hidden)]
pub use row_file::NamedFile;
pub(crate) use row_hash::{parse_hash, row_hash};
pub(crate) use selection::FieldSelection;
