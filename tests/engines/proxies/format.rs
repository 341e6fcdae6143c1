//! `format`: there, JSON, with its fields.

use dsrs_metrics::metrics::Format;
use dsrs_metrics::prelude::*;

use super::{judged, refused, said};

fn json() -> Format {
    Format::builder().require_valid_json(true).build()
}

#[test]
fn empty_or_not() {
    for (answer, value) in [("x", 1.0), ("", 0.0), (" \n\u{3000}", 0.0)] {
        assert_eq!(said(&Format::default(), answer).0, value, "{answer:?}");
    }
    let lenient = Format::builder().require_non_empty(false).build();
    assert_eq!(said(&lenient, ""), (1.0, String::new()));
    assert_eq!(said(&Format::default(), "").1, "the output is empty");
}

#[test]
fn json_by_the_letter() {
    for valid in ["{}", " [1, 2.5e-3, null] ", "\"text\"", "1", r#"{"a": {"b": [true]}}"#] {
        assert_eq!(said(&json(), valid), (1.0, String::new()), "{valid}");
    }
    for invalid in
        ["{", "{'a': 1}", "[1,]", "```json\n{}\n```", "NaN", "{} {}", "// x\n1", "01", "\"\\x\""]
    {
        assert_eq!(said(&json(), invalid).0, 0.0, "{invalid}");
    }
    assert_eq!(
        said(&json(), "[1, 2}").1,
        "the output is no valid JSON: expected `,` or `]` at line 1 column 6"
    );
}

#[test]
fn json_of_any_depth() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(said(&json(), &deep).0, 1.0);
    assert_eq!(said(&json(), &deep[..150_000]).0, 0.0);
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let field = Format::builder().required_fields(["a"]).build();
    assert_eq!(said(&field, &deep), (1.0, String::new()));
}

#[test]
fn fields_of_an_object() {
    let metric = Format::builder().required_fields(["name", "age", "näme"]).build();
    assert_eq!(said(&metric, r#"{"name": 1, "n\u00e4me": 2, "age": null}"#).0, 1.0);
    assert_eq!(said(&metric, r#"{"age": 2}"#), (0.0, "the output lacks `name`, `näme`".to_owned()));
    let (value, feedback) = said(&metric, "[1]");
    assert_eq!(value, 0.0);
    assert!(feedback.starts_with("the output is no JSON object: "), "{feedback}");
}

#[test]
fn it_counts_as_a_bool_with_a_verdict() {
    assert_eq!(Format::SPEC.kind, dsrs_metrics::ScoreKind::Bool);
    assert_eq!(judged(&Format::default(), "").passed, Some(false));
    assert_eq!(judged(&Format::default(), "x").passed, Some(true));
}

#[test]
fn any_field_or_all_of_them() {
    let summary = Format::builder().field("summary").build();
    let pred = prediction! { "summary" => "x", "n" => 1 };
    assert_eq!(summary.score(&example! {}, &pred).unwrap().value, 1.0);
    let whole = Format::builder().field("*").required_fields(["summary", "n"]).build();
    assert_eq!(whole.score(&example! {}, &pred).unwrap().value, 1.0);
    assert_eq!(
        refused(&Format::default(), &pred),
        "metric `format`: no field `pred.answer`; it has `summary`, `n`"
    );
    let number = prediction! { "answer" => 12.5 };
    assert_eq!(json().score(&example! {}, &number).unwrap().value, 1.0);
    let nothing = prediction! { "answer" => None::<u8> };
    assert_eq!(Format::default().score(&example! {}, &nothing).unwrap().value, 0.0);
}
