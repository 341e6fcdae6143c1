//! One row of JSON text: from bytes to a [`Row`], with errors that name line and byte within the
//! file.

use super::error::DataError;
use super::inexact_numbers::{InexactNumber, find_inexact_number, keep_id_as_written};
use super::row::Row;
use crate::core::rows::pair::Origin;
use crate::json::size::is_too_large;

/// Parses the row in `bytes`, which start at byte `column` of the line `at`, counted from 1.
pub(super) fn parse(
    bytes: &[u8],
    at: &Origin,
    column: usize,
    value_limit: usize,
) -> Result<Row, DataError> {
    let text = str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error, at, column))?;
    if is_too_large(text, value_limit) {
        return Err(DataError::TooManyValues {
            at: at.clone(),
            limit: value_limit,
        });
    }
    let mut row = serde_json::from_str(text).map_err(|error| invalid(&error, at, column))?;
    match find_inexact_number(&row, text) {
        None => {
            keep_id_as_written(&mut row, text);
            Ok(row)
        }
        Some(InexactNumber::LongInteger(offset)) => {
            let (at, column) = position_of(bytes, offset, at, column);
            Err(DataError::LongInteger { at, column })
        }
        Some(InexactNumber::Underflow(offset)) => {
            let (at, column) = position_of(bytes, offset, at, column);
            // The reason that `serde_json` returns for a number that is too large.
            Err(DataError::Syntax {
                at,
                column,
                reason: "number out of range".to_owned(),
            })
        }
    }
}

fn not_utf8(bytes: &[u8], error: std::str::Utf8Error, at: &Origin, column: usize) -> DataError {
    let (at, byte) = position_of(bytes, error.valid_up_to(), at, column);
    let found = bytes[error.valid_up_to()];
    DataError::NotUtf8 { at, byte, found }
}

fn invalid(error: &serde_json::Error, at: &Origin, column: usize) -> DataError {
    let message = error.to_string();
    let (at, column) = position(at, column, error.line(), error.column());
    if message.starts_with("recursion limit exceeded") {
        return DataError::TooDeep { at };
    }
    let reason = match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    };
    let is_lone_surrogate = LONE_SURROGATE.contains(&&*reason);
    let reason = if is_lone_surrogate {
        LONE_SURROGATE_REASON.to_owned()
    } else {
        reason
    };
    DataError::Syntax { at, column, reason }
}

/// The errors of `serde_json` for an escape of half a surrogate pair.
const LONE_SURROGATE: [&str; 2] = [
    "unexpected end of hex escape",
    "lone leading surrogate in hex escape",
];

const LONE_SURROGATE_REASON: &str = "lone surrogate: an escape from \\ud800 to \\udfff is half a character; write the whole pair, or \\ufffd";

/// The position in the file of the byte at an offset into the row.
fn position_of(bytes: &[u8], offset: usize, at: &Origin, column: usize) -> (Origin, usize) {
    let before = &bytes[..offset];
    let lines = before.split(|byte| *byte == b'\n').count();
    let in_line = before.rsplit(|byte| *byte == b'\n').next();
    position(at, column, lines, in_line.map_or(0, <[u8]>::len) + 1)
}

/// The position in the file of a line and a byte of the row, each counted from 1.
fn position(at: &Origin, column: usize, line: usize, byte: usize) -> (Origin, usize) {
    let lines_after = line.saturating_sub(1);
    let byte = if lines_after == 0 {
        column - 1 + byte
    } else {
        byte
    };
    let at = Origin {
        file: at.file.clone(),
        line: at.line + lines_after as u64,
    };
    (at, byte)
}
