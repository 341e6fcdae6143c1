//! Results as JUnit XML, the format that CI systems use for test results.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::file::Results;
use super::run::read_rows;
use super::{ResultOutcome, ResultRow, ResultScore};
use crate::contract::score::OFFLINE_JUDGE;

/// Returns how CI shows a row that did not pass: the name of the element, its message and its text.
fn reason(score: &ResultScore) -> Option<(&'static str, Cow<'_, str>, Option<&str>)> {
    match score.outcome {
        ResultOutcome::Scored if score.passed == Some(false) => {
            let value = score.value.map(|value| format!("score {value}"));
            Some((
                "failure",
                value.unwrap_or_default().into(),
                score.explanation(),
            ))
        }
        ResultOutcome::Scored | ResultOutcome::Counted => None,
        outcome if outcome.is_failure() => {
            let error = score.error.as_deref().unwrap_or(outcome.name());
            Some(("error", error.into(), None))
        }
        outcome => Some(("skipped", outcome.name().into(), None)),
    }
}

/// A function that calls its argument with each row, in order. Rows are read once for the totals, and again for each
/// metric.
type Rows<'r> = dyn Fn(&mut dyn FnMut(&ResultRow) -> io::Result<()>) -> io::Result<()> + 'r;

impl Results {
    /// Returns the results as JUnit XML.
    ///
    /// Each metric is a test suite. The suite has a test case for each row that has a result for the metric.
    ///
    /// The outcome of a row determines the result of its test case:
    ///
    /// - The case fails if its verdict is `false`, including verdicts from the metric's threshold. It shows the score's
    ///   details, or the feedback if there are no details.
    /// - The case is an error if the program or metric failed.
    /// - The case is skipped if the row is gated, skipped or abstained.
    /// - The case passes if its verdict is `true`, or if there is a score without a verdict.
    ///
    /// If the results are in memory, each suite has the properties `score`, `ci95_low` and `ci95_high` (the 95%
    /// interval).
    ///
    /// If a judge scored offline, its suite has the property `judge` with the value `offline-lexical`.
    ///
    /// A case's time is the latency that the program returned, and a suite's time is the sum over its cases.
    ///
    /// Characters that XML cannot contain are replaced with U+FFFD.
    ///
    /// # Errors
    /// Returns an error if writing fails. Writing to memory should never fail.
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

    /// Writes the rows of a result file as JUnit XML.
    ///
    /// The name and the totals come from these results. Rows are streamed instead of being kept in memory.
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
            read_rows(file, |row, _| each(row)).map(drop)
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
        let mut xml = Writer::new_with_indent(out, b' ', 1);
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        xml.create_element("testsuites")
            .with_attribute(("name", &*valid(self.name())))
            .write_inner_content(|xml| {
                let mut suites = metrics.iter().zip(&suites);
                suites.try_for_each(|(metric, suite)| self.suite(metric, suite, rows, xml))
            })?;
        Ok(())
    }

    fn suite(
        &self,
        metric: &str,
        totals: &Suite,
        rows: &Rows<'_>,
        xml: &mut Writer<&mut dyn Write>,
    ) -> io::Result<()> {
        let name = valid(metric);
        let mut suite = xml.create_element("testsuite").with_attributes([
            ("name", &*name),
            ("tests", &*totals.cases.to_string()),
            ("failures", &*totals.failures.to_string()),
            ("errors", &*totals.errors.to_string()),
            ("skipped", &*totals.skipped.to_string()),
        ]);
        if let Some(seconds) = totals.seconds {
            suite = suite.with_attribute(("time", &*seconds.to_string()));
        }
        let of_judge = totals.is_judged_offline.then_some(("judge", OFFLINE_JUDGE));
        let properties = self.properties.get(metric).into_iter().flatten();
        let properties = properties.map(|(name, value)| (&**name, &**value));
        let properties: Vec<_> = properties.chain(of_judge).collect();
        suite.write_inner_content(|xml| {
            write_properties(&properties, xml)?;
            rows(&mut |row| match row.scores.get(metric) {
                Some(score) => write_case(&name, row, score, xml),
                None => Ok(()),
            })
        })?;
        Ok(())
    }
}

/// The totals over a metric's test cases.
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
        match reason(score) {
            None => {}
            Some(("failure", ..)) => self.failures += 1,
            Some(("error", ..)) => self.errors += 1,
            Some(_) => self.skipped += 1,
        }
        if let Some(seconds) = row.latency_s {
            self.seconds = Some(self.seconds.map_or(seconds, |sum| sum + seconds));
        }
        self.is_judged_offline |= score.is_judged_offline;
    }
}

/// Writes `<properties><property name="score" value="0.5"/></properties>`, or nothing if there are no properties.
fn write_properties(
    properties: &[(&str, &str)],
    xml: &mut Writer<&mut dyn Write>,
) -> io::Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    xml.create_element("properties")
        .write_inner_content(|xml| {
            properties.iter().try_for_each(|(name, value)| {
                let attributes = [("name", &*valid(name)), ("value", &*valid(value))];
                xml.create_element("property")
                    .with_attributes(attributes)
                    .write_empty()
                    .map(drop)
            })
        })?;
    Ok(())
}

/// Writes `<testcase name="a" classname="f1"><failure message="score 0.25">one word of four</failure></testcase>`.
fn write_case(
    metric: &str,
    row: &ResultRow,
    score: &ResultScore,
    xml: &mut Writer<&mut dyn Write>,
) -> io::Result<()> {
    let mut element = xml
        .create_element("testcase")
        .with_attributes([("name", &*valid(&row.id)), ("classname", metric)]);
    if let Some(seconds) = row.latency_s {
        element = element.with_attribute(("time", &*seconds.to_string()));
    }
    let Some((name, message, text)) = reason(score) else {
        element.write_empty()?;
        return Ok(());
    };
    element.write_inner_content(|xml| {
        let reason = xml
            .create_element(name)
            .with_attribute(("message", &*valid(&message)));
        match text {
            Some(text) => reason.write_text_content(BytesText::new(&valid(text)))?,
            None => reason.write_empty()?,
        };
        Ok(())
    })?;
    Ok(())
}

/// Replaces the characters that XML 1.0 cannot contain, even escaped.
fn valid(text: &str) -> String {
    let is_valid = |it: char| matches!(it, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
    text.chars()
        .map(|it| if is_valid(it) { it } else { '\u{FFFD}' })
        .collect()
}
