//! HumanEval: canonical solutions pass; broken and cheating ones fail.
//!
//! The problems are not part of the repository; `DSRS_METRICS_DATA` names their directory. Without
//! it the tests print that they are skipped and pass, unless `DSRS_METRICS_REQUIRE` is 1. The
//! example `humaneval` runs all cheats over all problems.

use dsrs_metrics::metrics::{FileSource, Sandbox};
use dsrs_metrics::prelude::*;
use dsrs_metrics_tests::{can_isolate, data};
use futures_util::{StreamExt as _, stream};

use super::functions::{self, CHEATS, Problem};

fn problems() -> Option<Vec<Problem>> {
    let file = "code/humaneval.jsonl";
    let text = std::fs::read_to_string(data(file)?.join(file)).unwrap();
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// The number of rows that pass.
fn count_passing(metric: &Sandbox, rows: &[(Example, Prediction)]) -> usize {
    let scores = stream::iter(rows).map(|(gold, pred)| metric.evaluate(gold, pred));
    let passed = scores.buffer_unordered(4).filter(|score| {
        let value = score.as_ref().map(|score| score.value);
        std::future::ready(value.unwrap_or_else(|error| panic!("{error}")) == 1.0)
    });
    super::block_on(passed.count())
}

#[test]
fn canonical_solutions_pass_and_broken_ones_fail_in_one_stage() {
    let (true, Some(problems)) = (can_isolate(), problems()) else {
        return;
    };
    let count = |problems: &[Problem], timeout_secs, body: &dyn Fn(&Problem) -> String| {
        let row = |problem: &Problem| {
            let Problem {
                prompt,
                test,
                entry_point,
                ..
            } = problem;
            let program = format!("{prompt}{}\n{test}\ncheck({entry_point})\n", body(problem));
            (example! {}, prediction! { "program" => program })
        };
        let metric = Sandbox::builder()
            .command("python3 check.py")
            .file("check.py", FileSource::pred("program"))
            .timeout_secs(timeout_secs)
            .build();
        count_passing(&metric, &problems.iter().map(row).collect::<Vec<_>>())
    };
    assert_eq!(
        count(&problems, 30, &|problem| problem.canonical_solution.clone()),
        100
    );
    assert_eq!(count(&problems, 30, &|_| "    return None\n".to_owned()), 0);
    assert_eq!(count(&problems, 30, &|_| "    return (\n".to_owned()), 0);
    assert_eq!(
        count(&problems[..20], 1, &|_| "    while True: pass\n".to_owned()),
        0
    );
}

#[test]
fn canonical_solutions_pass_and_cheating_ones_fail_in_two_stages() {
    let (true, Some(problems)) = (can_isolate(), problems()) else {
        return;
    };
    let recorded = stream::iter(problems)
        .map(Problem::record_calls)
        .buffered(4);
    let problems: Vec<Problem> = super::block_on(recorded.collect());
    let rows = |problems: &[Problem], body: &dyn Fn(&Problem) -> String| {
        let row = |problem: &Problem| (problem.gold(), problem.prediction(&body(problem)));
        problems.iter().map(row).collect::<Vec<_>>()
    };
    let metric = functions::metric(30);
    let canonical = rows(&problems, &|problem| problem.canonical_solution.clone());
    assert_eq!(count_passing(&metric, &canonical), 100);
    for (name, body) in CHEATS {
        let cheating = rows(&problems[..10], &|_| body.to_owned());
        assert_eq!(count_passing(&metric, &cheating), 0, "{name}");
    }
}
