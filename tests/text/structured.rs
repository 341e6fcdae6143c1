//! JSON field accuracy: correct fields at any depth, in lists, within tolerances.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are compared, and used once"
)]

use dsrs_metrics::metrics::JsonFieldAccuracy;
use dsrs_metrics::prelude::*;
use dsrs_metrics::structured::{FieldCounts, FieldOptions, ListOrder};
use dsrs_metrics::{
    Evaluate,
    contract::{Configure, Params},
    rows::Pair,
};
use serde_json::{Value, json};

fn counts(options: FieldOptions, gold: Value, pred: Value) -> [u64; 4] {
    let FieldCounts {
        correct,
        expected,
        predicted,
        extra,
    } = options.compare(&pred, &gold).counts;
    [correct, expected, predicted, extra]
}

fn plain(gold: Value, pred: Value) -> [u64; 4] {
    counts(FieldOptions::default(), gold, pred)
}

fn score(metric: &JsonFieldAccuracy, gold: Value, pred: Value) -> f64 {
    let (gold, pred) = (
        example! { "answer" => gold },
        prediction! { "answer" => pred },
    );
    metric.score(&gold, &pred).unwrap().value
}

#[test]
fn right_wrong_missing_and_extra_fields() {
    let gold = || json!({"a": 1, "b": "x", "c": {"d": true, "e": [1, 2]}});
    assert_eq!(plain(gold(), gold()), [5, 5, 5, 0]);
    assert_eq!(plain(gold(), json!({"a": 2, "b": "x"})), [1, 5, 2, 0]);
    assert_eq!(
        plain(gold(), json!({"a": 1, "z": {"y": 1, "x": [2, 3]}})),
        [1, 5, 4, 3]
    );
    assert_eq!(
        plain(gold(), json!({"c": {"d": true, "e": [1, 2, 3], "f": 0}})),
        [3, 5, 5, 2]
    );
    assert_eq!(plain(gold(), json!(null)), [0, 5, 0, 0]);
}

#[test]
fn null_is_missing_and_empty_is_not() {
    assert_eq!(
        plain(json!({"a": null, "b": 1}), json!({"b": 1})),
        [1, 1, 1, 0]
    );
    assert_eq!(
        plain(json!({"b": 1}), json!({"a": null, "b": 1})),
        [1, 1, 1, 0]
    );
    assert_eq!(plain(json!({"a": []}), json!({"a": []})), [1, 1, 1, 0]);
    assert_eq!(plain(json!({"a": []}), json!({})), [0, 1, 0, 0]);
    assert_eq!(plain(json!({"a": []}), json!({"a": [1, 2]})), [0, 1, 2, 1]);
    assert_eq!(
        plain(json!({"a": {}, "b": 1}), json!({"b": 1})),
        [1, 1, 1, 0]
    );
    assert_eq!(plain(json!({"a": {}}), json!({"a": 5})), [0, 0, 1, 1]);
    assert_eq!(
        plain(json!({}), json!({"a": {"b": [1, {}, null]}})),
        [0, 0, 1, 1]
    );
    assert_eq!(plain(json!({}), json!({})), [0, 0, 0, 0]);
}

#[test]
fn a_different_shape_has_no_correct_field() {
    assert_eq!(
        plain(json!({"a": {"b": 1, "c": 2}}), json!({"a": "b"})),
        [0, 2, 1, 0]
    );
    assert_eq!(
        plain(json!({"a": "b"}), json!({"a": {"b": 1, "c": 2}})),
        [0, 1, 2, 1]
    );
    assert_eq!(
        plain(json!({"a": {"b": 1}}), json!({"a": [1, 2]})),
        [0, 1, 2, 2]
    );
}

#[test]
fn numbers_are_compared_by_value_within_tolerance() {
    assert_eq!(
        plain(json!([1, 1.0, 0.1]), json!([1.0, 1, 0.1])),
        [3, 3, 3, 0]
    );
    assert_eq!(plain(json!([1]), json!(["1"])), [0, 1, 1, 0]);
    assert_eq!(
        plain(
            json!([9_007_199_254_740_993_u64]),
            json!([9_007_199_254_740_992_u64])
        ),
        [0, 1, 1, 0]
    );
    let within = |abs_tolerance, rel_tolerance| FieldOptions {
        abs_tolerance,
        rel_tolerance,
        ..FieldOptions::default()
    };
    let (gold, pred) = (|| json!([100.0, -100, 0]), || json!([101, -99.0, 0.5]));
    assert_eq!(counts(within(0.0, 0.01), gold(), pred()), [2, 3, 3, 0]);
    assert_eq!(counts(within(0.5, 0.0), gold(), pred()), [1, 3, 3, 0]);
    assert_eq!(counts(within(1.0, 0.0), gold(), pred()), [3, 3, 3, 0]);
}

#[test]
fn strings_are_compared_in_one_normal_form() {
    assert_eq!(plain(json!(["é"]), json!(["e\u{301}"])), [1, 1, 1, 0]);
    assert_eq!(plain(json!(["É "]), json!(["é"])), [0, 1, 1, 0]);
    let ignoring = FieldOptions {
        ignore_case: true,
        ..FieldOptions::default()
    };
    assert_eq!(counts(ignoring, json!(["É "]), json!(["é"])), [1, 1, 1, 0]);
}

#[test]
fn list_order_counts_unless_configured_otherwise() {
    let (gold, pred) = (|| json!(["a", "b", "b"]), || json!(["b", "a", "a"]));
    assert_eq!(plain(gold(), pred()), [0, 3, 3, 0]);
    let unordered = FieldOptions {
        lists: ListOrder::Unordered,
        ..FieldOptions::default()
    };
    // One a and one b match; the second a does not match the second b.
    assert_eq!(counts(unordered, gold(), pred()), [2, 3, 3, 0]);
    let gold = json!([{"name": "x", "price": 1}, {"name": "y", "price": 2}]);
    let pred =
        json!([{"name": "y", "price": 2}, {"name": "z", "price": 9}, {"name": "x", "price": 3}]);
    assert_eq!(counts(unordered, gold, pred), [3, 4, 6, 2]);
}

#[test]
fn each_field_has_its_own_score() {
    let gold = example! { "answer" => json!({"city": "Paris", "a/b": 1, "items": [{"price": 1}, {"price": 2}]}) };
    let pred = prediction! { "answer" => json!({"city": "Lyon", "a/b": 1, "items": [{"price": 1}, {"price": 3}]}) };
    let metric = JsonFieldAccuracy::default();
    let scored = metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap();
    let mut parts: Vec<_> = scored
        .parts()
        .iter()
        .map(|part| (&*part.name, part.value))
        .collect();
    // The order of an object's keys depends on the features of serde_json.
    parts[3..].sort_by_key(|(name, _)| *name);
    assert_eq!(
        parts,
        [
            ("accuracy", 0.5),
            ("precision", 0.5),
            ("recall", 0.5),
            ("/a~1b", 1.0),
            ("/city", 0.0),
            ("/items/*/price", 0.5),
        ]
    );
}

#[test]
fn only_the_configured_fields_are_compared() {
    let fields = |fields: &[&str]| {
        let fields: Vec<_> = fields.iter().map(|field| (*field).to_owned()).collect();
        JsonFieldAccuracy::builder().fields(fields).build()
    };
    let (gold, pred) = (
        || json!({"a": 1, "b": {"c": 2, "d": 3}}),
        || json!({"a": 9, "b": {"c": 2, "d": 4}, "z": 1}),
    );
    assert_eq!(score(&fields(&["/b/c"]), gold(), pred()), 1.0);
    assert_eq!(score(&fields(&["/b"]), gold(), pred()), 0.5);
    assert_eq!(score(&fields(&["/a", "/b/c"]), gold(), pred()), 0.5);
    assert_eq!(score(&fields(&[]), gold(), pred()), 0.25);
    assert_eq!(
        score(&fields(&["/z"]), gold(), pred()),
        0.0,
        "the gold value does not have it"
    );
}

#[test]
fn strings_are_parsed_and_invalid_json_has_no_correct_field() {
    let metric = JsonFieldAccuracy::default();
    assert_eq!(
        score(&metric, json!(r#"{"a": 1}"#), json!(r#" {"a": 1.0} "#)),
        1.0
    );
    assert_eq!(score(&metric, json!({"a": 1}), json!("{\"a\": 1")), 0.0);
    assert_eq!(score(&metric, json!({"a": 1}), json!("")), 0.0);
    assert_eq!(score(&metric, json!("null"), json!("no JSON")), 0.0);
    assert_eq!(
        score(&metric, json!("null"), json!("null")),
        1.0,
        "nothing to find, and nothing found"
    );
    let deep = "[".repeat(100_000);
    assert_eq!(score(&metric, json!({"a": 1}), json!(deep)), 0.0);
    let gold = example! { "answer" => "Paris" };
    let error = metric
        .score(&gold, &prediction! { "answer" => json!({}) })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `json_field_accuracy`: `gold.answer` is not valid JSON: expected value at line 1 column 1"
    );
}

#[tokio::test]
async fn the_corpus_score_weighs_fields_and_the_mean_weighs_rows() {
    let row = |id: &str, gold: Value, pred: Value| {
        Pair::new(
            id,
            example! { "answer" => gold },
            prediction! { "answer" => pred },
        )
    };
    let rows = [
        row("1", json!({"a": 1}), json!({"a": 1})),
        row(
            "2",
            json!({"a": 1, "b": 2, "c": 3}),
            json!({"a": 0, "b": 0, "c": 0}),
        ),
    ];
    let evaluate = Evaluate::builder()
        .metric(JsonFieldAccuracy::default())
        .build()
        .unwrap();
    let result = evaluate.score(rows).await.unwrap();
    let line = |name: &str| result.metric(name).unwrap().to_string();
    assert_eq!(
        line("json_field_accuracy"),
        "0.5000 [0.0015, 0.9985; few rows] (mean of 2/2, 0 failed); corpus 0.2500"
    );
    assert_eq!(
        line("json_field_accuracy./a"),
        "0.5000 [0.0015, 0.9985; few rows] (mean of 2/2, 0 failed)"
    );
    assert_eq!(
        line("json_field_accuracy./b"),
        "0.0000 [not enough rows] (mean of 1/2, 0 failed, 1 abstained)"
    );
}

#[test]
fn it_is_configured_from_text() {
    let mut params = Params::default();
    params.insert("fields", r#"["/a"]"#);
    params.insert("lists", "unordered");
    params.insert("rel_tolerance", "0.5");
    let metric = JsonFieldAccuracy::configure(&params).unwrap();
    assert_eq!(
        score(
            &metric,
            json!({"a": [4, 100]}),
            json!({"a": [100, 5], "b": 1})
        ),
        1.0
    );
}
