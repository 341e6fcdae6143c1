//! A process with many cached calls is killed: after a restart, no completed call is paid for
//! again.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const CALLS: u64 = 10_000;
/// The maximum number of calls in progress when the process is killed.
const IN_PROGRESS: usize = 64;

/// Runs the calls, kills the process after `kill_after` of them have returned (or waits for its
/// end), and returns the completed calls.
fn run(dir: &Path, kill_after: Option<usize>) -> HashSet<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lm_cached_calls"))
        .arg(dir)
        .arg(CALLS.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut completed = HashSet::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // The kill may truncate the last line.
        let Ok(call) = line.unwrap().parse() else { break };
        completed.insert(call);
        if kill_after == Some(completed.len()) {
            // SIGKILL: the process cannot clean up.
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert_eq!(status.success(), kill_after.is_none(), "{status}");
    completed
}

fn paid(dir: &Path) -> HashMap<u64, usize> {
    let text = std::fs::read_to_string(dir.join("paid")).unwrap();
    let mut counts = HashMap::new();
    for call in text.lines().filter_map(|line| line.parse().ok()) {
        *counts.entry(call).or_default() += 1;
    }
    counts
}

#[test]
fn no_completed_call_is_paid_for_again_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut completed = HashSet::new();
    let kills = [2000, 2500, 6000];
    for kill_after in kills {
        let before = paid_so_far(dir.path());
        let now = run(dir.path(), Some(kill_after));
        let again = paid_again(&before, &paid(dir.path()), &completed);
        assert_eq!(again, [0; 0], "calls paid for again after a kill");
        completed.extend(now);
    }
    let before = paid(dir.path());
    let all = run(dir.path(), None);
    assert_eq!(all.len() as u64, CALLS);
    let after = paid(dir.path());
    assert_eq!(paid_again(&before, &after, &completed), [0; 0]);
    let twice = after.values().filter(|count| **count > 1).count();
    assert!(twice <= kills.len() * IN_PROGRESS, "{twice} calls were paid for twice");
    assert_eq!(after.len() as u64, CALLS, "every call was made");
}

fn paid_so_far(dir: &Path) -> HashMap<u64, usize> {
    match dir.join("paid").exists() {
        true => paid(dir),
        false => HashMap::new(),
    }
}

/// The completed calls that were paid for again.
fn paid_again(
    before: &HashMap<u64, usize>,
    after: &HashMap<u64, usize>,
    completed: &HashSet<u64>,
) -> Vec<u64> {
    let more = |call: &u64| before.contains_key(call) && after[call] > before[call];
    completed.iter().copied().filter(more).collect()
}
