//! `--fail-under` and `--budget`: what is good enough.

use super::super::args::{Limit, ScoreArguments};
use super::super::error::CliError;
use super::super::output::say;
use super::super::registry::Registry;
use super::metrics::not_in_run;
use crate::core::spec::ScoreKind;
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

/// Says that a limit that looks like a fraction is one of percent.
pub(super) fn warn(result: &EvaluationResult, args: &ScoreArguments) {
    for Limit { metric: name, score: least } in &args.fail_under {
        let kind = result.metric(name).map(|summary| summary.kind);
        if kind == Some(ScoreKind::Bool) && *least > 0.0 && *least <= 1.0 {
            say(format_args!(
                "warning: --fail-under {name}={least} is {least} percent, since `{name}` is a bool"
            ));
        }
    }
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

/// A line for each metric that the budget did not see to the end; `call` is the most that a call might cost
/// which it did not cover.
pub(super) fn unpaid(
    result: &EvaluationResult,
    args: &ScoreArguments,
    call: Option<u64>,
) -> impl Iterator<Item = String> {
    let call =
        call.map(|msats| format!("; a call may cost up to {msats} msat")).unwrap_or_default();
    let names = args.metrics.iter().map(|name| name.trim());
    let summaries = names.filter_map(|name| result.metric(name));
    let unpaid = summaries.filter(|_| args.lm.budget.is_some()).filter(|metric| metric.skipped > 0);
    unpaid.map(move |metric| {
        let (name, skipped, rows) = (&metric.name, metric.skipped, metric.rows());
        format!("{name}: --budget did not cover {skipped} of {rows} rows, which were skipped{call}")
    })
}
