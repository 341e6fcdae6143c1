//! Describes a file whose format is not the format that was named.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::text::{with_finite_numbers, without_mark};
use crate::error::{FormatError, Input};
use crate::messages::escape;

/// The bytes from which a format is recognized.
const START: u64 = 64 << 10;

/// The formats by a word of their nouns, and their names on the command line.
const OWN: [(&str, &str); 4] = [
    ("inspect_ai", "--from inspect"),
    ("lm-eval", "--from lm-eval"),
    ("OpenTelemetry", "--from otlp"),
    ("ATIF", "--from atif"),
];

/// Returns the error of a file of another format than `expected`, or `own` if it seems to have this format.
pub(super) fn other_format(
    input: Input<'_>,
    expected: &'static str,
    own: FormatError,
) -> FormatError {
    let start = match input.read(START) {
        Ok(start) => start,
        Err(unreadable) => return unreadable,
    };
    let found = describe(without_mark(&start));
    if OWN
        .iter()
        .any(|(noun, name)| expected.contains(noun) && found.contains(name))
    {
        return own;
    }
    input.whole(format_args!("expected {expected}, found {found}"))
}

/// Describes a file by its first bytes.
fn describe(start: &[u8]) -> String {
    if start.trim_ascii().is_empty() {
        return "an empty file".to_owned();
    }
    if start.starts_with(b"PK") {
        return "a ZIP archive, as logs of inspect_ai are (`--from inspect`)".to_owned();
    }
    if [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd"]
        .iter()
        .any(|magic| start.starts_with(magic))
    {
        return "a compressed file; decompress it".to_owned();
    }
    let keys = first_keys(start);
    let has = |key: &str| keys.iter().any(|found| found == key);
    match () {
        () if has("scores") && has("id") && !has("epoch") => {
            "a result file of this program; leave out --from".to_owned()
        }
        () if has("gold") || has("pred") => {
            "rows of gold labels and predictions; leave out --from".to_owned()
        }
        () if has("eval") && has("version") => {
            "a log of inspect_ai (`--from inspect`)".to_owned()
        }
        () if has("doc_id") => "samples of lm-eval (`--from lm-eval`)".to_owned(),
        () if has("results") && has("configs") => {
            "the results of lm-eval, which have no samples; write its samples_TASK_DATE.jsonl, which `--log_samples` saves"
                .to_owned()
        }
        () if has("resourceSpans") => "spans of OpenTelemetry (`--from otlp`)".to_owned(),
        () if has("schema_version") && has("steps") => {
            "a trajectory of ATIF (`--from atif`)".to_owned()
        }
        () if !keys.is_empty() => {
            format!("an object with {}", escape::names(keys.iter().take(8).map(String::as_str)))
        }
        () if start.trim_ascii_start().starts_with(b"[") => "a list".to_owned(),
        () => "a file without objects of JSON".to_owned(),
    }
}

/// Returns the keys of the first object of JSON, as far as it is there.
fn first_keys(start: &[u8]) -> Vec<String> {
    /// Collects keys, also of an object that is cut off.
    struct Keys<'k>(&'k mut Vec<String>);

    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key()? {
                self.0.push(key);
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    let mut keys = Vec::new();
    let start = String::from_utf8_lossy(start);
    let text = with_finite_numbers(&start);
    // An error of what follows, or of the end, does not matter.
    let _ = serde_json::Deserializer::from_str(&text).deserialize_map(Keys(&mut keys));
    keys
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn a_file_is_described_by_its_first_object() {
        for (text, expected) in [
            ("  \n", "an empty file"),
            (
                r#"{"id":"a","scores":{"em":{}}}"#,
                "a result file of this program; leave out --from",
            ),
            (
                r#"{"gold":{"doc_id":1}}"#,
                "rows of gold labels and predictions; leave out --from",
            ),
            (
                r#"{"version":2,"eval":{"#,
                "a log of inspect_ai (`--from inspect`)",
            ),
            (
                r#"{"a":"x\":{","resourceSpans":[]}"#,
                "spans of OpenTelemetry (`--from otlp`)",
            ),
            (
                "{\"x\":[1,{\"doc_id\":2}]}\n{\"doc_id\":1}",
                "an object with `x`",
            ),
            ("[1]", "a list"),
            ("7", "a file without objects of JSON"),
        ] {
            assert_eq!(describe(text.as_bytes()), expected, "{text}");
        }
    }
}
