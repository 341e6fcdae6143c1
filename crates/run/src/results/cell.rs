//! Cells of CSV files.

use serde_json::Value;

use crate::json::size::{MAX_VALUES, is_too_large};

/// The value of a CSV cell: null if it is empty, a bool (also as Python and spreadsheets write it),
/// a number, list or object as JSON, and otherwise a string, as is a list of more values than the limit of a row.
#[doc(hidden)]
pub fn parse_cell(cell: &Value) -> Value {
    let Value::String(text) = cell else {
        return cell.clone();
    };
    match text.trim() {
        "" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        trimmed if is_too_large(trimmed, MAX_VALUES) => cell.clone(),
        trimmed => match serde_json::from_str(trimmed) {
            Ok(value @ (Value::Number(_) | Value::Array(_) | Value::Object(_))) => value,
            _ => cell.clone(),
        },
    }
}
