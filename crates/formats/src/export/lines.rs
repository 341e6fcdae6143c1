//! Formats that are JSON documents, one in each line.

use std::io::Write;

use serde::Serialize;
use serde_json::{Map, Value};

use super::error::ExportError;
use super::facts::{Annotator, Facts};
use super::run::{ExportedRun, LeftOut};
use super::sample::TextFields;
use crate::core::score::OFFLINE_JUDGE;
use crate::results::{ResultRow, ResultScore};

/// A format with a JSON document in each line.
pub(super) trait Documents {
    /// The documents of a row.
    fn of_row(
        source: &Source<'_, '_>,
        row: &ResultRow,
        left_out: &mut LeftOut,
    ) -> Result<Vec<impl Serialize>, ExportError>;
}

/// The run, and the settings of its export.
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

/// Returns an attribute of a row that is a string, and not empty.
pub(super) fn attribute<'r>(row: &'r ResultRow, name: &str) -> Option<&'r str> {
    row.attributes
        .get(name)?
        .as_str()
        .filter(|text| !text.is_empty())
}

/// Returns the id of the trace that a row belongs to. `or` is another attribute that is enough.
pub(super) fn trace_id<'r>(row: &'r ResultRow, or: &str) -> Result<&'r str, ExportError> {
    attribute(row, "trace_id").ok_or_else(|| {
        let reason = format!(
            "missing attribute `trace_id`{or}; add it to the data beside `gold` and `pred`, and score the data again"
        );
        ExportError::row(row, reason)
    })
}

/// Returns the document of each result of a row. A result without a document is counted.
pub(super) fn of_scores<'r, D>(
    row: &'r ResultRow,
    left_out: &mut LeftOut,
    document: impl Fn(&'r str, &'r ResultScore) -> Option<D>,
) -> Vec<D> {
    let documents = row.scores.iter().filter_map(|(name, score)| {
        let document = document(name, score);
        if document.is_none() {
            left_out.add(score.outcome);
        }
        document
    });
    documents.collect()
}

/// Returns the metadata of a score: its row, its judge, and the values that the metric returned with it.
pub(super) fn metadata(
    source: &Source<'_, '_>,
    row: &ResultRow,
    (name, score): (&str, &ResultScore),
) -> Map<String, Value> {
    let judges = match source.facts.annotator(name) {
        Annotator::Code => None,
        Annotator::OfflineJudge => Some(OFFLINE_JUDGE.into()),
        Annotator::Models(models) => Some(models.join(" and ").into()),
    };
    let fields = [
        ("row_id", Some(row.id.clone().into())),
        ("run", source.facts.label().map(Value::from)),
        ("judge", judges),
        (
            "passed",
            score
                .passed
                .filter(|_| !source.run.is_verdict(name))
                .map(Value::from),
        ),
        (
            "confidence",
            score.confidence.filter(|it| *it < 1.0).map(Value::from),
        ),
        (
            "cost_msats",
            Some(score.cost_msats)
                .filter(|cost| *cost > 0)
                .map(Value::from),
        ),
        (
            "parts",
            Some(&score.parts)
                .filter(|it| !it.is_empty())
                .map(|it| serde_json::json!(it)),
        ),
        (
            "details",
            Some(&score.metadata)
                .filter(|it| !it.is_empty())
                .map(|it| Value::from(it.clone())),
        ),
    ];
    fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}
