use proptest::prelude::*;
use serde_json::Value;

use super::Scanner;
use crate::json::numbers::{is_long_integer, is_underflow, numbers};
use crate::json::unique_keys::UniqueKeys;

fn scanned(text: &str) -> Option<Value> {
    let mut scanner = Scanner::new(text)?;
    let value = scanner.value()?;
    scanner.is_at_end().then_some(value)
}

fn is_skipped(text: &str) -> bool {
    let skipped = |mut scanner: Scanner<'_>| {
        scanner.skip()?;
        scanner.is_at_end().then_some(())
    };
    Scanner::new(text).and_then(skipped).is_some()
}

/// The value as `serde_json` reads it, if that is as it is written.
fn parsed(text: &str) -> Option<Value> {
    let UniqueKeys(value) = serde_json::from_str(text).ok()?;
    let is_exact = |number: &str| !is_long_integer(number) && !is_underflow(number);
    numbers(text)
        .all(|number| is_exact(number.text))
        .then_some(value)
}

#[test]
fn common_values_are_scanned() {
    for text in [
        r#" {"a": ["b", {}, []], "c": {"d": -1.50, "e": 0, "f": 123456789012345678}} "#,
        r#"["\"", "\\", "\/\b\f\n\r\t", "\u00e9\uD83D\uDE00", "é😀", true, false, null]"#,
    ] {
        assert_eq!(scanned(text), parsed(text), "{text}");
        assert_eq!(
            (is_skipped(text), scanned(text).is_some()),
            (true, true),
            "{text}"
        );
    }
}

#[test]
fn what_needs_care_is_left_to_the_parser() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let keys: Vec<_> = (0..65).map(|key| format!("\"{key}\":0")).collect();
    let keys = format!("{{{}}}", keys.join(","));
    for text in [
        "",
        "[",
        "[1",
        "[1,",
        "[,]",
        "[1,]",
        "{",
        "{,}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{"a":1,"a":2}"#,
        r#"[{"b":{"a":1,"a":1}}]"#,
        r#"{"\u0061":1}"#,
        "01",
        "-",
        "1.",
        ".5",
        "1e5",
        "1E-400",
        "1234567890123456789",
        "-01",
        "+1",
        "nul",
        "truefalse",
        "1 2",
        r#""\x""#,
        r#""\ud800""#,
        r#""\ud800\u0041""#,
        r#""\udc00""#,
        r#""\u00g0""#,
        r#""\u00"#,
        "\"\t\"",
        "[1,\t2]",
        "\"",
        r#""\"#,
        r#""\""#,
        "]",
        "}",
        &deep,
        &keys,
    ] {
        assert_eq!((scanned(text), is_skipped(text)), (None, false), "{text}");
    }
}

/// Text that is nearly JSON.
fn hostile() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        prop::sample::select(
            &[
                "{",
                "}",
                "[",
                "]",
                ",",
                ":",
                "\"",
                "\\",
                " ",
                "\t",
                "\"a\"",
                "\"b\":",
                "{\"a\":",
                "\\u",
                "\\ud83d",
                "\\ude00",
                "\\n",
                "\\\"",
                "-",
                "0",
                "00",
                "1",
                ".5",
                "1.5",
                "e5",
                "1e400",
                "1e-400",
                "0.0",
                "-0",
                "18446744073709551616",
                "9007199254740993",
                "true",
                "null",
                "false",
                "\"\"",
                "é",
                "\u{1}",
                "\u{7f}",
            ][..]
        )
        .prop_map(str::to_owned),
        ".{0,3}",
    ];
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

/// Valid JSON with all kinds of values.
fn valid() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<f64>().prop_map(|value| Value::from(value).to_string()),
        "[0-9]{1,20}(\\.[0-9]{1,30})?".prop_map(|number| number),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let member = ("[a-c\\\\]{0,2}", inner.clone());
        let member = member.prop_map(|(key, value)| format!("{} : {value}", Value::from(key)));
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(member, 0..5).prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn a_scanned_value_is_the_one_that_is_parsed(text in prop_oneof![hostile(), valid()]) {
        let found = scanned(&text);
        prop_assert_eq!(is_skipped(&text), found.is_some());
        if found.is_some() {
            prop_assert_eq!(found, parsed(&text));
        }
    }
}
