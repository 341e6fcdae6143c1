//! Detection of integers that do not fit into 64 bits. `serde_json` reads them as floats, so two
//! integers that differ only in their last digits would compare equal without notice.

use serde_json::Value;

use super::row::{Row, RowObject};
use crate::core::rows::dynamic::Fields;
use crate::json::unique_keys::Shape;

/// 2^64: from this value on, `serde_json` reads an integer as a float.
const FIRST_FLOAT: f64 = 18_446_744_073_709_551_616.0;

/// Returns the offset in `text`, in bytes from 0, of the first integer that lost digits in `row`.
pub(super) fn find_long_integer(row: &Row, text: &str) -> Option<usize> {
    // Few rows have large numbers; only their text is scanned.
    if has_large_number(row) { scan(text.as_bytes()) } else { None }
}

fn has_large_number(row: &Row) -> bool {
    match row {
        Shape::Other(value) => is_large(value),
        Shape::Map(RowObject { id, gold, pred, attributes }) => {
            let any_in_side = |side: &Option<Shape<Fields>>| match side {
                None => false,
                Some(Shape::Other(value)) => is_large(value),
                Some(Shape::Map(fields)) => any_large(fields),
            };
            id.as_ref().is_some_and(is_large)
                || any_in_side(gold)
                || any_in_side(pred)
                || any_large(attributes)
        }
    }
}

fn any_large(fields: &Fields) -> bool {
    fields.iter().any(|(_, value)| is_large(value))
}

/// Whether the value contains a float that a 64-bit integer could have been rounded to: negative
/// ones start at 2^63.
fn is_large(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let float = if number.is_f64() { number.as_f64() } else { None };
            float.is_some_and(|float| float.abs() >= FIRST_FLOAT / 2.0)
        }
        Value::Array(list) => list.iter().any(is_large),
        Value::Object(object) => object.values().any(is_large),
        _ => false,
    }
}

/// The offset of the first number without point and exponent that fits neither `i64` nor `u64`.
fn scan(text: &[u8]) -> Option<usize> {
    let (mut in_string, mut escaped, mut at) = (false, false, 0);
    while let Some(&byte) = text.get(at) {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte == b'"' {
            in_string = true;
        } else if byte == b'-' || byte.is_ascii_digit() {
            let in_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            let length = text[at..].iter().take_while(|byte| in_number(byte)).count();
            if is_long_integer(&text[at..at + length]) {
                return Some(at);
            }
            at += length;
            continue;
        }
        at += 1;
    }
    None
}

fn is_long_integer(number: &[u8]) -> bool {
    let Ok(number) = str::from_utf8(number) else {
        return false;
    };
    let is_integer = !number.contains(['.', 'e', 'E']);
    is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}
