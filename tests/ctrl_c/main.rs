//! Ctrl-C, in a process of its own: a signal is for all of it.
#![cfg(unix)]
#![allow(unused_crate_dependencies, reason = "each test needs some")]

#[cfg(target_os = "linux")]
mod dropped;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dsrs_metrics::Evaluate;
use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::{Ending, StopSettings};
use tokio::signal::unix::{SignalKind, signal};

/// Interrupts this process, and returns when everyone in it has heard of it.
async fn interrupt() {
    let mut heard = signal(SignalKind::interrupt()).unwrap();
    let me = std::process::id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &me])
        .status();
    assert!(sent.unwrap().success());
    heard.recv().await;
    // The run hears on a thread of its own, and two signals at once are one.
    tokio::time::sleep(Duration::from_millis(100)).await;
}

/// Row 3 interrupts the run, once or twice; if twice, row 2 never ends.
async fn interrupted(times: usize) -> dsrs_metrics::runs::EvaluationResult {
    let evaluate = Evaluate::builder()
        .devset((0..1_000).map(|n| example! { "n" => n }))
        .inputs(["n"])
        .metric(metric_fn("one", |_, _| 1.0))
        .concurrency(2)
        .stop(StopSettings::on_ctrl_c)
        .build()
        .unwrap();
    let program = move |inputs: Example| async move {
        match inputs.get("n").and_then(serde_json::Value::as_u64) {
            Some(2) if times == 2 => std::future::pending().await,
            Some(3) => {
                for _ in 0..times {
                    interrupt().await;
                }
            }
            _ => tokio::task::yield_now().await,
        }
        prediction! {}
    };
    evaluate.run(program).await.unwrap()
}

/// Row 3 interrupts the run, and no row ever waits.
async fn interrupted_while_busy() -> dsrs_metrics::runs::EvaluationResult {
    let busy = metric_fn("busy", |gold, _| {
        if gold.get("n").unwrap() == 3 {
            let me = std::process::id().to_string();
            let sent = std::process::Command::new("kill")
                .args(["-INT", &me])
                .status();
            assert!(sent.unwrap().success());
        }
        std::thread::sleep(Duration::from_millis(10));
        true
    });
    let evaluate = Evaluate::builder()
        .metric(busy)
        .stop(StopSettings::on_ctrl_c)
        .build()
        .unwrap();
    let pair = |n: u32| {
        dsrs_metrics::rows::Pair::new(format!("{n}"), example! { "n" => n }, prediction! {})
    };
    evaluate.score((0..500).map(pair)).await.unwrap()
}

/// Row 3 interrupts the run twice, and then blocks its thread until the run has ended.
fn interrupted_while_blocked() -> dsrs_metrics::runs::EvaluationResult {
    static HAS_ENDED: AtomicBool = AtomicBool::new(false);
    let blocks = metric_fn("blocks", |gold, _| {
        if gold.get("n").unwrap() == 3 {
            for _ in 0..2 {
                let me = std::process::id().to_string();
                let sent = std::process::Command::new("kill")
                    .args(["-TERM", &me])
                    .status();
                assert!(sent.unwrap().success());
                std::thread::sleep(Duration::from_millis(300));
            }
            while !HAS_ENDED.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        true
    });
    let evaluate = Evaluate::builder()
        .metric(blocks)
        .concurrency(1)
        .stop(StopSettings::on_ctrl_c);
    let evaluate = evaluate.build().unwrap();
    let pair = |n: u32| {
        dsrs_metrics::rows::Pair::new(format!("{n}"), example! { "n" => n }, prediction! {})
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let result = runtime
        .block_on(evaluate.score((0..500).map(pair)))
        .unwrap();
    HAS_ENDED.store(true, Ordering::SeqCst);
    result
}

/// Row 3 interrupts the run once, and row 2 never ends.
async fn interrupted_while_a_row_hangs() -> dsrs_metrics::runs::EvaluationResult {
    let evaluate = Evaluate::builder()
        .devset((0..1_000).map(|n| example! { "n" => n }))
        .inputs(["n"])
        .metric(metric_fn("one", |_, _| 1.0))
        .concurrency(2)
        .stop(|stop| stop.on_ctrl_c().grace_period(Duration::from_millis(50)))
        .build()
        .unwrap();
    let program = |inputs: Example| async move {
        match inputs.get("n").and_then(serde_json::Value::as_u64) {
            Some(2) => std::future::pending().await,
            Some(3) => interrupt().await,
            _ => tokio::task::yield_now().await,
        }
        prediction! {}
    };
    evaluate.run(program).await.unwrap()
}

#[tokio::test]
async fn ctrl_c_keeps_what_is_done_and_a_second_one_gives_up_the_rest() {
    let result = interrupted(1).await;
    assert_eq!(result.ending, Ending::Stopped);
    assert!(
        result.results.iter().any(|row| row.id == "3"),
        "what was begun is finished"
    );
    assert!(
        result.rows < 1_000 && result.metrics[0].scored == result.rows,
        "{result}"
    );

    // In the same test, for another one beside it would be interrupted as well.
    let result = interrupted(2).await;
    assert_eq!(result.ending, Ending::Stopped);
    assert!(
        result.results.iter().all(|row| row.id != "2"),
        "row 2 never ends"
    );
    assert!(
        result.rows >= 2 && result.metrics[0].scored == result.rows,
        "{result}"
    );

    let result = interrupted_while_a_row_hangs().await;
    assert_eq!(result.ending, Ending::Stopped);
    assert!(
        result.results.iter().all(|row| row.id != "2"),
        "row 2 never ends"
    );
    assert!(
        result.rows >= 2 && result.metrics[0].scored == result.rows,
        "{result}"
    );

    let result = interrupted_while_busy().await;
    assert_eq!(result.ending, Ending::Stopped);
    assert!(
        (4..100).contains(&result.rows),
        "it was heard although no thread was idle: {result}"
    );

    let result = std::thread::spawn(interrupted_while_blocked)
        .join()
        .unwrap();
    assert_eq!(result.ending, Ending::Stopped);
    assert_eq!(
        result.rows, 3,
        "the run ended without the row that cannot be cancelled: {result}"
    );
}
