//! HumanEval in the sandbox: how many canonical solutions pass, how many broken ones do, and how many problems a second.
//!
//! `cargo run --release -p dsrs-metrics-examples --features sandbox --example humaneval -- HUMANEVAL.jsonl [AT_ONCE]`
//!
//! The file is that of <https://github.com/openai/human-eval>: `prompt`, `canonical_solution`, `test` and `entry_point` a line.

use std::error::Error;
use std::time::Instant;

use dsrs_metrics::MetricError;
use dsrs_metrics::metrics::{Sandbox, field};
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

/// Runs the problems with another body each and says how many pass.
async fn run(
    what: &str,
    rows: Vec<Prediction>,
    timeout_secs: u64,
    at_once: usize,
) -> Result<(), MetricError> {
    let metric = Sandbox::builder()
        .command("python3 check.py")
        .file("check.py", field("program"))
        .timeout_secs(timeout_secs)
        .build();
    let (started, gold) = (Instant::now(), example! {});
    let scores = stream::iter(&rows).map(|pred| metric.evaluate(&gold, pred));
    let scores: Vec<MetricScore> = scores.buffer_unordered(at_once).try_collect().await?;
    let passed = scores.iter().filter(|score| score.value >= 1.0).count();
    let rate = rows.len() as f64 / started.elapsed().as_secs_f64();
    println!("{what:22} {passed:>4} of {} pass  {rate:>6.1} problems/s", rows.len());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("name the file: -- HUMANEVAL.jsonl [AT_ONCE]")?;
    let at_once = args.next().map_or(Ok(4), |number| number.parse())?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let problems: Result<Vec<Problem>, _> = text.lines().map(serde_json::from_str).collect();
    let problems = problems?;
    let canonical = problems.iter().map(|problem| problem.with_body(&problem.canonical_solution));
    run("canonical solution", canonical.collect(), 30, at_once).await?;
    for (body, timeout_secs) in [("return None", 30), ("while True: pass", 1), ("return (", 30)] {
        let body_of = |problem: &Problem| problem.with_body(&format!("    {body}\n"));
        run(body, problems.iter().map(body_of).collect(), timeout_secs, at_once).await?;
    }
    Ok(())
}
