//! Reads OTLP JSON documents, the spans in them, and the spans below each of a trace's root spans.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::json::found;
use crate::messages::escape;

/// A document in the form that a collector receives.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    #[serde(alias = "resource_spans")]
    resource_spans: Vec<Value>,
}

/// A span with only the attributes that the conventions use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    /// The start time, in nanoseconds.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Map<String, Value>,
    pub(super) events: Vec<Event>,
    /// The message, if the span's status is an error.
    pub(super) error: Option<String>,
    pub(super) service: Option<String>,
}

/// An event that follows the conventions for generative AI.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) attributes: Map<String, Value>,
}

impl Document {
    /// Returns each span, or the reason why it is invalid.
    pub(super) fn spans(self) -> impl Iterator<Item = Result<Span, String>> {
        self.resource_spans.into_iter().flat_map(|mut of_resource| {
            let mut resource = take(&mut of_resource, "resource");
            let mut attributes = key_values(take(&mut resource, "attributes"));
            let service = attributes.find(|(key, _)| key == "service.name");
            let service = service.and_then(|(_, name)| name.as_str().map(str::to_owned));
            let scopes = items(take(&mut of_resource, "scopeSpans")).into_iter();
            let spans = scopes.flat_map(|mut scope| items(take(&mut scope, "spans")));
            spans.map(move |span| Span::read(span, service.clone()))
        })
    }
}

impl Span {
    fn read(mut span: Value, service: Option<String>) -> Result<Self, String> {
        let mut text = |name| string(take(&mut span, name));
        let (trace, id, name) = (text("traceId"), text("spanId"), text("name"));
        let parent = Some(text("parentSpanId")).filter(|parent| !parent.is_empty());
        if trace.is_empty() || id.is_empty() {
            return Err("a span without `traceId` or `spanId`; add both".to_owned());
        }
        // JSON writes a time as a string, because it has 64 bits.
        let mut time = |key: &str| match take(&mut span, key) {
            Value::Null => Ok(0),
            Value::String(digits) if digits.parse::<u64>().is_ok() => {
                Ok(digits.parse().unwrap_or_default())
            }
            other => other.as_u64().ok_or_else(|| {
                let found = found(&other);
                format!("span {id}: `{key}`: expected nanoseconds, found {found}")
            }),
        };
        let (start, end) = (time("startTimeUnixNano")?, time("endTimeUnixNano")?);
        let read_attributes =
            |list| attributes(list).map_err(|reason| format!("span {id}: {reason}"));
        let event = |mut event: Value| {
            let name = string(take(&mut event, "name"));
            let is_read = name.starts_with("gen_ai.");
            let attributes = is_read.then(|| read_attributes(take(&mut event, "attributes")))?;
            Some(attributes.map(|attributes| Event { name, attributes }))
        };
        let events = items(take(&mut span, "events")).into_iter();
        let events = events.filter_map(event).collect::<Result<_, String>>()?;
        let mut status = take(&mut span, "status");
        let code = take(&mut status, "code");
        let is_error = code == 2 || code == "STATUS_CODE_ERROR";
        Ok(Self {
            attributes: read_attributes(take(&mut span, "attributes"))?,
            error: is_error.then(|| string(take(&mut status, "message"))),
            trace,
            parent,
            name,
            start,
            end,
            events,
            service,
            id,
        })
    }
}

/// Removes and returns a field whose name is in camel case or snake case. Returns null if the value is not an object.
fn take(value: &mut Value, name: &str) -> Value {
    let Value::Object(fields) = value else {
        return Value::Null;
    };
    let is_named = |key: &&String| key.replace('_', "").eq_ignore_ascii_case(name);
    let in_snake_case = || fields.keys().find(is_named).cloned();
    let key = fields.contains_key(name).then(|| name.to_owned());
    let key = key.or_else(in_snake_case);
    key.and_then(|key| fields.remove(&key)).unwrap_or_default()
}

fn string(value: Value) -> String {
    match value {
        Value::String(text) => text,
        _ => String::new(),
    }
}

pub(super) fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}

/// The attributes that conventions use, and the prefixes of further ones.
const READ: &str = "gen_ai traceloop openinference llm ai tool tool_call input.value output.value error.type session.id";

fn attributes(list: Value) -> Result<Map<String, Value>, String> {
    let mut read = Map::new();
    for (key, value) in key_values(list) {
        let mut below = READ.split(' ').filter_map(|name| key.strip_prefix(name));
        if !below.any(|rest| rest.is_empty() || rest.starts_with('.')) {
            continue;
        }
        // It's unclear which of the values counts.
        if let Some(other) = read.get(&key).filter(|other| **other != value) {
            let (key, other, value) = (escape::name(&key), found(other), found(&value));
            return Err(format!(
                "expected one value for the attribute `{key}`, found {other} and {value}; keep one"
            ));
        }
        read.insert(key, value);
    }
    Ok(read)
}

/// Returns the keys and values in a list of `{"key": KEY, "value": VALUE}` objects.
fn key_values(list: Value) -> impl Iterator<Item = (String, Value)> {
    items(list).into_iter().filter_map(|mut field| {
        let value = plain(take(&mut field, "value"));
        match take(&mut field, "key") {
            Value::String(key) => Some((key, value)),
            _ => None,
        }
    })
}

/// Converts a value such as `{"intValue": "7"}` to JSON. The recursion is as deep as the JSON text, whose depth is
/// limited.
fn plain(value: Value) -> Value {
    let object = match value {
        Value::Object(object) if object.len() > 1 => return Value::Object(object),
        Value::Object(object) => object,
        _ => return Value::Null,
    };
    let Some((kind, mut value)) = object.into_iter().next() else {
        return Value::Null;
    };
    match (&*kind, &value) {
        // Protobuf's JSON format can write any number as a string. `NaN` and `Infinity` stay strings.
        ("doubleValue" | "double_value", Value::String(text)) => {
            let number = text.parse().ok().and_then(Number::from_f64);
            number.map_or(value, Value::Number)
        }
        ("intValue" | "int_value", Value::String(digits)) => {
            digits.parse::<i64>().map_or(value, Value::from)
        }
        ("arrayValue" | "array_value", Value::Object(_)) => items(take(&mut value, "values"))
            .into_iter()
            .map(plain)
            .collect(),
        ("kvlistValue" | "kvlist_value", Value::Object(_)) => {
            key_values(take(&mut value, "values")).collect()
        }
        _ => value,
    }
}

/// A root and the spans below it, sorted by their start time. If the root has a parent, the parent is missing from the
/// file.
pub(super) struct Root {
    pub(super) root: Span,
    pub(super) spans: Vec<Span>,
}

/// Returns a trace's roots: the spans whose parent is not in the file.
///
/// # Errors
/// Returns an error if two different spans have the same id, or if a span is its own ancestor.
pub(super) fn roots(spans: Vec<Span>) -> Result<Vec<Root>, String> {
    let mut by_id = IndexMap::<String, Span>::new();
    for span in spans {
        match by_id.entry(span.id.clone()) {
            Entry::Vacant(new) => _ = new.insert(span),
            // If an exporter retries, it writes a span twice.
            Entry::Occupied(first) if *first.get() == span => {}
            Entry::Occupied(_) => {
                return Err(format!(
                    "two different spans have the id {}; give each span its own id",
                    escape::name(&span.id)
                ));
            }
        }
    }
    let place = |span: &Span| by_id.get_index_of(span.parent.as_ref()?);
    let parents: Vec<Option<usize>> = by_id.values().map(place).collect();
    let own_or_parent = |(place, parent): (usize, &Option<usize>)| parent.unwrap_or(place);
    let mut above: Vec<usize> = parents.iter().enumerate().map(own_or_parent).collect();
    // Each round doubles the number of upward steps, so all spans end at their root or in a cycle.
    for _ in 0..=above.len().checked_ilog2().unwrap_or(0) {
        above = above.iter().map(|place| above[*place]).collect();
    }
    if let Some(start) = above.iter().find(|place| parents[**place].is_some()) {
        let next = |place: &usize| parents[*place].filter(|next| next != start);
        let cycle = std::iter::successors(Some(*start), next).take(8);
        let ids: Vec<&str> = cycle.map(|place| &*by_id[place].id).collect();
        return Err(format!(
            "the parents of the spans {} form a cycle; add a span without a parent",
            escape::names(ids.into_iter())
        ));
    }
    let mut roots = BTreeMap::new();
    for root in &above {
        let new = || Root {
            root: by_id[*root].clone(),
            spans: Vec::new(),
        };
        roots.entry(*root).or_insert_with(new);
    }
    for (span, root) in by_id.into_values().zip(above) {
        roots.entry(root).and_modify(|root| root.spans.push(span));
    }
    let mut roots: Vec<Root> = roots.into_values().collect();
    for Root { root, spans } in &mut roots {
        // A root comes before any other span with the same start time.
        spans.sort_by_key(|span| (span.start, span.id != root.id));
    }
    roots.sort_by_key(|root| root.root.start);
    Ok(roots)
}
