//! Metrics that block their thread, and workers that wait for a row.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::faults::{PATIENCE, pairs};
use dsrs_metrics::data::DataReader;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, rows::Pair};
use tokio::sync::Notify;

/// Counts finished calls, and wakes those that wait for a number of them.
#[derive(Default)]
struct Finished(Mutex<usize>, Condvar);

impl Finished {
    fn add(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_all();
    }

    /// Blocks the thread until this many calls have finished. Returns `true` if they have.
    fn wait_for(&self, calls: usize) -> bool {
        let finished = self.0.lock().unwrap();
        let waited = self
            .1
            .wait_timeout_while(finished, PATIENCE, |finished| *finished < calls);
        !waited.unwrap().1.timed_out()
    }
}

/// A metric that blocks its thread on one row until all others are scored, and is 1 if they were.
fn blocks_on(row: usize, rows: usize) -> impl Metric {
    let finished = Finished::default();
    metric_fn("blocks", move |gold: &Example, _: &Prediction| {
        if gold.get("n").unwrap() == row {
            return finished.wait_for(rows - 1);
        }
        finished.add();
        true
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_metric_that_blocks_a_thread_delays_no_other_row() {
    for row in [0, 1, 7, 50, 99] {
        let evaluate = Evaluate::builder()
            .metric(blocks_on(row, 100))
            .concurrency(8);
        let result = evaluate.build().unwrap().score(pairs(100)).await.unwrap();
        assert_eq!((result.score, result.rows), (Some(1.0), 100), "row {row}");
        let evaluate = Evaluate::builder()
            .metric(blocks_on(row, 100))
            .concurrency(8);
        let rows = futures_util::stream::iter(pairs(100));
        let result = evaluate.build().unwrap().score_stream(rows).await.unwrap();
        assert_eq!(
            (result.score, result.rows),
            (Some(1.0), 100),
            "row {row} of a stream"
        );
    }
    // Rows that are only counted are pulled several at a time.
    for row in [0, 1, 7, 500, 4_999] {
        let evaluate = Evaluate::builder()
            .metric(blocks_on(row, 5_000))
            .keep_results(false);
        let result = evaluate
            .concurrency(8)
            .build()
            .unwrap()
            .score(pairs(5_000))
            .await
            .unwrap();
        assert_eq!(
            (result.score, result.rows),
            (Some(1.0), 5_000),
            "counted row {row}"
        );
    }
}

/// Often enough that tokio leaves workers in a queue while a thread sleeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_thread_keeps_no_worker_in_500_runs() {
    for run in 0..500 {
        let row = [0, 1, 7, 50][run % 4];
        let evaluate = Evaluate::builder()
            .metric(blocks_on(row, 60))
            .concurrency(8);
        let evaluate = evaluate.build().unwrap();
        let result = match run % 3 {
            0 => evaluate
                .score_stream(futures_util::stream::iter(pairs(60)))
                .await
                .unwrap(),
            _ => evaluate.score(pairs(60)).await.unwrap(),
        };
        assert_eq!((result.score, result.rows), (Some(1.0), 60), "run {run}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_metric_that_blocks_delays_no_other_row_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    let rows = (0..5_000).map(|n| format!("{{\"gold\": {{\"n\": {n}}}}}\n"));
    std::fs::write(&file, rows.collect::<String>()).unwrap();
    // The first and the last row of a chunk, and rows within one.
    for row in [0, 7, 2_500, 4_990, 4_999] {
        for keep in [false, true] {
            let evaluate = Evaluate::builder()
                .metric(blocks_on(row, 5_000))
                .keep_results(keep);
            let rows = DataReader::new().read([&file]).unwrap();
            let result = evaluate.build().unwrap().score_files(rows).await.unwrap();
            assert_eq!((result.score, result.rows), (Some(1.0), 5_000), "row {row}");
        }
    }
}

/// Waits for a millisecond.
struct Waits;

#[async_trait]
impl Metric for Waits {
    fn name(&self) -> &'static str {
        "waits"
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(MetricScore::new(1.0))
    }
}

/// Rows whose program or another metric waits are tasks of the runtime.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_task_keeps_no_other_in_200_runs() {
    for run in 0..200 {
        let row = [0, 1, 7, 50][run % 4];
        let evaluate = Evaluate::builder()
            .metric(blocks_on(row, 60))
            .metric(Waits)
            .concurrency(8);
        let evaluate = evaluate
            .devset((0..60).map(|n| example! { "n" => n }))
            .inputs(["n"]);
        let evaluate = evaluate.build().unwrap();
        let program = |_: Example| async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            prediction! {}
        };
        let result = match run % 3 {
            0 => evaluate.run(program).await.unwrap(),
            1 => evaluate.score(pairs(60)).await.unwrap(),
            _ => evaluate
                .score_stream(futures_util::stream::iter(pairs(60)))
                .await
                .unwrap(),
        };
        let scores = [0, 1].map(|metric| result.metrics[metric].score);
        assert_eq!((scores, result.rows), ([Some(1.0); 2], 60), "run {run}");
    }
}

/// The spec declares a synchronous metric.
#[tokio::test]
async fn a_metric_that_waits_against_its_spec_is_awaited() {
    struct Undeclared;
    #[async_trait]
    impl Metric for Undeclared {
        fn name(&self) -> &'static str {
            "undeclared"
        }
        fn spec(&self) -> MetricSpec<'_> {
            MetricSpec::new("undeclared")
        }
        async fn evaluate(
            &self,
            gold: &Example,
            _: &Prediction,
        ) -> dsrs_metrics::Result<MetricScore> {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(MetricScore::new(gold.get("n").unwrap().as_f64().unwrap()))
        }
    }
    let evaluate = Evaluate::builder().metric(Undeclared).build().unwrap();
    let result = evaluate.score(pairs(5)).await.unwrap();
    assert_eq!((result.score, result.rows), (Some(2.0), 5));
}

/// A thread that reads a row while others wait for the source wakes one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_row_that_was_read_slowly_delays_no_other_row() {
    let evaluate = Evaluate::builder()
        .metric(blocks_on(50, 100))
        .concurrency(8);
    let read_slowly = |pair: &Pair| {
        if pair.id == "50" {
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let rows = futures_util::stream::iter(pairs(100).inspect(read_slowly));
    let result = evaluate.build().unwrap().score_stream(rows).await.unwrap();
    assert_eq!((result.score, result.rows), (Some(1.0), 100));
}

/// The stream ends only after its only row is scored.
#[tokio::test]
async fn a_stream_that_ends_late_ends_the_run() {
    struct Notifies(Arc<Notify>);
    #[async_trait]
    impl Metric for Notifies {
        fn name(&self) -> &'static str {
            "notifies"
        }
        async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
            tokio::task::yield_now().await;
            self.0.notify_one();
            Ok(MetricScore::new(1.0))
        }
    }
    let scored = Arc::new(Notify::new());
    let end = Arc::clone(&scored);
    let stream = futures_util::stream::unfold(pairs(1), move |mut rows| {
        let end = Arc::clone(&end);
        async move {
            match rows.next() {
                Some(row) => Some((row, rows)),
                None => {
                    end.notified().await;
                    None
                }
            }
        }
    });
    let evaluate = Evaluate::builder()
        .metric(Notifies(scored))
        .concurrency(2)
        .build()
        .unwrap();
    let run = tokio::time::timeout(PATIENCE, evaluate.score_stream(stream));
    let result = run.await.expect("the run ends").unwrap();
    assert_eq!((result.score, result.rows), (Some(1.0), 1));
}

#[tokio::test]
async fn a_metric_that_blocks_the_only_thread_delays_the_others_until_it_returns() {
    let metric = metric_fn("blocks", |gold: &Example, _: &Prediction| {
        if gold.get("n").unwrap() == 1 {
            std::thread::sleep(Duration::from_millis(200));
        }
        true
    });
    let evaluate = Evaluate::builder()
        .metric(metric)
        .concurrency(4)
        .build()
        .unwrap();
    let result = evaluate.score(pairs(20)).await.unwrap();
    assert_eq!(
        (result.score, result.rows, result.failed_rows),
        (Some(1.0), 20, 0)
    );
}
