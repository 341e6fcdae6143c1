//! A run that ends early keeps its finished rows and reports why it ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, rows::Pair, runs::Ending};
use futures_util::StreamExt;

fn numbered(rows: usize) -> Vec<Example> {
    (0..rows).map(|row| example! { "n" => row }).collect()
}

#[tokio::test]
async fn max_errors_counts_rows_and_stops_taking_more() {
    // Both metrics fail in each of these rows, which still is one failed row.
    let words = ["1", "fail", "1", "fail", "1", "fail", "1", "fail"];
    for (limit, rows) in [(0, 2), (1, 2), (2, 4), (3, 6), (4, 8)] {
        let evaluate = scoring()
            .metric(super::SaidLater)
            .concurrency(1)
            .max_errors(limit);
        let result = evaluate
            .build()
            .unwrap()
            .score(saying(&words))
            .await
            .unwrap();
        assert_eq!(
            (result.rows, result.failed_rows),
            (rows, rows / 2),
            "limit {limit}"
        );
        assert_eq!(result.ending, Ending::MaxErrors);
        assert!(
            result
                .to_string()
                .ends_with("rows: incomplete: too many rows failed"),
            "{result}"
        );
    }
    let evaluate = scoring().max_errors(5).build().unwrap();
    assert!(evaluate.score(saying(&words)).await.unwrap().is_complete());
}

#[tokio::test(start_paused = true)]
async fn rows_in_progress_are_finished_after_max_errors() {
    let evaluate = scoring()
        .devset(numbered(100))
        .inputs(["n"])
        .concurrency(10)
        .max_errors(1)
        .build()
        .unwrap();
    let result = evaluate
        .run(|inputs: Example| async move {
            let n = inputs.get("n").unwrap().as_u64().unwrap();
            tokio::time::sleep(Duration::from_secs(1 + n)).await;
            if n == 0 {
                Err("down")
            } else {
                Ok(prediction! { "say" => "1" })
            }
        })
        .await
        .unwrap();
    assert_eq!((result.rows, result.failed_rows), (10, 1));
    assert_eq!(result.metrics[0].mean_scored, Some(1.0));
}

#[tokio::test(start_paused = true)]
async fn stop_when_takes_no_more_rows_and_keeps_finished_rows() {
    let stop = tokio::time::sleep(Duration::from_millis(3_500));
    let evaluate = scoring()
        .devset(numbered(100))
        .inputs(["n"])
        .concurrency(2)
        .stop(|run| run.when(stop))
        .build()
        .unwrap();
    let result = evaluate
        .run(|_: Example| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            prediction! { "say" => "1" }
        })
        .await
        .unwrap();
    assert_eq!((result.rows, result.ending.clone()), (8, Ending::Stopped));
    assert_eq!(result.results.len(), 8);
    let shown = result.to_string();
    assert_eq!(
        shown,
        "said  1.0000 [0.0000, 437122.8606; few rows] (mean of 8/8, 0 failed)\nafter 8 rows: incomplete: stopped on request"
    );
}

/// In real time: the clock of a paused runtime advances while threads evaluate rows.
#[tokio::test]
async fn a_stream_that_waits_for_rows_can_be_stopped() {
    let rows = futures_util::stream::iter(saying(&["1", "0"]))
        .chain(futures_util::stream::pending::<Pair>());
    let stop = tokio::time::sleep(Duration::from_millis(500));
    let result = scoring()
        .stop(|run| run.when(stop))
        .build()
        .unwrap()
        .score_stream(rows)
        .await
        .unwrap();
    assert_eq!((result.score, result.ending), (Some(0.5), Ending::Stopped));
}

#[tokio::test]
async fn an_incomplete_run_looks_incomplete_in_its_report() {
    let words = saying(&["1", "fail", "1"]);
    let runs = [
        (scoring(), "complete"),
        (scoring().max_errors(1).concurrency(1), "max_errors"),
        (scoring().stop(|stop| stop.when(async {})), "stopped"),
        #[cfg(target_os = "linux")]
        (
            scoring().files(|files| files.json("/dev/full")),
            "output_failed",
        ),
    ];
    for (builder, ending) in runs {
        let rows = futures_util::stream::iter(words.clone());
        let rows = match ending {
            "stopped" => rows.chain(futures_util::stream::pending()).boxed(),
            _ => rows.boxed(),
        };
        let result = builder.build().unwrap().score_stream(rows).await.unwrap();
        assert_eq!(
            dsrs_metrics_tests::schema::to_value(&result)["ending"],
            ending
        );
        if let Ending::OutputFailed(error) = &result.ending {
            std::fs::remove_file(error.to_string().split('`').nth(3).unwrap()).unwrap();
        }
    }
}

/// Returns how many of 500 rows are scored if no row ever waits and `row` is the work of the metric.
async fn busy_rows(
    signal: impl Future<Output = ()> + Send + 'static,
    row: impl Fn() + Send + Sync + 'static,
) -> u64 {
    let busy = metric_fn("busy", move |_, _| {
        row();
        std::thread::sleep(Duration::from_millis(6));
        true
    });
    let evaluate = Evaluate::builder()
        .metric(busy)
        .concurrency(4)
        .stop(|stop| stop.when(signal));
    let pairs = saying(&["1"; 500]);
    let result = evaluate.build().unwrap().score(pairs).await.unwrap();
    assert_eq!(result.ending, Ending::Stopped);
    result.rows
}

#[tokio::test]
async fn a_signal_is_noticed_while_metrics_block_the_thread() {
    let signal = Arc::new(tokio::sync::Notify::new());
    let (seen, begun) = (Arc::clone(&signal), AtomicUsize::new(0));
    let row = move || {
        if begun.fetch_add(1, Ordering::SeqCst) == 3 {
            signal.notify_one();
        }
    };
    let rows = busy_rows(async move { seen.notified().await }, row).await;
    assert!((4..10).contains(&rows), "{rows} rows");
}

#[tokio::test]
async fn a_timer_fires_while_metrics_block_the_thread() {
    let rows = busy_rows(tokio::time::sleep(Duration::from_millis(50)), || {}).await;
    assert!((1..100).contains(&rows), "{rows} rows");
}

#[tokio::test]
async fn stopping_before_the_first_row_gives_neither_a_score_nor_an_error() {
    let evaluate = scoring()
        .stop(|stop| stop.when(async {}))
        .concurrency(1)
        .build()
        .unwrap();
    let rows = futures_util::stream::pending::<Pair>();
    let result = evaluate.score_stream(rows).await.unwrap();
    assert_eq!((result.rows, result.score), (0, None));
    assert!(result.to_string().contains("not enough rows"));
}

#[tokio::test(start_paused = true)]
async fn an_input_error_makes_no_further_calls() {
    let finished = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&finished);
    let rows = futures_util::stream::iter([Ok(example! {}), Err("line 2"), Ok(example! {})]);
    let evaluate = scoring()
        .devset_stream(rows)
        .concurrency(2)
        .build()
        .unwrap();
    let error = evaluate
        .run(move |_: Example| {
            let counted = Arc::clone(&counted);
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                counted.fetch_add(1, Ordering::SeqCst);
                prediction! {}
            }
        })
        .await
        .unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), finished.load(Ordering::SeqCst)),
        ("line 2", 0)
    );
}
