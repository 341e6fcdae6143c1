//! No call is started that the budget does not cover, at any concurrency, and unspent reservations are
//! released.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::{ScriptedMetric, cheap_and_dear, pair, rollouts};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    MetricError,
    contract::MetricTier,
    runs::BudgetReport,
    scoring::{RowStatus, Scorer},
};
use proptest::prelude::*;

fn paid(scores: impl IntoIterator<Item = (f64, u64)>) -> Vec<dsrs_metrics::rows::Pair> {
    let row = |(score, cost)| pair(prediction! { "cheap" => 1.0, "dear" => (score, cost) });
    scores.into_iter().map(row).collect()
}

/// Fails where waiting for a reservation would hang.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("nobody was told")
}

#[tokio::test]
async fn rows_that_the_budget_does_not_cover_are_skipped_and_counted() {
    for concurrency in [1, 3, 64] {
        let (scorer, _, dear) = cheap_and_dear();
        let scorer = scorer.budget_msats(1_050).build().unwrap();
        let result = scorer
            .score_all(paid([(0.5, 100); 40]), concurrency)
            .await
            .unwrap();
        assert_eq!(
            (result.summary.scored, result.summary.skipped, dear.calls()),
            (10, 30, 10)
        );
        assert_eq!(
            (result.summary.passed, result.summary.budget),
            (40, Some(1_050))
        );
        let report = scorer.budget();
        assert_eq!(
            (report.spent, report.reserved, report.available()),
            (1_000, 0, Some(50))
        );
    }
}

#[tokio::test]
async fn a_row_waits_for_reservations_that_may_be_released() {
    for concurrency in [1, 8, 512] {
        let (scorer, _, dear) = cheap_and_dear();
        let scorer = scorer.budget_msats(1_000).build().unwrap();
        let result = in_time(scorer.score_all(paid([(0.5, 10); 200]), concurrency))
            .await
            .unwrap();
        assert_eq!(
            dear.calls(),
            91,
            "90 rows leave 100 msat, and 91 less than a worst case"
        );
        let spending = result.summary.spending;
        assert_eq!(
            (spending.spent_msats, spending.reserved_msats),
            (910, 9_100)
        );
        assert_eq!(
            (spending.returned_msats, result.summary.skipped),
            (8_190, 109)
        );
    }
}

#[tokio::test]
async fn clones_share_one_budget() {
    let (scorer, _, dear) = cheap_and_dear();
    let scorer = scorer.budget_msats(500).build().unwrap();
    let run = |scorer: Scorer| async move { scorer.score_all(paid([(1.0, 100); 10]), 4).await };
    let (one, other) = tokio::join!(run(scorer.clone()), run(scorer.clone()));
    let (one, other) = (one.unwrap().summary, other.unwrap().summary);
    assert_eq!((one.scored + other.scored, dear.calls()), (5, 5));
    assert_eq!(
        one.spending.spent_msats + other.spending.spent_msats,
        scorer.budget().spent
    );
}

#[tokio::test]
async fn costs_above_the_declared_cost_are_reported_and_raise_later_reservations() {
    let (scorer, _, dear) = cheap_and_dear();
    let scorer = scorer.budget_msats(1_000).build().unwrap();
    let result = scorer.score_all(paid([(1.0, 450); 5]), 1).await.unwrap();
    assert_eq!(
        dear.calls(),
        2,
        "the third is expected to cost 450 of the 100 that are left"
    );
    assert_eq!((result.summary.skipped, scorer.budget().spent), (3, 900));
    assert_eq!(
        (
            scorer.budget().overrun,
            result.summary.spending.overrun_msats
        ),
        (350, 350)
    );
    assert!(
        result.to_string().ends_with(
            "spent 900 msat of 1000, 550 reserved and 0 returned, \
         350 msat more than the metrics declared"
        ),
        "{result}"
    );
}

#[tokio::test]
async fn a_free_metric_that_costs_something_stops_after_its_first_cost() {
    let local = ScriptedMetric::truth("dear", 0);
    let scorer = Scorer::builder()
        .metric(local.clone())
        .free("dear")
        .budget_msats(100);
    let scorer = scorer.build().unwrap();
    let result = scorer.score_all(paid([(1.0, 60); 5]), 1).await.unwrap();
    assert_eq!(
        (
            local.calls(),
            result.summary.skipped,
            scorer.budget().overrun
        ),
        (1, 4, 60)
    );
}

#[tokio::test]
async fn proxies_with_a_cost_count_towards_the_budget() {
    let cheap = ScriptedMetric::new("cheap", MetricTier::Proxy, 10);
    let scorer = Scorer::builder()
        .metric(cheap.clone())
        .budget_msats(25)
        .build()
        .unwrap();
    let result = scorer.score_all(paid([(1.0, 0); 4]), 4).await.unwrap();
    assert_eq!(
        (cheap.calls(), result.summary.scored, result.summary.skipped),
        (2, 2, 2)
    );
    assert_eq!((result.summary.passed, scorer.budget().spent), (2, 20));
}

#[tokio::test]
async fn calls_that_fail_or_panic_release_their_reservations() {
    for (word, waits) in [
        ("fail", true),
        ("panic", true),
        ("fail", false),
        ("panic", false),
    ] {
        let dear = if waits {
            ScriptedMetric::truth("dear", 100).waiting()
        } else {
            ScriptedMetric::truth("dear", 100)
        };
        let scorer = Scorer::builder()
            .metric(dear)
            .budget_msats(100)
            .build()
            .unwrap();
        let row = scorer
            .score_row(&example! {}, &prediction! { "dear" => word })
            .await;
        assert_eq!(
            (row.failed(), row.spending.returned_msats),
            (1, 100),
            "{word}"
        );
        let row = scorer
            .score_row(&example! {}, &prediction! { "dear" => 1.0 })
            .await;
        assert_eq!(row.score(), Some(1.0));
        let limit = Some(100);
        let report = scorer.budget();
        assert_eq!(
            (report.limit, report.spent, report.returned),
            (limit, 100, 100)
        );
    }
}

/// Never returns.
struct Hanging(Arc<AtomicBool>);

#[async_trait]
impl Metric for Hanging {
    fn name(&self) -> &'static str {
        "hanging"
    }
    fn spec(&self) -> MetricSpec<'_> {
        let spec = MetricSpec::new("hanging")
            .with_tier(MetricTier::Truth)
            .with_range(0.0, 1.0);
        spec.with_cost_msats(40)
    }
    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        self.0.store(true, Ordering::SeqCst);
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_future_releases_unspent_reservations() {
    let started = Arc::new(AtomicBool::new(false));
    let scorer = Scorer::builder()
        .metric(Hanging(started.clone()))
        .metric(ScriptedMetric::truth("dear", 50));
    let scorer = scorer.budget_msats(200).build().unwrap();
    let pred = prediction! { "dear" => (1.0, 30) };
    {
        let (gold, running) = (example! {}, scorer.clone());
        let row = running.score_row(&gold, &pred);
        let gave_up = tokio::time::timeout(Duration::from_secs(1), row)
            .await
            .unwrap_err();
        assert_eq!(gave_up.to_string(), "deadline has elapsed");
    }
    assert!(started.load(Ordering::SeqCst));
    let report = scorer.budget();
    assert_eq!(
        (report.spent, report.reserved, report.returned),
        (30, 0, 60)
    );

    let rows = vec![pair(pred.clone()), pair(pred)];
    let running = tokio::time::timeout(Duration::from_secs(1), scorer.score_all(rows, 2)).await;
    assert_eq!(running.unwrap_err().to_string(), "deadline has elapsed");
    // Dropping the run cancels its tasks when they are next polled.
    while scorer.budget().reserved > 0 {
        tokio::task::yield_now().await;
    }
    let report = scorer.budget();
    assert_eq!(
        (report.spent, report.available()),
        (90, Some(110)),
        "what was spent is"
    );
}

#[tokio::test]
async fn amounts_that_overflow_are_not_covered() {
    let metrics = [
        ScriptedMetric::truth("dear", u64::MAX),
        ScriptedMetric::truth("other", u64::MAX),
    ];
    let scorer = Scorer::builder()
        .metrics(metrics.clone())
        .budget_msats(u64::MAX)
        .build()
        .unwrap();
    let pred = prediction! { "dear" => 1.0, "other" => 1.0 };
    let row = scorer.score_row(&example! {}, &pred).await;
    assert_eq!(row.status, RowStatus::Skipped { budget: u64::MAX });

    let scorer = Scorer::builder()
        .metrics(metrics)
        .num_rollouts(2)
        .build()
        .unwrap();
    let rows = [
        rollouts([pred.clone(), pred.clone()]),
        rollouts([pred.clone(), pred]),
    ];
    let result = scorer.score_all(rows, 1).await.unwrap();
    assert_eq!(
        (result.summary.mean, scorer.budget().spent),
        (Some(1.0), u64::MAX)
    );
    assert_eq!(scorer.budget(), {
        let mut report = BudgetReport::default();
        report.spent = u64::MAX;
        report
    });
}

/// Has the cost that the row defines, after as many yields as it defines, and checks the budget while it runs.
struct Watched {
    scorer: Arc<std::sync::OnceLock<Scorer>>,
    limit: u64,
    worst_seen: Arc<AtomicU64>,
}

const DECLARED: u64 = 100;

#[async_trait]
impl Metric for Watched {
    fn name(&self) -> &'static str {
        "watched"
    }
    fn spec(&self) -> MetricSpec<'_> {
        let spec = MetricSpec::new("watched")
            .with_tier(MetricTier::Truth)
            .with_range(0.0, 1.0);
        spec.with_cost_msats(DECLARED)
    }
    async fn evaluate(&self, _: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        let number = |name: &str| {
            pred.get(name)
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(0)
        };
        let report = self.scorer.get().unwrap().budget();
        self.worst_seen
            .fetch_max(report.spent + report.reserved, Ordering::SeqCst);
        assert!(
            report.spent + report.reserved <= self.limit,
            "overrun: {report:?}"
        );
        for _ in 0..number("turns") {
            tokio::task::yield_now().await;
        }
        match number("fate") {
            0 => Err(MetricError::failed("watched", "told to fail")),
            1 => panic!("told to panic"),
            2 => std::future::pending().await,
            _ => Ok(MetricScore::new(1.0).with_cost_msats(number("cost"))),
        }
    }
}

/// Rows of random cost, yields and outcome; with `drops` some calls never return.
fn random_rows(rows: usize, seed: u64, drops: bool) -> Vec<dsrs_metrics::rows::Pair> {
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    };
    let row = |_| {
        let fate = match random(12) {
            2 if !drops => 3,
            fate => fate,
        };
        let cost = random(DECLARED + 1);
        pair(prediction! { "fate" => fate, "turns" => random(4), "cost" => cost })
    };
    (0..rows).map(row).collect()
}

fn watched(limit: u64) -> (Scorer, Arc<AtomicU64>) {
    let (own, worst_seen) = (
        Arc::new(std::sync::OnceLock::new()),
        Arc::new(AtomicU64::new(0)),
    );
    let metric = Watched {
        scorer: own.clone(),
        limit,
        worst_seen: worst_seen.clone(),
    };
    let scorer = Scorer::builder()
        .metric(metric)
        .budget_msats(limit)
        .build()
        .unwrap();
    own.set(scorer.clone()).unwrap();
    (scorer, worst_seen)
}

/// One task for each row. Each task times out, so that calls are dropped at any point.
async fn run_dropping(
    scorer: &Scorer,
    rows: Vec<dsrs_metrics::rows::Pair>,
    concurrency: usize,
) -> u64 {
    let permits = Arc::new(tokio::sync::Semaphore::new(concurrency));
    let mut tasks = tokio::task::JoinSet::new();
    for row in rows {
        let (scorer, permits) = (scorer.clone(), permits.clone());
        tasks.spawn(async move {
            let _permit = permits.acquire().await.unwrap();
            let scoring = scorer.score_row(&row.gold, &row.pred);
            tokio::time::timeout(Duration::from_millis(20), scoring)
                .await
                .is_err()
        });
    }
    tasks
        .join_all()
        .await
        .into_iter()
        .filter(|dropped| *dropped)
        .count() as u64
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
}

/// Checks that nothing is reserved at the end, and that the limit was reached as closely as the maximum cost allows.
fn check_settled(scorer: &Scorer, worst_seen: &AtomicU64) {
    let report = scorer.budget();
    assert_eq!((report.reserved, report.overrun), (0, 0));
    assert!(report.spent <= report.limit.unwrap());
    assert!(worst_seen.load(Ordering::SeqCst) <= report.limit.unwrap());
}

/// Limits shrinking, because a case takes a while.
fn long_cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        max_shrink_iters: 8,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(long_cases(12))]

    #[test]
    fn the_budget_is_never_overrun(
        seed in any::<u64>(), concurrency in 1..=512_usize, limit in 1..600_000_u64,
    ) {
        let (scorer, worst_seen) = watched(limit);
        let rows = random_rows(10_000, seed, false);
        let result = runtime().block_on(async { in_time(scorer.score_all(rows, concurrency)).await }).unwrap();
        check_settled(&scorer, &worst_seen);
        let (summary, spending) = (&result.summary, result.summary.spending);
        prop_assert_eq!(summary.scored + summary.failed, spending.truth_calls);
        prop_assert_eq!(summary.scored + summary.failed + summary.skipped, 10_000);
        prop_assert_eq!(spending.reserved_msats, spending.truth_calls * DECLARED);
        prop_assert_eq!(spending.reserved_msats - spending.returned_msats, spending.spent_msats);
        prop_assert_eq!(spending.spent_msats, scorer.budget().spent);
        let left = scorer.budget().available().unwrap();
        prop_assert!(summary.skipped == 0 || left < DECLARED, "{} skipped, {left} left", summary.skipped);
        let overrun = result.rows.iter().any(|row| row.status.to_string().contains("overrun"));
        prop_assert!(!overrun, "seen by a metric while it ran");
    }
}

proptest! {
    #![proptest_config(long_cases(6))]

    #[test]
    fn dropped_calls_do_not_overrun_the_budget(
        seed in any::<u64>(), concurrency in 1..=512_usize, limit in 20_000..60_000_u64,
    ) {
        let (scorer, worst_seen) = watched(limit);
        let rows = random_rows(1_000, seed, true);
        let concurrency = concurrency.max(16);
        let dropped = runtime().block_on(run_dropping(&scorer, rows, concurrency));
        // The limit covers at least 200 calls, and one in twelve never ends.
        prop_assert!(dropped > 0, "some calls were dropped");
        check_settled(&scorer, &worst_seen);
        let report = scorer.budget();
        prop_assert_eq!(report.available(), Some(limit - report.spent));
    }
}
