//! Spans in OTLP's protobuf: one message, or several with their lengths in four bytes, as the file exporter of the collector writes
//! them. A message becomes the document that OTLP's JSON has for it.

use std::fs::File;
use std::io::Read as _;

use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue as Wrapped, KeyValue};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span, TracesData};
use prost::Message as _;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::document::Document;
use crate::import::error::{ImportError, Input};
use crate::import::text::MAX_DOCUMENT;
use crate::messages::hash::hexadecimal;

/// The bytes of the length before a message.
const LENGTH: usize = 4;

/// Returns the documents of a file; `None` if it is not protobuf.
pub(super) fn documents(input: Input<'_>) -> Result<Option<Vec<Document>>, ImportError> {
    let mut bytes = Vec::new();
    let file = File::open(input.file).map_err(|error| input.unreadable(error))?;
    let read = file.take(MAX_DOCUMENT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| input.unreadable(error))?;
    let Some(messages) = with_lengths(&bytes).or_else(|| Some(vec![decode(&bytes)?])) else {
        return Ok(None);
    };
    if bytes.len() > MAX_DOCUMENT {
        let limit = MAX_DOCUMENT >> 20;
        return Err(input.whole(format_args!(
            "longer than {limit} MiB in protobuf; write JSON, or several files"
        )));
    }
    let documents = messages
        .into_iter()
        .map(|message| Document::deserialize(json_of(message)));
    documents
        .collect::<Result<_, _>>()
        .map(Some)
        .map_err(|error| input.whole(error))
}

/// Returns the messages of a file in which each one has its length before it.
fn with_lengths(mut bytes: &[u8]) -> Option<Vec<TracesData>> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (message, rest) = rest.split_at_checked(length)?;
        messages.push(decode(message)?);
        bytes = rest;
    }
    Some(messages).filter(|messages| !messages.is_empty())
}

/// Returns a message with spans; other bytes may be a message too, of unknown fields.
fn decode(bytes: &[u8]) -> Option<TracesData> {
    let message = TracesData::decode(bytes).ok()?;
    let mut spans = message
        .resource_spans
        .iter()
        .flat_map(|it| &it.scope_spans)
        .flat_map(|it| &it.spans);
    spans
        .any(|span| span.trace_id.len() == 16)
        .then_some(message)
}

fn json_of(message: TracesData) -> Value {
    let all: Vec<Value> = message
        .resource_spans
        .into_iter()
        .map(resource_spans)
        .collect();
    json!({ "resourceSpans": all })
}

fn resource_spans(spans: ResourceSpans) -> Value {
    let resource = spans.resource.map(|it| it.attributes).unwrap_or_default();
    let scopes = spans.scope_spans.into_iter();
    let scopes =
        scopes.map(|it| json!({ "spans": it.spans.into_iter().map(span).collect::<Vec<_>>() }));
    json!({ "resource": { "attributes": attributes(resource) }, "scopeSpans": scopes.collect::<Vec<_>>() })
}

fn span(span: Span) -> Value {
    let events = span.events.into_iter();
    let events =
        events.map(|it| json!({ "name": it.name, "attributes": attributes(it.attributes) }));
    let status = span.status.unwrap_or_default();
    json!({
        "traceId": hexadecimal(&span.trace_id),
        "spanId": hexadecimal(&span.span_id),
        "parentSpanId": hexadecimal(&span.parent_span_id),
        "name": span.name,
        "startTimeUnixNano": span.start_time_unix_nano.to_string(),
        "endTimeUnixNano": span.end_time_unix_nano.to_string(),
        "attributes": attributes(span.attributes),
        "events": events.collect::<Vec<_>>(),
        "status": { "code": status.code, "message": status.message },
    })
}

fn attributes(pairs: Vec<KeyValue>) -> Vec<Value> {
    pairs
        .into_iter()
        .map(|it| json!({ "key": it.key, "value": value(it.value) }))
        .collect()
}

fn value(wrapped: Option<Wrapped>) -> Value {
    match wrapped.and_then(|it| it.value) {
        None => json!({}),
        Some(AnyValue::StringValue(text)) => json!({ "stringValue": text }),
        Some(AnyValue::BoolValue(value)) => json!({ "boolValue": value }),
        Some(AnyValue::IntValue(number)) => json!({ "intValue": number.to_string() }),
        Some(AnyValue::DoubleValue(number)) => json!({ "doubleValue": number }),
        Some(AnyValue::ArrayValue(list)) => {
            let values = list.values.into_iter().map(|it| value(Some(it)));
            json!({ "arrayValue": { "values": values.collect::<Vec<_>>() } })
        }
        Some(AnyValue::KvlistValue(list)) => {
            json!({ "kvlistValue": { "values": attributes(list.values) } })
        }
        Some(AnyValue::BytesValue(bytes)) => json!({ "bytesValue": hexadecimal(&bytes) }),
        Some(_) => json!({}),
    }
}
