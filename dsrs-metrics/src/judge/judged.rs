//! The aggregated judgement of a row, and its conversion to a metric's score.

use std::fmt;
use std::marker::PhantomData;

use serde_json::{Map, Value};

use super::error::JudgeError;
use super::model_call::Cost;
use crate::core::error::{MetricError, MetricErrorKind, Result};
use crate::core::return_types::{Decided, MetricReturn, Undecided};
use crate::core::score::{MetricScore, Scored};
use crate::core::spec::{MetricSpec, ScoreKind};

/// The aggregated judgement of a row; `Kind` is `bool` or `f64`.
pub struct Judged<Kind> {
    result: Result<Judgement, JudgeError>,
    cost: Cost,
    kind: PhantomData<Kind>,
}

impl<Kind> fmt::Debug for Judged<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judged").field("result", &self.result).finish_non_exhaustive()
    }
}

impl<K> Judged<K> {
    pub(super) fn new(result: Result<Judgement, JudgeError>, cost: Cost) -> Self {
        Self { result, cost, kind: PhantomData }
    }

    /// Combines the scores of two judges; fails if either fails. The confidence is the smaller of the two.
    pub(super) fn with(
        self,
        other: Self,
        names: [&str; 2],
        combine: impl FnOnce(f64, f64) -> f64,
    ) -> Self {
        let mut cost = self.cost;
        cost.add(other.cost);
        let both = self.result.and_then(|first| Ok((first, other.result?)));
        let result = both.map(|(first, second)| {
            let line = |name: &str, judgement: &Judgement| {
                let details = judgement.details.as_deref().unwrap_or_default();
                format!("{name} {}: {details}", judgement.value)
            };
            let details = names.iter().zip([&first, &second]).map(|(name, part)| line(name, part));
            let details = Some(details.collect::<Vec<_>>().join("\n"));
            let mut metadata = Map::new();
            if let Some(label) = first.metadata.get("judge") {
                metadata.insert("judge".to_owned(), label.clone());
            }
            let (value, confidence) =
                (combine(first.value, second.value), first.confidence.min(second.confidence));
            for (name, part) in names.into_iter().zip([first, second]) {
                metadata.insert(name.to_owned(), Value::Object(part.metadata));
            }
            Judgement { value, confidence, details, feedback: None, metadata }
        });
        Self::new(result, cost)
    }
}

/// A score with its explanation.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) value: f64,
    pub(super) confidence: f64,
    pub(super) details: Option<String>,
    pub(super) feedback: Option<String>,
    pub(super) metadata: Map<String, Value>,
}

/// The kind of a judge's score.
pub trait Kind {
    /// Whether the score is a bool or a number.
    const KIND: ScoreKind;
    /// Whether the score itself is a verdict.
    type Verdict;
}

impl Kind for bool {
    const KIND: ScoreKind = ScoreKind::Bool;
    type Verdict = Decided;
}

impl Kind for f64 {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;
}

#[diagnostic::do_not_recommend]
impl<K: Kind> MetricReturn for Judged<K> {
    const KIND: ScoreKind = K::KIND;
    type Verdict = K::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        let cost = if self.cost.is_unpriced {
            self.cost.msats.max(spec.cost_msats)
        } else {
            self.cost.msats
        };
        let failed = |error: JudgeError| {
            let error = match error.budget_msats() {
                Some(budget_msats) => {
                    MetricError::new(spec.name, MetricErrorKind::OverBudget { budget_msats })
                }
                None => MetricError::caused_by(spec.name, error),
            };
            error.with_cost_msats(cost)
        };
        let judgement = self.result.map_err(failed)?;
        let Judgement { value, confidence, details, feedback, metadata } = judgement;
        let score = MetricScore { value, confidence, details, cost_msats: cost };
        Scored::of_judgement(score, feedback, metadata, spec)
    }
}
