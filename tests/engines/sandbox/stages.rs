//! Two stages: the program, then the check in a new sandbox over the results of the program.

use dsrs_metrics::contract::{Configure, Params};
use dsrs_metrics::metrics::{FileSource, Sandbox, TestPass};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::Limits;
use dsrs_metrics_tests::can_isolate;

use super::block_on;
use super::functions;
use super::jobs::scored;

/// Value and feedback of a Python program whose check is this shell command.
#[track_caller]
fn checked(program: &str, check: &str, limits: Limits) -> (f64, String) {
    let metric = Sandbox::builder()
        .command("python3 main.py")
        .file("main.py", FileSource::pred("program"))
        .check(check)
        .check_file("expected", FileSource::gold("expected"))
        .timeout_secs(5)
        .limits(limits)
        .build();
    let gold = example! { "expected" => "secret answer\n" };
    feedback(&metric, &gold, program)
}

#[track_caller]
fn feedback(metric: &impl Metric, gold: &Example, program: &str) -> (f64, String) {
    let scored = scored(metric, gold, &prediction! { "program" => program });
    (
        scored.score.value,
        scored.feedback().unwrap_or_default().into_owned(),
    )
}

#[track_caller]
fn value(program: &str, check: &str) -> f64 {
    checked(program, check, Limits::default()).0
}

#[test]
fn the_check_reads_streams_exit_code_and_files_of_the_program() {
    if !can_isolate() {
        return;
    }
    let program = "import sys, os\n\
                   print('secret answer'); print('warning', file=sys.stderr)\n\
                   os.makedirs('a/b'); open('a/b/data', 'wb').write(bytes([0, 255, 10]))\n\
                   os.chmod('a/b/data', 0o755); sys.exit(3)";
    for check in [
        "cmp /program/stdout expected",
        "test \"$(cat /program/stderr)\" = warning",
        "test \"$(cat /program/exit_code)\" = 3",
        "test \"$(od -An -tx1 /program/files/a/b/data)\" = ' 00 ff 0a'",
        "cmp expected - <<END\nsecret answer\nEND",
        // No file of the program can be executed, and nothing can be written beside them.
        "test ! -x /program/files/a/b/data && ! touch /program/x && ! touch /program/files/main.py",
        "test -z \"$(ls -A \"$HOME\" /tmp /dev/shm | grep -v :)\"",
        "test \"$(ls -A)\" = expected && ! touch expected",
    ] {
        assert_eq!(
            checked(program, check, Limits::default()),
            (1.0, String::new()),
            "{check}"
        );
    }
    let (value, feedback) = checked(program, "echo no >&2; exit 9", Limits::default());
    let expected = "check: exit code 9, expected 0\nno\nprogram: exit code 3, expected 0\nwarning";
    assert_eq!((value, &*feedback), (0.0, expected));
}

/// Each program is wrong, and a check in one stage would pass.
#[test]
fn cheating_programs_do_not_pass_the_check() {
    if !can_isolate() {
        return;
    }
    for program in [
        // The expected output is not in the sandbox of the program.
        "import os\n\
         for top, _, names in os.walk('/box'):\n\
         \x20   for name in names: print(open(os.path.join(top, name)).read())",
        "import os; os.symlink('/box/work/expected', 'expected'); os.remove('main.py'); os.symlink('expected', 'stdout')",
        "open('expected', 'w').write(''); open('stdout', 'w').write('secret answer\\n')",
        "import os; os._exit(0)",
        "print('1 passed in 0.1s')",
        "import os, sys\n\
         d = os.path.expanduser('~/.local/lib/python%d.%d/site-packages' % sys.version_info[:2])\n\
         os.makedirs(d)\n\
         for f in (d + '/usercustomize.py', 'sitecustomize.py', 'os.py', '/tmp/os.py'): open(f, 'w').write('raise SystemExit(0)')\n\
         for f in ('cmp', 'sh', 'test'): open(f, 'w').write('#!/bin/sh\\nexit 0'); os.chmod(f, 0o755)",
        // It is killed at the end of its stage, and cannot reach the check.
        "import os, sys\n\
         if os.fork(): sys.exit()\n\
         os.setsid()\n\
         while True:\n\
         \x20   try: open('/program/stdout', 'w').write('secret answer\\n')\n\
         \x20   except OSError: open('stdout', 'w').write('secret answer\\n')",
        // An archive of its own, with a link to the gold file as the standard output.
        "import io, tarfile\n\
         t = io.BytesIO(); a = tarfile.open(fileobj=t, mode='w')\n\
         i = tarfile.TarInfo('../stdout'); i.size = 14; a.addfile(i, io.BytesIO(b'secret answer\\n'))\n\
         i = tarfile.TarInfo('../../stdout'); i.type = tarfile.SYMTYPE; i.linkname = '/box/work/expected'; a.addfile(i); a.close()\n\
         for n in range(20):\n\
         \x20   for p in ('self', '1'):\n\
         \x20       try: open('/proc/%s/fd/%d' % (p, n), 'wb').write(t.getvalue())\n\
         \x20       except OSError: pass",
    ] {
        assert_eq!(
            value(program, "cmp /program/stdout expected"),
            0.0,
            "{program}"
        );
        let check = "test -f /program/files/expected && cmp /program/files/expected expected";
        assert_eq!(value(program, check), 0.0, "{program}");
        let python = "python3 -c 'import os, sys; sys.exit(open(\"/program/stdout\").read() != open(\"expected\").read())'";
        assert_eq!(value(program, python), 0.0, "{program}");
    }
}

#[test]
fn no_process_of_the_program_is_alive_during_the_check() {
    if !can_isolate() {
        return;
    }
    let program = "import os, sys, time\n\
                   if os.fork(): sys.exit()\n\
                   os.setsid()\n\
                   for n in range(3): os.close(n)\n\
                   os.execvp('sleep', ['sleep', '86397.25'])";
    assert_eq!(value(program, "sleep 0.5"), 1.0);
    assert_eq!(super::attacks::alive("86397.25"), 0);
}

#[test]
fn a_program_that_exceeds_a_limit_is_not_checked() {
    if !can_isolate() {
        return;
    }
    let small = Limits {
        file_mb: 1,
        output_kb: 8,
        memory_mb: 200,
        ..Limits::default()
    };
    let large = "for n in range(3): open(str(n), 'w').write('x' * 600_000)";
    let many = "for n in range(10_001): open(str(n), 'w')";
    for (program, reason) in [
        ("import time; time.sleep(60)", "program: stopped after 5 s"),
        (
            "while True: print('x' * 100)",
            "program: stopped after 8 KiB of output",
        ),
        (
            large,
            "program: left more than 1 MiB of files, or too many files",
        ),
        (
            many,
            "program: left more than 1 MiB of files, or too many files",
        ),
    ] {
        let (value, feedback) = checked(program, "true", small.clone());
        assert_eq!(
            (value, feedback.lines().next()),
            (0.0, Some(reason)),
            "{program}"
        );
    }
    let (value, feedback) = checked("print(1)", "sleep 60", small.clone());
    assert_eq!((value, &*feedback), (0.0, "check: stopped after 5 s"));
    assert_eq!(
        checked("open('a', 'w').write('x' * 600_000)", "true", small).0,
        1.0
    );
}

/// The tests read the output; the program prints a better summary.
#[test]
fn test_results_are_those_of_the_check() {
    if !can_isolate() {
        return;
    }
    const TESTS: &str = "import unittest\n\
                         class T(unittest.TestCase):\n\
                         \x20   def test_output(self): self.assertIn('42', open('/program/stdout').read())\n\
                         \x20   def test_exit_code(self): self.assertEqual(open('/program/exit_code').read(), '0\\n')\n";
    let metric = TestPass::builder()
        .command("python3 main.py")
        .file("main.py", FileSource::pred("program"))
        .check("cat /program/stdout; python3 -m unittest test_output")
        .check_file("test_output.py", FileSource::gold("tests"))
        .partial_credit(true)
        .build();
    let gold = example! { "tests" => TESTS };
    let right = (1.0, "2 passed, 0 failed, 0 skipped".to_owned());
    assert_eq!(feedback(&metric, &gold, "print(6 * 7)"), right);
    let (value, feedback) = feedback(&metric, &gold, "print('24 passed in 0.1s')");
    assert_eq!(value, 0.5);
    let expected = "1 passed, 1 failed, 0 skipped; check: exit code 1, expected 0\n";
    assert!(feedback.starts_with(expected), "{feedback}");
}

#[test]
fn a_function_is_tested_over_its_results() {
    if !can_isolate() {
        return;
    }
    let problem = functions::Problem::new(
        "def area(*, width, height=1):\n",
        "    if width < 0: raise ValueError(width)\n    return (width * height, {'w': width})\n",
        "area",
        "def check(candidate):\n\
         \x20   assert candidate(width=2, height=3) == (6, {'w': 2})\n\
         \x20   assert candidate(width=2)[0] == 2\n\
         \x20   try: candidate(width=-1); assert False\n\
         \x20   except ValueError: pass\n",
    );
    let problem = block_on(problem.record_calls());
    let value = |body: &str| {
        let (gold, pred) = (problem.gold(), problem.prediction(body));
        block_on(functions::metric(10).evaluate(&gold, &pred))
            .unwrap()
            .value
    };
    assert_eq!(value(&problem.canonical_solution), 1.0);
    assert_eq!(
        value(
            "    if width < 0: raise KeyError(width)\n    return (width * height, {'w': width})\n"
        ),
        0.0
    );
    assert_eq!(value("    return (width * height, {'w': width})\n"), 0.0);
    for (name, body) in functions::CHEATS {
        assert_eq!(value(body), 0.0, "{name}");
    }
}

#[test]
fn wrong_settings_of_the_check_are_rejected() {
    let error = |metric: Sandbox| {
        let mut requirements = Vec::new();
        Metric::<Example, Prediction>::requirements(&metric, &mut requirements);
        format!("{requirements:?}")
    };
    let parts = vec![FileSource::gold("test"), FileSource::pred("program")];
    let metric = Sandbox::builder().command("true").check("true");
    let metric = metric
        .check_file("check.py", FileSource::Parts(parts))
        .build();
    let found = error(metric.clone());
    let expected = "`check_files`: expected constants and fields of the gold row, found `pred.program` in `check.py`";
    assert!(found.contains(expected), "{found}");
    let row = (example! { "test" => "" }, prediction! { "program" => "" });
    let found = block_on(metric.evaluate(&row.0, &row.1))
        .unwrap_err()
        .to_string();
    assert!(found.contains(expected), "{found}");
    let files = Sandbox::builder()
        .command("true")
        .check_file("a", FileSource::gold("a"));
    let found = error(files.build());
    assert!(
        found.contains("`check_files` is set without `check`"),
        "{found}"
    );
    let mut params = Params::default();
    params.insert("command", "true");
    params.insert("check", "true");
    params.insert("check_files", r#"{"a": "gold.a", "b": {"text": "b"}}"#);
    let found = error(Sandbox::configure(&params).unwrap());
    assert!(!found.contains("check_files"), "{found}");
}
