//! Describes JSON values in messages, compares them, and measures their nesting depth and size.
//!
//! `read.rs` reads values as written, `path.rs` follows dotted paths, and `structured.rs` compares values field by field.

pub mod path;
pub mod read;
pub mod structured;

use std::collections::BTreeMap;

use serde_json::{Number, Value};

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

/// Quotes the start of a string for use in an error message.
///
/// At most 40 characters are shown.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Returns `true` if two JSON values are equal.
///
/// The order of keys and the notation of numbers are ignored.
///
/// Numbers are compared exactly: 1 equals 1.0, but 9007199254740993 does not equal 9007199254740992.0. Strings must be
/// identical, because they are not normalized.
///
/// ```
/// use dsrs_metrics::metrics::same_value;
/// use serde_json::json;
///
/// assert!(same_value(&json!({ "a": 1, "b": [2.0] }), &json!({ "b": [2], "a": 1e0 })));
/// assert!(!same_value(&json!("1"), &json!(1)));
/// ```
pub fn same_value(left: &Value, right: &Value) -> bool {
    // Not recursive, because values may be nested without limit.
    let mut rest = vec![(left, right)];
    while let Some(pair) = rest.pop() {
        let same = match pair {
            (Value::Number(left), Value::Number(right)) => match (whole(left), whole(right)) {
                (None, None) => left.as_f64() == right.as_f64(),
                (left, right) => left == right,
            },
            (Value::Array(left), Value::Array(right)) => {
                rest.extend(left.iter().zip(right));
                left.len() == right.len()
            }
            (Value::Object(left), Value::Object(right)) => {
                let both = |(key, value)| Some((value, right.get(key)?));
                rest.extend(left.iter().map_while(both));
                left.len() == right.len() && left.keys().all(|key| right.contains_key(key))
            }
            (left, right) => left == right,
        };
        if !same {
            return false;
        }
    }
    true
}

/// Returns the value in canonical form: keys are sorted, and whole numbers are integers.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let whole = whole(number).and_then(Number::from_i128);
            Value::Number(whole.unwrap_or_else(|| number.clone()))
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), canonical(value)));
            fields.collect::<BTreeMap<_, _>>().into_iter().collect()
        }
        other => other.clone(),
    }
}

/// Returns the number as an integer if it is whole and fits into an `i128`.
// Whole and in range, so nothing is lost.
fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i128() {
        return Some(number);
    }
    let number = number.as_f64()?;
    (number.fract() == 0.0 && number.abs() < 1e38).then_some(number as i128)
}

/// Returns a copy of the value with all keys in sorted order.
///
/// Depending on its features, `serde_json` can keep keys in their original order instead.
pub fn sorted(value: &Value) -> Value {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    sorted
}

/// The maximum nesting depth of lists and objects.
///
/// `serde_json` refuses to parse deeper values, so only a value built in memory can exceed this depth.
pub const MAX_DEPTH: usize = 128;

/// The error returned when a value is nested deeper than [`MAX_DEPTH`].
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a value nested more than {MAX_DEPTH} levels deep")]
pub struct TooDeep;

crate::debug_as_display!(TooDeep);

/// Returns `true` if the value is nested deeper than [`MAX_DEPTH`].
///
/// The recursion ends at that depth, so it cannot overflow the stack.
pub fn is_too_deep(value: &Value) -> bool {
    fn is_deeper(value: &Value, levels: usize) -> bool {
        let below = |value| is_deeper(value, levels - 1);
        match value {
            Value::Array(_) | Value::Object(_) if levels == 0 => true,
            Value::Array(items) => items.iter().any(below),
            Value::Object(fields) => fields.values().any(below),
            _ => false,
        }
    }
    is_deeper(value, MAX_DEPTH + 1)
}

/// The maximum number of values in an untrusted JSON document.
///
/// Even a short document can have many values: once parsed, `[[],[],..]` takes up more than ten times its size in memory.
///
/// An object counts as [`OBJECT`] values. A parsed [`serde_json::Value`] with this many values takes up to about 400
/// MB.
pub const MAX_VALUES: usize = 8 << 20;

/// How many values an object counts as in [`is_too_large`].
///
/// An object with fields takes about as much memory as this many other values: even a B-tree node with few entries
/// takes 640 bytes, but a value takes only 32.
pub const OBJECT: usize = 20;

/// Returns `true` if JSON text, once parsed, would take more memory than `limit` values.
///
/// An object with fields counts as [`OBJECT`] values. The result for invalid JSON is unspecified.
pub fn is_too_large(text: &str, limit: usize) -> bool {
    // `{"":{"":`: with its end, an object has at least five bytes.
    text.len() > limit / (OBJECT / 5) && weighs_more(text, limit, OBJECT)
}

/// Returns `true` if JSON text contains more than `limit` values.
///
/// Nested values are counted, and so are lists and objects. Object keys are not counted. The result for invalid JSON is
/// unspecified.
pub fn has_more_values(text: &str, limit: usize) -> bool {
    // `[0,0,0]`: at least one other byte separates two values.
    text.len() > 2 * limit && weighs_more(text, limit, 1)
}

fn weighs_more(text: &str, limit: usize, object: usize) -> bool {
    // What the first value in the brackets adds to the sum.
    let (mut sum, mut first, mut in_string, mut is_escaped) = (1, 0, false, false);
    for byte in text.bytes() {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b']' | b'}' => first = 0,
            _ => sum += std::mem::take(&mut first),
        }
        match byte {
            b',' => sum += 1,
            b'[' => first = 1,
            b'{' => first = object,
            b'"' => in_string = true,
            _ => {}
        }
        if sum > limit {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_DEPTH, OBJECT, has_more_values, is_too_deep, is_too_large};

    #[test]
    fn depth_counts_lists_and_objects() {
        let nested = |levels: usize| {
            (0..levels).fold(json!(1), |value, level| match level % 2 {
                0 => json!([value]),
                _ => json!({ "a": value }),
            })
        };
        assert!(!is_too_deep(&nested(MAX_DEPTH)));
        assert!(!is_too_deep(&Value::Array(vec![json!([]); 1000])));
        assert!(is_too_deep(&nested(MAX_DEPTH + 2)));
    }

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(fields) => fields.values().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn the_number_of_values_is_exact() {
        for text in [
            "[1,2,3,4,5]",
            "[[],[],[[]],{}]",
            " [ [ ] , { \"a,[\" : \"],\\\"[,\" , \"b\" : [ null , true ] } ] ",
            r#"{"a":{"b":{"c":[0.5,-1e3]}},"\\":"\\\\","d":""}"#,
            "[[[[[[]]]]]]",
        ] {
            let text = format!("{text}{}", " ".repeat(100));
            let values = count(&serde_json::from_str(&text).unwrap());
            assert!(!has_more_values(&text, values), "{text}");
            assert!(has_more_values(&text, values - 1), "{text}");
        }
        let objects = r#"{"a":{},"b":[{"c":0},{"d":{"e":{}}}],"f":""}"#;
        let others = count(&serde_json::from_str(objects).unwrap()) - 4;
        assert!(!is_too_large(objects, others + 4 * OBJECT));
        assert!(is_too_large(objects, others + 4 * OBJECT - 1));
        assert!(
            !has_more_values("[0,0,0]", 4),
            "as short as four values can be"
        );
        assert!(has_more_values("[0,0,0]", 3));
    }
}
