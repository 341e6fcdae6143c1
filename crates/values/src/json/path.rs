//! Dotted paths into JSON values: `title`, `choices.0.text`.

use serde_json::Value;

/// Returns the value at a path of field names and list indices below `value`. An empty path is the value itself.
pub fn below<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut segments = path.split('.').filter(|segment| !segment.is_empty());
    segments.try_fold(value, |value, segment| match value {
        Value::Object(object) => object.get(segment),
        Value::Array(list) => list.get(segment.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns the field named by the whole path, or else the value below the field named by its first segment.
pub fn find<'a>(path: &str, get: impl Fn(&str) -> Option<&'a Value>) -> Option<&'a Value> {
    get(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        below(get(first)?, rest)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_with_a_dot_in_its_name_takes_precedence() {
        let row = json!({ "a.0": "named", "a": ["listed", { "b": 2 }] });
        let at = |path| find(path, |name| row.get(name)).cloned();
        assert_eq!(
            (at("a.0"), at("a.1.b")),
            (Some(json!("named")), Some(json!(2)))
        );
        assert_eq!(
            (at("a.2"), at("a.x"), at("b.0"), at("a.1.b.c")),
            (None, None, None, None)
        );
    }
}
