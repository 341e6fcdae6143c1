//! The leaves of a JSON value: the values without further fields.

use serde_json::{Map, Value};

/// Escapes a key as a part of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the number of leaves. `null` and an empty object count as absent, an empty list as a
/// leaf.
pub(super) fn count(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Array(items) if !items.is_empty() => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 1,
    }
}

/// Calls `visit` with the path of each leaf below `path`.
pub(super) fn visit(value: &Value, path: &str, visit_path: &mut dyn FnMut(&str)) {
    match value {
        Value::Null => {}
        Value::Array(items) if !items.is_empty() => {
            let path = format!("{path}/*");
            items.iter().for_each(|item| visit(item, &path, visit_path));
        }
        Value::Object(fields) => visit_fields(fields, path, visit_path),
        _ => visit_path(path),
    }
}

fn visit_fields(fields: &Map<String, Value>, path: &str, visit_path: &mut dyn FnMut(&str)) {
    for (key, value) in fields {
        visit(value, &format!("{path}/{}", escaped(key)), visit_path);
    }
}
