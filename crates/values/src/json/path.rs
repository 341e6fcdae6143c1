//! Dotted paths into JSON values: `title`, `choices.0.text`, `messages[-1].content`, `meta."a.b"`.

use std::borrow::Cow;

use serde_json::Value;

use super::read::parse_literal;

/// Splits a path after its first segment.
///
/// The segment can be quoted: `a.b`, `a[0]` and `"a".b` all begin with `a`.
pub fn split_first(path: &str) -> (&str, &str) {
    let path = path.trim_start_matches(['.', '[', ']']);
    if let Some(quoted) = path.strip_prefix('"')
        && let Some((key, rest)) = quoted.split_once('"')
    {
        return (key, rest.trim_start_matches(['.', ']']));
    }
    match path.find(['.', '[', ']']) {
        Some(end) => (&path[..end], path[end..].trim_start_matches(['.', ']'])),
        None => (path, ""),
    }
}

/// Returns the value at a path inside `value`.
///
/// The path consists of field names and list indices. The index -1 selects the last element. An empty path returns the
/// value itself.
pub fn below<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    match walk(value, path)? {
        Cow::Borrowed(value) => Some(value),
        Cow::Owned(_) => None,
    }
}

/// Returns the value at a path, using `get` to look up the first field.
///
/// If a field's name is exactly the whole path, that field is returned. Otherwise, the first segment names a field, and
/// the rest of the path is followed from there.
pub fn find<'a>(path: &str, get: impl Fn(&str) -> Option<&'a Value>) -> Option<&'a Value> {
    match find_inside(path, get)? {
        Cow::Borrowed(value) => Some(value),
        Cow::Owned(_) => None,
    }
}

/// Works like [`find`], but also looks inside strings.
///
/// A string along the path is parsed if it contains JSON or a Python literal. A value found inside a string is returned
/// as an owned value.
pub fn find_inside<'a>(
    path: &str,
    get: impl Fn(&str) -> Option<&'a Value>,
) -> Option<Cow<'a, Value>> {
    if let Some(value) = get(path) {
        return Some(Cow::Borrowed(value));
    }
    let (first, rest) = split_first(path);
    walk(get(first)?, rest)
}

/// Works like [`below`], but also looks inside strings.
///
/// A string along the path is parsed if it contains JSON or a Python literal. A value found inside a string is returned
/// as an owned value.
pub fn walk<'a>(value: &'a Value, mut path: &str) -> Option<Cow<'a, Value>> {
    let mut value = Cow::Borrowed(value);
    while !path.is_empty() {
        let (segment, rest) = split_first(path);
        if let Some(inside) = value.as_str() {
            value = Cow::Owned(parse_literal(inside)?);
        }
        value = match value {
            Cow::Borrowed(value) => Cow::Borrowed(child(value, segment)?),
            Cow::Owned(value) => Cow::Owned(child(&value, segment)?.clone()),
        };
        path = rest;
    }
    Some(value)
}

fn child<'a>(value: &'a Value, segment: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => object.get(segment),
        Value::Array(list) => match segment.strip_prefix('-') {
            Some(from_end) => list.get(list.len().checked_sub(from_end.parse().ok()?)?),
            None => list.get(segment.parse::<usize>().ok()?),
        },
        _ => None,
    }
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

    #[test]
    fn lists_have_ends_and_keys_have_quotes() {
        let row = json!({ "m": [{ "x.y": 1 }, { "x.y": [5, 6] }], "a.b": { "c": 3 } });
        let at = |path| find(path, |name| row.get(name)).cloned();
        assert_eq!(at("m.-1.\"x.y\".0"), Some(json!(5)));
        assert_eq!(at("m[-1][\"x.y\"][1]"), Some(json!(6)));
        assert_eq!(at("m[0].\"x.y\""), Some(json!(1)));
        assert_eq!(at("\"a.b\".c"), Some(json!(3)));
        assert_eq!((at("m.-3"), at("m.-0"), at("m[2]")), (None, None, None));
    }

    #[test]
    fn json_and_python_inside_of_strings_is_read() {
        let row = json!({ "cell": "{'a': [\"x\", {\"b\": \"{\\\"c\\\": 4}\"}]}", "plain": "text" });
        let at = |path| find_inside(path, |name| row.get(name)).map(Cow::into_owned);
        assert_eq!(at("cell.a.0"), Some(json!("x")));
        assert_eq!(at("cell.a[1].b.c"), Some(json!(4)));
        assert_eq!((at("cell.z"), at("plain.a")), (None, None));
        assert_eq!(find("cell.a.0", |name| row.get(name)), None);
    }
}
