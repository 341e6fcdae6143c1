//! The sandbox metrics on the command line.

use std::process::Command;

use dsrs_metrics_tests::can_isolate;
use insta::assert_snapshot;
use serde_json::Value;

use crate::{Folder, Words as _, scorer};

const ROWS: &str = r#"{"id": 1, "pred": {"program": "print(1)"}}
{"id": 2, "pred": {"program": "raise SystemExit(2)"}}
{"id": 3, "pred": {"program": "open('/etc/shadow')"}}
{"id": 4, "pred": {}}
"#;

#[test]
fn a_command_and_its_files_are_parameters() {
    if !can_isolate() {
        return;
    }
    let folder = Folder::with("rows.jsonl", ROWS);
    let command = ["--param", "sandbox.command=python3 check.py"];
    let files = ["--param", r#"sandbox.files={"check.py":"program"}"#];
    let score = "score rows.jsonl -m sandbox --json --max-errors 5 --out out.jsonl".words();
    let summary = folder.json(&[&score[..], &command, &files].concat());
    let accounting = summary["sandbox"]["accounting"].as_array().unwrap();
    let known = ["cgroup_v2", "per_task"];
    assert!(
        accounting.len() == 1 && known.iter().any(|it| accounting[0] == *it),
        "{summary}"
    );
    let metric = &summary["metrics"]["sandbox"];
    assert_eq!(
        (&metric["scored"], &metric["failed"]),
        (&4.into(), &0.into()),
        "{summary}"
    );
    assert_eq!(
        (&metric["kind"], &metric["mean_scored"]),
        (&"bool".into(), &0.25.into())
    );
    assert_eq!(metric["missing_fields"]["program"], 1);
    let lines = folder.read("out.jsonl");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let score = |at: usize| &lines[at]["scores"]["sandbox"];
    assert_eq!(score(0)["value"], 1.0);
    assert_eq!(score(1)["feedback"], "exit code 2, expected 0");
    let feedback = score(2)["feedback"].as_str().unwrap();
    assert!(feedback.contains("FileNotFoundError"), "{feedback}");
    assert_eq!(
        (&score(3)["value"], &score(3)["missing"][0]),
        (&0.0.into(), &"program".into())
    );
}

/// A run without a sandboxed command has no such key.
#[test]
fn the_isolation_is_reported_only_if_a_command_was_run() {
    let row = r#"{"gold": {"answer": "a"}, "pred": {"answer": "a"}}"#;
    let summary = Folder::with("rows.jsonl", row).json("score rows.jsonl -m em --json");
    assert_eq!(
        (
            summary["metrics"]["em"]["scored"].as_u64(),
            summary.get("sandbox")
        ),
        (Some(1), None)
    );
}

#[test]
fn a_limit_that_is_too_small_for_the_files_is_named() {
    if !can_isolate() {
        return;
    }
    let program = format!("print(1)#{}", "x".repeat(9 << 20));
    let row = serde_json::json!({"id": "big", "pred": {"program": program}});
    let folder = Folder::with("rows.jsonl", row.to_string());
    for (limits, expected) in [
        (
            r#"{"file_mb": 1}"#,
            "the limit `file_mb` is too small: expected at least 10 MiB for the file `main.py`, found 1; write a larger limit",
        ),
        (
            r#"{"disk_mb": 1}"#,
            "the limit `disk_mb` is too small: expected at least 10 MiB for the row's files, found 1; write a larger limit",
        ),
        (
            r#"{"memory_mb": 8}"#,
            // Setting up the sandbox may already exceed it.
            "the limit `memory_mb` is too small: expected ",
        ),
    ] {
        let command = ["--param", "sandbox.command=python3 main.py"];
        let files = ["--param", r#"sandbox.files={"main.py":"program"}"#];
        let limits = ["--param", &format!("sandbox.limits={limits}")];
        let score = "score rows.jsonl -m sandbox".words();
        let stderr = folder
            .run(&[&score[..], &command, &files, &limits].concat())
            .err;
        assert!(stderr.contains(expected), "{limits:?}: {stderr}");
        assert!(!stderr.contains("cannot isolate"), "{stderr}");
    }
}

#[test]
fn the_command_is_required() {
    let folder = Folder::with("rows.jsonl", ROWS);
    assert_snapshot!(folder.score_error("rows.jsonl -m sandbox"),
        @"metric `sandbox` requires the parameter `command` (a string): --param sandbox.command=VALUE");
}

/// Runs the commands of the guide over the committed programs and calls in a shell, and compares their output with the guide.
#[test]
fn the_guide_shows_the_output_of_its_commands() {
    if !can_isolate() {
        return;
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let page = format!("{root}/dsrs-metrics/docs/guide/code_and_sandbox.md");
    let page = std::fs::read_to_string(page).unwrap();
    let is_ours = |line: &&str| line.starts_with("dsrs-metrics score examples/data/code/");
    let commands: Vec<&str> = page.lines().filter(is_ours).collect();
    assert_eq!(commands.len(), 6, "{commands:?}");
    let mut printed = Vec::new();
    for command in commands {
        let (_, args) = command.split_once(' ').unwrap();
        let ran = Command::new("/bin/sh")
            .args([
                "-c",
                &format!("\"$0\" {args} --quiet"),
                env!("CARGO_BIN_EXE_scorer"),
            ])
            .current_dir(root)
            .output()
            .unwrap();
        assert_eq!(
            ran.status.code(),
            Some(0),
            "{command}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
        printed.push(String::from_utf8(ran.stdout).unwrap());
    }
    for shown in printed.chunks(2).map(<[String]>::concat) {
        assert!(page.contains(&format!("```text\n{shown}```")), "{shown}");
    }
}

#[test]
fn a_wrong_configuration_is_an_error_before_the_first_row() {
    if !can_isolate() {
        return;
    }
    let folder = Folder::with("rows.jsonl", ROWS);
    let run = |params: &[&str]| {
        let params = params.iter().flat_map(|it| ["--param", it]);
        let score = "score rows.jsonl -m sandbox".words();
        folder.run(&score.into_iter().chain(params).collect::<Vec<_>>())
    };
    let error = |params: &[&str]| {
        let ran = run(params);
        assert_eq!(
            (ran.code, &*ran.out),
            (Some(2), ""),
            "{params:?}: {}",
            ran.err
        );
        ran.error()
    };
    assert_snapshot!(error(&["sandbox.command="]),
        @"metric `sandbox`: `command` is empty; set it to the command line to run");
    assert_snapshot!(error(&["sandbox.command=true", "sandbox.timeout_secs=0"]),
        @"metric `sandbox`: expected `timeout_secs` to be at least 1, found 0");
    assert_snapshot!(error(&["sandbox.command=true", "sandbox.folder=/none"]),
        @"metric `sandbox`: `folder`: the directory `/none` does not exist");
    assert_snapshot!(error(&["sandbox.command=true", r#"sandbox.readable=["none"]"#]),
        @"metric `sandbox`: `readable`: expected an absolute path, found `none`");
    assert_snapshot!(error(&["sandbox.command=true", r#"sandbox.readable=["/none"]"#]),
        @"metric `sandbox`: `readable`: the path `/none` does not exist");
    assert_snapshot!(error(&["sandbox.command=no-such-program a"]),
        @"metric `sandbox`: command `no-such-program` not found in the sandbox, which contains the host's programs in /usr and /bin, the installation of the command that the host's PATH finds, and the paths listed in `readable`; install it, add its directory to PATH, or add its installation to `readable` and write its absolute path");
    assert_snapshot!(error(&["sandbox.command=true", "sandbox.check=no-such-program"]),
        @"metric `sandbox`: command `no-such-program` not found in the sandbox, which contains the host's programs in /usr and /bin, the installation of the command that the host's PATH finds, and the paths listed in `readable`; install it, add its directory to PATH, or add its installation to `readable` and write its absolute path");
    assert_snapshot!(error(&["sandbox.command=true", r#"sandbox.check_files={"a": "gold.a"}"#]),
        @"metric `sandbox`: `check_files` is set without `check`; set `check` to the command that reads them");
    assert_snapshot!(error(&["sandbox.command=true", "sandbox.check=true", r#"sandbox.check_files={"a": ["gold.a", "b"]}"#]),
        @"metric `sandbox`: `check_files`: expected constants and fields of the gold row, found `pred.b` in `a`; add that file to `files`, and read it from `/program/files`");
    assert_snapshot!(error(&["sandbox.command=true", r#"sandbox.limits={"time_secs": 1}"#]),
        @r#"metric `sandbox`: parameter `limits`: expected a JSON object of limits, as in '{"memory_mb": 512}', found `{"time_secs": 1}` (unknown field `time_secs`, expected one of `cpu_secs`, `memory_mb`, `processes`, `file_mb`, `disk_mb`, `output_kb`)"#);
    assert_snapshot!(error(&["sandbox.command=true", r#"sandbox.limits={"memory_mb": 0}"#]),
        @"metric `sandbox`: expected `limits.memory_mb` to be at least 1, found 0");
    let huge =
        "sandbox.limits={\"memory_mb\": 18446744073709551615, \"file_mb\": 18446744073709551615}";
    let stderr = run(&["sandbox.command=true", huge]).err;
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// A program cannot make its row a failure, which `mean_scored` leaves out, or hang the run.
#[test]
fn output_of_a_program_neither_fails_its_row_nor_stops_the_run() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let programs = [
        "import sys\nprint('sh: 1: python3: not found', file=sys.stderr)\nsys.exit(127)",
        "print('1 passed, ' * 50000)",
        "print('Ran 9 tests' * 50000)",
        "print('24 passed; 0 failed')",
    ];
    let row = |program: &&str| format!("{}\n", serde_json::json!({"pred": {"program": program}}));
    std::fs::write(&rows, programs.iter().map(row).collect::<String>()).unwrap();
    let ran = scorer()
        .arg("score")
        .arg(&rows)
        .args([
            "-m",
            "test_pass",
            "--timeout",
            "100s",
            "--param",
            "test_pass.command=python3 a.py",
        ])
        .args([
            "--param",
            r#"test_pass.files={"a.py":"program"}"#,
            "--quiet",
        ])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(
        stdout, "test_pass  0.2500 [0.0174, 0.8626; few rows] (mean of 4/4, 0 failed)\n",
        "{stderr}"
    );
}

/// `scorer ARGS` in a mount namespace with a temporary folder of this size; `None` if that needs more privileges.
fn with_small_temporary_folder(size: &str, folder: &std::path::Path) -> Option<Command> {
    const MOUNT: &str = r#"mount -t tmpfs -o "size=$1" none "$2" || exit 99
export TMPDIR="$2"; shift 2; exec "$@""#;
    let scorer = scorer();
    let start = |program: &std::ffi::OsStr| {
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", MOUNT, "sh", size])
            .arg(folder)
            .arg(program);
        command
    };
    let probe = start("true".as_ref()).output().ok()?;
    probe.status.success().then(|| start(scorer.get_program()))
}

#[test]
fn a_full_temporary_folder_is_a_failure_of_the_row_and_never_a_score() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut command) = with_small_temporary_folder("12m", folder.path()) else {
        return;
    };
    if !can_isolate() {
        return;
    }
    let files = tempfile::tempdir().unwrap();
    let (rows, out) = (
        files.path().join("rows.jsonl"),
        files.path().join("out.jsonl"),
    );
    // The archive of 7 MB and their copy fit neither together nor, of 14 MB, alone. All programs are right.
    let row = |mb: usize| {
        let program = format!(
            "import os\nfor n in range({mb}): open(f'f{{n}}', 'wb').write(os.urandom(10**6))\nprint(42)"
        );
        serde_json::json!({"id": mb, "pred": {"program": program}}).to_string()
    };
    std::fs::write(&rows, [row(0), row(7), row(14)].join("\n")).unwrap();
    let ran = command
        .arg("score")
        .arg(&rows)
        .args(["-m", "sandbox", "--concurrency", "1"])
        .args(["--param", "sandbox.command=python3 main.py"])
        .args(["--param", r#"sandbox.files={"main.py":"program"}"#])
        .args(["--param", "sandbox.check=grep -qx 42 /program/stdout"])
        .args(["--param", r#"sandbox.limits={"file_mb": 20}"#])
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let lines = std::fs::read_to_string(&out).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let scores: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["scores"]["sandbox"].take())
        .collect();
    assert_eq!(
        (&scores[0]["outcome"], &scores[0]["value"]),
        (&"scored".into(), &1.0.into())
    );
    let archive = "metric `sandbox`: archiving the program's files: tar: -: ";
    let advice = "; exit code 2; check the free space in the temporary folder (TMPDIR)";
    for (score, start, end) in [
        (
            &scores[1],
            "metric `sandbox`: writing to ",
            "No space left on device (os error 28)",
        ),
        (&scores[2], archive, advice),
    ] {
        assert_eq!(score["outcome"], "metric_failed", "{score}");
        let error = score["error"].as_str().unwrap();
        assert!(error.starts_with(start) && error.ends_with(end), "{error}");
    }
}

/// The files of one program and their archive take 14 MB of 20.
#[test]
fn rows_wait_for_space_in_the_temporary_folder() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut command) = with_small_temporary_folder("20m", folder.path()) else {
        return;
    };
    if !can_isolate() {
        return;
    }
    let files = tempfile::tempdir().unwrap();
    let rows = files.path().join("rows.jsonl");
    let program =
        "import os\nfor n in range(7): open(f'f{n}', 'wb').write(os.urandom(10**6))\nprint(42)";
    let row = |id: usize| serde_json::json!({"id": id, "pred": {"program": program}}).to_string();
    std::fs::write(&rows, (0..10).map(row).collect::<Vec<_>>().join("\n")).unwrap();
    let ran = command
        .arg("score")
        .arg(&rows)
        .args([
            "-m",
            "sandbox",
            "--concurrency",
            "10",
            "--quiet",
            "--max-errors",
            "99",
        ])
        .args(["--param", "sandbox.command=python3 main.py"])
        .args(["--param", r#"sandbox.files={"main.py":"program"}"#])
        .args(["--param", "sandbox.check=grep -qx 42 /program/stdout"])
        .args(["--param", r#"sandbox.limits={"file_mb": 8}"#])
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    let expected = "sandbox  100.00% [72.25, 100.00] (10/10, 0 failed)\n";
    assert_eq!((&*stdout, &*stderr), (expected, ""));
}
