//! Gate conditions, as written in `gate(..)`. Checks the conditions, with messages that say what to write in the
//! attribute, and determines whether they can end an eval early.

use std::collections::HashMap;
use std::sync::Arc;

use super::baseline::Baseline;
use super::eval::{Gate, Settings};
use super::figures::counted;
use crate::contract::gate_rules::{bound_fits, is_listed, margin_fits};
use crate::contract::{Direction, MetricSpec};
use crate::evaluate::report::ResultRow;
pub use crate::evaluate::{Bound, End};
use crate::evaluate::{EarlyGate, EarlyOptions, EvaluateError, EvaluateErrorKind, Figure};

/// A condition that a gate checks.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The metric's score, or an end of its 95% interval, is within the bound, as in `f1 >= 0.8`, `lower(f1) >= 0.8` or
    /// `upper(wer) <= 0.2`.
    Score(&'static str, End, Bound),
    /// The metric's pass@k is at least the bound, as in `em.passed_at(3) >= 0.9`. `None` selects the first metric.
    PassedAt(Option<&'static str>, u32, f64),
    /// The share of rows on which the program or a metric failed is at most the bound, as in `failed <= 0.02`.
    Failed(f64),
    /// The share of rows on which a metric abstained is at most the bound, as in `abstained <= 0.1`.
    Abstained(f64),
    /// The program's mean time per row, in seconds, is at most the bound, as in `latency <= 2.0`.
    Latency(f64),
    /// The metric is worse than the baseline by at most this margin, as in `em.no_worse(by = 0.02)`.
    NoWorse(&'static str, f64),
    /// The metric is better than the baseline, as in `em.better()`.
    Better(&'static str),
    /// The condition holds in each group of rows, as in `each("topic", f1 >= 0.7)`. Rows with the same value of the
    /// field form a group.
    Each(&'static str, Box<Self>),
}

impl Condition {
    /// Returns the condition for each group, or the condition itself if it has no groups.
    pub(super) fn of_group(&self) -> &Self {
        match self {
            Self::Each(_, condition) => condition,
            condition => condition,
        }
    }

    /// Returns the metric that the condition names.
    pub(super) fn metric(&self) -> Option<&'static str> {
        match self.of_group() {
            Self::Score(metric, ..) | Self::NoWorse(metric, _) | Self::Better(metric) => {
                Some(metric)
            }
            Self::PassedAt(metric, ..) => *metric,
            _ => None,
        }
    }

    /// Returns `true` if the condition compares with the baseline.
    pub(super) fn is_relative(&self) -> bool {
        matches!(self.of_group(), Self::NoWorse(..) | Self::Better(_))
    }
}

/// Checks what the macro cannot know: the names and bounds of metrics whose types it does not see. If a metric judges
/// only a sample of the rows, gates can only limit its score or compare it with the baseline.
pub(super) fn check_gates(
    gates: &[Gate],
    specs: &[MetricSpec<'_>],
    sampled: &[&str],
) -> Result<(), String> {
    for Gate { text, condition } in gates {
        let listed = condition.metric().and_then(|it| is_listed(specs, it));
        let broken = listed.or_else(|| match condition.of_group() {
            Condition::Score(metric, end, bound) => {
                let end = match end {
                    End::Estimate => "",
                    End::Lower => "lower",
                    End::Upper => "upper",
                };
                let (is_at_least, limit) = (matches!(bound, Bound::AtLeast(_)), bound.limit());
                bound_fits(specs, metric, end, is_at_least, limit, &limit.to_string())
            }
            Condition::NoWorse(metric, by) => margin_fits(specs, metric, *by),
            _ => None,
        });
        if let Some(broken) = broken {
            return Err(format!("gate `{text}`: {}", broken.as_str()));
        }
        let needs_rows = !matches!(condition, Condition::Score(..)) && !condition.is_relative();
        let sampled = condition.metric().filter(|it| sampled.contains(it));
        if let Some(metric) = sampled.filter(|_| needs_rows) {
            return Err(format!(
                "gate `{text}`: `{metric}` judges only a sample of the rows, so gates can only limit its score or compare it with the baseline; write `lower({metric}) >= 0.8`, or add it to `metrics(..)`"
            ));
        }
    }
    Ok(())
}

/// Returns an error message that says what to write in the attribute.
pub(super) fn explained(error: &EvaluateError, settings: &Settings) -> String {
    match error.kind() {
        EvaluateErrorKind::NoRows => {
            "the devset has no rows, so its gates mean nothing; add rows".to_owned()
        }
        EvaluateErrorKind::NotReady if !settings.is_live && settings.replay.is_none() => {
            format!(
                "{error}; if the eval calls a model, declare it: `live = \"provider:model\"`, or set the judge's model"
            )
        }
        _ => error.to_string(),
    }
}

/// Returns when the run ends. Returns `None` if the run needs all rows because a gate compares with a missing baseline.
///
/// # Errors
/// Returns a message if a gate cannot be decided before all rows are evaluated.
pub(super) fn early_options(
    gates: &[Gate],
    specs: &[MetricSpec<'_>],
    alpha: Option<f64>,
    baseline: Option<&Baseline>,
) -> Result<Option<EarlyOptions>, String> {
    let gain = |metric: &str, by: f64| {
        let mut specs = specs.iter().filter(|spec| spec.name == metric);
        let figure = Figure::Gain {
            metric: metric.to_owned(),
            is_lower_better: specs.any(|spec| spec.direction == Direction::LowerIsBetter),
            earlier: Arc::new(earlier(baseline?, metric)),
        };
        Some((figure, Bound::AtLeast(-by)))
    };
    let gate = |Gate { text, condition }: &Gate| {
        let found = match &condition {
            Condition::Score(metric, end, bound) => {
                let metric = (*metric).to_owned();
                Some((Figure::Score { metric, end: *end }, *bound))
            }
            Condition::Failed(bound) => Some((Figure::Failed, Bound::AtMost(*bound))),
            Condition::NoWorse(metric, by) => gain(metric, *by),
            Condition::Better(metric) => gain(metric, 0.0),
            _ => {
                return Err(format!(
                    "gate `{text}`: `early` can decide only limits on metrics or `failed`, `no_worse` and `better`; remove this gate, or `early`"
                ));
            }
        };
        let text = (*text).to_owned();
        Ok(found.map(|(figure, bound)| EarlyGate {
            text,
            figure,
            bound,
        }))
    };
    let gates = gates.iter().map(gate).collect::<Result<Vec<_>, _>>()?;
    let gates: Option<Vec<_>> = gates.into_iter().collect();
    Ok(gates.map(|gates| EarlyOptions { gates, alpha }))
}

/// Returns the value that each row contributes to a metric's mean, by id.
fn earlier(baseline: &Baseline, metric: &str) -> HashMap<String, f64> {
    let results = &baseline.results;
    let value = |row: &ResultRow| Some((row.id.clone(), counted(results, row, metric)?));
    results.rows().iter().filter_map(value).collect()
}
