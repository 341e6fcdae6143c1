//! Numbers of passed and failed tests, parsed from the output of test programs: JUnit XML, TAP,
//! cargo, jest, pytest, unittest and go.
//!
//! The program under test controls this output and can print any counts. Checking the exit code as
//! well does not help against a program that exits with 0 before the tests run.
//!
//! All formats are parsed in one pass over the output, without recursion.

use std::cmp::Reverse;
use std::ops::AddAssign;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The deepest nesting of elements in JUnit XML that is parsed.
const MAX_XML_DEPTH: usize = 64;

/// How many tests passed, failed and were skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed or could not be run.
    pub failed: u64,
    /// Tests that were skipped, or that failed as expected.
    pub skipped: u64,
}

impl Counts {
    /// The number of tests that ran: tests that passed or failed.
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

/// Parses the test counts in an output, or returns `None` if it contains no known summary.
///
/// The formats are `cargo test` (the sum of all summaries); jest, pytest and Python's unittest (the
/// last summary of each); `go test` (each test with `-v` or `-json`, otherwise each package as one
/// test). If there are summaries of several formats, the one with the fewest passed tests is
/// returned, so that a program gains nothing by printing a summary of another format before the summary
/// of the tests.
///
/// Without any of these, TAP with a plan (planned tests that are missing count as failed), JUnit XML
/// (the sum of all reports), and a line such as `24 passed; 0 failed` are parsed, with the same rule.
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

/// Parses the test counts in the output streams of one command, with the rule of [`parse`] for
/// several summaries.
pub fn parse_streams(streams: &[&str]) -> Option<Counts> {
    let summaries: &[Format] = &[cargo, jest, pytest, unittest, go];
    let reports: &[Format] = &[tap, junit, list_line];
    [summaries, reports].into_iter().find_map(|formats| {
        let of_stream = |output: &&'_ str| {
            formats
                .iter()
                .filter_map(|format| format(output))
                .min_by_key(fewest)
        };
        streams.iter().filter_map(of_stream).min_by_key(fewest)
    })
}

type Format = fn(&str) -> Option<Counts>;

/// The order in which the most pessimistic counts come first.
const fn fewest(counts: &Counts) -> (u64, Reverse<u64>) {
    (counts.passed, Reverse(counts.failed))
}

/// The sum of all JUnit reports. An output with an invalid report, a document type or deeper nesting
/// is not a report. Namespaces and entities are not resolved.
fn junit(output: &str) -> Option<Counts> {
    let (mut rest, mut sum) = (output, None);
    while let Some(start) = rest.find("<testsuite") {
        let mut reader = Reader::from_str(&rest[start..]);
        *sum.get_or_insert_default() += junit_report(&mut reader)?;
        rest = rest.get(start + usize::try_from(reader.buffer_position()).ok()?..)?;
    }
    sum
}

/// The counts of the report that the reader is at the start of.
fn junit_report(reader: &mut Reader<&[u8]>) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut depth = 0;
    // The depth of the current test case, and its result.
    let mut case: Option<(usize, TestResult)> = None;
    loop {
        let (element, is_empty) = match reader.read_event().ok()? {
            Event::Start(element) => (Some(element), false),
            Event::Empty(element) => (Some(element), true),
            Event::End(_) => (None, false),
            Event::DocType(_) | Event::Eof => return None,
            _ => continue,
        };
        if let Some(element) = &element {
            depth += 1;
            open(element, depth, &mut case);
        }
        if depth > MAX_XML_DEPTH {
            return None;
        }
        if element.is_none() || is_empty {
            if let Some((_, result)) = case.take_if(|(opened_at, _)| *opened_at == depth) {
                result.count(&mut counts, 1);
            }
            depth -= 1;
        }
        if depth == 0 {
            return Some(counts);
        }
    }
}

/// Starts a test case, or records in the current one what a child says about it.
fn open(element: &BytesStart<'_>, depth: usize, case: &mut Option<(usize, TestResult)>) {
    match (element.local_name().as_ref(), case) {
        (b"testcase", case @ None) => *case = Some((depth, TestResult::Passed)),
        (b"failure" | b"error", Some((parent, result))) if *parent + 1 == depth => {
            *result = TestResult::Failed;
        }
        (b"skipped", Some((parent, result @ TestResult::Passed))) if *parent + 1 == depth => {
            *result = TestResult::Skipped;
        }
        _ => {}
    }
}

/// The last line that is nothing but numbers of tests: `24 passed; 0 failed`.
fn list_line(output: &str) -> Option<Counts> {
    output.lines().rev().find_map(|line| {
        let line = line.trim();
        let is_count = |item: &str| {
            let mut words = item.split_whitespace();
            let is_number = words
                .next()
                .is_some_and(|number| number.parse::<u64>().is_ok());
            is_number && words.next().and_then(TestResult::of).is_some() && words.next().is_none()
        };
        let is_list = line.contains("passed") && line.split([';', ',']).all(is_count);
        is_list
            .then(|| count_list(&line.replace(';', ","), ','))
            .flatten()
    })
}

fn tap(output: &str) -> Option<Counts> {
    let plan = |line: &str| {
        line.strip_prefix("1..")?
            .split([' ', '#'])
            .next()?
            .trim()
            .parse()
            .ok()
    };
    let planned: u64 = output.lines().find_map(plan)?;
    let mut counts = Counts::default();
    for line in output.lines() {
        let (ok, rest) = match (line.strip_prefix("ok"), line.strip_prefix("not ok")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => continue,
        };
        if !(rest.is_empty() || rest.starts_with(' ')) {
            continue;
        }
        let directive = rest
            .rsplit_once('#')
            .map(|(_, text)| text.trim().to_ascii_lowercase());
        match directive.as_deref() {
            Some(text) if text.starts_with("skip") => counts.skipped += 1,
            Some(text) if text.starts_with("todo") && !ok => counts.skipped += 1,
            _ if ok => counts.passed += 1,
            _ => counts.failed += 1,
        }
    }
    let missing = planned.saturating_sub(counts.run().saturating_add(counts.skipped));
    counts.failed = counts.failed.saturating_add(missing);
    Some(counts)
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

fn jest(output: &str) -> Option<Counts> {
    output.lines().rev().find_map(|line| {
        let rest = line.trim_start().strip_prefix("Tests:")?;
        count_list(rest, ',')
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
        let result = match name {
            "failures" | "errors" | "unexpected successes" => TestResult::Failed,
            _ => TestResult::Skipped,
        };
        result.count(&mut counts, number);
    }
    counts.passed = ran.saturating_sub(counts.failed.saturating_add(counts.skipped));
    Some(counts)
}

fn go(output: &str) -> Option<Counts> {
    let (mut tests, mut packages) = (Counts::default(), Counts::default());
    for line in output.lines() {
        let trimmed = line.trim_start();
        if let Some(result) = go_test(trimmed) {
            result.count(&mut tests, 1);
        } else if line.starts_with("ok  \t") {
            packages.passed += 1;
        } else if line.starts_with("FAIL\t") {
            packages.failed += 1;
        }
    }
    let found = if tests == Counts::default() {
        packages
    } else {
        tests
    };
    (found != Counts::default()).then_some(found)
}

/// The result of one test in a line of `go test -v` or `-json`.
fn go_test(line: &str) -> Option<TestResult> {
    if line.starts_with('{') {
        let event: serde_json::Value = serde_json::from_str(line).ok()?;
        event.get("Test")?;
        return TestResult::of(event.get("Action")?.as_str()?);
    }
    TestResult::of(line.strip_prefix("--- ")?.split(':').next()?)
}

#[derive(Clone, Copy)]
enum TestResult {
    Passed,
    Failed,
    Skipped,
}

impl TestResult {
    /// Returns the result that a word means in the formats.
    fn of(word: &str) -> Option<Self> {
        match word {
            "passed" | "xpassed" | "pass" | "PASS" => Some(Self::Passed),
            "failed" | "error" | "errors" | "fail" | "FAIL" => Some(Self::Failed),
            "skipped" | "ignored" | "todo" | "pending" | "xfailed" | "skip" | "SKIP" => {
                Some(Self::Skipped)
            }
            _ => None,
        }
    }

    /// Adds a number of tests with this result.
    fn count(self, counts: &mut Counts, number: u64) {
        let field = match self {
            Self::Passed => &mut counts.passed,
            Self::Failed => &mut counts.failed,
            Self::Skipped => &mut counts.skipped,
        };
        *field = field.saturating_add(number);
    }
}

/// Parses a list such as `1 failed, 24 passed`, which must contain at least one number with a known
/// word.
fn count_list(list: &str, separator: char) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut any = false;
    for item in list.split(separator) {
        let mut words = item.split_whitespace();
        let number = words.next().and_then(|number| number.parse::<u64>().ok());
        if let (Some(number), Some(result)) = (number, words.next().and_then(TestResult::of)) {
            result.count(&mut counts, number);
            any = true;
        }
    }
    any.then_some(counts)
}
