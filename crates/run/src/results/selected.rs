//! [`Selected`]: a metric or a part of a metric, and its results by row.

use super::run::CORPUS;
use super::run_scores::RunScores;
use crate::contract::ScoreKind;
use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};

/// A run's result for one row and one metric.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Score {
    /// `None` if the row does not have the metric.
    pub(super) outcome: Option<ResultOutcome>,
    /// 0 without a score.
    pub(super) value: f64,
    pub(super) passed: Option<bool>,
}

impl From<&ResultScore> for Score {
    fn from(score: &ResultScore) -> Self {
        let (value, passed) = (score.value.unwrap_or_default(), score.passed);
        Self {
            outcome: Some(score.outcome),
            value,
            passed,
        }
    }
}

impl Score {
    pub(super) fn of_part(value: f64) -> Self {
        Self {
            outcome: Some(ResultOutcome::Scored),
            value,
            passed: None,
        }
    }

    pub(super) fn value(&self) -> Option<f64> {
        (self.outcome == Some(ResultOutcome::Scored)).then_some(self.value)
    }

    /// Returns the value in the mean: the failure score if the row failed, `None` if it has no score for another
    /// reason.
    pub(super) fn counted(&self, failure_score: f64) -> Option<f64> {
        match self.is_failure() {
            true => Some(failure_score),
            false => self.value(),
        }
    }

    /// Returns `true` if the value is the verdict as a number.
    pub(super) fn is_verdict(&self) -> bool {
        self.passed
            .is_some_and(|passed| self.value == f64::from(u8::from(passed)))
    }

    /// Returns `true` if the metric or the program failed. Such a row counts as the failure score.
    pub(super) fn is_failure(&self) -> bool {
        self.outcome.is_some_and(ResultOutcome::is_failure)
    }

    /// Returns `true` if the row is outside of the metric's sample.
    pub(super) fn is_not_sampled(&self) -> bool {
        self.outcome == Some(ResultOutcome::NotSampled)
    }

    /// Returns the name of the outcome.
    pub(super) fn name(&self) -> &'static str {
        self.outcome.map_or("absent", ResultOutcome::name)
    }
}

/// A metric or, after a dot, one of its named scores or components.
#[derive(Clone, Copy)]
pub(super) struct Selected<'a> {
    pub(super) name: &'a str,
    metric: &'a str,
    part: Option<&'a str>,
}

impl<'a> Selected<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        match name.split_once('.') {
            Some((metric, part)) => Self {
                name,
                metric,
                part: Some(part),
            },
            None => Self {
                name,
                metric: name,
                part: None,
            },
        }
    }

    /// Returns the metric, without the part.
    pub(super) fn metric(&self) -> &'a str {
        self.metric
    }

    /// Returns `true` if a row has this named score or component.
    pub(super) fn has_part(&self, row: &ResultRow) -> bool {
        let (Some(part), Some(score)) = (self.part, row.scores.get(self.metric)) else {
            return false;
        };
        score.parts.contains_key(part) || score.components.contains_key(part)
    }

    pub(super) fn score(&self, row: &ResultRow) -> Score {
        let Some(score) = row.scores.get(self.metric) else {
            return Score::default();
        };
        let (Some(part), Some(_)) = (self.part, score.value) else {
            return score.into();
        };
        match (score.parts.get(part), score.components.get(part)) {
            (Some(value), _) => Score::of_part(*value),
            (None, Some(component)) => component.into(),
            (None, None) => Score::default(),
        }
    }

    /// Returns `true` if this is a score of all rows: of a metric that does not score single rows, or `NAME.corpus`.
    pub(super) fn is_corpus(&self, a: &RunScores, b: &RunScores) -> bool {
        [a, b].iter().any(|RunScores { run, .. }| {
            let known = run.known(self.metric);
            match self.part {
                None => known.is_counted,
                Some(CORPUS) => known.has_corpus && !known.has_corpus_part,
                Some(_) => false,
            }
        })
    }

    /// Returns `true` if the run has the metric. A run without scored rows has no parts.
    pub(super) fn is_in(&self, scores: &RunScores) -> bool {
        let run = &scores.run;
        run.metrics().any(|metric| metric == self.metric)
            && self.part.is_none_or(|part| {
                part == CORPUS && run.known(self.metric).has_corpus
                    || scores.has_part(self.name)
                    || run.kind(self.metric).is_none()
            })
    }

    /// Returns the kind of the scores: pass or fail, or shares of repeats that pass; `None` if no row is scored.
    pub(super) fn kind(&self, scores: &RunScores) -> Option<ScoreKind> {
        if self.part.is_none() {
            let known = scores.run.known(self.metric);
            return match known.has_shares() {
                true => Some(ScoreKind::Bool),
                false => known.kind,
            };
        }
        let column = scores.column(self.name);
        let mut scored = column.filter(|score| score.value().is_some()).peekable();
        scored.peek()?;
        Some(match scored.all(|score| score.is_verdict()) {
            true => ScoreKind::Bool,
            false => ScoreKind::Number,
        })
    }
}
