//! What must hold of an eval before its gates are decided, with what to write in the attribute.

use super::condition::Kind;
use super::eval::{Gate, Settings};
use super::figures::Finished;
use crate::core::spec::Direction;
use crate::evaluate::{Ending, EvaluateError, EvaluationResult};
use crate::messages::escape;
use crate::messages::suggest::nearest;

/// Checks that each gate is on a metric of the run, for metrics whose names the compiler does not know.
pub(super) fn check_gates(gates: &[Gate], metrics: &[&str]) -> Result<(), String> {
    let named = |gate: &Gate| metric_of(&gate.condition.0);
    let unknown = |gate: &&Gate| named(gate).is_some_and(|metric| !metrics.contains(&metric));
    let Some(gate) = gates.iter().find(unknown) else { return Ok(()) };
    let metric = named(gate).unwrap_or_default();
    let hint = match nearest(metric, metrics.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("`metrics(..)` has {}", escape::names(metrics.iter().copied())),
    };
    Err(format!("gate `{}`: there is no metric `{metric}`; {hint}", gate.text))
}

fn metric_of(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Score { metric, .. } | Kind::NoWorse { metric, .. } | Kind::Better { metric } => {
            Some(metric)
        }
        Kind::PassedAt { metric, .. } => *metric,
        Kind::Each { condition, .. } => metric_of(condition),
        Kind::Failed { .. } | Kind::Abstained { .. } | Kind::Latency { .. } => None,
    }
}

/// Checks the direction of gates on metrics that the compiler does not know.
pub(super) fn check_directions(gates: &[Gate], run: &Finished<'_>) -> Result<(), String> {
    for gate in gates {
        let mut kind = &gate.condition.0;
        while let Kind::Each { condition, .. } = kind {
            kind = condition;
        }
        let Kind::Score { metric, bound, .. } = kind else { continue };
        let direction = match run.metric(metric) {
            Some(metric) => metric.direction,
            None => continue,
        };
        let is_wrong = match bound {
            super::Bound::AtLeast(_) => direction == Direction::LowerIsBetter,
            super::Bound::AtMost(_) => direction == Direction::HigherIsBetter,
        };
        if is_wrong {
            let (better, operator) = match direction {
                Direction::HigherIsBetter => ("higher", ">="),
                Direction::LowerIsBetter => ("lower", "<="),
            };
            return Err(format!(
                "gate `{}`: {better} is better for `{metric}`; write `{operator}`",
                gate.text
            ));
        }
    }
    Ok(())
}

/// The message of an error, with what to write in the attribute.
pub(super) fn explained(error: &EvaluateError, settings: &Settings) -> String {
    match error {
        EvaluateError::NoRows => match settings.limit {
            Some(limit) => format!(
                "no row is left after `limit = {limit}`; write a larger limit, or add rows to the devset"
            ),
            None => "the devset has no rows, and a gate on no rows means nothing; add rows to it"
                .to_owned(),
        },
        EvaluateError::Input { message } if message.ends_with("found none") => {
            format!("{message}; add rows to the devset")
        }
        EvaluateError::NotReady { .. } if !settings.is_live && settings.replay.is_none() => {
            format!(
                "{error}; if the eval calls a model, declare it: `live = \"provider:model\"`, or set the model of the judge"
            )
        }
        error => error.to_string(),
    }
}

/// Returns an error if the run did not evaluate all rows, or if no row could be evaluated.
pub(super) fn complete<G, P>(result: &EvaluationResult<G, P>) -> Result<(), String> {
    if result.ending != Ending::Complete {
        return Err(format!("after {} rows: {}", result.rows, result.ending));
    }
    match &result.first_error {
        Some(error) if result.failed_rows == result.rows => {
            let hint = match error.contains(" within ") {
                true => "; write a longer `timeout`, such as `timeout = \"10 min\"`",
                false => "",
            };
            Err(format!(
                "all {} rows failed; first error: {}{hint}",
                result.rows,
                escape::escaped(error)
            ))
        }
        _ => Ok(()),
    }
}
