//! Extracts the needed fields of a member or of a sample of a JSON log.

use serde_json::value::RawValue;

use crate::import::text::Unique;

/// The maximum size of the fields kept from one member, in bytes.
const MAX_KEPT: usize = 64 << 20;

/// The fields of an object, not yet parsed.
pub(super) type Fields<'t> = Unique<&'t RawValue>;

/// Splits the text of an object into its fields.
pub(super) fn fields(text: &str) -> Result<Fields<'_>, String> {
    match text.trim_ascii_start() {
        "" => return Err("empty".to_owned()),
        object if !object.starts_with('{') => return Err("expected an object".to_owned()),
        _ => {}
    }
    serde_json::from_str(text).map_err(|error| match error.is_eof() {
        true => format!("the object does not end; {} bytes were read", text.len()),
        false if error.to_string().starts_with("trailing characters") => {
            "expected one object, found more after it".to_owned()
        }
        false => error.to_string(),
    })
}

/// Returns the text of an object with only these fields.
pub(super) fn kept(fields: &Fields<'_>, keep: &[&str]) -> Result<String, String> {
    let kept: Vec<String> = keep
        .iter()
        .filter_map(|name| Some(format!("\"{name}\":{}", fields.0.get(*name)?.get())))
        .collect();
    let kept = format!("{{{}}}", kept.join(","));
    match kept.len() {
        length if length > MAX_KEPT => {
            Err(format!("longer than {MAX_KEPT} bytes without its events"))
        }
        _ => Ok(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, keep: &[&str]) -> Result<String, String> {
        kept(&fields(text)?, keep)
    }

    #[test]
    fn only_the_named_fields_of_the_object_are_kept() {
        let text = r#" {"id": 7, "events": [{"id": [1, {}]}], "score\u0073": {"a": "}"}, "x": "\"id\": 8"} "#;
        assert_eq!(
            of(text, &["id", "scores"]).unwrap(),
            r#"{"id":7,"scores":{"a": "}"}}"#
        );
        assert_eq!(of("{}", &["id"]).unwrap(), "{}");
        let deep = format!(
            "{{\"id\":1,\"e\":{}1{}}}",
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert_eq!(of(&deep, &["id"]).unwrap(), r#"{"id":1}"#);
    }

    #[test]
    fn what_is_not_one_object_is_an_error() {
        for (text, expected) in [
            ("", "empty"),
            ("[1]", "expected an object"),
            (r#"{"a": 1"#, "the object does not end; 7 bytes were read"),
            ("{} {}", "expected one object, found more after it"),
        ] {
            assert_eq!(of(text, &["a"]).unwrap_err(), expected, "{text}");
        }
    }
}
