//! kill -9 in the middle of many cached calls: after the restart, no finished call is paid again.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const CALLS: u64 = 10_000;
/// Calls that may be under way when the process dies.
const UNDER_WAY: usize = 64;

/// Runs the calls, kills the process after so many of them have returned (or lets it end), and gives those that did.
fn run(folder: &Path, kill_after: Option<usize>) -> HashSet<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lm_cached_calls"))
        .arg(folder)
        .arg(CALLS.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut finished = HashSet::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // The last line may be torn by the kill.
        let Ok(call) = line.unwrap().parse() else { break };
        finished.insert(call);
        if kill_after == Some(finished.len()) {
            // SIGKILL: the process gets no chance to put anything in order.
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert_eq!(status.success(), kill_after.is_none(), "{status}");
    finished
}

fn paid(folder: &Path) -> HashMap<u64, usize> {
    let text = std::fs::read_to_string(folder.join("paid")).unwrap();
    let mut counts = HashMap::new();
    for call in text.lines().filter_map(|line| line.parse().ok()) {
        *counts.entry(call).or_default() += 1;
    }
    counts
}

#[test]
fn no_finished_call_is_paid_again_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut finished = HashSet::new();
    let kills = [2000, 2500, 6000];
    for kill_after in kills {
        let before = paid_so_far(folder.path());
        let now = run(folder.path(), Some(kill_after));
        let again = paid_again(&before, &paid(folder.path()), &finished);
        assert_eq!(again, [0; 0], "paid again after a kill");
        finished.extend(now);
    }
    let before = paid(folder.path());
    let all = run(folder.path(), None);
    assert_eq!(all.len() as u64, CALLS);
    let after = paid(folder.path());
    assert_eq!(paid_again(&before, &after, &finished), [0; 0]);
    let twice = after.values().filter(|count| **count > 1).count();
    assert!(twice <= kills.len() * UNDER_WAY, "{twice} calls were under way at a kill");
    assert_eq!(after.len() as u64, CALLS, "every call was made");
}

fn paid_so_far(folder: &Path) -> HashMap<u64, usize> {
    match folder.join("paid").exists() {
        true => paid(folder),
        false => HashMap::new(),
    }
}

/// Calls that had returned before, and were paid once more.
fn paid_again(
    before: &HashMap<u64, usize>,
    after: &HashMap<u64, usize>,
    finished: &HashSet<u64>,
) -> Vec<u64> {
    let more = |call: &u64| before.contains_key(call) && after[call] > before[call];
    finished.iter().copied().filter(more).collect()
}
