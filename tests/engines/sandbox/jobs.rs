//! Jobs, and the scores and feedback of the sandbox metrics.

use dsrs_metrics::metrics::{FileSource, Sandbox, SandboxFiles, TestPass, VerificationDelta};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::{Job, Limits, Termination};
use dsrs_metrics::{
    Scored,
    contract::{Configure, MetricCall, Params},
};
use dsrs_metrics_tests::can_isolate;

use super::{block_on, run};

#[track_caller]
pub(super) fn scored(metric: &impl Metric, gold: &Example, pred: &Prediction) -> Scored {
    let scored = block_on(metric.answer(MetricCall::new(gold, pred)).into_future());
    scored.unwrap_or_else(|error| panic!("{error}"))
}

fn sh(command: &str) -> Job {
    Job {
        command: command.to_owned(),
        ..Job::default()
    }
}

#[test]
fn exit_codes_streams_and_work_directory() {
    if !can_isolate() {
        return;
    }
    let report = run(&sh("pwd; echo err >&2; exit 7"));
    assert_eq!(report.termination, Termination::Exited(7));
    assert_eq!((&*report.stdout, &*report.stderr), ("/box/work\n", "err\n"));
    assert_eq!(run(&sh("kill -9 $$")).termination, Termination::Exited(137));
    let bytes = run(&sh("printf 'a\\377b\\000c'"));
    assert_eq!(bytes.stdout, "a\u{fffd}b\0c");
    assert_eq!(
        run(&sh("exec 1>&- 2>&-; sleep 0.2; exit 3")).termination,
        Termination::Exited(3)
    );
}

#[test]
fn files_folders_and_readable_paths() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("sub/a"), "from the folder").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).unwrap();
    let readable = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir()
        .unwrap();
    std::fs::write(readable.path().join("b"), "readable").unwrap();
    let job = Job {
        command: format!(
            "cat sub/a sub/deep/c link {0}/b; echo x > {0}/d; echo x > sub/a && cat sub/a",
            readable.path().display()
        ),
        files: vec![
            ("sub/deep/c".to_owned(), " and the row ".to_owned()),
            ("link".to_owned(), "a file, not the link ".to_owned()),
        ],
        folder: Some(folder.path().to_owned()),
        readable: vec![readable.path().to_owned()],
        ..Job::default()
    };
    let report = run(&job);
    assert_eq!(
        report.stdout, "from the folder and the row a file, not the link readablex\n",
        "{}",
        report.stderr
    );
    assert_eq!(
        std::fs::read(folder.path().join("sub/a")).unwrap(),
        b"from the folder"
    );
    assert!(
        report.stderr.contains("Read-only file system"),
        "{}",
        report.stderr
    );
}

#[test]
fn paths_outside_the_work_directory_are_rejected() {
    for path in ["/etc/x", "../x", "a/../../x", "", ".", "a/", "a\0b"] {
        let metric = Sandbox::builder()
            .command("true")
            .file(path, FileSource::pred("program"))
            .build();
        let pred = prediction! { "program" => "" };
        let error = block_on(metric.evaluate(&example! {}, &pred))
            .unwrap_err()
            .to_string();
        let expected = "expected a path relative to the work directory, without `..`";
        let missing = error.contains("cannot isolate the command on this system") && !can_isolate();
        assert!(error.contains(expected) || missing, "{path:?}: {error}");
    }
    let mut params = Params::default();
    params.insert("command", "true");
    params.insert("files", r#"{"../x": "program"}"#);
    let error = Sandbox::configure(&params).unwrap_err().to_string();
    assert!(error.contains("(invalid path `../x`: expected"), "{error}");
}

/// A field of a row is the content of a file, never its path.
#[test]
fn a_field_that_looks_like_a_path_is_content() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let host = folder.path().join("host");
    let metric = Sandbox::builder()
        .command("test \"$(cat answer)\" = \"$(cat expected)\" && test \"$(ls)\" = \"$(printf 'answer\\nexpected')\"")
        .file("answer", FileSource::pred("program"))
        .file("expected", FileSource::gold("test"))
        .build();
    let long = "x/".repeat(5000);
    for path in [
        "/etc/passwd",
        "../../etc/passwd",
        host.to_str().unwrap(),
        "/dev/zero",
        "-",
        &long,
    ] {
        let (gold, pred) = (
            example! { "test" => path },
            prediction! { "program" => path },
        );
        let scored = scored(&metric, &gold, &pred);
        assert_eq!(
            scored.score.value, 1.0,
            "{path}: {:?}",
            scored.score.details
        );
    }
    assert!(!host.exists());
}

#[test]
fn fields_of_both_rows_become_files() {
    if !can_isolate() {
        return;
    }
    let row = (
        example! { "test" => "gold", "n" => [1, 2] },
        prediction! { "program" => "pred" },
    );
    let command = "test \"$(cat a)\" = 'pred-gold[1,2]' && test \"$(cat b)\" = pred";
    let parts = vec![
        FileSource::pred("program"),
        FileSource::Text("-".to_owned()),
        FileSource::gold("test"),
        FileSource::gold("n"),
    ];
    let metric = Sandbox::builder()
        .command(command)
        .file("a", FileSource::Parts(parts))
        .file("b", FileSource::pred("program"))
        .build();
    assert_eq!(scored(&metric, &row.0, &row.1).score.value, 1.0);
    let mut params = Params::default();
    params.insert("command", command);
    params.insert(
        "files",
        r#"{"a": ["pred.program", {"text": "-"}, "gold.test", "gold.n"], "b": "program"}"#,
    );
    let metric = Sandbox::configure(&params).unwrap();
    assert_eq!(scored(&metric, &row.0, &row.1).score.value, 1.0);
    let score = block_on(metric.evaluate(&row.0, &prediction! { "code" => 1 })).unwrap();
    let words = Some("the prediction has no field `program`");
    assert_eq!(
        (score.value, score.details.as_deref(), score.cost_msats),
        (0.0, words, 0)
    );
}

#[test]
fn the_feedback_names_the_limit_or_exit_code() {
    if !can_isolate() {
        return;
    }
    let run = |command: &str, limits: Limits| {
        let metric = Sandbox::builder()
            .command(command)
            .timeout_secs(1)
            .limits(limits)
            .build();
        let scored = scored(&metric, &example! {}, &prediction! {});
        let feedback = scored.feedback().unwrap_or_default().into_owned();
        (scored.score.value, scored.passed, feedback)
    };
    assert_eq!(
        run("true", Limits::default()),
        (1.0, Some(true), String::new())
    );
    assert_eq!(
        run("echo no >&2; exit 3", Limits::default()),
        (0.0, Some(false), "exit code 3, expected 0\nno".to_owned())
    );
    assert_eq!(run("sleep 9", Limits::default()).2, "stopped after 1 s");
    let little = Limits {
        output_kb: 1,
        ..Limits::default()
    };
    assert!(
        run("yes", little)
            .2
            .starts_with("stopped after 1 KiB of output")
    );
    let busy = Limits {
        cpu_secs: Some(1),
        ..Limits::default()
    };
    let metric = Sandbox::builder()
        .command("while :; do :; done")
        .timeout_secs(20)
        .limits(busy)
        .build();
    let scored = scored(&metric, &example! {}, &prediction! {});
    assert_eq!(
        scored.feedback().unwrap().lines().next(),
        Some("exit code 137, expected 0")
    );
    let nonzero = Sandbox::builder()
        .command("exit 3")
        .expected_exit_code(3)
        .build();
    assert_eq!(
        self::scored(&nonzero, &example! {}, &prediction! {})
            .score
            .value,
        1.0
    );
}

const TESTS: &str = "import unittest, it\n\
                     class T(unittest.TestCase):\n\
                     \x20   def test_one(self): self.assertEqual(it.f(1), 1)\n\
                     \x20   def test_two(self): self.assertEqual(it.f(2), 4)\n\
                     \x20   def test_three(self): self.assertEqual(it.f(3), 9)\n";

fn tests(partial_credit: bool) -> TestPass {
    TestPass::builder()
        .command("python3 -m unittest test_it")
        .file("it.py", FileSource::pred("code"))
        .file("test_it.py", FileSource::Text(TESTS.to_owned()))
        .partial_credit(partial_credit)
        .build()
}

#[test]
fn passing_tests_are_counted() {
    if !can_isolate() {
        return;
    }
    let test = |code: &str, partial: bool| {
        let scored = scored(
            &tests(partial),
            &example! {},
            &prediction! { "code" => code },
        );
        let feedback = scored.feedback().unwrap_or_default().into_owned();
        (
            scored.score.value,
            feedback.lines().next().unwrap_or_default().to_owned(),
        )
    };
    let right = "def f(x): return x * x";
    assert_eq!(
        test(right, false),
        (1.0, "3 passed, 0 failed, 0 skipped".to_owned())
    );
    let wrong = "def f(x): return x";
    let feedback = "1 passed, 2 failed, 0 skipped; exit code 1, expected 0".to_owned();
    assert_eq!(test(wrong, false), (0.0, feedback.clone()));
    assert_eq!(test(wrong, true), (1.0 / 3.0, feedback));
    let early = test("import os; os._exit(0)", true);
    assert_eq!(
        early,
        (
            0.0,
            "no test summary found in the output; exit code 0".to_owned()
        )
    );
    let killed = test(
        "import os; print('9 passed in 1s', flush=True); os.kill(os.getpid(), 9)",
        true,
    );
    assert_eq!(
        killed,
        (
            0.0,
            "the tests did not finish; exit code 137, expected 0".to_owned()
        )
    );
    assert_eq!(test("def f(x): return (", true).0, 0.0);
}

#[test]
fn more_equal_or_fewer_passing_tests() {
    if !can_isolate() {
        return;
    }
    let metric = VerificationDelta::builder()
        .command("python3 -m unittest test_it")
        .file("it.py", FileSource::pred("code"))
        .file("test_it.py", FileSource::Text(TESTS.to_owned()))
        .build();
    let pred = prediction! { "code" => "def f(x): return x" };
    for (before, value, delta) in [(0, 1.0, "1"), (1, 0.5, "0"), (2, 0.0, "-1")] {
        let score = scored(&metric, &example! { "tests_passing" => before }, &pred).score;
        let details = format!("Tests before: {before}, after: 1, delta: {delta}");
        assert_eq!(
            (score.value, score.confidence, score.cost_msats),
            (value, 0.9, 500)
        );
        assert_eq!(score.details, Some(details));
    }
}

/// A parser's failure is not "0 tests passed".
#[test]
fn unreadable_counts_are_a_failure_and_a_crash_counts_as_no_passing_test() {
    if !can_isolate() {
        return;
    }
    let run = |command: &str| {
        let metric = VerificationDelta::builder()
            .command(command)
            .timeout_secs(2)
            .build();
        let answer = block_on(metric.evaluate(&example! { "tests_passing" => 3 }, &prediction! {}));
        answer.map_err(|error| error.to_string())
    };
    let error = run("echo compiling; echo 'all good'").unwrap_err();
    let expected = "metric `verification_delta`: expected a test summary in the output of the test command, found none; \
                    its last lines: \"compiling\\nall good\"";
    assert!(error.starts_with(expected), "{error}");
    assert_eq!(run("echo '24 passed; 0 failed'").unwrap().value, 1.0);
    let before = "Tests before: 3, after: 0, delta: -3; the tests did not finish: ";
    for (command, reason) in [
        (
            "echo error: no tests >&2; exit 101",
            "exit code 101, expected 0\nerror: no tests",
        ),
        (
            "echo '9 passed in 1s'; exec sleep 60",
            "stopped after 2 s\n9 passed in 1s",
        ),
        (
            "echo '9 passed in 1s'; kill -9 $$",
            "exit code 137, expected 0\nKilled",
        ),
    ] {
        let score = run(command).unwrap();
        assert_eq!(
            (score.value, score.details),
            (0.0, Some(format!("{before}{reason}")))
        );
    }
    // Failing tests make the command fail, but their summary counts.
    assert_eq!(
        run("echo '4 passed, 1 failed in 1s'; exit 1")
            .unwrap()
            .value,
        1.0
    );
}

#[test]
fn files_without_a_field_of_the_prediction_are_read_only() {
    if !can_isolate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("check.py"), "of the folder").unwrap();
    let program = "import os, shutil\n\
                   for path in ['check.py', 'tests/data']:\n\
                   \x20   for attack in [lambda: open(path, 'w'), lambda: os.remove(path), lambda: os.chmod(path, 0o777),\n\
                   \x20                  lambda: os.rename('mine', path), lambda: os.symlink('mine', path)]:\n\
                   \x20       open('mine', 'w')\n\
                   \x20       try: attack(); print('changed', path)\n\
                   \x20       except OSError: pass\n\
                   open('main.py', 'w'); open('tests/mine', 'w')\n";
    let metric = Sandbox::builder()
        .command("python3 main.py > log; test ! -s log && python3 check.py && cat tests/data")
        .file("main.py", FileSource::pred("program"))
        .file("check.py", FileSource::gold("check"))
        .file("./tests//data", FileSource::Text("constant".to_owned()))
        .folder(folder.path().display().to_string())
        .build();
    let gold = example! { "check" => "raise SystemExit(7)" };
    let feedback = scored(&metric, &gold, &prediction! { "program" => program });
    assert_eq!(feedback.feedback().unwrap(), "exit code 7, expected 0");
}

#[test]
fn the_number_of_tests_before_is_a_whole_number_and_0_if_it_is_missing() {
    let tests = VerificationDelta::builder()
        .command("echo '1 passed; 0 failed'")
        .build();
    if can_isolate() {
        let score = block_on(tests.evaluate(&example! {}, &prediction! {})).unwrap();
        assert_eq!(score.value, 1.0, "{:?}", score.details);
    }
    let metric = VerificationDelta::default();
    let error = |gold: Example| block_on(metric.evaluate(&gold, &prediction! {})).unwrap_err();
    assert_eq!(
        error(example! { "tests_passing" => "three" }).to_string(),
        "metric `verification_delta`: field `gold.tests_passing`: expected a whole number, 0 or more, found the string \"three\""
    );
}

#[test]
fn output_that_is_not_utf_8_is_decoded_with_replacement() {
    if !can_isolate() {
        return;
    }
    let report = run(&sh("printf 'a\\377b'; printf '\\303' >&2; exit 3"));
    assert_eq!(
        (&*report.stdout, &*report.stderr),
        ("a\u{fffd}b", "\u{fffd}")
    );
    let metric = Sandbox::builder()
        .command("printf '\\377\\376' >&2; exit 3")
        .build();
    let scored = scored(&metric, &example! {}, &prediction! {});
    assert_eq!(scored.score.value, 0.0);
    assert_eq!(
        scored.feedback().unwrap(),
        "exit code 3, expected 0\n\u{fffd}\u{fffd}"
    );
    let tests = TestPass::builder()
        .command("printf '\\377\\n2 passed in 0.01s\\n'")
        .build();
    assert_eq!(
        self::scored(&tests, &example! {}, &prediction! {})
            .score
            .value,
        1.0
    );
}

#[test]
fn isolation_cannot_be_disabled() {
    let mut params = Params::default();
    params.insert("command", "true");
    params.insert("isolation", "unconfined");
    let error = Sandbox::configure(&params).unwrap_err().to_string();
    assert!(
        error.contains("expected the isolation `bubblewrap`, found `unconfined`"),
        "{error}"
    );
    let files: SandboxFiles = [("a", FileSource::pred("x"))].into_iter().collect();
    assert_ne!(files, SandboxFiles::default());
}
