//! A scorer with a store is killed and continues: with the same result, and without paying for a recorded call again.

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
    command
        .arg(dir)
        .arg(ROWS.to_string())
        .arg(budget.to_string());
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// Runs to the end and returns the result.
fn finished(dir: &Path, budget: u64) -> Value {
    let status = start(dir, budget).wait().unwrap();
    assert!(status.success(), "{status}");
    serde_json::from_slice(&fs::read(dir.join("result.json")).unwrap()).unwrap()
}

/// The calls that were made so far, with their cost. A line that is still being written does not count.
fn paid(dir: &Path) -> Vec<(Call, u64)> {
    let text = fs::read_to_string(dir.join("paid")).unwrap_or_default();
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let call = |line: &str| {
        let [kind, row, rollout, cost] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("not a call: {line}");
        };
        let number = |text: &str| text.parse().unwrap();
        (
            (kind.to_owned(), number(row), number(rollout)),
            number(cost),
        )
    };
    complete.lines().map(call).collect()
}

/// The calls whose result is in the store.
fn stored(dir: &Path) -> HashSet<Call> {
    let mut calls = HashSet::new();
    let Ok(store) = rusqlite::Connection::open(dir.join("store/store.sqlite")) else {
        return calls;
    };
    let mut records = store
        .prepare("SELECT about FROM records WHERE kind <> 'run'")
        .unwrap();
    let records = records
        .query_map((), |row| row.get::<_, String>(0))
        .unwrap();
    for about in records {
        let about: Value = serde_json::from_str(&about.unwrap()).unwrap();
        let number = |value: &Value| value.as_u64().unwrap();
        calls.insert(match about["kind"].as_str() {
            Some("output") => (
                "program".to_owned(),
                number(&about["inputs"]["row"]),
                number(&about["repeat"]),
            ),
            _ => {
                let pred = &about["row"][1];
                (
                    "dear".to_owned(),
                    number(&pred["row"]),
                    number(&pred["rollout"]),
                )
            }
        });
    }
    calls
}

/// Starts the run and kills it after some more calls. Returns `true` if it was killed before it ended.
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
fn a_scorer_that_is_killed_continues_with_the_same_result_and_pays_no_call_twice() {
    let (undisturbed, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = finished(undisturbed.path(), 1_000_000);
    let mut kills = 0;
    for kill in 0..KILLS {
        let (known, before) = (stored(dir.path()), paid(dir.path()).len());
        let is_killed = killed(dir.path(), 1_000_000, 20 + 9 * kill);
        kills += usize::from(is_killed);
        let calls = paid(dir.path());
        let again: Vec<_> = calls[before..]
            .iter()
            .filter(|(call, _)| known.contains(call))
            .collect();
        assert!(
            again.is_empty(),
            "stored calls were paid for again: {again:?}"
        );
        // After a run has ended, the next one calls the program again.
        assert!(is_killed, "the run ends before it is killed");
    }
    let (known, before) = (stored(dir.path()), paid(dir.path()).len());
    let mut result = finished(dir.path(), 1_000_000);
    let calls = paid(dir.path());
    assert!(
        calls[before..]
            .iter()
            .all(|(call, _)| !known.contains(call))
    );
    let distinct: HashSet<&Call> = calls.iter().map(|(call, _)| call).collect();
    let repeated = calls.len() - distinct.len();
    println!(
        "{kills} kills, {} calls, {repeated} of them in progress at a kill",
        calls.len()
    );
    assert!(
        kills > KILLS / 2,
        "{kills} runs were killed before they ended"
    );
    assert!(
        repeated <= kills * IN_PROGRESS,
        "{repeated} calls were made again"
    );
    assert_eq!(distinct.len(), paid(undisturbed.path()).len());

    // A call in progress at a kill may have been charged, so it counts as spent.
    let spent = |result: &Value| result["budget"]["spent"].as_u64().unwrap();
    let in_progress = spent(&result) - spent(&expected);
    assert!(
        in_progress <= 100 * (kills * IN_PROGRESS) as u64,
        "{in_progress} msat"
    );
    result["budget"] = expected["budget"].clone();
    assert_eq!(result, expected);
}

#[test]
fn the_budget_of_a_scorer_holds_over_kills() {
    const BUDGET: u64 = 12_000;
    let dir = tempfile::tempdir().unwrap();
    let mut kills = 0;
    while kills < KILLS && killed(dir.path(), BUDGET, 10 + 11 * kills) {
        kills += 1;
    }
    assert!(kills > 1, "{kills} runs were killed before they ended");
    // A run that has ended ends its budget.
    let result = match kills {
        KILLS => finished(dir.path(), BUDGET),
        _ => serde_json::from_slice(&fs::read(dir.path().join("result.json")).unwrap()).unwrap(),
    };
    let cost: u64 = paid(dir.path()).iter().map(|(_, cost)| cost).sum();
    println!("{kills} kills: {cost} of {BUDGET} msat");
    assert!(cost <= BUDGET, "{cost} msat were paid");
    let summary = &result["summary"];
    assert!(summary["skipped"].as_u64().unwrap() > 0, "{summary}");
    let recorded = result["budget"]["spent"].as_u64().unwrap();
    assert!(
        (cost..=BUDGET).contains(&recorded),
        "{recorded} of {cost} msat are counted"
    );
    assert_eq!(result["budget"]["reserved"], 0);
}
