//! The cache in several processes: one waits for the other, and one that is killed loses no completed call.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dsrs_metrics::lm::ReplyCache;

const CALLS: u64 = 10_000;
/// The maximum number of calls in progress when the process is killed.
const IN_PROGRESS: usize = 64;

/// A process that makes `calls` calls through the cache in `dir`.
fn process(dir: &Path, calls: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lm_cached_calls"));
    command.arg(dir).arg(calls.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// A process that has made its calls, and has the cache open until its standard input ends.
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

#[test]
fn a_second_process_waits_for_the_first_one_and_pays_for_none_of_its_replies() {
    let dir = tempfile::tempdir().unwrap();
    let first = holding(dir.path(), 50);
    let mut second = process(dir.path(), 50).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    let file = dir.path().canonicalize().unwrap().join("replies.redb");
    let expected = format!(
        "waiting for the reply cache {}, which another process uses; set DSRS_CACHE to another directory to run beside it\n",
        file.display()
    );
    assert_eq!((line, second.try_wait().unwrap()), (expected, None));
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(0));
    let output = second.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.lines().count()), (Some(0), 50));
    assert_eq!(std::io::read_to_string(errors).unwrap(), "", "one line");
    assert_eq!(std::fs::read_to_string(dir.path().join("paid")).unwrap().lines().count(), 50);
}

#[test]
fn threads_that_wait_for_another_process_share_the_file_and_block_no_other_file() {
    let (dir, other_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let other = holding(dir.path(), 3);
    let open = |dir: &tempfile::TempDir| ReplyCache::open(dir.path(), 1 << 30).unwrap();
    std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(|| open(&dir)));
        assert_eq!(open(&other_dir).len(), Ok(0));
        assert!(threads.iter().all(|thread| !thread.is_finished()));
        assert_eq!(other.wait_with_output().unwrap().status.code(), Some(0));
        let caches = threads.map(|thread| thread.join().unwrap());
        assert_eq!(caches.map(|cache| cache.len()), [const { Ok(3) }; 4]);
    });
}
