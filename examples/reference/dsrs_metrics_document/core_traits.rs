//! "Core Traits": `Evaluator`, `FeedbackEvaluator`, `FeedbackMetric`, `Metric`, `MetricTier`, `MetricScore`, `MetricSet`.

use std::collections::HashMap;

use dsrs_metrics::metrics::{Diff, Format};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    runs::{Evaluator, Module, ProgramError},
    scoring::MetricSet,
};
use serde_json::Value;

use crate::Result;

/// The module of the document's examples: it answers one question.
struct MyModule;

#[async_trait]
impl Module for MyModule {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        let knows = inputs
            .get("question")
            .and_then(|question| question.as_str())
            == Some("2 + 2");
        Ok(prediction! { "answer" => if knows { "4" } else { "unknown" } })
    }
}

/// "Evaluator Trait": the implementation and its usage.
impl Evaluator for MyModule {
    const MAX_CONCURRENCY: usize = 32;
    const DISPLAY_PROGRESS: bool = false;

    async fn metric(
        &self,
        example: &Example,
        prediction: &Prediction,
    ) -> dsrs_metrics::Result<f64> {
        let expected = example.get("answer");
        let actual = prediction.get("answer");

        // Exact match: 1.0, otherwise 0.0
        Ok(if expected == actual { 1.0 } else { 0.0 })
    }
}

/// "FeedbackMetric": the usage for a module.
struct Feedback;

#[async_trait]
impl FeedbackEvaluator for Feedback {
    async fn feedback_of(&self, call: MetricCall<'_>) -> dsrs_metrics::Result<FeedbackMetric> {
        let expected = call.gold.get("answer").unwrap_or(&Value::Null);
        let actual = call.pred.get("answer").unwrap_or(&Value::Null);

        Ok(if expected == actual {
            FeedbackMetric {
                score: 1.0,
                feedback: "Exact match with expected answer.".to_string(),
                metadata: HashMap::new(),
            }
        } else {
            FeedbackMetric {
                score: 0.0,
                feedback: format!("Mismatch: expected '{expected}', got '{actual}'"),
                metadata: HashMap::new(),
            }
        })
    }

    async fn objectives_of(
        &self,
        call: MetricCall<'_>,
    ) -> dsrs_metrics::Result<Vec<FeedbackMetric>> {
        Ok(vec![self.feedback_of(call).await?])
    }
}

/// A user of the trait [`Metric`] as the document declares it.
async fn describe(
    metric: &dyn Metric,
    gold: &Example,
    pred: &Prediction,
) -> Result<(String, MetricTier, u64, MetricScore)> {
    let score = metric.evaluate(gold, pred).await?;
    Ok((
        metric.name().to_owned(),
        metric.tier(),
        metric.cost_estimate(),
        score,
    ))
}

pub(super) async fn run() -> Result {
    evaluator().await?;
    feedback_evaluator().await?;
    metric().await?;
    metric_set();
    Ok(())
}

async fn evaluator() -> Result {
    let module = MyModule;
    let test_examples = vec![
        example! { "question" => "2 + 2", "answer" => "4" }.with_inputs(["question"]),
        example! { "question" => "3 + 3", "answer" => "6" }.with_inputs(["question"]),
    ];
    // Evaluate on test set
    let score = module.evaluate(test_examples).await?;
    assert_eq!(
        format!("Accuracy: {:.2}%", score * 100.0),
        "Accuracy: 50.00%"
    );
    Ok(())
}

async fn feedback_evaluator() -> Result {
    let example = example! { "answer" => "4" };
    let right = Feedback
        .feedback_metric(&example, &prediction! { "answer" => "4" })
        .await?;
    assert_eq!(
        (right.score, right.feedback.as_str()),
        (1.0, "Exact match with expected answer.")
    );
    let wrong = Feedback
        .feedback_metric(&example, &prediction! { "answer" => "5" })
        .await?;
    assert_eq!(
        (wrong.score, wrong.feedback.as_str()),
        (0.0, "Mismatch: expected '\"4\"', got '\"5\"'")
    );
    let all = Feedback
        .multi_objective_metric(&example, &prediction! { "answer" => "5" })
        .await?;
    assert_eq!(all, [wrong]);
    Ok(())
}

async fn metric() -> Result {
    let (gold, pred) = (
        example! { "answer" => "a  b" },
        prediction! { "answer" => "a b" },
    );
    let described = describe(&Diff::default(), &gold, &pred).await?;
    let score = MetricScore {
        value: 1.0,
        confidence: 1.0,
        details: described.3.details.clone(),
        cost_msats: 0,
    };
    assert_eq!(described, ("diff".to_owned(), MetricTier::Truth, 0, score));

    let results = Diff::default()
        .evaluate_batch(&[
            (gold.clone(), pred),
            (gold, prediction! { "answer" => "c" }),
        ])
        .await;
    let values: Vec<f64> = results
        .into_iter()
        .map(|result| Ok(result?.value))
        .collect::<Result<_>>()?;
    assert_eq!(values, [1.0, 0.0]);
    Ok(())
}

/// "MetricSet": `all` iterates in evaluation order, proxies first.
fn metric_set() {
    let mut set: MetricSet = MetricSet::new();
    set.add(Diff::default());
    set.add(Format::default());
    let names: Vec<&str> = set.all().map(|metric| metric.name()).collect();
    assert_eq!(names, ["format", "diff"]);
    assert_eq!((set.proxy().len(), set.truth().len()), (1, 1));
}
