//! Lists and objects in CSV cells, in JSON or Python notation.

use serde_json::Value;

use super::size::{MAX_VALUES, is_too_large};
use super::unique_keys::UniqueKeys;

/// How arrays begin when numpy and pandas print them.
const ARRAYS: [&str; 4] = ["array([", "[array([", "[list([", "[np."];

/// Returns `true` if the cell starts like a list, an object or a numpy array.
pub fn may_be_literal(cell: &str) -> bool {
    let cell = cell.trim_start();
    cell.starts_with(['[', '{']) || cell.starts_with(ARRAYS[0])
}

/// Parses a cell as a list or object in JSON or Python syntax.
///
/// Returns `None` for any other cell, or if the cell contains too many values.
pub fn parse(cell: &str) -> Option<Value> {
    if !may_be_literal(cell) || is_too_large(cell, MAX_VALUES) {
        return None;
    }
    let json = |text: &str| {
        serde_json::from_str(text)
            .ok()
            .map(|UniqueKeys(value)| value)
    };
    json(cell).or_else(|| json(&python_to_json(cell)?))
}

/// Returns `true` if the cell starts like an array or a list of strings.
///
/// A cell of this kind is unlikely to be plain text.
pub fn is_meant_as_list(cell: &str) -> bool {
    let cell = cell.trim_start();
    let first = cell.strip_prefix('[').map(str::trim_start);
    first.is_some_and(|first| first.starts_with(['\'', '"']))
        || ARRAYS.iter().any(|array| cell.starts_with(array))
}

/// Converts a list or dict written by Python's `repr` to JSON.
///
/// Strings, `None`, `True` and `False` are rewritten. Other syntax is not checked, so the result can be invalid JSON.
/// Returns `None` if a string is not terminated.
pub fn python_to_json(text: &str) -> Option<String> {
    // This makes no other name valid, because JSON has no other names.
    let names = |text: &str| {
        text.replace("None", "null")
            .replace("True", "true")
            .replace("False", "false")
    };
    let (mut json, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(['\'', '"']) {
        json.push_str(&names(&rest[..start]));
        rest = push_string(&rest[start..], &mut json)?;
    }
    json.push_str(&names(rest));
    Some(json)
}

/// Appends the string at the start of the text as JSON, and returns the text after it.
fn push_string<'t>(text: &'t str, json: &mut String) -> Option<&'t str> {
    let mut rest = text.chars();
    let quote = rest.next()?;
    json.push('"');
    loop {
        match rest.next()? {
            end if end == quote => break,
            '"' => json.push_str("\\\""),
            '\\' => match rest.next()? {
                '\'' => json.push('\''),
                'a' => json.push_str("\\u0007"),
                'v' => json.push_str("\\u000b"),
                // The two digits follow.
                'x' => json.push_str("\\u00"),
                'U' => {
                    let digits = rest.as_str().get(..8).filter(|it| !it.starts_with('+'))?;
                    json.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    rest = rest.as_str()[8..].chars();
                }
                // The same in JSON, or an error of its parser.
                other => json.extend(['\\', other]),
            },
            other => json.push(other),
        }
    }
    json.push('"');
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_meant_as_list, python_to_json};

    fn read(python: &str) -> Option<Value> {
        serde_json::from_str(&python_to_json(python)?).ok()
    }

    #[test]
    fn python_literals_are_read_as_their_values() {
        for (python, value) in [
            (
                r#"['a', "b's", 'c\n', None, 1]"#,
                json!(["a", "b's", "c\n", null, 1]),
            ),
            (
                r#"['say "hi"', 'it\'s "so"', "\""]"#,
                json!(["say \"hi\"", "it's \"so\"", "\""]),
            ),
            (r"['\x00\x7f\xa0', '\u2028', '\U000e0001', '\\x41']", {
                json!(["\0\u{7f}\u{a0}", "\u{2028}", "\u{e0001}", "\\x41"])
            }),
            (r"['\a\b\f\n\r\t\v']", json!(["\u{7}\u{8}\u{c}\n\r\t\u{b}"])),
            (
                "['None', True, False, [-1.5, 1e-05]]",
                json!(["None", true, false, [-1.5, 1e-5]]),
            ),
            (
                "[{'role': 'user', 'n': None}]",
                json!([{ "role": "user", "n": null }]),
            ),
            ("[]", json!([])),
        ] {
            assert_eq!(read(python), Some(value), "{python}");
        }
    }

    #[test]
    fn what_python_would_read_otherwise_or_not_at_all_is_no_json() {
        for text in [
            "['a' 'b']",
            "['a', 'b",
            "['a',, 'b']",
            "[b'a']",
            r"['\d']",
            r"['\x4']",
            r"['\U0001f60']",
            r"['\U+001f600']",
            r"['\ud800']",
            "['a\nb']",
            "[nan]",
            "[inf]",
            "[None1]",
            "['''a''']",
            "array(['a'])",
            "('a', 'b')",
            "{'a'}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_of_strings_is_told_from_text_in_brackets() {
        for list in [
            "['a', 'b",
            "[ \"a\"",
            " ['a' 'b']",
            "array([1, 2])",
            "[array([1]), array([2])]",
            "[np.float64(1)]",
        ] {
            assert!(is_meant_as_list(list), "{list}");
        }
        for text in [
            "[sic] hello",
            "[1, 2)",
            "[Paris](a.md)",
            "",
            "[",
            "'['a']",
            "arrays",
            "x = ['a']",
        ] {
            assert!(!is_meant_as_list(text), "{text}");
        }
    }
}
