//! `format`: not empty, valid JSON, required fields.

use dsrs_metrics::metrics::Format;
use dsrs_metrics::prelude::*;

use super::{evaluate, scored};

fn json() -> Format {
    Format::builder().require_valid_json(true).build()
}

#[test]
fn empty_or_not() {
    for (answer, value) in [("x", 1.0), ("", 0.0), (" \n\u{3000}", 0.0)] {
        assert_eq!(evaluate(&Format::default(), answer).0, value, "{answer:?}");
    }
    let lenient = Format::builder().require_non_empty(false).build();
    assert_eq!(evaluate(&lenient, ""), (1.0, String::new()));
    assert_eq!(evaluate(&Format::default(), "").1, "the output is empty");
}

#[test]
fn json_is_strict() {
    for valid in [
        "{}",
        " [1, 2.5e-3, null] ",
        "\"text\"",
        "1",
        r#"{"a": {"b": [true]}}"#,
    ] {
        assert_eq!(evaluate(&json(), valid), (1.0, String::new()), "{valid}");
    }
    for invalid in [
        "{",
        "{'a': 1}",
        "[1,]",
        "```json\n{}\n```",
        "NaN",
        "{} {}",
        "// x\n1",
        "01",
        "\"\\x\"",
    ] {
        assert_eq!(evaluate(&json(), invalid).0, 0.0, "{invalid}");
    }
    assert_eq!(
        evaluate(&json(), "[1, 2}").1,
        "the output is not valid JSON: expected `,` or `]` at line 1 column 6"
    );
}

#[test]
fn json_of_any_depth() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(evaluate(&json(), &deep).0, 1.0);
    assert_eq!(evaluate(&json(), &deep[..150_000]).0, 0.0);
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let field = Format::builder().required_fields(["a"]).build();
    assert_eq!(evaluate(&field, &deep), (1.0, String::new()));
}

#[test]
fn fields_of_an_object() {
    let metric = Format::builder()
        .required_fields(["name", "age", "näme"])
        .build();
    assert_eq!(
        evaluate(&metric, r#"{"name": 1, "n\u00e4me": 2, "age": null}"#).0,
        1.0
    );
    assert_eq!(
        evaluate(&metric, r#"{"age": 2}"#),
        (0.0, "the output lacks the fields `name`, `näme`".to_owned())
    );
    let (value, feedback) = evaluate(&metric, "[1]");
    assert_eq!(value, 0.0);
    assert!(
        feedback.starts_with("the output is not a JSON object: "),
        "{feedback}"
    );
}

#[test]
fn the_score_is_a_bool_with_a_verdict() {
    assert_eq!(Format::SPEC.kind, dsrs_metrics::contract::ScoreKind::Bool);
    assert_eq!(scored(&Format::default(), "").passed, Some(false));
    assert_eq!(scored(&Format::default(), "x").passed, Some(true));
}

#[test]
fn one_field_or_the_whole_prediction() {
    let summary = Format::builder().field("summary").build();
    let pred = prediction! { "summary" => "x", "n" => 1 };
    assert_eq!(summary.score(&example! {}, &pred).unwrap().value, 1.0);
    let whole = Format::builder()
        .field("*")
        .required_fields(["summary", "n"])
        .build();
    assert_eq!(whole.score(&example! {}, &pred).unwrap().value, 1.0);
    let score = Format::default().score(&example! {}, &pred).unwrap();
    let words = Some("the prediction has no field `answer`");
    assert_eq!((score.value, score.details.as_deref()), (0.0, words));
    let number = prediction! { "answer" => 12.5 };
    assert_eq!(json().score(&example! {}, &number).unwrap().value, 1.0);
    let nothing = prediction! { "answer" => None::<u8> };
    assert_eq!(
        Format::default()
            .score(&example! {}, &nothing)
            .unwrap()
            .value,
        0.0
    );
}
