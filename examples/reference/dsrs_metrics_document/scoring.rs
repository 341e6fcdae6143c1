//! "Scoring Infrastructure": `Scorer`, the scoring flow, `AggregationMethod`, `ScoringConfig`.

use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics::Format;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    contract::Settings,
    runs::{Module, ProgramError, RolloutNumber},
    scoring::{AggregationMethod, RowStatus, ScorerBuilder, ScoringConfig},
};
use serde_json::json;

use crate::Result;

/// The model of the default judge.
fn judge() -> Settings {
    let grade = json!({ "reasoning": "As asked.", "score": 0.5, "feedback": "Add a source." });
    Settings::new().with(dsrs_metrics::judge::Models::new(
        ScriptedLm::new().otherwise(grade),
    ))
}

pub(super) async fn run() -> Result {
    scorer().await?;
    flow().await?;
    aggregation_methods()?;
    config();
    Ok(())
}

/// A module whose second attempt is wrong.
struct Attempts;

#[async_trait]
impl Module for Attempts {
    async fn forward(&self, _: Example) -> Result<Prediction, ProgramError> {
        let RolloutNumber(number) = *Settings::get().ok_or("expected a rollout")?;
        Ok(prediction! { "answer" => ["Paris", "Lyon", "Paris"][number] })
    }
}

async fn scorer() -> Result {
    let scorer = ScorerBuilder::new()
        .with_default_proxy_metrics() // Format, Length, Syntax
        .with_default_truth_metrics() // LlmJudge, Diff
        .threshold(0.5) // Min proxy score to run truth
        .num_rollouts(3) // Attempts per example
        .aggregation(AggregationMethod::Median)
        .build()?;

    let input = example! { "question" => "Capital of France?", "answer" => "Paris" }
        .with_inputs(["question"]);
    let output = prediction! { "answer" => "Paris" };
    let score = judge().scope(scorer.score(&input, &output)).await?;
    // The mean of the judge, 0.5, and of the diff, 1.
    assert_eq!(score.value, 0.75);

    // "Attempts per example": the module runs three times; the median of 0.75, 0.25 and 0.75.
    let row = judge().scope(scorer.run_row(&Attempts, &input)).await;
    assert_eq!((row.rollouts.len(), row.score()), (3, Some(0.75)));
    let result = judge().scope(scorer.run(Attempts, vec![input], 8)).await?;
    assert_eq!(
        (result.summary.rollouts, result.summary.mean),
        (3, Some(0.75))
    );
    Ok(())
}

/// "Scoring Flow": a row whose proxies are below the threshold calls no truth metric.
async fn flow() -> Result {
    let expensive = metric_fn("expensive", |_, _| 1.0).with_range(0.0, 1.0);
    let scorer = ScorerBuilder::new()
        .proxy(Format::builder().require_valid_json(true).build())
        .truth(expensive.with_tier(MetricTier::Truth).with_cost_msats(500))
        .threshold(0.5)
        .build()?;
    let gated = scorer
        .score(&example! {}, &prediction! { "answer" => "not JSON" })
        .await?;
    assert!(
        matches!(gated.row.status, RowStatus::Gated { .. }),
        "{:?}",
        gated.row.status
    );
    assert_eq!((gated.value, gated.row.rollouts[0].proxy), (0.0, Some(0.0)));
    assert_eq!(
        (
            gated.row.spending.spent_msats,
            gated.row.spending.saved_msats
        ),
        (0, 500)
    );
    let passed = scorer
        .score(&example! {}, &prediction! { "answer" => "[1]" })
        .await?;
    assert_eq!((passed.value, passed.row.spending.spent_msats), (1.0, 500));
    Ok(())
}

/// "AggregationMethod": "Drop percentage from each end before averaging".
fn aggregation_methods() -> Result {
    let scores = [0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5];
    let aggregated = |method: AggregationMethod| method.aggregate(&scores);
    assert_eq!(aggregated(AggregationMethod::Median)?, 0.875);
    assert_eq!(aggregated(AggregationMethod::Mean)?, 0.7);
    assert_eq!(
        (
            aggregated(AggregationMethod::Min)?,
            aggregated(AggregationMethod::Max)?
        ),
        (0.0, 1.0)
    );
    // Without one of the ten at each end.
    assert_eq!(aggregated(AggregationMethod::TrimmedMean(10.0))?, 0.75);
    Ok(())
}

/// "ScoringConfig".
fn config() {
    let config = ScoringConfig {
        threshold: 0.5,
        num_rollouts: 3,
        aggregation: AggregationMethod::Median,
        budget_msats: Some(1000),
        ..ScoringConfig::default()
    };
    assert_eq!(
        (config.threshold, config.num_rollouts, config.budget_msats),
        (0.5, 3, Some(1000))
    );
}
