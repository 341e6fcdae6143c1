//! Computes the score of a row from the outcomes of its rollouts.

use std::collections::BTreeSet;

use super::aggregate::AggregationMethod;
use super::error::ScorerError;
use super::gate::Tiers;
use super::row::{FinalScore, Rollout, RowScore, RowStatus};
use crate::composite::{IsMissing, OnMissing};
use crate::contract::Outcome;
use crate::evaluate::Spending;

impl RowScore {
    /// Converts the row into a [`FinalScore`], which holds the score as a number.
    ///
    /// # Errors
    /// Returns [`ScorerError::NoScore`], which contains the row, if a metric failed or if the budget did not cover the
    /// row.
    pub fn into_score(self) -> Result<FinalScore, ScorerError> {
        match self.status {
            RowStatus::Scored { score } => Ok(FinalScore {
                value: score,
                row: self,
            }),
            RowStatus::Gated { .. } => Ok(FinalScore {
                value: 0.0,
                row: self,
            }),
            RowStatus::Skipped { .. } | RowStatus::Failed { .. } => Err(ScorerError::NoScore {
                row: Box::new(self),
            }),
        }
    }
}

impl Tiers {
    /// Returns the rollout with these outcomes, proxies first. If its program was interrupted, the error is a sentence
    /// about the program.
    pub(super) fn rollout(&self, (outcomes, is_interrupted): (Vec<Outcome>, bool)) -> Rollout {
        if let Some(Outcome::ProgramFailed { error }) = outcomes.first() {
            let reason = match is_interrupted {
                true => error.to_string(),
                false => format!("the program failed: {error}"),
            };
            let status = RowStatus::Failed { reason };
            return Rollout {
                status,
                passed: false,
                proxy: None,
                outcomes,
            };
        }
        let (proxies, truth) = outcomes.split_at(self.proxies.min(outcomes.len()));
        let (status, passed, proxy) = match self.proxy_mean(proxies) {
            Ok(proxy) => (self.status(proxy, truth), true, proxy),
            Err(RowStatus::Gated { proxy, by }) => {
                (RowStatus::Gated { proxy, by }, false, Some(proxy))
            }
            Err(status) => (status, false, None),
        };
        Rollout {
            status,
            passed,
            proxy,
            outcomes,
        }
    }

    /// Returns the truth calls that were skipped because the proxies rejected the rollouts. A failed proxy saves
    /// nothing.
    pub(super) fn saved(&self, rollouts: &[Rollout]) -> Spending {
        let is_gated = |rollout: &&Rollout| matches!(rollout.status, RowStatus::Gated { .. });
        let gated = rollouts.iter().filter(is_gated).count() as u64;
        let declared = self.truth().iter().map(|entry| entry.declared_cost);
        let declared = declared.fold(0, u64::saturating_add);
        let truth_calls_gated = gated.saturating_mul(self.truth().len() as u64);
        let saved_msats = gated.saturating_mul(declared);
        Spending {
            truth_calls_gated,
            saved_msats,
            ..Spending::default()
        }
    }
}

/// Aggregates the statuses of all rollouts. A gated rollout counts as 0, so rejected rollouts never help a program.
pub(super) fn combine(
    rollouts: &[Rollout],
    method: AggregationMethod,
    on_missing: OnMissing,
) -> RowStatus {
    let statuses = || rollouts.iter().map(|rollout| &rollout.status);
    if let Some(skipped) = statuses().find(|it| matches!(it, RowStatus::Skipped { .. })) {
        return skipped.clone();
    }
    let counted = |status: &RowStatus| match status {
        RowStatus::Scored { score } => Ok(Some(*score)),
        RowStatus::Gated { .. } => Ok(Some(0.0)),
        RowStatus::Failed { .. } => on_missing.replacement(0.0),
        RowStatus::Skipped { .. } => Ok(None),
    };
    let scores = statuses().filter_map(|status| counted(status).transpose());
    let scores = scores
        .collect::<Result<Vec<f64>, IsMissing>>()
        .unwrap_or_default();
    match method.aggregate(&scores) {
        Ok(score) if statuses().any(|status| status.score().is_some()) => {
            RowStatus::Scored { score }
        }
        Ok(_) => gated(rollouts, method),
        Err(_) if rollouts.is_empty() => RowStatus::Failed {
            reason: "the row has no rollouts".to_owned(),
        },
        Err(_) => RowStatus::Failed {
            reason: failures(rollouts).join("; "),
        },
    }
}

/// Returns why rollouts have no score, with their numbers if there are several.
fn failures(rollouts: &[Rollout]) -> Vec<String> {
    let reason = |(number, rollout): (usize, &Rollout)| match &rollout.status {
        RowStatus::Failed { reason } if rollouts.len() == 1 => Some(reason.clone()),
        RowStatus::Failed { reason } => Some(format!(
            "rollout {} of {}: {reason}",
            number + 1,
            rollouts.len()
        )),
        _ => None,
    };
    rollouts.iter().enumerate().filter_map(reason).collect()
}

/// Returns the status of a row if none of its rollouts passed.
fn gated(rollouts: &[Rollout], method: AggregationMethod) -> RowStatus {
    let (mut proxies, mut names) = (Vec::new(), BTreeSet::new());
    for rollout in rollouts {
        if let RowStatus::Gated { proxy, by } = &rollout.status {
            proxies.push(*proxy);
            names.extend(by.split(", "));
        }
    }
    let proxy = method.aggregate(&proxies).unwrap_or(0.0);
    RowStatus::Gated {
        proxy,
        by: names.into_iter().collect::<Vec<_>>().join(", "),
    }
}
