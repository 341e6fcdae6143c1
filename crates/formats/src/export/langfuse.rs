//! Scores of Langfuse: the body of `POST /api/public/scores`, as its API reference describes it.

use serde::Serialize;
use serde_json::{Map, Value};

use super::error::ExportError;
use super::facts::Annotator;
use super::lines::{Documents, Source, attribute, trace_id};
use super::run::{LeftOut, explanation};
use crate::core::score::OFFLINE_JUDGE;
use crate::results::{ResultRow, ResultScore};

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
            None => Some(trace_id(row, " and no `session_id`")?),
        };
        // A score belongs to a trace, or to a session.
        let session_id = session_id.filter(|_| trace_id.is_none());
        let observation_id = attribute(row, "span_id").filter(|_| trace_id.is_some());
        let mut scores = Vec::with_capacity(row.scores.len());
        for (name, score) in &row.scores {
            let Some(value) = score.value else {
                left_out.add(score.outcome);
                continue;
            };
            scores.push(Score {
                id: source.facts.uuid(&[&row.id, name]),
                trace_id,
                observation_id,
                session_id,
                name,
                value,
                data_type: if source.run.is_verdict(name) { "BOOLEAN" } else { "NUMERIC" },
                comment: explanation(score),
                metadata: metadata(source, row, (name, score)),
                timestamp: humantime::format_rfc3339_millis(source.facts.ended).to_string(),
            });
        }
        Ok(scores)
    }
}

/// What belongs to the score: the row, who gave it, and what the metric returned with it.
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
        ("passed", score.passed.filter(|_| !source.run.is_verdict(name)).map(Value::from)),
        ("confidence", score.confidence.filter(|it| *it < 1.0).map(Value::from)),
        ("cost_msats", Some(score.cost_msats).filter(|cost| *cost > 0).map(Value::from)),
        ("parts", Some(&score.parts).filter(|it| !it.is_empty()).map(|it| serde_json::json!(it))),
        (
            "details",
            Some(&score.metadata).filter(|it| !it.is_empty()).map(|it| Value::from(it.clone())),
        ),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
