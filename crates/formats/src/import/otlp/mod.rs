//! Imports OpenTelemetry spans in OTLP format.
//!
//! The file contains one JSON document, or one per line, as file exporters write them. If the `otel` feature is
//! enabled, the file can also be protobuf.
//!
//! The format is described at <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. A trace's spans can
//! be anywhere in the file. `document.rs` reads them, and finds the spans below each root. `conventions.rs` reads what
//! a span records, and `conversation.rs` builds a trajectory.

mod conventions;
mod conversation;
mod document;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

use super::table::{Table, TableRow, by_id, put};
use super::text::{ROW_LIMIT, as_string, each_document};
use crate::contract::Fields;
use crate::json::found;
use crate::messages::escape;
use crate::trajectory::Trajectory;
use crate::{FormatError, Input};
use conventions::attribute;
use conversation::Conversation;
use document::{Document, Event, Root, Span, roots};

pub(super) fn import(input: Input<'_>) -> Result<Table, FormatError> {
    let mut traces = IndexMap::<String, Vec<Span>>::new();
    let mut add = |place: &str, document: Document| {
        document.spans().try_for_each(|span| {
            let span = span.map_err(|reason| input.invalid(place, reason))?;
            traces.entry(span.trace.clone()).or_default().push(span);
            Ok(())
        })
    };
    let read = each_document(input, &mut add);
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
    let mut rows = Vec::new();
    for (trace, spans) in traces {
        let of_trace = |reason| input.invalid(format_args!("trace {trace}"), reason);
        let size = |span: &Span| serde_json::to_vec(span).map_or(0, |bytes| bytes.len());
        let bytes: usize = spans.iter().map(size).sum();
        if bytes > ROW_LIMIT {
            let reason = format!("expected spans of at most {ROW_LIMIT} bytes, found {bytes}");
            return Err(of_trace(reason));
        }
        let roots = roots(spans).map_err(of_trace)?;
        for root in &roots {
            let id = match roots.len() {
                1 => trace.clone(),
                _ => format!("{trace}:{}", root.root.id),
            };
            rows.push(row(id, root).map_err(of_trace)?);
        }
    }
    if rows.is_empty() {
        return Err(input.whole("no spans in the file; export the spans of at least one trace"));
    }
    let mut table = Table::default();
    table.is_complete = true;
    table.notes = notes(&rows);
    let services = rows.iter().filter_map(|row| row.attributes.get("service"));
    let services: IndexSet<String> = services.map(as_string).collect();
    table.run.label = services.first().filter(|_| services.len() == 1).cloned();
    rows.into_iter().try_for_each(|row| table.add(input, row))?;
    Ok(table)
}

/// The name of events that contain evaluation results.
const EVALUATION: &str = "gen_ai.evaluation.result";

/// Returns the row for a root span.
fn row(id: String, tree: &Root) -> Result<TableRow, String> {
    let root = &tree.root;
    let conversation = Conversation::of(&tree.spans);
    let trajectory = Value::from(conversation.messages.clone());
    if let Err(error) = serde_json::from_value::<Trajectory>(trajectory.clone()) {
        return Err(format!(
            "span {}: its messages: {error}",
            escape::name(&root.id)
        ));
    }
    let mut row = TableRow::new(id);
    put(&mut row.pred, "answer", conversation.answer());
    put(&mut row.gold, "question", conversation.question());
    if !conversation.messages.is_empty() {
        put(&mut row.pred, "trajectory", trajectory);
    }
    let nanos = root.end.checked_sub(root.start);
    row.latency_s = nanos.map(|nanos| nanos as f64 / 1e9);
    row.tokens = conversation.tokens;
    row.attributes = attributes(tree);
    let events = tree.spans.iter().flat_map(|span| &span.events);
    for event in events.filter(|event| event.name == EVALUATION) {
        add_score(&mut row, event)?;
    }
    Ok(row)
}

fn attributes(tree: &Root) -> Fields {
    let root = &tree.root;
    let mut attributes = Fields::default();
    attributes.insert("span", root.name.clone());
    attributes.insert("trace_id", root.trace.clone());
    attributes.insert("spans", tree.spans.len());
    for (name, key) in [
        ("agent", "gen_ai.agent.name"),
        ("conversation", "gen_ai.conversation.id"),
        ("session", "session.id"),
        ("model", "gen_ai.request.model"),
    ] {
        let mut spans = tree.spans.iter();
        if let Some(value) = spans.find_map(|span| attribute(span, key)?.as_str()) {
            attributes.insert(name, value);
        }
    }
    if let Some(service) = &root.service {
        attributes.insert("service", service.clone());
    }
    if let Some(error) = &root.error {
        attributes.insert("error", if error.is_empty() { "error" } else { error });
    }
    if let Some(parent) = &root.parent {
        attributes.insert("missing_parent", parent.clone());
    }
    attributes
}

/// Returns notes on what rows lack, with the number of such rows.
fn notes(rows: &[TableRow]) -> Vec<String> {
    let no_messages = "no span below has messages as OpenTelemetry, OpenLLMetry, OpenInference or Vercel's AI SDK write them";
    let count = |lacks: fn(&TableRow) -> bool| rows.iter().filter(|row| lacks(row)).count();
    let orphans = count(|row| row.attributes.get("missing_parent").is_some());
    let parents = "see their attribute `missing_parent`";
    let notes = [
        (
            count(|row| !row.pred.contains_key("trajectory")),
            "a trajectory",
            no_messages,
        ),
        (orphans, "their parent in the file", parents),
        (
            count(|row| row.latency_s.is_none()),
            "a latency",
            "their span did not end",
        ),
    ];
    let notes = notes.iter().filter(|(rows, ..)| *rows > 0);
    notes
        .map(|(rows, what, why)| format!("rows without {what}: {rows}; {why}"))
        .collect()
}

/// Adds an evaluation result. The labels `pass` and `fail` become verdicts.
fn add_score(row: &mut TableRow, Event { attributes, .. }: &Event) -> Result<(), String> {
    let text = |key: &str| attributes.get(key).and_then(Value::as_str);
    let Some(evaluation) = text("gen_ai.evaluation.name") else {
        return Err(format!(
            "expected `gen_ai.evaluation.name` in each event `{EVALUATION}`, found none; add the name of the evaluation"
        ));
    };
    let label = text("gen_ai.evaluation.score.label");
    let passed = match label {
        Some("pass" | "passed") => Some(true),
        Some("fail" | "failed") => Some(false),
        _ => None,
    };
    let value = attributes.get("gen_ai.evaluation.score.value").cloned();
    // A value must be a number; only a label can be a verdict.
    let mut error = value
        .as_ref()
        .filter(|value| value.is_boolean())
        .map(|value| format!("the score is {}, not a number", found(value)));
    let value = value.or(passed.map(Value::from)).or(label.map(Value::from));
    let explanation = text("gen_ai.evaluation.explanation");
    if let Some(kind) = text("error.type") {
        let reason = explanation.map_or_else(String::new, |reason| format!(": {reason}"));
        error = Some(format!("{kind}{reason}"));
    }
    let score = row.score(evaluation, value.unwrap_or_default());
    score.error = error;
    score.passed = passed;
    score.reason = explanation.map(str::to_owned);
    score.metadata = Map::from_iter(label.map(|label| ("label".to_owned(), label.into())));
    Ok(())
}

#[cfg(feature = "otel")]
mod protobuf {
    //! Reads spans in OTLP protobuf: one message, or several messages that are each preceded by their length in four
    //! bytes, as the collector's file exporter writes them. A message is converted to the equivalent OTLP JSON
    //! document.

    use opentelemetry_proto::tonic::trace::v1::TracesData;
    use prost::Message as _;

    use super::document::Document;
    use crate::{FormatError, Input};

    /// The maximum size of a file, in bytes.
    const MAX_FILE: u64 = 256 << 20;

    /// The number of bytes that store the length before a message.
    const LENGTH: usize = 4;

    /// Returns the documents in a file, or `None` if the file is not protobuf.
    pub(super) fn documents(input: Input<'_>) -> Result<Option<Vec<Document>>, FormatError> {
        let bytes = input.read(MAX_FILE)?;
        let Some(messages) = with_lengths(&bytes).or_else(|| Some(vec![decode(&bytes)?])) else {
            return Ok(None);
        };
        let documents = messages
            .into_iter()
            .map(|message| serde_json::from_value::<Document>(serde_json::to_value(message)?));
        documents
            .collect::<Result<_, _>>()
            .map(Some)
            .map_err(|error| input.whole(error))
    }

    /// Returns the messages in a file if each message is preceded by its length.
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

    /// Returns the message if it contains spans. Other bytes can also be a valid message, with only unknown fields.
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
