//! Threshold, strictness and cost of one judge, on the judge and on its builder.

use std::sync::Arc;

use dsrs_metrics::composite::{Composite, all, component};
use dsrs_metrics::judge::Panel;
use dsrs_metrics::judge::shipped::{CompleteAndGrounded, SemanticEquivalence, SemanticF1};
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, Scored, rows::Pair};
use serde_json::json;

use super::setup::{Grade5Judge, complete, grade, grounded, rows, says};

fn louvre() -> (Example, Prediction) {
    let gold = example! { "question" => "Where is the Louvre?", "response" => "in Paris" };
    (
        gold,
        prediction! { "response" => "Paris", "context" => ["in Paris"] },
    )
}

/// A model with recall 0.4 and precision 1: the F1 is 4/7 = 0.571.
fn lm() -> ScriptedLm {
    says(json!({ "reasoning": "", "recall": 0.4, "precision": 1.0 }))
}

async fn scored(metric: &impl Metric) -> Scored {
    let (gold, pred) = louvre();
    metric.answer(MetricCall::new(&gold, &pred)).await.unwrap()
}

#[tokio::test]
async fn a_judge_has_its_own_threshold() {
    assert_eq!(
        scored(&SemanticF1::default().with_lm(lm())).await.passed,
        Some(false)
    );
    let judge = SemanticF1::builder().threshold(0.5).with_lm(lm()).build();
    assert_eq!(
        (judge.spec().threshold, SemanticF1::SPEC.threshold),
        (Some(0.5), Some(0.66))
    );
    let answer = scored(&judge).await;
    assert_eq!((answer.passed, answer.score.value), (Some(true), 0.8 / 1.4));
    let test: &dyn AcceptanceTest = &judge;
    let (gold, pred) = louvre();
    assert!(test.accepts(&gold, &pred, &Trace::default()).await.unwrap());
    let judge: SemanticF1 = SemanticF1::default()
        .with_threshold(0.5)
        .strict()
        .with_lm(lm());
    assert_eq!(scored(&judge).await.score.value, 1.0);
    let judge = SemanticF1::builder().strict().with_lm(lm()).build();
    assert_eq!(
        (scored(&judge).await.score.value, judge.spec().strict),
        (0.0, true)
    );
    let (gold, pred) = rows();
    let call = MetricCall::new(&gold, &pred);
    let graded = Grade5Judge::builder()
        .threshold(3.0)
        .with_lm(says(grade(3)))
        .build();
    assert_eq!(graded.answer(call).await.unwrap().passed, Some(true));
}

#[tokio::test]
async fn complete_and_grounded_has_its_own_threshold_and_shares_its_cost() {
    let lm = || {
        ScriptedLm::new()
            .when("retrieved_context", grounded("g", 1.0))
            .otherwise(complete("c", 0.4))
    };
    assert_eq!(
        scored(&CompleteAndGrounded::default().with_lm(lm()))
            .await
            .passed,
        Some(false)
    );
    let judge = CompleteAndGrounded::builder()
        .threshold(0.5)
        .cost_msats(51)
        .with_lm(lm())
        .build();
    assert_eq!(scored(&judge).await.passed, Some(true));
    assert_eq!(
        (judge.spec().threshold, judge.spec().cost_msats),
        (Some(0.5), 51)
    );
    assert_eq!(
        judge.cost_estimate(),
        102,
        "each of the two calls may be repaired once"
    );
    let judge = CompleteAndGrounded::default()
        .with_threshold(0.5)
        .strict()
        .with_lm(lm());
    assert_eq!(scored(&judge).await.score.value, 1.0);
}

#[test]
fn the_cost_of_an_instance_is_multiplied_by_its_panel() {
    let panel = Panel::new().models(["openai:a", "openai:b", "openai:c"]);
    let judge = SemanticF1::builder().panel(panel).cost_msats(30).build();
    assert_eq!((judge.spec().cost_msats, judge.cost_estimate()), (30, 180));
    assert_eq!(
        SemanticF1::default().with_cost_msats(30).cost_estimate(),
        60
    );
}

#[tokio::test]
async fn judges_with_different_thresholds_are_different_components() {
    let model = Arc::new(lm());
    let base = SemanticF1::default().with_lm(Arc::clone(&model));
    let judge = |name: &str, threshold: f64| {
        let judge = base.clone().with_threshold(threshold);
        Composite::builder(name, all([component(judge)]))
            .build()
            .unwrap()
    };
    let metrics = [
        judge("low", 0.5),
        judge("high", 0.9),
        judge("low_again", 0.5),
    ];
    let evaluate = Evaluate::builder().metrics(metrics).build().unwrap();
    let (gold, pred) = louvre();
    let result = evaluate.score([Pair::new("a", gold, pred)]).await.unwrap();
    let means: Vec<_> = result.metrics.iter().map(|metric| metric.mean).collect();
    assert_eq!(means, [Some(1.0), Some(0.0), Some(1.0)]);
    let calls = model.requests().len();
    assert_eq!(
        calls, 2,
        "equal thresholds are one judge, and different ones are two"
    );
}

#[tokio::test]
async fn an_invalid_setting_of_a_judge_calls_no_model() {
    let model = Arc::new(lm());
    let (gold, pred) = louvre();
    let lm = || Arc::clone(&model);
    let cases: [(Box<dyn Metric>, &str); 4] = [
        (
            Box::new(SemanticF1::builder().threshold(1.5).with_lm(lm()).build()),
            "the threshold 1.5 is outside the range of the metric, 0.0..=1.0; write a threshold within it",
        ),
        (
            Box::new(
                CompleteAndGrounded::builder()
                    .threshold(f64::NAN)
                    .with_lm(lm())
                    .build(),
            ),
            "the threshold NaN is not finite",
        ),
        (
            Box::new(
                SemanticEquivalence::default()
                    .with_threshold(0.5)
                    .with_lm(lm()),
            ),
            "a metric that returns `bool` takes no threshold, found 0.5",
        ),
        (
            Box::new(
                SemanticEquivalence::builder()
                    .strict()
                    .with_lm(lm())
                    .build(),
            ),
            "a metric that returns `bool` is always strict",
        ),
    ];
    for (metric, message) in cases {
        let evaluate = Evaluate::builder().metric(metric).build().unwrap();
        let run = evaluate
            .score([Pair::new("a", gold.clone(), pred.clone())])
            .await;
        let error = run.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert_eq!(model.requests().len(), 0);
    let judge = SemanticF1::builder().threshold(1.5).with_lm(lm()).build();
    let error = judge.evaluate(&gold, &pred).await.unwrap_err().to_string();
    assert!(
        error.contains("the threshold 1.5 is outside the range"),
        "{error}"
    );
}

fn lenient() -> Panel {
    Panel::new().threshold(0.5).with_lm(lm())
}

#[metric(min(semantic_f1(panel = lenient())))]
struct OwnThreshold;

#[metric(all(semantic_f1(panel = Panel::new().strict())))]
struct OwnStrictness;

#[metric(min(semantic_f1(panel = Panel::new().cost_msats(7).with_lm(lm()))))]
struct OwnCost;

#[tokio::test]
async fn a_declared_composite_rejects_a_threshold_in_the_panel_of_a_component() {
    let (gold, pred) = louvre();
    let message = |setting| {
        format!(
            "the component `semantic_f1` has a `{setting}` of its own, which a declared composite does not support; \
             write `semantic_f1 >= 0.5` in the expression, or use `Composite::builder`"
        )
    };
    let error = OwnThreshold
        .evaluate(&gold, &pred)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!("metric `own_threshold`: {}", message("threshold"))
    );
    let error = OwnStrictness
        .evaluate(&gold, &pred)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        format!("metric `own_strictness`: {}", message("strict"))
    );
    assert_eq!(
        OwnCost.evaluate(&gold, &pred).await.unwrap().value,
        0.8 / 1.4
    );
    let rows = vec![Pair::new("0", gold, pred)];
    let run = Evaluate::builder().metric(OwnThreshold).build().unwrap();
    let error = run.score(rows).await.unwrap_err().to_string();
    assert!(error.contains(&message("threshold")), "{error}");
}
