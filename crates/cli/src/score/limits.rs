//! The limits on a run: the `--fail-under` scores, whether all rows failed, the budget, and the quorum of panels.

use super::Run;
use super::plan::names;
use crate::args::MetricThreshold;
use crate::contract::{MetricSpec, ScoreKind, ScoreRange};
use crate::evaluate::{EvaluationResult, MetricSummary};
use crate::messages::escape;
use crate::messages::suggest::did_you_mean;
use crate::options::metric_of;
use crate::output::Result;

/// Checks that the score can be on both sides of the limit. A failed row can move a mean out of the metric's range. A
/// named score's range is unknown.
pub(crate) fn check(
    threshold: &MetricThreshold,
    spec: &MetricSpec<'_>,
    failure_score: f64,
) -> Result<()> {
    let MetricThreshold { name, limit } = threshold;
    let range = spec.range.filter(|_| name == threshold.metric());
    let reachable = range.map(|range| match spec.kind {
        ScoreKind::Corpus => range,
        ScoreKind::Bool | ScoreKind::Number => ScoreRange {
            min: range.min.min(failure_score),
            max: range.max.max(failure_score),
        },
    });
    limit.check(&format!("--fail-under {name}="), name, range, reachable)
}

impl Run<'_> {
    /// Returns a line for each violated limit.
    pub(crate) fn violations(&self, result: &EvaluationResult) -> Vec<String> {
        let limits = self.args.fail_under.iter();
        let mut lines: Vec<String> = limits
            .filter_map(|limit| self.violation(limit, result))
            .collect();
        lines.extend(failed_gates(result));
        lines.extend(self.all_failed(result));
        lines.extend(self.beyond_budget(result));
        lines.extend(self.lost_judges(result));
        lines
    }

    /// Returns the line to print if a limit is violated. An invalid name is reported elsewhere.
    fn violation(
        &self,
        MetricThreshold { name, limit }: &MetricThreshold,
        result: &EvaluationResult,
    ) -> Option<String> {
        let summary = result.metric(name);
        if summary.is_some_and(|summary| !summary.unknown_fields.is_empty()) {
            return None;
        }
        let entry = self.registry.get(metric_of(name));
        let is_higher_better = entry.is_none_or(|entry| entry.spec().higher_is_better());
        if let Some(reason) = summary.and_then(|summary| summary.not_defined.as_deref()) {
            let reason = escape::escaped(reason);
            return Some(format!("{name}: not defined: {reason}; expected {limit}"));
        }
        let Some(score) = summary.and_then(|summary| summary.score) else {
            let bound = if is_higher_better {
                "at least"
            } else {
                "at most"
            };
            let known = result.metrics.iter().map(|summary| &*summary.name);
            let hint = did_you_mean(name, known).unwrap_or_default();
            return Some(format!(
                "{name}: no row was scored; expected {bound} {limit}{hint}"
            ));
        };
        match is_higher_better {
            true if score < limit.score => {
                Some(format!("{name}: {} is below {limit}", limit.written(score)))
            }
            false if score > limit.score => Some(format!(
                "{name}: {} is above {limit}, and lower is better",
                limit.written(score)
            )),
            _ => None,
        }
    }

    /// Returns the summaries of the metrics named on the command line.
    pub(super) fn named<'r>(
        &self,
        result: &'r EvaluationResult,
    ) -> impl Iterator<Item = &'r MetricSummary> {
        names(self.args).filter_map(|name| result.metric(name))
    }

    /// Returns a line for each metric that failed on every row, for example because the sandbox has no isolation or a
    /// model does not reply. A metric with a threshold already has a line.
    fn all_failed(&self, result: &EvaluationResult) -> impl Iterator<Item = String> {
        let has_threshold =
            |name: &str| self.args.fail_under.iter().any(|limit| limit.name == name);
        let failed = self.named(result).filter(move |metric| {
            metric.failed > 0 && metric.failed == metric.rows() && !has_threshold(&metric.name)
        });
        failed.map(|metric| format!("{}: all rows failed: {}", metric.name, metric.failed))
    }

    /// Returns a line for each metric that lost a judge in its panel on some rows, unless its quorum allows that.
    fn lost_judges(&self, result: &EvaluationResult) -> impl Iterator<Item = String> {
        self.named(result).filter(|metric| metric.judged_without_quorum > 0).map(|metric| {
            let (name, lost, rows) = (&metric.name, metric.judged_without_quorum, metric.rows());
            let first = metric.first_lost_judge.as_deref().unwrap_or_default();
            format!(
                "{name}: {lost} of {rows} rows were judged by only part of the panel; first error: {first}; set `quorum` (--param {name}.quorum=NUMBER) to allow this"
            )
        })
    }
}

/// Returns a line for each `--stop-when` gate that failed.
fn failed_gates(result: &EvaluationResult) -> impl Iterator<Item = String> {
    let gates = result.early.iter().flat_map(|early| &early.gates);
    let failed = gates.filter(|gate| gate.passed == Some(false));
    failed.map(|gate| format!("--stop-when \"{}\": the gate failed", gate.gate))
}
