//! Ctrl-C, SIGTERM and SIGHUP: finished rows are kept, nothing is left behind, and the exit code is
//! 130.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::{Folder, Ran};

/// What the first Ctrl-C prints.
const STOPPING: &str =
    "stopping: the rows in progress have 30s to finish; press Ctrl-C again to abandon them\n";

/// What the second Ctrl-C prints.
const ABANDONING: &str = "abandoning the rows in progress; press Ctrl-C again to exit at once\n";

const TERM: u64 = 15;
const HUP: u64 = 1;

/// A running scorer, which is killed if the test fails.
struct Running {
    child: Child,
    err: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

fn start(folder: &Folder, args: &str) -> Running {
    spawn(&mut folder.command(args))
}

fn spawn(command: &mut Command) -> Running {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let err = Arc::<Mutex<String>>::default();
    let lines = Arc::clone(&err);
    let reader = std::thread::spawn(move || {
        for line in stderr.lines() {
            *lines.lock().unwrap() += &format!("{}\n", line.unwrap());
        }
    });
    let running = Running {
        child,
        err,
        reader: Some(reader),
    };
    // Before its handler is installed, a signal would end the process, and right after it, the signal might be lost. The handler
    // of SIGTERM is the last one.
    wait_until(|| catches(&running.child, TERM));
    running
}

impl Running {
    fn send(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits until standard error has this line.
    #[track_caller]
    fn wait_for(&self, line: &str) {
        wait_until(|| self.err.lock().unwrap().ends_with(line));
    }

    /// Waits for the process to end by itself.
    #[track_caller]
    fn finish(mut self) -> Ran {
        wait_until(|| self.child.try_wait().unwrap().is_some());
        self.reader.take().unwrap().join().unwrap();
        let mut out = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut out)
            .unwrap();
        let code = self.child.wait().unwrap().code();
        Ran {
            code,
            out,
            err: self.err.lock().unwrap().clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn catches(child: &Child, signal: u64) -> bool {
    mask(&child.id().to_string(), "SigCgt:") >> (signal - 1) & 1 == 1
}

/// Reads a set of signals of a process; the first signal is the lowest bit.
fn mask(process: &str, set: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix(set))
        .unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}

#[track_caller]
fn wait_until(mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "no progress within 60 s"
        );
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn finished_rows_are_kept_while_the_pipe_is_open() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        if signal == "-HUP" && mask("self", "SigIgn:") >> (HUP - 1) & 1 == 1 {
            eprintln!(
                "skipped: SIGHUP is ignored here, as by nohup, and child processes inherit that"
            );
            continue;
        }
        let folder = Folder::new();
        let mut child = start(&folder, "score - -m obeys --out scores.jsonl");
        let mut stdin = child.child.stdin.take().unwrap();
        stdin
            .write_all("{\"pred\": {\"answer\": \"1\"}}\n".repeat(2).as_bytes())
            .unwrap();
        sleep(Duration::from_secs(1));
        child.send(signal);
        let ran = child.finish();
        assert_eq!(ran.code, Some(130), "{signal}");
        assert_eq!(
            ran.out,
            "obeys  1.0000 [all scores are equal] (mean of 2/2, 0 failed)\nafter 2 rows: incomplete: stopped on request\n"
        );
        let stopped =
            "stopped after 2 rows; their scores are counted and written to scores.jsonl\n";
        assert_eq!(ran.err, format!("{STOPPING}{stopped}"));
        assert_eq!(folder.read("scores.jsonl").lines().count(), 2);
        assert_eq!(
            folder.files(),
            ["scores.jsonl", "scores.jsonl.manifest.json"]
        );
        drop(stdin);
    }
}

#[test]
fn a_second_ctrl_c_abandons_rows_in_progress() {
    let folder = Folder::with("rows.jsonl", "{\"pred\": {\"seconds\": 600}}\n");
    let child = start(&folder, "score rows.jsonl -m sleeps");
    child.send("-INT");
    child.wait_for(STOPPING);
    child.send("-INT");
    let ran = child.finish();
    assert_eq!(ran.code, Some(130));
    assert_eq!(
        ran.err,
        format!("{STOPPING}{ABANDONING}stopped after 0 rows; their scores are counted\n")
    );
}

#[test]
fn rows_that_hang_are_abandoned_when_the_grace_period_is_over() {
    for metric in ["sleeps", "blocks"] {
        let rows = "{\"pred\": {\"seconds\": 0}}\n{\"pred\": {\"seconds\": 6000}}\n";
        let folder = Folder::with("rows.jsonl", rows);
        let args = format!("score rows.jsonl -m {metric} --out scores.jsonl --grace 1s");
        let child = start(&folder, &args);
        sleep(Duration::from_secs(1));
        child.send("-TERM");
        let ran = child.finish();
        assert_eq!(ran.code, Some(130), "{metric}");
        let stopping = STOPPING.replace("30s", "1s");
        let over = "abandoning the rows in progress, which did not finish within 1s; press Ctrl-C again to exit at once\n";
        // The first row takes no time, but its thread may not have run yet.
        let rows = folder.read("scores.jsonl").lines().count();
        let kept = format!(
            "stopped after {rows} rows; their scores are counted and written to scores.jsonl\n"
        );
        assert_eq!(ran.err, format!("{stopping}{over}{kept}"));
        assert!(rows <= 1, "{rows}");
        assert_eq!(
            folder.files(),
            ["rows.jsonl", "scores.jsonl", "scores.jsonl.manifest.json"]
        );
    }
}

#[test]
fn a_second_ctrl_c_abandons_metrics_that_block_every_thread() {
    let rows = "{\"pred\": {\"answer\": \"1\", \"seconds\": 0}}\n".to_owned()
        + &"{\"pred\": {\"answer\": \"1\", \"seconds\": 600}}\n".repeat(64);
    let folder = Folder::with("rows.jsonl", rows);
    let args = "score rows.jsonl -m blocks --out scores.jsonl";
    let child = start(&folder, &format!("{args} --concurrency 64"));
    let spool_is_written = || {
        let files = folder.files();
        files.iter().any(|file| file.ends_with(".tmp"))
    };
    wait_until(spool_is_written);
    sleep(Duration::from_secs(1));
    child.send("-TERM");
    child.wait_for(STOPPING);
    child.send("-TERM");
    let ran = child.finish();
    assert_eq!(ran.code, Some(130));
    // The first row takes no time, but its thread may not have run yet.
    let rows = folder.read("scores.jsonl").lines().count();
    let kept = format!(
        "stopped after {rows} rows; their scores are counted and written to scores.jsonl\n"
    );
    assert_eq!(ran.err, format!("{STOPPING}{ABANDONING}{kept}"));
    assert!(rows <= 1);
    assert_eq!(
        folder.files(),
        ["rows.jsonl", "scores.jsonl", "scores.jsonl.manifest.json"]
    );
}

#[test]
fn a_third_ctrl_c_ends_a_run_that_cannot_finish() {
    // The results are longer than the buffer of a pipe, and nothing reads them.
    let folder = Folder::with(
        "rows.jsonl",
        "{\"pred\": {\"answer\": \"1\"}}\n".repeat(5_000),
    );
    let pipe = folder.path("scores.jsonl");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let both_ends = fs::File::options()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    let child = start(&folder, "score rows.jsonl -m obeys --out scores.jsonl");
    // Once something is written to the pipe, all rows are finished.
    (&both_ends).read_exact(&mut [0]).unwrap();
    child.send("-INT");
    child.wait_for(STOPPING);
    child.send("-INT");
    child.wait_for(ABANDONING);
    child.send("-INT");
    let ran = child.finish();
    assert_eq!((ran.code, &*ran.out), (Some(130), ""));
    assert_eq!(ran.err, format!("{STOPPING}{ABANDONING}"));
    drop(both_ends);
}

#[test]
fn a_closed_terminal_does_not_end_a_run_under_nohup() {
    let folder = Folder::new();
    let scorer = folder.command("score - -m obeys");
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(scorer.get_program());
    shell.args(scorer.get_args());
    let mut child = spawn(&mut shell);
    assert!(!catches(&child.child, HUP));
    child.send("-HUP");
    let mut stdin = child.child.stdin.take().unwrap();
    stdin
        .write_all(b"{\"pred\": {\"answer\": \"1\"}}\n")
        .unwrap();
    drop(stdin);
    let ran = child.finish();
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
}

#[test]
fn the_files_of_a_killed_run_are_removed_by_the_next() {
    let folder = Folder::with("rows.jsonl", "{\"pred\": {\"answer\": \"1\"}}\n");
    let mut child = start(&folder, "score - -m obeys --out scores.jsonl");
    wait_until(|| folder.files().len() == 6);
    child.send("-KILL");
    child.child.wait().unwrap();
    assert_eq!(
        folder.files().len(),
        6,
        "two temporary files, their locks and the spool are left behind"
    );
    folder.printed("score rows.jsonl -m obeys --out scores.jsonl");
    assert_eq!(
        folder.files(),
        ["rows.jsonl", "scores.jsonl", "scores.jsonl.manifest.json"]
    );
}

#[test]
fn a_second_run_that_writes_the_same_file_is_refused_before_its_first_row() {
    let row = "{\"gold\": {}, \"pred\": {\"answer\": \"1\"}}\n";
    let folder = Folder::with("rows.jsonl", row);
    folder.printed("score rows.jsonl -m obeys --with-rows --out o.jsonl");
    let refused = |args: &str, named: &str| {
        let expected = format!(
            "{named}: another run is writing to it; wait until that run ends, or write to another file"
        );
        assert_eq!(folder.score_error(args), expected, "{args}");
    };
    // With the temporary files of each: results, manifest and spool, or the summary.
    for (first, files) in [("--out o.jsonl", 3), ("--summary o.jsonl", 1)] {
        let before = fs::read(folder.path("o.jsonl")).unwrap();
        let mut child = start(&folder, &format!("score - -m obeys {first}"));
        let is_temporary = |name: &&String| name.ends_with(".tmp");
        wait_until(|| folder.files().iter().filter(is_temporary).count() == files);
        refused(
            "rows.jsonl -m obeys --out o.jsonl",
            "cannot write `o.jsonl`",
        );
        refused(
            "rows.jsonl -m obeys --junit o.jsonl",
            "--junit o.jsonl: cannot be written",
        );
        assert_eq!(fs::read(folder.path("o.jsonl")).unwrap(), before);
        child
            .child
            .stdin
            .take()
            .unwrap()
            .write_all(row.as_bytes())
            .unwrap();
        assert_eq!(child.finish().code, Some(0));
    }
    assert_eq!(
        folder.files(),
        ["o.jsonl", "o.jsonl.manifest.json", "rows.jsonl"]
    );
    assert!(folder.read("o.jsonl").starts_with("metric,"));
}
