//! Converts messages to OpenAI's format, including the attachments they refer to.

use std::collections::HashMap;

use serde_json::Value;

use crate::trajectory::Trajectory;

/// The prefixes of references to attachments.
const PROTOCOLS: [&str; 2] = ["attachment://", "tc://"];

/// The maximum size of a sample's resolved references, in bytes. A short sample can refer to a long attachment many
/// times.
const MAX_RESOLVED: usize = 64 << 20;

/// Replaces references with the attachments that have these hashes, and adds up the attachments' bytes. References to
/// images, or to nothing, stay unchanged.
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

/// Returns the text of a message's content, which is a string or a list of parts. Only parts with the type `text` are
/// read.
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

/// Returns the messages as a trajectory. If they don't form one, they stay as they are, so only metrics that read
/// trajectories fail.
pub(super) fn trajectory(mut messages: Vec<Value>) -> Value {
    let contents = messages.iter_mut().filter_map(|it| it.get_mut("content"));
    for part in contents.filter_map(Value::as_array_mut).flatten() {
        if let Value::Object(part) = part {
            // A call to a tool that the provider runs has these keys.
            part.retain(|key, _| key != "tool_type" && key != "context");
        }
    }
    let messages = Value::from(messages);
    match Trajectory::from_json(messages.clone()) {
        Ok(trajectory) => serde_json::to_value(trajectory).unwrap_or(messages),
        Err(_) => messages,
    }
}
