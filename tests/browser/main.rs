//! The HTML report in headless Chromium, driven by `drive.mjs`.
//!
//! Needs `chromium` and `node` in the path, and the packages of `package.json` in `~/.cache/dsrs-metrics/browser` or in
//! the folder of `DSRS_METRICS_BROWSER`: `npm ci` in a folder with `package.json` and `package-lock.json`. `.ci/run`
//! installs them.

mod fixtures;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use dsrs_metrics_tests::skip;

/// The folder with the installed packages.
fn packages() -> PathBuf {
    let cache = || {
        let home = || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache");
        env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("dsrs-metrics/browser")
    };
    env::var_os("DSRS_METRICS_BROWSER").map_or_else(cache, PathBuf::from)
}

fn program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Runs one check of the driver on a report.
#[track_caller]
fn check(name: &str, report: fn(&Path) -> PathBuf) {
    let packages = packages();
    let (Some(node), Some(chromium)) = (program("node"), program("chromium")) else {
        return skip("no `node` or no `chromium` in the path");
    };
    if !packages.join("node_modules/axe-core").is_dir() {
        let (folder, of) = (packages.display(), env!("CARGO_MANIFEST_DIR"));
        return skip(&format!("no packages in {folder}; run `npm ci` with those of {of}/browser"));
    }
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(node)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/browser/drive.mjs"))
        .arg(name)
        .arg(report(folder.path()))
        .env("DSRS_METRICS_BROWSER", packages)
        .env("DSRS_METRICS_CHROMIUM", chromium)
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{name}: {out}{err}");
}

#[test]
fn rows_are_searched_sorted_and_filtered() {
    check("search_sort_filter", fixtures::one);
}

#[test]
fn a_row_shows_gold_prediction_word_diff_feedback_and_reasoning() {
    check("details", fixtures::one);
}

#[test]
fn a_comparison_shows_flips_first_and_filters_wins_and_losses() {
    check("comparison", fixtures::two);
}

#[test]
fn the_theme_follows_the_system_until_one_is_chosen() {
    check("theme", fixtures::one);
}

#[test]
fn everything_is_reached_with_the_keyboard_and_the_focus_is_visible() {
    check("keyboard", fixtures::one);
}

#[test]
fn a_report_is_accessible_in_light_and_dark() {
    check("accessible", fixtures::one);
}

#[test]
fn a_comparison_is_accessible_in_light_and_dark() {
    check("accessible", fixtures::two);
}

#[test]
fn a_report_fits_a_phone() {
    check("phone", fixtures::one);
}

#[test]
fn a_comparison_fits_a_phone() {
    check("phone", fixtures::two);
}

#[test]
fn the_rules_and_intervals_of_groups_are_aligned() {
    check("groups", fixtures::two);
}

#[test]
fn short_texts_are_not_cut_and_metrics_without_a_column_are_counted() {
    check("columns", fixtures::five_metrics);
}

#[test]
fn of_20_000_rows_only_those_in_view_are_in_the_document() {
    check("large", fixtures::large);
}

#[test]
fn trap_33_strings_of_rows_are_text() {
    check("hostile", fixtures::hostile);
}

#[test]
fn the_policy_of_the_page_forbids_requests_and_scripts() {
    check("policy", fixtures::one);
}
