//! Spans with evaluations in OTLP JSON, as OpenInference's `spec/annotations.md` describes them.
//!
//! A row becomes one span of the kind `EVALUATOR`. If the row names the trace and the span that were evaluated, the new
//! span is a child of the evaluated one, because a span cannot be changed after it was sent.

use serde_json::{Value, json};

use super::lines::{attribute, metadata};
use super::run::{Annotator, ExportedRun, LeftOut, Sample, nanos, present};
use crate::error::FormatError;
use crate::messages::hash::hexadecimal;
use crate::results::ResultRow;

/// The spans of a row.
pub(super) fn spans(
    run: &ExportedRun<'_>,
    row: &ResultRow,
    left_out: &mut LeftOut,
) -> Result<Vec<String>, FormatError> {
    let sample = Sample::of(row, run)?;
    let mut attributes = vec![attribute_of(
        "openinference.span.kind",
        &string("EVALUATOR"),
    )];
    if row.gold.is_some() {
        attributes.push(attribute_of("input.value", &string(&sample.input)));
    }
    let output = sample.output.as_deref().map(string);
    attributes.extend(output.map(|output| attribute_of("output.value", &output)));
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
            // A failure has an explanation and no score: never 0.
            metadata.insert("outcome".to_owned(), score.outcome.name().into());
        }
        let kind = match run.annotator(name) {
            Annotator::Models(_) => "LLM",
            _ => "CODE",
        };
        let passed = score.passed.filter(|_| score.value.is_some());
        let result = [
            ("name", Some(string(name))),
            (
                "score",
                score.value.map(|value| json!({ "doubleValue": value })),
            ),
            (
                "label",
                passed.map(|passed| string(if passed { "pass" } else { "fail" })),
            ),
            ("explanation", text.map(string)),
            ("annotator_kind", Some(string(kind))),
            ("identifier", Some(string(&run.uuid(&[&row.id, name])))),
            ("metadata", Some(string(&Value::from(metadata).to_string()))),
        ];
        attributes.extend(result.into_iter().filter_map(|(field, value)| {
            let key = format!("evaluations.{number}.evaluation.{field}");
            Some(attribute_of(&key, &value?))
        }));
        number += 1;
    }
    if number == 0 {
        return Ok(Vec::new());
    }
    let trace = valid_id(attribute(row, "trace_id"), 32);
    let parent = valid_id(attribute(row, "span_id"), 16).filter(|_| trace.is_some());
    let own = hexadecimal(&run.hash(&[&row.id]));
    let span = present(json!({
        "traceId": trace.unwrap_or(&own[..32]),
        "spanId": &own[32..48],
        "name": "evaluation",
        "kind": 1,
        "startTimeUnixNano": nanos(run.started.unwrap_or(run.ended)),
        "endTimeUnixNano": nanos(run.ended),
        "attributes": attributes,
        "parentSpanId": parent,
    }));
    let scope = json!({ "name": "dsrs-metrics", "version": run.version() });
    let service = run.label().unwrap_or("dsrs-metrics");
    let document = json!({ "resourceSpans": [{
        "resource": { "attributes": [attribute_of("service.name", &string(service))] },
        "scopeSpans": [{ "scope": scope, "spans": [span] }],
    }]});
    Ok(vec![document.to_string()])
}

fn attribute_of(key: &str, value: &Value) -> Value {
    json!({ "key": key, "value": value })
}

fn string(text: &str) -> Value {
    json!({ "stringValue": text })
}

/// Returns an id of this number of hexadecimal digits that are not all 0. Any other id names no span.
fn valid_id(id: Option<&str>, digits: usize) -> Option<&str> {
    id.filter(|id| {
        id.len() == digits
            && id.bytes().all(|byte| byte.is_ascii_hexdigit())
            && id.bytes().any(|byte| byte != b'0')
    })
}
