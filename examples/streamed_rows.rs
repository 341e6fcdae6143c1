//! The memory of a run over millions of rows that are streamed: a program, two metrics, explicit ids, and a result file.
//!
//! `cargo run --release --example streamed_rows [ROWS]`
//!
//! Prints resident memory, open files and tasks on the way (Linux). Fails if memory grows from 1.5 million rows to the end
//! by more than the ids need, or if a file or task is left at the end. The result file of 5 million rows needs 4 GB in the
//! folder for temporary files.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    runs::{Observer, RowResult},
};
use tokio::runtime::Handle;

/// Rows between two samples.
const STEP: u64 = 500_000;

/// From here on, only the ids need more memory: all buffers have their full size.
const WARM_UP: u64 = 1_500_000;

/// The maximum number of bytes of an id, which are needed while the table of the ids grows.
const ID_BYTES: u64 = 100;

/// A synchronous metric.
fn same(gold: &Example, pred: &Prediction) -> bool {
    gold.get("answer") == pred.get("answer")
}

/// An asynchronous metric, which waits in every row.
struct SameLater;

#[async_trait]
impl Metric for SameLater {
    fn name(&self) -> &'static str {
        "same_later"
    }

    async fn evaluate(
        &self,
        gold: &Example,
        pred: &Prediction,
    ) -> dsrs_metrics::Result<MetricScore> {
        tokio::task::yield_now().await;
        Ok(MetricScore::new(f64::from(u8::from(same(gold, pred)))))
    }
}

/// A prediction that is right in nine of ten rows.
async fn program(inputs: Example) -> Prediction {
    tokio::task::yield_now().await;
    let number = inputs
        .get("number")
        .and_then(dsrs_metrics::value::Value::as_u64)
        .unwrap_or_default();
    prediction! { "answer" => if number.is_multiple_of(10) { 0 } else { 2 * number } }
}

fn rows(rows: u64) -> impl Iterator<Item = Example> + Send + 'static {
    let row = |number: u64| {
        example! { "id" => format!("question-{number:09}"), "number" => number, "answer" => 2 * number }
    };
    (1..=rows).map(row)
}

/// Resident memory now and its maximum, in KiB, and the numbers of open files and tasks; 0 where `/proc` does not exist.
#[derive(Debug, Clone, Copy)]
struct Process {
    resident: u64,
    peak: u64,
    files: usize,
    tasks: usize,
}

fn process(runtime: &Handle) -> Process {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let figure = |key| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok())
            .unwrap_or_default()
    };
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let tasks = runtime.metrics().num_alive_tasks();
    Process {
        resident: figure("VmRSS:"),
        peak: figure("VmHWM:"),
        files,
        tasks,
    }
}

fn print(
    rows: u64,
    Process {
        resident,
        peak,
        files,
        tasks,
    }: Process,
) {
    let [resident, peak] = [resident, peak].map(|kib| kib as f64 / 1024.0);
    println!("{rows:>9}  {resident:>7.1}  {peak:>7.1}  {files:>5}  {tasks:>5}");
}

/// Samples the process while rows finish.
struct Sampler {
    runtime: Handle,
    finished: AtomicU64,
    samples: Mutex<Vec<(u64, Process)>>,
}

impl Observer for Sampler {
    fn on_row(&self, _: &RowResult) {
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        if finished.is_multiple_of(STEP) {
            let process = process(&self.runtime);
            print(finished, process);
            if let Ok(mut samples) = self.samples.lock() {
                samples.push((finished, process));
            }
        }
    }
}

/// Checks that the last samples need no more than the ids after the warm-up.
fn check(samples: &[(u64, Process)]) -> Result<(), String> {
    let mut steady = samples.iter().filter(|(rows, _)| *rows >= WARM_UP);
    let Some((warm_up, first)) = steady.next() else {
        return Ok(());
    };
    for (rows, process) in steady {
        let growth = process.resident.saturating_sub(first.resident);
        let of_ids = (rows - warm_up) * ID_BYTES / 1024;
        println!("from {warm_up} to {rows} rows: {growth} KiB, of ids at most {of_ids}");
        if growth > of_ids + first.resident / 20 {
            return Err(format!("memory grew by {growth} KiB at {rows} rows"));
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args()
        .nth(1)
        .map_or(Ok(5_000_000), |rows| rows.parse())?;
    let out = std::env::temp_dir().join(format!("streamed-rows-{}.jsonl", std::process::id()));
    let runtime = Handle::current();

    println!(
        "{:>9}  {:>7}  {:>7}  {:>5}  {:>5}",
        "rows", "RSS MiB", "peak", "files", "tasks"
    );
    let before = process(&runtime);
    print(0, before);
    let (finished, samples) = (AtomicU64::new(0), Mutex::default());
    let sampler = Arc::new(Sampler {
        runtime: runtime.clone(),
        finished,
        samples,
    });
    let id = |row: &Example| {
        row.get("id")
            .and_then(|id| id.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let started = Instant::now();
    let result = Evaluate::builder()
        .devset_stream(futures_util::stream::iter(rows(count)))
        .inputs(["number"])
        .row_id(id)
        .metric(metric_fn("same", same))
        .metric(SameLater)
        .keep_results(false)
        .files(|files| files.jsonl(&out))
        .observer(Arc::clone(&sampler))
        .build()?
        .run(program)
        .await;
    let seconds = started.elapsed().as_secs_f64();
    let written = std::fs::metadata(&out).map_or(0, |file| file.len());
    let result = result?;
    std::fs::remove_file(&out)?;
    // A task that has ended is removed when its thread is scheduled next.
    tokio::task::yield_now().await;
    let after = process(&runtime);
    print(result.rows, after);
    println!("{result}");
    println!(
        "{:.2} us/row, {:.1} GB written",
        1e6 * seconds / count as f64,
        written as f64 / 1e9
    );

    if (after.files, after.tasks) != (before.files, before.tasks) {
        return Err(format!("files and tasks: {before:?} before, {after:?} after").into());
    }
    let samples = sampler.samples.lock().map_err(|error| error.to_string())?;
    Ok(check(&samples)?)
}
