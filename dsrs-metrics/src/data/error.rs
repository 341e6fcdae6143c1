//! What can be wrong with a file of rows. Each message is one line: where, what was found, what to do.

use std::io;
use std::path::PathBuf;

use crate::core::rows::pair::Origin;
use crate::core::spec::Side;

/// What is wrong with a file of rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file is missing, or the system does not let it be read.
    #[error("{}: cannot be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The path is a directory.
    #[error("{}: is a directory; name the files in it", file.display())]
    Directory {
        /// The directory.
        file: PathBuf,
    },
    /// The file's extension stands for no format.
    #[error("{}: unknown extension; it should be .jsonl, .json or .csv, or --format say what it is", file.display())]
    UnknownFormat {
        /// The file.
        file: PathBuf,
    },
    /// The file holds no row.
    #[error("{}: holds no rows", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// A JSON file holds something else than an array.
    #[error("{}: should hold one array of rows, found {found}; for one object a line, name it .jsonl", file.display())]
    NotArray {
        /// The file.
        file: PathBuf,
        /// What was found.
        found: String,
    },
    /// The bytes are not text.
    #[error("{at}: byte {byte} is 0x{found:02X}, which is not UTF-8; convert the file to UTF-8")]
    NotUtf8 {
        /// Where the row begins.
        at: Origin,
        /// The byte within the line, from 1.
        byte: usize,
        /// Its value.
        found: u8,
    },
    /// The bytes of a CSV cell are not text.
    #[error(
        "{at}: column `{column}`: byte {byte} is 0x{found:02X}, which is not UTF-8; convert the file to UTF-8"
    )]
    CellNotUtf8 {
        /// Where the record begins.
        at: Origin,
        /// The column.
        column: String,
        /// The byte within the cell, from 1.
        byte: usize,
        /// Its value.
        found: u8,
    },
    /// The row is not JSON.
    #[error("{at}:{column}: not valid JSON: {reason}")]
    Syntax {
        /// The line.
        at: Origin,
        /// The byte within the line, from 1.
        column: usize,
        /// What the parser said.
        reason: String,
    },
    /// An integer has more digits than a number keeps, so that others would be equal to it.
    #[error(
        "{at}:{column}: an integer beyond 64 bits, of which digits would be lost; write it as text"
    )]
    LongInteger {
        /// The line.
        at: Origin,
        /// The byte within the line, from 1.
        column: usize,
    },
    /// Lists and objects stand in each other too deeply.
    #[error(
        "{at}: lists and objects are nested deeper than 127 levels; flatten them, or keep the deep part as text"
    )]
    TooDeep {
        /// The line.
        at: Origin,
    },
    /// The row has more bytes than one row may have.
    #[error(
        "{at}: the row is longer than {limit} bytes, the limit for one row; is a line end or a closing quote missing?"
    )]
    TooLong {
        /// Where the row begins.
        at: Origin,
        /// The limit.
        limit: usize,
    },
    /// The row is no object.
    #[error(r#"{at}: a row should be an object, {{"id": .., "gold": {{..}}, "pred": {{..}}}}, found {found}"#)]
    NotObject {
        /// The line.
        at: Origin,
        /// What was found.
        found: String,
    },
    /// `gold` or `pred` is no object.
    #[error(
        "{at}: `{side}` should be an object of fields, found {found}; to score it as it stands, map it: --map {side}.FIELD={side}"
    )]
    NotFields {
        /// The line.
        at: Origin,
        /// Gold or prediction.
        side: Side,
        /// What was found.
        found: String,
    },
    /// The row has neither a gold nor a predicted field, and no mapping says where they are.
    #[error(
        "{at}: the row has neither `gold` nor `pred`{}; say where their fields are, as in --map gold.FIELD={}",
        Among(present), present.first().map_or("KEY", String::as_str)
    )]
    NoFields {
        /// The line.
        at: Origin,
        /// The keys that the row has.
        present: Vec<String>,
    },
    /// The row's id is neither text nor a number.
    #[error("{at}: `id` should be text or a number, found {found}")]
    BadId {
        /// The line.
        at: Origin,
        /// What was found.
        found: String,
    },
    /// A CSV record has more or fewer cells than the header.
    #[error(
        "{at}: the header has {expected} columns, this record {found}; is a quote or a comma missing?"
    )]
    Ragged {
        /// Where the record begins.
        at: Origin,
        /// The columns of the header.
        expected: usize,
        /// The cells of the record.
        found: usize,
    },
    /// A CSV file ends inside a quoted cell.
    #[error(
        "{at}: a closing quote is missing: a cell of this record goes on to the end of the file"
    )]
    Unclosed {
        /// Where the record begins.
        at: Origin,
    },
    /// A CSV header names a column twice.
    #[error("{at}: the header names the column `{column}` twice")]
    DuplicateColumn {
        /// The header.
        at: Origin,
        /// The column.
        column: String,
    },
}

struct Among<'a>(&'a [String]);

impl std::fmt::Display for Among<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            [] => f.write_str(", it is empty"),
            keys => write!(f, ", only `{}`", keys.join("`, `")),
        }
    }
}
