//! Tests for the error messages of the macros.
//!
//! Each message is compared with a recorded message. `tests/messages/TOPIC/CASE.rs` is a source file with mistakes.
//! `CASE.expected` beside it contains the errors of its expansion, each with its location.
//!
//! The tests don't run the compiler, so a case takes a millisecond and does not depend on the version of rustc. What
//! rustc adds to an expansion (types, evaluated constants, follow-up errors) is tested in `tests/ui` of the workspace.
//!
//! After you change messages, run the following command to record them again. Look at the diff before you commit it:
//!
//! ```sh
//! DSRS_METRICS_RECORD=1 cargo test -p dsrs-metrics-macros -p dsrs-metrics-ui
//! ```
//!
//! A new case needs only its source file, because recording writes the rest. Add a new topic to [`topics`].

mod advice;
mod expansion;
mod rendering;

use std::fs;
use std::path::{Path, PathBuf};

/// Returns `true` if the files are written instead of compared.
fn is_recording() -> bool {
    std::env::var_os("DSRS_METRICS_RECORD").is_some_and(|value| value == "1")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages")
}

/// Returns the paths in a folder, sorted.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = read.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Returns the errors of the macros in a case.
fn messages(case: &Path) -> Result<String, String> {
    let source = fs::read_to_string(case).map_err(|error| error.to_string())?;
    let errors = expansion::errors(&source).map_err(|error| error.to_string())?;
    if errors.is_empty() {
        return Err("no macro reports a mistake".to_owned());
    }
    Ok(rendering::render(&source, &errors))
}

/// Compares the messages of a case with the recorded ones, or records them.
fn check(case: &Path) -> Result<(), String> {
    let found = messages(case)?;
    let recorded = case.with_extension("expected");
    if is_recording() {
        return fs::write(recorded, found).map_err(|error| error.to_string());
    }
    let expected = fs::read_to_string(recorded).unwrap_or_default();
    if found == expected {
        Ok(())
    } else {
        Err(rendering::diff(&expected, &found))
    }
}

#[track_caller]
fn assert_topic(topic: &str) {
    let files = paths(&folder().join(topic));
    let (cases, recorded): (Vec<_>, Vec<_>) = files
        .into_iter()
        .partition(|file| has_extension(file, "rs"));
    assert!(!cases.is_empty(), "{topic} has no cases");
    for file in recorded {
        assert!(
            has_extension(&file, "expected"),
            "{} is not a case",
            file.display()
        );
        assert!(
            file.with_extension("rs").is_file(),
            "{} has no case",
            file.display()
        );
    }
    let problem = |case: &PathBuf| Some(format!("{}\n{}", case.display(), check(case).err()?));
    let problems: Vec<_> = cases.iter().filter_map(problem).collect();
    assert!(
        problems.is_empty(),
        "{} of {} cases differ (- recorded, + found):\n\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}

/// A test for each topic.
macro_rules! topics {
    ($($topic:ident)+) => {
        const TOPICS: &[&str] = &[$(stringify!($topic)),+];

        $(#[test]
        fn $topic() {
            assert_topic(stringify!($topic));
        })+
    };
}

topics! { attribute composite eval item judge names param_group params record returns several typed value verdict }

#[test]
fn every_folder_is_a_topic() {
    let found: Vec<_> = paths(&folder())
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, TOPICS);
}
