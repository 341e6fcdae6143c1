//! Parses the counts of passed and failed tests from the output of `cargo test`, pytest and unittest.
//!
//! The program under test controls this output and can print any counts. Checking the exit code as well does not help
//! if the program exits with 0 before the tests run.

use std::cmp::Reverse;

/// How many tests passed, failed or were skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The number of tests that passed.
    pub passed: u64,
    /// The number of tests that failed or could not be run.
    pub failed: u64,
    /// The number of tests that were skipped, or that failed as expected.
    pub skipped: u64,
}

impl Counts {
    /// Returns the number of tests that either passed or failed.
    pub const fn run(self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}

/// Parses test counts from a test runner's output.
///
/// Returns `None` if the output contains no known summary.
///
/// The known formats are `cargo test`, pytest and Python's unittest. For `cargo test`, all summaries are added up. For
/// pytest and unittest, only the last summary counts. Without a summary in these formats, the function parses a line
/// such as `24 passed; 0 failed`.
///
/// If the output has summaries in several formats, the function returns the counts with the fewest passed tests. A
/// program therefore cannot improve its result by printing another summary.
///
/// ```
/// use dsrs_metrics::sandbox::counts::{Counts, parse};
///
/// let counts = parse("=== 1 failed, 24 passed, 2 skipped in 0.12s ===");
/// assert_eq!(counts, Some(Counts { passed: 24, failed: 1, skipped: 2 }));
/// assert_eq!(parse("24 passed; 0 failed"), Some(Counts { passed: 24, failed: 0, skipped: 0 }));
/// assert_eq!(parse("24 passed the salt"), None);
/// ```
pub fn parse(output: &str) -> Option<Counts> {
    parse_streams(&[output])
}

/// Parses test counts from a command's output streams.
///
/// If there are several summaries, the rules of [`parse`] apply.
pub fn parse_streams(streams: &[&str]) -> Option<Counts> {
    let fewest_of = |formats: &[fn(&str) -> Option<Counts>]| {
        let summaries = streams
            .iter()
            .flat_map(|output| formats.iter().filter_map(|summary| summary(output)));
        summaries.min_by_key(|counts| (counts.passed, Reverse(counts.failed)))
    };
    fewest_of(&[cargo, pytest, unittest]).or_else(|| fewest_of(&[list_line]))
}

/// Parses all `cargo test` summaries.
fn cargo(output: &str) -> Option<Counts> {
    let summaries = output.lines().filter_map(|line| {
        let (_, list) = line
            .trim_start()
            .strip_prefix("test result: ")?
            .split_once(". ")?;
        Some(list)
    });
    sum(summaries.flat_map(|list| items(list, &[';'])).flatten())
}

fn pytest(output: &str) -> Option<Counts> {
    output.lines().rev().find_map(|line| {
        let line = line.trim().trim_matches('=').trim();
        let (summary, time) = line.rsplit_once(" in ")?;
        time.split('s').next()?.parse::<f64>().ok()?;
        match summary {
            "no tests ran" => Some(Counts::default()),
            list => sum(items(list, &[',']).flatten()),
        }
    })
}

fn unittest(output: &str) -> Option<Counts> {
    let (_, after) = output
        .rsplit_once("\nRan ")
        .or_else(|| Some(("", output.strip_prefix("Ran ")?)))?;
    let ran: u64 = after.split_once(" test")?.0.parse().ok()?;
    let verdict = after.lines().skip(1).find(|line| !line.is_empty())?;
    if !(verdict.starts_with("OK") || verdict.starts_with("FAILED")) {
        return None;
    }
    let (_, others) = verdict.split_once('(').unwrap_or_default();
    let others = others.trim_end_matches(')').split(", ").filter_map(|item| {
        let (name, number) = item.split_once('=')?;
        let is_failure = matches!(name, "failures" | "errors" | "unexpected successes");
        let word = if is_failure { "failed" } else { "skipped" };
        Some((number.parse().unwrap_or(u64::MAX), word))
    });
    let others = sum(others).unwrap_or_default();
    let passed = ran.saturating_sub(others.failed.saturating_add(others.skipped));
    Some(Counts { passed, ..others })
}

/// Parses the last line that contains only test counts, such as `24 passed; 0 failed`.
fn list_line(output: &str) -> Option<Counts> {
    let is_count = |item: Option<(u64, &str)>| sum(item).is_some();
    let mut lines = output.lines().rev().map(str::trim);
    let items = |line| items(line, &[',', ';']);
    let list = lines.find(|line| line.contains("passed") && items(line).all(is_count))?;
    sum(items(list).flatten())
}

/// Splits a list such as `24 passed, 1 failed` into numbers and words. Returns `None` for anything else.
fn items<'o>(
    list: &'o str,
    separators: &'static [char],
) -> impl Iterator<Item = Option<(u64, &'o str)>> {
    list.split(separators).map(|item| {
        let (number, word) = item.trim().split_once(' ')?;
        Some((number.parse().ok()?, word))
    })
}

/// Adds up the numbers by what their words mean. Returns `None` if no word refers to tests.
fn sum<'o>(items: impl IntoIterator<Item = (u64, &'o str)>) -> Option<Counts> {
    let mut sum = None;
    for (number, word) in items {
        let mut counts: Counts = sum.unwrap_or_default();
        let field = match word {
            "passed" | "xpassed" => &mut counts.passed,
            "failed" | "error" | "errors" => &mut counts.failed,
            "skipped" | "ignored" | "xfailed" => &mut counts.skipped,
            _ => continue,
        };
        *field = field.saturating_add(number);
        sum = Some(counts);
    }
    sum
}
