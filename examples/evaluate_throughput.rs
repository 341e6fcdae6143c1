//! The overhead of the harness per row: trivial rows, trivial metrics, trivial programs.
//!
//! `cargo run --release --example evaluate_throughput [MAX_ROWS] [COLUMN]`

use std::time::{Duration, Instant};

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    runs::{EvaluateError, EvaluationResult},
};
use tokio::runtime::{Builder, Runtime};

/// An asynchronous metric.
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
        Ok(MetricScore::new(f64::from(u8::from(
            gold.get("answer") == pred.get("answer"),
        ))))
    }
}

/// A synchronous metric.
fn same(gold: &Example, pred: &Prediction) -> bool {
    gold.get("answer") == pred.get("answer")
}

/// A row with a static type.
struct Number(u64);

fn devset(rows: usize) -> Vec<Example> {
    let row = |_| example! { "question" => "1 + 1?", "answer" => "2" };
    (0..rows).map(row).collect()
}

async fn program(_inputs: Example) -> Prediction {
    prediction! { "answer" => "2" }
}

/// Returns the microseconds per row of a complete `run`, without building the devset.
async fn run(rows: usize, metric: impl Metric + 'static) -> Result<f64, EvaluateError> {
    let evaluate = Evaluate::builder()
        .devset(devset(rows))
        .inputs(["question"])
        .metric(metric);
    let evaluate = evaluate.concurrency(8).build()?;
    let started = Instant::now();
    let result = evaluate.run(program).await?;
    Ok(microseconds(started, rows, &result))
}

/// Returns the microseconds per row of scoring recorded predictions, without building the rows.
async fn score(rows: usize, metric: impl Metric + 'static) -> Result<f64, EvaluateError> {
    let pair = |(row, gold)| Pair::new(format!("{row}"), gold, prediction! { "answer" => "2" });
    let pairs: Vec<_> = devset(rows).into_iter().enumerate().map(pair).collect();
    let evaluate = Evaluate::builder().metric(metric).concurrency(8).build()?;
    let started = Instant::now();
    let result = evaluate.score(pairs).await?;
    Ok(microseconds(started, rows, &result))
}

/// Returns the microseconds per row of scoring rows that are generated and not kept. `work` is the number of
/// times that the metric hashes a number, about 1 ns each.
async fn stream(rows: usize, work: u64) -> Result<f64, EvaluateError> {
    let same = typed_metric_fn("same", move |gold: &Number, pred: &Number| {
        let hash = |start| (0..work).fold(start, |hash, _| std::hint::black_box(hash) * 31);
        hash(gold.0) == hash(pred.0)
    });
    let evaluate = Evaluate::<Number, Number>::typed()
        .metric(same)
        .concurrency(8);
    let evaluate = evaluate.keep_results(false).build()?;
    let pair = |row: usize| Pair::new(row.to_string(), Number(row as u64), Number(row as u64));
    let started = Instant::now();
    let result = evaluate.score((0..rows).map(pair)).await?;
    Ok(microseconds(started, rows, &result))
}

/// Returns how many seconds it takes to score rows if every hundredth blocks its thread for this long.
async fn blocked(rows: usize, time: Duration) -> Result<f64, EvaluateError> {
    let blocks = typed_metric_fn("blocks", move |gold: &Number, _: &Number| {
        if gold.0 % 100 == 50 {
            std::thread::sleep(time);
        }
        true
    });
    let evaluate = Evaluate::<Number, Number>::typed()
        .metric(blocks)
        .concurrency(32);
    let evaluate = evaluate.keep_results(false).build()?;
    let pair = |row: usize| Pair::new(row.to_string(), Number(row as u64), Number(row as u64));
    let started = Instant::now();
    let result = evaluate.score((0..rows).map(pair)).await?;
    Ok(microseconds(started, rows, &result) * rows as f64 / 1e6)
}

fn microseconds<G, P>(started: Instant, rows: usize, result: &EvaluationResult<G, P>) -> f64 {
    assert_eq!((result.rows, result.failed_rows), (rows as u64, 0));
    started.elapsed().as_secs_f64() * 1e6 / rows as f64
}

/// Returns the best of some measurements, to reduce the effect of other load on the machine.
fn best<F>(runtime: &Runtime, measure: impl Fn() -> F) -> Result<f64, EvaluateError>
where
    F: Future<Output = Result<f64, EvaluateError>>,
{
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        best = best.min(runtime.block_on(measure())?);
    }
    Ok(best)
}

fn main() -> Result<(), EvaluateError> {
    let most = std::env::args()
        .nth(1)
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(1_000_000);
    let only = std::env::args().nth(2).unwrap_or_default();
    let one = Builder::new_current_thread().build().expect("a runtime");
    println!("us/row on one thread, concurrency 8, best of five");
    println!(
        "{:>9}  {:>10}  {:>10}  {:>11}  {:>8}  {:>9}",
        "rows", "not kept", "score sync", "score async", "run sync", "run async"
    );
    let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    for rows in sizes.into_iter().filter(|rows| *rows <= most) {
        let measured = |column: &str| column.contains(&only);
        let cell = |width: usize, measured: bool, time: &dyn Fn() -> Result<f64, EvaluateError>| {
            let time = if measured {
                format!("{:.3}", time()?)
            } else {
                String::new()
            };
            print!("  {time:>width$}");
            Ok::<_, EvaluateError>(())
        };
        let sync = || metric_fn("same", same);
        print!("{rows:>9}");
        cell(10, measured("not kept"), &|| best(&one, || stream(rows, 0)))?;
        // Rows that are kept take about 1 kB each.
        let is_kept = rows <= 1_000_000;
        cell(10, is_kept && measured("score sync"), &|| {
            best(&one, || score(rows, sync()))
        })?;
        cell(11, is_kept && measured("score async"), &|| {
            best(&one, || score(rows, SameLater))
        })?;
        cell(8, is_kept && measured("run sync"), &|| {
            best(&one, || run(rows, sync()))
        })?;
        cell(9, is_kept && measured("run async"), &|| {
            best(&one, || run(rows, SameLater))
        })?;
        println!();
    }
    if !only.is_empty() {
        return Ok(());
    }
    let two = Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    println!("\ntwo threads, rows not kept: times as fast as one");
    for work in [0, 100, 1_000] {
        let rows = 200_000.min(most);
        let of_one = best(&one, || stream(rows, work))?;
        let of_two = best(&two, || stream(rows, work))?;
        println!("a metric of about {work:>4} ns: {:>5.2}", of_one / of_two);
    }
    let (rows, time) = (10_000.min(most), Duration::from_millis(50));
    let seconds = two.block_on(blocked(rows, time))?;
    let least = (rows / 100) as f64 * time.as_secs_f64() / 2.0;
    println!("\n{rows} rows on two threads, each hundredth blocks for {time:?}: {seconds:.3} s");
    println!(
        "the threads are blocked for {least:.3} s: {:.3} times as long",
        seconds / least
    );
    Ok(())
}
