//! JSON values as text, for error messages, cells and group names.

use serde_json::Value;

/// Returns a phrase that describes an unexpected value in an error message.
///
/// The phrase includes an article: `the string "Paris"`, `a list`.
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

/// Returns the value as text, or `None` if it is null.
///
/// A string is returned as is. Any other value is written as JSON.
pub fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// Returns the start of a string in quotes, for use in an error message.
///
/// At most 40 characters are shown.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
