//! The limit of JSON nesting, for code that visits or writes values recursively.

use serde_json::Value;

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
/// The check does not recurse, so it cannot overflow the stack.
pub fn is_too_deep(value: &Value) -> bool {
    let mut level = vec![value];
    for _ in 0..=MAX_DEPTH {
        let below = level.into_iter().flat_map(|value| match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(fields) => fields.values().collect(),
            _ => Vec::new(),
        });
        level = below
            .filter(|value| value.is_array() || value.is_object())
            .collect();
    }
    !level.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_DEPTH, is_too_deep};

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
}
