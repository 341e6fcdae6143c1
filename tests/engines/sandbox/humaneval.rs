//! HumanEval: canonical solutions pass, broken ones fail.
//!
//! The problems are not part of the repository; `DSRS_METRICS_DATA` names their directory. Without
//! it the test prints that it is skipped and passes, unless `DSRS_METRICS_REQUIRE` is 1.

use std::time::{Duration, Instant};

use dsrs_metrics::metrics::{FileSource, Sandbox};
use dsrs_metrics::prelude::*;
use dsrs_metrics_tests::{can_isolate, data};
use futures_util::{StreamExt as _, stream};
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

fn problems() -> Option<Vec<Problem>> {
    let file = "code/humaneval.jsonl";
    let text = std::fs::read_to_string(data(file)?.join(file)).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The number of problems that pass, and the time taken.
fn count_passing(
    problems: &[Problem],
    timeout_secs: u64,
    body: impl Fn(&Problem) -> String,
) -> (usize, Duration) {
    let metric = Sandbox::builder()
        .command("python3 check.py")
        .file("check.py", FileSource::pred("program"))
        .timeout_secs(timeout_secs)
        .build();
    let rows: Vec<Prediction> =
        problems.iter().map(|problem| problem.with_body(&body(problem))).collect();
    let started = Instant::now();
    let gold = example! {};
    let scores = stream::iter(&rows).map(|pred| metric.evaluate(&gold, pred)).buffer_unordered(4);
    let passed = scores.filter(|score| {
        let value = score.as_ref().map(|score| score.value);
        std::future::ready(value.unwrap_or_else(|error| panic!("{error}")) == 1.0)
    });
    let count = super::block_on(passed.count());
    (count, started.elapsed())
}

#[test]
fn canonical_solutions_pass_and_broken_ones_fail() {
    let (true, Some(problems)) = (can_isolate(), problems()) else {
        return;
    };
    let total = problems.len();
    let (count, elapsed) =
        count_passing(&problems, 30, |problem| problem.canonical_solution.clone());
    let rate = count as f64 / elapsed.as_secs_f64();
    println!("{count} of {total} canonical solutions pass, {rate:.1} problems/s");
    assert_eq!((count, total), (100, 100));
    for (body, timeout_secs) in
        [("    return None\n", 30), ("    while True: pass\n", 1), ("    return (\n", 30)]
    {
        let (count, elapsed) = count_passing(&problems, timeout_secs, |_| body.to_owned());
        println!("{count} of {total} pass with the body {body:?}, {:.1} s", elapsed.as_secs_f64());
        assert_eq!(count, 0, "{body:?}");
    }
}
