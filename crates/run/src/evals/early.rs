//! Ends an eval as soon as its gates are decided.

use std::collections::HashMap;
use std::sync::Arc;

use super::baseline::Baseline;
use super::condition::{Bound, Condition};
use super::eval::Gate;
use crate::contract::{Direction, MetricSpec};
use crate::evaluate::report::ResultRow;
use crate::evaluate::{EarlyGate, EarlyOptions, Figure};

/// Returns when the run ends; or, if it needs all rows, why.
///
/// # Errors
/// Returns a message if a gate cannot be decided before all rows are evaluated.
pub(super) fn options(
    gates: &[Gate],
    specs: &[MetricSpec<'_>],
    alpha: Option<f64>,
    baseline: Option<&Baseline>,
) -> Result<Result<EarlyOptions, String>, String> {
    let mut early = Vec::new();
    for Gate { text, condition } in gates {
        let gain = |metric: &str, by: f64| {
            let spec = specs.iter().find(|spec| spec.name == metric);
            Some((
                Figure::Gain {
                    metric: metric.to_owned(),
                    is_lower_better: spec
                        .is_some_and(|it| it.direction == Direction::LowerIsBetter),
                    earlier: Arc::new(earlier(baseline?, metric)),
                },
                Bound::AtLeast(-by),
            ))
        };
        let found = match &condition {
            Condition::Score { metric, end, bound } => {
                let metric = (*metric).to_owned();
                Some((Figure::Score { metric, end: *end }, *bound))
            }
            Condition::Failed { bound } => Some((Figure::Failed, Bound::AtMost(*bound))),
            Condition::NoWorse { metric, by } => gain(metric, *by),
            Condition::Better { metric } => gain(metric, 0.0),
            _ => {
                return Err(format!(
                    "gate `{text}`: `early` decides limits on metrics and on `failed`, `no_worse` and `better`; remove this gate, or `early`"
                ));
            }
        };
        let Some((figure, bound)) = found else {
            return Ok(Err("there is no baseline yet".to_owned()));
        };
        early.push(EarlyGate {
            text: (*text).to_owned(),
            figure,
            bound,
        });
    }
    Ok(Ok(EarlyOptions {
        gates: early,
        alpha,
        mistake: None,
    }))
}

/// Returns the value of each row in the mean of a metric.
fn earlier(baseline: &Baseline, metric: &str) -> HashMap<String, f64> {
    let results = &baseline.results;
    let value = |row: &ResultRow| {
        let score = row.scores.get(metric)?;
        let failed = score.outcome.is_failure().then(|| results.failure_score());
        Some((row.id.clone(), score.value.or(failed)?))
    };
    results.rows().iter().filter_map(value).collect()
}
