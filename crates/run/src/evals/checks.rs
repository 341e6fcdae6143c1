//! Checks an eval before its gates are decided, with messages that say what to write in the attribute.

use super::condition::{Bound, Condition, End};
use super::eval::{Gate, Settings};
use crate::contract::MetricSpec;
use crate::contract::gate_rules::{bound_fits, has_verdict, is_listed, margin_fits};
use crate::contract::sentence::Sentence;
use crate::evaluate::{EvaluateError, EvaluateErrorKind};

/// Checks the rules of the gates, including for metrics that the macro does not know.
pub(super) fn check_gates(gates: &[Gate], specs: &[MetricSpec<'_>]) -> Result<(), String> {
    for Gate { text, condition } in gates {
        if let Some(broken) = broken_rule(condition.of_group(), specs) {
            return Err(format!("gate `{text}`: {}", broken.as_str()));
        }
    }
    Ok(())
}

/// Checks that metrics that judge a sample of the rows have only limits on their scores, and comparisons.
pub(super) fn check_samples(gates: &[Gate], sampled: &[&str]) -> Result<(), String> {
    let needs_rows = |gate: &&Gate| {
        let is_limit = matches!(gate.condition, Condition::Score { .. });
        let metric = gate.condition.metric();
        !is_limit
            && !gate.condition.is_relative()
            && metric.is_some_and(|metric| sampled.contains(&metric))
    };
    match gates.iter().find(needs_rows) {
        None => Ok(()),
        Some(Gate { text, condition }) => {
            let metric = condition.metric().unwrap_or_default();
            Err(format!(
                "gate `{text}`: `{metric}` judges only a sample of the rows, so gates can only limit its score or compare it with the baseline; write `lower({metric}) >= 0.8`, or add it to `metrics(..)`"
            ))
        }
    }
}

fn broken_rule(condition: &Condition, specs: &[MetricSpec<'_>]) -> Option<Sentence> {
    let first = specs.first().map_or("", |spec| spec.name);
    let listed = condition
        .metric()
        .and_then(|metric| is_listed(specs, metric));
    listed.or_else(|| match condition {
        Condition::Score { metric, end, bound } => {
            let end = match end {
                End::Estimate => "",
                End::Lower => "lower",
                End::Upper => "upper",
            };
            let (is_at_least, bound) = match *bound {
                Bound::AtLeast(bound) => (true, bound),
                Bound::AtMost(bound) => (false, bound),
            };
            bound_fits(specs, metric, end, is_at_least, bound, &bound.to_string())
        }
        Condition::NoWorse { metric, by } => margin_fits(specs, metric, *by),
        Condition::PassedAt { metric, .. } => {
            has_verdict(specs, &vec![true; specs.len()], metric.unwrap_or(first))
        }
        _ => None,
    })
}

/// Returns the message of an error, with what to write in the attribute.
pub(super) fn explained(error: &EvaluateError, settings: &Settings) -> String {
    match error.kind() {
        EvaluateErrorKind::NoRows => match settings.limit {
            Some(limit) => format!(
                "no row is left after `limit = {limit}`; write a larger limit, or add rows to the devset"
            ),
            None => "the devset has no rows, so its gates mean nothing; add rows".to_owned(),
        },
        EvaluateErrorKind::NotReady if !settings.is_live && settings.replay.is_none() => {
            format!(
                "{error}; if the eval calls a model, declare it: `live = \"provider:model\"`, or set the judge's model"
            )
        }
        _ => error.to_string(),
    }
}
