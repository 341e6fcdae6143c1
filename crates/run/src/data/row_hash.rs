//! The hash of a gold row or a prediction, by which two files show that they are about the same rows. It is the same for the same
//! row in every format, so it does not depend on the order of fields, or on types and absent values that CSV cannot represent.

use serde_json::Value;
use twox_hash::XxHash3_128;

use crate::json::equality::sorted;
use crate::json::literal::{may_be_literal, python_to_json};

/// Returns the hash of a gold row or a prediction; `None` if it has no value.
pub(crate) fn row_hash(row: &Value) -> Option<u64> {
    let mut hash = XxHash3_128::new();
    let mut is_empty = true;
    let mut add = |name: &str, value: &Value| {
        let text = text(value);
        if !text.is_empty() {
            is_empty = false;
            for part in [name, &text] {
                hash.write(&(part.len() as u64).to_le_bytes());
                hash.write(part.as_bytes());
            }
        }
    };
    match row {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            fields
                .into_iter()
                .for_each(|(name, value)| add(name, value));
        }
        value => add("", value),
    }
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash")]
    (!is_empty).then(|| hash.finish_128() as u64)
}

/// Reads a hash of a row in a file.
pub(crate) fn parse_hash(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16)
        .ok()
        .filter(|_| text.len() == 16)
}

/// Returns a value as a cell of CSV has it; empty for `null`. A cell that has a list or an object, as JSON or Python writes it, is
/// that value.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(cell) => match literal(cell) {
            Some(value) => sorted(&value).to_string(),
            None => cell.clone(),
        },
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => sorted(value).to_string(),
    }
}

fn literal(cell: &str) -> Option<Value> {
    if !may_be_literal(cell) {
        return None;
    }
    let python = || serde_json::from_str(&python_to_json(cell)?).ok();
    serde_json::from_str(cell).ok().or_else(python)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_the_same_in_every_format() {
        let row = json!({"q": "6 * 7?", "n": 42, "ok": true, "all": ["a", {"x": 1, "b": 2.5}], "none": null});
        let cells = json!({
            "all": "[\"a\", {\"b\": 2.5, \"x\": 1}]", "n": "42", "none": "", "ok": "true", "q": "6 * 7?"
        });
        assert_eq!(row_hash(&row), row_hash(&cells));
        assert_eq!(row_hash(&json!("42")), row_hash(&json!(42)));
        let of_python = json!({"answers": "['Rome', \"it's\", None]"});
        assert_eq!(
            row_hash(&of_python),
            row_hash(&json!({"answers": ["Rome", "it's", null]}))
        );
    }

    #[test]
    fn other_rows_have_other_hashes() {
        let rows = [
            json!({"a": "x", "b": "y"}),
            json!({"a": "xb", "": "y"}),
            json!({"a": "y", "b": "x"}),
            json!({"a": "x"}),
            json!({"a": ["x"]}),
            json!({"a": "[x]"}),
            json!({"a": " x"}),
            json!("x"),
        ];
        let hashes: std::collections::HashSet<_> = rows.iter().map(row_hash).collect();
        assert_eq!(hashes.len(), rows.len());
        assert_eq!(row_hash(&json!({"a": null, "b": ""})), None);
        assert_eq!(row_hash(&json!({})), None);
    }
}
