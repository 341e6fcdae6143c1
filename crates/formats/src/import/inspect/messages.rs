//! Converts messages to OpenAI's form, including the attachments they refer to.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::import::present;
use crate::import::table::list;

/// The prefixes of references to attachments.
const PROTOCOLS: [&str; 2] = ["attachment://", "tc://"];

/// The maximum size of a sample's resolved references, in bytes. A short sample may refer to a long attachment many times.
const MAX_RESOLVED: usize = 64 << 20;

/// Replaces references with the attachment that has this hash, and adds up their bytes. References to images or to nothing stay.
pub(super) fn resolve(
    value: &mut Value,
    attachments: &HashMap<String, String>,
    resolved: &mut usize,
) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let mut protocols = PROTOCOLS.iter();
            let hash = protocols.find_map(|protocol| text.strip_prefix(protocol));
            let content = hash.and_then(|hash| attachments.get(hash));
            let Some(content) = content.filter(|content| !content.starts_with("data:")) else {
                return Ok(());
            };
            *resolved += content.len();
            if *resolved > MAX_RESOLVED {
                return Err(format!(
                    "its resolved attachments have more than {MAX_RESOLVED} bytes"
                ));
            }
            text.clone_from(content);
            Ok(())
        }
        Value::Array(values) => {
            let mut values = values.iter_mut();
            values.try_for_each(|value| resolve(value, attachments, resolved))
        }
        Value::Object(fields) => {
            let mut values = fields.values_mut();
            values.try_for_each(|value| resolve(value, attachments, resolved))
        }
        _ => Ok(()),
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
pub(super) fn trajectory(messages: &[Value]) -> Value {
    // The calls that still lack a result.
    let mut open = HashSet::new();
    let messages = messages.iter();
    messages
        .map(|message| openai_message(message, &mut open))
        .collect()
}

fn openai_message<'m>(message: &'m Value, open: &mut HashSet<&'m str>) -> Value {
    if !message.is_object() {
        return message.clone();
    }
    let role = message.get("role").cloned();
    let role = role.unwrap_or_else(|| "user".into());
    let content = &message["content"];
    let mut calls = Vec::new();
    if role == "assistant" {
        // The content includes tools that the provider ran, with their results.
        let parts = list(content).filter(|part| part["type"] == "tool_use");
        calls.extend(parts.map(|part| {
            json!({
                "name": part["name"], "args": part["arguments"],
                "result": part["result"], "error": part["error"],
            })
        }));
        let of_agent = list(&message["tool_calls"]);
        calls.extend(of_agent.map(|call| openai_call(call, open)));
    }
    // A result gets no id if its call was removed from the messages.
    let id = message["tool_call_id"].as_str();
    let id = id.filter(|id| role == "tool" && open.remove(id));
    let is_error = role == "tool" && !message["error"].is_null();
    present(json!({
        "tool_calls": Some(calls).filter(|calls| !calls.is_empty()),
        "tool_call_id": id,
        "is_error": is_error.then_some(true),
        "role": role,
        "content": text_of(content).unwrap_or_default(),
    }))
}

/// `{"id", "function": NAME, "arguments": {..}}` as `{"id", "name", "args"}`
fn openai_call<'m>(call: &'m Value, open: &mut HashSet<&'m str>) -> Value {
    if !call.is_object() {
        return call.clone();
    }
    let id = call["id"].as_str();
    open.extend(id);
    // If the arguments are not JSON, the reason takes their place.
    let error = Some(&call["parse_error"]).filter(|error| error.is_string());
    let args = error.unwrap_or(&call["arguments"]);
    present(json!({
        "id": id,
        "name": call.get("function").cloned().unwrap_or_else(|| "unknown".into()),
        "args": if args.is_null() { json!({}) } else { args.clone() },
    }))
}
