//! `--fail-under`: the scores that a run must reach.

use crate::args::MetricThreshold;
use crate::core::spec::{MetricSpec, ScoreKind, ScoreRange};
use crate::error::CliError;
use crate::evaluate::EvaluationResult;
use crate::hint::Hint;
use crate::messages::escape;
use crate::metrics::Registry;

/// Checks that the score can be on both sides of the limit. A failed row may move a mean out of the metric's range.
/// The range of a named score is not known.
pub(super) fn check(
    threshold: &MetricThreshold,
    spec: &MetricSpec<'_>,
    failure_score: f64,
) -> Result<(), CliError> {
    let MetricThreshold { name, limit } = threshold;
    let range = spec.range.filter(|_| name == threshold.metric());
    let reachable = range.map(|range| match spec.kind {
        ScoreKind::Corpus => range,
        ScoreKind::Bool | ScoreKind::Number => {
            ScoreRange { min: range.min.min(failure_score), max: range.max.max(failure_score) }
        }
    });
    limit.check(&format!("--fail-under {name}="), name, range, reachable)
}

/// A line for each metric that is worse than its limit.
pub(super) fn violations(
    registry: &Registry,
    result: &EvaluationResult,
    thresholds: &[MetricThreshold],
) -> Vec<String> {
    let higher_is_better =
        |name: &str| registry.get(name).is_none_or(|entry| entry.spec().higher_is_better());
    let violation = |threshold: &MetricThreshold| {
        let MetricThreshold { name, limit } = threshold;
        let summary = result.metric(name);
        if summary.is_some_and(|summary| !summary.unknown_fields.is_empty()) {
            // Reported as an invalid name.
            return None;
        }
        if let Some(reason) = summary.and_then(|summary| summary.not_defined.as_deref()) {
            return Some(format!(
                "{name}: not defined: {}; expected {limit}",
                escape::escaped(reason)
            ));
        }
        let score = summary.and_then(|summary| summary.score);
        match (score, higher_is_better(threshold.metric())) {
            (None, is_higher) => {
                let bound = if is_higher { "at least" } else { "at most" };
                let hint = unknown_part(threshold, result);
                Some(format!("{name}: no row was scored; expected {bound} {limit}{hint}"))
            }
            (Some(score), true) if score < limit.score => {
                Some(format!("{name}: {} is below {limit}", limit.written(score)))
            }
            (Some(score), false) if score > limit.score => Some(format!(
                "{name}: {} is above {limit}, and lower is better",
                limit.written(score)
            )),
            _ => None,
        }
    };
    thresholds.iter().filter_map(violation).collect()
}

/// The named score that was meant, if rows have others only.
fn unknown_part(threshold: &MetricThreshold, result: &EvaluationResult) -> Hint {
    let known = result.metrics.iter().map(|summary| &*summary.name);
    let prefix = format!("{}.", threshold.metric());
    Hint::nearest(&threshold.name, known.filter(|name| name.starts_with(&prefix)))
}
