//! What the packages need before a release: `.ci/packages.py` checks it, here with a workspace that lacks one thing at a time.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::documents::root;

/// Runs the check, and returns its lines on standard error, or `None` without Python.
fn problems(workspace: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("python3");
    let Ok(output) = command
        .arg(root().join(".ci/packages.py"))
        .arg(workspace)
        .output()
    else {
        dsrs_metrics_tests::skip("no python3; install it");
        return None;
    };
    let lines = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), lines.is_empty(), "{lines}");
    Some(lines.lines().map(str::to_owned).collect())
}

const WORKSPACE: &str = r#"
[workspace]
resolver = "3"
members = ["dsrs-metrics", "part", "checks"]
[workspace.package]
version = "0.2.0"
rust-version = "1.90"
license = "MIT"
repository = "https://example.com"
readme = "README.md"
[workspace.dependencies]
part = { path = "part", version = "=0.2.0" }
checks = { path = "checks", version = "=0.2.0" }
"#;

const FACADE: &str = r#"
[package]
name = "dsrs-metrics"
version.workspace = true
rust-version.workspace = true
license.workspace = true
repository.workspace = true
readme.workspace = true
description = "The facade"
[dependencies]
part.workspace = true
"#;

const PART: &str = r#"
[package]
name = "part"
version.workspace = true
license.workspace = true
repository.workspace = true
readme.workspace = true
description = "A part"
"#;

const CHECKS: &str = r#"
[package]
name = "checks"
version = "7.0.0"
publish = false
"#;

const CHANGELOG: &str = "# Changelog\n\n## [0.2.0] - unreleased\n\n## [0.1.0] - 2026-11-28\n";

/// Asserts that one replacement in a complete workspace is one problem.
#[track_caller]
fn assert_problem(file: &str, from: &str, to: &str, problem: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut replaced = false;
    for (path, content) in [
        ("Cargo.toml", WORKSPACE),
        ("dsrs-metrics/Cargo.toml", FACADE),
        ("part/Cargo.toml", PART),
        ("checks/Cargo.toml", CHECKS),
        ("CHANGELOG.md", CHANGELOG),
        ("README.md", "# The library\n\nRust 1.90 or later.\n"),
        ("dsrs-metrics/src/lib.rs", ""),
        ("part/src/lib.rs", ""),
        ("checks/src/lib.rs", ""),
    ] {
        let path_of_file = folder.path().join(path);
        fs::create_dir_all(path_of_file.parent().unwrap()).unwrap();
        let is_changed = path == file && content.contains(from);
        replaced |= is_changed;
        let changed = if is_changed {
            content.replace(from, to)
        } else {
            content.to_owned()
        };
        fs::write(path_of_file, changed).unwrap();
    }
    assert!(
        replaced || from.is_empty(),
        "{file} does not contain {from}"
    );
    let Some(problems) = problems(folder.path()) else {
        return;
    };
    assert_eq!(problems.join("\n"), problem);
}

#[test]
fn the_packages_of_this_repository_can_be_released() {
    let Some(problems) = problems(&root()) else {
        return;
    };
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn the_page_for_contributors_has_each_step_of_ci() {
    let output = Command::new(root().join(".ci/run"))
        .arg("--list")
        .output()
        .unwrap();
    let steps = String::from_utf8(output.stdout).unwrap();
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, table) = page
        .split_once("| step | what must pass |\n| --- | --- |\n")
        .unwrap();
    let rows = table
        .lines()
        .map_while(|row| row.strip_prefix("| `")?.split_once("` | "));
    let listed: Vec<&str> = rows.map(|(step, _)| step).collect();
    let steps: Vec<&str> = steps.lines().collect();
    assert_eq!(
        listed, steps,
        "write a row for each step in CONTRIBUTING.md, in their order"
    );
}

#[test]
fn a_complete_workspace_has_no_problem() {
    assert_problem("none", "", "", "");
}

#[test]
fn a_version_without_changes_is_a_problem() {
    assert_problem(
        "CHANGELOG.md",
        "[0.2.0]",
        "[0.1.9]",
        "error: CHANGELOG.md has no version 0.2.0; add `## [0.2.0] - unreleased` with what changed for users",
    );
}

#[test]
fn a_new_version_of_one_package_is_a_problem() {
    assert_problem(
        "part/Cargo.toml",
        "version.workspace = true",
        "version = \"0.2.1\"",
        "error: part has the version 0.2.1, and dsrs-metrics 0.2.0; write `version.workspace = true` in part/Cargo.toml, \
         and the version in Cargo.toml",
    );
    assert_problem(
        "Cargo.toml",
        "path = \"part\", version = \"=0.2.0\"",
        "path = \"part\", version = \"0.2.0\"",
        "error: dsrs-metrics requires part ^0.2.0; write `version = \"=0.2.0\"` in [workspace.dependencies] of Cargo.toml",
    );
}

#[test]
fn a_version_of_rust_that_differs_is_a_problem() {
    assert_problem(
        "README.md",
        "1.90",
        "1.89",
        "error: README.md requires Rust 1.89, and the packages Rust 1.90; write the `rust-version` of Cargo.toml",
    );
}

#[test]
fn a_missing_field_is_a_problem() {
    for (field, problem) in [
        (
            "readme.workspace = true",
            "part has no README; write `readme.workspace = true`",
        ),
        (
            "license.workspace = true",
            "part has no license; write `license.workspace = true`",
        ),
        (
            "description = \"A part\"",
            "part has no description; write `description = \"..\"`",
        ),
        (
            "repository.workspace = true",
            "part has no repository, and CHANGELOG.md has a release; write `repository` in [workspace.package] of \
             Cargo.toml, and `repository.workspace = true`",
        ),
    ] {
        assert_problem(
            "part/Cargo.toml",
            field,
            "",
            &format!("error: {problem} in part/Cargo.toml"),
        );
    }
}

#[test]
fn a_readme_that_is_not_a_file_is_a_problem() {
    assert_problem(
        "part/Cargo.toml",
        "readme.workspace = true",
        "readme = \"READ.md\"",
        "error: part has no README; write `readme.workspace = true` in part/Cargo.toml",
    );
}

#[test]
fn a_dependency_that_is_not_published_is_a_problem() {
    assert_problem(
        "dsrs-metrics/Cargo.toml",
        "part.workspace = true",
        "part.workspace = true\nchecks.workspace = true",
        "error: dsrs-metrics depends on checks, which is not published; remove its `publish = false`",
    );
}
