//! Results as JUnit XML, the format in which CI systems show test results.

use std::io::{self, Write};
use std::path::Path;

use super::file::Results;
use super::read_rows::read_rows;
use super::{ResultOutcome, ResultRow, ResultScore};
use crate::contract::score::OFFLINE_JUDGE;

/// Calls a function with each row, in order. Rows are read once for the totals, and again for each metric.
type Rows<'r> = dyn Fn(&mut dyn FnMut(&ResultRow) -> io::Result<()>) -> io::Result<()> + 'r;

impl Results {
    /// Returns the results as JUnit XML: a test suite for each metric, with a test case for each row that has a result
    /// for the metric.
    ///
    /// A test case fails if its verdict is `false`, including verdicts from the metric's threshold. If the program or
    /// metric failed, the case is an error. If the row is gated, skipped or abstained, the case is skipped. A score
    /// without a verdict passes. A failed case shows the score's details, or its feedback if there are no details. If
    /// the results are in memory, each suite has the properties `score`, `ci95_low` and `ci95_high` (the 95% interval).
    /// If a judge scored offline, its suite has the property `judge` with the value `offline-lexical`. A case's time is
    /// the latency that the program returned, and a suite's time is the sum over its cases. Characters that XML cannot
    /// contain become U+FFFD.
    ///
    /// # Errors
    /// Returns an error from the writer. Writing to memory should never fail.
    pub fn junit(&self) -> io::Result<String> {
        let mut xml = Vec::new();
        let metrics: Vec<&str> = self.metrics().collect();
        self.document(
            &metrics,
            &|each| self.rows().iter().try_for_each(each),
            &mut xml,
        )?;
        String::from_utf8(xml).map_err(io::Error::other)
    }

    /// Writes the rows of a result file as JUnit XML, with the name and totals of these results. Rows are streamed
    /// instead of being kept in memory.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or if the writer fails.
    #[doc(hidden)]
    pub fn write_junit(
        &self,
        metrics: &[&str],
        file: &Path,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let rows = |each: &mut dyn FnMut(&ResultRow) -> io::Result<()>| {
            read_rows(file, |row, _| each(&row)).map(drop)
        };
        self.document(metrics, &rows, out)
    }

    fn document(&self, metrics: &[&str], rows: &Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut suites: Vec<Suite> = metrics.iter().map(|_| Suite::default()).collect();
        rows(&mut |row| {
            for (metric, suite) in metrics.iter().zip(&mut suites) {
                if let Some(score) = row.scores.get(*metric) {
                    suite.add(row, score);
                }
            }
            Ok(())
        })?;
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(out, r#"<testsuites name="{}">"#, escaped(self.name()))?;
        for (metric, suite) in metrics.iter().zip(&suites) {
            self.write_suite(metric, suite, rows, out)?;
        }
        write!(out, "</testsuites>")
    }

    fn write_suite(
        &self,
        metric: &str,
        totals: &Suite,
        rows: &Rows<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let name = escaped(metric);
        let Suite {
            cases,
            failures,
            errors,
            skipped,
            ..
        } = totals;
        let time = time(totals.seconds);
        writeln!(
            out,
            r#" <testsuite name="{name}" tests="{cases}" failures="{failures}" errors="{errors}" skipped="{skipped}"{time}>"#
        )?;
        let properties = self.properties(metric).iter();
        let properties = properties.map(|(name, value)| (&**name, &**value));
        let of_judge = totals.is_judged_offline.then_some(("judge", OFFLINE_JUDGE));
        let mut properties = properties.chain(of_judge).peekable();
        if properties.peek().is_some() {
            writeln!(out, "  <properties>")?;
            for (name, value) in properties {
                let (name, value) = (escaped(name), escaped(value));
                writeln!(out, r#"   <property name="{name}" value="{value}"/>"#)?;
            }
            writeln!(out, "  </properties>")?;
        }
        rows(&mut |row| match row.scores.get(metric) {
            Some(score) => write_case(&name, row, score, out),
            None => Ok(()),
        })?;
        writeln!(out, " </testsuite>")
    }
}

/// The totals of the cases of a metric.
#[derive(Default)]
struct Suite {
    cases: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    /// The sum of the latencies, if any row has one.
    seconds: Option<f64>,
    is_judged_offline: bool,
}

impl Suite {
    fn add(&mut self, row: &ResultRow, score: &ResultScore) {
        self.cases += 1;
        match problem(score) {
            Some("failure") => self.failures += 1,
            Some("error") => self.errors += 1,
            Some(_) => self.skipped += 1,
            None => {}
        }
        if let Some(seconds) = row.latency_s {
            self.seconds = Some(self.seconds.map_or(seconds, |sum| sum + seconds));
        }
        self.is_judged_offline |= score.is_judged_offline;
    }
}

/// Returns the element that says why a case did not pass.
fn problem(score: &ResultScore) -> Option<&'static str> {
    match score.outcome {
        ResultOutcome::Scored if score.passed == Some(false) => Some("failure"),
        ResultOutcome::Scored | ResultOutcome::Counted => None,
        outcome if outcome.is_failure() => Some("error"),
        _ => Some("skipped"),
    }
}

fn write_case(
    metric: &str,
    row: &ResultRow,
    score: &ResultScore,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (id, time) = (escaped(&row.id), time(row.latency_s));
    write!(out, r#"  <testcase name="{id}" classname="{metric}"{time}"#)?;
    let Some(problem) = problem(score) else {
        return writeln!(out, "/>");
    };
    let (message, text) = match (problem, &score.error) {
        ("failure", _) => {
            let value = score.value.map(|value| format!("score {value}"));
            (value.unwrap_or_default(), score.explanation())
        }
        ("error", Some(error)) => (error.clone(), None),
        _ => (score.outcome.name().to_owned(), None),
    };
    write!(out, ">\n   <{problem} message=\"{}\"", escaped(&message))?;
    match text {
        Some(text) => writeln!(out, ">{}</{problem}>", escaped(text))?,
        None => writeln!(out, "/>")?,
    }
    writeln!(out, "  </testcase>")
}

fn time(seconds: Option<f64>) -> String {
    seconds.map_or(String::new(), |seconds| format!(r#" time="{seconds}""#))
}

/// Escapes text and attributes. Replaces the characters that XML 1.0 cannot contain, even escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\'' => escaped.push_str("&apos;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'.. => {
                escaped.push(character);
            }
            _ => escaped.push('\u{FFFD}'),
        }
    }
    escaped
}
