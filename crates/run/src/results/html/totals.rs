//! Sums over all rows of a run: parts of metrics, costs, missing fields.

use std::hash::Hash;

use indexmap::{Equivalent, IndexMap};

use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};
use crate::results::run::entry;
use crate::results::selected::Score;

/// The sums over the rows of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Totals {
    pub(super) metrics: IndexMap<String, MetricTotals>,
    /// By metric, and by the path of each component.
    pub(super) evaluations: IndexMap<String, Evaluations>,
}

/// The sums of a metric.
#[derive(Debug, Clone, Default)]
pub(super) struct MetricTotals {
    /// Rows that lack a field that the metric reads.
    pub(super) missing: u64,
    pub(super) judged_offline: u64,
    /// The parts by first occurrence, named scores first in each row.
    pub(super) parts: IndexMap<Part<String>, Vec<PartScore>>,
}

/// A named score or a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Part<S> {
    pub(super) name: S,
    pub(super) is_component: bool,
}

impl Equivalent<Part<String>> for Part<&str> {
    fn equivalent(&self, key: &Part<String>) -> bool {
        self.name == key.name && self.is_component == key.is_component
    }
}

/// The result of a part in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartScore {
    pub(super) row: usize,
    pub(super) score: Score,
}

/// The evaluations of a metric or component.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evaluations {
    pub(super) evaluated: u64,
    pub(super) cost_msats: u64,
    pub(super) gated: u64,
}

impl Totals {
    /// Adds the row at a place.
    pub(super) fn add(&mut self, place: usize, row: &ResultRow) {
        for (position, (name, score)) in row.scores.iter().enumerate() {
            entry(&mut self.metrics, position, name).add(place, score);
            self.add_evaluation(position, name, score);
        }
    }

    fn add_evaluation(&mut self, position: usize, name: &str, score: &ResultScore) {
        entry(&mut self.evaluations, position, name).add(score);
        for (component, score) in &score.components {
            let place = self.evaluations.len();
            self.add_evaluation(place, &format!("{name}.{component}"), score);
        }
    }

    /// Adds the rows of a block; `first` is the place of its first row.
    pub(super) fn append(&mut self, first: usize, block: Self) {
        for (name, more) in block.metrics {
            self.metrics.entry(name).or_default().append(first, more);
        }
        for (name, more) in block.evaluations {
            let it = self.evaluations.entry(name).or_default();
            it.evaluated += more.evaluated;
            it.cost_msats = it.cost_msats.saturating_add(more.cost_msats);
            it.gated += more.gated;
        }
    }
}

impl MetricTotals {
    fn add(&mut self, row: usize, score: &ResultScore) {
        self.missing += u64::from(!score.missing.is_empty());
        self.judged_offline += u64::from(score.is_judged_offline);
        for (name, value) in &score.parts {
            self.add_part(
                name,
                false,
                PartScore {
                    row,
                    score: Score::of_part(*value),
                },
            );
        }
        for (name, component) in &score.components {
            self.add_part(
                name,
                true,
                PartScore {
                    row,
                    score: component.into(),
                },
            );
        }
    }

    fn add_part(&mut self, name: &str, is_component: bool, score: PartScore) {
        match self.parts.get_mut(&Part { name, is_component }) {
            Some(scores) => scores.push(score),
            None => {
                let part = Part {
                    name: name.to_owned(),
                    is_component,
                };
                self.parts.insert(part, vec![score]);
            }
        }
    }

    fn append(&mut self, first: usize, more: Self) {
        self.missing += more.missing;
        self.judged_offline += more.judged_offline;
        for (part, scores) in more.parts {
            let scores = scores.into_iter().map(|it| PartScore {
                row: first + it.row,
                score: it.score,
            });
            self.parts.entry(part).or_default().extend(scores);
        }
    }
}

impl Evaluations {
    fn add(&mut self, score: &ResultScore) {
        self.cost_msats = self.cost_msats.saturating_add(score.cost_msats);
        match score.outcome {
            ResultOutcome::Scored | ResultOutcome::Counted | ResultOutcome::MetricFailed => {
                self.evaluated += 1;
            }
            ResultOutcome::Gated => self.gated += 1,
            _ => {}
        }
    }
}
