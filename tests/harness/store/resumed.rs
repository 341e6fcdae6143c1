//! Runs that are stopped or dropped, and continued.

use std::sync::Arc;
use std::time::Duration;

use dsrs_metrics::Evaluate;
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::runs::Ending;

use super::{Paid, ROWS, builder, program, run, undisturbed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_run_continues_and_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let expected = undisturbed(dir.path()).await;
    for stop_after in [1, 17, 40] {
        let (store, out) = (
            dir.path().join(format!("store-{stop_after}")),
            dir.path().join("out.jsonl"),
        );
        let first = Paid::stopping_after(stop_after);
        let result = run(
            builder(&first, &out).models(|models| models.store(&store)),
            &first,
        )
        .await
        .unwrap();
        assert_eq!(result.ending, Ending::Stopped);
        assert_eq!(result.store.unwrap().found, 0);
        let second: Arc<Paid> = Arc::default();
        let result = run(
            builder(&second, &out).models(|models| models.store(&store)),
            &second,
        )
        .await
        .unwrap();
        assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
        let used = result.store.unwrap();
        assert_eq!(used.paid, second.programs() + second.metrics(), "{used:?}");
        // A failure costs nothing, and is tried again: of 5 programs, and of the metric on 17 other rows.
        let programs = first.programs() + second.programs();
        assert!((ROWS..=ROWS + 5).contains(&programs), "{programs}");
        let metrics = first.metrics() + second.metrics();
        assert!((55..=55 + 17).contains(&metrics), "{metrics}");
        assert!(
            used.found + 27 >= first.programs() + first.metrics(),
            "{used:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_run_again_pays_for_nothing_but_failures() {
    let dir = tempfile::tempdir().unwrap();
    let expected = undisturbed(dir.path()).await;
    let (store, out) = (dir.path().join("store"), dir.path().join("out.jsonl"));
    for (programs, metrics, as_before) in [(60, 55, 0), (5, 17, 38), (5, 17, 38)] {
        let paid: Arc<Paid> = Arc::default();
        let versioned =
            builder(&paid, &out).models(|models| models.store(&store).program_version("1"));
        let result = run(versioned, &paid).await.unwrap();
        assert_eq!(result.to_string(), expected.0);
        assert_eq!((paid.programs(), paid.metrics()), (programs, metrics));
        let used = result.store.unwrap();
        assert_eq!(
            (used.rows_as_before, used.paid),
            (as_before, programs + metrics)
        );
    }
    // Everything is paid for again on request.
    let paid: Arc<Paid> = Arc::default();
    let versioned = builder(&paid, &out)
        .models(|models| models.store(&store).program_version("1").refresh(true));
    let result = run(versioned, &paid).await.unwrap();
    assert_eq!(
        (paid.programs(), paid.metrics(), result.store.unwrap().found),
        (60, 55, 0)
    );
    // Nothing is known about a program without a version, which runs again once a run has ended.
    for metrics in [17, 17] {
        let paid: Arc<Paid> = Arc::default();
        let result = run(
            builder(&paid, &out).models(|models| models.store(&store)),
            &paid,
        )
        .await
        .unwrap();
        assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
        assert_eq!((paid.programs(), paid.metrics()), (60, metrics));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_run_continues() {
    let dir = tempfile::tempdir().unwrap();
    let expected = undisturbed(dir.path()).await;
    let (store, out) = (dir.path().join("store"), dir.path().join("out.jsonl"));
    let mut programs = 0;
    loop {
        let paid = Paid::stopping_after(7);
        // Its own stop signal is never set.
        let evaluate = builder(&Arc::default(), &out).models(|models| models.store(&store));
        let running = run(evaluate, &paid);
        let result = tokio::select! {
            biased;
            () = paid.stop.notified() => None,
            result = running => Some(result.unwrap()),
        };
        // The workers of a dropped run end at their next await.
        programs += paid.programs();
        if let Some(result) = result {
            assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
            break;
        }
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    // At most the four rows in progress are predicted again after each of the drops, and the five that fail each time.
    assert!(
        (ROWS..ROWS + (4 + 5) * 12).contains(&programs),
        "{programs}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeats_are_restored_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.jsonl");
    let evaluate = |paid: &Arc<Paid>| builder(paid, &out).repeats(3);
    let paid = Arc::default();
    let expected = run(evaluate(&paid), &paid).await.unwrap().to_string();
    let expected = (expected, std::fs::read(&out).unwrap());
    let store = dir.path().join("store");
    let first = Paid::stopping_after(50);
    let _ = run(
        evaluate(&first).models(|models| models.store(&store)),
        &first,
    )
    .await
    .unwrap();
    let second: Arc<Paid> = Arc::default();
    let result = run(
        evaluate(&second).models(|models| models.store(&store)),
        &second,
    )
    .await
    .unwrap();
    assert_eq!((result.to_string(), std::fs::read(&out).unwrap()), expected);
    let programs = first.programs() + second.programs();
    assert!(
        (3 * ROWS..=3 * ROWS + 3 * 5).contains(&programs),
        "{programs}"
    );
}

#[tokio::test]
async fn given_predictions_are_compared_and_scored_once() {
    let dir = tempfile::tempdir().unwrap();
    let (store, out) = (dir.path().join("store"), dir.path().join("out.jsonl"));
    let pairs = || {
        (0..10_u64).map(|number| {
            let gold = example! { "number" => number, "answer" => number.to_string() };
            Pair::new(format!("q{number}"), gold, prediction! { "answer" => "7" })
        })
    };
    let paid = Arc::default();
    let result = builder(&paid, &out)
        .models(|models| models.store(&store))
        .score(pairs().take(6))
        .await
        .unwrap();
    assert_eq!((result.rows, paid.metrics()), (6, 6));
    let result = builder(&paid, &out)
        .models(|models| models.store(&store))
        .score(pairs())
        .await
        .unwrap();
    // Rows 0 and 1 failed, and are scored again.
    assert_eq!((result.rows, paid.metrics()), (10, 12));
    assert_eq!(result.store.unwrap().rows_as_before, 4);
}

/// Values of a program whose inputs come from a CSV file are untyped strings, also after they are restored.
#[tokio::test]
async fn untyped_strings_are_restored_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let run = || {
        let row = Example::from(example! { "answer" => "0.5" }.data.textual());
        let near = typed_metric_fn("near", |_: &Example, pred: &Prediction| {
            f64::from(u8::from(pred.data.clone().textual() == pred.data))
        });
        let evaluate = Evaluate::builder()
            .devset([row])
            .inputs(["answer"])
            .metric(near);
        let evaluate = evaluate.models(|models| models.program_version("1").store(&store));
        evaluate.run(|inputs: Example| async move { Prediction::from(inputs.data) })
    };
    let (first, second) = (run().await.unwrap(), run().await.unwrap());
    assert_eq!(first.results, second.results);
    assert_eq!(
        (second.score, second.store.unwrap().rows_as_before),
        (Some(1.0), 1)
    );
}

/// A metric reads the latency that was measured when the program ran.
#[tokio::test]
async fn a_measured_latency_is_restored() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let run = || {
        let evaluate = Evaluate::builder()
            .devset(super::devset(3))
            .inputs(["number"]);
        let evaluate = evaluate.metric(dsrs_metrics::metrics::Latency);
        let paid: Arc<Paid> = Arc::default();
        evaluate
            .models(|models| models.program_version("1").store(&store))
            .run(move |inputs: Example| program(Arc::clone(&paid), inputs))
    };
    let (first, second) = (run().await.unwrap(), run().await.unwrap());
    assert_eq!(first.score, second.score);
}
