//! Parameter and return types of `#[metric]` functions, on dynamic rows.
#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "the cases show what may be written"
)]

use std::collections::BTreeMap;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    MetricError, Result,
    contract::{MetricErrorKind, Side},
    rows::FieldError,
};
use serde_json::{Value, json};

/// Case-insensitive intent match.
#[metric]
fn intent_accuracy(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
    expected_intent.trim().eq_ignore_ascii_case(intent.trim())
}

#[test]
fn the_function_stays_and_the_metric_stands_beside_it() {
    assert!(intent_accuracy("Temporal", "temporal "));
    let gold = example! { "expected_intent" => "Temporal" };
    let score = IntentAccuracy
        .score(&gold, &prediction! { "intent" => "temporal " })
        .unwrap();
    assert_eq!(score, MetricScore::new(1.0));
    assert_eq!(IntentAccuracy.name(), "intent_accuracy");
    assert!(
        IntentAccuracy::SPEC
            .doc
            .starts_with("Case-insensitive intent match.")
    );
}

#[test]
fn a_missing_field_names_metric_side_field_and_what_is_there() {
    let gold = example! { "intent" => "x", "answer" => "y" };
    let error = IntentAccuracy
        .score(&gold, &prediction! { "intent" => "x" })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `intent_accuracy`: no field `gold.expected_intent`; found `intent`, `answer`"
    );
    assert!(!IntentAccuracy.can_evaluate(&gold, &prediction! { "intent" => "x" }));
}

#[test]
fn a_wrong_type_names_what_was_expected_and_found() {
    let gold = example! { "expected_intent" => "x" };
    let error = IntentAccuracy
        .score(&gold, &prediction! { "intent" => 5 })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `intent_accuracy`: field `pred.intent`: expected a string, found the number 5"
    );
    assert!(!IntentAccuracy.can_evaluate(&gold, &prediction! { "intent" => 5 }));
    assert!(IntentAccuracy.can_evaluate(&gold, &prediction! { "intent" => "y" }));
}

#[metric]
fn all_forms(
    #[gold] text: &str,
    #[gold] owned: String,
    #[gold] list: &[String],
    #[gold] borrowed_list: &[&str],
    #[gold] numbers: Vec<f64>,
    #[gold] raw: &Value,
    #[gold] map: &BTreeMap<String, u8>,
    #[gold("not an identifier")] renamed: i64,
    #[pred] flag: bool,
    #[pred] absent: Option<&str>,
    #[pred] absent_list: Option<&[String]>,
    #[pred] present: Option<u8>,
    #[pred(default)] nothing: Vec<String>,
    #[pred(default = 7)] seven: u8,
    #[pred(default = "none")] text_default: &str,
    #[pred("other", default = "owned")] owned_default: String,
    #[pred(default = &[])] list_default: &[String],
    #[pred] r#type: &str,
) -> Scores {
    assert_eq!(
        (text, owned.as_str(), list),
        ("t", "o", &["a".to_owned(), "b".to_owned()][..])
    );
    assert_eq!(
        (borrowed_list, numbers.as_slice()),
        (&["x"][..], &[1.0, 2.5][..])
    );
    assert_eq!(
        (raw, map.get("k"), renamed),
        (&json!({"deep": [1]}), Some(&3), -4)
    );
    assert_eq!(
        (flag, absent, absent_list, present),
        (true, None, None, Some(9))
    );
    assert_eq!((nothing.len(), seven, text_default), (0, 7, "none"));
    assert_eq!(
        (owned_default.as_str(), list_default, r#type),
        ("owned", &[][..], "k")
    );
    Scores::new("all", 1.0).with("half", 0.5)
}

fn all_forms_rows() -> (Example, Prediction) {
    let gold = example! {
        "text" => "t", "owned" => "o", "list" => ["a", "b"], "borrowed_list" => ["x"],
        "numbers" => [1.0, 2.5], "raw" => json!({"deep": [1]}), "map" => json!({"k": 3}),
        "not an identifier" => -4,
    };
    (
        gold,
        prediction! { "flag" => true, "present" => 9, "type" => "k", "absent" => Value::Null },
    )
}

#[test]
fn every_parameter_form_is_bound() {
    let (gold, pred) = all_forms_rows();
    assert_eq!(AllForms.score(&gold, &pred).unwrap().value, 1.0);
    let optional = [
        "absent",
        "absent_list",
        "present",
        "nothing",
        "seven",
        "text_default",
    ];
    let not_required = AllForms::SPEC
        .pred
        .iter()
        .filter(|field| !field.required)
        .map(|field| field.name);
    let not_required: Vec<_> = not_required.collect();
    assert_eq!(not_required[..6], optional);
    assert_eq!(not_required[6..], ["other", "list_default"]);
    let types: Vec<_> = AllForms::SPEC.gold.iter().map(|field| field.ty).collect();
    assert_eq!(types[2..5], ["&[String]", "&[&str]", "Vec<f64>"]);
}

#[test]
fn a_list_that_holds_the_wrong_thing_says_where() {
    let (mut gold, pred) = all_forms_rows();
    gold.data.insert("list", json!(["a", 2]));
    let error = AllForms.score(&gold, &pred).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `all_forms`: field `gold.list`: expected a list of strings, found a list (invalid type: integer `2`, expected a string)"
    );
}

#[metric]
fn whole_rows(example: &Example, pred: &Prediction) -> Option<bool> {
    let expected = example.get("answer")?;
    Some(pred.get("answer") == Some(expected))
}

#[test]
fn whole_dynamic_rows_and_abstention() {
    let row = prediction! { "answer" => 1 };
    assert_eq!(
        WholeRows
            .score(&example! { "answer" => 1 }, &row)
            .unwrap()
            .value,
        1.0
    );
    let error = WholeRows.score(&example! {}, &row).unwrap_err();
    assert_eq!(error, MetricError::abstained("whole_rows"));
    assert_eq!(Outcome::from(error), Outcome::Abstained);
}

#[metric]
fn fallible(#[pred] number: &str) -> std::result::Result<f64, std::num::ParseFloatError> {
    number.parse()
}

#[test]
fn the_functions_own_error_fails_the_row() {
    let score = |text: &str| Fallible.score(&example! {}, &prediction! { "number" => text });
    assert_eq!(score("2.5").unwrap().value, 2.5);
    assert_eq!(
        score("x").unwrap_err().to_string(),
        "metric `fallible`: invalid float literal"
    );
    assert_eq!(
        score("NaN").unwrap_err().to_string(),
        "metric `fallible`: the score NaN is not a finite number"
    );
    assert_eq!(
        score("inf").unwrap_err().to_string(),
        "metric `fallible`: the score inf is not a finite number"
    );
}

#[metric(range = 0..=5)]
fn rating(#[pred] stars: i64) -> i64 {
    stars
}

#[test]
fn a_score_outside_its_range_is_a_failure_not_clamped() {
    let error = Rating
        .score(&example! {}, &prediction! { "stars" => 6 })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `rating`: the score 6.0 is outside the declared range 0.0..=5.0"
    );
    assert_eq!(
        Rating
            .score(&example! {}, &prediction! { "stars" => 5 })
            .unwrap()
            .value,
        5.0
    );
}

#[metric(cost = "0.01 usd")]
fn with_a_cost_in_dollars(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[test]
fn a_cost_in_dollars_is_converted_when_it_is_compiled() {
    const COST: u64 = WithACostInDollars::SPEC.cost_msats;
    assert_eq!(COST, 10_000);
}

#[metric(name = "explained", tier = truth, cost = "0.1 sat", version = 3)]
fn with_feedback(#[gold] answer: &str, #[pred("answer")] given: &str) -> FeedbackMetric {
    let feedback = format!("expected {answer}, got {given}");
    FeedbackMetric::new(f64::from(u8::from(answer == given)), feedback).with_metadata("len", 3)
}

#[tokio::test]
async fn feedback_reaches_the_feedback_evaluator() -> Result<()> {
    let (gold, pred) = (
        example! { "answer" => "a" },
        prediction! { "answer" => "b" },
    );
    let feedback = WithFeedback.feedback_metric(&gold, &pred).await?;
    assert_eq!(
        (feedback.score, feedback.feedback.as_str()),
        (0.0, "expected a, got b")
    );
    assert_eq!(feedback.metadata["len"], 3);
    let spec = WithFeedback::SPEC;
    assert_eq!(
        (spec.name, spec.tier, spec.cost_msats),
        ("explained", MetricTier::Truth, 100)
    );
    assert_eq!(spec.version, "3");
    assert_eq!(WithFeedback.score(&gold, &pred)?.cost_msats, 100);
    Ok(())
}

#[tokio::test]
async fn several_named_scores_are_several_objectives() -> Result<()> {
    let (gold, pred) = all_forms_rows();
    let objectives = AllForms.multi_objective_metric(&gold, &pred).await?;
    let scores: Vec<_> = objectives.iter().map(|objective| objective.score).collect();
    assert_eq!(scores, [1.0, 0.5]);
    assert_eq!(objectives[1].metadata["name"], "half");
    Ok(())
}

#[metric]
async fn slow_match(
    #[gold] answer: &str,
    #[pred] given: Option<&[String]>,
) -> Result<bool, String> {
    tokio::task::yield_now().await;
    let given = given.ok_or("nothing was given")?;
    tokio::task::yield_now().await;
    Ok(given.iter().any(|given| given == answer))
}

#[tokio::test]
async fn async_metrics_are_awaited() -> Result<()> {
    let gold = example! { "answer" => "b" };
    let score = SlowMatch
        .evaluate(&gold, &prediction! { "given" => ["a", "b"] })
        .await?;
    assert_eq!(score.value, 1.0);
    let error = SlowMatch
        .evaluate(&gold, &prediction! {})
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "metric `slow_match`: nothing was given");
    let pred = prediction! { "given" => ["b"] };
    let call = MetricCall::new(&gold, &pred);
    assert!(SlowMatch.answer(call).ready().is_none() && SlowMatch::SPEC.is_async);
    Ok(())
}

#[metric]
fn seen_by_optimizer(
    trace: Option<&Trace>,
    pred_name: Option<&str>,
    pred_trace: Option<&Trace>,
) -> f64 {
    let steps = |trace: Option<&Trace>| trace.map_or(0, |trace| trace.steps.len());
    let named = usize::from(pred_name == Some("rewrite"));
    (100 * steps(trace) + 10 * named + steps(pred_trace)) as f64
}

#[tokio::test]
async fn the_five_argument_call_reaches_the_function() -> Result<()> {
    let step = dsrs_metrics::rows::TraceStep {
        predictor: "rewrite".to_owned(),
        inputs: example! {},
        outputs: prediction! {},
    };
    let whole = Trace {
        steps: vec![step.clone(), step.clone()],
    };
    let part = Trace { steps: vec![step] };
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred);
    assert_eq!(
        SeenByOptimizer.grade(call).await?,
        Grade::Score(MetricScore::new(0.0))
    );
    let call = call.with_trace(&whole).with_predictor("rewrite", &part);
    assert_eq!(
        SeenByOptimizer.grade(call).await?,
        Grade::Score(MetricScore::new(211.0))
    );
    Ok(())
}

#[metric]
fn same<T: serde::de::DeserializeOwned + PartialEq + Send + Sync>(
    #[gold] value: T,
    #[pred("value")] other: T,
) -> bool {
    value == other
}

#[metric]
fn longest<'a, const LIMIT: usize>(
    #[gold] a: &'a str,
    #[gold] b: &'a str,
) -> Result<bool, &'a str> {
    let longest = if a.len() > b.len() { a } else { b };
    if longest.is_empty() {
        Err(longest)
    } else {
        Ok(longest.len() <= LIMIT)
    }
}

#[test]
fn generics_and_lifetimes() {
    let (gold, pred) = (
        example! { "value" => [1, 2] },
        prediction! { "value" => [1, 2] },
    );
    assert_eq!(
        Same::<Vec<u8>>::default()
            .score(&gold, &pred)
            .unwrap()
            .value,
        1.0
    );
    let error = Same::<String>::default().score(&gold, &pred).unwrap_err();
    assert!(matches!(
        error.kind(),
        MetricErrorKind::Field {
            side: Side::Gold,
            error: FieldError::WrongType { .. }
        }
    ));
    let gold = example! { "a" => "abc", "b" => "ab" };
    assert_eq!(
        Longest::<2>::default().score(&gold, &pred).unwrap().value,
        0.0
    );
    assert_eq!(
        Longest::<3>::default().score(&gold, &pred).unwrap().value,
        1.0
    );
}

#[metric(struct = Renamed)]
fn original(#[pred("pair")] (left, right): (f64, f64)) -> f64 {
    left - right
}

#[test]
fn the_struct_can_be_renamed_and_patterns_need_a_field_name() {
    assert_eq!(original((3.0, 1.0)), 2.0);
    let pred = prediction! { "pair" => [3.0, 0.5] };
    assert_eq!(Renamed.score(&example! {}, &pred).unwrap().value, 2.5);
    assert_eq!(Renamed.name(), "original");
}

#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
enum Bound {
    Most,
    Least,
}

#[metric]
fn bounded(
    #[pred] answer: &str,
    #[param(default = -1 as i64)] offset: i64,
    #[param(default = Bound::Most)] bound: Bound,
    #[param] limit: Option<i64>,
) -> bool {
    let len = answer.len() as i64 + offset;
    match bound {
        Bound::Most => len <= limit.unwrap_or(3),
        Bound::Least => len >= limit.unwrap_or(3),
    }
}

#[metric]
fn listed(#[pred] answer: &str, #[param(default = "a b")] words: &str) -> bool {
    words.split(' ').any(|word| word == answer)
}

#[tokio::test]
async fn a_metric_with_defaults_is_a_value_by_its_name() {
    const BOUNDED: Bounded = Bounded;
    let (gold, pred) = (
        example! { "answer" => "abcd" },
        prediction! { "answer" => "abcd" },
    );
    assert_eq!(Bounded.score(&gold, &pred).unwrap().value, 1.0);
    assert_eq!(BOUNDED.bound, Bound::Most);
    // A default that is not constant is called.
    assert_eq!(Listed().score(&gold, &pred).unwrap().value, 0.0);
    let result = dsrs_metrics::Evaluate::builder()
        .devset([gold.with_inputs(["answer"])])
        .metric(Bounded)
        .metric(dsrs_metrics::metrics::Em)
        .run(|row: Example| async move {
            prediction! { "answer" => row.get("answer") }
        })
        .await
        .unwrap();
    let headlines: Vec<_> = result.metrics.iter().map(|metric| metric.score).collect();
    assert_eq!(headlines, [Some(1.0), Some(1.0)]);
}
