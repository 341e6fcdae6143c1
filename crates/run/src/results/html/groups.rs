//! Scores by a field of the rows.

use std::cmp::Reverse;
use std::collections::HashSet;

use indexmap::IndexMap;
use serde::Serialize;

use super::change::GroupChange;
use super::chart::{Range, Track, range};
use super::figures::{Counts, Figures, figures_of, thousands};
use super::group_of::GroupOf;
use super::labels::LABELS;
use super::source::Source;
use crate::core::spec::ScoreKind;
use crate::results::{ResultScore, Results};

/// The largest number of groups that are shown; those with most rows are.
const MAX_GROUPS: usize = 100;

/// The name of the group of rows that do not have the field.
const WITHOUT: &str = "(none)";

#[derive(Debug, Serialize)]
pub(super) struct Groups {
    field: String,
    metrics: Vec<GroupedMetric>,
    note: Option<String>,
}

#[derive(Debug, Serialize)]
struct GroupedMetric {
    name: String,
    groups: Vec<GroupView>,
}

#[derive(Debug, Serialize)]
struct GroupView {
    name: String,
    runs: Vec<GroupFigures>,
    change: Option<GroupChange>,
    #[serde(skip)]
    rank: f64,
}

#[derive(Debug, Serialize)]
struct GroupFigures {
    label: &'static str,
    class: &'static str,
    rows: String,
    value: String,
    interval: String,
    scale: Track,
}

impl Groups {
    pub(super) fn new(of: &GroupOf, kinds: &[(&str, ScoreKind)], source: &Source<'_, '_>) -> Self {
        let names = largest(of);
        let all = of.of_rows.iter().flatten().collect::<HashSet<_>>().len();
        let metrics = kinds
            .iter()
            .map(|(name, kind)| GroupedMetric::new(name, *kind, of, &names, source))
            .collect();
        let hidden = all - names.len();
        let hidden_rows = thousands(hidden as u64);
        let note = format!("{hidden_rows} more groups with fewer rows are not shown.");
        Self { field: of.field.clone(), metrics, note: (hidden > 0).then_some(note) }
    }
}

/// The groups with most rows.
fn largest(of: &GroupOf) -> Vec<Option<&str>> {
    let mut sizes: IndexMap<Option<&str>, u64> = IndexMap::new();
    for group in of.of_rows.iter().flatten() {
        *sizes.entry(group.as_deref()).or_default() += 1;
    }
    let mut groups: Vec<_> = sizes.into_iter().collect();
    groups.sort_by_key(|(_, rows)| Reverse(*rows));
    groups.into_iter().take(MAX_GROUPS).map(|(group, _)| group).collect()
}

impl GroupedMetric {
    /// The worst groups come first.
    fn new(
        name: &str,
        kind: ScoreKind,
        of: &GroupOf,
        shown: &[Option<&str>],
        source: &Source<'_, '_>,
    ) -> Self {
        let Source { report, changes, .. } = source;
        let runs: Vec<_> = report.runs.iter().zip(&of.of_rows).collect();
        let by_group: Vec<_> =
            runs.iter().map(|(run, groups)| scores_by_group(run, groups, name)).collect();
        let overall: Vec<_> = by_group
            .iter()
            .zip(&runs)
            .map(|(groups, (run, _))| figures(groups.values().flatten(), run, kind).1.mean)
            .collect();
        let of_group = |place: usize, group: &Option<&str>| {
            let scores = by_group[place].get(group).map(Vec::as_slice).unwrap_or_default();
            figures(scores, runs[place].0, kind)
        };
        let all: Vec<Vec<_>> = shown
            .iter()
            .map(|group| (0..runs.len()).map(|place| of_group(place, group)).collect())
            .collect();
        let range = Range::around(all.iter().flatten().map(|(_, figures)| figures))
            .unwrap_or_else(|| range(&report.runs, name));
        let sign = if report.is_lower_better(name) { -1.0 } else { 1.0 };
        let view = |(group, of_runs): (&Option<&str>, &Vec<(Counts, Figures)>)| {
            let last = of_runs.iter().filter_map(|(_, figures)| figures.mean).next_back();
            let runs = of_runs.iter().enumerate();
            let runs = runs.map(|(place, of)| GroupFigures::new(place, of, &range, overall[place]));
            let group_name = group.unwrap_or(WITHOUT).to_owned();
            GroupView {
                change: changes.of_group(name, &group_name),
                name: group_name,
                runs: runs.collect(),
                rank: last.map_or(f64::INFINITY, |mean| sign * mean),
            }
        };
        let mut groups: Vec<_> = shown.iter().zip(&all).map(view).collect();
        groups.sort_by(|a, b| a.rank.total_cmp(&b.rank));
        Self { name: name.to_owned(), groups }
    }
}

impl GroupFigures {
    fn new(place: usize, of: &(Counts, Figures), range: &Range, overall: Option<f64>) -> Self {
        let (counts, figures) = of;
        let (label, class) = LABELS[place];
        Self {
            label,
            class,
            rows: thousands(counts.rows()),
            value: figures.value(),
            interval: figures.interval(),
            scale: range.track(figures, overall),
        }
    }
}

type ByGroup<'a> = IndexMap<Option<&'a str>, Vec<Option<&'a ResultScore>>>;

fn scores_by_group<'a>(run: &'a Results, groups: &'a [Option<String>], name: &str) -> ByGroup<'a> {
    let mut by_group = ByGroup::new();
    for (row, group) in run.rows().iter().zip(groups) {
        by_group.entry(group.as_deref()).or_default().push(row.scores.get(name));
    }
    by_group
}

fn figures<'a>(
    scores: impl IntoIterator<Item = &'a Option<&'a ResultScore>>,
    run: &Results,
    kind: ScoreKind,
) -> (Counts, Figures) {
    figures_of(scores.into_iter().map(|score| (*score, None)), run, kind, false)
}
