//! Metric names, and outcomes from scores that a different program computed.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

use crate::contract::{
    MetricError, MetricScore, Outcome, ProgramOutput, ProgramRun, ProgramUsage, Scored,
};
use crate::results::ForeignRow;

/// Returns the outcome of a score. `passed` is its verdict, if it has one.
pub(super) fn scored(
    value: f64,
    passed: Option<bool>,
    details: Option<String>,
    metadata: Map<String, Value>,
) -> Outcome {
    let score = MetricScore {
        details,
        ..MetricScore::new(value)
    };
    Outcome::Scored(Scored::of_other_program(score, passed, metadata))
}

/// Returns the outcome of a score that is not a finite number. `NaN` was read as null.
pub(super) fn invalid(metric: &str, found: &Value) -> Outcome {
    let found = match found {
        Value::Null => "missing, null or NaN".to_owned(),
        found => crate::json::describe::found(found),
    };
    Outcome::from(MetricError::failed(
        metric,
        format_args!("the score is {found}, not a number"),
    ))
}

/// Adds a failure to each row that lacks a metric of other rows, unless the metric is optional.
pub(super) fn complete(rows: &mut [ForeignRow], optional: &HashSet<String>) {
    let attempts = rows.iter().flat_map(|row| &row.attempts);
    let names = attempts.flat_map(|attempt| attempt.outcomes.keys());
    let metrics: IndexSet<String> = names
        .filter(|name| !optional.contains(*name))
        .cloned()
        .collect();
    for attempt in rows.iter_mut().flat_map(|row| &mut row.attempts) {
        for name in &metrics {
            let missing = || {
                let reason = "the file has no score for this row, but has one for others";
                Outcome::from(MetricError::failed(name, reason))
            };
            attempt.outcomes.entry(name.clone()).or_insert_with(missing);
        }
    }
}

/// Returns the mean of a metric over the rows with a score. The score of a row with several evaluations is their mean.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 rows")]
fn mean_of(rows: &[ForeignRow], metric: &str) -> Option<f64> {
    let mean = |values: Vec<f64>| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let of_row = |row: &ForeignRow| {
        let outcomes = row.attempts.iter().filter_map(|it| it.outcomes.get(metric));
        mean(outcomes.filter_map(Outcome::value).collect())
    };
    mean(rows.iter().filter_map(of_row).collect())
}

/// Returns the header's score and the mean of the rows, if they differ.
pub(super) fn other_mean(header: &Value, rows: &[ForeignRow], metric: &str) -> Option<(f64, f64)> {
    let both = header.as_f64().zip(mean_of(rows, metric));
    both.filter(|(header, mean)| (header - mean).abs() > 1e-6)
}

/// Compares ids: numbers by value, before strings.
pub(super) fn by_id(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(first), Ok(second)) => first.cmp(&second).then_with(|| a.cmp(b)),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

/// Returns the record of a program's run, without a latency that isn't a valid duration.
pub(super) fn program_run(latency_s: Option<f64>, tokens: Option<[u64; 2]>) -> ProgramRun {
    let mut output = ProgramOutput::new(());
    if let Some(latency) = latency_s.and_then(|it| Duration::try_from_secs_f64(it).ok()) {
        output = output.with_latency(latency);
    }
    if let Some([input, replies]) = tokens {
        output = output.with_usage(ProgramUsage::new(input, replies));
    }
    output.into_parts().1
}

/// Our names for the metrics of another program.
#[derive(Default)]
pub(super) struct MetricNames(IndexMap<String, String>);

impl MetricNames {
    /// Returns the name of a metric, followed by a colon and the element of its score if there is one. Replaces commas and dots,
    /// which separate names and parts on the command line.
    pub(super) fn name(&mut self, metric: &str, element: Option<&str>) -> String {
        let original = match element {
            Some(element) => format!("{metric}:{element}"),
            None => metric.to_owned(),
        };
        if let Some(name) = self.0.get(&original) {
            return name.clone();
        }
        let allowed = |found: char| match found {
            '.' | ',' | '=' => '_',
            found if found.is_whitespace() || found.is_control() => '_',
            found => found,
        };
        let mut name: String = original.chars().map(allowed).collect();
        while name.is_empty() || self.0.values().any(|other| *other == name) {
            name.push('_');
        }
        self.0.insert(original, name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::MetricNames;

    #[test]
    fn each_metric_has_a_name_of_its_own_without_characters_of_the_command_line() {
        let mut names = MetricNames::default();
        assert_eq!(
            names.name("exact_match", Some("strict-match")),
            "exact_match:strict-match"
        );
        assert_eq!(names.name("a.b, c", None), "a_b__c");
        assert_eq!(names.name("a,b. c", None), "a_b__c_");
        assert_eq!(names.name("a.b, c", None), "a_b__c");
        assert_eq!(names.name("", None), "_");
    }
}
