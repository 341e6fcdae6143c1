//! Numbers that `serde_json` does not read as they are written: integers that do not fit into 64
//! bits become floats, so two that differ only in their last digits would compare equal without
//! notice, and numbers below the smallest float become 0.

use serde_json::Value;

use super::row::{Row, RowObject};
use crate::core::rows::named_values::Fields;
use crate::json::numbers::{is_long_integer, is_underflow, numbers};
use crate::json::unique_keys::Shape;

/// 2^64: from this value on, `serde_json` reads an integer as a float.
const FIRST_FLOAT: f64 = 18_446_744_073_709_551_616.0;

/// A number of a row that would be another one. Offsets are in bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InexactNumber {
    /// The offset of its first byte.
    LongInteger(usize),
    /// The offset of its last byte, as in the error of a number that is too large.
    Underflow(usize),
}

/// Returns the first number of the row, which was read from `text`, that would be another one.
pub(super) fn find_inexact_number(row: &Row, text: &str) -> Option<InexactNumber> {
    // Only the text of rows with very large numbers or a float of 0 is scanned.
    if !has_suspicious_number(row) {
        return None;
    }
    numbers(text).find_map(|number| match number.text {
        text if is_long_integer(text) => Some(InexactNumber::LongInteger(number.offset)),
        text if is_underflow(text) => {
            Some(InexactNumber::Underflow(number.offset + text.len() - 1))
        }
        _ => None,
    })
}

/// Replaces an id that is a float by its text: `1.50` and `1e2` are ids, not numbers.
pub(super) fn keep_id_as_written(row: &mut Row, text: &str) {
    let Shape::Map(RowObject { id: Some(id), .. }) = row else {
        return;
    };
    if !matches!(id, Value::Number(number) if number.is_f64()) {
        return;
    }
    if let Some(number) = numbers(text).find(|number| number.key == Some("\"id\"")) {
        *id = number.text.into();
    }
}

fn has_suspicious_number(row: &Row) -> bool {
    match row {
        Shape::Other(value) => is_suspicious(value),
        Shape::Map(RowObject {
            id,
            gold,
            pred,
            attributes,
            ..
        }) => {
            let any_in_side = |side: &Option<Shape<Fields>>| match side {
                None => false,
                Some(Shape::Other(value)) => is_suspicious(value),
                Some(Shape::Map(fields)) => any_suspicious(fields),
            };
            id.as_ref().is_some_and(is_suspicious)
                || any_in_side(gold)
                || any_in_side(pred)
                || any_suspicious(attributes)
        }
    }
}

fn any_suspicious(fields: &Fields) -> bool {
    fields.iter().any(|(_, value)| is_suspicious(value))
}

/// Whether the value contains a float that a 64-bit integer could have been rounded to (negative
/// ones start at 2^63), or a float of 0.
fn is_suspicious(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let float = if number.is_f64() {
                number.as_f64()
            } else {
                None
            };
            float.is_some_and(|float| float == 0.0 || float.abs() >= FIRST_FLOAT / 2.0)
        }
        Value::Array(list) => list.iter().any(is_suspicious),
        Value::Object(object) => object.values().any(is_suspicious),
        _ => false,
    }
}
