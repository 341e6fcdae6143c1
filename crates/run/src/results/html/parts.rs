//! The named scores and the components of each metric.

use indexmap::IndexSet;

use super::chart::{Range, scored_values};
use super::entry::{Entry, EntryFigures};
use super::run::ReportRun;
use super::source::Source;
use super::totals::{Part, PartScore};
use crate::core::spec::ScoreKind;
use crate::results::figures::{Bounds, Figures, counted};

/// The largest number of parts of one metric that are shown; those that occur first are.
const MAX_PARTS: usize = 100;

/// Returns the parts of a metric.
pub(super) fn entries(metric: &str, source: &Source<'_, '_>) -> Vec<Entry> {
    let parts = parts(metric, source);
    parts
        .iter()
        .take(MAX_PARTS)
        .map(|part| part.entry(metric, source))
        .collect()
}

/// Returns the note that parts of a metric are not shown.
pub(super) fn note(kinds: &[(&str, ScoreKind)], source: &Source<'_, '_>) -> Option<String> {
    let has_more = kinds
        .iter()
        .any(|(metric, _)| parts(metric, source).len() > MAX_PARTS);
    has_more.then(|| format!("Of each metric the first {MAX_PARTS} parts are shown."))
}

/// The parts of a metric by first occurrence.
fn parts<'s>(metric: &str, source: &'s Source<'_, '_>) -> IndexSet<&'s Part<String>> {
    let metrics = source
        .runs
        .iter()
        .filter_map(|run| run.totals.metrics.get(metric));
    metrics.flat_map(|metric| metric.parts.keys()).collect()
}

impl Part<String> {
    fn entry(&self, metric: &str, source: &Source<'_, '_>) -> Entry {
        let has_groups = source.groups.is_some();
        let values = |run: &&ReportRun<'_>| {
            let failure_score = run.scores.run.failure_score;
            let value = |it: &PartScore| Some((counted(&it.score, failure_score)?, it.row));
            let values = self.scores(metric, run).iter().filter_map(value);
            values
                .map(|(value, row)| (value, run.scores.group_number(row)))
                .collect::<Vec<_>>()
        };
        let of_runs: Vec<_> = source.runs.iter().map(values).collect();
        let kind = match self.is_bool(metric, source) {
            true => ScoreKind::Bool,
            false => ScoreKind::Number,
        };
        let range = Range::of(of_runs.iter().flatten().map(|(value, _)| *value));
        let view = |(run, values): (usize, Vec<_>)| {
            let rows = values.len() as u64;
            // A named score has the range of its metric.
            let bounds = match self.is_component {
                true => Bounds::UNKNOWN,
                false => Bounds::of(&source.runs[run].scores, metric),
            };
            let figures = Figures::of(kind, values, has_groups, bounds);
            EntryFigures::new(run, rows, &figures, &range, None)
        };
        let runs = of_runs.into_iter().enumerate().map(view).collect();
        Entry {
            name: self.name.clone(),
            runs,
            change: None,
        }
    }

    /// Whether the part is pass or fail in all rows. A named score has no verdict: it is pass or fail if it is 0 or 1, and
    /// the metric, which has the same range, is in [0, 1].
    fn is_bool(&self, metric: &str, source: &Source<'_, '_>) -> bool {
        let scores = source.runs.iter().flat_map(|run| self.scores(metric, run));
        let mut scores = scores.filter_map(|it| Some((it.score.value()?, it.score.passed)));
        if self.is_component {
            return scores.all(|(value, passed)| {
                passed.is_some_and(|passed| value == f64::from(u8::from(passed)))
            });
        }
        let values = source
            .runs
            .iter()
            .flat_map(|run| scored_values(run, metric));
        let is_unit = values.into_iter().all(|it| (0.0..=1.0).contains(&it));
        is_unit && scores.all(|(value, _)| value == 0.0 || value == 1.0)
    }

    /// The results of the part in a run.
    fn scores<'s>(&self, metric: &str, run: &'s ReportRun<'_>) -> &'s [PartScore] {
        let scores = run
            .totals
            .metrics
            .get(metric)
            .and_then(|metric| metric.parts.get(self));
        scores.map(Vec::as_slice).unwrap_or_default()
    }
}
