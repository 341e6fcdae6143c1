//! The named scores and the components of each metric.

use indexmap::IndexSet;

use super::chart::{Range, scores_of};
use super::entry::{Entry, EntryFigures};
use super::figures::{Bounds, Figures, counted};
use super::source::Source;
use crate::core::spec::ScoreKind;
use crate::results::ResultScore;

/// The largest number of parts of one metric that are shown; those that occur first are.
const MAX_PARTS: usize = 100;

/// A named score or a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Part<'a> {
    name: &'a str,
    is_component: bool,
}

/// Returns the parts of a metric.
pub(super) fn entries(metric: &str, source: &Source<'_, '_>) -> Vec<Entry> {
    let parts = parts(metric, source);
    parts.iter().take(MAX_PARTS).map(|part| part.entry(metric, source)).collect()
}

/// Returns the note that parts of a metric are not shown.
pub(super) fn note(kinds: &[(&str, ScoreKind)], source: &Source<'_, '_>) -> Option<String> {
    let has_more = kinds.iter().any(|(metric, _)| parts(metric, source).len() > MAX_PARTS);
    has_more.then(|| format!("Of each metric the first {MAX_PARTS} parts are shown."))
}

/// The parts of a metric by first occurrence, named scores first in each row.
fn parts<'a>(metric: &str, source: &'a Source<'_, '_>) -> IndexSet<Part<'a>> {
    let rows = source.report.runs.iter().flat_map(|run| run.rows());
    let scores = rows.filter_map(|row| row.scores.get(metric));
    scores
        .flat_map(|score| {
            let parts = score.parts.keys().map(|name| Part { name, is_component: false });
            parts.chain(score.components.keys().map(|name| Part { name, is_component: true }))
        })
        .collect()
}

impl Part<'_> {
    fn entry(&self, metric: &str, source: &Source<'_, '_>) -> Entry {
        let runs = 0..source.report.runs.len();
        let of_runs: Vec<_> = runs.map(|run| self.values(metric, run, source)).collect();
        let values = || of_runs.iter().flatten().map(|(value, _)| *value);
        let kind = match self.is_bool(metric, source) {
            true => ScoreKind::Bool,
            false => ScoreKind::Number,
        };
        let range = Range::of(values());
        let view = |(run, values): (usize, Vec<_>)| {
            let rows = values.len() as u64;
            // A named score has the range of its metric.
            let bounds = match self.is_component {
                true => Bounds::Unknown,
                false => Bounds::of(source.report.runs[run], metric),
            };
            let figures = Figures::of(kind, values, source.groups.is_some(), bounds);
            EntryFigures::new(run, rows, &figures, &range, None)
        };
        let runs = of_runs.clone().into_iter().enumerate().map(view).collect();
        Entry { name: self.name.to_owned(), runs, change: None }
    }

    /// Whether the part is pass or fail in all rows. A named score has no verdict: it is pass or fail if it is 0 or 1, and
    /// the metric, which has the same range, is in [0, 1].
    fn is_bool(&self, metric: &str, source: &Source<'_, '_>) -> bool {
        let scores = || source.report.runs.iter().flat_map(|run| scores_of(run, metric));
        if self.is_component {
            let components = scores().filter_map(|score| score.components.get(self.name));
            return components.filter(|score| score.value.is_some()).all(ResultScore::is_verdict);
        }
        let is_unit = scores().filter_map(|it| it.value).all(|it| (0.0..=1.0).contains(&it));
        let mut values = scores().filter_map(|score| score.parts.get(self.name));
        is_unit && values.all(|value| *value == 0.0 || *value == 1.0)
    }

    /// The values of the part in a run, each with the group of its row.
    fn values<'s>(
        &self,
        metric: &str,
        run: usize,
        source: &'s Source<'_, '_>,
    ) -> Vec<(f64, Option<&'s str>)> {
        let results = source.report.runs[run];
        let value = |score: &ResultScore| match self.is_component {
            true => counted(score.components.get(self.name)?, results.failure_score()),
            false => score.parts.get(self.name).copied(),
        };
        let rows = results.rows().iter().enumerate();
        let rows = rows.filter_map(|(place, row)| Some((place, value(row.scores.get(metric)?)?)));
        rows.map(|(place, value)| (value, source.group(run, place))).collect()
    }
}
