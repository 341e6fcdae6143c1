//! Errors of a row file. Each message is one line: file and line, what was expected, what was
//! found, what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::format::Format;
use crate::core::rows::pair::Origin;
use crate::core::spec::Side;
use crate::json::size::OBJECT;
use crate::messages::escape;

/// Why a row file cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file does not exist, or reading it failed.
    #[error("{}: cannot be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        reason: io::Error,
    },
    /// The path is a directory.
    #[error("{}: expected a file, found a directory; name the files in it", file.display())]
    Directory {
        /// The directory.
        file: PathBuf,
    },
    /// The file's extension does not name a format.
    #[error(
        "{}: unknown extension; expected {}; rename the file or set --format",
        file.display(),
        Format::EXTENSIONS
    )]
    UnknownFormat {
        /// The file.
        file: PathBuf,
    },
    /// The file contains no row.
    #[error("{}: expected at least one row, found none; add rows", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// A JSON file contains something other than an array.
    #[error(
        "{}: expected an array of rows, found {found}; if each line is an object, name the file .jsonl; if a field has \
         the rows, write only its list, as `jq .FIELD` prints it",
        file.display()
    )]
    NotArray {
        /// The file.
        file: PathBuf,
        /// What was found.
        found: String,
    },
    /// A line is not UTF-8.
    #[error("{at}: invalid UTF-8: byte {byte} is 0x{found:02X}; convert the file to UTF-8")]
    NotUtf8 {
        /// The line.
        at: Origin,
        /// The position of the byte in the line, from 1.
        byte: usize,
        /// The value of the byte.
        found: u8,
    },
    /// A CSV cell is not UTF-8.
    #[error(
        "{at}: column `{}`: invalid UTF-8: byte {byte} is 0x{found:02X}; convert the file to UTF-8",
        escape::name(column)
    )]
    CellNotUtf8 {
        /// The first line of the record.
        at: Origin,
        /// The column.
        column: String,
        /// The position of the byte in the cell, from 1.
        byte: usize,
        /// The value of the byte.
        found: u8,
    },
    /// The file is compressed.
    #[error(
        "{}: expected an uncompressed file, found {found}; decompress it first, or pipe it to standard input (`-`)",
        file.display()
    )]
    Compressed {
        /// The file.
        file: PathBuf,
        /// The format of the compression.
        found: &'static str,
    },
    /// A column of a Parquet file is compressed in a way that is not supported.
    #[cfg(feature = "parquet")]
    #[error(
        "{}: column `{}`: expected snappy, gzip, zstd or no compression, found {found}; write the file with one of them",
        file.display(),
        escape::name(column)
    )]
    ParquetCompression {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// The name of the compression.
        found: &'static str,
    },
    /// A Parquet file is invalid.
    #[cfg(feature = "parquet")]
    #[error("{}: row {}: invalid Parquet: {}", at.file.display(), at.line, escape::name(reason))]
    InvalidParquet {
        /// The file, and the number of the row, from 1.
        at: Origin,
        /// The error of the decoder.
        reason: String,
    },
    /// A cell of a Parquet file has no JSON form.
    #[cfg(feature = "parquet")]
    #[error("{}: row {}: column `{}`: {problem}", at.file.display(), at.line, escape::name(column))]
    InvalidCell {
        /// The file, and the number of the row, from 1.
        at: Origin,
        /// The column.
        column: String,
        /// The reason why the cell is invalid.
        problem: &'static str,
    },
    /// The row is not JSON, or an object has a duplicate key.
    #[error("{at}:{column}: invalid JSON: {reason}")]
    Syntax {
        /// The line.
        at: Origin,
        /// The position of the byte in the line, from 1.
        column: usize,
        /// The error of the parser.
        reason: String,
    },
    /// An integer does not fit into 64 bits. Read as a float it would lose digits and equal other
    /// integers.
    #[error(
        "{at}:{column}: expected an integer of at most 64 bits, found a longer one; write it as a string"
    )]
    LongInteger {
        /// The line.
        at: Origin,
        /// The position of the integer's first byte in the line, from 1.
        column: usize,
    },
    /// Lists and objects are nested too deeply.
    #[error(
        "{at}: lists and objects are nested deeper than 127 levels; flatten them or write the deep part as a string"
    )]
    TooDeep {
        /// The line.
        at: Origin,
    },
    /// The row is longer than the limit for one row.
    #[error(
        "{at}: the row is longer than {limit} bytes, the limit for one row; check for a missing line end or closing quote"
    )]
    TooLong {
        /// The first line of the row.
        at: Origin,
        /// The limit in bytes.
        limit: usize,
    },
    /// A row of JSON has too many values.
    #[error(
        "{at}: expected a row of at most {limit} JSON values, where an object counts as {OBJECT}, found more; split the row, or write its long lists as strings"
    )]
    TooManyValues {
        /// The first line of the row.
        at: Origin,
        /// The limit.
        limit: usize,
    },
    /// A CSV record has too many cells.
    #[error(
        "{at}: expected at most {limit} columns, found more; write a JSON object into one column"
    )]
    TooManyColumns {
        /// The record.
        at: Origin,
        /// The limit.
        limit: usize,
    },
    /// A page of a Parquet file is too large once it is decompressed, or has too many values.
    #[cfg(feature = "parquet")]
    #[error(
        "{}: column `{}`: expected pages of at most {limit} {unit}, found {found}; write the file with smaller pages",
        file.display(),
        escape::name(column)
    )]
    LargePage {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// The limit.
        limit: u64,
        /// The unit of limit and size: `bytes` or `values`.
        unit: &'static str,
        /// The size of the page, or more than the limit if its header declares less bytes than that.
        found: u64,
    },
    /// A Parquet file that is read from a stream is too long.
    #[cfg(feature = "parquet")]
    #[error(
        "{}: expected at most {limit} bytes of Parquet on a stream, found more; save it as a file first",
        file.display()
    )]
    LongStream {
        /// The name of the stream.
        file: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The row is not an object.
    #[error(
        r#"{at}: expected a row such as {{"id": .., "gold": {{..}}, "pred": {{..}}}}, found {found}"#
    )]
    NotObject {
        /// The line.
        at: Origin,
        /// What was found.
        found: String,
    },
    /// `gold` or `pred` is not an object.
    #[error(
        "{at}: `{side}`: expected an object of fields, found {found}; to score the value itself, write --map {side}.FIELD={side}"
    )]
    NotFields {
        /// The line.
        at: Origin,
        /// Gold or prediction.
        side: Side,
        /// What was found.
        found: String,
    },
    /// The row has neither `gold` nor `pred`, and no mapping names its fields.
    #[error(
        "{at}: expected `gold` or `pred`, found {}; map the fields{}, as in --map {}={}",
        Keys(present), of_the_run(read), read.first().map_or("gold.FIELD", String::as_str),
        escape::name(present.first().map_or("KEY", String::as_str))
    )]
    NoFields {
        /// The line.
        at: Origin,
        /// The keys of the row.
        present: Vec<String>,
        /// The fields that the run reads, as `gold.answer`, if they are known.
        read: Vec<String>,
    },
    /// The row is from a result file that has scores only.
    #[error(
        "{at}: the row has scores, but neither gold row nor prediction to score again; write the results with \
         `score --out FILE --with-rows`"
    )]
    ResultWithoutRow {
        /// The line.
        at: Origin,
    },
    /// The row is from a result file, and its program failed.
    #[error(
        "{at}: the program failed on this row, so it has no prediction to score; remove the row"
    )]
    NoPrediction {
        /// The line.
        at: Origin,
    },
    /// The row is from a result file, and its program returned several predictions.
    #[error(
        "{at}: expected one prediction to score, found repeats with different predictions; write each prediction as a \
         row of its own"
    )]
    SeveralPredictions {
        /// The line.
        at: Origin,
    },
    /// The row's id is neither a string nor a number.
    #[error("{at}: `id`: expected a string or a number, found {found}")]
    InvalidId {
        /// The line.
        at: Origin,
        /// What was found.
        found: String,
    },
    /// A CSV record has more or fewer cells than the header.
    #[error(
        "{at}: expected {expected} cells as in the header, found {found}; check for a missing quote or comma"
    )]
    Ragged {
        /// The first line of the record.
        at: Origin,
        /// The number of columns in the header.
        expected: usize,
        /// The number of cells in the record.
        found: usize,
    },
    /// A CSV file ends inside a quoted cell.
    #[error(
        "{at}: unclosed quote: a cell of this record extends to the end of the file; add the closing quote"
    )]
    UnclosedQuote {
        /// The first line of the record.
        at: Origin,
    },
    /// A CSV header or the schema of a Parquet file contains a column name twice, or a struct contains a field twice.
    #[error(
        "{at}: duplicate column `{}`; rename or remove one",
        escape::name(column)
    )]
    DuplicateColumn {
        /// The header.
        at: Origin,
        /// The column, or the path of the field.
        column: String,
    },
    /// A row has `gold` and also keys or columns of its fields such as `gold.answer`, or the same of `pred`.
    #[error(
        "{at}: expected the fields of `{side}` in one place, found `{side}` and `{}`; rename or remove one",
        escape::name(field)
    )]
    FieldsTwice {
        /// The row, or the header.
        at: Origin,
        /// Gold or prediction.
        side: Side,
        /// The key or column of a field.
        field: String,
    },
    /// The columns of a CSV file are separated by another character than a comma.
    #[error(
        "{at}: expected columns separated by `,`, found one column with {}; write the file with commas",
        if *found == '\t' { "tabs".to_owned() } else { format!("`{found}`") }
    )]
    Delimiter {
        /// The header.
        at: Origin,
        /// The character.
        found: char,
    },
}

fn of_the_run(fields: &[String]) -> String {
    match fields {
        [] => String::new(),
        fields => {
            format!(
                " that the run reads, {}",
                escape::names(fields.iter().map(String::as_str))
            )
        }
    }
}

dsrs_metrics_values::debug_as_display!(DataError);

/// The keys of a row, for a message.
struct Keys<'a>(&'a [String]);

impl fmt::Display for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("an empty row"),
            keys => write!(f, "only {}", escape::names(keys.iter().map(String::as_str))),
        }
    }
}

#[cfg(test)]
impl DataError {
    /// Returns the message without the names of the fields to map, which only a run knows.
    pub(super) fn without_advice(&self) -> String {
        let message = self.to_string();
        message
            .split("; map the fields")
            .next()
            .unwrap_or_default()
            .to_owned()
    }
}
