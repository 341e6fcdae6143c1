//! Proxies run first, truth metrics only where they pass; and the ranks of rows.

use std::time::Duration;

use super::{ScriptedMetric, cheap_and_dear, pair};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Outcome,
    contract::MetricTier,
    scoring::{RowStatus, Scorer},
};
use proptest::prelude::*;

#[tokio::test]
async fn proxies_that_reject_60_of_100_save_60_of_100_truth_calls() {
    let (scorer, cheap, dear) = cheap_and_dear();
    let scorer = scorer.threshold(0.5).build().unwrap();
    let row = |row: u32| {
        let cheap = if row % 10 < 6 { 0.25 } else { 0.75 };
        pair(prediction! { "cheap" => cheap, "dear" => (0.5, 60) })
    };
    let result = scorer.score_all((0..10_000).map(row), 64).await.unwrap();
    assert_eq!((cheap.calls(), dear.calls()), (10_000, 4_000));
    let summary = &result.summary;
    assert_eq!(
        (summary.rows, summary.passed, summary.gated),
        (10_000, 4_000, 6_000)
    );
    assert_eq!(
        (summary.scored, summary.failed, summary.skipped),
        (4_000, 0, 0)
    );
    let spending = &summary.spending;
    assert_eq!(
        (spending.truth_calls, spending.truth_calls_gated),
        (4_000, 6_000)
    );
    assert_eq!(
        (spending.saved_msats, spending.spent_msats),
        (600_000, 240_000)
    );
    assert_eq!((summary.mean, summary.mean_scored), (Some(0.2), Some(0.5)));
    assert_eq!(
        result.to_string(),
        "0.2000 [0.1952, 0.2048] (mean of 4000/10000, 0 failed, 6000 gated counted as 0; 0.5000 over the 4000 \
         scored); 4000 truth calls made, 6000 avoided by the gate, saving 600000 msat; \
         spent 240000 msat"
    );
}

#[tokio::test]
async fn a_gated_row_names_the_proxies_and_its_truth_metrics_are_not_called() {
    let dear = ScriptedMetric::truth("dear", 100);
    let names = ["zeal", "form", "size"];
    let scorer = Scorer::builder()
        .metrics(names.map(ScriptedMetric::proxy))
        .metric(dear.clone());
    let scorer = scorer.threshold(0.8).build().unwrap();
    let pred = prediction! { "zeal" => 0.7, "form" => 0.0, "size" => 0.8, "dear" => 1.0 };
    let row = scorer.score_row(&example! {}, &pred).await;
    let by = "form, zeal".to_owned();
    assert_eq!(
        row.status,
        RowStatus::Gated {
            proxy: 0.5,
            by: by.clone()
        }
    );
    assert_eq!(row.rollouts[0].outcomes[3], Outcome::Gated { by });
    assert_eq!(row.rollouts[0].outcomes[1].value(), Some(0.0));
    assert_eq!(
        (row.score(), row.rollouts[0].proxy, row.rollouts[0].passed),
        (None, Some(0.5), false)
    );
    assert_eq!(
        row.status.to_string(),
        "gated by form, zeal (proxies 0.5000)"
    );
    assert_eq!((dear.calls(), row.spending.saved_msats), (0, 100));
}

#[tokio::test]
async fn the_threshold_itself_passes() {
    for (threshold, cheap, passes) in [
        (0.6, 0.6, true),
        (0.6, 0.6_f64.next_down(), false),
        (0.0, 0.0, true),
        (1.0, 1.0, true),
    ] {
        let names = ["a", "b", "c"];
        let scorer = Scorer::builder()
            .metrics(names.map(ScriptedMetric::proxy))
            .threshold(threshold);
        let pred = prediction! { "a" => cheap, "b" => cheap, "c" => cheap };
        let row = scorer.build().unwrap().score_row(&example! {}, &pred).await;
        assert_eq!(row.score().is_some(), passes, "{cheap} at {threshold}");
    }
}

#[tokio::test]
async fn every_metric_counts_by_its_own_range_and_direction() {
    #[metric(range = 1.0..=5.0)]
    fn stars(#[pred] stars: f64) -> f64 {
        stars
    }
    #[metric(range = 0.0..=200.0, lower_is_better)]
    fn errors(#[pred] errors: f64) -> f64 {
        errors
    }
    #[metric(range = 0.0..=200.0, lower_is_better, threshold = 20.0, strict, tier = truth)]
    fn few_errors(#[pred] errors: f64) -> f64 {
        errors
    }
    let scorer = Scorer::builder()
        .metric(Stars)
        .metric(Errors)
        .metric(FewErrors);
    let scorer = scorer.threshold(0.8).build().unwrap();
    let row = scorer
        .score_row(&example! {}, &prediction! { "stars" => 5, "errors" => 20 })
        .await;
    assert_eq!(
        (row.rollouts[0].proxy, row.score()),
        (Some(0.95), Some(1.0))
    );
    let row = scorer
        .score_row(&example! {}, &prediction! { "stars" => 5, "errors" => 50 })
        .await;
    assert_eq!(
        (row.rollouts[0].proxy, row.score()),
        (Some(0.875), Some(0.0))
    );
    let row = scorer
        .score_row(&example! {}, &prediction! { "stars" => 3, "errors" => 0 })
        .await;
    let by = "stars".to_owned();
    assert_eq!(row.status, RowStatus::Gated { proxy: 0.75, by });
}

#[tokio::test]
async fn without_truth_metrics_the_proxies_are_the_score_and_without_proxies_there_is_no_gate() {
    let scorer = Scorer::builder()
        .metric(ScriptedMetric::proxy("cheap"))
        .build()
        .unwrap();
    let row = scorer
        .score_row(&example! {}, &prediction! { "cheap" => 0.75 })
        .await;
    assert_eq!(row.score(), Some(0.75));
    let row = scorer
        .score_row(&example! {}, &prediction! { "cheap" => 0.25 })
        .await;
    assert_eq!((row.score(), row.gated()), (None, 1));

    let scorer = Scorer::builder()
        .metric(ScriptedMetric::truth("dear", 0))
        .build()
        .unwrap();
    let row = scorer
        .score_row(&example! {}, &prediction! { "dear" => 0.25 })
        .await;
    assert_eq!((row.score(), row.rollouts[0].proxy), (Some(0.25), None));
}

#[tokio::test(start_paused = true)]
async fn async_metrics_of_a_tier_run_concurrently() {
    struct Slow(&'static str, MetricTier);
    #[async_trait]
    impl Metric for Slow {
        fn name(&self) -> &str {
            self.0
        }
        fn spec(&self) -> MetricSpec<'_> {
            MetricSpec::new(self.0)
                .with_tier(self.1)
                .with_range(0.0, 1.0)
                .with_async()
        }
        async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(MetricScore::new(1.0))
        }
    }
    let (proxy, truth) = (MetricTier::Proxy, MetricTier::Truth);
    let metrics = [
        Slow("a", proxy),
        Slow("b", proxy),
        Slow("c", truth),
        Slow("d", truth),
    ];
    let scorer = Scorer::builder()
        .metrics(metrics)
        .num_rollouts(3)
        .build()
        .unwrap();
    let started = tokio::time::Instant::now();
    let preds = [(); 3].map(|()| prediction! {});
    assert_eq!(
        scorer.score_rollouts(&example! {}, &preds).await.score(),
        Some(1.0)
    );
    assert_eq!(
        started.elapsed(),
        Duration::from_secs(20),
        "a tier after the other, no more"
    );
}

/// The script of a metric.
fn word() -> impl Strategy<Value = serde_json::Value> {
    let number = (0..=10_u8).prop_map(|tenths| serde_json::json!(f64::from(tenths) / 10.0));
    let broken = prop::sample::select(vec!["abstain", "fail", "panic", "nan"]);
    prop_oneof![8 => number, 1 => broken.prop_map(serde_json::Value::from)]
}

fn preds() -> impl Strategy<Value = Vec<Prediction>> {
    let pred = prop::array::uniform4(word()).prop_map(|words| {
        ["a", "b", "c", "d"]
            .into_iter()
            .zip(words)
            .collect::<Prediction>()
    });
    prop::collection::vec(pred, 1..5)
}

fn order_of_metrics() -> impl Strategy<Value = Vec<ScriptedMetric>> {
    let metrics = vec![
        ScriptedMetric::proxy("a"),
        ScriptedMetric::proxy("b").waiting().lower_is_better(),
        ScriptedMetric::truth("c", 7),
        ScriptedMetric::truth("d", 9).waiting(),
    ];
    Just(metrics).prop_shuffle()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_gated_row_ranks_below_every_row_that_passed(
        rows in prop::collection::vec(preds(), 2..20), threshold in 0.0..=1.0_f64,
    ) {
        let metrics = [ScriptedMetric::proxy("a"), ScriptedMetric::proxy("b"), ScriptedMetric::truth("c", 1), ScriptedMetric::truth("d", 1)];
        let scorer = Scorer::builder().metrics(metrics).threshold(threshold).build().unwrap();
        let rows: Vec<_> =
            rows.iter().map(|preds| block_on(scorer.score_rollouts(&example! {}, preds))).collect();
        for one in &rows {
            for other in &rows {
                match (&one.status, &other.status) {
                    (RowStatus::Scored { score }, RowStatus::Scored { score: less }) => {
                        prop_assert_eq!(one.rank() > other.rank(), score > less);
                    }
                    (RowStatus::Scored { .. }, _) => prop_assert!(one.rank() > other.rank()),
                    (RowStatus::Gated { .. }, RowStatus::Failed { .. }) => {
                        prop_assert!(one.rank() > other.rank());
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_better_proxy_never_lowers_the_rank(
        a in 0.0..=1.0_f64, b in 0.0..=1.0_f64, more in 0.0..=1.0_f64, truth in 0.0..=1.0_f64,
        threshold in 0.0..=1.0_f64,
    ) {
        let metrics = [ScriptedMetric::proxy("a"), ScriptedMetric::proxy("b"), ScriptedMetric::truth("c", 1)];
        let scorer = Scorer::builder().metrics(metrics).threshold(threshold).build().unwrap();
        let rank = |a: f64| {
            let pred = prediction! { "a" => a, "b" => b, "c" => truth };
            block_on(scorer.score_row(&example! {}, &pred)).rank()
        };
        prop_assert!(rank((a + more).min(1.0)) >= rank(a));
    }

    #[test]
    fn the_order_of_metrics_never_matters(
        one in order_of_metrics(), other in order_of_metrics(), preds in preds(),
        on_missing in prop::sample::select(vec![
            dsrs_metrics::composite::OnMissing::Fail, dsrs_metrics::composite::OnMissing::Skip, dsrs_metrics::composite::OnMissing::Zero,
        ]),
    ) {
        let score = |metrics: Vec<ScriptedMetric>| {
            let scorer = Scorer::builder().metrics(metrics).on_missing(on_missing).build().unwrap();
            block_on(scorer.score_rollouts(&example! {}, &preds))
        };
        let (one, other) = (score(one), score(other));
        prop_assert_eq!(&one.status, &other.status);
        prop_assert_eq!(&one.spending, &other.spending);
        prop_assert_eq!(one.rank(), other.rank());
        for (one, other) in one.rollouts.iter().zip(&other.rollouts) {
            prop_assert_eq!(one.proxy.map(f64::to_bits), other.proxy.map(f64::to_bits));
        }
    }
}
