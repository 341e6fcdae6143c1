//! Assessments of MLflow: the body of `POST /api/3.0/mlflow/traces/TRACE/assessments`, as `assessments.proto` describes it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::error::ExportError;
use super::facts::Annotator;
use super::lines::{Documents, Source, attribute, metadata, of_scores, trace_id};
use super::run::LeftOut;
use crate::import::as_string;
use crate::results::ResultRow;

pub(super) struct Assessments;

#[derive(Serialize)]
struct CreateAssessment<'a> {
    assessment: Assessment<'a>,
}

#[derive(Serialize)]
struct Assessment<'a> {
    assessment_name: &'a str,
    trace_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<&'a str>,
    source: Value,
    create_time: String,
    feedback: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    rationale: Option<&'a str>,
    metadata: BTreeMap<String, String>,
}

impl Documents for Assessments {
    fn of_row(
        source: &Source<'_, '_>,
        row: &ResultRow,
        left_out: &mut LeftOut,
    ) -> Result<Vec<impl Serialize>, ExportError> {
        let trace_id = trace_id(row, "")?;
        let assessments = of_scores(row, left_out, |name, score| {
            let feedback = match score.value {
                Some(value) if source.run.is_verdict(name) => json!({ "value": value >= 1.0 }),
                Some(value) => json!({ "value": value }),
                None if score.outcome.is_failure() => json!({ "error": {
                    "error_code": score.outcome.name(),
                    "error_message": score.error.as_deref().unwrap_or(score.outcome.name()),
                }}),
                None => return None,
            };
            let (source_type, source_id) = match source.facts.annotator(name) {
                Annotator::Models(models) => ("LLM_JUDGE", models.join(" and ")),
                _ => ("CODE", format!("dsrs-metrics:{name}")),
            };
            let metadata = metadata(source, row, (name, score));
            let metadata = metadata
                .into_iter()
                .map(|(key, value)| (key, as_string(&value)));
            Some(CreateAssessment {
                assessment: Assessment {
                    assessment_name: name,
                    trace_id,
                    span_id: attribute(row, "span_id"),
                    source: json!({ "source_type": source_type, "source_id": source_id }),
                    create_time: humantime::format_rfc3339_millis(source.facts.ended).to_string(),
                    feedback,
                    rationale: score.explanation().filter(|_| score.value.is_some()),
                    metadata: metadata.collect(),
                },
            })
        });
        Ok(assessments)
    }
}
