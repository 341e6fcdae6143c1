//! Spans of OpenTelemetry, in OTLP's JSON: a document, or one in each line, as exporters to files write them. With the feature `otel`,
//! `protobuf.rs` reads protobuf too.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. Spans of a trace may be anywhere in the file: `document.rs`
//! reads them, `spool.rs` joins them by trace and finds the spans below each root, `conventions.rs` reads what each says,
//! `conversation.rs` makes a trajectory of it, and `row.rs` the row.

mod conventions;
mod conversation;
mod document;
#[cfg(feature = "otel")]
mod protobuf;
mod row;
mod spool;

use std::path::Path;

use indexmap::IndexMap;

use self::document::Document;
use self::row::Rows;
use self::spool::Spool;
use super::scores::Completeness;
use super::text::each_document;
use crate::contract::{MetricIdentity, MetricSpec};
use crate::error::{FormatError, Input};
use crate::results::{ForeignRows, ForeignRun};

const EXPECTED: &str = "spans of OpenTelemetry in JSON, which have `resourceSpans`";

pub(super) fn import(file: &Path, out: &Path) -> Result<Vec<String>, FormatError> {
    let input = Input { file };
    let mut spool = Spool::create(input, &out.with_extension("spans"))?;
    let mut add = |place: &str, document: Document| {
        document.each_span(|span| {
            let span = span.map_err(|reason| input.invalid(place, reason))?;
            spool.add(&span)
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
    let mut complete = Completeness::default();
    let (rows, converter) = loop {
        let mut rows = ForeignRows::create(out).map_err(|error| input.output(error))?;
        let mut converter = Rows::new(complete);
        spool.each_trace(|trace, spans| {
            let roots = spool::roots(spans);
            let of_trace = |reason| input.invalid(format_args!("trace {trace}"), reason);
            for row in converter
                .of_trace(trace, roots.map_err(of_trace)?)
                .map_err(of_trace)?
            {
                rows.add(rows.len(), row)
                    .map_err(|error| input.output(error))?;
            }
            Ok(())
        })?;
        if converter.complete.is_whole() {
            break (rows, converter);
        }
        complete = converter.complete;
    };
    if rows.is_empty() {
        return Err(input.whole("no span in the file; write the spans of at least one trace"));
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
    rows.finish(run).map_err(|error| input.output(error))?;
    Ok(notes)
}
