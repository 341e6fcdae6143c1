//! Ctrl-C: finished rows are kept, and the exit code is 130.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Folder, Ran};

fn start(folder: &Folder, args: &[&str]) -> Child {
    let mut command = folder.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // Before the handler is installed, a signal would end the process.
    wait_until(|| {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 0b10 != 0
    });
    child
}

fn wait_until(mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(30), "no progress within 30 s");
        sleep(Duration::from_millis(5));
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn finished_rows_are_kept_while_the_pipe_is_open() {
    let folder = Folder::new();
    let mut child = start(&folder, &["score", "-", "-m", "obeys", "--out", "scores.jsonl"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("{\"pred\": {\"answer\": \"1\"}}\n".repeat(2).as_bytes()).unwrap();
    sleep(Duration::from_secs(1));
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130));
    assert_eq!(
        ran.out,
        "obeys  1.0000 (mean of 2/2, 0 failed)\nafter 2 rows: incomplete: stopped on request\n"
    );
    assert_eq!(
        ran.err,
        "stopped after 2 rows; their scores are counted and written to scores.jsonl\n"
    );
    assert_eq!(folder.read("scores.jsonl").lines().count(), 2);
    assert_eq!(folder.files(), ["scores.jsonl"]);
    drop(stdin);
}

#[test]
fn a_second_ctrl_c_abandons_rows_in_progress() {
    let folder = Folder::with("rows.jsonl", "{\"pred\": {\"seconds\": 600}}\n");
    let child = start(&folder, &["score", "rows.jsonl", "-m", "sleeps"]);
    interrupt(&child);
    sleep(Duration::from_millis(200));
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130));
    assert_eq!(ran.err, "stopped after 0 rows; their scores are counted\n");
}
