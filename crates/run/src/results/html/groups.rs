//! Scores by a field of the rows.

use std::cmp::Reverse;
use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::chart::Range;
use super::entry::{Entry, EntryFigures};
use super::error::HtmlError;
use super::run::ReportRun;
use super::source::Source;
use super::table_rows::MAX_ROWS;
use crate::core::spec::ScoreKind;
use crate::results::ResultRow;
use crate::results::figures::{Counts, Figures, figures_of};
use crate::results::thousands;

/// The largest number of groups that are shown; those with most rows are.
const MAX_GROUPS: usize = 100;

/// The name of the group of rows that do not have the field.
const WITHOUT: &str = "(none)";

/// The rows of each group in each run, by first occurrence.
pub(super) struct Groups<'r>(Vec<IndexMap<Option<&'r str>, Vec<usize>>>);

impl<'r> Groups<'r> {
    /// # Errors
    /// [`HtmlError::NoGroup`] if no row has the field.
    pub(super) fn of(field: &str, runs: &[&'r ReportRun<'_>]) -> Result<Self, HtmlError> {
        if runs.iter().all(|run| run.scores.name_of_group(0).is_none()) {
            let mut known = Vec::new();
            for run in runs {
                let first: Vec<usize> = (0..run.len().min(MAX_ROWS)).collect();
                known.extend(run.map_rows(&first, known_fields)?);
            }
            let known = known.into_iter().max_by_key(Vec::len).unwrap_or_default();
            return Err(HtmlError::NoGroup {
                field: field.to_owned(),
                known,
            });
        }
        Ok(Self(runs.iter().map(|run| rows_of_groups(run)).collect()))
    }

    /// The groups with most rows.
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

    /// Returns the note that groups are not shown.
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

/// Returns the groups with most rows by a metric, the worst first; empty without groups. `overall` has the mean of each run,
/// and `range` contains the scores.
pub(super) fn entries(
    (name, kind): (&str, ScoreKind),
    source: &Source<'_, '_>,
    overall: &[Option<f64>],
    range: Range,
) -> Vec<Entry> {
    let Some(groups) = &source.groups else {
        return Vec::new();
    };
    let shown = groups.largest();
    let of_group = |place: usize, group: &Option<&str>| {
        let run = source.runs[place];
        let scores = run.scores.scores_of(name);
        let rows = groups.0[place].get(group).into_iter().flatten();
        figures_of(
            rows.map(|row| (scores(*row), None)),
            (&run.scores, name),
            kind,
            false,
        )
    };
    let all: Vec<Vec<_>> = shown
        .iter()
        .map(|group| {
            (0..source.runs.len())
                .map(|place| of_group(place, group))
                .collect()
        })
        .collect();
    let range = Range::around(all.iter().flatten().map(|(_, figures)| figures)).unwrap_or(range);
    let sign = if source.is_lower_better(name) {
        -1.0
    } else {
        1.0
    };
    let entry = |(group, of_runs): (&Option<&str>, &Vec<(Counts, Figures)>)| {
        let last = of_runs
            .iter()
            .filter_map(|(_, figures)| figures.mean)
            .next_back();
        let rank = last.map_or(f64::INFINITY, |mean| sign * mean);
        let runs = of_runs
            .iter()
            .enumerate()
            .map(|(place, (counts, figures))| {
                EntryFigures::new(place, counts.rows(), figures, &range, overall[place])
            });
        let name_of_group = group.unwrap_or(WITHOUT).to_owned();
        let change = source.changes.of_group(name, &name_of_group);
        (
            rank,
            Entry {
                name: name_of_group,
                runs: runs.collect(),
                change,
            },
        )
    };
    let mut groups: Vec<_> = shown.iter().zip(&all).map(entry).collect();
    groups.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    groups.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns the fields of a row that could name the groups.
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
