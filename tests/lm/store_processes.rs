//! A store in several processes: all use it at once, and one that is killed loses no completed call.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dsrs_metrics::lm::Store;

const CALLS: u64 = 10_000;
/// The maximum number of calls in progress when the process is killed.
const IN_PROGRESS: usize = 64;

/// A process that makes `calls` calls through the store in `dir`.
fn process(dir: &Path, calls: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lm_stored_calls"));
    command.arg(dir).arg(calls.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// A process that has made its calls, and has the store open until its standard input ends.
fn holding(dir: &Path, calls: u64) -> Child {
    let mut child = process(dir, calls).arg("hold").spawn().unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line == "held"));
    child
}

/// Runs the calls, kills the process after `kill_after` of them have returned (or waits for its
/// end), and returns the completed calls.
fn run(dir: &Path, kill_after: Option<usize>) -> HashSet<u64> {
    let mut child = process(dir, CALLS).spawn().unwrap();
    let mut completed = HashSet::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // The kill may truncate the last line.
        let Ok(call) = line.unwrap().parse() else {
            break;
        };
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
    assert!(
        twice <= kills.len() * IN_PROGRESS,
        "{twice} calls were paid for twice"
    );
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

#[test]
fn a_second_process_uses_the_store_at_the_same_time_and_pays_for_none_of_its_replies() {
    let dir = tempfile::tempdir().unwrap();
    let first = holding(dir.path(), 50);
    let output = process(dir.path(), 60).output().unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.lines().count()),
        (Some(0), 60)
    );
    assert_eq!(
        std::fs::read_to_string(dir.path().join("paid"))
            .unwrap()
            .lines()
            .count(),
        60
    );
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn four_processes_write_at_the_same_time_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..4)
        .map(|_| {
            process(dir.path(), 2_000)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    }
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(
        (store.info().unwrap().replies, store.check().is_ok()),
        (2_000, true)
    );
    // A fifth one pays for none of them.
    let before = paid(dir.path());
    run(dir.path(), Some(2_000));
    let after = paid(dir.path());
    let again: Vec<_> = before
        .iter()
        .filter(|(call, paid)| after[*call] != **paid)
        .collect();
    assert_eq!((before.len(), again), (2_000, Vec::new()));
}

/// `strace` kills the process at the entry of a system call in which SQLite changes its files: in the middle of a transaction, of
/// the copy of its log into the database, or of its end.
#[cfg(target_os = "linux")]
#[test]
fn a_kill_inside_of_the_writes_of_the_database_loses_no_completed_call() {
    if Command::new("strace").arg("-V").output().is_err() {
        return dsrs_metrics_tests::skip("strace is not installed");
    }
    // The number of a call in its thread.
    let writes = (0..50).map(|place| ("pwrite64", 1 + place));
    let others = [("fsync", 1), ("fsync", 2), ("ftruncate", 1), ("unlink", 1)];
    let mut kills = 0;
    for (call, number) in writes.chain(others) {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
        command.arg(format!("inject={call}:signal=KILL:when={number}"));
        command
            .arg(env!("CARGO_BIN_EXE_lm_stored_calls"))
            .arg(dir.path())
            .arg("200");
        let output = command.stdin(Stdio::null()).output().unwrap();
        kills += usize::from(output.status.code().is_none());
        let text = String::from_utf8_lossy(&output.stdout);
        // The kill may cut off the last line.
        let lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        let completed: HashSet<u64> = lines.filter_map(|line| line.trim().parse().ok()).collect();
        let before = paid_so_far(dir.path());
        let second = process(dir.path(), 200)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(second.status.code(), Some(0), "{call} {number}");
        let after = paid(dir.path());
        assert_eq!(
            paid_again(&before, &after, &completed),
            [0; 0],
            "{call} {number}"
        );
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(
            (store.check(), store.info().unwrap().replies),
            (Ok(()), 200),
            "{call} {number}"
        );
    }
    println!("{kills} of 54 processes were killed inside of a write");
    assert!(kills >= 50, "{kills}");
}
