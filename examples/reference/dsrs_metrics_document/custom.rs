//! "Creating Custom Metrics".

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Result as MetricResult,
    runs::{Evaluator, Module, ProgramError},
    scoring::ScorerBuilder,
};

use crate::Result;

/// "Simple Custom Metric".
struct MyCustomMetric {
    name: String,
}

fn calculate_score(input: &Example, output: &Prediction) -> f64 {
    f64::from(input.get("answer") == output.get("answer"))
}

#[async_trait]
impl Metric for MyCustomMetric {
    fn name(&self) -> &str {
        &self.name
    }

    fn tier(&self) -> MetricTier {
        MetricTier::Proxy // or MetricTier::Truth
    }

    fn cost_estimate(&self) -> u64 {
        0 // Free for proxy metrics
    }

    async fn evaluate(&self, input: &Example, output: &Prediction) -> MetricResult<MetricScore> {
        // Custom evaluation logic
        let score = calculate_score(input, output);

        Ok(MetricScore {
            value: score,
            confidence: 1.0,
            details: Some("Explanation".to_string()),
            cost_msats: 0,
        })
    }

    async fn evaluate_batch(
        &self,
        pairs: &[(Example, Prediction)],
    ) -> Vec<MetricResult<MetricScore>> {
        // Sequential evaluation, as in the document; the default is concurrent.
        let mut scores = Vec::new();
        for (input, output) in pairs {
            scores.push(self.evaluate(input, output).await);
        }
        scores
    }
}

/// "Custom Evaluator for Module".
struct MyModule;

#[async_trait]
impl Module for MyModule {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        let question = inputs.get("question").cloned();
        Ok(
            prediction! { "answer" => question, "explanation" => "It repeats the question.", "confidence" => 0.5 },
        )
    }
}

impl Evaluator for MyModule {
    const DISPLAY_PROGRESS: bool = false;

    async fn metric(&self, example: &Example, prediction: &Prediction) -> MetricResult<f64> {
        let mut score = 0.0;

        // Check correctness (50%)
        if prediction.get("answer") == example.get("expected_answer") {
            score += 0.5;
        }

        // Check format (25%)
        if prediction.data.contains_key("explanation") {
            score += 0.25;
        }

        // Check confidence calibration (25%)
        if let Some(conf) = prediction.get("confidence").and_then(|conf| conf.as_f64()) {
            if (0.0..=1.0).contains(&conf) {
                score += 0.25;
            }
        }

        Ok(score)
    }
}

pub(super) async fn run() -> Result {
    let metric = MyCustomMetric {
        name: "mine".to_owned(),
    };
    let (gold, pred) = (
        example! { "answer" => "a" },
        prediction! { "answer" => "a" },
    );
    let pairs = [
        (gold.clone(), pred.clone()),
        (gold.clone(), prediction! { "answer" => "b" }),
    ];
    let values: Vec<f64> = metric
        .evaluate_batch(&pairs)
        .await
        .into_iter()
        .map(|score| Ok(score?.value))
        .collect::<Result<_>>()?;
    assert_eq!(values, [1.0, 0.0]);

    // Without a declared range it is [0, 1].
    let scorer = ScorerBuilder::new().metric(metric).build()?;
    assert_eq!(scorer.score(&gold, &pred).await?.value, 1.0);

    let examples = ["a", "b"].map(|expected| {
        example! { "question" => "a", "expected_answer" => expected }.with_inputs(["question"])
    });
    assert_eq!(MyModule.evaluate(examples.into()).await?, 0.75);
    Ok(())
}
