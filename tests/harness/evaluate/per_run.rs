//! Settings that are changed for one run, and observers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::{saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    runs::{EvaluateError, EvaluateErrorKind, EvaluationResult, Observer, RowResult, RunStart},
};

async fn echo(row: Example) -> Prediction {
    prediction! { "say" => row.get("say").cloned().unwrap_or_default() }
}

fn devset(words: &[&str]) -> Vec<Example> {
    words
        .iter()
        .map(|word| example! { "say" => *word })
        .collect()
}

#[tokio::test]
async fn settings_are_changed_for_one_run_only() {
    let evaluate = scoring()
        .devset(devset(&["1", "0"]))
        .inputs(["say"])
        .failures(|failures| failures.score(0.5));
    let evaluate = evaluate.build().unwrap();
    let other = metric_fn("other", |_, _| true);
    let third = metric_fn("third", |_, _| false);
    let run = evaluate
        .to_builder()
        .devset(devset(&["1", "fail", "1"]))
        .concurrency(1)
        .run(echo);
    assert_eq!(
        run.await.unwrap().score,
        Some(2.5 / 3.0),
        "metric and failure score are kept"
    );
    let run = evaluate
        .to_builder()
        .metric(other)
        .metric(third)
        .display_table(false)
        .run(echo);
    let names = run
        .await
        .unwrap()
        .metrics
        .into_iter()
        .map(|metric| metric.name);
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["other", "third"],
        "the first metric replaces"
    );
    let run = evaluate
        .to_builder()
        .metrics([metric_fn("list", |_, _| true)])
        .score(saying(&["1"]));
    assert_eq!(
        run.await.unwrap().to_string(),
        "list  100.00% [20.65, 100.00] (1/1, 0 failed)"
    );
    assert_eq!(
        evaluate.run(echo).await.unwrap().score,
        Some(0.5),
        "unchanged"
    );
}

#[tokio::test]
async fn an_invalid_change_is_an_error_of_the_run() {
    let evaluate = scoring()
        .devset(devset(&["1"]))
        .inputs(["say"])
        .build()
        .unwrap();
    let run = evaluate.to_builder().concurrency(0).run(echo).await;
    assert_eq!(
        run.unwrap_err().to_string(),
        "expected `concurrency` to be at least 1, found 0"
    );
    let run = evaluate.to_builder().devset([]).run(echo).await;
    assert_eq!(run.unwrap_err().kind(), EvaluateErrorKind::NoRows);
}

#[tokio::test]
async fn a_devset_stream_is_used_by_one_run_only() {
    let rows = futures_util::stream::iter(devset(&["1"]));
    let evaluate = scoring()
        .devset_stream(rows)
        .inputs(["say"])
        .build()
        .unwrap();
    assert_eq!(evaluate.to_builder().run(echo).await.unwrap().rows, 1);
    assert_eq!(
        evaluate.run(echo).await.unwrap_err().to_string(),
        "the devset stream was consumed by an earlier run; build a new evaluation, or pass a list to `.devset(..)`"
    );
}

#[tokio::test]
async fn a_failed_row_has_the_failure_score_in_its_triple() {
    let words = ["1", "fail", "abstain", "panic"];
    let result = scoring()
        .failures(|failures| failures.score(-2.0))
        .score(saying(&words))
        .await
        .unwrap();
    let scores: Vec<_> = result.triples().map(|(_, _, score)| score).collect();
    assert_eq!(scores, [Some(1.0), Some(-2.0), None, Some(-2.0)]);
    assert_eq!(
        result.results[1].score(),
        None,
        "the row itself has no score"
    );
    let (gold, pred, _) = result.triples().nth(1).unwrap();
    assert_eq!(
        (gold, pred.unwrap().get("say").unwrap()),
        (&example! {}, &"fail".into())
    );
    assert_eq!(
        (result.percent(), result.metrics[0].mean),
        (Some(-100.0), Some(-1.0))
    );
    let nothing = scoring().score(saying(&["abstain"])).await.unwrap();
    assert_eq!(nothing.percent(), None);
}

#[tokio::test]
async fn a_results_rows_are_scored_again() {
    let same = |gold: &Example, pred: &Prediction| gold.get("say") == pred.get("say");
    let run = Evaluate::builder()
        .metric(metric_fn("same", same))
        .devset(devset(&["a", "b"]));
    let result = run.inputs(["say"]).run(echo).await.unwrap();
    #[metric]
    fn same_word(#[gold] say: &str, #[pred("say")] said: &str) -> bool {
        say == said
    }
    for row in &result.results {
        assert_eq!(
            SameWord
                .score(&row.gold, row.pred.as_ref().unwrap())
                .unwrap()
                .value,
            1.0
        );
    }
}

#[tokio::test]
async fn rows_behind_an_arc_are_a_devset() {
    #[metric]
    fn same_word(#[gold] say: &str, #[pred("say")] said: &str) -> bool {
        say == said
    }
    let rows = devset(&["a", "b"])
        .into_iter()
        .map(|row| Arc::new(row.with_inputs(["say"])));
    let evaluate = Evaluate::<Arc<Example>, Prediction>::typed()
        .devset(rows)
        .metric(SameWord);
    let program = |row: Arc<Example>| async move { echo((*row).clone()).await };
    assert_eq!(evaluate.run(program).await.unwrap().score, Some(1.0));
}

/// The names of the metrics, the number of rows and the concurrency.
type Start = (Vec<String>, Option<u64>, usize);

/// Everything that an observer receives.
#[derive(Default)]
struct Log {
    started: Mutex<Vec<Start>>,
    rows: Mutex<Vec<String>>,
    ended: Mutex<Vec<Result<u64, EvaluateError>>>,
}

impl Observer for Log {
    fn on_start(&self, run: &RunStart<'_>) {
        let start = (run.metrics.to_vec(), run.rows, run.concurrency);
        self.started.lock().unwrap().push(start);
    }

    fn on_row(&self, row: &RowResult) {
        assert_eq!(
            self.started.lock().unwrap().len(),
            1,
            "start is before the first row"
        );
        assert!(
            self.ended.lock().unwrap().is_empty(),
            "end is after the last row"
        );
        self.rows.lock().unwrap().push(row.id.clone());
    }

    fn on_end(&self, result: Result<&EvaluationResult, &EvaluateError>) {
        self.ended
            .lock()
            .unwrap()
            .push(result.map(|it| it.rows).map_err(Clone::clone));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn observers_see_start_every_row_and_end() {
    let log = Arc::new(Log::default());
    let words = ["1", "fail", "panic", "abstain", "0.5"].repeat(20);
    let evaluate = scoring()
        .observer(Arc::clone(&log))
        .concurrency(7)
        .keep_results(false);
    let result = evaluate.score(saying(&words)).await.unwrap();
    assert_eq!((result.rows, result.observer_error), (100, None));
    let start = (vec!["said".to_owned()], Some(100), 7);
    assert_eq!(*log.started.lock().unwrap(), [start]);
    let mut rows = log.rows.lock().unwrap().clone();
    rows.sort_by_key(|id| id[3..].parse::<u64>().unwrap());
    assert_eq!(
        rows,
        (0..100).map(|row| format!("row{row}")).collect::<Vec<_>>()
    );
    assert_eq!(*log.ended.lock().unwrap(), [Ok(100)]);
}

#[tokio::test]
async fn an_input_error_reaches_the_end_of_observers() {
    let log = Arc::new(Log::default());
    let rows = saying(&["1", "1"])
        .into_iter()
        .map(Ok)
        .chain([Err("broken line".to_owned())]);
    let rows: Vec<Result<Pair, String>> = rows.collect();
    let run = scoring()
        .observer(Arc::clone(&log))
        .concurrency(1)
        .score(rows)
        .await;
    assert_eq!(*log.ended.lock().unwrap(), [Err(run.unwrap_err())]);
    let log = Arc::new(Log::default());
    let run = scoring().observer(Arc::clone(&log)).run(echo).await;
    assert_eq!(run.unwrap_err().kind(), EvaluateErrorKind::Setting);
    assert!(log.started.lock().unwrap().is_empty() && log.ended.lock().unwrap().is_empty());
}

struct Panicking(AtomicUsize);

impl Observer for Panicking {
    fn on_row(&self, row: &RowResult) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("no space for {}", row.id);
    }
}

#[tokio::test]
async fn a_panic_of_an_observer_does_not_affect_the_run() {
    let (bad, log) = (
        Arc::new(Panicking(AtomicUsize::new(0))),
        Arc::new(Log::default()),
    );
    let run = scoring()
        .observer(Arc::clone(&bad))
        .observer(Arc::clone(&log))
        .concurrency(1);
    let result = run.score(saying(&["1", "1", "0"])).await.unwrap();
    assert_eq!((result.rows, result.failed_rows), (3, 0));
    let message = "an observer panicked: no space for row0";
    assert_eq!(result.observer_error.as_deref(), Some(message));
    assert_eq!(bad.0.load(Ordering::Relaxed), 1, "not called again");
    assert_eq!(log.rows.lock().unwrap().len(), 3, "the other one is");
}
