//! Spans in OTLP's protobuf: one message, or several messages that are each preceded by their length in four bytes, as
//! the collector's file exporter writes them. A message is converted to the equivalent document in OTLP's JSON.

use opentelemetry_proto::tonic::trace::v1::TracesData;
use prost::Message as _;

use super::document::Document;
use crate::error::{FormatError, Input};
use crate::import::text::MAX_DOCUMENT;

/// The bytes of the length before a message.
const LENGTH: usize = 4;

/// Returns the documents of a file; `None` if it is not protobuf.
pub(super) fn documents(input: Input<'_>) -> Result<Option<Vec<Document>>, FormatError> {
    let bytes = input.read(MAX_DOCUMENT as u64)?;
    let Some(messages) = with_lengths(&bytes).or_else(|| Some(vec![decode(&bytes)?])) else {
        return Ok(None);
    };
    if bytes.len() > MAX_DOCUMENT {
        let limit = MAX_DOCUMENT >> 20;
        return Err(input.whole(format_args!(
            "protobuf file is larger than {limit} MiB; export it as JSON, or split it into several files"
        )));
    }
    let documents = messages
        .into_iter()
        .map(|message| serde_json::from_value::<Document>(serde_json::to_value(message)?));
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
