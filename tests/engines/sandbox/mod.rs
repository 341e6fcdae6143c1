//! Isolated execution of programs: jobs, attacks, and missing isolation.
//!
//! Without bubblewrap, the tests that need it print that they are skipped and pass, unless
//! `DSRS_METRICS_REQUIRE` is 1.

mod attacks;
mod counts;
mod functions;
mod humaneval;
mod jobs;
mod missing;
mod preflight;
mod stages;
mod table;
mod toolchains;

use dsrs_metrics::sandbox::{Bubblewrap, Job, Limits, Report, SandboxProvider};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Runs a Python program in a sandbox.
fn python(program: &str, limits: Limits) -> Report {
    let files = vec![("main.py".to_owned(), program.to_owned())];
    run(&Job {
        command: "python3 main.py".to_owned(),
        files,
        limits,
        ..Job::default()
    })
}

#[track_caller]
fn run(job: &Job) -> Report {
    block_on(Bubblewrap::new().run(job)).unwrap_or_else(|error| panic!("{error}"))
}
