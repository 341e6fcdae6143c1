//! The rows in the table of the page: all, or at most 20,000 chosen by a rule that the page states.

use serde::Serialize;
use serde_json::{Value, json};

use super::run::ReportRun;
use crate::contract::ScoreKind;
use crate::evaluate::hash_order;
use crate::results::run_scores::Score;

/// The maximum number of rows in the table.
pub(super) const MAX_ROWS: usize = 20_000;

const SEED: u64 = 0;

/// The positions of a row in each run.
pub(super) type Places = [Option<usize>; 2];

/// A metric in the report.
pub(super) struct Metric<'a> {
    pub(super) name: &'a str,
    pub(super) kind: ScoreKind,
    /// `true` if the metric is the same in both runs.
    pub(super) is_compared: bool,
    pub(super) is_lower_better: bool,
}

impl Metric<'_> {
    /// Returns a function that maps a row to its score in the last run that has it, negated if lower is better.
    fn badness(&self, runs: &[&ReportRun<'_>], rows: &[Places]) -> impl Fn(usize) -> Option<f64> {
        let scores = runs.iter().map(|run| run.scores.scores_of(self.name));
        let scores: Vec<_> = scores.collect();
        let sign = if self.is_lower_better { -1.0 } else { 1.0 };
        move |row| {
            let of_runs = scores.iter().zip(&rows[row]);
            let mut of_runs = of_runs.filter_map(|(of, place)| place.map(of));
            // 0 and -0 are equal.
            Some(sign * of_runs.next_back()?.value()? + 0.0)
        }
    }
}

/// The rows in the table.
#[derive(Debug, Default, Serialize)]
pub(super) struct TableRows {
    /// The rows in the order of the first run, followed by rows that only the second run has.
    #[serde(skip)]
    pub(super) rows: Vec<Places>,
    shown: usize,
    all: usize,
    /// The number of rows that both runs have.
    #[serde(skip)]
    pub(super) paired: usize,
    /// For each category, the number of rows in the table and in total. A row counts only in the first category that
    /// applies.
    changed: [usize; 2],
    failed: [usize; 2],
    others: usize,
    /// The number of rows chosen from the rest: those with the worst scores, and a sample.
    worst: usize,
    sampled: usize,
    seed: u64,
}

impl TableRows {
    pub(super) fn of(runs: &[&ReportRun<'_>], metrics: &[Metric<'_>]) -> Self {
        Self::choose(runs, metrics, MAX_ROWS)
    }

    /// Chooses at most this number of rows.
    fn choose(runs: &[&ReportRun<'_>], metrics: &[Metric<'_>], limit: usize) -> Self {
        let rows = all_rows(runs);
        let mut table = Self {
            all: rows.len(),
            paired: rows.iter().filter(|row| !row.contains(&None)).count(),
            rows,
            seed: SEED,
            ..Self::default()
        };
        if table.rows.len() <= limit {
            return table;
        }
        let (mut changed, mut failed, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for (row, mark) in marks(&table.rows, runs, metrics).into_iter().enumerate() {
            match mark {
                [true, _] => changed.push(row),
                [false, true] => failed.push(row),
                [false, false] => rest.push(row),
            }
        }
        // Half of the remaining space, or more if the next categories do not fill the other half.
        let share = |all: usize, space: usize, next: usize| {
            all.min((space / 2).max(space.saturating_sub(next)))
        };
        let shown = share(changed.len(), limit, failed.len() + rest.len());
        table.changed = [shown, changed.len()];
        let space = limit - shown;
        let shown = share(failed.len(), space, rest.len());
        table.failed = [shown, failed.len()];
        table.others = rest.len();
        let space = space - shown;

        let mut is_chosen = vec![false; table.rows.len()];
        let equal = |_: usize| Some(0.0);
        choose_lowest(&mut is_chosen, &changed, table.changed[0], SEED, equal);
        choose_lowest(&mut is_chosen, &failed, table.failed[0], SEED, equal);
        let mut left = space / 2;
        for (position, metric) in metrics.iter().enumerate() {
            let value = metric.badness(runs, &table.rows);
            let number = left / (metrics.len() - position);
            left -= choose_lowest(&mut is_chosen, &rest, number, position as u64 + 1, value);
        }
        table.worst = space / 2 - left;
        table.sampled = space - table.worst;
        choose_lowest(&mut is_chosen, &rest, table.sampled, SEED, equal);
        let mut is_chosen = is_chosen.into_iter();
        table.rows.retain(|_| is_chosen.next().unwrap_or_default());
        table.shown = table.rows.len();
        table
    }

    /// Returns the rule for which rows are shown, or `None` if all are.
    pub(super) fn rule(&self) -> Option<Value> {
        (self.rows.len() < self.all).then(|| json!(self))
    }
}

/// Returns the rows of the first run, each with its position in the second, followed by rows that only the second run
/// has.
fn all_rows(runs: &[&ReportRun<'_>]) -> Vec<Places> {
    let mut ids = runs.iter().map(|run| &run.scores.rows);
    let Some(a) = ids.next() else {
        return Vec::new();
    };
    let b = ids.next();
    let in_b = |row: usize| b.and_then(|b| b.find(a.id(row)));
    let of_a = (0..a.len()).map(|row| [Some(row), in_b(row)]);
    let of_b = b.into_iter().flat_map(|b| {
        let is_single = |row: &usize| a.find(b.id(*row)).is_none();
        (0..b.len()).filter(is_single).map(|row| [None, Some(row)])
    });
    of_a.chain(of_b).collect()
}

/// Returns two flags for each row: `true` if a compared metric changed, and `true` if a run failed.
fn marks(rows: &[Places], runs: &[&ReportRun<'_>], metrics: &[Metric<'_>]) -> Vec<[bool; 2]> {
    let mut marks = vec![[false; 2]; rows.len()];
    for metric in metrics {
        let is_in = |run: &&ReportRun<'_>| run.metrics().any(|name| name == metric.name);
        let is_compared = metric.is_compared && runs.iter().all(is_in);
        let scores: Vec<_> = runs
            .iter()
            .map(|run| run.scores.scores_of(metric.name))
            .collect();
        for ([is_changed, is_failed], places) in marks.iter_mut().zip(rows) {
            let mut of_runs = scores.iter().zip(places).map(|(of, place)| place.map(of));
            let (a, b) = (of_runs.next().flatten(), of_runs.next().flatten());
            let changed = |a: Score, b: Score| (a.outcome, a.passed) != (b.outcome, b.passed);
            *is_changed |= is_compared && a.zip(b).is_some_and(|(a, b)| changed(a, b));
            *is_failed |= [a, b].iter().flatten().any(Score::is_failure);
        }
    }
    marks
}

/// Chooses at most this many of the rows that are not chosen yet: those with the lowest values, and a sample of equal
/// ones. Returns their number.
fn choose_lowest(
    is_chosen: &mut [bool],
    rows: &[usize],
    number: usize,
    seed: u64,
    value: impl Fn(usize) -> Option<f64>,
) -> usize {
    let rows = rows.iter().filter(|row| !is_chosen[**row]);
    let keys = rows.filter_map(|row| Some((value(*row)?, hash_order(seed, None, *row))));
    let mut keys: Vec<_> = keys.collect();
    if number < keys.len() {
        keys.select_nth_unstable_by(number, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keys.truncate(number);
    }
    keys.iter().for_each(|(_, (_, row))| is_chosen[*row] = true);
    keys.len()
}

#[cfg(test)]
mod tests;
