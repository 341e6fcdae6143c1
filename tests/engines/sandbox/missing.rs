//! Without isolation no command is run, and the message names the program to install or the setting to change.

use std::os::unix::fs::PermissionsExt as _;

use dsrs_metrics::metrics::{Isolation, Sandbox};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::{
    Accounting, Bubblewrap, Job, Limits, Report, SandboxError, SandboxProvider, Termination,
};
use dsrs_metrics_tests::can_isolate;

use super::block_on;

fn error(bwrap: &str) -> String {
    let isolation = Isolation::with_provider(Bubblewrap::with_program(bwrap));
    let metric = Sandbox::builder()
        .command("true")
        .isolation(isolation)
        .build();
    block_on(metric.evaluate(&example! {}, &prediction! {}))
        .unwrap_err()
        .to_string()
}

/// A `bwrap` that is a shell script. Another process writes it: a file that this process has open for writing is inherited by
/// processes that other tests start at this moment, and cannot be executed then.
fn script(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .unwrap();
    let path = folder.path().join("bwrap");
    let write = "printf '%s' \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let mut shell = std::process::Command::new("sh");
    assert!(
        shell
            .args(["-c", write])
            .arg(&path)
            .arg(text)
            .status()
            .unwrap()
            .success()
    );
    let name = path.display().to_string();
    (folder, name)
}

#[test]
fn no_bubblewrap() {
    let error = error("/nowhere/bwrap");
    let start =
        "metric `sandbox`: cannot isolate the command on this system, so it was not run: \"";
    assert!(error.starts_with(start), "{error}");
    assert!(error.contains("exec: /nowhere/bwrap: "), "{error}");
    assert!(
        error.contains("\"; install bubblewrap 0.8 or newer (`apt-get install bubblewrap`"),
        "{error}"
    );
}

#[test]
fn an_old_bubblewrap() {
    let (_folder, path) =
        script("#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2; exit 1\n");
    let error = error(&path);
    let expected = "Unknown option --disable-userns\"; install bubblewrap 0.8 or newer";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_system_without_user_namespaces() {
    let (_folder, path) = script(
        "#!/bin/sh\n\
         echo 'bwrap: No permissions to create new namespace' >&2; exit 1\n",
    );
    let error = error(&path);
    assert!(
        error.contains("cannot isolate the command on this system"),
        "{error}"
    );
    assert!(
        error.contains("; allow unprivileged user namespaces"),
        "{error}"
    );
}

#[test]
fn a_bubblewrap_without_the_ready_message_is_an_error() {
    let (_folder, path) = script("#!/bin/sh\nexit 0\n");
    let error = error(&path);
    assert!(
        error.contains("cannot isolate the command on this system"),
        "{error}"
    );
}

fn run_with(limits: Limits, accounting: Accounting) -> Result<Report, SandboxError> {
    let files = vec![("a".to_owned(), String::new())];
    let job = Job {
        command: "echo ran".to_owned(),
        files,
        limits,
        ..Job::default()
    };
    block_on(Bubblewrap::new().with_accounting(accounting).run(&job))
}

/// The smallest and the largest limits either let a trivial command run, or the error names the limit.
#[test]
fn extreme_limits_are_not_reported_as_missing_isolation() {
    if !can_isolate() {
        return;
    }
    let normal = Limits::default();
    let small = [
        Limits {
            file_mb: 0,
            ..normal.clone()
        },
        Limits {
            disk_mb: 0,
            ..normal.clone()
        },
        Limits {
            processes: 1,
            ..normal.clone()
        },
        Limits {
            cpu_secs: Some(0),
            ..normal.clone()
        },
        Limits {
            output_kb: 0,
            ..normal.clone()
        },
        Limits {
            memory_mb: 1,
            ..normal.clone()
        },
    ];
    let (memory_mb, disk_mb, file_mb) = (u64::MAX, u64::MAX, u64::MAX);
    let (processes, output_kb, cpu_secs) = (u64::MAX, u64::MAX, Some(u64::MAX));
    let large = Limits {
        memory_mb,
        disk_mb,
        file_mb,
        processes,
        output_kb,
        cpu_secs,
        ..normal
    };
    let best = Bubblewrap::new().accounting().unwrap();
    for accounting in [best, Accounting::PerTask] {
        for limits in small.iter().chain([&large]) {
            let shown = format!("{limits:?}, {accounting}");
            match run_with(limits.clone(), accounting) {
                Err(SandboxError::LimitTooSmall {
                    limit: "memory_mb",
                    value: 1,
                    ..
                }) => {}
                Err(error) => panic!("{shown}: {error}"),
                // The shell of the command may need more than 1 MiB, or not.
                Ok(report)
                    if limits.memory_mb == 1 && report.termination == Termination::MemoryLimit => {}
                Ok(report) if limits.output_kb == 0 => {
                    assert_eq!(report.termination, Termination::OutputLimit, "{shown}");
                }
                Ok(report) => assert_eq!(report.stdout, "ran\n", "{shown}: {report:?}"),
            }
        }
    }
}

#[test]
fn an_accounting_that_is_not_available_is_an_error() {
    if !can_isolate() {
        return;
    }
    if Bubblewrap::new().accounting() == Some(Accounting::CgroupV2) {
        return;
    }
    let error = run_with(Limits::default(), Accounting::CgroupV2)
        .unwrap_err()
        .to_string();
    let expected = "cannot account for memory with cgroup_v2: no cgroup with the `memory` and `pids` controllers";
    assert!(error.contains(expected), "{error}");
}
