//! The overhead of the harness: trivial rows, trivial programs, one thread.
//!
//! `cargo run --release --example evaluate_throughput [MAX_ROWS]`

use std::time::Instant;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, EvaluateError, EvaluationResult, Pair};

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
        Ok(MetricScore::new(f64::from(u8::from(gold.get("answer") == pred.get("answer")))))
    }
}

/// A synchronous metric.
fn same(gold: &Example, pred: &Prediction) -> bool {
    gold.get("answer") == pred.get("answer")
}

fn devset(rows: usize) -> Vec<Example> {
    let row = |_| example! { "question" => "1 + 1?", "answer" => "2" }.with_inputs(["question"]);
    (0..rows).map(row).collect()
}

async fn program(_inputs: Example) -> Prediction {
    prediction! { "answer" => "2" }
}

/// Returns the microseconds per row of a complete `run`, without building the devset.
async fn run(rows: usize, metric: impl Metric + 'static) -> Result<f64, EvaluateError> {
    let evaluate =
        Evaluate::builder().devset(devset(rows)).metric(metric).concurrency(8).build()?;
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

fn microseconds(started: Instant, rows: usize, result: &EvaluationResult) -> f64 {
    assert_eq!((result.rows, result.failed_rows), (rows as u64, 0));
    started.elapsed().as_secs_f64() * 1e6 / rows as f64
}

/// Returns the best of three measurements, to reduce the effect of other load on the machine.
macro_rules! best {
    ($measure:expr) => {{
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            best = best.min($measure.await?);
        }
        best
    }};
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), EvaluateError> {
    let most = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    println!("us/row on one thread, concurrency 8, all rows kept, best of three");
    println!(
        "{:>9}  {:>8}  {:>9}  {:>10}  {:>11}",
        "rows", "run sync", "run async", "score sync", "score async"
    );
    for rows in [1_000, 5_000, 10_000, 100_000, 1_000_000].into_iter().filter(|rows| *rows <= most)
    {
        println!(
            "{rows:>9}  {:>8.2}  {:>9.2}  {:>10.2}  {:>11.2}",
            best!(run(rows, metric_fn("same", same))),
            best!(run(rows, SameLater)),
            best!(score(rows, metric_fn("same", same))),
            best!(score(rows, SameLater)),
        );
    }
    Ok(())
}
