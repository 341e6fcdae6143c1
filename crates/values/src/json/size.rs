//! The number of values in JSON text, for a limit before it is parsed. A short document may have many values: `[[],[],..]` needs more than ten
//! times its own size in memory.

/// The maximum number of values in one JSON document of untrusted input. As [`serde_json::Value`] they need up to about 1 GiB.
pub const MAX_VALUES: usize = 8 << 20;

/// Returns whether JSON text has more values than this: lists, objects, strings, numbers, booleans and nulls at any depth, without the
/// keys of objects. For invalid JSON the result is unspecified.
pub fn has_more_values(text: &str, limit: usize) -> bool {
    // `[0,0,0]`: between two values there is at least one other byte.
    if text.len() <= 2 * limit {
        return false;
    }
    let (mut values, mut is_first, mut in_string, mut is_escaped) = (1, false, false, false);
    for byte in text.bytes() {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b']' | b'}' => is_first = false,
            _ => values += usize::from(std::mem::take(&mut is_first)),
        }
        match byte {
            b',' => values += 1,
            b'[' | b'{' => is_first = true,
            b'"' => in_string = true,
            _ => {}
        }
        if values > limit {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::has_more_values;

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
        assert!(!has_more_values("[0,0,0]", 4), "as short as four values can be");
        assert!(has_more_values("[0,0,0]", 3));
    }
}
