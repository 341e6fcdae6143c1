//! Faults of metrics, programs and input. The guide page `durability.md` lists the outcome of each.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::files::names;
use super::{saying, scoring};
use dsrs_metrics::data::{DataReader, Format};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    runs::{Ending, EvaluateError, EvaluationResult, Observer, RowResult},
};
use serde::Serialize;
use tokio::sync::Notify;

/// How long a test waits for what should happen at once.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

fn numbered(rows: usize) -> Vec<Example> {
    (0..rows).map(|row| example! { "n" => row }).collect()
}

pub(super) fn pairs(rows: usize) -> impl Iterator<Item = Pair> + Send {
    (0..rows).map(|row| Pair::new(format!("{row}"), example! { "n" => row }, prediction! {}))
}

#[tokio::test]
async fn numbers_that_are_not_finite_are_failed_rows() {
    struct Later;
    #[async_trait]
    impl Metric for Later {
        fn name(&self) -> &'static str {
            "later"
        }
        async fn evaluate(
            &self,
            gold: &Example,
            _: &Prediction,
        ) -> dsrs_metrics::Result<MetricScore> {
            tokio::task::yield_now().await;
            Ok(MetricScore::new(number(gold)))
        }
    }
    fn number(gold: &Example) -> f64 {
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5]
            [gold.get("n").unwrap().as_u64().unwrap() as usize]
    }
    let now = metric_fn("now", |gold: &Example, _: &Prediction| number(gold));
    let evaluate = Evaluate::builder()
        .metric(now)
        .metric(Later)
        .build()
        .unwrap();
    let result = evaluate.score(pairs(4)).await.unwrap();
    for (metric, name) in ["now", "later"].into_iter().enumerate() {
        let error = |row: usize| result.results[row].outcomes[metric].error().unwrap();
        let expected =
            |number| format!("metric `{name}`: the score {number} is not a finite number");
        assert_eq!([0, 1, 2].map(error), ["NaN", "inf", "-inf"].map(expected));
        let summary = &result.metrics[metric];
        assert_eq!((summary.scored, summary.failed), (1, 3));
        assert_eq!(
            (summary.mean, summary.mean_scored),
            (Some(0.125), Some(0.5))
        );
    }
}

/// A prediction that panics when it is dropped, unless it is 0.
#[derive(Serialize)]
struct Bomb(usize);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(
            self.0 == 0 || std::thread::panicking(),
            "dropped {}",
            self.0
        );
    }
}

#[tokio::test]
async fn a_row_that_panics_when_it_is_dropped_ends_the_run_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let any = typed_metric_fn("any", |_: &usize, _: &Bomb| true);
    let evaluate = Evaluate::typed()
        .devset(0..8)
        .metric(any)
        .keep_results(false)
        .concurrency(1)
        .files(|files| files.jsonl(folder.path().join("out.jsonl")))
        .build()
        .unwrap();
    let program = |n: usize| async move { Bomb(if n == 3 { 3 } else { 0 }) };
    let error = evaluate.run(program).await.unwrap_err();
    assert_eq!(
        error,
        EvaluateError::Worker {
            message: "dropped 3".to_owned()
        }
    );
    assert_eq!(names(folder.path()), [""; 0]);
}

#[tokio::test]
async fn a_panic_whose_payload_panics_when_it_is_dropped_is_a_failed_row() {
    let odd = metric_fn("odd", |_, _| -> f64 { std::panic::panic_any(Bomb(7)) });
    let evaluate = Evaluate::builder().metric(odd).build().unwrap();
    let result = evaluate.score(saying(&["1"])).await.unwrap();
    let error = result.results[0].outcomes[0].error().unwrap();
    assert_eq!(error, "metric `odd` panicked: a value that is not a string");
}

#[tokio::test]
async fn a_stream_or_id_that_panics_half_way_is_an_input_error() {
    use futures_util::StreamExt;
    let folder = tempfile::tempdir().unwrap();
    let builder = || {
        scoring()
            .files(|files| files.jsonl(folder.path().join("out.jsonl")))
            .concurrency(2)
    };
    let rows = futures_util::stream::iter(saying(&["1"; 5]));
    let rows = rows.inspect(|pair| assert!(pair.id != "row3", "unplugged"));
    let error = builder()
        .build()
        .unwrap()
        .score_stream(rows)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "reading the rows panicked: unplugged");
    let id = |row: &Example| {
        assert!(row.get("n").unwrap() != 3, "no id");
        row.get("n").unwrap().to_string()
    };
    let devset = futures_util::stream::iter(numbered(5));
    let run = builder()
        .devset_stream(devset)
        .inputs(["n"])
        .row_id(id)
        .build()
        .unwrap();
    let error = run
        .run(|_: Example| async {
            prediction! { "say" => "1" }
        })
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "reading the rows panicked: no id");
    assert_eq!(names(folder.path()), [""; 0]);
}

/// The rows of a file, whose first row does not fill the reader's buffer.
const ROWS: usize = 4_000;

/// A row of a file, with the prediction that [`said`](super::said) reads.
fn row(format: Format) -> String {
    let note = "x".repeat(100);
    match format {
        Format::Csv => format!("1,{note}\n"),
        _ => format!("{{\"gold\": {{}}, \"pred\": {{\"say\": \"1\"}}, \"note\": \"{note}\"}}\n"),
    }
}

/// Scores a file, and calls `change` with its path once the first row is read.
async fn changed(
    format: Format,
    change: impl FnOnce(&Path) + Send + 'static,
) -> Result<EvaluationResult, String> {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("rows"), folder.path().join("out.jsonl"));
    let rows = row(format).repeat(ROWS);
    let content = match format {
        Format::Json => format!("[{}]", rows.trim_end().replace('\n', ",\n")),
        Format::Csv => format!("pred.say,note\n{rows}"),
        _ => rows,
    };
    std::fs::write(&file, content).unwrap();
    let mut change = Some(change);
    let path = file.clone();
    let pairs = DataReader::new().with_format(format).read([&file]).unwrap();
    let pairs = pairs.inspect(move |_| {
        if let Some(change) = change.take() {
            change(&path);
        }
    });
    let evaluate = scoring()
        .keep_results(false)
        .files(|files| files.jsonl(&out))
        .build()
        .unwrap();
    let result = evaluate.score(pairs).await;
    let kept = result.as_ref().map_or(0, |result| result.rows);
    let written = std::fs::read_to_string(&out).map_or(0, |out| out.lines().count() as u64);
    assert_eq!(written, kept, "an input error leaves no result file");
    result.map_err(|error| error.to_string().replace(&*file.to_string_lossy(), "FILE"))
}

fn shorten(path: &Path, bytes: u64) {
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(bytes)
        .unwrap();
}

#[tokio::test]
async fn input_that_becomes_shorter_while_it_is_read_is_an_error() {
    let whole_rows = (row(Format::Jsonl).len() * ROWS / 2) as u64;
    for (format, bytes) in [
        // The end of a row would look like the end of the file.
        (Format::Jsonl, whole_rows),
        (Format::Jsonl, whole_rows + 9),
        (Format::Jsonl, 0),
        (Format::Json, whole_rows),
        (Format::Csv, whole_rows),
    ] {
        let error = changed(format, move |path| shorten(path, bytes))
            .await
            .unwrap_err();
        let start = "FILE: cannot be read: the file shrank while it was being read: expected ";
        assert!(error.starts_with(start), "{format:?}: {error}");
        assert!(
            error.ends_with("; run again when nothing is writing to the file"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn input_that_is_removed_or_replaced_while_it_is_read_is_read_to_its_end() {
    let remove = |path: &Path| std::fs::remove_file(path).unwrap();
    let replace = |path: &Path| {
        let other = path.with_extension("new");
        std::fs::write(&other, "not a row").unwrap();
        std::fs::rename(other, path).unwrap();
    };
    for format in [Format::Jsonl, Format::Csv] {
        assert_eq!(changed(format, remove).await.unwrap().rows, ROWS as u64);
        assert_eq!(changed(format, replace).await.unwrap().rows, ROWS as u64);
    }
}

/// Wakes the stop signal after this many rows.
struct StopsAfter(AtomicU64, Arc<Notify>);

impl Observer for StopsAfter {
    fn on_row(&self, _: &RowResult) {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.1.notify_one();
        }
    }
}

/// Scores 10 rows at once, and requests a stop when 9 of them are scored.
async fn stopped(grace: Duration, metric: impl Metric + 'static) -> EvaluationResult {
    let signal = Arc::new(Notify::new());
    let observer = StopsAfter(AtomicU64::new(9), Arc::clone(&signal));
    let evaluate = Evaluate::builder()
        .metric(metric)
        .concurrency(10)
        .observer(observer)
        .stop(|stop| {
            stop.when(async move { signal.notified().await })
                .grace_period(grace)
        })
        .build()
        .unwrap();
    let run = tokio::time::timeout(PATIENCE, evaluate.score(pairs(10)));
    run.await.expect("the run ends").unwrap()
}

/// Takes this long on row 3.
struct Slow(Duration);

#[async_trait]
impl Metric for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn evaluate(&self, gold: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        if gold.get("n").unwrap() == 3 {
            tokio::time::sleep(self.0).await;
        }
        Ok(MetricScore::new(1.0))
    }
}

#[tokio::test]
async fn a_row_that_hangs_is_abandoned_when_the_grace_period_is_over() {
    for grace in [Duration::ZERO, Duration::from_millis(50)] {
        let result = stopped(grace, Slow(100 * PATIENCE)).await;
        assert_eq!((result.rows, &result.ending), (9, &Ending::Stopped));
        assert!(
            result.results.iter().all(|row| row.id != "3"),
            "row 3 never ends"
        );
    }
}

#[tokio::test]
async fn rows_that_finish_within_the_grace_period_are_counted() {
    for grace in [PATIENCE, Duration::MAX] {
        let result = stopped(grace, Slow(Duration::from_millis(200))).await;
        assert_eq!(
            (result.rows, result.score, result.ending),
            (10, Some(1.0), Ending::Stopped)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_metric_that_blocks_its_thread_is_left_behind_when_the_grace_period_is_over() {
    /// Ends the metric even if the test fails, because its runtime waits for the thread.
    struct End(Arc<AtomicBool>);
    impl Drop for End {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let ended = Arc::new(AtomicBool::new(false));
    let end = End(Arc::clone(&ended));
    let metric = metric_fn("blocks", move |gold: &Example, _: &Prediction| {
        while gold.get("n").unwrap() == 3 && !ended.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    });
    let result = stopped(Duration::from_millis(50), metric).await;
    drop(end);
    assert_eq!(
        (result.rows, result.score, result.ending),
        (9, Some(1.0), Ending::Stopped)
    );
}
