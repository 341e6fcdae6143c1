//! Finds the JSON object in a reply's text.

use serde_json::{Map, Value};

use crate::json::read::{UniqueKeys, inexact_number};

/// The flaws in a reply. They are sent to the model for repair.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flaw {
    pub(super) text: String,
    /// `true` if the reply is truncated.
    pub(super) is_cut: bool,
}

/// The largest reply that is parsed, in bytes. A judge's reply takes a few KiB, and parsed JSON can take more than
/// twenty times its size in memory.
const MAX_BYTES: usize = 1 << 20;

/// Returns the JSON object in a reply: the whole text, or its only code block. An object within prose is rejected
/// because it may be quoted from the data, or quoted to contradict it.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, Flaw> {
    let inside = object_text(text)?;
    let unique = serde_json::from_str::<UniqueKeys>(inside);
    let read = unique.and_then(|_| serde_json::from_str(inside));
    let object = read.map_err(|error| Flaw {
        text: format!("the reply is not a JSON object: {}", in_short(&error)),
        is_cut: error.is_eof(),
    })?;
    match inexact_number(inside) {
        Some((number, problem)) => {
            let number = in_brief(number, 40);
            Err(format!("the number {number} {problem}").into())
        }
        None => Ok(object),
    }
}

conversions! {
    String => Flaw: |text| Self { text, is_cut: false };
}

/// Returns the part of a reply that might be its JSON object.
pub(super) fn object_text(text: &str) -> Result<&str, Flaw> {
    if text.len() > MAX_BYTES {
        return Err(format!("the reply is longer than {MAX_BYTES} bytes").into());
    }
    let text = after_thoughts(text.trim());
    if text.is_empty() {
        return Err("the reply is empty".to_owned().into());
    }
    match text.starts_with('{') {
        true => Ok(text),
        false => code_block(text).map_err(|reason| reason.to_owned().into()),
    }
}

/// Returns the text after the `<think>` block of open models. If a block quotes its own end tag, several objects remain
/// and the reply is rejected.
fn after_thoughts(text: &str) -> &str {
    let thoughts = text.strip_prefix("<think>");
    let split = thoughts.and_then(|thoughts| thoughts.split_once("</think>"));
    split.map_or(text, |(_, reply)| reply.trim_start())
}

/// Returns the text between the first and the last Markdown fence, or after the first if there is only one.
fn code_block(text: &str) -> Result<&str, &'static str> {
    let Some(after) = text.strip_prefix("```") else {
        return Err(match text.contains('{') {
            true => "the reply contains text outside the JSON object",
            false => "the reply is not a JSON object",
        });
    };
    let block = match after.rsplit_once("```") {
        Some((block, "")) => block,
        Some(_) => return Err("the reply contains text outside the JSON object"),
        None => after,
    };
    let unnamed = block.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    Ok(unnamed.trim())
}

/// Formats an error as one line of at most 160 characters, because the error may quote the reply, which may quote the
/// row.
pub(super) fn in_short(error: &serde_json::Error) -> String {
    in_brief(&error.to_string(), 160)
}

/// Returns the beginning of a string as one line.
pub(super) fn in_brief(text: &str, length: usize) -> String {
    let line = text.replace(char::is_control, " ");
    match line.char_indices().nth(length) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// Removes keys that are not in `schema` from a value, at any depth, and adds their names to `ignored`. References in
/// the schema point to definitions in `root`.
pub(super) fn remove_ignored(
    value: &mut Value,
    schema: &Value,
    root: &Value,
    ignored: &mut Vec<String>,
) {
    match value {
        Value::Array(items) => {
            let schema = referred(schema, root);
            for (index, item) in items.iter_mut().enumerate() {
                let of_item = schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
                remove_ignored(item, of_item, root, ignored);
            }
        }
        Value::Object(object) => {
            let mut schemas = Vec::new();
            add_schemas(schema, root, object, &mut schemas);
            let is_false = |schema: &&Value| schema["additionalProperties"] == false;
            let is_closed = schemas.iter().any(is_false);
            let of_key = |key: &str| schemas.iter().find_map(|it| it["properties"].get(key));
            object.retain(|key, value| match of_key(key) {
                Some(schema) => {
                    remove_ignored(value, schema, root, ignored);
                    true
                }
                None if is_closed => {
                    ignored.push(key.clone());
                    false
                }
                None => {
                    let of_values = schemas.iter().map(|schema| &schema["additionalProperties"]);
                    of_values.for_each(|schema| remove_ignored(value, schema, root, ignored));
                    true
                }
            });
        }
        _ => {}
    }
}

/// Follows a reference to its definition; any other schema is returned as is.
fn referred<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let reference = schema["$ref"].as_str();
    let place = reference.and_then(|reference| reference.strip_prefix('#'));
    place
        .and_then(|place| root.pointer(place))
        .unwrap_or(schema)
}

/// Adds the schemas that describe an object: this one, the one it refers to, and the matching alternative's.
fn add_schemas<'s>(
    schema: &'s Value,
    root: &'s Value,
    object: &Map<String, Value>,
    schemas: &mut Vec<&'s Value>,
) {
    let definition = referred(schema, root);
    if !std::ptr::eq(definition, schema) {
        schemas.push(schema);
    }
    schemas.push(definition);
    let parts = |key: &str| definition[key].as_array().into_iter().flatten();
    parts("allOf").for_each(|part| add_schemas(part, root, object, schemas));
    for mut alternatives in [parts("anyOf"), parts("oneOf")] {
        if let Some(one) = alternatives.find(|one| fits(referred(one, root), object)) {
            add_schemas(one, root, object, schemas);
        }
    }
}

/// Returns `true` if an object might match this alternative: it has the alternative's tag, or all its required keys if
/// there is no tag.
fn fits(alternative: &Value, object: &Map<String, Value>) -> bool {
    if alternative["type"] != "object" {
        return false;
    }
    let properties = alternative["properties"].as_object().into_iter().flatten();
    let tags = properties.filter_map(|(key, of)| Some((key, of.get("const")?)));
    let mut tags = tags.peekable();
    if tags.peek().is_some() {
        return tags.all(|(key, tag)| object.get(key) == Some(tag));
    }
    let mut required = alternative["required"].as_array().into_iter().flatten();
    required.all(|key| key.as_str().is_some_and(|key| object.contains_key(key)))
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, object};

    #[test]
    fn a_number_that_would_be_read_as_another_one_is_not_a_verdict() {
        for (number, expected) in [
            ("1e-400", "the number 1e-400 is out of range"),
            ("-0.1e-400", "the number -0.1e-400 is out of range"),
            (
                "18446744073709551616",
                "the number 18446744073709551616 is longer than 64 bits",
            ),
        ] {
            let error = object(&format!("{{\"score\": {number}}}")).unwrap_err();
            assert_eq!((&*error.text, error.is_cut), (expected, false));
        }
        let long = object(&format!("{{\"score\": 1{}}}", "0".repeat(300)))
            .unwrap_err()
            .text;
        assert_eq!(
            long,
            format!("the number 1{}... is longer than 64 bits", "0".repeat(39))
        );
        for number in [
            "0",
            "0.0e-400",
            "1e-300",
            "18446744073709551615",
            "\"1e-400\"",
        ] {
            assert_eq!(
                object(&format!("{{\"score\": {number}}}")).unwrap().len(),
                1,
                "{number}"
            );
        }
    }

    #[test]
    fn replies_that_are_too_long_or_too_deep_are_not_objects() {
        let flaw = |text: String| object(&text).unwrap_err().text;
        let nested =
            |levels: usize| format!("{{\"a\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(object(&nested(126)).unwrap().len(), 1);
        assert!(flaw(nested(127)).contains("recursion limit exceeded"));
        assert!(flaw(nested(400_000)).contains("recursion limit exceeded"));
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(MAX_BYTES));
        assert_eq!(flaw(long), "the reply is longer than 1048576 bytes");
    }
}
