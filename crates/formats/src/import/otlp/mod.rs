//! Spans of OpenTelemetry, in OTLP's JSON: a document, or one in each line, as exporters to files write them. With the
//! `otel` feature, `protobuf.rs` reads protobuf too.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. Spans of a trace may be anywhere in the file: `document.rs`
//! reads them, `roots.rs` finds the spans of a trace below each root, `conventions.rs` reads what each says,
//! `conversation.rs` makes a trajectory of it, and `row.rs` the row.

mod conventions;
mod conversation;
mod document;
#[cfg(feature = "otel")]
mod protobuf;
mod roots;
mod row;

use std::path::Path;

use indexmap::IndexMap;

use self::document::{Document, Span};
use self::roots::roots;
use self::row::Rows;
use super::format::Converted;
use super::scores::{by_id, complete};
use super::text::{ROW_LIMIT, each_document};
use crate::contract::{MetricIdentity, MetricSpec};
use crate::error::{FormatError, Input};
use crate::results::ForeignRun;

const EXPECTED: &str = "spans of OpenTelemetry in JSON, which have `resourceSpans`";

pub(super) fn import(file: &Path) -> Result<Converted, FormatError> {
    let input = Input { file };
    let mut traces = IndexMap::<String, Vec<Span>>::new();
    let mut add = |place: &str, document: Document| {
        document.each_span(|span| {
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
    let (mut converter, mut rows) = (Rows::default(), Vec::new());
    for (trace, spans) in traces {
        let of_trace = |reason| input.invalid(format_args!("trace {trace}"), reason);
        let size = |span: &Span| serde_json::to_vec(span).map_or(0, |bytes| bytes.len());
        let bytes: usize = spans.iter().map(size).sum();
        if bytes > ROW_LIMIT {
            let reason = format!("its spans have {bytes} bytes; expected at most {ROW_LIMIT}");
            return Err(of_trace(reason));
        }
        let roots = roots(spans).map_err(of_trace)?;
        rows.extend(converter.of_trace(&trace, roots).map_err(of_trace)?);
    }
    complete(&mut rows, &converter.optional);
    if rows.is_empty() {
        return Err(input.whole("no spans in the file; export the spans of at least one trace"));
    }
    let identity = |(name, evaluation): (&String, &String)| {
        let identity =
            MetricIdentity::of_other_program(&MetricSpec::new(evaluation), Default::default());
        (name.clone(), identity)
    };
    let metrics: IndexMap<_, _> = converter.metrics.iter().map(identity).collect();
    let (label, notes) = (converter.service(), converter.notes());
    let run = ForeignRun {
        label,
        metrics,
        ..ForeignRun::default()
    };
    Ok(Converted { rows, run, notes })
}
