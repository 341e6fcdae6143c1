//! Import of OpenTelemetry spans in OTLP.
//!
//! The file contains one JSON document, or one per line, as file exporters write them. With the `otel` feature,
//! `protobuf.rs` also reads protobuf.
//!
//! The format is described at <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. The spans of a trace
//! may be anywhere in the file. `document.rs` reads them, and finds the spans below each root.
//! `conventions.rs` reads what a span records, `conversation.rs` builds a trajectory, and `row.rs` builds the row.

mod conventions;
mod conversation;
mod document;
#[cfg(feature = "otel")]
mod protobuf;
mod row;

use indexmap::IndexMap;

use super::table::{Converted, Epochs, Table, by_id};
use super::text::{ROW_LIMIT, each_document};
use crate::error::{FormatError, Input};
use document::{Document, Span, roots};
use row::Rows;

const EXPECTED: &str = "OpenTelemetry spans as JSON, with `resourceSpans`";

pub(super) fn import(input: Input<'_>) -> Result<Converted, FormatError> {
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
        for row in rows.of_trace(&trace, roots).map_err(of_trace)? {
            table.add(input, row)?;
        }
    }
    if table.len() == 0 {
        return Err(input.whole("no spans in the file; export the spans of at least one trace"));
    }
    table.run.label = rows.service();
    table.notes = rows.notes();
    table.is_complete = true;
    Ok(table.finish(Epochs::Rows))
}
