//! The HTML report and the README in headless Chromium, driven by `drive.mjs`. Chromium starts once.
//!
//! Needs `chromium` and `node` in the path, and the packages of `package.json` in `~/.cache/dsrs-metrics/browser` or in
//! the folder of `DSRS_METRICS_BROWSER`: `npm ci` in a folder with `package.json` and `package-lock.json`. `.ci/run`
//! installs them.

mod fixtures;
mod pictures;
mod readme;
#[path = "../harness/results/runs.rs"]
mod runs;
mod sections;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::{env, fs};

use dsrs_metrics_tests::skip;
use serde_json::json;

/// The folder with the installed packages.
fn packages() -> PathBuf {
    let cache = || {
        let home = || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache");
        env::var_os("XDG_CACHE_HOME")
            .map_or_else(home, PathBuf::from)
            .join("dsrs-metrics/browser")
    };
    env::var_os("DSRS_METRICS_BROWSER").map_or_else(cache, PathBuf::from)
}

fn program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The process of `drive.mjs`. It ends with this process, which closes its standard input.
struct Driver {
    process: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

static DRIVER: LazyLock<Result<Mutex<Driver>, String>> =
    LazyLock::new(|| Driver::start().map(Mutex::new));

impl Driver {
    /// # Errors
    /// What is not installed.
    fn start() -> Result<Self, String> {
        let packages = packages();
        let (Some(node), Some(chromium)) = (program("node"), program("chromium")) else {
            return Err("no `node` or no `chromium` in the path".to_owned());
        };
        let lock = |folder: &Path| fs::read_to_string(folder.join("package-lock.json")).ok();
        let of = concat!(env!("CARGO_MANIFEST_DIR"), "/browser");
        if lock(&packages).is_none_or(|it| Some(it) != lock(of.as_ref())) {
            let folder = packages.display();
            return Err(format!(
                "no current packages in {folder}; run `.ci/run tools`, or `npm ci` with {of}/package-lock.json"
            ));
        }
        let mut process = Command::new(node)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/browser/drive.mjs"))
            .env("DSRS_METRICS_BROWSER", packages)
            .env("DSRS_METRICS_CHROMIUM", chromium)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = process.stdin.take().unwrap();
        let replies = BufReader::new(process.stdout.take().unwrap());
        Ok(Self {
            process,
            requests,
            replies,
        })
    }

    /// Runs a check on a file. Returns the error, which is empty if all is as expected.
    fn run(&mut self, check: &str, file: &Path) -> String {
        writeln!(self.requests, "{}", json!({"check": check, "file": file})).unwrap();
        let mut reply = String::new();
        self.replies.read_line(&mut reply).unwrap();
        serde_json::from_str(&reply).unwrap_or_else(|_| {
            format!(
                "no reply but {reply:?}; the driver ended: {:?}",
                self.process.try_wait()
            )
        })
    }
}

/// Returns `true` if the browser is not installed.
fn is_skipped() -> bool {
    DRIVER
        .as_ref()
        .inspect_err(|missing| skip(missing))
        .is_err()
}

/// Runs one check of the driver on a report.
#[track_caller]
fn check(name: &str, report: impl Fn(&Path) -> PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    check_file(name, &report(folder.path()));
}

/// Runs one check of the driver on a file.
#[track_caller]
fn check_file(name: &str, file: &Path) {
    let Ok(driver) = &*DRIVER else {
        assert!(is_skipped());
        return;
    };
    let error = driver
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .run(name, file);
    assert_eq!(error, "", "{name}");
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
fn short_texts_are_not_cut_and_metrics_get_a_column() {
    check("columns", fixtures::five_metrics);
}

#[test]
fn reports_of_2_12_and_60_metrics_fit_the_screen() {
    for metrics in [1, 2, 4, 12, 60] {
        check("fits", |folder| fixtures::sized(folder, metrics, 1));
    }
}

#[test]
fn comparisons_of_2_12_and_60_metrics_fit_the_screen() {
    for metrics in [2, 5, 12, 60] {
        check("fits", |folder| fixtures::sized(folder, metrics, 2));
    }
}

#[test]
fn manifests_with_many_tags_and_files_fit_the_screen() {
    for runs in [1, 2] {
        check("fits", |folder| fixtures::described(folder, runs));
        check("accessible", |folder| fixtures::described(folder, runs));
    }
}

#[test]
fn the_rows_of_a_metric_that_differs_are_not_compared() {
    check("different", |folder| fixtures::described(folder, 2));
}

#[test]
fn parts_are_folded_and_their_intervals_are_within_their_range() {
    check("parts", |folder| fixtures::sized(folder, 5, 1));
}

#[test]
fn each_of_many_metrics_is_a_line_that_opens() {
    check("compact", |folder| fixtures::sized(folder, 62, 2));
    check("accessible", |folder| fixtures::sized(folder, 13, 1));
}

#[test]
fn a_bar_of_a_histogram_filters_the_rows() {
    check("bars", fixtures::one);
    check("bars_of_two", fixtures::two);
}

#[test]
fn of_20_000_rows_only_those_in_view_are_in_the_document() {
    check("large", |folder| fixtures::large(folder, 20_000));
}

#[test]
fn of_more_rows_the_table_states_which_it_has() {
    check("limited", |folder| fixtures::large(folder, 20_001));
    check("accessible", |folder| fixtures::large(folder, 20_001));
}

#[test]
fn figures_are_rounded_as_on_the_terminal() {
    check("figures", fixtures::one);
}

#[test]
fn manifests_are_shown_in_words() {
    check("facts", fixtures::one);
}

#[test]
fn the_table_states_which_rows_are_sampled() {
    check("rules", fixtures::two);
}

#[test]
fn strings_of_rows_are_text() {
    check("hostile", fixtures::hostile);
}

#[test]
fn the_policy_of_the_page_forbids_requests_and_scripts() {
    check("policy", fixtures::one);
}
