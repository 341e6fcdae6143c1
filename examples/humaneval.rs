//! HumanEval in the sandbox: how many canonical and broken solutions pass, and the number of
//! problems per second.
//!
//! ```sh
//! cargo run --release -p dsrs-metrics-examples --features sandbox --example humaneval -- FILE [CONCURRENCY]
//! ```
//!
//! `FILE` is the data set of <https://github.com/openai/human-eval>: each line has `prompt`,
//! `canonical_solution`, `test` and `entry_point`.

use std::error::Error;
use std::time::Instant;

use dsrs_metrics::MetricError;
use dsrs_metrics::metrics::{FileSource, Sandbox};
use dsrs_metrics::prelude::*;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;

#[derive(Deserialize)]
struct Problem {
    prompt: String,
    entry_point: String,
    canonical_solution: String,
    test: String,
}

impl Problem {
    fn with_body(&self, body: &str) -> Prediction {
        let Self { prompt, test, entry_point, .. } = self;
        prediction! { "program" => format!("{prompt}{body}\n{test}\ncheck({entry_point})\n") }
    }
}

/// Runs one program per problem and prints how many pass.
async fn run(
    label: &str,
    rows: Vec<Prediction>,
    timeout_secs: u64,
    concurrency: usize,
) -> Result<(), MetricError> {
    let metric = Sandbox::builder()
        .command("python3 check.py")
        .file("check.py", FileSource::pred("program"))
        .timeout_secs(timeout_secs)
        .build();
    let (started, gold) = (Instant::now(), example! {});
    let scores = stream::iter(&rows).map(|pred| metric.evaluate(&gold, pred));
    let scores: Vec<MetricScore> = scores.buffer_unordered(concurrency).try_collect().await?;
    let passed = scores.iter().filter(|score| score.value >= 1.0).count();
    let rate = rows.len() as f64 / started.elapsed().as_secs_f64();
    println!("{label:22} {passed:>4} of {} pass  {rate:>6.1} problems/s", rows.len());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("expected a file; write -- FILE [CONCURRENCY]")?;
    let concurrency = args.next().map_or(Ok(4), |number| number.parse())?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let problems: Result<Vec<Problem>, _> = text.lines().map(serde_json::from_str).collect();
    let problems = problems?;
    let canonical = problems.iter().map(|problem| problem.with_body(&problem.canonical_solution));
    run("canonical solution", canonical.collect(), 30, concurrency).await?;
    for (body, timeout_secs) in [("return None", 30), ("while True: pass", 1), ("return (", 30)] {
        let body_of = |problem: &Problem| problem.with_body(&format!("    {body}\n"));
        run(body, problems.iter().map(body_of).collect(), timeout_secs, concurrency).await?;
    }
    Ok(())
}
