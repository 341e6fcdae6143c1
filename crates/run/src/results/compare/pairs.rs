//! Rows that both runs have, matched by id, and their scores.

use std::collections::BTreeMap;

use super::error::CompareError;
use crate::core::spec::ScoreKind;
use crate::results::file::Results;
use crate::results::{ResultRow, ResultScore};

/// The two rows of an id.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) a: &'a ResultRow,
    pub(super) b: &'a ResultRow,
}

/// The rows of two runs.
pub(super) struct Pairs<'a> {
    /// In the order of the first run.
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) only_in_a: Vec<String>,
    pub(super) only_in_b: Vec<String>,
}

impl<'a> Pairs<'a> {
    pub(super) fn of(
        a: &'a Results,
        b: &'a Results,
        only_paired: bool,
    ) -> Result<Self, CompareError> {
        let pair = |row: &'a ResultRow| Some(Pair { a: row, b: b.row(&row.id)? });
        let pairs: Vec<Pair<'_>> = a.rows().iter().filter_map(pair).collect();
        let only = |of: &Results, other: &Results| {
            let rows = of.rows().iter().filter(|row| other.row(&row.id).is_none());
            rows.map(|row| row.id.clone()).collect::<Vec<_>>()
        };
        let (only_in_a, only_in_b) = (only(a, b), only(b, a));
        let (name_a, name_b) = (a.name().to_owned(), b.name().to_owned());
        if pairs.is_empty() {
            let id = |ids: Vec<String>| ids.into_iter().next().unwrap_or_default();
            let (of_a, of_b) = (id(only_in_a), id(only_in_b));
            return Err(CompareError::NoCommonRows { a: name_a, b: name_b, of_a, of_b });
        }
        if !only_paired && (!only_in_a.is_empty() || !only_in_b.is_empty()) {
            let paired = pairs.len() as u64;
            let (a, b) = (name_a, name_b);
            return Err(CompareError::DifferentRows { a, b, paired, only_in_a, only_in_b });
        }
        check_gold(&pairs)?;
        Ok(Self { pairs, only_in_a, only_in_b })
    }
}

/// Rows of different data often have the same ids: their positions.
fn check_gold(pairs: &[Pair<'_>]) -> Result<(), CompareError> {
    let differs = |pair: &&Pair<'_>| match (&pair.a.gold, &pair.b.gold) {
        // The fields of a CSV file are strings, and the fields of a Parquet file have the types of their columns.
        (Some(a), Some(b)) => a != b && pair.a.is_flat == pair.b.is_flat,
        _ => false,
    };
    let different: Vec<_> = pairs.iter().filter(differs).collect();
    let Some(first) = different.first() else { return Ok(()) };
    let (a, b) = (first.a.at(), first.b.at());
    let ids = different.iter().map(|pair| pair.a.id.clone()).collect();
    Err(CompareError::DifferentGold { ids, a, b })
}

/// A run's result for one row and one metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Score {
    Value {
        value: f64,
        passed: Option<bool>,
    },
    /// Counts as the failure score.
    Failed,
    /// The name of the outcome.
    Without(&'static str),
}

/// The name, after the dot, of the score of all rows beside the scores of rows.
pub(super) const CORPUS: &str = "corpus";

/// The name of a row without the metric.
pub(super) const ABSENT: &str = "absent";

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
            Some((metric, part)) => Self { name, metric, part: Some(part) },
            None => Self { name, metric: name, part: None },
        }
    }

    /// The metric, without the part.
    pub(super) fn metric(&self) -> &'a str {
        self.metric
    }

    /// Whether this is a score of all rows: of a metric without scores of rows, or `NAME.corpus`.
    pub(super) fn is_corpus(&self, a: &Results, b: &Results) -> bool {
        [a, b].iter().any(|run| match self.part {
            None => run.is_counted(self.metric),
            Some(CORPUS) => run.has_corpus(self.metric) && !self.has_part(run),
            Some(_) => false,
        })
    }

    /// Whether the metric has this named score or component in any row.
    fn has_part(&self, results: &Results) -> bool {
        let Some(part) = self.part else { return false };
        let scores = results.rows().iter().filter_map(|row| row.scores.get(self.metric));
        let has_part = |score: &ResultScore| {
            score.parts.contains_key(part) || score.components.contains_key(part)
        };
        scores.into_iter().any(has_part)
    }

    pub(super) fn score(&self, row: &ResultRow) -> Score {
        let Some(score) = row.scores.get(self.metric) else {
            return Score::Without(ABSENT);
        };
        let (Some(part), Some(_)) = (self.part, score.value) else {
            return Score::of(score);
        };
        match (score.parts.get(part), score.components.get(part)) {
            (Some(value), _) => Score::Value { value: *value, passed: None },
            (None, Some(component)) => Score::of(component),
            (None, None) => Score::Without(ABSENT),
        }
    }

    /// Whether the run has the metric. A run in which no row is scored has no parts.
    pub(super) fn is_in(&self, results: &Results) -> bool {
        let scores = || results.rows().iter().filter_map(|row| row.scores.get(self.metric));
        results.metrics().any(|metric| metric == self.metric)
            && self.part.is_none_or(|part| {
                part == CORPUS && results.has_corpus(self.metric)
                    || self.has_part(results)
                    || scores().all(|score| score.value.is_none())
            })
    }

    /// Whether scores are pass or fail, or shares of repeats that pass; `None` if no row is scored.
    pub(super) fn kind(&self, results: &Results) -> Option<ScoreKind> {
        if self.part.is_none() {
            return match results.has_shares(self.metric) {
                true => Some(ScoreKind::Bool),
                false => results.kind(self.metric),
            };
        }
        let is_verdict = |row: &ResultRow| match self.score(row) {
            Score::Value { value, passed } => {
                Some(passed.is_some_and(|passed| value == f64::from(u8::from(passed))))
            }
            _ => None,
        };
        let all = results.rows().iter().filter_map(is_verdict).reduce(|a, b| a && b)?;
        Some(if all { ScoreKind::Bool } else { ScoreKind::Number })
    }
}

impl Score {
    fn of(score: &ResultScore) -> Self {
        match score.value {
            Some(value) => Self::Value { value, passed: score.passed },
            None if score.outcome.is_failure() => Self::Failed,
            None => Self::Without(score.outcome.name()),
        }
    }
}

/// A row that is compared.
pub(super) struct Compared<'a> {
    pub(super) id: &'a str,
    pub(super) a: f64,
    pub(super) b: f64,
    /// The position of the row's group.
    pub(super) group: Option<usize>,
    pub(super) is_scored_in_both: bool,
}

/// The rows that are not compared.
#[derive(Default)]
pub(super) struct NotCompared {
    pub(super) rows: u64,
    /// The numbers of rows by the outcome that is not a score, in each run.
    pub(super) outcomes: [BTreeMap<&'static str, u64>; 2],
}

impl NotCompared {
    /// Adds a row with its outcome in each run, `None` if it is a score.
    pub(super) fn add(&mut self, outcomes: [Option<&'static str>; 2]) {
        self.rows += 1;
        for (counts, outcome) in self.outcomes.iter_mut().zip(outcomes) {
            outcome.into_iter().for_each(|outcome| *counts.entry(outcome).or_default() += 1);
        }
    }
}

/// The rows by one metric.
#[derive(Default)]
pub(super) struct ComparedRows<'a> {
    pub(super) rows: Vec<Compared<'a>>,
    /// The number of compared rows that failed, in each run.
    pub(super) failed: [u64; 2],
    /// The rows for which a run has no score, and that did not fail.
    pub(super) not_compared: NotCompared,
    pub(super) has_verdict: [bool; 2],
}

impl<'a> ComparedRows<'a> {
    pub(super) fn of(
        metric: Selected<'_>,
        pairs: &[Pair<'a>],
        groups: Option<&[usize]>,
        failure_score: f64,
    ) -> Self {
        let mut compared = Self::default();
        for (position, pair) in pairs.iter().enumerate() {
            let scores = [metric.score(pair.a), metric.score(pair.b)];
            let values = scores.map(|score| match score {
                Score::Value { value, .. } => Some(value),
                Score::Failed => Some(failure_score),
                Score::Without(_) => None,
            });
            let [Some(a), Some(b)] = values else {
                compared.not_compared.add(scores.map(|score| match score {
                    Score::Without(outcome) => Some(outcome),
                    _ => None,
                }));
                continue;
            };
            for (side, score) in scores.iter().enumerate() {
                compared.failed[side] += u64::from(*score == Score::Failed);
                compared.has_verdict[side] |= matches!(score, Score::Value { passed: Some(_), .. });
            }
            compared.rows.push(Compared {
                id: &pair.a.id,
                a,
                b,
                group: groups.map(|groups| groups[position]),
                is_scored_in_both: !scores.contains(&Score::Failed),
            });
        }
        compared
    }

    /// Whether every score is 0 or 1.
    pub(super) fn are_verdicts(&self) -> bool {
        let is_verdict = |value: f64| value == 0.0 || value == 1.0;
        self.rows.iter().all(|row| is_verdict(row.a) && is_verdict(row.b))
    }
}
