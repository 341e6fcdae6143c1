//! What can be run: functions, closures and modules, over dynamic and typed rows.

use std::sync::Arc;

use super::scoring;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, MetricError,
    runs::{EvaluateError, Evaluator, Module, ProgramError},
};

struct Echo;

#[async_trait]
impl Module for Echo {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        let say = inputs.get("say").ok_or("nothing to say")?;
        Ok(prediction! { "say" => say, "fields" => inputs.data.len() })
    }
}

async fn echo(inputs: Example) -> Result<Prediction, ProgramError> {
    Echo.forward(inputs).await
}

fn devset() -> [Example; 2] {
    ["0.5", "1"].map(|word| example! { "say" => word, "answer" => "secret" }.with_inputs(["say"]))
}

#[tokio::test]
async fn functions_closures_and_modules_are_programs() {
    let evaluate = scoring().devset(devset()).build().unwrap();
    let prefix = Arc::new("0.".to_owned());
    let closure = move |inputs: Example| {
        let prefix = Arc::clone(&prefix);
        async move {
            prediction! { "say" => format!("{prefix}{}", inputs.data.len()) }
        }
    };
    let scores = [
        evaluate.run(Echo).await,
        evaluate.run(&Echo).await,
        evaluate.run(Arc::new(Echo)).await,
        evaluate.run(Arc::new(Echo) as Arc<dyn Module>).await,
        evaluate.run(echo).await,
        evaluate.run(closure.clone()).await,
        evaluate.run(closure).await,
    ];
    let scores: Vec<_> = scores
        .into_iter()
        .map(|result| result.unwrap().score.unwrap())
        .collect();
    assert_eq!(scores, [0.75, 0.75, 0.75, 0.75, 0.75, 0.1, 0.1]);
}

#[tokio::test]
async fn a_program_receives_no_labels_and_a_metric_receives_all_fields() {
    let answer = metric_fn("answer", |gold, _| gold.get("answer").is_some());
    let evaluate = scoring().metric(answer).devset(devset()).build().unwrap();
    let result = evaluate.run(Echo).await.unwrap();
    assert_eq!(
        result.results[0]
            .pred
            .as_ref()
            .unwrap()
            .get("fields")
            .unwrap(),
        1
    );
    assert_eq!(result.metrics[1].score, Some(1.0));
}

#[tokio::test]
async fn rows_may_be_of_any_type() {
    #[derive(Clone)]
    struct Question(u32);
    let right = typed_metric_fn("right", |gold: &Question, pred: &u32| gold.0 * 2 == *pred);
    let evaluate = Evaluate::typed()
        .devset((1..=4).map(Question))
        .row_id(|question: &Question| format!("q{}", question.0))
        .metric(right)
        .build()
        .unwrap();
    let double = |question: Question| async move {
        if question.0 == 4 {
            Err("too large")
        } else {
            Ok(question.0 * 2)
        }
    };
    let result = evaluate.run(double).await.unwrap();
    assert_eq!(result.score, Some(0.75));
    let ids: Vec<_> = result.results.iter().map(|row| &*row.id).collect();
    assert_eq!(ids, ["q1", "q2", "q3", "q4"]);
}

/// Borrows, so that it cannot be spawned as a task.
struct Graded<'a>(&'a str);

#[async_trait]
impl Module for Graded<'_> {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        tokio::task::yield_now().await;
        match inputs.get("n").and_then(serde_json::Value::as_u64) {
            Some(0) => Err("no zero".into()),
            Some(1) => panic!("no one"),
            _ => Ok(prediction! { "answer" => self.0 }),
        }
    }
}

impl Evaluator for Graded<'_> {
    const MAX_CONCURRENCY: usize = 4;
    const DISPLAY_PROGRESS: bool = false;

    async fn metric(
        &self,
        example: &Example,
        prediction: &Prediction,
    ) -> dsrs_metrics::Result<f64> {
        tokio::task::yield_now().await;
        Ok(f64::from(u8::from(
            example.get("answer") == prediction.get("answer"),
        )))
    }
}

#[tokio::test]
async fn an_evaluator_survives_failed_calls() {
    let answer = String::from("a");
    let graded = Graded(&answer);
    let examples: Vec<_> = (0..50)
        .map(|n| example! { "n" => n, "answer" => if n < 26 { "a" } else { "b" } })
        .map(|example| example.with_inputs(["n"]))
        .collect();
    assert_eq!(
        graded.evaluate(examples.clone()).await.unwrap(),
        24.0 / 50.0
    );
    let rows = graded.evaluate_rows(examples).await.unwrap();
    assert_eq!(
        (rows.metrics[0].failed, rows.metrics[0].mean_scored),
        (2, Some(0.5))
    );
    assert_eq!(rows.first_error.as_deref(), Some("row `0`: no zero"));
}

#[tokio::test]
async fn an_evaluators_mean_over_no_scores_is_an_error() {
    assert_eq!(
        Graded("a").evaluate(Vec::new()).await.unwrap_err(),
        EvaluateError::NoRows
    );
    let error = Graded("a")
        .evaluate(vec![example! { "n" => 0 }.with_inputs(["n"])])
        .await
        .unwrap_err();
    let text = "not enough rows: none of 1 has a score for `metric` (1 failed, first error: row `0`: no zero)";
    assert_eq!(error.to_string(), text);
}

/// The custom evaluator in the document of dsrs.
struct Answering;

#[async_trait]
impl Module for Answering {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        let confidence = inputs.get("confidence").cloned();
        Ok(prediction! { "answer" => "4", "explanation" => "2 + 2", "confidence" => confidence })
    }
}

impl Evaluator for Answering {
    async fn metric(
        &self,
        example: &Example,
        prediction: &Prediction,
    ) -> dsrs_metrics::Result<f64> {
        let no_answer = || MetricError::failed("metric", "no expected answer");
        let expected = example.get("expected_answer").ok_or_else(no_answer)?;
        let mut score = 0.0;
        if prediction.get("answer") == Some(expected) {
            score += 0.5;
        }
        if prediction.data.contains_key("explanation") {
            score += 0.25;
        }
        if let Some(confidence) = prediction
            .get("confidence")
            .and_then(serde_json::Value::as_f64)
            && (0.0..=1.0).contains(&confidence)
        {
            score += 0.25;
        }
        Ok(score)
    }
}

#[tokio::test]
async fn the_custom_evaluator_of_the_document_averages_its_metric() {
    assert_eq!(
        (Answering::MAX_CONCURRENCY, Answering::DISPLAY_PROGRESS),
        (32, true)
    );
    let [right, wrong, unlabelled] = [
        example! { "expected_answer" => "4", "confidence" => 0.9 },
        example! { "expected_answer" => "5", "confidence" => 90 },
        example! { "confidence" => 0.9 },
    ]
    .map(|example| example.with_inputs(["confidence"]));
    assert_eq!(
        Answering
            .evaluate(vec![right.clone(), wrong.clone()])
            .await
            .unwrap(),
        0.625
    );
    let result = Answering
        .evaluate_rows(vec![right, unlabelled])
        .await
        .unwrap();
    assert_eq!((result.score, result.metrics[0].failed), (Some(0.5), 1));
    let error = "row `1`: metric `metric`: no expected answer";
    assert_eq!(result.first_error.as_deref(), Some(error));
}
