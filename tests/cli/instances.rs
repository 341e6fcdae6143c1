//! Settings of a metric on the command line: `--param NAME.threshold=X`, `NAME.strict=true`, `NAME.cost="5 sat"`.

use serde_json::{Value, json};

use crate::{Folder, piped};

/// F1 scores 2/3 and 1.
const ROWS: &str = concat!(
    r#"{"id": 1, "gold": {"answer": "Paris", "question": "q", "response": "Paris"}, "#,
    r#""pred": {"answer": "in Paris", "response": "in Paris"}}"#,
    "\n",
    r#"{"id": 2, "gold": {"answer": "Paris", "question": "q", "response": "Paris"}, "#,
    r#""pred": {"answer": "Paris", "response": "Paris"}}"#,
    "\n",
);

/// The summary of the metric.
#[track_caller]
fn summary(metric: &str, params: &[&str]) -> Value {
    let params = params.iter().flat_map(|param| ["--param", param]);
    let args = ["score", "-", "-m", metric, "--json", "--quiet", "--offline"];
    let args = args.into_iter().chain(params);
    let ran = piped(ROWS, &args.collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    report["metrics"][metric].clone()
}

#[track_caller]
fn error_of(metric: &str, param: &str) -> String {
    Folder::with("rows.jsonl", ROWS).score_error(&["rows.jsonl", "-m", metric, "--param", param])
}

#[test]
fn a_threshold_and_strictness_are_set_for_one_run() {
    let passed = |params: &[&str]| summary("f1", params)["passed"].clone();
    assert_eq!(passed(&[]), Value::Null, "F1 has no verdict by default");
    assert_eq!(passed(&["f1.threshold=0.8"]), json!(1));
    assert_eq!(passed(&["f1.threshold=0.6"]), json!(2));
    assert_eq!(passed(&["f1.threshold=0.8", "f1.profile=folded"]), json!(1));
    let mean = |params: &[&str]| summary("f1", params)["mean"].clone();
    assert_eq!(mean(&["f1.threshold=0.8"]), json!((2.0 / 3.0 + 1.0) / 2.0));
    assert_eq!(mean(&["f1.threshold=0.8", "f1.strict=true"]), json!(0.5));
    let judge = summary(
        "semantic_f1",
        &["semantic_f1.threshold=0.9", "semantic_f1.strict=true"],
    );
    assert_eq!(judge["mean"], json!(0.5));
}

#[test]
fn the_cost_of_a_metric_is_set_for_one_run() {
    assert_eq!(summary("f1", &["f1.cost=7 msat"])["cost_msats"], 14);
    assert_eq!(summary("f1", &["f1.cost=1 sat"])["cost_msats"], 2000);
}

#[test]
fn an_invalid_setting_is_rejected_before_the_first_row() {
    for (metric, param, message) in [
        (
            "f1",
            "f1.threshold=1.5",
            "metric `f1`: `threshold`: the threshold 1.5 is outside the range of the metric, 0.0..=1.0; write a threshold within it",
        ),
        (
            "f1",
            "f1.threshold=NaN",
            "metric `f1`: `threshold`: the threshold NaN is not finite; write a finite number",
        ),
        (
            "f1",
            "f1.threshold=high",
            "metric `f1`: parameter `threshold`: expected a number, as in 0.8, found `high`",
        ),
        (
            "f1",
            "f1.strict=true",
            "metric `f1`: `strict`: expected a threshold for `strict`, found none; set a threshold as well, such as 0.5",
        ),
        (
            "f1",
            "f1.strict=yes",
            "metric `f1`: parameter `strict`: expected `true` or `false`, found `yes`",
        ),
        (
            "f1",
            "f1.cost=7",
            "metric `f1`: parameter `cost`: expected an amount of money, as in \"5000 msat\" or \"0.005 usd\", found `7` (expected an amount with a unit, found `7`; write `7 msat`)",
        ),
        (
            "em",
            "em.threshold=0.5",
            "metric `em`: `threshold`: a metric that returns `bool` takes no threshold, found 0.5; remove the threshold",
        ),
        (
            "f1",
            "f1.treshold=0.5",
            "metric `f1` has no parameter `treshold`; it takes `profile`; did you mean `threshold`?",
        ),
        (
            "semantic_f1",
            "semantic_f1.threshold=0",
            "metric `semantic_f1`: `threshold`: the threshold 0.0 never fails: every score of the metric is in 0.0..=1.0; write a larger one",
        ),
    ] {
        assert_eq!(error_of(metric, param), message, "{param}");
    }
}
