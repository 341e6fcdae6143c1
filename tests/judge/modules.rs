//! A judge is a program: from its inputs to its outputs, so that it can itself be evaluated and tuned.

use std::sync::Arc;

use dsrs_metrics::judge::shipped::{PairwisePreference, SemanticEquivalence, SemanticF1};
use dsrs_metrics::lm::{LmRequest, ScriptedLm, Usage};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::TraceStep,
    runs::{Module, ProgramUsage},
};
use serde_json::json;

use super::setup::{
    Grade5Judge, PoliteJudge, SemanticRecallPrecisionJudge, grade, polite, recall_precision, says,
    unconfigured,
};

#[tokio::test]
async fn a_judge_returns_its_outputs_and_its_score() {
    let lm = || says(recall_precision(0.5, 1.0)).usage(Usage::new(90, 10));
    let judge = SemanticRecallPrecisionJudge::default().with_lm(lm());
    let inputs = example! { "question" => "q", "ground_truth" => "g", "system_response" => "s" };
    let names = ["question", "ground_truth", "system_response"];
    let prediction = judge.forward(inputs.clone()).await.unwrap();
    let expected = prediction! {
        "reasoning" => "because", "recall" => 0.5, "precision" => 1.0, "score" => 2.0 / 3.0
    };
    assert_eq!(prediction, expected);
    assert_eq!(
        prediction.keys().collect::<Vec<_>>(),
        ["reasoning", "recall", "precision", "score"]
    );
    let output = judge.forward_traced(inputs.clone()).await.unwrap();
    assert_eq!(
        output.usage,
        Some(ProgramUsage::new(90, 10).with_cost_msats(7))
    );
    let predictor = "semantic_recall_precision".to_owned();
    let step = TraceStep {
        predictor,
        inputs: inputs.clone(),
        outputs: expected.clone(),
    };
    assert_eq!(output.trace, Some(Trace { steps: vec![step] }));
    assert_eq!(
        judge
            .batch(vec![inputs.with_inputs(names)], 2)
            .await
            .pop()
            .unwrap()
            .unwrap(),
        expected
    );
}

#[tokio::test]
async fn a_row_and_a_module_ask_the_same_question() {
    let model = Arc::new(says(recall_precision(0.5, 1.0)));
    let judge = SemanticRecallPrecisionJudge::default().with_lm(Arc::clone(&model));
    let gold = example! { "question" => "q", "response" => "g" };
    judge
        .evaluate(&gold, &prediction! { "response" => "s" })
        .await
        .unwrap();
    let inputs = example! { "question" => "q", "ground_truth" => "g", "system_response" => "s" };
    judge.forward(inputs).await.unwrap();
    let requests = model.requests();
    assert_eq!(requests[0], requests[1], "so a stored reply serves both");
}

#[tokio::test]
async fn a_judge_is_evaluated_with_labels_of_people_and_tuned() {
    // It answers politely only if it is told to be strict.
    let lm = ScriptedLm::new().otherwise(|request: &LmRequest| {
        let is_strict = request.messages[0].content.starts_with("Be strict.");
        let is_rude = request.messages[1].content.contains("Go away");
        polite(!(is_strict && is_rude))
    });
    let devset = [("Please.", true), ("Go away!", false), ("Thank you.", true)];
    let devset = devset.map(|(answer, label)| {
        example! { "answer" => answer, "label" => label }.with_inputs(["answer"])
    });
    let agrees = metric_fn("agrees", |gold, pred| {
        gold.get("label") == pred.get("polite")
    });
    let evaluate = Evaluate::builder()
        .devset(devset)
        .metric(agrees)
        .build()
        .unwrap();
    let judge = PoliteJudge::default().with_lm(lm);
    let before = evaluate.run(judge.clone()).await.unwrap();
    assert_eq!(
        before.to_string(),
        "agrees  66.67% [20.77, 93.85] (2/3, 0 failed)"
    );
    let after = evaluate
        .run(judge.with_instruction("Be strict."))
        .await
        .unwrap();
    assert_eq!(
        after.to_string(),
        "agrees  100.00% [43.85, 100.00] (3/3, 0 failed)"
    );
    assert_eq!(
        after.results[1].pred.as_ref().unwrap().get("score"),
        Some(&json!(false))
    );
    assert_eq!(after.program.usage_rows, 3);
}

#[tokio::test]
async fn a_panel_returns_the_outputs_nearest_to_its_score() {
    let judges = [1, 3, 5].map(|score| says(grade(score)).named(format!("test:{score}")));
    let judge = Grade5Judge::builder().models(judges).build();
    let prediction = judge.forward(example! { "answer" => "a" }).await.unwrap();
    assert_eq!(
        prediction,
        prediction! { "reasoning" => "because", "score" => 3 }
    );
    let preferred = |answer: &str| json!({ "reasoning": "", "preferred": answer });
    let lm = ScriptedLm::new().replies([preferred("first"), preferred("second")]);
    let inputs = example! { "question" => "q", "response_1" => "a", "response_2" => "b" };
    let prediction = PairwisePreference::default()
        .with_lm(lm)
        .forward(inputs)
        .await
        .unwrap();
    assert_eq!(
        (prediction.get("preferred"), prediction.get("score")),
        (Some(&json!("first")), Some(&json!(1.0)))
    );
}

#[tokio::test]
async fn a_shipped_judge_answers_offline_where_it_is_asked_for() {
    let inputs = example! { "question" => "q", "ground_truth" => "in Paris", "system_response" => "in Paris" };
    let error = unconfigured(SemanticF1::default().forward(inputs.clone()))
        .await
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.starts_with("no language model is configured; "),
        "{error}"
    );
    let prediction = SemanticF1::default()
        .offline()
        .forward(inputs)
        .await
        .unwrap();
    assert_eq!(
        (prediction.get("recall"), prediction.get("score")),
        (Some(&json!(1.0)), Some(&json!(1.0)))
    );
}

/// Judge the answer by its length.
#[judge]
struct Defaulted {
    #[input(pred, default = "none")]
    answer: String,
    #[input(gold, default = 3 + 4)]
    most: u8,
    #[input(gold, default)]
    tags: Vec<String>,
    #[input(gold)]
    note: Option<String>,
    #[output]
    polite: bool,
}

#[tokio::test]
async fn defaults_and_options_are_those_of_the_judge() {
    let model = Arc::new(says(polite(true)));
    let judge = DefaultedJudge::default().with_lm(Arc::clone(&model));
    judge.forward(example! { "tags" => ["a"] }).await.unwrap();
    judge
        .evaluate(&example! { "tags" => ["a"] }, &prediction! {})
        .await
        .unwrap();
    let requests = model.requests();
    assert_eq!(requests[0], requests[1]);
    let shown = &requests[0].messages[1].content;
    assert!(
        shown.contains("]]\nnone\n[[") && shown.contains("]]\n7\n[["),
        "{shown}"
    );
}

#[tokio::test]
async fn a_missing_or_invalid_input_and_an_invalid_setting_are_errors_without_a_call() {
    let model = Arc::new(says(polite(true)));
    let judge = || DefaultedJudge::default().with_lm(Arc::clone(&model));
    let error = judge()
        .forward(example! { "most" => "many" })
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot read the input `most`: invalid type: string \"many\""),
        "{error}"
    );
    let polite = PoliteJudge::default().with_lm(Arc::clone(&model));
    let error = polite
        .forward(example! { "reply" => "a" })
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "expected the input `answer`, found `reply`; add the field `answer` to the example"
    );
    let error = polite.forward(example! {}).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "expected the input `answer`, found no field; add the field `answer` to the example"
    );
    let error = polite
        .with_threshold(0.5)
        .forward(example! { "answer" => "a" })
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a metric that returns `bool` takes no threshold"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 0);
    let lost = SemanticEquivalence::default().with_lm(ScriptedLm::new().otherwise("no answer"));
    let inputs = example! { "expected_answer" => "a" };
    assert!(
        lost.forward(inputs)
            .await
            .unwrap_err()
            .to_string()
            .starts_with("expected the input `")
    );
}
