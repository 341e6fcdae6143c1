//! Many rows: order, denominators, and errors outside the metrics.

use super::{ScriptedMetric, cheap_and_dear, pair};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    contract::Settings,
    rows::Pair,
    runs::EvaluateErrorKind,
    scoring::{Rollouts, RowStatus, Scorer, ScorerBuilder, ScorerError},
};

fn row(row: u32) -> Pair {
    let cheap = f64::from(row % 7) / 6.0;
    let dear = if row.is_multiple_of(11) {
        "fail".into()
    } else {
        serde_json::json!([0.1 * f64::from(row % 9), row])
    };
    pair(prediction! { "cheap" => cheap, "dear" => dear })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_rows_give_the_same_result_at_any_concurrency() {
    let run = async |concurrency| {
        let (scorer, ..) = cheap_and_dear();
        let scorer = scorer.build().unwrap();
        let mut result = scorer
            .score_all((0..2_000).map(row), concurrency)
            .await
            .unwrap();
        assert!(
            result.manifest.process.take().is_some(),
            "start and duration"
        );
        result
    };
    let one = run(1).await;
    for concurrency in [2, 7, 512] {
        let other = run(concurrency).await;
        assert_eq!(one, other);
        assert_eq!(
            one.summary.mean.map(f64::to_bits),
            other.summary.mean.map(f64::to_bits),
            "{concurrency}"
        );
    }
    let summary = &one.summary;
    assert_eq!(
        summary.scored + summary.gated + summary.skipped + summary.failed,
        summary.rows,
        "every row is in exactly one of them"
    );
    assert!(
        summary.gated > 0 && summary.failed > 0 && summary.scored > 0,
        "{summary:?}"
    );
    assert!(
        matches!(one.rows[0].status, RowStatus::Gated { .. }),
        "rows are in input order"
    );
    assert_eq!(one.rows[6].score(), Some(0.1 * 6.0));
}

#[tokio::test]
async fn a_mean_over_1_of_4_never_looks_like_one_over_4() {
    let truth = ScriptedMetric::truth("dear", 100);
    let scorer = Scorer::builder()
        .metric(truth)
        .budget_msats(100)
        .build()
        .unwrap();
    let rows = [1.0; 4].map(|dear| pair(prediction! { "dear" => dear }));
    let result = scorer.score_all(rows, 2).await.unwrap();
    assert_eq!((result.summary.scored, result.summary.skipped), (1, 3));
    assert_eq!(
        result.to_string(),
        "1.0000 [not enough rows] (mean of 1/4, 0 failed, 3 skipped because of the budget); 1 truth calls made; \
         spent 100 msat of 100, 100 reserved and 0 returned"
    );
}

#[tokio::test]
async fn nothing_scored_is_not_a_score_of_0() {
    let (scorer, ..) = cheap_and_dear();
    let rows = ["fail", "panic"].map(|word| pair(prediction! { "cheap" => word }));
    let result = scorer.build().unwrap().score_all(rows, 1).await.unwrap();
    assert_eq!(
        (result.summary.mean, result.summary.mean_scored),
        (None, None)
    );
    assert_eq!(
        result.to_string(),
        "not enough rows (scored 0/2, 2 failed); 0 truth calls made; spent 0 msat\n\
         first error: row 1: metric `cheap`: told to fail"
    );
    let (scorer, ..) = cheap_and_dear();
    let rows = [0.0, 0.25].map(|cheap| pair(prediction! { "cheap" => cheap }));
    let result = scorer.build().unwrap().score_all(rows, 1).await.unwrap();
    assert!(
        result
            .to_string()
            .starts_with("0.0000 [0.0000, 0.9908] (mean of 0/2, 0 failed, 2 gated counted as 0; none has a score)"),
        "{result}"
    );
}

#[tokio::test]
async fn an_error_of_some_rows_is_not_an_error_of_the_run() {
    let (scorer, ..) = cheap_and_dear();
    let rows = ["fail".into(), serde_json::json!(1.0)];
    let rows = rows.map(|dear| pair(prediction! { "cheap" => 1.0, "dear" => dear }));
    let result = scorer.build().unwrap().score_all(rows, 1).await.unwrap();
    assert_eq!(
        (result.summary.failed, result.summary.rollouts_failed),
        (1, 1)
    );
    let printed = result.to_string();
    assert!(
        printed.starts_with(
            "0.5000 [0.0015, 0.9985] (mean of 1/2, 1 failed counted as 0; 1.0000 over the 1 scored)"
        ),
        "{printed}"
    );
    assert!(!printed.contains("first error"), "{printed}");
    let [failed, scored] = [0, 1].map(|row| result.rows[row].rank());
    assert!(failed != scored && failed < scored, "{failed:?} {scored:?}");
}

#[tokio::test]
async fn no_rows_no_concurrency_and_rows_that_panic_are_errors() {
    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer.build().unwrap();
    let none: Vec<Pair> = Vec::new();
    assert_eq!(
        scorer.score_all(none, 4).await.unwrap_err().to_string(),
        "expected at least 1 row, found none; check the source of the rows"
    );
    let error = scorer.score_all([row(1)], 0).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected `concurrency` to be at least 1, found 0"
    );
    let breaking = (0..9).map(|number| {
        if number == 5 {
            panic!("broken pipe")
        } else {
            row(number)
        }
    });
    let error = scorer.score_all(breaking, 4).await.unwrap_err();
    assert_eq!(error.to_string(), "reading the rows panicked: broken pipe");
}

#[test]
fn a_missing_runtime_is_an_error_and_not_a_panic() {
    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer.build().unwrap();
    let error = futures_util::FutureExt::now_or_never(scorer.score_all([row(1)], 1)).unwrap();
    let ScorerError::Run(error) = error.unwrap_err() else {
        panic!("a run")
    };
    assert_eq!(error.kind(), EvaluateErrorKind::Runtime);
}

#[tokio::test]
async fn settings_of_the_caller_reach_every_worker() {
    struct Language(&'static str);
    let language = metric_fn("language", |_, _| {
        Settings::get::<Language>().is_some_and(|language| language.0 == "en")
    });
    let scorer = Scorer::builder().metric(language).build().unwrap();
    let rows = (0..8).map(row);
    let settings = Settings::new().with(Language("en"));
    let result = settings.scope(scorer.score_all(rows, 4)).await.unwrap();
    assert_eq!(result.summary.mean, Some(1.0));
}

#[tokio::test]
async fn rows_may_be_of_any_type() {
    let near = typed_metric_fn("near", |gold: &f64, pred: &f64| 1.0 - (gold - pred).abs());
    let near = near.with_range(0.0, 1.0).with_tier(MetricTier::Truth);
    let scorer = ScorerBuilder::typed().metric(near).build().unwrap();
    let rows = vec![Rollouts::new(0.5, [0.25, 0.5]), Rollouts::new(1.0, [1.0])];
    let result = scorer.score_all(rows, 2).await.unwrap();
    assert_eq!(result.summary.mean, Some(0.9375));
}

#[tokio::test]
async fn debug_never_prints_rows_and_the_summary_serializes_flat() {
    let (scorer, ..) = cheap_and_dear();
    let result = scorer
        .build()
        .unwrap()
        .score_all((0..50).map(row), 4)
        .await
        .unwrap();
    let shown = format!("{result:?}");
    assert!(
        shown.contains("<50 rows>") && shown.len() < 1_000,
        "{shown}"
    );
    let json = serde_json::to_value(&result.summary).unwrap();
    assert_eq!(
        (&json["rows"], &json["budget"]),
        (&50.into(), &serde_json::Value::Null)
    );
    assert_eq!(json["truth_calls"], result.summary.spending.truth_calls);
}

#[tokio::test]
async fn the_manifest_of_a_scorer_has_its_settings() {
    let run = async |threshold: f64| {
        let scorer = Scorer::builder().metric(dsrs_metrics::metrics::Em::default());
        let scorer = scorer
            .threshold(threshold)
            .evaluate(|run| run.label("base").tag("p", "1"));
        let row = Pair::new(
            "1",
            example! { "answer" => "4" },
            prediction! { "answer" => "4" },
        );
        scorer
            .build()
            .unwrap()
            .score_all([row], 1)
            .await
            .unwrap()
            .manifest
            .run
    };
    let manifest = run(0.25).await;
    assert_eq!(
        (manifest.label.as_deref(), &*manifest.tags["p"]),
        (Some("base"), "1")
    );
    assert_eq!((manifest.rows, &*manifest.ending), (1, "complete"));
    assert!(manifest.metrics.contains_key("em") && manifest.data.is_empty());
    let settings = [
        ("scorer.aggregation", "Median"),
        ("scorer.on_missing", "Fail"),
        ("scorer.threshold", "0.25"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(manifest.settings, settings.into());
    assert_eq!(run(0.5).await.settings["scorer.threshold"], "0.5");
}
