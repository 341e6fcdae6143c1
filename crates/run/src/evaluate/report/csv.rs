//! Results as CSV, with the columns of `columns.rs`.
//!
//! Null is an empty cell, a string is written as it is, everything else is JSON. Unless the user wants raw strings, one that
//! a spreadsheet would evaluate as a formula gets a leading apostrophe.

use std::io::{self, Write};

use super::cells;
use super::columns::{CHUNK, Layout};
use super::spool::{Chunk, SpoolReader};
use crate::messages::formula;

/// Writes the lines as CSV.
pub(super) fn export(
    lines: &mut SpoolReader<'_>,
    out: &mut impl Write,
    escape_formulas: bool,
) -> io::Result<()> {
    let layout = Layout::of(lines)?;
    let escaped = |text: &str| match escape_formulas {
        true => formula::escaped(text).into_owned(),
        false => text.to_owned(),
    };
    let mut header = csv::Writer::from_writer(Vec::new());
    header.write_record(layout.columns.keys().map(|column| escaped(column)))?;
    out.write_all(&header.into_inner().map_err(csv::IntoInnerError::into_error)?)?;
    let is_full = |chunk: &Chunk| chunk.text.len() >= CHUNK;
    let format = |chunk: Chunk| {
        let mut rows = csv::Writer::from_writer(Vec::with_capacity(chunk.text.len()));
        layout.each_row(chunk.lines(), |values| {
            for value in values {
                let value = value.as_deref().unwrap_or_default();
                match cells::text(value) {
                    Some(text) if escape_formulas => {
                        rows.write_field(formula::escaped(&text).as_bytes())
                    }
                    Some(text) => rows.write_field(text.as_bytes()),
                    None => rows.write_field(cells::json(value).as_bytes()),
                }?;
            }
            Ok(rows.write_record(None::<&[u8]>)?)
        })?;
        rows.into_inner().map_err(csv::IntoInnerError::into_error)
    };
    lines.map_chunks(is_full, format, |rows| out.write_all(&rows))
}
