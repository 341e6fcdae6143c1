//! `was_repeated`: calls are compared as values.

use dsrs_metrics::contract::MetricCall;
use dsrs_metrics::metrics::{WasRepeated, same_value};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

fn score(history: &Value, pred: &Prediction) -> (f64, String) {
    let gold = example! { "execution_history" => history };
    let scored = WasRepeated
        .answer(MetricCall::new(&gold, pred))
        .ready()
        .unwrap()
        .unwrap();
    (
        scored.score.value,
        scored.feedback().unwrap_or_default().into_owned(),
    )
}

#[test]
fn neither_key_order_nor_number_notation_matters() {
    let history = json!([
        { "tool": "grep", "params": { "pattern": "x" } },
        { "tool": "read", "params": { "path": "a", "range": { "from": 1, "to": 2e1 } } },
        { "tool": "now" },
    ]);
    let again = json!({ "range": { "to": 20, "from": 1.0 }, "path": "a" });
    let pred = prediction! { "tool" => "read", "params" => again };
    let feedback = "the same call was made before, as call 2".to_owned();
    assert_eq!(score(&history, &pred), (0.0, feedback));
    let pred = prediction! { "tool" => "read", "params" => json!({ "path": "b" }) };
    assert_eq!(score(&history, &pred), (1.0, String::new()));
    let pred = prediction! { "tool" => "now" };
    assert_eq!(score(&history, &pred).0, 0.0);
    assert_eq!(score(&json!([]), &pred).0, 1.0);
    assert_eq!(score(&json!(["odd", 5, null]), &pred).0, 1.0);
}

#[test]
fn values_are_compared_exactly() {
    let value = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    for (left, right, same) in [
        ("1", "1.0", true),
        ("0", "-0.0", true),
        ("100", "1e2", true),
        ("0.1", "1e-1", true),
        ("9007199254740993", "9007199254740992.0", false),
        ("18446744073709551615", "-1", false),
        ("1e300", "1E+300", true),
        ("1e300", "1e299", false),
        ("\"1\"", "1", false),
        ("[1,2]", "[2,1]", false),
        ("{\"a\":null}", "{}", false),
        (
            "{\"a\":1,\"b\":{\"c\":2,\"d\":3}}",
            "{\"b\":{\"d\":3.0,\"c\":2},\"a\":1}",
            true,
        ),
        ("true", "1", false),
    ] {
        assert_eq!(
            same_value(&value(left), &value(right)),
            same,
            "{left} and {right}"
        );
        assert_eq!(
            same_value(&value(right), &value(left)),
            same,
            "{right} and {left}"
        );
    }
}

#[test]
fn a_row_without_history_has_no_repeated_call() {
    let score = |gold| WasRepeated.score(&gold, &prediction! { "tool" => "now" });
    assert_eq!(score(example! { "history" => 1 }).unwrap().value, 1.0);
    assert_eq!(
        score(example! { "execution_history" => () }).unwrap().value,
        1.0
    );
    let error = score(example! { "execution_history" => 1 })
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("field `gold.execution_history`: expected"),
        "{error}"
    );
}
