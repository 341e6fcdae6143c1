//! The tables of a metric: its scores grouped by a field of the rows, and its named scores and components.

use std::cmp::Reverse;
use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use super::chart::{Range, scored_values};
use super::labels::{Metric, plural};
use super::run::{Part, PartScore, ReportRun};
use super::table_rows::MAX_ROWS;
use super::view::{View, run_figures};
use crate::contract::ScoreKind;
use crate::messages::{escape, suggest};
use crate::results::figures::{Bounds, Counts, Figures, counted, figures_of};
use crate::results::{ResultRow, ResultsError, thousands};

/// The maximum number of groups shown; larger groups come first.
const MAX_GROUPS: usize = 100;

/// The maximum number of parts of a metric shown, in order of first occurrence.
pub(super) const MAX_PARTS: usize = 100;

/// The name of the group of rows without the field.
const WITHOUT: &str = "(none)";

/// The rows of each group in each run, in order of first occurrence.
pub(super) struct Groups<'r>(Vec<IndexMap<Option<&'r str>, Vec<usize>>>);

impl<'r> Groups<'r> {
    /// # Errors
    /// Returns a [`ResultsError`] if no row has the field.
    pub(super) fn of(field: &str, runs: &'r [&'r ReportRun<'r>]) -> Result<Self, ResultsError> {
        if runs.iter().all(|run| run.scores.name_of_group(0).is_none()) {
            let mut known = Vec::new();
            for run in runs {
                let first: Vec<usize> = (0..run.len().min(MAX_ROWS)).collect();
                known.extend(run.map_rows(&first, known_fields)?);
            }
            let known = known.into_iter().max_by_key(Vec::len).unwrap_or_default();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let hint = suggest::did_you_mean(field, known.iter().copied());
            let hint = hint.unwrap_or_else(|| match &*known {
                [] => "; the rows have only ids and scores; write the result file again with `--with-rows`".to_owned(),
                known => format!("; the rows have {}", escape::names(known.iter().copied())),
            });
            let message = format!("no row has the field `{}`{hint}", escape::name(field));
            return Err(ResultsError::setting("group", message));
        }
        Ok(Self(runs.iter().map(|run| rows_of_groups(run)).collect()))
    }

    /// Returns the groups with the most rows.
    fn largest(&self) -> Vec<Option<&'r str>> {
        let mut sizes: IndexMap<Option<&str>, usize> = IndexMap::new();
        for (group, rows) in self.0.iter().flatten() {
            *sizes.entry(*group).or_default() += rows.len();
        }
        let mut groups: Vec<_> = sizes.into_iter().collect();
        groups.sort_by_key(|(_, rows)| Reverse(*rows));
        groups
            .into_iter()
            .take(MAX_GROUPS)
            .map(|(group, _)| group)
            .collect()
    }

    /// Returns the note that some groups are not shown.
    pub(super) fn note(&self) -> Option<String> {
        let all = self
            .0
            .iter()
            .flat_map(IndexMap::keys)
            .collect::<HashSet<_>>()
            .len();
        let hidden = all.saturating_sub(MAX_GROUPS);
        (hidden > 0).then(|| {
            format!(
                "{} more groups with fewer rows are not shown.",
                thousands(hidden as u64)
            )
        })
    }

    /// Returns a metric's groups with the most rows, worst first. `overall` has the mean of each run, and `range`
    /// contains the scores.
    pub(super) fn entries(
        &self,
        metric: &Metric<'_>,
        view: &View<'_>,
        overall: &[Option<f64>],
        range: Range,
    ) -> Vec<Value> {
        let Metric { name, kind, .. } = *metric;
        let shown = self.largest();
        let of_group = |place: usize, group: &Option<&str>| {
            let run = &view.runs[place].scores;
            let scores = run.scores_of(name);
            let rows = self.0[place].get(group).into_iter().flatten();
            let rows = rows.map(|row| (scores(*row), None));
            figures_of(rows, (run, name), kind, false)
        };
        let of_runs = |group| {
            (0..view.runs.len())
                .map(|place| of_group(place, group))
                .collect()
        };
        let all: Vec<Vec<(Counts, Figures)>> = shown.iter().map(of_runs).collect();
        let figures = all.iter().flatten().map(|(_, figures)| figures);
        let range = Range::around(figures).unwrap_or(range);
        let sign = if metric.is_lower_better { -1.0 } else { 1.0 };
        let entry = |(group, of_runs): (&Option<&str>, &Vec<(Counts, Figures)>)| {
            let mut means = of_runs.iter().filter_map(|(_, figures)| figures.mean);
            let rank = means.next_back().map_or(f64::INFINITY, |mean| sign * mean);
            let run = |(place, (counts, figures)): (usize, &(Counts, Figures))| {
                let mut shown = run_figures(place, figures, &range, overall[place]);
                shown["rows"] = plural(counts.rows(), "row").into();
                shown
            };
            let runs: Vec<_> = of_runs.iter().enumerate().map(run).collect();
            let group = group.unwrap_or(WITHOUT);
            let change = view.changes.of_group(name, group);
            (rank, json!({"name": group, "runs": runs, "change": change}))
        };
        let mut groups: Vec<_> = shown.iter().zip(&all).map(entry).collect();
        groups.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        groups.into_iter().map(|(_, entry)| entry).collect()
    }
}

fn rows_of_groups<'r>(run: &'r ReportRun<'_>) -> IndexMap<Option<&'r str>, Vec<usize>> {
    let mut rows: IndexMap<Option<usize>, Vec<usize>> = IndexMap::new();
    for row in 0..run.len() {
        rows.entry(run.scores.group_number(row))
            .or_default()
            .push(row);
    }
    let name = |number: usize| run.scores.name_of_group(number);
    rows.into_iter()
        .map(|(group, rows)| (group.and_then(name), rows))
        .collect()
}

/// Returns the parts of a metric, in order of first occurrence.
pub(super) fn parts<'r>(metric: &str, runs: &[&'r ReportRun<'_>]) -> IndexSet<&'r Part> {
    let metrics = runs.iter().filter_map(|run| run.totals.metrics.get(metric));
    metrics.flat_map(|metric| metric.parts.keys()).collect()
}

/// Returns the first parts of a metric.
pub(super) fn part_entries(metric: &str, view: &View<'_>) -> Vec<Value> {
    let parts = parts(metric, view.runs).into_iter().take(MAX_PARTS);
    parts.map(|part| part_entry(part, metric, view)).collect()
}

fn part_entry(part: &Part, metric: &str, view: &View<'_>) -> Value {
    let values = |run: &&ReportRun<'_>| {
        let failure_score = run.scores.run.failure_score;
        let value = |it: &PartScore| Some((counted(&it.score, failure_score)?, it.row));
        let values = part_scores(part, metric, run).iter().filter_map(value);
        let values = values.map(|(value, row)| (value, run.scores.group_number(row)));
        values.collect::<Vec<_>>()
    };
    let of_runs: Vec<_> = view.runs.iter().map(values).collect();
    let range = Range::of(of_runs.iter().flatten().map(|(value, _)| *value));
    let kind = match is_bool(part, metric, view.runs) {
        true => ScoreKind::Bool,
        false => ScoreKind::Number,
    };
    let run = |(run, values): (usize, Vec<_>)| {
        let rows = plural(values.len() as u64, "row");
        // A named score has the range of its metric.
        let bounds = match part.is_component {
            true => Bounds::UNKNOWN,
            false => Bounds::of(&view.runs[run].scores, metric),
        };
        let figures = Figures::of(kind, values, view.groups.is_some(), bounds);
        let mut shown = run_figures(run, &figures, &range, None);
        shown["rows"] = rows.into();
        shown
    };
    let runs: Vec<_> = of_runs.into_iter().enumerate().map(run).collect();
    json!({"name": part.name, "runs": runs, "change": null})
}

/// Returns `true` if the part is pass or fail in all rows. A named score has no verdict, so it counts as pass or fail
/// if it is always 0 or 1 and its metric's range is [0, 1].
fn is_bool(part: &Part, metric: &str, runs: &[&ReportRun<'_>]) -> bool {
    let scores = runs.iter().flat_map(|run| part_scores(part, metric, run));
    let mut scores = scores.filter_map(|it| Some((it.score.value()?, it.score.passed)));
    if part.is_component {
        return scores.all(|(value, passed)| {
            passed.is_some_and(|passed| value == f64::from(u8::from(passed)))
        });
    }
    let values = runs.iter().flat_map(|run| scored_values(run, metric));
    let is_unit = values.into_iter().all(|it| (0.0..=1.0).contains(&it));
    is_unit && scores.all(|(value, _)| value == 0.0 || value == 1.0)
}

/// Returns the part's results in a run.
fn part_scores<'s>(part: &Part, metric: &str, run: &'s ReportRun<'_>) -> &'s [PartScore] {
    let metric = run.totals.metrics.get(metric);
    let scores = metric.and_then(|metric| metric.parts.get(part));
    scores.map(Vec::as_slice).unwrap_or_default()
}

/// Returns the fields of a row that could define groups.
fn known_fields(row: &ResultRow) -> Vec<String> {
    let side = |name: &str, value: &Option<Value>| {
        let fields = value
            .as_ref()
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        fields
            .map(|(field, _)| format!("{name}.{field}"))
            .collect::<Vec<_>>()
    };
    let attributes = row.attributes.keys().map(str::to_owned);
    attributes
        .chain(side("gold", &row.gold))
        .chain(side("pred", &row.pred))
        .collect()
}
