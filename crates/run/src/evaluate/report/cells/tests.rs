use indexmap::IndexMap;
use serde_json::json;

use super::*;

/// The columns and values of a line.
fn cells(line: &str) -> Option<Vec<(String, String)>> {
    let mut shapes = Shapes::new();
    let columns = |places: &[Place<'_>]| places.iter().map(|it| it.column()).collect();
    let (columns, values): (&Vec<_>, _) = shapes.read(line, columns)?;
    Some(
        columns
            .iter()
            .cloned()
            .zip(values.iter().map(ToString::to_string))
            .collect(),
    )
}

#[test]
fn every_value_of_a_line_has_a_column() {
    let line = r#"{"id":"a\"b","gold":{"q":"\\","n":[1,{"x":"]}"}],"e\u0301":{}},"pred":"Paris","latency_s":0.5,"attributes":{"r":null},"scores":{"f1":{"outcome":"scored","value":1.0,"details":"\"{\""},"x\"y":{"outcome":"abstained"}},"traceback":"t\n","manifest":"1-0"}"#;
    let expected = [
        ("id", r#""a\"b""#),
        ("gold.q", r#""\\""#),
        ("gold.n", r#"[1,{"x":"]}"}]"#),
        ("gold.e\u{301}", "{}"),
        ("pred", "\"Paris\""),
        ("latency_s", "0.5"),
        ("attributes.r", "null"),
        ("f1", "1.0"),
        ("f1.outcome", "\"scored\""),
        ("f1.details", r#""\"{\"""#),
        ("x\"y", "null"),
        ("x\"y.outcome", "\"abstained\""),
        ("traceback", r#""t\n""#),
        ("manifest", "\"1-0\""),
    ];
    let expected = expected.map(|(column, value)| (column.to_owned(), value.to_owned()));
    assert_eq!(cells(line).unwrap(), expected);
    let spaced = line
        .replace("\":", "\" : ")
        .replace(",\"", " , \"")
        .replace("}", " }");
    assert_eq!(cells(&spaced).unwrap().len(), expected.len());
    let whole = r#"{"id":"a","gold":null,"pred":[1],"latency_s":null,"scores":{}}"#;
    assert_eq!(cells(whole).unwrap().len(), 2);
}

/// What a line contains at a key of an object, in the order of the text.
fn members(object: &str) -> IndexMap<String, Value> {
    serde_json::from_str(object).unwrap()
}

/// The columns and values of a line, from its parsed text.
fn expected(line: &str) -> Vec<(String, Value)> {
    let mut cells = Vec::new();
    for (key, value) in members(line) {
        match (&*key, value) {
            ("gold" | "pred", Value::Object(fields)) => {
                cells.extend(
                    fields
                        .into_iter()
                        .map(|(field, it)| (format!("{key}.{field}"), it)),
                );
            }
            ("scores", scores) => {
                for (metric, score) in members(&scores.to_string()) {
                    cells.push((metric.clone(), score["value"].clone()));
                    let rest = members(&score.to_string())
                        .into_iter()
                        .filter(|it| it.0 != "value");
                    cells.extend(rest.map(|(key, it)| (format!("{metric}.{key}"), it)));
                }
            }
            ("gold" | "pred" | "latency_s" | "note", Value::Null) => {}
            ("id" | "gold" | "pred" | "latency_s", value) => cells.push((key, value)),
            _ => {}
        }
    }
    cells
}

#[test]
fn lines_of_mixed_shapes_have_the_cells_of_their_parsed_text() {
    let strings = [
        "",
        "a",
        "é\"{\\",
        "},\"",
        "\u{1}\n",
        ":null,",
        &"x".repeat(40),
    ]
    .map(Value::from);
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(1.5e-9),
        json!([1, "]"]),
    ];
    let values = [
        &strings[..],
        &others[..],
        &[json!({}), json!({"\"}": [{}]})],
    ]
    .concat();
    let mut random = 7_u64;
    let mut below = |limit: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % limit
    };
    let lines: Vec<String> = (0..4_000)
        .map(|row| {
            let mut line = json!({"id": format!("q{row}")});
            for side in ["gold", "pred"] {
                line[side] = match below(4) {
                    0 => values[below(values.len())].clone(),
                    _ => json!({"q\"": values[below(values.len())], "a": values[below(values.len())]}),
                };
            }
            if below(3) == 0 {
                line["latency_s"] = [json!(0.5), json!(null)][below(2)].clone();
                line["note"] = json!({"id": 1});
            }
            for metric in ["em", "f\\1"] {
                let score = &mut line["scores"][metric];
                score["outcome"] = json!("scored");
                if below(8) > 0 {
                    score["value"] = [json!(1.0), json!(null)][below(2)].clone();
                }
                score["details"] = strings[below(strings.len())].clone();
            }
            line.to_string()
        })
        .collect();
    let mut shapes = Shapes::new();
    let mut computed = 0;
    for line in &lines {
        let columns = |places: &[Place<'_>]| {
            computed += 1;
            places.iter().map(|it| it.column()).collect::<Vec<_>>()
        };
        let (columns, values) = shapes.read(line, columns).unwrap();
        let values = values
            .iter()
            .map(|value| serde_json::from_str(value).unwrap());
        let found: Vec<(String, Value)> = columns.iter().cloned().zip(values).collect();
        assert_eq!(found, expected(line), "{line}");
    }
    assert!((100..3_500).contains(&computed), "{computed}");
}

#[test]
fn strings_are_unescaped_as_serde_does() {
    let parts = [
        "a",
        "\\\"",
        "\\\\",
        "\\n",
        "\\t",
        "\\r",
        "\\/",
        "\\u0001",
        "\\ud83d\\ude00",
        "é",
    ];
    for first in parts {
        for second in parts {
            for third in parts {
                let string = format!("\"{first}{second}{third}\"");
                let parsed: String = serde_json::from_str(&string).unwrap();
                assert_eq!(text(&string).unwrap(), parsed);
            }
        }
    }
}

#[test]
fn text_that_is_no_row_has_no_cells() {
    for line in [
        "",
        "{",
        "{\"id\"",
        "{\"id\":",
        "{\"id\":\"a",
        "{\"id\":\"a\\",
        "{\"id\":[1",
        "7",
        "{n",
        "{\"gold\":né",
    ] {
        assert_eq!(cells(line), None, "{line}");
    }
}

#[test]
fn a_value_is_written_as_serde_writes_it() {
    let values = [
        "null",
        "true",
        "-1",
        "0.1",
        "1e+300",
        "123456789012345678901",
        "18446744073709551615",
        r#"{"b":1,"a":[2.50,"x"]}"#,
        "[]",
        r#""a\u00e9""#,
    ];
    for value in values {
        let parsed: Value = serde_json::from_str(value).unwrap();
        match text(value) {
            Some(text) => assert_eq!(Some(&*text), parsed.as_str()),
            None => assert_eq!(json(value), parsed.to_string(), "{value}"),
        }
    }
}
