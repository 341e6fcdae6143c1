//! Results as CSV, with the columns of `columns.rs`.
//!
//! Null is an empty cell, a string is written unchanged, and everything else is JSON. A string that a spreadsheet would
//! evaluate as a formula gets a leading apostrophe, unless the user wants raw strings.

use std::io::{self, Write};

use csv::{IntoInnerError, Writer};

use super::columns::{self, Layout};
use super::spool::{CHUNK, Chunk, Spool};
use crate::messages::formula;

/// Writes the lines as CSV.
pub(super) fn export(lines: &Spool, out: &mut impl Write, escape_formulas: bool) -> io::Result<()> {
    let layout = Layout::of(lines)?;
    let write_text = |rows: &mut Writer<Vec<u8>>, text: &str| match escape_formulas {
        true => rows.write_field(&*formula::escaped(text)),
        false => rows.write_field(text),
    };
    let mut header = Writer::from_writer(Vec::new());
    let mut columns = layout.columns.keys();
    columns.try_for_each(|column| write_text(&mut header, column))?;
    header.write_record(END)?;
    out.write_all(&finished(header)?)?;
    let is_full = |_, bytes| bytes >= CHUNK;
    let format = |chunk: Chunk| {
        let Chunk { text, lines } = chunk;
        let mut rows = Writer::from_writer(Vec::with_capacity(text.len()));
        layout.each_row(&text, &lines, |values| {
            for value in values {
                let value = value.as_deref().unwrap_or_default();
                match columns::text(value) {
                    Some(text) => write_text(&mut rows, &text)?,
                    None => rows.write_field(value)?,
                }
            }
            Ok(rows.write_record(END)?)
        })?;
        finished(rows)
    };
    lines.map_chunks(is_full, format, |rows| out.write_all(&rows))
}

/// Marks the end of a row, because it contains no further fields.
const END: Option<&[u8]> = None;

fn finished(rows: Writer<Vec<u8>>) -> io::Result<Vec<u8>> {
    rows.into_inner().map_err(IntoInnerError::into_error)
}
