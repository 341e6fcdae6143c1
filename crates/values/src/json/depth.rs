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
/// The recursion ends at that depth, so it cannot overflow the stack.
pub fn is_too_deep(value: &Value) -> bool {
    fn is_deeper(value: &Value, levels: usize) -> bool {
        let below = |value| levels == 0 || is_deeper(value, levels - 1);
        match value {
            Value::Array(items) => items.iter().any(below),
            Value::Object(fields) => fields.values().any(below),
            _ => false,
        }
    }
    is_deeper(value, MAX_DEPTH + 1)
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
