//! Runs that are stopped or dropped, and continued.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dsrs_metrics::Evaluate;
use dsrs_metrics::metrics::{Bleu, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::runs::{Ending, EvaluateBuilder};

use super::{Paid, ROWS, builder, program, run, undisturbed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_22_a_stopped_run_continues_and_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let expected = undisturbed(dir.path()).await;
    for stop_after in [1, 17, 40] {
        let (journal, out) =
            (dir.path().join(format!("journal-{stop_after}")), dir.path().join("out.jsonl"));
        let first = Paid::stopping_after(stop_after);
        let result = run(builder(&first, &out).journal(&journal), &first).await.unwrap();
        assert_eq!(result.ending, Ending::Stopped);
        assert_eq!(result.journal.unwrap().restored_rows, 0);
        let second: Arc<Paid> = Arc::default();
        let result = run(builder(&second, &out).journal(&journal), &second).await.unwrap();
        assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
        assert_eq!(result.journal.unwrap().restored_rows, first.programs());
        assert_eq!(first.programs() + second.programs(), ROWS, "no row is predicted twice");
        // The program fails on some rows, which have no score.
        assert_eq!(first.metrics() + second.metrics(), 55, "no row is scored twice");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_run_is_restored_without_a_call() {
    let dir = tempfile::tempdir().unwrap();
    let expected = undisturbed(dir.path()).await;
    let (journal, out) = (dir.path().join("journal"), dir.path().join("out.jsonl"));
    for calls in [ROWS, 0, 0] {
        let paid: Arc<Paid> = Arc::default();
        let result = run(builder(&paid, &out).journal(&journal), &paid).await.unwrap();
        assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
        assert_eq!((paid.programs(), result.journal.unwrap().restored_rows), (calls, ROWS - calls));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_run_continues() {
    let dir = tempfile::tempdir().unwrap();
    let expected = undisturbed(dir.path()).await;
    let (journal, out) = (dir.path().join("journal"), dir.path().join("out.jsonl"));
    let mut programs = 0;
    loop {
        let paid = Paid::stopping_after(7);
        // Its own stop signal is never set.
        let evaluate = builder(&Arc::default(), &out).journal(&journal);
        let running = run(evaluate, &paid);
        let result = tokio::select! {
            biased;
            () = paid.stop.notified() => None,
            result = running => Some(result.unwrap()),
        };
        // The workers of a dropped run end at their next await, and then release the journal.
        programs += paid.programs();
        if let Some(result) = result {
            assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
            break;
        }
        while std::fs::File::open(journal.join("journal.log")).unwrap().try_lock().is_err() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    // At most the four rows in progress are predicted again after each of the drops.
    assert!((ROWS..ROWS + 4 * 9).contains(&programs), "{programs}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeats_are_restored_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.jsonl");
    let evaluate = |paid: &Arc<Paid>| builder(paid, &out).repeats(3);
    let paid = Arc::default();
    let expected = run(evaluate(&paid), &paid).await.unwrap().to_string();
    let expected = (expected, std::fs::read(&out).unwrap());
    let journal = dir.path().join("journal");
    let first = Paid::stopping_after(50);
    let _ = run(evaluate(&first).journal(&journal), &first).await.unwrap();
    let second: Arc<Paid> = Arc::default();
    let result = run(evaluate(&second).journal(&journal), &second).await.unwrap();
    assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
    assert_eq!(first.programs() + second.programs(), 3 * ROWS);
}

#[tokio::test]
async fn given_predictions_are_compared_and_scored_once() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, out) = (dir.path().join("journal"), dir.path().join("out.jsonl"));
    let pairs = || {
        (0..10_u64).map(|number| {
            let gold = example! { "number" => number, "answer" => number.to_string() };
            Pair::new(format!("q{number}"), gold, prediction! { "answer" => "7" })
        })
    };
    let paid = Arc::default();
    let result = builder(&paid, &out).journal(&journal).score(pairs().take(6)).await.unwrap();
    assert_eq!((result.rows, paid.metrics()), (6, 6));
    let result = builder(&paid, &out).journal(&journal).score(pairs()).await.unwrap();
    assert_eq!((result.rows, paid.metrics()), (10, 10));
    assert_eq!(result.journal.unwrap().restored_rows, 6);
}

/// Metrics that compute at once are evaluated by threads, and their records are written together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_threads_are_restored_from_a_journal_that_ends_anywhere() {
    const ROWS: u64 = 50;
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.jsonl");
    let evaluate = |calls: &Arc<AtomicU64>| {
        let calls = Arc::clone(calls);
        let counting = typed_metric_fn("counting", move |gold: &Example, pred: &Prediction| {
            calls.fetch_add(1, Ordering::SeqCst);
            assert!(gold.get("number").unwrap() != 13, "not 13");
            gold.get("answer") == pred.get("answer")
        });
        let evaluate = Evaluate::builder().metric(counting).metric(F1::default());
        // The contribution of a row to a score of all rows is not recorded.
        evaluate.metric(Bleu::default()).keep_results(false).save_as_jsonl(&out)
    };
    let run = async |evaluate: EvaluateBuilder<Example, Prediction>| {
        let pair = |number: u64| {
            let gold = example! { "number" => number, "answer" => format!("row {number}") };
            Pair::new(format!("q{number}"), gold, prediction! { "answer" => "row 7" })
        };
        let result = evaluate.build().unwrap().score((0..ROWS).map(pair)).await.unwrap();
        let restored = result.journal.map(|journal| journal.restored_rows);
        ((result.to_string(), std::fs::read(&out).unwrap()), restored)
    };
    let (expected, _) = run(evaluate(&Arc::default())).await;
    let journal = dir.path().join("journal");
    assert_eq!(run(evaluate(&Arc::default()).journal(&journal)).await, (expected.clone(), Some(0)));
    let log = std::fs::read(journal.join("journal.log")).unwrap();
    let header = log.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in [log.len(), log.len() - 1, log.len() / 2, header + 1, header] {
        std::fs::write(journal.join("journal.log"), &log[..end]).unwrap();
        let recorded = log[header..end].iter().filter(|byte| **byte == b'\n').count() as u64;
        let calls = Arc::default();
        let (found, restored) = run(evaluate(&calls).journal(&journal)).await;
        assert_eq!((&found, restored), (&expected, Some(recorded)));
        assert_eq!(calls.load(Ordering::SeqCst), ROWS - recorded, "no row is scored twice");
    }
}

/// Values of a program whose inputs come from a CSV file are untyped strings, also after they are restored.
#[tokio::test]
async fn untyped_strings_are_restored_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    let run = || {
        let row = Example::from(example! { "answer" => "0.5" }.data.textual());
        let near = typed_metric_fn("near", |_: &Example, pred: &Prediction| {
            f64::from(u8::from(pred.data.clone().textual() == pred.data))
        });
        let evaluate = Evaluate::builder().devset([row]).inputs(["answer"]).metric(near);
        let evaluate = evaluate.journal(&journal);
        evaluate.run(|inputs: Example| async move { Prediction::from(inputs.data) })
    };
    let (first, second) = (run().await.unwrap(), run().await.unwrap());
    assert_eq!(first.results, second.results);
    assert_eq!((second.score, second.journal.unwrap().restored_rows), (Some(1.0), 1));
}

/// A metric reads the latency that was measured when the program ran.
#[tokio::test]
async fn a_measured_latency_is_restored() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    let run = || {
        let evaluate = Evaluate::builder().devset(super::devset(3)).inputs(["number"]);
        let evaluate = evaluate.metric(dsrs_metrics::metrics::Latency);
        let paid: Arc<Paid> = Arc::default();
        evaluate.journal(&journal).run(move |inputs: Example| program(Arc::clone(&paid), inputs))
    };
    let (first, second) = (run().await.unwrap(), run().await.unwrap());
    assert_eq!(first.score, second.score);
}

/// What failed is done again on request only.
#[tokio::test]
async fn failures_are_restored_or_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, out) = (dir.path().join("journal"), dir.path().join("out.jsonl"));
    // The program fails on 5 rows, and the metric on 17 of the others.
    for (retry, programs, metrics) in [(false, 60, 55), (false, 0, 0), (true, 5, 17), (false, 0, 0)]
    {
        let paid: Arc<Paid> = Arc::default();
        let evaluate = builder(&paid, &out).journal_input("program", "1").journal(&journal);
        let result = run(evaluate.retry_failed(retry), &paid).await.unwrap();
        assert_eq!((paid.programs(), paid.metrics(), result.failed_rows), (programs, metrics, 22));
    }
}
