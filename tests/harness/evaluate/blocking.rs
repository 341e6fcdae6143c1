//! Metrics that block their thread, and workers that wait for a row.

use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::time::Duration;

use super::faults::{PATIENCE, pairs};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, Pair};
use tokio::sync::Notify;

/// Counts finished calls, and wakes those that wait for a number of them.
#[derive(Default)]
struct Finished(Mutex<usize>, Condvar);

impl Finished {
    fn add(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_all();
    }

    /// Blocks the thread until this many calls have finished; returns whether they have.
    fn wait_for(&self, calls: usize) -> bool {
        let finished = self.0.lock().unwrap();
        let waited = self.1.wait_timeout_while(finished, PATIENCE, |finished| *finished < calls);
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
async fn trap_17_a_metric_that_blocks_a_thread_delays_no_other_row() {
    for row in [0, 1, 7, 50, 99] {
        let evaluate = Evaluate::builder().metric(blocks_on(row, 100)).concurrency(8);
        let result = evaluate.build().unwrap().score(pairs(100)).await.unwrap();
        assert_eq!((result.score, result.rows), (Some(1.0), 100), "row {row}");
        let evaluate = Evaluate::builder().metric(blocks_on(row, 100)).concurrency(8);
        let rows = futures_util::stream::iter(pairs(100));
        let result = evaluate.build().unwrap().score_stream(rows).await.unwrap();
        assert_eq!((result.score, result.rows), (Some(1.0), 100), "row {row} of a stream");
    }
    // Rows that are only counted are pulled several at a time.
    for row in [0, 1, 7, 500, 4_999] {
        let evaluate = Evaluate::builder().metric(blocks_on(row, 5_000)).keep_results(false);
        let result = evaluate.concurrency(8).build().unwrap().score(pairs(5_000)).await.unwrap();
        assert_eq!((result.score, result.rows), (Some(1.0), 5_000), "counted row {row}");
    }
}

/// Often enough that tokio leaves workers in a queue while a thread sleeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_17_a_blocked_thread_keeps_no_worker_in_500_runs() {
    for run in 0..500 {
        let row = [0, 1, 7, 50][run % 4];
        let evaluate = Evaluate::builder().metric(blocks_on(row, 60)).concurrency(8);
        let evaluate = evaluate.build().unwrap();
        let result = match run % 3 {
            0 => evaluate.score_stream(futures_util::stream::iter(pairs(60))).await.unwrap(),
            _ => evaluate.score(pairs(60)).await.unwrap(),
        };
        assert_eq!((result.score, result.rows), (Some(1.0), 60), "run {run}");
    }
}

/// A thread that reads a row while others wait for the source wakes one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_17_a_blocked_row_that_was_read_slowly_delays_no_other_row() {
    let evaluate = Evaluate::builder().metric(blocks_on(50, 100)).concurrency(8);
    let read_slowly = |pair: &Pair| {
        if pair.id == "50" {
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let rows = futures_util::stream::iter(pairs(100).inspect(read_slowly));
    let result = evaluate.build().unwrap().score_stream(rows).await.unwrap();
    assert_eq!((result.score, result.rows), (Some(1.0), 100));
}

/// One worker waits for the stream while another scores its only row and then reads the end.
#[tokio::test]
async fn trap_17_no_worker_waits_for_a_stream_that_has_ended() {
    struct Waits(Arc<Notify>);
    #[async_trait]
    impl Metric for Waits {
        fn name(&self) -> &'static str {
            "waits"
        }
        async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
            self.0.notified().await;
            Ok(MetricScore::new(1.0))
        }
    }
    let other_waits = Arc::new(Notify::new());
    let metric = Waits(Arc::clone(&other_waits));
    let mut polls = 0;
    let stream = futures_util::stream::poll_fn(move |_| {
        polls += 1;
        match polls {
            1 => Poll::Ready(pairs(1).next()),
            // The other worker, which polls a second time before it waits.
            2 => Poll::Pending,
            3 => {
                other_waits.notify_one();
                Poll::Pending
            }
            _ => Poll::Ready(None),
        }
    });
    let evaluate = Evaluate::builder().metric(metric).concurrency(2).build().unwrap();
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
    let evaluate = Evaluate::builder().metric(metric).concurrency(4).build().unwrap();
    let result = evaluate.score(pairs(20)).await.unwrap();
    assert_eq!((result.score, result.rows, result.failed_rows), (Some(1.0), 20, 0));
}
