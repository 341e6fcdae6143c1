//! `accept`: the results of evals that wait below the target folder.

use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::{Map, json};
use twox_hash::XxHash3_128;

use crate::Folder;

/// The content of a baseline with these scores, as an eval writes it.
fn baseline(eval: &str, scores: &[u8]) -> String {
    baseline_of(&["same"], eval, scores)
}

/// The content of a baseline of several metrics with the same scores.
fn baseline_of(metrics: &[&str], eval: &str, scores: &[u8]) -> String {
    let mut rows = String::new();
    for (row, score) in scores.iter().enumerate() {
        let score =
            json!({ "outcome": "scored", "value": f64::from(*score), "passed": *score == 1 });
        let scores: Map<_, _> = metrics
            .iter()
            .map(|name| ((*name).to_owned(), score.clone()))
            .collect();
        let row =
            json!({ "id": row.to_string(), "gold_hash": "0000000000000000", "scores": scores });
        writeln!(rows, "{row}").unwrap();
    }
    let run = json!({
        "metrics": {}, "rows": scores.len(), "failed_rows": 0, "ending": "complete", "failure_score": 0.0, "seed": 0,
        "library": { "version": "0.1.0", "features": [] }
    });
    let header = json!({
        "eval": eval, "format": 2, "rows": scores.len(), "run": run, "xxh3": hash(&rows)
    });
    format!("{header}\n{rows}")
}

fn hash(lines: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(lines.as_bytes()))
}

/// Writes new results of an eval, which replace this baseline.
fn pending(folder: &Folder, eval: &str, scores: &[u8], replaced: Option<&[u8]>) {
    let replaced = replaced.map(|scores| baseline(eval, scores));
    pending_of(folder, eval, &baseline(eval, scores), replaced.as_deref());
}

fn pending_of(folder: &Folder, eval: &str, content: &str, replaced: Option<&str>) {
    let path = folder.path(&format!("evals/{eval}.baseline.jsonl"));
    let replaces = replaced.map(hash);
    let pending = json!({
        "eval": eval, "package": "shop", "baseline": path, "replaces": replaces, "content": content
    });
    folder.write(
        &format!("target/dsrs-metrics/evals/shop/{eval}/pending.json"),
        pending.to_string(),
    );
}

#[test]
fn the_first_baseline_of_an_eval_is_accepted() {
    let folder = Folder::new();
    pending(&folder, "routing", &[1, 0], None);
    let shown = folder.run("accept --show");
    assert_eq!(
        (shown.code, &*shown.out),
        (Some(0), "routing (shop)\nfirst baseline, 2 rows\n\n")
    );
    assert!(!folder.path("evals/routing.baseline.jsonl").exists());

    let ran = folder.run("accept routing");
    assert_eq!((ran.code, ran.out), (Some(0), shown.out));
    assert!(
        ran.err.starts_with("accepted: ") && ran.err.ends_with("evals/routing.baseline.jsonl\n")
    );
    assert_eq!(
        folder.read("evals/routing.baseline.jsonl"),
        baseline("routing", &[1, 0])
    );
    let ran = folder.run("accept");
    assert_eq!(
        (ran.code, &*ran.err),
        (Some(0), "no eval has new results\n")
    );
}

#[test]
fn the_comparison_is_shown_before_a_baseline_is_replaced() {
    let folder = Folder::new();
    let old = [1, 1, 1, 1, 1, 1, 1, 0];
    folder.write("evals/routing.baseline.jsonl", baseline("routing", &old));
    pending(&folder, "routing", &[0, 0, 0, 0, 0, 0, 0, 0], Some(&old));
    let shown = folder.run("accept --target-dir target").to_string();
    assert_snapshot!(shown.replace(folder.path("").to_str().unwrap(), ""), @"
    routing (shop)
    A: baseline, 8 rows
    B: new, 8 rows
    8 rows in both

    metric  n       A      B   B - A      95% interval      p  B better  A better  equal
    same    8  87.50%  0.00%  -87.50  [-97.76, -26.67]  0.016         0         7      1

    same: A is better by 87.50 percentage points [26.67, 97.76] (p = 0.016, 8 rows)
      A is better in 7 rows: `0`, `1`, `2` and 4 more

    -- standard error --
    accepted: evals/routing.baseline.jsonl
    -- exit code 0 --
    ");
    assert_eq!(
        folder.read("evals/routing.baseline.jsonl"),
        baseline("routing", &[0; 8])
    );
}

#[test]
fn a_metric_of_one_side_is_named() {
    let folder = Folder::new();
    let compared = |old: &[&str], new: &[&str]| {
        let old = baseline_of(old, "routing", &[1, 1, 1, 1]);
        folder.write("evals/routing.baseline.jsonl", &old);
        let new = baseline_of(new, "routing", &[1, 1, 1, 0]);
        pending_of(&folder, "routing", &new, Some(&old));
        folder.run("accept --show")
    };
    assert_snapshot!(compared(&["f1", "same"], &["same", "long"]), @"
    routing (shop)
    A: baseline, 4 rows
    B: new, 4 rows
    4 rows in both

    metric  n        A       B   B - A     95% interval      p  B better  A better  equal
    same    4  100.00%  75.00%  -25.00  [-69.94, 36.24]  1.000         0         1      3

    same: not enough rows: found 4 rows, a test at 5% needs at least 6 rows
      A is better in 1 row: `3`
    only in the new results: `long`
    only in the baseline: `f1`

    -- exit code 0 --
    ");
    assert_snapshot!(compared(&["f1"], &["same"]), @"
    routing (shop)
    new: no row has a score for `f1`, which baseline has; to compare only some metrics, select them with -m
    only in the new results: `same`
    only in the baseline: `f1`

    -- exit code 0 --
    ");
    assert!(!compared(&["same"], &["same"]).out.contains("only in"));
}

#[test]
fn nothing_is_accepted_that_was_not_compared() {
    let folder = Folder::new();
    pending(&folder, "routing", &[1, 0], Some(&[1, 1]));
    // Another one is written between the run and the command.
    folder.write("evals/routing.baseline.jsonl", baseline("routing", &[0, 0]));
    pending(&folder, "other", &[1], None);
    let ran = folder.run("accept");
    assert_eq!((ran.code, &*ran.out), (Some(2), ""));
    assert!(
        ran.err
            .ends_with("changed after `routing` was run; run the eval again\n"),
        "{}",
        ran.err
    );
    // Neither of them.
    assert!(!folder.path("evals/other.baseline.jsonl").exists());
    assert_eq!(
        folder.read("evals/routing.baseline.jsonl"),
        baseline("routing", &[0, 0])
    );

    let ran = folder.run("accept routin");
    assert_eq!(
        ran.err,
        "error: `routin` has no new results; did you mean `routing`?\n"
    );
    let pending = folder.path("target/dsrs-metrics/evals/shop/routing/pending.json");
    std::fs::write(&pending, "{\"eval\": \"routing\"").unwrap();
    let ran = folder.run("accept");
    assert!(
        ran.err.contains("remove it, and run the eval again"),
        "{}",
        ran.err
    );
}

#[test]
fn without_results_the_command_says_where_it_looks() {
    assert_snapshot!(Folder::new().run("accept"), @"
    -- standard error --
    error: no folder `dsrs-metrics/evals` in the `target` folder here or in a parent folder; run the evals first, or pass --target-dir DIR
    -- exit code 2 --
    ");
}
