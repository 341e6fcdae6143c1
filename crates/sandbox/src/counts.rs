//! Counts of passed and failed tests, parsed from the output of `cargo test`, pytest and unittest.
//!
//! The program under test controls this output and can print any counts. Checking the exit code as well does not help
//! if the program exits with 0 before the tests run.

use std::cmp::Reverse;
use std::ops::AddAssign;

/// The number of tests that passed, failed and were skipped.
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

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
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
/// If the output has summaries in several formats, the function returns the one with the fewest passed tests. A program
/// therefore cannot improve its result by printing another summary.
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
        let of_stream = |output: &&str| {
            formats
                .iter()
                .filter_map(|it| it(output))
                .min_by_key(fewest)
        };
        streams.iter().filter_map(of_stream).min_by_key(fewest)
    };
    fewest_of(&[cargo, pytest, unittest]).or_else(|| fewest_of(&[list_line]))
}

/// Returns a sort key that puts the most pessimistic counts first.
const fn fewest(counts: &Counts) -> (u64, Reverse<u64>) {
    (counts.passed, Reverse(counts.failed))
}

/// Returns the last line that has only numbers of tests: `24 passed; 0 failed`.
fn list_line(output: &str) -> Option<Counts> {
    output.lines().rev().find_map(|line| {
        let line = line.trim();
        let is_count = |item: &str| {
            let mut words = item.split_whitespace();
            let is_number = words
                .next()
                .is_some_and(|number| number.parse::<u64>().is_ok());
            is_number
                && words
                    .next()
                    .is_some_and(|word| field(&mut Counts::default(), word).is_some())
                && words.next().is_none()
        };
        let is_list = line.contains("passed") && line.split([';', ',']).all(is_count);
        is_list
            .then(|| count_list(&line.replace(';', ","), ','))
            .flatten()
    })
}

fn cargo(output: &str) -> Option<Counts> {
    let summaries = output.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("test result: ")?;
        let (_, rest) = rest.split_once(". ")?;
        count_list(rest, ';')
    });
    summaries.reduce(|mut sum, counts| {
        sum += counts;
        sum
    })
}

fn pytest(output: &str) -> Option<Counts> {
    output.lines().rev().find_map(|line| {
        let line = line.trim().trim_matches('=').trim();
        let (summary, time) = line.rsplit_once(" in ")?;
        let is_time = time.split('s').next()?.parse::<f64>().is_ok();
        if is_time && summary == "no tests ran" {
            return Some(Counts::default());
        }
        count_list(summary, ',').filter(|_| is_time)
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
    let mut counts = Counts::default();
    let inside = verdict
        .split_once('(')
        .map_or("", |(_, rest)| rest.trim_end_matches(')'));
    for (name, number) in inside.split(", ").filter_map(|item| item.split_once('=')) {
        let number: u64 = number.parse().ok()?;
        let field = match name {
            "failures" | "errors" | "unexpected successes" => &mut counts.failed,
            _ => &mut counts.skipped,
        };
        *field = field.saturating_add(number);
    }
    counts.passed = ran.saturating_sub(counts.failed.saturating_add(counts.skipped));
    Some(counts)
}

/// Parses a list such as `1 failed, 24 passed`, which must contain at least one number with a known
/// word.
fn count_list(list: &str, separator: char) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut any = false;
    for item in list.split(separator) {
        let mut words = item.split_whitespace();
        let number = words.next().and_then(|number| number.parse::<u64>().ok());
        let (Some(number), Some(word)) = (number, words.next()) else {
            continue;
        };
        if let Some(field) = field(&mut counts, word) {
            *field = field.saturating_add(number);
            any = true;
        }
    }
    any.then_some(counts)
}

/// Returns the count that a word stands for.
fn field<'c>(counts: &'c mut Counts, word: &str) -> Option<&'c mut u64> {
    match word {
        "passed" | "xpassed" => Some(&mut counts.passed),
        "failed" | "error" | "errors" => Some(&mut counts.failed),
        "skipped" | "ignored" | "xfailed" => Some(&mut counts.skipped),
        _ => None,
    }
}
