//! A store that cannot be used is an error before the first row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::scoring::ScorerBuilder;

use super::{Paid, builder, run};

#[tokio::test]
async fn a_folder_that_cannot_be_created_is_an_error_before_the_first_row() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let (store, out) = (dir.path().join("file/store"), dir.path().join("out.jsonl"));
    let paid: Arc<Paid> = Arc::default();
    let error = run(
        builder(&paid, &out).models(|models| models.store(&store)),
        &paid,
    )
    .await
    .unwrap_err();
    let expected = format!(
        "store {}: Not a directory (os error 20); choose another folder (--store, DSRS_STORE), or disable the store (--no-store)",
        store.display()
    );
    assert_eq!((error.to_string(), paid.programs()), (expected, 0));
}

/// What cannot be stored is not paid for again and again: the run ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_cannot_be_written_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let (store, out) = (dir.path().join("store"), dir.path().join("out.jsonl"));
    let opened = dsrs_metrics::lm::Store::open(&store).unwrap();
    let connection = rusqlite::Connection::open(opened.path()).unwrap();
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON records WHEN (SELECT count(*) FROM records) > 20
        BEGIN SELECT raise(FAIL, 'full'); END";
    connection.execute_batch(full).unwrap();
    let paid: Arc<Paid> = Arc::default();
    let result = run(
        builder(&paid, &out).models(|models| models.store(&store)),
        &paid,
    )
    .await
    .unwrap();
    let ending = format!("{:?}", result.ending);
    assert!(
        ending.starts_with("OutputFailed") && ending.contains("full"),
        "{ending}"
    );
    assert!(paid.programs() < 40, "{}", paid.programs());
    connection.execute_batch("DROP TRIGGER full").unwrap();
    let expected = super::undisturbed(dir.path()).await;
    let result = run(
        builder(&paid, &out).models(|models| models.store(&store)),
        &paid,
    )
    .await
    .unwrap();
    assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
}

/// The calls of [`Dear`].
static DEAR: AtomicU64 = AtomicU64::new(0);

/// A function with a price.
#[metric(tier = truth, cost = "9 msat")]
fn dear(#[pred] answer: &str) -> bool {
    DEAR.fetch_add(1, Ordering::SeqCst);
    answer == "a"
}

/// A call under a budget is recorded before it is made. Without the record it is not made.
#[tokio::test]
async fn a_call_under_a_budget_that_cannot_be_recorded_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let store = dsrs_metrics::lm::Store::open(dir.path()).unwrap();
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON spending BEGIN SELECT raise(FAIL, 'full'); END";
    connection.execute_batch(full).unwrap();
    let scorer = ScorerBuilder::new().truth(Dear).budget_msats(1_000);
    let scorer = scorer
        .evaluate(|run| run.models(|models| models.store(dir.path())))
        .build()
        .unwrap();
    let row = |number: u64| {
        Pair::new(
            number.to_string(),
            example! {},
            prediction! { "answer" => "a", "number" => number },
        )
    };
    let result = scorer.score_all((2..6).map(row), 1).await.unwrap();
    assert!(
        format!("{:?}", result.ending).contains("full"),
        "{:?}",
        result.ending
    );
    assert_eq!(DEAR.load(Ordering::SeqCst), 0);
    connection.execute_batch("DROP TRIGGER full").unwrap();
    let result = scorer.score_all((2..6).map(row), 1).await.unwrap();
    assert_eq!(
        (result.summary.mean, DEAR.load(Ordering::SeqCst)),
        (Some(1.0), 4)
    );
}
