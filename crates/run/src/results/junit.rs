//! Results as JUnit XML, the format in which CI systems show tests.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::file::Results;
use super::{ResultOutcome, ResultRow, ResultScore};
use crate::core::score::OFFLINE_JUDGE;

/// The result of one score as CI shows it.
enum Case<'a> {
    Passed,
    Failed(&'a ResultScore),
    Error(&'a ResultScore),
    Skipped(ResultOutcome),
}

impl<'a> Case<'a> {
    fn of(score: &'a ResultScore) -> Self {
        match score.outcome {
            ResultOutcome::Scored if score.passed == Some(false) => Self::Failed(score),
            ResultOutcome::Scored | ResultOutcome::Counted => Self::Passed,
            outcome if outcome.is_failure() => Self::Error(score),
            outcome => Self::Skipped(outcome),
        }
    }
}

impl Results {
    /// Returns the results as JUnit XML: a test suite for each metric, with a test case for each row that has the metric.
    ///
    /// A score whose verdict is false, which includes the threshold of a metric, is a failure; a row whose program or
    /// metric failed is an error; a gated, skipped or abstained row is skipped. A score without a verdict passes. The text of
    /// a failure is the details of the score, or the feedback of a metric that has no details.
    /// The results of an evaluation in memory have the properties `score`, and `ci95_low` and `ci95_high`, the 95% interval; the
    /// suite of a judge that scored offline has the property `judge`, with the value `offline-lexical`. The time of a case is
    /// the latency that the program returned, and the time of a suite their sum. Characters that XML cannot contain become
    /// U+FFFD.
    ///
    /// # Errors
    /// An error of the writer; none is expected for a document in memory.
    pub fn junit(&self) -> io::Result<String> {
        let mut xml = Writer::new_with_indent(Vec::new(), b' ', 1);
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        xml.create_element("testsuites")
            .with_attribute(("name", &*valid(self.name())))
            .write_inner_content(|xml| {
                self.metrics().try_for_each(|metric| self.suite(metric, xml))
            })?;
        String::from_utf8(xml.into_inner()).map_err(io::Error::other)
    }

    fn suite(&self, metric: &str, xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let cases: Vec<(&ResultRow, Case<'_>)> = self
            .rows()
            .iter()
            .filter_map(|row| Some((row, Case::of(row.scores.get(metric)?))))
            .collect();
        let count = |of: fn(&Case<'_>) -> bool| {
            cases.iter().filter(|(_, case)| of(case)).count().to_string()
        };
        let name = valid(metric);
        let mut suite = xml.create_element("testsuite").with_attributes([
            ("name", &*name),
            ("tests", &*cases.len().to_string()),
            ("failures", &*count(|case| matches!(case, Case::Failed(_)))),
            ("errors", &*count(|case| matches!(case, Case::Error(_)))),
            ("skipped", &*count(|case| matches!(case, Case::Skipped(_)))),
        ]);
        let times = cases.iter().filter_map(|(row, _)| row.latency_s);
        if let Some(seconds) = times.reduce(|sum, seconds| sum + seconds) {
            suite = suite.with_attribute(("time", &*seconds.to_string()));
        }
        let is_offline = |row: &ResultRow| row.scores[metric].is_judged_offline;
        let is_offline = cases.iter().any(|(row, _)| is_offline(row));
        let of_judge = is_offline.then_some(("judge", OFFLINE_JUDGE));
        let properties = self.properties(metric).iter().map(|(name, value)| (&**name, &**value));
        let properties: Vec<_> = properties.chain(of_judge).collect();
        suite.write_inner_content(|xml| {
            write_properties(&properties, xml)?;
            cases.iter().try_for_each(|(row, case)| write_case(&name, row, case, xml))
        })?;
        Ok(())
    }
}

/// `<properties><property name="score" value="0.5"/></properties>`, unless there are none.
fn write_properties(properties: &[(&str, &str)], xml: &mut Writer<Vec<u8>>) -> io::Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    xml.create_element("properties").write_inner_content(|xml| {
        properties.iter().try_for_each(|(name, value)| {
            let attributes = [("name", &*valid(name)), ("value", &*valid(value))];
            xml.create_element("property").with_attributes(attributes).write_empty().map(drop)
        })
    })?;
    Ok(())
}

fn write_case(
    metric: &str,
    row: &ResultRow,
    case: &Case<'_>,
    xml: &mut Writer<Vec<u8>>,
) -> io::Result<()> {
    let mut element = xml
        .create_element("testcase")
        .with_attributes([("name", &*valid(&row.id)), ("classname", metric)]);
    if let Some(seconds) = row.latency_s {
        element = element.with_attribute(("time", &*seconds.to_string()));
    }
    match case {
        Case::Passed => element.write_empty()?,
        Case::Failed(score) => element.write_inner_content(|xml| {
            let value = score.value.map_or(String::new(), |value| format!("score {value}"));
            write_reason("failure", &value, score.explanation(), xml)
        })?,
        Case::Error(score) => element.write_inner_content(|xml| {
            let error = score.error.as_deref().unwrap_or(score.outcome.name());
            write_reason("error", error, None, xml)
        })?,
        Case::Skipped(outcome) => {
            element.write_inner_content(|xml| write_reason("skipped", outcome.name(), None, xml))?
        }
    };
    Ok(())
}

/// `<failure message="score 0.25">one word of four</failure>`
fn write_reason(
    name: &str,
    message: &str,
    text: Option<&str>,
    xml: &mut Writer<Vec<u8>>,
) -> io::Result<()> {
    let element = xml.create_element(name).with_attribute(("message", &*valid(message)));
    match text {
        Some(text) => element.write_text_content(BytesText::new(&valid(text)))?,
        None => element.write_empty()?,
    };
    Ok(())
}

/// Replaces the characters that XML 1.0 cannot contain, not even escaped.
fn valid(text: &str) -> String {
    let is_valid = |it: char| matches!(it, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
    text.chars().map(|it| if is_valid(it) { it } else { '\u{FFFD}' }).collect()
}
