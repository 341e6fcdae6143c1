//! A metric without a score never counts as a pass silently.

use super::{ScriptedMetric, cheap_and_dear, pair};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Outcome,
    composite::OnMissing,
    contract::Answer,
    scoring::{RowStatus, Scorer},
};

const BROKEN: [(&str, &str); 4] = [
    ("fail", "metric `b`: told to fail"),
    ("abstain", "metric `b` abstained"),
    ("panic", "metric `b` panicked: told to panic"),
    ("nan", "metric `b`: the score NaN is not a finite number"),
];

fn scorer(on_missing: OnMissing) -> (Scorer, ScriptedMetric) {
    let dear = ScriptedMetric::truth("dear", 100);
    let proxies = [
        ScriptedMetric::proxy("b").waiting(),
        ScriptedMetric::proxy("a"),
    ];
    let scorer = Scorer::builder().metrics(proxies).metric(dear.clone());
    (
        scorer
            .on_missing(on_missing)
            .threshold(0.6)
            .build()
            .unwrap(),
        dear,
    )
}

#[tokio::test]
async fn a_failed_proxy_leaves_the_row_without_a_score_and_is_named() {
    for (word, reason) in BROKEN {
        let (scorer, dear) = scorer(OnMissing::Fail);
        let pred = prediction! { "a" => 1.0, "b" => word, "dear" => 1.0 };
        let row = scorer.score_row(&example! {}, &pred).await;
        assert_eq!(
            row.status,
            RowStatus::Failed {
                reason: reason.to_owned()
            }
        );
        assert_eq!(
            (row.score(), row.rollouts[0].proxy, dear.calls()),
            (None, None, 0)
        );
        assert_eq!(
            row.rollouts[0].outcomes[2],
            Outcome::Gated { by: "b".to_owned() }
        );
        assert_eq!(row.spending.saved_msats, 0, "a broken proxy saves nothing");
    }
}

#[tokio::test]
async fn a_failed_proxy_can_be_excluded_or_count_as_0() {
    for (word, _) in BROKEN {
        let pred = prediction! { "a" => 1.0, "b" => word, "dear" => 0.5 };
        let (skipping, dear) = scorer(OnMissing::Skip);
        let row = skipping.score_row(&example! {}, &pred).await;
        assert_eq!(
            (row.rollouts[0].proxy, row.score(), dear.calls()),
            (Some(1.0), Some(0.5), 1)
        );

        let (counting, dear) = scorer(OnMissing::Zero);
        let row = counting.score_row(&example! {}, &pred).await;
        let by = "b".to_owned();
        assert_eq!(
            (row.status, dear.calls()),
            (RowStatus::Gated { proxy: 0.5, by }, 0)
        );
    }
}

#[tokio::test]
async fn if_every_proxy_fails_the_row_does_not_pass() {
    let pred = prediction! { "a" => "abstain", "b" => "panic", "dear" => 1.0 };
    let (scorer, dear) = scorer(OnMissing::Skip);
    let row = scorer.score_row(&example! {}, &pred).await;
    let reason = "metric `a` abstained; metric `b` panicked: told to panic".to_owned();
    assert_eq!(
        (row.status, dear.calls()),
        (RowStatus::Failed { reason }, 0)
    );
}

#[tokio::test]
async fn a_truth_metric_that_is_missing_does_not_change_the_mean_unnoticed() {
    let truth = [
        ScriptedMetric::truth("x", 1),
        ScriptedMetric::truth("y", 1).waiting(),
    ];
    let pred = prediction! { "x" => 1.0, "y" => "fail" };
    let score = async |on_missing| {
        let scorer = Scorer::builder()
            .metrics(truth.clone())
            .on_missing(on_missing);
        scorer.build().unwrap().score_row(&example! {}, &pred).await
    };
    let row = score(OnMissing::Fail).await;
    assert_eq!(row.status.to_string(), "no score: metric `y`: told to fail");
    assert!(row.rollouts[0].passed);
    assert_eq!(score(OnMissing::Skip).await.score(), Some(1.0));
    assert_eq!(score(OnMissing::Zero).await.score(), Some(0.5));
}

#[tokio::test]
async fn nan_and_scores_out_of_range_are_failures_and_never_clamped() {
    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer.build().unwrap();
    let pred = prediction! { "cheap" => 1.0, "dear" => "nan" };
    let row = scorer.score_row(&example! {}, &pred).await;
    let reason = "metric `dear`: the score NaN is not a finite number".to_owned();
    assert_eq!(row.status, RowStatus::Failed { reason });

    let pred = prediction! { "cheap" => 5.0, "dear" => 1.0 };
    let row = scorer.score_row(&example! {}, &pred).await;
    let error = &row.rollouts[0].outcomes[0];
    assert!(matches!(
        error,
        Outcome::MetricFailed { error }
            if error.to_string().contains("the score 5.0 is outside the declared range")
    ));
}

#[tokio::test]
async fn a_score_changed_after_validation_is_validated_again() {
    struct Tampering;
    #[async_trait]
    impl Metric for Tampering {
        fn name(&self) -> &'static str {
            "tampering"
        }
        fn spec(&self) -> MetricSpec<'_> {
            MetricSpec::new("tampering").with_range(0.0, 1.0)
        }
        async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
            Ok(MetricScore::new(1.0))
        }
        fn answer<'a>(&'a self, _: MetricCall<'a>) -> Answer<'a> {
            use dsrs_metrics::contract::MetricReturn;
            let mut scored = true.into_scored(&self.spec()).unwrap();
            scored.score.value = f64::NAN;
            Answer::from(Ok(scored))
        }
    }
    let scorer = Scorer::builder().metric(Tampering).build().unwrap();
    let row = scorer.score_row(&example! {}, &prediction! {}).await;
    let reason = "metric `tampering`: the score NaN is outside the declared range 0.0..=1.0";
    assert_eq!(
        row.status,
        RowStatus::Failed {
            reason: reason.to_owned()
        }
    );
}

#[tokio::test]
async fn crashing_rows_cannot_raise_the_mean() {
    let (scorer, ..) = cheap_and_dear();
    let words = [
        serde_json::json!(0.5),
        serde_json::json!(0.75),
        "fail".into(),
        "panic".into(),
    ];
    let rows = words.map(|dear| pair(prediction! { "cheap" => 1.0, "dear" => dear }));
    let result = scorer.build().unwrap().score_all(rows, 4).await.unwrap();
    assert_eq!(
        (result.summary.mean, result.summary.mean_scored),
        (Some(0.3125), Some(0.625))
    );
    assert_eq!(
        result.to_string(),
        "0.3125 [0.0452, 0.8137] (mean of 2/4, 2 failed counted as 0; 0.6250 over the 2 scored); \
         4 truth calls made; spent 200 msat"
    );
}
