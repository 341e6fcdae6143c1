//! `--fail-under`: the scores that a run must reach.

use crate::cli::args::MetricThreshold;
use crate::cli::error::CliError;
use crate::cli::hint::Hint;
use crate::core::spec::{MetricSpec, ScoreKind, ScoreRange};
use crate::evaluate::EvaluationResult;
use crate::metrics::Registry;
use crate::text::shown;

/// Checks that the metric can be on both sides of the threshold. A failed row may move a mean out of the metric's range.
/// The range of a named score is not known.
pub(super) fn check(
    threshold: &MetricThreshold,
    spec: &MetricSpec<'_>,
    failure_score: f64,
) -> Result<(), CliError> {
    let MetricThreshold { name, score, is_percentage } = threshold;
    let is_share = spec.kind == ScoreKind::Bool || spec.range == Some(ScoreRange::UNIT);
    let is_part = name != threshold.metric();
    let invalid = |expected: String| {
        let score = if *is_percentage { format!("{score}%") } else { score.to_string() };
        Err(CliError::FailUnder { name: name.clone(), score, expected })
    };
    if *is_percentage && (is_part || !is_share) {
        return invalid(format!(
            "a number, since the scores of `{name}` are not shares; remove the percent sign"
        ));
    }
    let scale = if spec.kind == ScoreKind::Bool { 100.0 } else { 1.0 };
    let reachable = spec.range.filter(|_| !is_part).map(|range| match spec.kind {
        ScoreKind::Corpus => range,
        ScoreKind::Bool | ScoreKind::Number => ScoreRange {
            min: scale * range.min.min(failure_score),
            max: scale * range.max.max(failure_score),
        },
    });
    let Some(ScoreRange { min, max }) =
        reachable.filter(|range| !range.contains(threshold.limit(spec.kind)))
    else {
        return Ok(());
    };
    invalid(match spec.kind {
        ScoreKind::Bool => format!(
            "a percentage from {min} to {max}, since `{name}` is a bool metric; no score is outside"
        ),
        ScoreKind::Number | ScoreKind::Corpus => {
            let of = if spec.kind == ScoreKind::Corpus { "score" } else { "mean" };
            let write = match is_share && (0.0..=100.0).contains(score) && !is_percentage {
                true => format!("; write {name}={} or {name}={score}%", score / 100.0),
                false => String::new(),
            };
            format!("a {of} from {min} to {max}, the range of `{name}`{write}")
        }
    })
}

/// A warning for each threshold of at most 1 for a bool metric, whose score is a percentage.
pub(super) fn fractions_of_percent(
    result: &EvaluationResult,
    thresholds: &[MetricThreshold],
) -> impl Iterator<Item = String> {
    let is_fraction = |threshold: &&MetricThreshold| {
        let kind = result.metric(&threshold.name).map(|summary| summary.kind);
        let is_small = threshold.score > 0.0 && threshold.score <= 1.0;
        kind == Some(ScoreKind::Bool) && is_small && !threshold.is_percentage
    };
    thresholds.iter().filter(is_fraction).map(|MetricThreshold { name, score, .. }| {
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
        let name = &threshold.name;
        let summary = result.metric(name);
        if summary.is_some_and(|summary| !summary.unknown_fields.is_empty()) {
            // Reported as an invalid name.
            return None;
        }
        let kind = summary.map_or(ScoreKind::Number, |summary| summary.kind);
        let limit = threshold.limit(kind);
        if let Some(reason) = summary.and_then(|summary| summary.not_defined.as_deref()) {
            return Some(format!(
                "{name}: not defined: {}; expected {limit}",
                shown::escaped(reason)
            ));
        }
        let score = summary.and_then(|summary| summary.score);
        let unit = if kind == ScoreKind::Bool { "%" } else { "" };
        match (score, higher_is_better(threshold.metric())) {
            (None, is_higher) => {
                let bound = if is_higher { "at least" } else { "at most" };
                let hint = unknown_part(threshold, result);
                Some(format!("{name}: no row was scored; expected {bound} {limit}{unit}{hint}"))
            }
            (Some(score), true) if score < limit => {
                Some(format!("{name}: {} is below {limit}{unit}", rounded(score, limit, unit)))
            }
            (Some(score), false) if score > limit => Some(format!(
                "{name}: {} is above {limit}{unit}, and lower is better",
                rounded(score, limit, unit)
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

/// Returns the score with the decimals of the headline, or as many as it needs to differ from the limit.
fn rounded(score: f64, limit: f64, unit: &str) -> String {
    let least = if unit.is_empty() { 4 } else { 2 };
    let rounded = (least..17).map(|decimals| format!("{score:.decimals$}"));
    let is_same_side = |text: &String| {
        let rounded = text.parse::<f64>().unwrap_or(score);
        rounded.partial_cmp(&limit) == score.partial_cmp(&limit)
    };
    let text = rounded.into_iter().find(is_same_side).unwrap_or_else(|| score.to_string());
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn a_score_has_as_many_decimals_as_it_needs_to_differ_from_the_limit() {
        assert_eq!(rounded(200.0 / 3.0, 70.0, "%"), "66.67%");
        assert_eq!(rounded(200.0 / 3.0, 66.67, "%"), "66.667%");
        assert_eq!(rounded(0.5, 0.6, ""), "0.5000");
        assert_eq!(rounded(0.799_999_99, 0.8, ""), "0.79999999");
        assert_eq!(rounded(1.9, 1.9 - f64::EPSILON, ""), "1.9000");
    }
}
