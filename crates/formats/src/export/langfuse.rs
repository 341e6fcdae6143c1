//! Scores of Langfuse: the body of `POST /api/public/scores`, as its API reference describes it.

use serde::Serialize;
use serde_json::{Map, Value};

use super::error::ExportError;
use super::lines::{Documents, Source, attribute, metadata, of_scores, trace_id};
use super::run::LeftOut;
use crate::results::ResultRow;

pub(super) struct Scores;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Score<'a> {
    /// The same for each export, so that a score that is sent twice replaces itself.
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    name: &'a str,
    value: f64,
    data_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
    metadata: Map<String, Value>,
    timestamp: String,
}

impl Documents for Scores {
    fn of_row(
        source: &Source<'_, '_>,
        row: &ResultRow,
        left_out: &mut LeftOut,
    ) -> Result<Vec<impl Serialize>, ExportError> {
        let session_id = attribute(row, "session_id");
        let trace_id = match session_id {
            Some(_) => attribute(row, "trace_id"),
            None => Some(trace_id(row, " or `session_id`")?),
        };
        // A score belongs to a trace, or to a session.
        let session_id = session_id.filter(|_| trace_id.is_none());
        let observation_id = attribute(row, "span_id").filter(|_| trace_id.is_some());
        let scores = of_scores(row, left_out, |name, score| {
            Some(Score {
                id: source.facts.uuid(&[&row.id, name]),
                trace_id,
                observation_id,
                session_id,
                name,
                value: score.value?,
                data_type: if source.run.is_verdict(name) {
                    "BOOLEAN"
                } else {
                    "NUMERIC"
                },
                comment: score.explanation(),
                metadata: metadata(source, row, (name, score)),
                timestamp: humantime::format_rfc3339_millis(source.facts.ended).to_string(),
            })
        });
        Ok(scores)
    }
}
