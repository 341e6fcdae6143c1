//! Results as CSV, with the columns of `columns.rs`.
//!
//! Strings are written as they are, null is an empty cell, everything else is JSON. On request, a
//! string that a spreadsheet would evaluate as a formula gets a leading apostrophe.

use std::io::{self, Write};

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::columns::{Cells, Line};
use super::files::SpoolReader;

/// Writes the lines as CSV. Reads them twice, since the columns are known only after the last row.
pub(super) fn export(
    lines: &mut SpoolReader<'_>,
    out: &mut impl Write,
    escape_formulas: bool,
) -> io::Result<()> {
    let escaped = |text: String| match escape_formulas && is_formula(&text) {
        true => format!("'{text}"),
        false => text,
    };
    let mut groups: IndexMap<String, IndexSet<String>> = IndexMap::new();
    lines.for_each(|line| {
        for (group, cells) in Line::read(line)?.cells() {
            let columns = groups.entry(group).or_default();
            columns.extend(cells.into_keys());
        }
        Ok(())
    })?;
    let columns: IndexSet<String> = groups.into_values().flatten().collect();
    let mut out = csv::Writer::from_writer(out);
    out.write_record(columns.iter().map(|column| escaped(column.clone())))?;
    lines.for_each(|line| {
        let groups = Line::read(line)?.cells();
        let mut cells: Cells = groups.into_values().flatten().collect();
        let cell = |column| match cells.swap_remove(column).unwrap_or_default() {
            Value::Null => String::new(),
            Value::String(text) => escaped(text),
            other => other.to_string(),
        };
        out.write_record(columns.iter().map(cell))?;
        Ok(())
    })?;
    out.flush()
}

/// Returns whether a spreadsheet may evaluate the string, by its first character (OWASP, "CSV
/// Injection").
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}
