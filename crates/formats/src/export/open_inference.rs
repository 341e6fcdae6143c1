//! Spans with evaluations as OpenInference's `spec/annotations.md` describes them, in OTLP JSON.
//!
//! A row is one span of the kind `EVALUATOR`. If the row names the trace and the span that were evaluated, the span is a child of it,
//! since a span that was sent cannot be changed.

use serde_json::{Map, Value, json};

use super::lines::{attribute, metadata};
use super::run::{Annotator, ExportedRun, LeftOut, Sample, nanos};
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
    let mut attributes = Attributes::default();
    attributes.text("openinference.span.kind", "EVALUATOR");
    if row.gold.is_some() {
        attributes.text("input.value", &sample.input);
    }
    if let Some(output) = &sample.output {
        attributes.text("output.value", output);
    }
    let mut number = 0;
    for (name, score) in &row.scores {
        let text = score.explanation();
        let has_result = score.value.is_some() || (score.outcome.is_failure() && text.is_some());
        if !has_result {
            left_out.add(score.outcome);
            continue;
        }
        let mut add = |field: &str, value: Value| {
            attributes.add(&format!("evaluations.{number}.evaluation.{field}"), value);
        };
        let mut metadata = metadata(run, row, (name, score));
        if score.outcome.is_failure() {
            // A failure has an explanation and no score: never 0.
            metadata.insert("outcome".to_owned(), score.outcome.name().into());
        }
        add("name", json!({ "stringValue": name }));
        if let Some(value) = score.value {
            add("score", json!({ "doubleValue": value }));
        }
        if let (Some(_), Some(passed)) = (score.value, score.passed) {
            add(
                "label",
                json!({ "stringValue": if passed { "pass" } else { "fail" } }),
            );
        }
        if let Some(text) = text {
            add("explanation", json!({ "stringValue": text }));
        }
        let kind = match run.annotator(name) {
            Annotator::Models(_) => "LLM",
            _ => "CODE",
        };
        add("annotator_kind", json!({ "stringValue": kind }));
        add(
            "identifier",
            json!({ "stringValue": run.uuid(&[&row.id, name]) }),
        );
        add(
            "metadata",
            json!({ "stringValue": Value::from(metadata).to_string() }),
        );
        number += 1;
    }
    if number == 0 {
        return Ok(Vec::new());
    }
    let trace = valid_id(attribute(row, "trace_id"), 32);
    let parent = valid_id(attribute(row, "span_id"), 16).filter(|_| trace.is_some());
    let own = hexadecimal(&run.hash(&[&row.id]));
    let mut span = json!({
        "traceId": trace.unwrap_or(&own[..32]),
        "spanId": &own[32..48],
        "name": "evaluation",
        "kind": 1,
        "startTimeUnixNano": nanos(run.started.unwrap_or(run.ended)),
        "endTimeUnixNano": nanos(run.ended),
        "attributes": attributes.0,
    });
    if let (Some(parent), Some(fields)) = (parent, span.as_object_mut()) {
        fields.insert("parentSpanId".to_owned(), parent.into());
    }
    let scope = json!({ "name": "dsrs-metrics", "version": run.version() });
    let service = run.label().unwrap_or("dsrs-metrics");
    let resource = [("service.name", json!({ "stringValue": service }))];
    let document = json!({ "resourceSpans": [{
        "resource": { "attributes": resource.map(|(key, value)| json!({ "key": key, "value": value })) },
        "scopeSpans": [{ "scope": scope, "spans": [span] }],
    }]});
    Ok(vec![document.to_string()])
}

/// Attributes of a span in OTLP JSON.
#[derive(Default)]
struct Attributes(Vec<Map<String, Value>>);

impl Attributes {
    fn add(&mut self, key: &str, value: Value) {
        let pair = [("key".to_owned(), key.into()), ("value".to_owned(), value)];
        self.0.push(pair.into_iter().collect());
    }

    fn text(&mut self, key: &str, text: &str) {
        self.add(key, json!({ "stringValue": text }));
    }
}

/// Returns an id of this number of hexadecimal digits that are not all 0. Any other id names no span.
fn valid_id(id: Option<&str>, digits: usize) -> Option<&str> {
    id.filter(|id| {
        id.len() == digits
            && id.bytes().all(|byte| byte.is_ascii_hexdigit())
            && id.bytes().any(|byte| byte != b'0')
    })
}
