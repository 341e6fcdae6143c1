//! Equality of JSON values, for tool calls and for JSON as code.

use serde_json::{Number, Value};

/// Returns `true` if two JSON values are equal.
///
/// The order of keys and the notation of numbers are ignored.
///
/// Numbers are compared exactly: 1 equals 1.0, but 9007199254740993 does not equal 9007199254740992.0. Strings must be
/// identical, without any normalization.
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
    let mut rest = Vec::new();
    let mut pair = Some((left, right));
    while let Some((left, right)) = pair.take().or_else(|| rest.pop()) {
        let same = match (left, right) {
            (Value::Number(left), Value::Number(right)) => same_number(left, right),
            (Value::Array(left), Value::Array(right)) => {
                rest.extend(left.iter().zip(right));
                left.len() == right.len()
            }
            (Value::Object(left), Value::Object(right)) => {
                let both = |(key, value)| right.get(key).map(|other| (value, other));
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

fn same_number(left: &Number, right: &Number) -> bool {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.as_f64() == right.as_f64(),
        _ => false,
    }
}

/// Returns the number as an integer if it is whole and fits into an `i128`.
// Whole and in range, so nothing is lost.
#[doc(hidden)]
pub fn whole(number: &Number) -> Option<i128> {
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
