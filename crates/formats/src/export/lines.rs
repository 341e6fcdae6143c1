//! Formats that are JSON documents, one in each line.

use std::io::Write;

use serde::Serialize;

use super::error::ExportError;
use super::facts::Facts;
use super::run::{ExportedRun, LeftOut};
use super::sample::TextFields;
use crate::results::ResultRow;

/// A format with a JSON document in each line.
pub(super) trait Documents {
    /// The documents of a row.
    fn of_row(
        source: &Source<'_, '_>,
        row: &ResultRow,
        left_out: &mut LeftOut,
    ) -> Result<Vec<impl Serialize>, ExportError>;
}

/// What the documents of all rows are made of.
pub(super) struct Source<'a, 'f> {
    pub(super) run: &'a ExportedRun<'f>,
    pub(super) facts: &'a Facts<'a>,
    pub(super) fields: &'a TextFields,
}

/// Writes the documents of all rows, and returns notes on what is not in them.
pub(super) fn write<D: Documents>(
    run: &ExportedRun<'_>,
    facts: &Facts<'_>,
    fields: &TextFields,
    out: &mut impl Write,
) -> Result<Vec<String>, ExportError> {
    let (source, mut left_out) = (Source { run, facts, fields }, LeftOut::default());
    run.each_row(|row| {
        for document in D::of_row(&source, row, &mut left_out)? {
            serde_json::to_writer(&mut *out, &document).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    Ok(left_out.note().into_iter().collect())
}

/// Returns an attribute of a row that is a text.
pub(super) fn attribute<'r>(row: &'r ResultRow, name: &str) -> Option<&'r str> {
    row.attributes.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Returns the id of the trace that a row belongs to.
pub(super) fn trace_id<'r>(row: &'r ResultRow, also: &str) -> Result<&'r str, ExportError> {
    attribute(row, "trace_id").ok_or_else(|| {
        let reason = format!(
            "no `trace_id`{also}, so its scores belong to nothing; add the ids to the data beside `gold` and `pred`, and score it again"
        );
        ExportError::row(row, reason)
    })
}
