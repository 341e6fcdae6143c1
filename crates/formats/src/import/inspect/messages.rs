//! Converts messages to OpenAI's form, including the attachments they refer to.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

/// The prefixes of references to attachments.
const PROTOCOLS: [&str; 2] = ["attachment://", "tc://"];

/// The maximum size of a sample's resolved references, in bytes. A short sample may refer to a long attachment many times.
const MAX_RESOLVED: usize = 64 << 20;

/// The long strings of a sample, by hash.
pub(super) struct Attachments {
    by_hash: HashMap<String, String>,
    resolved: usize,
}

impl Attachments {
    pub(super) fn new(by_hash: HashMap<String, String>) -> Self {
        Self {
            by_hash,
            resolved: 0,
        }
    }

    /// Replaces references with what they refer to. References to images or to nothing stay.
    pub(super) fn resolve(&mut self, value: &mut Value) -> Result<(), String> {
        match value {
            Value::String(text) => {
                let hash = PROTOCOLS
                    .iter()
                    .find_map(|protocol| text.strip_prefix(protocol));
                let content = hash.and_then(|hash| self.by_hash.get(hash));
                let Some(content) = content.filter(|content| !content.starts_with("data:")) else {
                    return Ok(());
                };
                self.resolved += content.len();
                if self.resolved > MAX_RESOLVED {
                    return Err(format!(
                        "its resolved attachments have more than {MAX_RESOLVED} bytes"
                    ));
                }
                text.clone_from(content);
                Ok(())
            }
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.resolve(value)),
            Value::Object(fields) => fields
                .values_mut()
                .try_for_each(|value| self.resolve(value)),
            _ => Ok(()),
        }
    }
}

/// Returns the text of a message's content: a string, or a list of parts. Only parts of the type `text` are read.
pub(super) fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text");
            let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
            Some(texts.join("\n"))
        }
        _ => None,
    }
}

/// Returns messages in OpenAI's form.
pub(super) fn trajectory(messages: Vec<Value>) -> Value {
    // The calls that still lack a result.
    let mut open = HashSet::new();
    messages
        .into_iter()
        .map(|message| openai_message(message, &mut open))
        .collect()
}

fn openai_message(message: Value, open: &mut HashSet<String>) -> Value {
    let Value::Object(mut fields) = message else {
        return message;
    };
    let mut written = Map::new();
    let role = fields.remove("role").unwrap_or_else(|| "user".into());
    let content = fields.remove("content").unwrap_or_default();
    let text = text_of(&content).unwrap_or_default();
    if role == "assistant" {
        // The content includes tools that the provider ran, with their results.
        let parts = content.as_array().into_iter().flatten();
        let mut calls: Vec<Value> = parts
            .filter(|part| part["type"] == "tool_use")
            .map(provider_call)
            .collect();
        if let Some(Value::Array(of_agent)) = fields.remove("tool_calls") {
            calls.extend(of_agent.into_iter().map(|call| openai_call(call, open)));
        }
        if !calls.is_empty() {
            written.insert("tool_calls".to_owned(), calls.into());
        }
    }
    if role == "tool" {
        // A result gets no id if its call was removed from the messages.
        if let Some(Value::String(id)) = fields.remove("tool_call_id")
            && open.remove(&id)
        {
            written.insert("tool_call_id".to_owned(), id.into());
        }
        if fields.get("error").is_some_and(|error| !error.is_null()) {
            written.insert("is_error".to_owned(), true.into());
        }
    }
    written.insert("role".to_owned(), role);
    written.insert("content".to_owned(), text.into());
    Value::Object(written)
}

fn provider_call(part: &Value) -> Value {
    let keys = [
        ("name", "name"),
        ("args", "arguments"),
        ("result", "result"),
        ("error", "error"),
    ];
    keys.into_iter()
        .map(|(key, of_part)| (key.to_owned(), part[of_part].clone()))
        .collect()
}

/// `{"id", "function": NAME, "arguments": {..}}` as `{"id", "name", "args"}`
fn openai_call(call: Value, open: &mut HashSet<String>) -> Value {
    let Value::Object(mut call) = call else {
        return call;
    };
    let mut written = Map::new();
    if let Some(Value::String(id)) = call.remove("id") {
        open.insert(id.clone());
        written.insert("id".to_owned(), id.into());
    }
    written.insert(
        "name".to_owned(),
        call.remove("function").unwrap_or_else(|| "unknown".into()),
    );
    // If the arguments are not JSON, the reason takes their place.
    let error = call.remove("parse_error").filter(Value::is_string);
    let args = error
        .or_else(|| call.remove("arguments"))
        .filter(|args| !args.is_null());
    written.insert("args".to_owned(), args.unwrap_or_else(|| Map::new().into()));
    Value::Object(written)
}
