//! Parses JSON from other programs, within limits on size and depth. Also accepts `NaN` and `Infinity`, which Python
//! writes even though JSON does not allow them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::json::read::{reject_duplicate, replace_constants};
use crate::json::{MAX_VALUES, is_too_large};
use crate::{FormatError, Input};

pub(super) use crate::data::ROW_LIMIT;

/// Parses JSON, and reads `NaN` as null and infinities as strings. Skips unknown fields of any depth.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let text = as_text(bytes)?;
    if is_too_large(text, MAX_VALUES) {
        return Err(format!("expected at most {MAX_VALUES} values, found more"));
    }
    let text = with_finite_numbers(text);
    serde_json::from_str(&text).map_err(|error| match error.to_string() {
        deep if deep.starts_with("recursion limit") => {
            format!("expected at most 127 levels of lists and objects; {deep}")
        }
        other => other,
    })
}

/// Returns a file's text without its byte order mark.
pub(super) fn as_text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(without_mark(bytes))
        .map_err(|error| format!("invalid UTF-8 at byte {}", error.valid_up_to()))
}

/// Removes the byte order mark that some programs write.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// An object without duplicate keys.
pub(super) struct Unique<V>(pub(super) IndexMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Unique<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Unique<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique<V>, A::Error> {
                let mut entries = IndexMap::new();
                while let Some((key, value)) = map.next_entry::<String, V>()? {
                    reject_duplicate(entries.contains_key(&key), &key)?;
                    entries.insert(key, value);
                }
                Ok(Unique(entries))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// Replaces `NaN` with null, and infinities with strings that contain their names.
pub(super) fn with_finite_numbers(text: &str) -> Cow<'_, str> {
    replace_constants(text, ["null", "\"Infinity\"", "\"-Infinity\""])
}

/// Returns a string unchanged, and any other value as JSON with sorted keys.
pub(crate) fn as_string(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().collect();
            serde_json::to_string(&sorted).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// Returns an object's fields, except those that are null.
pub(crate) fn fields(object: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = object else {
        return Map::new();
    };
    fields.retain(|_, value| !value.is_null());
    fields
}

/// Returns an object without its null fields.
pub(crate) fn present(object: Value) -> Value {
    fields(object).into()
}

/// The maximum size of a file, in bytes.
pub(super) const MAX_FILE: u64 = 2 << 30;

/// Calls a function with each document in a file and its location. A document is one line or the whole file.
pub(super) fn each_document<T: DeserializeOwned>(
    input: Input<'_>,
    mut each: impl FnMut(&str, T) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let bytes = input.read(MAX_FILE)?;
    let mut is_first = true;
    for (number, line) in lines(&bytes) {
        let place = format!("line {number}");
        let invalid = |reason| input.invalid(&place, reason);
        let parsed = match parse::<T>(line) {
            Ok(parsed) => parsed,
            // The document spans several lines.
            Err(_) if is_first && parse::<IgnoredAny>(line).is_err() => {
                let document = parse(&bytes);
                let document = document.map_err(|reason| input.whole(reason).or_other())?;
                return each("document 1", document);
            }
            Err(reason) if is_first => return Err(invalid(reason).or_other()),
            Err(reason) => return Err(invalid(reason)),
        };
        each(&place, parsed)?;
        is_first = false;
    }
    match is_first {
        true => Err(input.whole("an empty file").or_other()),
        false => Ok(()),
    }
}

/// Returns the lines in a file that aren't blank, with their line numbers.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.map(|(place, line)| (place + 1, line));
    lines.filter(|(_, line)| !without_mark(line).trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn constants_are_replaced_only_outside_of_strings() {
        let text = r#"{"a":NaN,"NaN":[-Infinity,Infinity,"NaN","\"NaN",-1],"b":"é\\","c":NaN}"#;
        let value: Value = parse(text.as_bytes()).unwrap();
        let expected = json!({"a": null, "NaN": ["-Infinity", "Infinity", "NaN", "\"NaN", -1], "b": "é\\", "c": null});
        assert_eq!(value, expected);
    }

    #[test]
    fn deep_json_is_an_error_where_it_is_read_and_skipped_where_it_is_not() {
        #[derive(serde::Deserialize, Debug, PartialEq)]
        struct Id {
            id: u32,
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"events":{deep},"id":7}}"#);
        assert_eq!(parse::<Id>(text.as_bytes()).unwrap(), Id { id: 7 });
        let error = parse::<Value>(text.as_bytes()).unwrap_err();
        assert!(error.starts_with("expected at most 127 levels"), "{error}");
    }
}
