//! Formats with one JSON document per line. A Langfuse score is the body of `POST /api/public/scores`, as described in
//! the API reference. An MLflow assessment is the body of `POST /api/3.0/mlflow/traces/TRACE/assessments`, as described
//! in `assessments.proto`. Spans with evaluations are written in OTLP JSON, as described in OpenInference's
//! `spec/annotations.md`.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::run::{Annotator, ExportedRun, LeftOut, Sample, fields, present, since_1970};
use crate::FormatError;
use crate::contract::score::OFFLINE_JUDGE;
use crate::import::as_string;
use crate::messages::hash::hexadecimal;
use crate::results::{ResultRow, ResultScore};

/// Writes the documents for all rows, and returns notes on anything they leave out.
pub(super) fn write(
    run: &ExportedRun<'_>,
    out: &mut impl Write,
    of_row: fn(&ExportedRun<'_>, &ResultRow, &mut LeftOut) -> Result<Vec<String>, FormatError>,
) -> Result<Vec<String>, FormatError> {
    let mut left_out = LeftOut::default();
    run.each_row(|row| {
        for document in of_row(run, row, &mut left_out)? {
            out.write_all(document.as_bytes())?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    Ok(left_out.note().into_iter().collect())
}

/// Returns the row attribute with this name if it is a non-empty string.
pub(super) fn attribute<'r>(row: &'r ResultRow, name: &str) -> Option<&'r str> {
    row.attributes
        .get(name)?
        .as_str()
        .filter(|text| !text.is_empty())
}

/// Returns the id of the trace that a row belongs to. `or` completes the error message if a different attribute would
/// also do.
pub(super) fn trace_id<'r>(row: &'r ResultRow, or: &str) -> Result<&'r str, FormatError> {
    attribute(row, "trace_id").ok_or_else(|| {
        let reason = format!(
            "missing attribute `trace_id`{or}; add it to the data beside `gold` and `pred`, and score the data again"
        );
        FormatError::new(format_args!("{}: {reason}", row.at()))
    })
}

/// Returns a document for each result in a row. Results without a document are counted.
fn of_scores<'r>(
    row: &'r ResultRow,
    left_out: &mut LeftOut,
    document: impl Fn(&'r str, &'r ResultScore) -> Option<Value>,
) -> Vec<String> {
    let mut documents = Vec::new();
    for (name, score) in &row.scores {
        match document(name, score) {
            None => left_out.add(score.outcome),
            Some(document) => documents.push(document.to_string()),
        }
    }
    documents
}

/// Returns a score's metadata: its row, its judge, and the values that the metric returned with the score.
pub(super) fn metadata(
    run: &ExportedRun<'_>,
    row: &ResultRow,
    (name, score): (&str, &ResultScore),
) -> Map<String, Value> {
    let judges = match run.annotator(name) {
        Annotator::Code => None,
        Annotator::OfflineJudge => Some(OFFLINE_JUDGE.to_owned()),
        Annotator::Models(models) => Some(models.join(" and ")),
    };
    fields(json!({
        "row_id": row.id,
        "run": run.manifest.label,
        "judge": judges,
        "passed": score.passed.filter(|_| !run.is_verdict(name)),
        "confidence": score.confidence.filter(|it| *it < 1.0),
        "cost_msats": Some(score.cost_msats).filter(|cost| *cost > 0),
        "parts": Some(&score.parts).filter(|it| !it.is_empty()),
        "details": Some(&score.metadata).filter(|it| !it.is_empty()),
    }))
}

/// Returns a row's scores for Langfuse.
pub(super) fn langfuse(
    run: &ExportedRun<'_>,
    row: &ResultRow,
    left_out: &mut LeftOut,
) -> Result<Vec<String>, FormatError> {
    let session_id = attribute(row, "session_id");
    let trace_id = match session_id {
        Some(_) => attribute(row, "trace_id"),
        None => Some(trace_id(row, " or `session_id`")?),
    };
    Ok(of_scores(row, left_out, |name, score| {
        let data_type = match run.is_verdict(name) {
            true => "BOOLEAN",
            false => "NUMERIC",
        };
        Some(present(json!({
            // The id is the same for each export, so that a score that is sent twice replaces itself.
            "id": run.uuid(&[&row.id, name]),
            // A score belongs to a trace, or to a session.
            "traceId": trace_id,
            "observationId": attribute(row, "span_id").filter(|_| trace_id.is_some()),
            "sessionId": session_id.filter(|_| trace_id.is_none()),
            "name": name,
            "value": score.value?,
            "dataType": data_type,
            "comment": score.explanation(),
            "metadata": metadata(run, row, (name, score)),
            "timestamp": humantime::format_rfc3339_millis(run.ended).to_string(),
        })))
    }))
}

/// Returns a row's assessments for MLflow.
pub(super) fn mlflow(
    run: &ExportedRun<'_>,
    row: &ResultRow,
    left_out: &mut LeftOut,
) -> Result<Vec<String>, FormatError> {
    let trace_id = trace_id(row, "")?;
    Ok(of_scores(row, left_out, |name, score| {
        let feedback = match score.value {
            Some(value) if run.is_verdict(name) => json!({ "value": value >= 1.0 }),
            Some(value) => json!({ "value": value }),
            None if score.outcome.is_failure() => json!({ "error": {
                "error_code": score.outcome.name(),
                "error_message": score.error.as_deref().unwrap_or(score.outcome.name()),
            }}),
            None => return None,
        };
        let (source_type, source_id) = match run.annotator(name) {
            Annotator::Models(models) => ("LLM_JUDGE", models.join(" and ")),
            _ => ("CODE", format!("dsrs-metrics:{name}")),
        };
        let metadata = metadata(run, row, (name, score)).into_iter();
        let metadata: Map<String, Value> = metadata
            .map(|(key, value)| (key, as_string(&value).into()))
            .collect();
        let assessment = present(json!({
            "assessment_name": name,
            "trace_id": trace_id,
            "span_id": attribute(row, "span_id"),
            "source": { "source_type": source_type, "source_id": source_id },
            "create_time": humantime::format_rfc3339_millis(run.ended).to_string(),
            "feedback": feedback,
            "rationale": score.explanation().filter(|_| score.value.is_some()),
            "metadata": metadata,
        }));
        Some(json!({ "assessment": assessment }))
    }))
}

/// Returns the span for a row, with the kind `EVALUATOR`. If the row names the evaluated trace and span, the new span
/// is a child of the evaluated one, because a span cannot be changed after it is sent.
pub(super) fn spans(
    run: &ExportedRun<'_>,
    row: &ResultRow,
    left_out: &mut LeftOut,
) -> Result<Vec<String>, FormatError> {
    let sample = Sample::of(row, run)?;
    let input = row.gold.as_ref().map(|_| &*sample.input);
    let mut attributes: Vec<(String, Value)> = vec![
        ("openinference.span.kind".to_owned(), "EVALUATOR".into()),
        ("input.value".to_owned(), input.into()),
        ("output.value".to_owned(), sample.output.into()),
    ];
    let mut number = 0;
    for (name, score) in &row.scores {
        let text = score.explanation();
        let has_result = score.value.is_some() || (score.outcome.is_failure() && text.is_some());
        if !has_result {
            left_out.add(score.outcome);
            continue;
        }
        let mut metadata = metadata(run, row, (name, score));
        if score.outcome.is_failure() {
            // A failure has an explanation and no score, not even 0.
            metadata.insert("outcome".to_owned(), score.outcome.name().into());
        }
        let kind = match run.annotator(name) {
            Annotator::Models(_) => "LLM",
            _ => "CODE",
        };
        let passed = score.passed.filter(|_| score.value.is_some());
        let label = passed.map(|passed| if passed { "pass" } else { "fail" });
        for (field, value) in [
            ("name", name.as_str().into()),
            ("score", score.value.into()),
            ("label", label.into()),
            ("explanation", text.into()),
            ("annotator_kind", kind.into()),
            ("identifier", run.uuid(&[&row.id, name]).into()),
            ("metadata", Value::from(metadata).to_string().into()),
        ] {
            attributes.push((format!("evaluations.{number}.evaluation.{field}"), value));
        }
        number += 1;
    }
    if number == 0 {
        return Ok(Vec::new());
    }
    let trace = valid_id(attribute(row, "trace_id"), 32);
    let parent = valid_id(attribute(row, "span_id"), 16).filter(|_| trace.is_some());
    let own = hexadecimal(&run.hash(&[&row.id]));
    // OTLP writes 64-bit integers as strings.
    let nanos = |time| since_1970(time).as_nanos().to_string();
    let span = present(json!({
        "traceId": trace.unwrap_or(&own[..32]),
        "spanId": &own[32..48],
        "name": "evaluation",
        "kind": 1,
        "startTimeUnixNano": nanos(run.started.unwrap_or(run.ended)),
        "endTimeUnixNano": nanos(run.ended),
        "attributes": attributes.into_iter().filter_map(attribute_of).collect::<Value>(),
        "parentSpanId": parent,
    }));
    let scope = json!({ "name": "dsrs-metrics", "version": run.manifest.library.version });
    let service = run.manifest.label.as_deref().unwrap_or("dsrs-metrics");
    let service = attribute_of(("service.name".to_owned(), service.into()));
    let document = json!({ "resourceSpans": [{
        "resource": { "attributes": [service] },
        "scopeSpans": [{ "scope": scope, "spans": [span] }],
    }]});
    Ok(vec![document.to_string()])
}

/// Returns an OTLP attribute, unless its value is null.
fn attribute_of((key, value): (String, Value)) -> Option<Value> {
    let kind = match value {
        Value::Null => return None,
        Value::Number(_) => "doubleValue",
        _ => "stringValue",
    };
    Some(json!({ "key": key, "value": { kind: value } }))
}

/// Returns the id if it has this number of hexadecimal digits and is not all zeros. Any other id names no span.
fn valid_id(id: Option<&str>, digits: usize) -> Option<&str> {
    id.filter(|id| {
        id.len() == digits
            && id.bytes().all(|byte| byte.is_ascii_hexdigit())
            && id.bytes().any(|byte| byte != b'0')
    })
}
