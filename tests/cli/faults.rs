//! Faults of the surroundings: closed pipes, closed standard streams, full disks.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use dsrs_metrics_tests::can_isolate;

use crate::{Folder, Ran, scorer};

const ROW: &str = "{\"pred\": {\"answer\": \"1\"}}\n";

/// The headline of [`ROW`], 5,000 times.
const HEADLINE: &str = "obeys  1.0000 [all scores are equal] (mean of 5000/5000, 0 failed)\n";

/// Runs a shell script in the folder; `$0` is the scorer.
fn shell(folder: &Folder, script: &str) -> Ran {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).arg(scorer().get_program());
    command
        .env_remove("COLUMNS")
        .env_remove("DSRS_LM")
        .env("RUST_BACKTRACE", "0");
    command.current_dir(folder.path("")).stdin(Stdio::null());
    Ran::from(command.output().unwrap())
}

fn rows() -> Folder {
    Folder::with("rows.jsonl", ROW.repeat(5_000))
}

#[test]
fn a_closed_pipe_ends_score_without_an_error() {
    for (args, code) in [
        (&["-m", "obeys"][..], 0),
        (&["-m", "obeys", "--json"], 0),
        (&["-m", "obeys", "--out", "scores.jsonl"], 0),
        // The threshold counts although nothing reads the score.
        (&["-m", "obeys", "--fail-under", "obeys=2"], 1),
    ] {
        let folder = Folder::new();
        let mut command = folder.command("score -");
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The reader is gone before there is a score.
        drop(child.stdout.take());
        child
            .stdin
            .take()
            .unwrap()
            .write_all(ROW.as_bytes())
            .unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        let warning = "obeys: 1.0000 is below 2\n";
        let expected = if code == 0 { "" } else { warning };
        assert_eq!((ran.code, &*ran.err), (Some(code), expected), "{args:?}");
        let files = match args.contains(&"--out") {
            true => vec!["scores.jsonl", "scores.jsonl.manifest.json"],
            false => vec![],
        };
        assert_eq!(folder.files(), files);
    }
    let ran = shell(&rows(), "\"$0\" list | head -1");
    assert_eq!(
        (ran.code, ran.out.lines().count(), &*ran.err),
        (Some(0), 1, "")
    );
}

#[test]
fn a_full_standard_output_is_an_error_in_one_line() {
    for options in ["", "--json"] {
        let ran = shell(
            &rows(),
            &format!("\"$0\" score rows.jsonl -m obeys {options} > /dev/full"),
        );
        let error =
            "error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!((ran.code, &*ran.err), (Some(2), error));
    }
}

#[test]
fn a_closed_or_full_standard_error_changes_neither_result_nor_exit_code() {
    for redirection in ["2>&-", "2>/dev/full"] {
        let ran = shell(
            &rows(),
            &format!("\"$0\" score rows.jsonl -m obeys {redirection}"),
        );
        assert_eq!((ran.code, &*ran.out), (Some(0), HEADLINE), "{redirection}");
        let script = format!("\"$0\" score rows.jsonl -m obeys --fail-under obeys=2 {redirection}");
        assert_eq!(shell(&rows(), &script).code, Some(1), "{redirection}");
        let script = format!("\"$0\" score missing.jsonl -m obeys {redirection}");
        assert_eq!(shell(&rows(), &script).code, Some(2), "{redirection}");
    }
}

#[test]
fn a_closed_standard_input_has_no_rows() {
    let ran = shell(&rows(), "\"$0\" score - -m obeys --out scores.jsonl <&-");
    let error = "error: <stdin>: expected at least one row, found none; add rows\n";
    assert_eq!((ran.code, &*ran.out, &*ran.err), (Some(2), "", error));
}

/// The path in the last line of standard error, and the error of the operating system before it.
#[track_caller]
fn kept(ran: &Ran, file: &str) -> (String, String) {
    let start = format!("error: cannot write `{file}`: ");
    let rest = ran
        .err
        .strip_prefix(&start)
        .unwrap_or_else(|| panic!("{ran:?}"));
    let (reason, rest) = rest.split_once("; the rows so far are kept in `").unwrap();
    let path = rest.strip_suffix("`, one JSON object per line\n").unwrap();
    (reason.to_owned(), path.to_owned())
}

#[test]
fn a_file_size_limit_keeps_the_rows_so_far() {
    let folder = rows();
    // 64 blocks of 512 or 1,024 bytes; without the trap the signal SIGXFSZ ends the process.
    let script =
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" score rows.jsonl -m obeys --out scores.jsonl";
    let ran = shell(&folder, script);
    // All finished rows are in the headline; no more were taken after the error.
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.out
            .starts_with("obeys  1.0000 [all scores are equal] (mean of "),
        "{ran:?}"
    );
    let (reason, path) = kept(&ran, "scores.jsonl");
    assert_eq!(reason, "File too large (os error 27)");
    let rows = fs::read_to_string(&path).unwrap();
    let whole = rows
        .lines()
        .filter(|line| line.starts_with("{\"id\":\"") && line.ends_with('}'));
    assert!(whole.count() > 100, "{rows}");
    let path = path.rsplit('/').next().unwrap();
    assert_eq!(
        folder.files(),
        ["rows.jsonl", path],
        "no half-written result file"
    );
}

#[test]
fn a_full_file_system_keeps_the_rows_so_far() {
    if !can_isolate() {
        return;
    }
    let folder = rows();
    fs::create_dir(folder.path("small")).unwrap();
    // A file system of 200,000 bytes, which only this command sees.
    let script = "exec bwrap --dev-bind / / --size 200000 --tmpfs \"$PWD/small\" -- /bin/sh -c '
        cd small
        \"$0\" score ../rows.jsonl -m obeys --out scores.jsonl
        echo \"exit code $?\"
        ls
        grep -c \"}$\" *.rows.jsonl' \"$0\"";
    let ran = shell(&folder, script);
    let (reason, path) = kept(&ran, "scores.jsonl");
    assert_eq!(reason, "No space left on device (os error 28)");
    let path = path.rsplit('/').next().unwrap();
    let lines: Vec<&str> = ran.out.lines().skip(2).collect();
    assert_eq!(
        lines[..2],
        ["exit code 2", path],
        "no half-written result file: {ran:?}"
    );
    assert!(lines[2].parse::<u32>().unwrap() > 100, "{ran:?}");
}

#[test]
fn a_closed_pipe_as_result_file_keeps_the_rows() {
    let folder = rows();
    let script = "mkfifo scores.jsonl
        head -c 1 < scores.jsonl > /dev/null &
        exec \"$0\" score rows.jsonl -m obeys --out scores.jsonl";
    let ran = shell(&folder, script);
    assert!(
        ran.code == Some(2) && ran.out.starts_with(HEADLINE),
        "{ran:?}"
    );
    let (reason, path) = kept(&ran, "scores.jsonl");
    assert_eq!(reason, "Broken pipe (os error 32)");
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 5_000);
    fs::remove_file(path).unwrap();
}
