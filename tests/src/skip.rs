//! Tests that need a tool or data that may be missing: they report that they are skipped, and pass.
//!
//! With `DSRS_METRICS_REQUIRE=1` a missing prerequisite is a failure instead.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use dsrs_metrics::sandbox::{Bubblewrap, Job, SandboxProvider as _};

/// Reports that the current test is skipped, and why.
///
/// The line is visible without `--nocapture`: the test harness captures the output of `print!` and `eprint!`, not bytes
/// that are written to the handle of standard error.
///
/// # Panics
/// If `DSRS_METRICS_REQUIRE` is 1.
#[track_caller]
pub fn skip(reason: &str) {
    let required = std::env::var("DSRS_METRICS_REQUIRE").is_ok_and(|value| value == "1");
    assert!(!required, "{reason}");
    let thread = std::thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("a test"));
    // A closed standard error does not make a test fail.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The folder of real rows that lies outside the project, or `None` after [`skip`] if it does not contain `file`.
///
/// The environment variable `DSRS_METRICS_DATA` names the folder.
#[track_caller]
pub fn data(file: &str) -> Option<PathBuf> {
    let default = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
    let folder = std::env::var_os("DSRS_METRICS_DATA").map_or_else(default, PathBuf::from);
    if folder.join(file).is_file() {
        return Some(folder);
    }
    skip(&format!(
        "no {file} in {}; set DSRS_METRICS_DATA",
        folder.display()
    ));
    None
}

/// Whether programs can be isolated on this machine; if not, the test is reported as skipped.
#[track_caller]
pub fn can_isolate() -> bool {
    static ISOLATION: OnceLock<Result<(), String>> = OnceLock::new();
    let isolation = ISOLATION.get_or_init(|| {
        let job = Job {
            command: "true".to_owned(),
            ..Job::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime
            .block_on(Bubblewrap::new().run(&job))
            .map(drop)
            .map_err(|error| error.to_string())
    });
    if let Err(error) = isolation {
        skip(error);
    }
    isolation.is_ok()
}
