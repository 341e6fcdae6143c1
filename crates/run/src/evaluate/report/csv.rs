//! Results as CSV, with the columns of `columns.rs`.
//!
//! Null is an empty cell, a string is written as it is, everything else is JSON. Unless the user wants raw strings, one that
//! a spreadsheet would evaluate as a formula gets a leading apostrophe.

use std::io::{self, Write};

use indexmap::IndexSet;
use serde_json::Value;

use super::columns::{Columns, Line};
use super::spool::SpoolReader;
use crate::messages::formula;

/// Writes the lines as CSV. Reads them twice, since the columns are known only after the last row.
pub(super) fn export(
    lines: &mut SpoolReader<'_>,
    out: &mut impl Write,
    escape_formulas: bool,
) -> io::Result<()> {
    let escaped = |text: &str| match escape_formulas {
        true => formula::escaped(text).into_owned(),
        false => text.to_owned(),
    };
    let mut columns = Columns::<()>::default();
    lines.for_each(|line| {
        columns.add(Line::read(line)?, |(), _| ());
        Ok(())
    })?;
    let (columns, packing) = columns.finish(|| ());
    let columns: IndexSet<String> = columns.into_keys().collect();
    let mut out = csv::Writer::from_writer(out);
    out.write_record(columns.iter().map(|column| escaped(column)))?;
    lines.for_each(|line| {
        let mut cells = packing.cells(Line::read(line)?);
        let cell = |column| match cells.swap_remove(column).unwrap_or_default() {
            Value::Null => String::new(),
            Value::String(text) => escaped(&text),
            other => other.to_string(),
        };
        out.write_record(columns.iter().map(cell))?;
        Ok(())
    })?;
    out.flush()
}
