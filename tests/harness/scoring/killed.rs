//! A scorer with a journal is killed and continues: with the same result, and without paying for a recorded call again.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

const ROWS: u64 = 120;
const KILLS: usize = 8;

/// The calls in progress at a kill, at most: 8 rows of 3 rollouts.
const IN_PROGRESS: usize = 24;

/// A call: its kind, row and rollout.
type Call = (String, u64, u64);

fn start(dir: &Path, budget: u64) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_killed_scorer"));
    command.arg(dir).arg(ROWS.to_string()).arg(budget.to_string());
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// Runs to the end and returns the result.
fn finished(dir: &Path, budget: u64) -> Value {
    let status = start(dir, budget).wait().unwrap();
    assert!(status.success(), "{status}");
    serde_json::from_slice(&fs::read(dir.join("result.json")).unwrap()).unwrap()
}

/// The calls that were made so far, with their cost.
fn paid(dir: &Path) -> Vec<(Call, u64)> {
    let text = fs::read_to_string(dir.join("paid")).unwrap_or_default();
    let call = |line: &str| {
        let [kind, row, rollout, cost] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("not a call: {line}");
        };
        let number = |text: &str| text.parse().unwrap();
        ((kind.to_owned(), number(row), number(rollout)), number(cost))
    };
    text.lines().map(call).collect()
}

/// The calls whose result is in the journal.
fn journaled(dir: &Path) -> HashSet<Call> {
    let mut calls = HashSet::new();
    let content = fs::read(dir.join("journal/journal.log")).unwrap_or_default();
    for line in content.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
    {
        let record: Value = serde_json::from_slice(&line[9..]).unwrap();
        let Some(row) = record["row"].as_u64() else { continue };
        let rollout = record["repeat"].as_u64().unwrap_or(0);
        if record["program"].is_object() {
            calls.insert(("program".to_owned(), row, rollout));
        }
        let outcomes = record["scores"]["outcomes"].as_array();
        for outcome in outcomes.into_iter().flatten().filter(|it| it[0] == 1) {
            if outcome[1]["scored"].is_object() {
                calls.insert(("dear".to_owned(), row, rollout));
            }
        }
    }
    calls
}

/// Starts the run and kills it after some more calls. Returns whether it was killed before it ended.
fn killed(dir: &Path, budget: u64, more: usize) -> bool {
    let before = paid(dir).len();
    let mut child = start(dir, budget);
    while paid(dir).len() < before + more && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL: the process cannot clean up.
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

#[test]
fn trap_22_a_scorer_that_is_killed_continues_with_the_same_result_and_pays_no_call_twice() {
    let (undisturbed, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = finished(undisturbed.path(), 1_000_000);
    let mut kills = 0;
    for kill in 0..KILLS {
        let (known, before) = (journaled(dir.path()), paid(dir.path()).len());
        kills += usize::from(killed(dir.path(), 1_000_000, 20 + 13 * kill));
        let calls = paid(dir.path());
        let again: Vec<_> =
            calls[before..].iter().filter(|(call, _)| known.contains(call)).collect();
        assert!(again.is_empty(), "recorded calls were paid for again: {again:?}");
    }
    let (known, before) = (journaled(dir.path()), paid(dir.path()).len());
    let mut result = finished(dir.path(), 1_000_000);
    let calls = paid(dir.path());
    assert!(calls[before..].iter().all(|(call, _)| !known.contains(call)));
    let distinct: HashSet<&Call> = calls.iter().map(|(call, _)| call).collect();
    let repeated = calls.len() - distinct.len();
    println!("{kills} kills, {} calls, {repeated} of them in progress at a kill", calls.len());
    assert!(kills > KILLS / 2, "{kills} runs were killed before they ended");
    assert!(repeated <= kills * IN_PROGRESS, "{repeated} calls were made again");
    assert_eq!(distinct.len(), paid(undisturbed.path()).len());

    // A call in progress at a kill may have been charged, so it counts as spent.
    let spent = |result: &Value| result["budget"]["spent"].as_u64().unwrap();
    let in_progress = spent(&result) - spent(&expected);
    assert!(in_progress <= 100 * (kills * IN_PROGRESS) as u64, "{in_progress} msat");
    result["budget"] = expected["budget"].clone();
    assert_eq!(result, expected);
}

#[test]
fn trap_41_the_budget_of_a_scorer_holds_over_kills() {
    const BUDGET: u64 = 12_000;
    let dir = tempfile::tempdir().unwrap();
    let mut kills = 0;
    for kill in 0..KILLS {
        kills += usize::from(killed(dir.path(), BUDGET, 10 + 11 * kill));
    }
    assert!(kills > 1, "{kills} runs were killed before they ended");
    let result = finished(dir.path(), BUDGET);
    let cost: u64 = paid(dir.path()).iter().map(|(_, cost)| cost).sum();
    println!("{kills} kills: {cost} of {BUDGET} msat");
    assert!(cost <= BUDGET, "{cost} msat were paid");
    let summary = &result["summary"];
    assert!(summary["skipped"].as_u64().unwrap() > 0, "{summary}");
    let recorded = result["budget"]["spent"].as_u64().unwrap();
    assert!((cost..=BUDGET).contains(&recorded), "{recorded} of {cost} msat are counted");
    assert_eq!(result["budget"]["reserved"], 0);
}
