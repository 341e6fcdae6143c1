//! One row of a result: the row, its prediction and the outcomes.

use std::sync::Arc;

use super::budget::Spending;
use super::repeats::{Repeat, RepeatPred};
use crate::contract::{Example, Fields, Origin, Outcome, Pair, Prediction, ProgramRun};
use crate::evaluate::input::{Input, ListedRow, RowDetails};

/// One row of an [`EvaluationResult`](crate::EvaluationResult).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RowResult<G = Example, P = Prediction> {
    /// The row's id from its source. If the row has none, this is its position, counted from 1 in a file and from 0 in
    /// memory.
    pub id: String,
    /// `true` if the row has no id of its own and `id` is its position.
    pub is_positional: bool,
    /// The labelled example.
    pub gold: Arc<G>,
    /// The prediction; `None` if the program failed. With repeats, this is the first prediction that the program
    /// returned.
    pub pred: Option<P>,
    /// The trace, usage and latency of the program; `None` if the program failed, or if the row came with a prediction
    /// but without these values.
    pub run: Option<Box<ProgramRun>>,
    /// The outcome of each metric, in the order of the metrics. With [repeats](crate::EvaluateBuilder::repeats), each
    /// score is the mean over the repeats.
    pub outcomes: Vec<Outcome>,
    /// The repeats of the row; empty if the row was evaluated only once.
    pub repeats: Vec<Repeat<P>>,
    /// All other fields of the row.
    pub attributes: Fields,
    /// The file and line of the row, if it comes from a file.
    pub origin: Option<Origin>,
    /// The backtraces of panics, if [`provide_traceback`](crate::FailureSettings::provide_traceback) is set.
    pub traceback: Option<String>,
    /// The rollouts and what they cost, in a run with a gate.
    pub(crate) gated: Option<Box<Gated>>,
}

/// What a row evaluated under a gate cost, and which of its rollouts were interrupted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gated {
    pub(crate) spending: Spending,
    pub(crate) interrupted: Vec<bool>,
}

/// The outcomes of each rollout of a row, by metric, and the cost of its calls.
pub(crate) struct ScoredRollouts {
    pub(crate) outcomes: Vec<Vec<Outcome>>,
    /// For each rollout, `true` if its program panicked or was stopped.
    pub(crate) interrupted: Vec<bool>,
    pub(crate) spending: Spending,
    pub(crate) traceback: Option<String>,
}

impl<G, P> RowResult<G, P> {
    /// Creates a row before it is evaluated.
    pub(crate) fn begin(index: u64, input: Input<G, P>) -> Self {
        let mut given_run = None;
        let (id, is_positional, gold, pred, attributes, origin) = match input {
            Input::Predicted(pair) => {
                let Pair {
                    id,
                    is_positional,
                    gold,
                    pred,
                    attributes,
                    origin,
                    run,
                } = *pair;
                given_run = run;
                (
                    id,
                    is_positional,
                    Arc::new(gold),
                    Some(pred),
                    attributes,
                    origin,
                )
            }
            Input::ToPredict(ListedRow {
                gold,
                details: Some(details),
            })
            | Input::Rollouts(
                ListedRow {
                    gold,
                    details: Some(details),
                },
                _,
            ) => {
                let RowDetails {
                    id,
                    is_positional,
                    attributes,
                    origin,
                } = *details;
                (id, is_positional, gold, None, attributes, origin)
            }
            Input::ToPredict(ListedRow {
                gold,
                details: None,
            })
            | Input::Rollouts(ListedRow { gold, .. }, _) => {
                (index.to_string(), true, gold, None, Fields::default(), None)
            }
        };
        let row = Self::of_parts(id, gold, attributes);
        Self {
            is_positional,
            pred,
            run: given_run,
            origin,
            ..row
        }
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
        pred: Option<P>,
        run: Option<Box<ProgramRun>>,
        outcomes: Vec<Outcome>,
    ) {
        let pred = match pred {
            None => RepeatPred::None,
            Some(other) if self.pred.is_some() => RepeatPred::Own(other),
            first => {
                self.pred = first;
                RepeatPred::OfRow
            }
        };
        self.repeats.push(Repeat {
            pred,
            run,
            outcomes,
        });
    }

    /// Returns the outcomes of each rollout of a row that was evaluated under a gate.
    pub(crate) fn into_rollouts(self) -> Option<ScoredRollouts> {
        let Gated {
            spending,
            interrupted,
        } = *self.gated?;
        let outcomes = match interrupted.len() {
            1 => vec![self.outcomes],
            _ => self
                .repeats
                .into_iter()
                .map(|repeat| repeat.outcomes)
                .collect(),
        };
        Some(ScoredRollouts {
            outcomes,
            interrupted,
            spending,
            traceback: self.traceback,
        })
    }

    /// Returns the score of the first metric, if there is one.
    pub fn score(&self) -> Option<f64> {
        self.outcomes.first()?.value()
    }

    /// Returns `true` if the program or any metric failed, in any repeat.
    pub fn is_failure(&self) -> bool {
        self.all_outcomes().any(Outcome::is_failure)
    }

    /// Returns the outcomes of the row, then the outcomes of its repeats.
    pub(crate) fn all_outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes
            .iter()
            .chain(self.repeats.iter().flat_map(|repeat| &repeat.outcomes))
    }

    /// Returns the prediction of a repeat, or `None` if the program failed in that repeat or the row has fewer repeats.
    pub fn pred_of_repeat(&self, number: usize) -> Option<&P> {
        match &self.repeats.get(number)?.pred {
            RepeatPred::OfRow => self.pred.as_ref(),
            RepeatPred::Own(pred) => Some(pred),
            RepeatPred::None => None,
        }
    }
}
