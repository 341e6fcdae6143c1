//! Integers of more digits than a number keeps. Read as they come, two of them that differ only in
//! the last digits would be equal, and no score would tell.

use serde_json::Value;

use super::row::{Object, Row};
use crate::core::rows::dynamic::Fields;
use crate::json::unique_keys::Shape;

/// 2^64, from which on an integer is read as a float.
const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;

/// Where in `text` the first integer stands that `row` has lost digits of, in bytes from 0.
pub(super) fn find_lossy(row: &Row, text: &str) -> Option<usize> {
    // Few rows have large numbers, and only those are looked at twice.
    if has_large_number(row) { find_long_integer(text.as_bytes()) } else { None }
}

fn has_large_number(row: &Row) -> bool {
    match row {
        Shape::Other(value) => is_large(value),
        Shape::Map(Object { id, gold, pred, attributes }) => {
            let half = |half: &Option<Shape<Fields>>| match half {
                None => false,
                Some(Shape::Other(value)) => is_large(value),
                Some(Shape::Map(fields)) => any_large(fields),
            };
            id.as_ref().is_some_and(is_large) || half(gold) || half(pred) || any_large(attributes)
        }
    }
}

fn any_large(fields: &Fields) -> bool {
    fields.iter().any(|(_, value)| is_large(value))
}

fn is_large(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let limit = if number.is_f64() { number.as_f64() } else { None };
            limit.is_some_and(|number| number.abs() >= TOO_LARGE / 2.0)
        }
        Value::Array(list) => list.iter().any(is_large),
        Value::Object(object) => object.values().any(is_large),
        _ => false,
    }
}

/// The first number without point and exponent that fits neither `i64` nor `u64`.
fn find_long_integer(text: &[u8]) -> Option<usize> {
    let (mut in_text, mut escaped, mut at) = (false, false, 0);
    while let Some(&byte) = text.get(at) {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte == b'"' {
            in_text = true;
        } else if byte == b'-' || byte.is_ascii_digit() {
            let more = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            let length = text[at..].iter().take_while(|byte| more(byte)).count();
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
