//! Counts of passed and failed tests, parsed from the output of `cargo test`, pytest and unittest.
//!
//! The program under test controls this output and can print any counts. Checking the exit code as well does not help
//! if the program exits with 0 before the tests run.

use std::cmp::Reverse;

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

    /// Returns the count that a word stands for.
    fn of_word(&mut self, word: &str) -> Option<&mut u64> {
        match word {
            "passed" | "xpassed" => Some(&mut self.passed),
            "failed" | "error" | "errors" => Some(&mut self.failed),
            "skipped" | "ignored" | "xfailed" => Some(&mut self.skipped),
            _ => None,
        }
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
        let of_stream = |output| formats.iter().filter_map(move |format| format(output));
        let all = streams.iter().copied().flat_map(of_stream);
        // The most pessimistic counts.
        all.min_by_key(|counts| (counts.passed, Reverse(counts.failed)))
    };
    fewest_of(&[cargo, pytest, unittest]).or_else(|| fewest_of(&[list_line]))
}

/// Parses the last line that has only numbers of tests: `24 passed; 0 failed`.
fn list_line(output: &str) -> Option<Counts> {
    let mut lists = output.lines().rev().filter(|line| line.contains("passed"));
    lists.find_map(|line| count_list(line, &[';', ','], true))
}

fn cargo(output: &str) -> Option<Counts> {
    let results = output.lines().filter_map(|line| {
        let result = line.trim_start().strip_prefix("test result: ")?;
        Some(result.split_once(". ")?.1)
    });
    count_list(&results.collect::<Vec<_>>().join(";"), &[';'], false)
}

fn pytest(output: &str) -> Option<Counts> {
    output.lines().rev().find_map(|line| {
        let line = line.trim().trim_matches('=').trim();
        let (summary, time) = line.rsplit_once(" in ")?;
        time.split('s').next()?.parse::<f64>().ok()?;
        match summary {
            "no tests ran" => Some(Counts::default()),
            list => count_list(list, &[','], false),
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

/// Parses a list such as `1 failed, 24 passed`, which must contain at least one number with a known word, or nothing else
/// if `is_strict`.
fn count_list(list: &str, separators: &[char], is_strict: bool) -> Option<Counts> {
    let (mut counts, mut any) = (Counts::default(), false);
    for item in list.split(separators) {
        let words: Vec<&str> = item.split_whitespace().collect();
        let (number, word) = match words[..] {
            [number, word] => (number, word),
            [number, word, _, ..] if !is_strict => (number, word),
            _ => ("", ""),
        };
        match (number.parse::<u64>(), counts.of_word(word)) {
            (Ok(number), Some(count)) => {
                *count = count.saturating_add(number);
                any = true;
            }
            _ if is_strict => return None,
            _ => {}
        }
    }
    any.then_some(counts)
}
