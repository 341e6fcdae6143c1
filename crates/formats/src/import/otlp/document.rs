//! Reads documents in OTLP's JSON, and the spans in them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::json::describe::found;
use crate::messages::escape;

/// A document, as a collector receives it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    #[serde(alias = "resource_spans")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ResourceSpans {
    resource: Option<Resource>,
    #[serde(alias = "scope_spans")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Resource {
    attributes: Vec<KeyValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ScopeSpans {
    spans: Vec<WrittenSpan>,
}

#[derive(Deserialize)]
struct KeyValue {
    key: String,
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WrittenSpan {
    #[serde(alias = "trace_id")]
    trace_id: String,
    #[serde(alias = "span_id")]
    span_id: String,
    #[serde(alias = "parent_span_id")]
    parent_span_id: Option<String>,
    name: String,
    #[serde(alias = "start_time_unix_nano")]
    start_time_unix_nano: Value,
    #[serde(alias = "end_time_unix_nano")]
    end_time_unix_nano: Value,
    attributes: Vec<KeyValue>,
    events: Vec<WrittenEvent>,
    status: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WrittenEvent {
    name: String,
    attributes: Vec<KeyValue>,
}

/// A span, with only the attributes that conventions use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    /// In nanoseconds.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Map<String, Value>,
    pub(super) events: Vec<Event>,
    /// The message of an error status.
    pub(super) error: Option<String>,
    pub(super) service: Option<String>,
}

/// An event of the conventions for generative AI.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) attributes: Map<String, Value>,
}

impl Document {
    /// Returns each span, or the reason why it is invalid.
    pub(super) fn spans(self) -> impl Iterator<Item = Result<Span, String>> {
        self.resource_spans.into_iter().flat_map(|of_resource| {
            let attributes = of_resource.resource.unwrap_or_default().attributes;
            let service = attributes.into_iter().find(|it| it.key == "service.name");
            let service = service.and_then(|it| plain(it.value).as_str().map(str::to_owned));
            let spans = of_resource.scope_spans.into_iter();
            let spans = spans.flat_map(|scope| scope.spans);
            spans.map(move |span| span.read(service.as_ref()))
        })
    }
}

impl WrittenSpan {
    fn read(self, service: Option<&String>) -> Result<Span, String> {
        let (trace, id) = (self.trace_id, self.span_id);
        if trace.is_empty() || id.is_empty() {
            return Err("a span without `traceId` or `spanId`; add both".to_owned());
        }
        let time = |key: &str, value: &Value| {
            nanoseconds(value).ok_or_else(|| {
                format!(
                    "span {id}: `{key}`: expected nanoseconds, found {}",
                    found(value)
                )
            })
        };
        let start = time("startTimeUnixNano", &self.start_time_unix_nano)?;
        let end = time("endTimeUnixNano", &self.end_time_unix_nano)?;
        let (code, message) = (&self.status["code"], self.status["message"].as_str());
        let is_error = *code == 2 || *code == "STATUS_CODE_ERROR";
        let events = self
            .events
            .into_iter()
            .filter(|event| event.name.starts_with("gen_ai."));
        let attributes = |attributes| {
            read_attributes(attributes).map_err(|reason| format!("span {id}: {reason}"))
        };
        let event = |event: WrittenEvent| {
            Ok(Event {
                attributes: attributes(event.attributes)?,
                name: event.name,
            })
        };
        Ok(Span {
            trace,
            parent: self.parent_span_id.filter(|parent| !parent.is_empty()),
            name: self.name,
            start,
            end,
            attributes: attributes(self.attributes)?,
            events: events.map(event).collect::<Result<_, String>>()?,
            error: is_error.then(|| message.unwrap_or_default().to_owned()),
            service: service.cloned(),
            id,
        })
    }
}

/// Parses a time, which JSON writes as a string because it has 64 bits. A missing time is 0.
fn nanoseconds(value: &Value) -> Option<u64> {
    match value {
        Value::Null => Some(0),
        Value::String(digits) => digits.parse().ok(),
        other => other.as_u64(),
    }
}

/// The attributes that conventions use, and the prefixes of others.
const READ: [&str; 11] = [
    "gen_ai",
    "traceloop",
    "openinference",
    "llm",
    "ai",
    "tool",
    "tool_call",
    "input.value",
    "output.value",
    "error.type",
    "session.id",
];

fn read_attributes(attributes: Vec<KeyValue>) -> Result<Map<String, Value>, String> {
    let mut read = Map::new();
    for KeyValue { key, value } in attributes {
        let below = |name: &&str| key.strip_prefix(*name);
        let mut below = READ.iter().filter_map(below);
        if !below.any(|rest| rest.is_empty() || rest.starts_with('.')) {
            continue;
        }
        let value = plain(value);
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

/// Converts a value such as `{"intValue": "7"}` to JSON. The recursion is as deep as the JSON text, which is limited.
fn plain(value: Value) -> Value {
    let Value::Object(object) = value else {
        return Value::Null;
    };
    if object.len() > 1 {
        // It's unclear which value counts.
        return Value::Object(object);
    }
    let Some((kind, value)) = object.into_iter().next() else {
        return Value::Null;
    };
    match (&*kind, value) {
        // Protobuf's JSON may write any number as a string. `NaN` and `Infinity` stay strings.
        ("doubleValue" | "double_value", Value::String(text)) => {
            let number = text.parse().ok().and_then(Number::from_f64);
            number.map_or(Value::String(text), Value::Number)
        }
        ("intValue" | "int_value", Value::String(digits)) => match digits.parse::<i64>() {
            Ok(number) => Value::Number(Number::from(number)),
            Err(_) => Value::String(digits),
        },
        ("arrayValue" | "array_value", Value::Object(mut array)) => match array.remove("values") {
            Some(Value::Array(values)) => Value::Array(values.into_iter().map(plain).collect()),
            _ => Value::Array(Vec::new()),
        },
        ("kvlistValue" | "kvlist_value", Value::Object(mut list)) => {
            let values = match list.remove("values") {
                Some(Value::Array(values)) => values,
                _ => Vec::new(),
            };
            let field = |value: Value| {
                let Value::Object(mut field) = value else {
                    return None;
                };
                let key = field.remove("key")?.as_str()?.to_owned();
                Some((key, plain(field.remove("value").unwrap_or_default())))
            };
            Value::Object(values.into_iter().filter_map(field).collect())
        }
        (_, value) => value,
    }
}
