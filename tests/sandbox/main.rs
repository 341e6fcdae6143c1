//! Isolated execution of programs: jobs, attacks, and missing isolation.
//!
//! Without bubblewrap, the tests that need it print that they are skipped and pass, unless
//! `DSRS_METRICS_REQUIRE` is 1.

mod attacks;
mod command_line;
mod counts;
mod humaneval;
mod jobs;
mod missing;

use dsrs_metrics::sandbox::{Bubblewrap, Job, Limits, Report, SandboxProvider};

/// Whether this system can isolate programs.
fn can_isolate() -> bool {
    static PROBE: std::sync::OnceLock<Result<(), String>> = std::sync::OnceLock::new();
    let probe = PROBE.get_or_init(|| {
        let job = Job { command: "true".to_owned(), ..Job::default() };
        let run = block_on(Bubblewrap::new().run(&job));
        run.map(drop).map_err(|error| error.to_string())
    });
    let Err(reason) = probe else { return true };
    let required = std::env::var("DSRS_METRICS_REQUIRE").is_ok_and(|value| value == "1");
    assert!(!required, "{reason}");
    println!("skipped: {reason}");
    false
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Runs a Python program in a sandbox.
fn python(program: &str, limits: Limits) -> Report {
    let files = vec![("main.py".to_owned(), program.to_owned())];
    run(&Job { command: "python3 main.py".to_owned(), files, limits, ..Job::default() })
}

#[track_caller]
fn run(job: &Job) -> Report {
    block_on(Bubblewrap::new().run(job)).unwrap_or_else(|error| panic!("{error}"))
}
