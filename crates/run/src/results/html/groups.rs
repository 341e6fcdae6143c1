//! Scores by a field of the rows.

use std::cmp::Reverse;
use std::collections::HashSet;

use indexmap::IndexMap;

use super::chart::{Range, range};
use super::entry::{Entry, EntryFigures};
use super::figures::{Counts, Figures, figures_of, thousands};
use super::group_of::GroupOf;
use super::source::Source;
use crate::core::spec::ScoreKind;
use crate::results::{ResultScore, Results};

/// The largest number of groups that are shown; those with most rows are.
const MAX_GROUPS: usize = 100;

/// The name of the group of rows that do not have the field.
const WITHOUT: &str = "(none)";

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

/// Returns the note that groups are not shown.
pub(super) fn note(of: &GroupOf) -> Option<String> {
    let all = of.of_rows.iter().flatten().collect::<HashSet<_>>().len();
    let hidden = all.saturating_sub(MAX_GROUPS);
    (hidden > 0)
        .then(|| format!("{} more groups with fewer rows are not shown.", thousands(hidden as u64)))
}

/// Returns the groups with most rows by a metric, the worst first; empty without groups.
pub(super) fn entries(name: &str, kind: ScoreKind, source: &Source<'_, '_>) -> Vec<Entry> {
    let Some(of) = &source.groups else { return Vec::new() };
    let shown = largest(of);
    let Source { report, changes, .. } = source;
    let runs: Vec<_> = report.runs.iter().zip(&of.of_rows).collect();
    let by_group: Vec<_> =
        runs.iter().map(|(run, groups)| scores_by_group(run, groups, name)).collect();
    let overall: Vec<_> = by_group
        .iter()
        .zip(&runs)
        .map(|(groups, (run, _))| figures(groups.values().flatten(), (run, name), kind).1.mean)
        .collect();
    let of_group = |place: usize, group: &Option<&str>| {
        let scores = by_group[place].get(group).map(Vec::as_slice).unwrap_or_default();
        figures(scores, (runs[place].0, name), kind)
    };
    let all: Vec<Vec<_>> = shown
        .iter()
        .map(|group| (0..runs.len()).map(|place| of_group(place, group)).collect())
        .collect();
    let range = Range::around(all.iter().flatten().map(|(_, figures)| figures))
        .unwrap_or_else(|| range(&report.runs, name));
    let sign = if report.is_lower_better(name) { -1.0 } else { 1.0 };
    let entry = |(group, of_runs): (&Option<&str>, &Vec<(Counts, Figures)>)| {
        let last = of_runs.iter().filter_map(|(_, figures)| figures.mean).next_back();
        let rank = last.map_or(f64::INFINITY, |mean| sign * mean);
        let runs = of_runs.iter().enumerate().map(|(place, (counts, figures))| {
            EntryFigures::new(place, counts.rows(), figures, &range, overall[place])
        });
        let name_of_group = group.unwrap_or(WITHOUT).to_owned();
        let change = changes.of_group(name, &name_of_group);
        (rank, Entry { name: name_of_group, runs: runs.collect(), change })
    };
    let mut groups: Vec<_> = shown.iter().zip(&all).map(entry).collect();
    groups.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    groups.into_iter().map(|(_, entry)| entry).collect()
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
    of: (&Results, &str),
    kind: ScoreKind,
) -> (Counts, Figures) {
    figures_of(scores.into_iter().map(|score| (*score, None)), of, kind, false)
}
