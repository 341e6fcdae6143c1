//! Values of the expected kind, JSON in strings, and the messages about others.

use serde_json::{Map, Value};

use crate::json::describe::found;
use crate::json::size::{MAX_VALUES, is_too_large};
use crate::json::unique_keys::UniqueKeys;
use crate::messages::escape::escaped;

/// Parses JSON, which may come from a row, without duplicate keys.
pub(super) fn parsed(json: &str) -> Result<Value, String> {
    if is_too_large(json, MAX_VALUES) {
        return Err(format!("it has more than {MAX_VALUES} values"));
    }
    match serde_json::from_str(json) {
        Ok(UniqueKeys(value)) => Ok(value),
        Err(error) => Err(escaped(&error.to_string()).into_owned()),
    }
}

/// Returns the message that a key has a value of another kind.
pub(super) fn unexpected(key: &str, expected: &str, value: &Value) -> String {
    format!("`{key}`: expected {expected}, found {}", found(value))
}

/// Returns an item of a list as an object.
pub(super) fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(format!("expected an object, found {}", found(&other))),
    }
}

/// Returns a list that may be missing.
pub(super) fn list(key: &str, value: Option<Value>) -> Result<Vec<Value>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(unexpected(key, "a list", &other)),
    }
}

/// Removes a string that may be missing.
pub(super) fn string(object: &mut Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(unexpected(key, "a string", &other)),
    }
}

/// Reads the items of a list, and names the number of an invalid one.
pub(super) fn each<T>(
    noun: &str,
    items: Vec<Value>,
    mut read: impl FnMut(Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let numbered =
        |(number, item)| read(item).map_err(|reason| format!("{noun} {number}: {reason}"));
    (1_usize..).zip(items).map(numbered).collect()
}
