//! Import of OpenTelemetry spans in OTLP.
//!
//! The file contains one JSON document, or one per line, as file exporters write them. With the `otel` feature,
//! the file may also be protobuf.
//!
//! The format is described at <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. The spans of a trace
//! may be anywhere in the file. `document.rs` reads them, and finds the spans below each root.
//! `conventions.rs` reads what a span records, `conversation.rs` builds a trajectory, and `row.rs` builds the row.

mod conventions;
mod conversation;
mod document;
mod row;

use indexmap::IndexMap;

use super::table::{Table, by_id};
use super::text::{ROW_LIMIT, each_document};
use crate::{FormatError, Input};
use document::{Document, Span, roots};
use row::Rows;

const EXPECTED: &str = "OpenTelemetry spans as JSON, with `resourceSpans`";

pub(super) fn import(input: Input<'_>) -> Result<Table, FormatError> {
    let mut traces = IndexMap::<String, Vec<Span>>::new();
    let mut add = |place: &str, document: Document| {
        document.spans().try_for_each(|span| {
            let span = span.map_err(|reason| input.invalid(place, reason))?;
            traces.entry(span.trace.clone()).or_default().push(span);
            Ok(())
        })
    };
    let read = each_document(input, EXPECTED, &mut add);
    #[cfg(feature = "otel")]
    let read = read.or_else(|error| match protobuf::documents(input)? {
        Some(documents) => {
            let mut numbered = documents.into_iter().zip(1..);
            numbered.try_for_each(|(document, number): (_, u64)| {
                add(&format!("message {number}"), document)
            })
        }
        None => Err(error),
    });
    read?;
    traces.sort_by(|a, _, b, _| by_id(a, b));
    let (mut rows, mut table) = (Rows::default(), Table::default());
    for (trace, spans) in traces {
        let of_trace = |reason| input.invalid(format_args!("trace {trace}"), reason);
        let size = |span: &Span| serde_json::to_vec(span).map_or(0, |bytes| bytes.len());
        let bytes: usize = spans.iter().map(size).sum();
        if bytes > ROW_LIMIT {
            let reason = format!("expected spans of at most {ROW_LIMIT} bytes, found {bytes}");
            return Err(of_trace(reason));
        }
        let roots = roots(spans).map_err(of_trace)?;
        for row in rows.of_trace(&trace, &roots).map_err(of_trace)? {
            table.add(input, row)?;
        }
    }
    if table.len() == 0 {
        return Err(input.whole("no spans in the file; export the spans of at least one trace"));
    }
    table.run.label = rows.service();
    table.notes = rows.notes();
    table.is_complete = true;
    Ok(table)
}

#[cfg(feature = "otel")]
mod protobuf {
    //! Spans in OTLP's protobuf: one message, or several messages that are each preceded by their length in four bytes, as
    //! the collector's file exporter writes them. A message is converted to the equivalent document in OTLP's JSON.

    use opentelemetry_proto::tonic::trace::v1::TracesData;
    use prost::Message as _;

    use super::document::Document;
    use crate::import::text::MAX_DOCUMENT;
    use crate::{FormatError, Input};

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
}
