//! The preflight check: a missing command is an error of the configuration, and nothing that a program prints is.

use dsrs_metrics::Evaluate;
use dsrs_metrics::metrics::{FileSource, Sandbox, TestPass};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::{Bubblewrap, Job, SandboxError, SandboxProvider as _, Termination};
use dsrs_metrics_tests::can_isolate;

use super::{block_on, run};

fn requiring(programs: &[&str]) -> Job {
    let requires = programs.iter().map(|&program| program.to_owned()).collect();
    Job {
        command: "echo ran".to_owned(),
        requires,
        ..Job::default()
    }
}

#[test]
fn required_programs_are_looked_up_inside_the_sandbox() {
    if !can_isolate() {
        return;
    }
    let report = run(&requiring(&["sh", "/bin/sh", "cd", "if", "tar"]));
    assert_eq!(
        (report.termination, &*report.stdout),
        (Termination::Exited(0), "ran\n")
    );
    let here = std::env::current_exe().unwrap().display().to_string();
    for missing in ["no-such-program", "/usr/bin/no-such-program", "/usr", &here] {
        let job = requiring(&["sh", missing]);
        let expected = SandboxError::MissingProgram(missing.to_owned());
        assert_eq!(block_on(Bubblewrap::new().run(&job)), Err(expected.clone()));
        assert_eq!(block_on(Bubblewrap::new().preflight(&job)), Err(expected));
    }
}

#[test]
fn a_missing_command_of_either_stage_ends_a_run_before_the_first_row() {
    if !can_isolate() {
        return;
    }
    let message = |metric: Sandbox| {
        let evaluate = Evaluate::builder()
            .devset([example! {}])
            .metric(metric)
            .build()
            .unwrap();
        let program = |_: Example| async { Ok::<_, String>(prediction! {}) };
        block_on(evaluate.run(program)).unwrap_err().to_string()
    };
    let program = message(Sandbox::builder().command("no-such-program -x").build());
    let check = message(
        Sandbox::builder()
            .command("true")
            .check("no-such-program -x")
            .build(),
    );
    for error in [program, check] {
        let start = "metric `sandbox`: command `no-such-program` not found in the sandbox";
        assert!(error.contains(start), "{error}");
    }
}

/// A program could choose "failed" over "wrong" by printing the message of the shell.
#[test]
fn exit_code_127_and_the_message_of_the_shell_are_a_wrong_answer() {
    if !can_isolate() {
        return;
    }
    let program = "import sys\nprint('sh: 1: python3: not found', file=sys.stderr)\nsys.exit(127)";
    let pred = prediction! { "program" => program };
    let metric = Sandbox::builder()
        .command("python3 a.py")
        .file("a.py", FileSource::pred("program"));
    let score = block_on(metric.build().evaluate(&example! {}, &pred)).unwrap();
    assert_eq!(score.value, 0.0);
    let metric = TestPass::builder()
        .command("python3 a.py")
        .file("a.py", FileSource::pred("program"));
    let score = block_on(metric.build().evaluate(&example! {}, &pred)).unwrap();
    assert_eq!(score.value, 0.0);
    // A program of the row itself is not looked for.
    let own = Sandbox::builder()
        .command("./a.out")
        .file("b", FileSource::pred("program"))
        .build();
    assert_eq!(
        block_on(own.evaluate(&example! {}, &pred)).unwrap().value,
        0.0
    );
}
