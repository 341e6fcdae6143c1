//! Metrics from closures of two and of five arguments, and what optimizers receive from any metric.

use dsrs_metrics::Result;
use dsrs_metrics::metrics::{Breakdown, Check};
use dsrs_metrics::prelude::*;
use serde_json::json;

fn trace_of(predictors: &[&str]) -> Trace {
    let step =
        |name: &&str| json!({"predictor": name, "inputs": example! {}, "outputs": prediction! {}});
    serde_json::from_value(predictors.iter().map(step).collect()).unwrap()
}

#[tokio::test]
async fn a_closure_of_five_arguments_receives_the_call_of_an_optimizer() -> Result<()> {
    let metric = traced_metric_fn("steps", |gold, pred, trace, pred_name, pred_trace| {
        let steps = |trace: Option<&Trace>| trace.map(|trace| trace.steps.len());
        let seen = format!("{:?} {pred_name:?} {:?}", steps(trace), steps(pred_trace));
        FeedbackMetric::new(f64::from(u8::from(gold.get("a") == pred.get("a"))), seen)
    });
    let (gold, pred) = (example! { "a" => 1 }, prediction! { "a" => 1 });
    let (whole, part) = (
        trace_of(&["plan", "search", "answer"]),
        trace_of(&["search"]),
    );
    let call = MetricCall::new(&gold, &pred);
    let seen = metric
        .feedback_of(call.with_trace(&whole).with_predictor("search", &part))
        .await?;
    assert_eq!(
        (seen.score, &*seen.feedback),
        (1.0, "Some(3) Some(\"search\") Some(1)")
    );
    assert_eq!(
        metric.feedback_metric(&gold, &pred).await?.feedback,
        "None None None"
    );
    assert_eq!(
        metric
            .evaluate(&gold, &prediction! { "a" => 2 })
            .await?
            .value,
        0.0
    );
    let scored = metric
        .answer(call)
        .ready()
        .expect("a closure without a future is ready")?;
    assert_eq!(scored.score.value, 1.0);
    Ok(())
}

#[tokio::test]
async fn closures_of_both_kinds_may_return_a_future() -> Result<()> {
    let two = metric_fn("two", |gold, pred| {
        let is_same = gold.get("a") == pred.get("a");
        async move {
            tokio::task::yield_now().await;
            is_same
        }
    });
    let five = traced_metric_fn("five", |_, _, trace, _, _| {
        let steps = trace.map(|trace| trace.steps.len());
        async move {
            steps
                .map(|steps| if steps > 2 { 0.25 } else { 1.0 })
                .ok_or("no trace")
        }
    });
    let five = five.with_threshold(0.5).with_range(0.0, 1.0);
    let (gold, pred) = (example! { "a" => 1 }, prediction! { "a" => 1 });
    let call = MetricCall::new(&gold, &pred);
    assert!(Metric::<Example, Prediction>::spec(&two).is_async);
    assert!(two.answer(call).ready().is_none());
    assert_eq!(two.answer(call).await?.passed, Some(true));
    let trace = trace_of(&["a", "b", "c", "d"]);
    assert_eq!(
        five.grade(call.with_trace(&trace)).await?,
        Grade::Verdict(false)
    );
    let error = five.evaluate(&gold, &pred).await.unwrap_err();
    assert_eq!(error.to_string(), "metric `five`: no trace");
    let all: Vec<Box<dyn Metric>> = vec![Box::new(two), Box::new(five)];
    assert_eq!(all[0].evaluate(&gold, &pred).await?.value, 1.0);
    Ok(())
}

#[tokio::test]
async fn each_named_score_is_an_objective_with_its_own_feedback_verdict_and_range() -> Result<()> {
    let metric = metric_fn("overlap", |_, _| {
        Scores::new("f1", 0.5)
            .with("recall", 0.25)
            .with_feedback("missing: Oslo")
    });
    let metric = metric.with_range(0.0, 1.0).with_threshold(0.5);
    let objectives = metric
        .multi_objective_metric(&example! {}, &prediction! {})
        .await?;
    let shown: Vec<_> = objectives
        .iter()
        .map(|it| (it.score, &*it.feedback, json!(it.metadata)))
        .collect();
    let metadata =
        |name: &str, passed: bool| json!({"name": name, "passed": passed, "range": [0.0, 1.0]});
    assert_eq!(
        shown,
        [
            (0.5, "f1 is 0.5.", metadata("f1", true)),
            (0.25, "missing: Oslo", metadata("recall", false)),
        ]
    );
    Ok(())
}

#[metric]
fn cites(#[pred] answer: &str) -> Check {
    match answer.contains('[') {
        true => Check::pass().with_feedback("one source"),
        false => Check::fail("cite a source"),
    }
}

#[metric(range = 0.0..=1.0, threshold = 0.5)]
fn style(#[pred] answer: &str) -> Breakdown {
    let long = (answer.len() > 5).then(|| "too long".to_owned());
    Breakdown::default()
        .with_check("short", 1.0, long)
        .with_part("tone", 3.0, 0.5, None)
}

#[metric(all(cites, style))]
struct Good;

#[tokio::test]
async fn each_component_is_an_objective_with_its_own_feedback_verdict_and_details() -> Result<()> {
    let (gold, pred) = (example! {}, prediction! { "answer" => "Paris, France" });
    let objectives = Good.multi_objective_metric(&gold, &pred).await?;
    assert_eq!(objectives.len(), 2);
    assert_eq!(
        (objectives[0].score, &*objectives[0].feedback),
        (0.0, "cite a source")
    );
    assert_eq!(
        json!(objectives[0].metadata),
        json!({"name": "cites", "passed": false})
    );
    assert_eq!(
        (objectives[1].score, &*objectives[1].feedback),
        (0.375, "too long")
    );
    let details = "short 0, weight 1: too long; tone 0.5, weight 3";
    assert_eq!(
        json!(objectives[1].metadata),
        json!({"name": "style", "passed": false, "details": details})
    );
    let parts = Style.multi_objective_metric(&gold, &pred).await?;
    assert_eq!((parts[0].score, &*parts[0].feedback), (0.0, "too long"));
    assert_eq!((parts[1].score, &*parts[1].feedback), (0.5, "tone is 0.5."));
    Ok(())
}

#[test]
fn a_bool_may_have_feedback_when_it_passes() {
    let (gold, pred) = (example! {}, prediction! { "answer" => "Paris [1]" });
    let scored = Cites
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap();
    assert_eq!(
        (scored.passed, scored.feedback().as_deref()),
        (Some(true), Some("one source"))
    );
}

#[test]
fn a_breakdown_without_weights_fails_the_row() {
    let empty = metric_fn("empty", |_, _| Breakdown::default());
    let error = empty
        .score(&example! {}, &prediction! {})
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "metric `empty`: the score NaN is not a finite number"
    );
}
