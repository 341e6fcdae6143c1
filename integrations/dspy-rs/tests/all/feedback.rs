//! `FeedbackEvaluator` of dspy-rs with metrics of dsrs-metrics.

use std::sync::atomic::{AtomicUsize, Ordering};

use dspy_rs::{ExecutionTrace, FeedbackEvaluator as _, Module};
use dsrs_metrics::metrics::{Em, F1};
use dsrs_metrics::prelude::{Metric, Scores, WithSettings, metric, metric_fn, traced_metric_fn};
use dsrs_metrics::{Example, Prediction, optimizers::FeedbackMetric};
use dsrs_metrics_dspy_rs::WithMetric;
use serde_json::{Value, json};

use crate::programs::{Echo, prediction, qa, row};

#[tokio::test]
async fn feedback_is_that_of_the_metric() {
    let module = Echo.with_metric(F1::default().with_threshold(0.9));
    let feedback = module
        .feedback_metric(
            &qa("?", "Paris"),
            &prediction([("answer", "Paris, France".into())]),
        )
        .await;
    let gold = Example::from_iter([("answer", "Paris")]);
    let pred = Prediction::from_iter([("answer", "Paris, France")]);
    let f1 = F1::default();
    let call = dsrs_metrics::contract::MetricCall::new(&gold, &pred);
    let ours = dsrs_metrics::optimizers::FeedbackEvaluator::feedback_of(&f1, call)
        .await
        .unwrap();
    assert_eq!(feedback.feedback, ours.feedback);
    assert_eq!(
        feedback.feedback,
        "1 word expected, 2 predicted, 1 in common; extra: \"france\""
    );
    assert_eq!(feedback.score, 2.0_f32 / 3.0);
    assert_eq!(feedback.metadata["value"], json!(ours.score));
    assert_eq!(feedback.metadata["passed"], json!(false));
    assert_eq!(module.report().calls.scored, 1);
}

#[tokio::test]
async fn the_feedback_of_a_failure_states_the_error() {
    let module = Echo
        .with_metric(Em::default())
        .with_failure_score(-1.0)
        .continue_after_program_errors();
    let feedback = module
        .feedback_metric(&row([]), &prediction([("answer", "x".into())]))
        .await;
    assert_eq!(feedback.score, -1.0);
    assert_eq!(
        feedback.feedback,
        "not scored (metric failed): metric `em`: no field `gold.answer`; found no fields"
    );
    assert_eq!(feedback.metadata["outcome"], "metric_failed");
    let pred = module.forward(qa("fail", "x")).await.unwrap();
    let feedback = module.feedback_metric(&qa("fail", "x"), &pred).await;
    assert_eq!(
        feedback.feedback,
        "not scored (program failed): no reply: status 503"
    );
    let objectives = module.multi_objective_metric(&qa("fail", "x"), &pred).await;
    assert_eq!((objectives.len(), objectives[0].score), (1, -1.0));
    let report = module.report();
    assert_eq!((report.calls.failed, report.calls.program_failed), (1, 2));
}

#[tokio::test]
async fn abstentions_and_panics_have_feedback() {
    #[metric]
    fn picky(#[pred] answer: &str) -> Option<f64> {
        assert!(answer != "bad", "found bad");
        None
    }
    let module = Echo.with_metric(Picky);
    let of = |answer: &'static str| prediction([("answer", answer.into())]);
    let feedback = module.feedback_metric(&row([]), &of("skip")).await;
    assert_eq!(
        (feedback.score, &*feedback.feedback),
        (0.0, "not scored (abstained)")
    );
    let feedback = module.feedback_metric(&row([]), &of("bad")).await;
    assert_eq!(
        feedback.feedback,
        "not scored (metric failed): metric `picky` panicked: found bad"
    );
    let objectives = module.multi_objective_metric(&row([]), &of("bad")).await;
    assert_eq!(objectives[0].feedback, feedback.feedback);
}

#[tokio::test]
async fn named_scores_are_objectives_of_one_call() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    #[metric(lower_is_better, range = 0.0..=4.0)]
    fn errors(#[pred] answer: &str) -> Scores {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let length = answer.len() as f64;
        Scores::new("length", length)
            .with_feedback("too long")
            .with("spaces", 1.0)
    }
    let module = Echo.with_metric(Errors);
    let objectives = module
        .multi_objective_metric(&row([]), &prediction([("answer", "abc".into())]))
        .await;
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    let found: Vec<_> = objectives
        .iter()
        .map(|it| (it.score, &*it.feedback, &it.metadata["name"]))
        .collect();
    assert_eq!(
        found,
        [
            (1.0, "too long", &json!("length")),
            (3.0, "spaces is 1.", &json!("spaces"))
        ]
    );
    assert_eq!(objectives[0].metadata["value"], json!(3.0));
    assert_eq!(objectives[0].metadata["direction"], "lower is better");
    assert_eq!(
        (module.report().calls.scored, module.report().calls.sum),
        (1, 1.0)
    );
}

#[tokio::test]
async fn components_are_objectives() {
    #[metric(weighted(F1 = 0.75, Em = 0.25))]
    struct Quality;
    let module = Echo.with_metric(Quality);
    let gold = qa("?", "Paris");
    let pred = prediction([("answer", "Paris, France".into())]);
    let objectives = module.multi_objective_metric(&gold, &pred).await;
    let found: Vec<_> = objectives
        .iter()
        .map(|it| (it.metadata["name"].clone(), it.score))
        .collect();
    assert_eq!(found, [(json!("f1"), 2.0 / 3.0), (json!("em"), 0.0)]);
    assert_eq!(module.feedback_metric(&gold, &pred).await.score, 0.5);
}

#[tokio::test]
async fn a_single_objective_is_the_metric() {
    let module = Echo.with_metric(Em::default());
    let objectives = module
        .multi_objective_metric(&qa("?", "a"), &prediction([("answer", "b".into())]))
        .await;
    assert_eq!(objectives.len(), 1);
    assert_eq!(objectives[0].feedback, "expected \"a\", found \"b\"");
    assert_eq!(objectives[0].metadata["name"], "em");
}

fn names() -> impl Metric {
    traced_metric_fn("names", |gold, _, trace, name, steps| {
        let all = trace.map_or(0, |trace| trace.steps.len());
        let own = steps.map_or(0, |trace| trace.steps.len());
        let label = gold.get("answer").and_then(Value::as_str).unwrap_or("none");
        let name = name.unwrap_or("program");
        FeedbackMetric::new(1.0, format!("{name}: {own} of {all} steps, label {label}"))
    })
}

#[tokio::test]
async fn without_recorded_steps_the_metric_gets_no_trace() {
    let traced = traced_metric_fn("traced", |_, _, trace, name, steps| {
        f64::from(trace.is_some() || name.is_some() || steps.is_some())
    });
    let module = Echo.with_metric(traced);
    let pred = module.forward(qa("Paris", "Paris")).await.unwrap();
    assert_eq!(
        module
            .feedback_metric(&qa("Paris", "Paris"), &pred)
            .await
            .score,
        0.0
    );
}

#[tokio::test]
async fn spans_have_feedback_of_their_own() {
    let module = Echo.with_metric(names());
    let run =
        ExecutionTrace::builder(qa("?", "Paris")).outputs(prediction([("answer", "x".into())]));
    let run = run
        .add_step("search", json!(1))
        .add_step("answer", json!(2))
        .add_step("search", json!(3));
    let spans = module.evaluate_spans(&run.build()).await;
    let found: Vec<_> = spans
        .iter()
        .map(|it| (&*it.predictor, &*it.feedback.feedback))
        .collect();
    assert_eq!(
        found,
        [
            ("search", "search: 2 of 3 steps, label Paris"),
            ("answer", "answer: 1 of 3 steps, label Paris")
        ]
    );
    assert_eq!(module.report().calls.scored, 2);
}

#[tokio::test]
async fn spans_of_a_failed_run_are_failures() {
    let module = Echo.with_metric(names());
    let run = ExecutionTrace::builder(qa("?", "Paris")).add_step("search", json!(1));
    let spans = module
        .evaluate_spans(&run.add_error("status 503").build())
        .await;
    assert_eq!(spans.len(), 1);
    assert_eq!(
        spans[0].feedback.feedback,
        "not scored (program failed): status 503"
    );
    assert_eq!(module.report().calls.program_failed, 1);
    let run = ExecutionTrace::builder(qa("?", "Paris")).build();
    assert_eq!(module.evaluate_spans(&run).await.len(), 0);
}

#[tokio::test]
async fn an_execution_trace_has_the_prediction_and_the_feedback_or_the_error() {
    let module = Echo.with_metric(metric_fn("same", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    }));
    let trace = module.execution_trace(qa("Paris", "Paris")).await;
    assert!(trace.is_successful());
    assert_eq!(
        (trace.score(), trace.intermediate_steps.len()),
        (Some(1.0), 0)
    );
    let trace = module.execution_trace(qa("fail", "Paris")).await;
    assert_eq!(trace.score(), None);
    assert_eq!(trace.errors, ["no reply: status 503"]);
}
