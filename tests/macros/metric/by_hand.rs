//! Traits that are implemented by hand, as in the document of dsrs.

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Result,
    runs::{Module, ProgramError},
};

struct MyCustomMetric {
    name: String,
}

#[async_trait]
impl Metric<Example, Example> for MyCustomMetric {
    fn name(&self) -> &str {
        &self.name
    }

    fn tier(&self) -> MetricTier {
        MetricTier::Proxy
    }

    fn cost_estimate(&self) -> u64 {
        0
    }

    async fn evaluate(&self, input: &Example, output: &Example) -> Result<MetricScore> {
        let same = input.get("answer") == output.get("answer");
        Ok(MetricScore {
            value: if same { 1.0 } else { 0.0 },
            confidence: 1.0,
            details: Some("Explanation".to_owned()),
            cost_msats: 0,
        })
    }

    async fn evaluate_batch(&self, pairs: &[(Example, Example)]) -> Vec<Result<MetricScore>> {
        let mut scores = Vec::new();
        for (input, output) in pairs {
            scores.push(self.evaluate(input, output).await);
        }
        scores
    }
}

#[tokio::test]
async fn the_custom_metric_of_the_document_scores_two_examples() -> Result<()> {
    let metric = MyCustomMetric {
        name: "mine".to_owned(),
    };
    let [one, two] = [1, 2].map(|answer| example! { "answer" => answer });
    let score = metric.evaluate(&one, &one).await?;
    assert_eq!(score, MetricScore::new(1.0).with_details("Explanation"));
    let scores = metric
        .evaluate_batch(&[(one.clone(), one.clone()), (one, two)])
        .await;
    let values: Vec<f64> = scores
        .into_iter()
        .map(|score| score.unwrap().value)
        .collect();
    assert_eq!(values, [1.0, 0.0]);
    let spec = metric.spec();
    assert_eq!(
        (spec.name, spec.tier, spec.cost_msats),
        ("mine", MetricTier::Proxy, 0)
    );
    Ok(())
}

struct MyModule;

#[async_trait]
impl Module for MyModule {
    async fn forward(&self, _: Example) -> std::result::Result<Prediction, ProgramError> {
        Ok(prediction! { "answer" => "Paris" })
    }
}

#[async_trait]
impl FeedbackEvaluator for MyModule {
    async fn feedback_of(&self, call: MetricCall<'_>) -> Result<FeedbackMetric> {
        let (expected, actual) = (call.gold.get("answer"), call.pred.get("answer"));
        if expected == actual {
            return Ok(FeedbackMetric::new(
                1.0,
                "Exact match with expected answer.",
            ));
        }
        Ok(FeedbackMetric::new(
            0.0,
            format!("Mismatch: expected {expected:?}, got {actual:?}"),
        ))
    }

    async fn objectives_of(&self, call: MetricCall<'_>) -> Result<Vec<FeedbackMetric>> {
        Ok(vec![self.feedback_of(call).await?])
    }
}

#[tokio::test]
async fn a_module_may_be_its_own_feedback_evaluator() -> Result<()> {
    let pred = MyModule.forward(example! {}).await.unwrap();
    let right = MyModule
        .feedback_metric(&example! { "answer" => "Paris" }, &pred)
        .await?;
    assert_eq!(
        (right.score, &*right.feedback),
        (1.0, "Exact match with expected answer.")
    );
    let wrong = MyModule
        .multi_objective_metric(&example! { "answer" => "Rome" }, &pred)
        .await?;
    let mismatch = "Mismatch: expected Some(String(\"Rome\")), got Some(String(\"Paris\"))";
    assert_eq!(
        (wrong.len(), wrong[0].score, &*wrong[0].feedback),
        (1, 0.0, mismatch)
    );
    Ok(())
}
