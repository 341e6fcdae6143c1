//! `--fail-under`: the scores that a run must reach.

use crate::cli::args::MetricThreshold;
use crate::core::spec::ScoreKind;
use crate::evaluate::EvaluationResult;
use crate::metrics::Registry;
use crate::text::shown;

/// A warning for each threshold of at most 1 for a bool metric, whose score is a percentage.
pub(super) fn fractions_of_percent(
    result: &EvaluationResult,
    thresholds: &[MetricThreshold],
) -> impl Iterator<Item = String> {
    let is_fraction = |threshold: &&MetricThreshold| {
        let kind = result.metric(&threshold.name).map(|summary| summary.kind);
        kind == Some(ScoreKind::Bool) && threshold.score > 0.0 && threshold.score <= 1.0
    };
    thresholds.iter().filter(is_fraction).map(|MetricThreshold { name, score }| {
        format!(
            "warning: --fail-under {name}={score} means {score} percent, since `{name}` is a bool metric; write a percentage from 0 to 100"
        )
    })
}

/// A line for each metric that is worse than its threshold.
pub(super) fn violations(
    registry: &Registry,
    result: &EvaluationResult,
    thresholds: &[MetricThreshold],
) -> Vec<String> {
    let higher_is_better =
        |name: &str| registry.get(name).is_none_or(|entry| entry.spec().higher_is_better());
    let violation = |threshold: &MetricThreshold| {
        let MetricThreshold { name, score: limit } = threshold;
        let summary = result.metric(name);
        if summary.is_some_and(|summary| !summary.unknown_fields.is_empty()) {
            // Reported as an invalid name.
            return None;
        }
        if let Some(reason) = summary.and_then(|summary| summary.not_defined.as_deref()) {
            return Some(format!(
                "{name}: not defined: {}; expected {limit}",
                shown::escaped(reason)
            ));
        }
        let score = summary.and_then(|summary| summary.score);
        match (score, higher_is_better(threshold.metric())) {
            (None, true) => Some(format!("{name}: no row was scored; expected at least {limit}")),
            (None, false) => Some(format!("{name}: no row was scored; expected at most {limit}")),
            (Some(score), true) if score < *limit => {
                Some(format!("{name}: {score} is below {limit}"))
            }
            (Some(score), false) if score > *limit => {
                Some(format!("{name}: {score} is above {limit}, and lower is better"))
            }
            _ => None,
        }
    };
    thresholds.iter().filter_map(violation).collect()
}
