//! `--fail-under`: what is good enough.

use super::super::args::{Limit, ScoreArguments};
use super::super::error::CliError;
use super::super::registry::Registry;
use super::metrics::not_in_run;
use crate::evaluate::EvaluationResult;

/// Checks that the limits are of metrics that are asked for.
pub(super) fn check(args: &ScoreArguments) -> Result<(), CliError> {
    let unknown = |limit: &&Limit| !args.metrics.iter().any(|name| name.trim() == metric_of(limit));
    match args.fail_under.iter().find(unknown) {
        None => Ok(()),
        Some(limit) => {
            let option = format!("--fail-under {}", limit.metric);
            Err(not_in_run(option, &limit.metric, args))
        }
    }
}

/// The metric whose score, or one of whose named parts, is limited.
fn metric_of(limit: &Limit) -> &str {
    limit.metric.split('.').next().unwrap_or_default()
}

/// A line for each metric that is worse than its limit.
pub(super) fn worse(
    registry: &Registry,
    result: &EvaluationResult,
    args: &ScoreArguments,
) -> Vec<String> {
    let higher_is_better =
        |name: &str| registry.get(name).is_none_or(|entry| entry.spec().higher_is_better());
    let worse = |limit: &Limit| {
        let Limit { metric: name, score: least } = limit;
        let score = result.metric(name).and_then(|summary| summary.score);
        match (score, higher_is_better(metric_of(limit))) {
            (None, _) => Some(format!("{name}: nothing was scored, so it is not {least}")),
            (Some(score), true) if score < *least => {
                Some(format!("{name}: {score} is below {least}"))
            }
            (Some(score), false) if score > *least => {
                Some(format!("{name}: {score} is above {least}, and lower is better"))
            }
            _ => None,
        }
    };
    args.fail_under.iter().filter_map(worse).collect()
}
