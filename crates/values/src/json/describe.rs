//! JSON values as text, for error messages, cells and group names.

use serde_json::Value;

/// Describes an unexpected value, including an article: `the string "Paris"`, `a list`.
pub fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(value) => format!("the number {value}"),
        Value::String(text) => format!("the string {}", shown(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Returns a string as is, and any other value as JSON. Returns `None` for null.
pub fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// Quotes a string for a message. If the string is longer than 40 characters, only the first 40 are quoted.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
