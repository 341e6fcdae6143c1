//! The concurrency limit is reached and never exceeded, and rows do not wait for earlier rows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{SaidLater, report, saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, contract::Settings, rows::Pair};
use futures_util::StreamExt;
use proptest::prelude::*;
use tokio::sync::Notify;

fn numbered(rows: usize) -> Vec<Example> {
    (0..rows)
        .map(|row| example! { "n" => row, "say" => "1" })
        .collect()
}

/// Runs rows that all sleep, and returns the largest number that slept at once.
async fn asleep_at_once(rows: usize, concurrency: usize) -> usize {
    let [now, most] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let evaluate = scoring()
        .devset(numbered(rows))
        .inputs(["n", "say"])
        .concurrency(concurrency)
        .build()
        .unwrap();
    let most_of_all = Arc::clone(&most);
    let result = evaluate
        .run(move |inputs: Example| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most_of_all));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(1)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                prediction! { "say" => inputs.get("say") }
            }
        })
        .await
        .unwrap();
    assert_eq!(result.metrics[0].scored, rows as u64);
    most.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn trap_18_512_rows_at_once_means_512() {
    assert_eq!(asleep_at_once(2_000, 512).await, 512);
    assert_eq!(asleep_at_once(100, 1).await, 1);
    assert_eq!(asleep_at_once(3, 512).await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_limit_beyond_all_rows_costs_nothing() {
    assert_eq!(asleep_at_once(2_000, 100_000_000).await, 2_000);
    // The number of rows of a stream is unknown in advance.
    for rows in [1, 1_000] {
        let rows = futures_util::stream::iter(saying(&vec!["1"; rows])).filter(|_| async { true });
        let evaluate = scoring()
            .metric(SaidLater)
            .concurrency(100_000_000)
            .build()
            .unwrap();
        assert_eq!(evaluate.score_stream(rows).await.unwrap().score, Some(1.0));
    }
}

#[tokio::test(start_paused = true)]
async fn one_slow_row_delays_no_other() {
    let evaluate = scoring()
        .devset(numbered(1_000))
        .inputs(["n", "say"])
        .concurrency(2)
        .build()
        .unwrap();
    let started = tokio::time::Instant::now();
    let result = evaluate
        .run(|inputs: Example| async move {
            let slow = inputs.get("n").unwrap() == 0;
            tokio::time::sleep(Duration::from_secs(if slow { 999 } else { 1 })).await;
            prediction! { "say" => "1" }
        })
        .await
        .unwrap();
    assert_eq!(
        started.elapsed(),
        Duration::from_secs(999),
        "the others ran beside it"
    );
    let order: Vec<_> = result
        .results
        .iter()
        .map(|row| row.gold.get("n").unwrap().as_u64())
        .collect();
    assert_eq!(order, (0..1_000).map(Some).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn several_async_metrics_of_a_row_run_concurrently() {
    struct Slow(&'static str);
    #[async_trait]
    impl Metric for Slow {
        fn name(&self) -> &str {
            self.0
        }
        async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(MetricScore::new(1.0))
        }
    }
    let evaluate = scoring()
        .metrics([Slow("a"), Slow("b"), Slow("c")])
        .build()
        .unwrap();
    let started = tokio::time::Instant::now();
    let result = evaluate.score(saying(&["1"])).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_secs(10));
    assert_eq!(
        result
            .metrics
            .iter()
            .map(|summary| summary.scored)
            .sum::<u64>(),
        4
    );
}

#[tokio::test]
async fn a_stream_is_read_only_as_rows_are_needed() {
    let read = Arc::new(AtomicUsize::new(0));
    let ahead = Arc::new(AtomicUsize::new(0));
    let rows = {
        let read = Arc::clone(&read);
        (0..10_000_usize)
            .inspect(move |_| {
                read.fetch_add(1, Ordering::SeqCst);
            })
            .map(|row| example! { "n" => row })
    };
    let evaluate = Evaluate::builder()
        .devset_stream(futures_util::stream::iter(rows))
        .inputs(["n"])
        .metric(metric_fn("one", |_, _| 1.0))
        .concurrency(8)
        .keep_results(false)
        .build()
        .unwrap();
    let (begun, most_ahead) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&ahead));
    let result = evaluate
        .run(move |_: Example| {
            let begun = begun.fetch_add(1, Ordering::SeqCst) + 1;
            most_ahead.fetch_max(read.load(Ordering::SeqCst) - begun, Ordering::SeqCst);
            async {
                tokio::task::yield_now().await;
                prediction! {}
            }
        })
        .await
        .unwrap();
    assert_eq!((result.rows, result.results.len()), (10_000, 0));
    assert_eq!(
        ahead.load(Ordering::SeqCst),
        0,
        "no row is read before someone is free for it"
    );
    let again = evaluate
        .run(|_: Example| async {
            prediction! {}
        })
        .await
        .unwrap_err();
    assert!(
        again
            .to_string()
            .starts_with("the devset stream was consumed"),
        "{again}"
    );
}

#[tokio::test]
async fn rows_of_a_source_that_becomes_slow_do_not_wait_for_each_other() {
    let (evaluated, waiting) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let pairs = {
        let (evaluated, waiting) = (Arc::clone(&evaluated), Arc::clone(&waiting));
        (0..700_usize).map(move |row| {
            if row >= 600 {
                std::thread::sleep(Duration::from_millis(1));
            }
            // After the first slow rows, which may be taken together.
            if row >= 620 {
                waiting.fetch_max(row - evaluated.load(Ordering::SeqCst), Ordering::SeqCst);
            }
            Pair::new(row.to_string(), example! {}, prediction! {})
        })
    };
    let counted = Arc::clone(&evaluated);
    let metric = metric_fn("one", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        1.0
    });
    let result = Evaluate::builder()
        .metric(metric)
        .build()
        .unwrap()
        .score(pairs)
        .await
        .unwrap();
    assert_eq!((result.rows, evaluated.load(Ordering::SeqCst)), (700, 700));
    assert_eq!(waiting.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn settings_reach_every_worker_program_and_metric() {
    #[derive(PartialEq, Debug)]
    struct Model(&'static str);
    fn model() -> &'static str {
        Settings::get::<Model>().map_or("none", |model| model.0)
    }
    struct Seen;
    #[async_trait]
    impl Metric for Seen {
        fn name(&self) -> &'static str {
            "seen"
        }
        async fn evaluate(
            &self,
            _: &Example,
            pred: &Prediction,
        ) -> dsrs_metrics::Result<MetricScore> {
            tokio::task::yield_now().await;
            let all = model() == "inner" && pred.get("model").unwrap() == "inner";
            Ok(MetricScore::new(f64::from(u8::from(all))))
        }
    }
    let sync = metric_fn("sync", |_, _| model() == "inner");
    let evaluate = Evaluate::builder()
        .devset(numbered(200))
        .inputs(["n", "say"])
        .metric(sync)
        .metric(Seen);
    let evaluate = evaluate.concurrency(16).build().unwrap();
    let run = evaluate.run(|_: Example| async {
        tokio::task::yield_now().await;
        prediction! { "model" => model() }
    });
    let inner = Settings::new().with(Model("inner")).scope(run);
    let result = Settings::new()
        .with(Model("outer"))
        .with(7_u8)
        .scope(inner)
        .await
        .unwrap();
    assert_eq!(
        (result.metrics[0].mean, result.metrics[1].mean),
        (Some(1.0), Some(1.0))
    );
    assert_eq!(model(), "none");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_row_never_hangs_the_run() {
    for rows in 1..=64 {
        let evaluate = scoring()
            .devset(numbered(rows))
            .inputs(["n", "say"])
            .concurrency(8)
            .build()
            .unwrap();
        let result = evaluate.run(|_: Example| async {
            tokio::task::yield_now().await;
            prediction! { "say" => "1" }
        });
        assert_eq!(result.await.unwrap().rows, rows as u64);
    }
}

#[tokio::test]
async fn dropping_a_run_cancels_its_workers() {
    let held = Arc::new(());
    let evaluate = scoring()
        .devset(numbered(10))
        .inputs(["n", "say"])
        .build()
        .unwrap();
    let in_program = Arc::clone(&held);
    let run = evaluate.run(move |_: Example| {
        let held = Arc::clone(&in_program);
        async move {
            std::future::pending::<()>().await;
            drop(held);
            prediction! {}
        }
    });
    assert!(
        tokio::time::timeout(Duration::from_millis(20), run)
            .await
            .is_err()
    );
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&held), 1);
}

fn words() -> impl Strategy<Value = Vec<&'static str>> {
    let word = prop::sample::select(vec![
        "0.1", "0.2", "0.3", "1e-9", "1e5", "1", "0", "fail", "abstain", "nan",
    ]);
    prop::collection::vec(word, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_report_is_the_same_at_any_concurrency(words in words(), concurrency in 1_usize..=512) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let run = |concurrency| {
            let evaluate = scoring().metric(SaidLater).concurrency(concurrency).build().unwrap();
            let rows = futures_util::stream::iter(saying(&words)).boxed();
            report(&runtime.block_on(evaluate.score_stream(rows)).unwrap())
        };
        prop_assert_eq!(run(1), run(concurrency));
    }

    #[test]
    fn every_row_has_exactly_one_outcome(words in words(), concurrency in 1_usize..40) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let evaluate = scoring().metric(SaidLater).concurrency(concurrency).build().unwrap();
        let result = runtime.block_on(evaluate.score(saying(&words))).unwrap();
        for summary in &result.metrics {
            prop_assert_eq!(summary.rows(), words.len() as u64);
            let count = |word| words.iter().filter(|other| **other == word).count() as u64;
            prop_assert_eq!(summary.abstained, count("abstain"));
            prop_assert_eq!(summary.failed, count("fail") + count("nan"));
        }
        let ids: Vec<_> = result.results.iter().map(|row| row.id.clone()).collect();
        let expected: Vec<_> = saying(&words).into_iter().map(|pair: Pair| pair.id).collect();
        prop_assert_eq!(ids, expected);
    }
}

/// Other tasks run while a row waits; a worker that yielded again at its end would be queued behind all tasks that were
/// woken with it.
#[tokio::test]
async fn a_worker_whose_row_has_waited_takes_the_next_one_without_yielding() {
    let (events, woken) = (Arc::new(Mutex::new(String::new())), Arc::new(Notify::new()));
    let (noted, waking) = (Arc::clone(&events), Arc::clone(&woken));
    let program = move |_: Example| {
        let (events, woken) = (Arc::clone(&noted), Arc::clone(&waking));
        async move {
            events.lock().unwrap().push('s');
            woken.notified().await;
            events.lock().unwrap().push('e');
            Ok::<_, String>(prediction! {})
        }
    };
    let wake = tokio::spawn(async move {
        loop {
            // Longer than a time slice.
            tokio::time::sleep(Duration::from_millis(15)).await;
            woken.notify_waiters();
        }
    });
    let metric = metric_fn("any", |_, _| true);
    let evaluate = Evaluate::builder()
        .devset(vec![example! {}; 24])
        .metric(metric)
        .concurrency(8);
    let result = evaluate.build().unwrap().run(program).await.unwrap();
    wake.abort();
    assert_eq!(result.metrics[0].scored, 24);
    let expected = "s".repeat(8) + &"es".repeat(16) + &"e".repeat(8);
    assert_eq!(*events.lock().unwrap(), expected);
}
