//! Ctrl-C, SIGTERM and SIGHUP: finished rows are kept, nothing is left behind, and the exit code is
//! 130.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Folder, Ran};

/// What the first Ctrl-C prints.
const STOPPING: &str =
    "stopping: the rows in progress are finished first; press Ctrl-C again to abandon them\n";

/// What the second Ctrl-C prints.
const ABANDONING: &str = "abandoning the rows in progress; press Ctrl-C again to exit at once\n";

const INT: u64 = 2;
const HUP: u64 = 1;

fn start(folder: &Folder, args: &[&str]) -> Child {
    spawn(&mut folder.command(args))
}

fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // Before the handler is installed, a signal would end the process.
    wait_until(|| catches(&child, INT));
    child
}

fn catches(child: &Child, signal: u64) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() >> (signal - 1) & 1 == 1
}

#[track_caller]
fn wait_until(mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(60), "no progress within 60 s");
        sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Reads standard error up to the end of this line.
fn read_line(child: &mut Child, line: &str) {
    let mut read = vec![0; line.len()];
    child.stderr.as_mut().unwrap().read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8(read).unwrap(), line);
}

/// Waits for the process, which ends by itself; otherwise kills it and fails.
#[track_caller]
fn finish(mut child: Child) -> Ran {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the process did not end: {:?}", child.wait_with_output());
        }
        sleep(Duration::from_millis(5));
    }
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn finished_rows_are_kept_while_the_pipe_is_open() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let folder = Folder::new();
        let mut child = start(&folder, &["score", "-", "-m", "obeys", "--out", "scores.jsonl"]);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all("{\"pred\": {\"answer\": \"1\"}}\n".repeat(2).as_bytes()).unwrap();
        sleep(Duration::from_secs(1));
        send(signal, &child);
        let ran = finish(child);
        assert_eq!(ran.code, Some(130), "{signal}");
        assert_eq!(
            ran.out,
            "obeys  1.0000 (mean of 2/2, 0 failed)\nafter 2 rows: incomplete: stopped on request\n"
        );
        let stopped =
            "stopped after 2 rows; their scores are counted and written to scores.jsonl\n";
        assert_eq!(ran.err, format!("{STOPPING}{stopped}"));
        assert_eq!(folder.read("scores.jsonl").lines().count(), 2);
        assert_eq!(folder.files(), ["scores.jsonl"]);
        drop(stdin);
    }
}

#[test]
fn a_second_ctrl_c_abandons_rows_in_progress() {
    let folder = Folder::with("rows.jsonl", "{\"pred\": {\"seconds\": 600}}\n");
    let mut child = start(&folder, &["score", "rows.jsonl", "-m", "sleeps"]);
    send("-INT", &child);
    read_line(&mut child, STOPPING);
    send("-INT", &child);
    let ran = finish(child);
    assert_eq!(ran.code, Some(130));
    assert_eq!(ran.err, format!("{ABANDONING}stopped after 0 rows; their scores are counted\n"));
}

#[test]
fn a_second_ctrl_c_abandons_metrics_that_block_every_thread() {
    let rows = "{\"pred\": {\"answer\": \"1\", \"seconds\": 0}}\n".to_owned()
        + &"{\"pred\": {\"answer\": \"1\", \"seconds\": 600}}\n".repeat(64);
    let folder = Folder::with("rows.jsonl", rows);
    let args = ["score", "rows.jsonl", "-m", "blocks", "--out", "scores.jsonl"];
    let mut child = start(&folder, &[&args[..], &["--concurrency", "64"]].concat());
    let spool_is_written = || {
        let files = folder.files();
        files.iter().any(|file| file.ends_with(".tmp"))
    };
    wait_until(spool_is_written);
    sleep(Duration::from_secs(1));
    send("-TERM", &child);
    read_line(&mut child, STOPPING);
    send("-TERM", &child);
    let ran = finish(child);
    assert_eq!(ran.code, Some(130));
    let kept = "stopped after 1 rows; their scores are counted and written to scores.jsonl\n";
    assert_eq!(ran.err, format!("{ABANDONING}{kept}"));
    assert_eq!(folder.read("scores.jsonl").lines().count(), 1);
    assert_eq!(folder.files(), ["rows.jsonl", "scores.jsonl"]);
}

#[test]
fn a_third_ctrl_c_ends_a_run_that_cannot_finish() {
    // The results are longer than the buffer of a pipe, and nothing reads them.
    let folder = Folder::with("rows.jsonl", "{\"pred\": {\"answer\": \"1\"}}\n".repeat(5_000));
    let pipe = folder.path("scores.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let both_ends = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let mut child =
        start(&folder, &["score", "rows.jsonl", "-m", "obeys", "--out", "scores.jsonl"]);
    sleep(Duration::from_secs(2));
    send("-INT", &child);
    read_line(&mut child, STOPPING);
    send("-INT", &child);
    read_line(&mut child, ABANDONING);
    send("-INT", &child);
    let ran = finish(child);
    assert_eq!((ran.code, &*ran.out, &*ran.err), (Some(130), "", ""));
    drop(both_ends);
}

#[test]
fn a_closed_terminal_does_not_end_a_run_under_nohup() {
    let folder = Folder::new();
    let scorer = folder.command(&["score", "-", "-m", "obeys"]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(scorer.get_program());
    shell.args(scorer.get_args());
    let mut child = spawn(&mut shell);
    assert!(!catches(&child, HUP));
    send("-HUP", &child);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"pred\": {\"answer\": \"1\"}}\n").unwrap();
    drop(stdin);
    let ran = finish(child);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
}

#[test]
fn the_files_of_a_killed_run_are_removed_by_the_next() {
    let folder = Folder::with("rows.jsonl", "{\"pred\": {\"answer\": \"1\"}}\n");
    let mut child = start(&folder, &["score", "-", "-m", "obeys", "--out", "scores.jsonl"]);
    wait_until(|| folder.files().len() == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.files().len(), 3, "the temporary file and the spool are left behind");
    let ran = folder.run(&["score", "rows.jsonl", "-m", "obeys", "--out", "scores.jsonl"]);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    assert_eq!(folder.files(), ["rows.jsonl", "scores.jsonl"]);
}
