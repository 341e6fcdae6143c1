//! Several rollouts of one example have one score.

use super::{ScriptedMetric, cheap_and_dear, rollouts};
use dsrs_metrics::prelude::*;
use dsrs_metrics::scoring::AggregationMethod::{self, Max, Mean, Median, Min, TrimmedMean};
use dsrs_metrics::{
    composite::OnMissing,
    rows::Pair,
    scoring::{RowScore, RowStatus, Scorer},
};

fn attempts<const N: usize>(scores: [f64; N]) -> [Prediction; N] {
    scores.map(|score| prediction! { "cheap" => 1.0, "dear" => score })
}

async fn score(method: AggregationMethod, preds: &[Prediction]) -> RowScore {
    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer.num_rollouts(5).aggregation(method).build().unwrap();
    scorer.score_rollouts(&example! {}, preds).await
}

#[tokio::test]
async fn the_rollouts_of_a_row_are_aggregated_by_the_method() {
    let preds = attempts([0.9, 0.1, 0.5, 0.8, 0.2]);
    let cases = [
        (Median, 0.5),
        (Mean, 0.5),
        (Min, 0.1),
        (Max, 0.9),
        (TrimmedMean(20.0), 0.5),
    ];
    for (method, expected) in cases {
        assert_eq!(
            score(method, &preds).await.score(),
            Some(expected),
            "{method:?}"
        );
    }
}

#[tokio::test]
async fn truth_metrics_are_not_called_for_a_gated_rollout_which_counts_as_0() {
    let gated = prediction! { "cheap" => 0.0, "dear" => 1.0 };
    let [passed] = attempts([0.75]);
    let preds = [gated.clone(), passed, gated.clone()];
    let row = score(Mean, &preds).await;
    assert_eq!((row.score(), row.scored(), row.gated()), (Some(0.25), 1, 2));
    let spending = &row.spending;
    assert_eq!(
        (
            spending.truth_calls,
            spending.truth_calls_gated,
            spending.saved_msats
        ),
        (1, 2, 200)
    );
    assert_eq!(score(Max, &preds).await.score(), Some(0.75));
    let row = score(Median, &preds).await;
    assert_eq!(row.score(), Some(0.0));
    let all_gated = score(Median, &[gated.clone(), gated]).await;
    assert!(row.rank() > all_gated.rank(), "one rollout passed");
    assert_eq!(
        all_gated.status,
        RowStatus::Gated {
            proxy: 0.0,
            by: "cheap".to_owned()
        }
    );
}

#[tokio::test]
async fn a_failed_rollout_is_counted_and_never_dropped_silently() {
    let mut preds = attempts([0.8, 0.6, 0.4]).to_vec();
    preds.insert(1, prediction! { "cheap" => 1.0, "dear" => "fail" });
    let row = score(Mean, &preds).await;
    assert_eq!((row.scored(), row.failed(), row.rollouts.len()), (3, 1, 4));
    let reason = "rollout 2 of 4: metric `dear`: told to fail".to_owned();
    assert_eq!(row.status, RowStatus::Failed { reason });

    for (on_missing, expected, failed) in [(OnMissing::Skip, 0.6, 1), (OnMissing::Zero, 0.45, 0)] {
        let (scorer, ..) = cheap_and_dear();
        let scorer = scorer
            .aggregation(Mean)
            .on_missing(on_missing)
            .build()
            .unwrap();
        let row = scorer.score_rollouts(&example! {}, &preds).await;
        assert_eq!(
            (row.score(), row.failed()),
            (Some(expected), failed),
            "{on_missing:?}"
        );
    }
}

#[tokio::test]
async fn fewer_rollouts_than_configured_are_reported() {
    let row = score(Median, &attempts([0.5, 0.7, 0.9])).await;
    assert_eq!(
        (row.score(), row.rollouts.len(), row.expected),
        (Some(0.7), 3, 5)
    );
    assert!(row.is_short());
    assert!(!score(Median, &attempts([0.5; 5])).await.is_short());
    let row = score(Median, &[]).await;
    assert_eq!(row.status.to_string(), "no score: the row has no rollouts");

    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer.num_rollouts(2).build().unwrap();
    let rows = [rollouts(attempts([0.5, 1.0])), rollouts(attempts([0.25]))];
    let result = scorer.score_all(rows, 1).await.unwrap();
    assert_eq!((result.summary.rollouts, result.summary.short), (3, 1));
    assert_eq!(
        result.to_string(),
        "0.5000 [0.0061, 0.9939] (mean of 2/2, 0 failed); 3 rollouts, 0 failed, 0 gated, fewer than \
         configured in 1/2 rows; 3 truth calls made; spent 300 msat"
    );
}

#[tokio::test]
async fn rows_are_averaged_so_passes_and_fails_do_not_collapse() {
    let correct = metric_fn("correct", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    });
    let scorer = Scorer::builder().metric(correct.with_tier(MetricTier::Truth));
    let scorer = scorer.aggregation(Median).build().unwrap();
    let row = |row: u32| {
        let pred = prediction! { "answer" => u32::from(row < 74) };
        Pair::new(row.to_string(), example! { "answer" => 1 }, pred)
    };
    let result = scorer.score_all((0..100).map(row), 4).await.unwrap();
    assert_eq!(result.summary.mean, Some(0.74));
}

#[tokio::test]
async fn the_budget_covers_all_rollouts_or_none() {
    let dear = ScriptedMetric::truth("dear", 100).waiting();
    let scorer = Scorer::builder()
        .metric(dear.clone())
        .budget_msats(299)
        .build()
        .unwrap();
    let row = scorer
        .score_rollouts(&example! {}, &attempts([0.5, 0.7, 0.9]))
        .await;
    assert_eq!(
        (row.status, dear.calls()),
        (RowStatus::Skipped { budget: 299 }, 0)
    );
    let row = scorer
        .score_rollouts(&example! {}, &attempts([0.5, 0.7]))
        .await;
    assert_eq!((row.score(), scorer.budget().spent), (Some(0.6), 200));
}
