//! The set-up of a scorer in `reference/dsrs-metrics.md`.

use dsrs_metrics::composite::{Composite, component, weighted};
use dsrs_metrics::judge::Models;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Result,
    contract::Settings,
    metrics,
    scoring::{AggregationMethod, RowStatus, Scorer, ScorerBuilder, ScorerError},
};

/// Without a model for the judge.
fn offline() -> Settings {
    Settings::new().with(Models::offline())
}

fn of_the_document() -> ScorerBuilder {
    ScorerBuilder::new()
        .with_default_proxy_metrics() // Format, Length, Syntax
        .with_default_truth_metrics() // LlmJudge, Diff
        .threshold(0.5) // Min proxy score to run truth
        .num_rollouts(3) // Attempts per example
        .aggregation(AggregationMethod::Median)
}

#[tokio::test]
async fn the_scorer_of_the_document_scores_rows() {
    let scorer = of_the_document().build().unwrap();
    let names = |metrics: &[dsrs_metrics::scoring::BoxedMetric]| {
        metrics
            .iter()
            .map(|metric| metric.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(scorer.metrics().proxy()),
        ["format", "length", "syntax"]
    );
    assert_eq!(names(scorer.metrics().truth()), ["llm_judge", "diff"]);

    let input = example! { "question" => "Capital of France?", "answer" => "Paris" };
    let value = async |answer: &str| -> std::result::Result<f64, ScorerError> {
        let output = prediction! { "answer" => answer };
        let score = offline().scope(scorer.score(&input, &output)).await?;
        assert!(!score.row.is_short(), "one given output is the whole row");
        Ok(score.value)
    };
    assert_eq!(value("Paris").await, Ok(1.0));
    assert_eq!(value("Lyon").await, Ok(0.0));
    assert_eq!(value("").await, Ok(0.0), "an empty output is gated");
}

#[tokio::test]
async fn a_score_has_the_outcome_and_an_error_has_the_row() {
    let input = example! { "answer" => "Paris" };
    let scorer = of_the_document().budget_msats(250).build().unwrap();
    let output = prediction! { "answer" => "" };
    let gated = offline()
        .scope(scorer.score(&input, &output))
        .await
        .unwrap();
    let by = "format, length".to_owned();
    assert_eq!(
        gated.row.status,
        RowStatus::Gated {
            proxy: 1.0 / 3.0,
            by
        }
    );
    assert_eq!((gated.value, gated.row.spending.truth_calls), (0.0, 0));

    let output = prediction! { "answer" => "Paris" };
    let unknown = offline().scope(scorer.score(&example! {}, &output)).await;
    let ScorerError::NoScore { row } = unknown.unwrap_err() else {
        panic!("not a row")
    };
    assert_eq!(row.rollouts[0].outcomes[0].value(), Some(1.0));
    assert_eq!(
        row.status.to_string(),
        "no score: metric `diff`: no field `gold.answer`; found no fields"
    );

    let spent = of_the_document().budget_msats(99).build().unwrap();
    let error = spent
        .score(&input, &prediction! { "answer" => "Paris" })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "skipped: not covered by the budget of 99 msat"
    );
}

/// The custom metric of the document.
struct MyCustomMetric {
    name: String,
    value: f64,
}

#[async_trait]
impl Metric for MyCustomMetric {
    fn name(&self) -> &str {
        &self.name
    }
    fn tier(&self) -> MetricTier {
        MetricTier::Proxy
    }
    fn cost_estimate(&self) -> u64 {
        0
    }
    async fn evaluate(&self, _: &Example, _: &Prediction) -> Result<MetricScore> {
        Ok(MetricScore {
            value: self.value,
            confidence: 1.0,
            details: Some("Explanation".to_string()),
            cost_msats: 0,
        })
    }
}

#[tokio::test]
async fn a_metric_written_by_hand_without_a_range_has_the_range_0_to_1() {
    let custom = |value| MyCustomMetric {
        name: "custom".to_owned(),
        value,
    };
    let score = async |value| {
        let scorer = Scorer::builder().metric(custom(value)).build().unwrap();
        scorer
            .score(&example! {}, &prediction! {})
            .await
            .map(|score| score.value)
    };
    assert_eq!(score(0.75).await, Ok(0.75));
    let error = score(5.0).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "no score: metric `custom`: the score 5.0 is outside the declared range 0.0..=1.0"
    );
    let (gold, pred) = (
        example! { "answer" => "a" },
        prediction! { "answer" => "a" },
    );
    let parts = [
        (component(metrics::Em::default()), 0.5),
        (component(custom(0.5)), 0.5),
    ];
    let both = Composite::builder("both", weighted(parts)).build().unwrap();
    assert_eq!(both.evaluate(&gold, &pred).await.unwrap().value, 0.75);
}
