//! Counts the values in JSON text, to limit them before parsing. Even a short document can have many: once parsed,
//! `[[],[],..]` takes up more than ten times its size in memory.

/// The maximum number of values in an untrusted JSON document.
///
/// An object counts as [`OBJECT`] values. A parsed [`serde_json::Value`] with this many values takes up to about 400
/// MB.
pub const MAX_VALUES: usize = 8 << 20;

/// The number of values that an object counts as in [`is_too_large`].
///
/// An object with fields takes about as much memory as this many other values. Even a B-tree node with few entries
/// takes 640 bytes, while a value takes 32 bytes.
pub const OBJECT: usize = 20;

/// Returns `true` if JSON text would take more memory than `limit` values once parsed.
///
/// An object with fields counts as [`OBJECT`] values. The result for invalid JSON is unspecified.
pub fn is_too_large(text: &str, limit: usize) -> bool {
    // `{"":{"":`: with its end, an object has at least five bytes.
    text.len() > limit / (OBJECT / 5) && weighs_more(text, limit, OBJECT)
}

/// Returns `true` if JSON text contains more than `limit` values.
///
/// Nested values are included, and lists and objects are values too. Object keys are not counted. The result for
/// invalid JSON is unspecified.
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
    use serde_json::Value;

    use super::{OBJECT, has_more_values, is_too_large};

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
