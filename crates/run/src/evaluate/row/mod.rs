//! The evaluation of one row.
//!
//! [`Plan`] has the metrics of a run and the settings of a row; each step has its own file with methods on [`Plan`].
//! `rollouts.rs` evaluates the rollouts of a row; most rows have one. It runs the program, then the metrics
//! (`row_scores.rs`), within the limits in `plan.rs`. `gate.rs` decides which metrics of the second tier are called.
//! `kept.rs` has what a run keeps in its store. The result is a [`RowResult`], which reduces the outcomes of several
//! rollouts to one.

mod gate;
#[cfg_attr(
    not(feature = "store"),
    allow(dead_code, unused_imports, reason = "no run has a store")
)]
mod kept;
mod metric_entry;
mod plan;
mod rollouts;
mod row_scores;

pub(crate) use self::gate::Gate;
pub use self::gate::{BudgetReport, Spending};
pub use self::kept::StoreUse;
pub(super) use self::kept::{RunStore, StoreOptions};
pub use self::metric_entry::Sample;
pub(crate) use self::metric_entry::requirements;
pub(super) use self::metric_entry::{MetricEntry, checked_requirements};
pub(super) use self::plan::{Plan, RowOptions};
pub(super) use self::rollouts::Predicted;
pub use self::rollouts::RolloutNumber;

use std::sync::Arc;

use crate::contract::{
    Example, Fields, MetricScore, Origin, Outcome, Part, Prediction, ProgramRun, Scored,
};
use crate::evaluate::input::{Given, Input};
use crate::stats::Moments;

/// One row of an [`EvaluationResult`](crate::EvaluationResult).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RowResult<G = Example, P = Prediction> {
    /// The row's id from its source.
    ///
    /// If the row has no id, this is its position, counted from 1 in a file and from 0 in memory.
    pub id: String,
    /// `true` if the row is identified by its position.
    ///
    /// In that case, the data has no id for the row.
    pub is_positional: bool,
    /// The labelled example.
    pub gold: Arc<G>,
    /// The program's prediction for the row.
    ///
    /// This is `None` if the program failed. With repeats, this is the first prediction that the program returned.
    pub pred: Option<P>,
    /// The trace, usage and latency of the program.
    ///
    /// This is `None` if the program failed, or if the row came with a prediction but without these values.
    pub run: Option<Box<ProgramRun>>,
    /// The outcome of each metric, in the order of the metrics.
    ///
    /// With [repeats](crate::EvaluateBuilder::repeats), each score is the mean over the repeats.
    pub outcomes: Vec<Outcome>,
    /// The repeats of the row.
    ///
    /// This is empty if the row was evaluated only once.
    pub repeats: Vec<Repeat<P>>,
    /// Additional fields of the row.
    pub attributes: Fields,
    /// The file and line of the row, if it comes from a file.
    pub origin: Option<Origin>,
    /// The backtraces of panics, if [`provide_traceback`](crate::FailureSettings::provide_traceback) is set.
    pub traceback: Option<String>,
    /// The rollouts and what they cost, in a run with a gate.
    pub(crate) gated: Option<Box<RowOutcomes>>,
}

/// The outcomes of one rollout by metric, and the backtraces of panics.
pub(crate) type RolloutOutcomes = (Vec<Outcome>, Option<String>);

/// The outcomes of the rollouts of a row, and the cost of their calls.
pub(crate) type RowOutcomes = (Vec<RolloutOutcomes>, Spending);

impl<G, P> RowResult<G, P> {
    /// Creates a row before it is evaluated, and returns the predictions of its rollouts if they are given.
    pub(crate) fn begin(input: Input<G, P>) -> (Self, Option<Vec<P>>) {
        let (pred, rollouts) = match input.pred {
            Given::Nothing => (None, None),
            Given::Prediction(pred) => (Some(pred), None),
            Given::Rollouts(preds) => (None, Some(preds)),
        };
        let row = Self {
            is_positional: input.is_positional,
            pred,
            run: input.run,
            origin: input.origin,
            ..Self::of_parts(input.id, input.gold, input.attributes)
        };
        (row, rollouts)
    }

    /// Creates a row without evaluations.
    pub(crate) fn of_parts(id: String, gold: Arc<G>, attributes: Fields) -> Self {
        Self {
            id,
            is_positional: false,
            gold,
            pred: None,
            run: None,
            outcomes: Vec::new(),
            repeats: Vec::new(),
            attributes,
            origin: None,
            traceback: None,
            gated: None,
        }
    }

    /// Adds one of several evaluations of the row. The first prediction becomes the row's prediction.
    pub(crate) fn push_repeat(
        &mut self,
        mut pred: Option<P>,
        run: Option<Box<ProgramRun>>,
        outcomes: Vec<Outcome>,
    ) {
        let has_pred_of_row = self.pred.is_none() && pred.is_some();
        if has_pred_of_row {
            self.pred = pred.take();
        }
        self.repeats.push(Repeat {
            has_pred_of_row,
            pred,
            run,
            outcomes,
        });
    }

    /// Returns the score of the first metric, if there is one.
    pub fn score(&self) -> Option<f64> {
        self.outcomes.first()?.value()
    }

    /// Returns `true` if the program or any metric failed in any repeat.
    pub fn is_failure(&self) -> bool {
        self.all_outcomes().any(Outcome::is_failure)
    }

    /// Returns the outcomes of the row, then the outcomes of its repeats.
    pub(crate) fn all_outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes
            .iter()
            .chain(self.repeats.iter().flat_map(|repeat| &repeat.outcomes))
    }

    /// Returns the prediction of a repeat.
    ///
    /// Returns `None` if the program failed in that repeat or the row has fewer repeats.
    pub fn pred_of_repeat(&self, number: usize) -> Option<&P> {
        let repeat = self.repeats.get(number)?;
        match repeat.has_pred_of_row {
            true => self.pred.as_ref(),
            false => repeat.pred.as_ref(),
        }
    }
}

/// One of a row's repeated evaluations.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Repeat<P> {
    /// `true` if the repeat evaluated the prediction of the row.
    pub(crate) has_pred_of_row: bool,
    /// The repeat's own prediction, or `None` if the program failed.
    pub(crate) pred: Option<P>,
    /// The trace, usage and latency of the program.
    ///
    /// This is `None` if the row came with a prediction or the program failed.
    pub run: Option<Box<ProgramRun>>,
    /// The outcome of each metric, in the order of the metrics.
    pub outcomes: Vec<Outcome>,
}

/// Returns each metric's outcome over a row's repeats.
pub(crate) fn reduced<P>(
    repeats: &[Repeat<P>],
    metrics: usize,
    failure_score: f64,
) -> Vec<Outcome> {
    let of_metric = |metric: usize| {
        let outcomes = repeats.iter().map(|repeat| &repeat.outcomes[metric]);
        reduce(&Vec::from_iter(outcomes), failure_score)
    };
    (0..metrics).map(of_metric).collect()
}

/// Returns a row's outcome over its repeats: the mean, with each failed repeat as the failure score. Without a score,
/// returns the first failure; without a failure, the first outcome.
fn reduce(outcomes: &[&Outcome], failure_score: f64) -> Outcome {
    let scored = outcomes.iter().filter_map(|outcome| outcome.scored());
    let scored: Vec<&Scored> = scored.collect();
    let Some(first) = scored.first() else {
        let failure = outcomes.iter().find(|outcome| outcome.is_failure());
        return failure
            .or(outcomes.first())
            .map_or(Outcome::Abstained, |it| (*it).clone());
    };
    let values = outcomes.iter().filter_map(|it| counted(it, failure_score));
    let values: Moments = values.collect();
    let confidences = scored.iter().map(|scored| scored.score.confidence);
    let confidences: Moments = confidences.collect();
    let costs = outcomes.iter().map(|outcome| outcome.cost_msats());
    let score = MetricScore {
        value: values.mean().unwrap_or(first.score.value),
        confidence: confidences.mean().unwrap_or(1.0).clamp(0.0, 1.0),
        details: None,
        cost_msats: costs.fold(0, u64::saturating_add),
    };
    Outcome::Scored(Scored::over_repeats(score, &scored, parts(&scored)))
}

/// Returns the value that a row contributes to the mean. This is the failure score if the row failed, and `None` if the
/// row has no score for another reason.
pub(crate) fn counted(outcome: &Outcome, failure_score: f64) -> Option<f64> {
    outcome
        .value()
        .or(outcome.is_failure().then_some(failure_score))
}

/// Returns the mean of each named score over the repeats that have it.
fn parts(scored: &[&Scored]) -> Vec<Part> {
    let mut parts: Vec<(String, Moments)> = Vec::new();
    for part in scored.iter().flat_map(|scored| scored.parts()) {
        match parts.iter_mut().find(|(name, _)| *name == part.name) {
            Some((_, values)) => values.record(part.value),
            None => parts.push((part.name.clone(), [part.value].into_iter().collect())),
        }
    }
    let mean = |(name, values): (String, Moments)| {
        Some(Part {
            name,
            value: values.mean()?,
            feedback: None,
        })
    };
    parts.into_iter().filter_map(mean).collect()
}
