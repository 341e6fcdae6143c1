//! Rows that both runs have, matched by id, with their scores.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use serde::Serialize;

use crate::messages::escape;
use crate::results::error::{ResultsError, first_ids};
use crate::results::run::RowIndex;
use crate::results::run_scores::{RunScores, Score, Selected};
use crate::stats::score_difference;

/// The rows of two runs.
pub(super) struct Pairs<'a> {
    pub(super) runs: [&'a RunScores; 2],
    /// The positions of an id in both runs, in the order of the first run.
    pub(super) rows: Vec<[usize; 2]>,
    /// The ids that only one run has.
    pub(super) alone: [Vec<String>; 2],
    /// `true` if a run has rows without ids, so rows are paired by position.
    pub(super) by_position: bool,
    pub(super) groups: Option<Groups>,
}

impl<'a> Pairs<'a> {
    pub(super) fn of(
        runs: [&'a RunScores; 2],
        only_paired: bool,
        group: Option<&str>,
    ) -> Result<Self, ResultsError> {
        let [a, b] = runs.map(|run| &run.rows);
        let alone = |of: &RowIndex, other: &RowIndex| {
            let ids = (0..of.len()).map(|row| of.id(row));
            let ids = ids.filter(|id| other.find(id).is_none());
            ids.map(str::to_owned).collect()
        };
        let pair = |row| Some([row, b.find(a.id(row))?]);
        let mut pairs = Self {
            runs,
            rows: (0..a.len()).filter_map(pair).collect(),
            alone: [alone(a, b), alone(b, a)],
            by_position: a.has_positional() || b.has_positional(),
            groups: None,
        };
        pairs.check_ids(only_paired)?;
        pairs.check_gold()?;
        pairs.groups = group.map(|field| Groups::of(field, &pairs)).transpose()?;
        Ok(pairs)
    }

    fn check_ids(&self, only_paired: bool) -> Result<(), ResultsError> {
        let [name_a, name_b] = self.runs.map(|run| run.run.name());
        let [alone_a, alone_b] = &self.alone;
        let paired = self.rows.len();
        if paired == 0 {
            let first =
                |ids: &[String]| escape::name(ids.first().map_or("", String::as_str)).into_owned();
            let (of_a, of_b) = (first(alone_a), first(alone_b));
            let at = match self.runs[1].rows.at(0).line {
                0 => name_b.to_owned(),
                line => format!("{name_b}:{line}"),
            };
            return Err(ResultsError::rows(format!(
                "{at}: `id`: expected ids from {name_a} such as `{of_a}`, found `{of_b}`, and no row has a matching id; compare runs over the same rows"
            )));
        }
        if only_paired || alone_a.is_empty() && alone_b.is_empty() {
            return Ok(());
        }
        let only_in = |ids: &[String], file: &str| match ids.len() {
            0 => format!("0 only in {file}"),
            count => format!("{count} only in {file} ({})", first_ids(ids)),
        };
        let (only_a, only_b) = (only_in(alone_a, name_a), only_in(alone_b, name_b));
        Err(ResultsError::rows(match self.by_position {
            true => format!(
                "expected the same number of rows in both runs, which have no ids and are paired by position, found {only_a} and {only_b}; score both with --map id=COLUMN, using a column whose value is different in each row"
            ),
            false => format!(
                "expected the same rows in both runs, found {only_a} and {only_b}; to compare the {paired} common rows, pass --only-paired (in code, `only_paired(true)`)"
            ),
        }))
    }

    /// Checks gold rows, because different data can have the same ids. Rows without ids are paired only if both are
    /// known to have the same gold row.
    fn check_gold(&self) -> Result<(), ResultsError> {
        let [a, b] = self.runs.map(|run| &run.rows);
        let hashes = |[of_a, of_b]: [usize; 2]| a.gold_hash(of_a).zip(b.gold_hash(of_b));
        let at = |[of_a, of_b]: [usize; 2]| format!("{} and {}", a.at(of_a), b.at(of_b));
        let is_different = |pair: &&[usize; 2]| hashes(**pair).is_some_and(|(a, b)| a != b);
        let different = self.rows.iter().filter(is_different);
        if let Some(first) = different.clone().next() {
            let ids: Vec<_> = different.map(|pair| a.id(pair[0]).to_owned()).collect();
            let advice = match self.by_position {
                true => {
                    "the rows have no ids and are paired by position: score both runs with --map id=COLUMN, using a column whose value is different in each row"
                }
                false => "compare runs over the same data",
            };
            let (ids, at) = (first_ids(&ids), at(*first));
            return Err(ResultsError::rows(format!(
                "the gold rows of {ids} differ: the first is at {at}; {advice}"
            )));
        }
        match self.rows.iter().find(|pair| hashes(**pair).is_none()) {
            Some(first) if self.by_position => Err(ResultsError::rows(format!(
                "expected a `gold_hash` in {}, which have no ids and are paired by position, found none; score both runs again, with --map id=COLUMN if a column identifies the rows",
                at(*first)
            ))),
            _ => Ok(()),
        }
    }

    pub(super) fn id(&self, pair: usize) -> &'a str {
        self.runs[0].rows.id(self.rows[pair][0])
    }
}

/// A row that is compared.
#[derive(Clone, Copy)]
pub(super) struct Compared<T = f64> {
    /// The position of the pair.
    pub(super) pair: usize,
    /// The row's score in each run, or its contribution to a score over all rows.
    pub(super) sides: [T; 2],
    pub(super) is_scored_in_both: bool,
}

impl Compared {
    /// Returns how far the second run's score is above the first's, or 0 if they differ only by rounding.
    pub(super) fn change(&self) -> f64 {
        let [a, b] = self.sides;
        score_difference(b, a)
    }
}

/// The rows compared by one metric.
#[derive(Default)]
pub(super) struct ComparedRows<T = f64> {
    pub(super) rows: Vec<Compared<T>>,
    /// The number of compared rows that failed, for each run.
    pub(super) failed: [u64; 2],
    pub(super) has_verdict: [bool; 2],
    /// The number of rows that a run neither scored nor failed on.
    pub(super) not_compared: u64,
    /// The rows that are not compared, counted by outcome, for each run.
    pub(super) without_score: [BTreeMap<&'static str, u64>; 2],
    /// The sum of how far the scores that only one run has are above the failure score, for each run.
    pub(super) lost: [f64; 2],
}

impl<T> ComparedRows<T> {
    /// Adds a row that is not compared, with its outcome in each run. `None` stands for a score.
    pub(super) fn leave_out(&mut self, outcomes: [Option<&'static str>; 2]) {
        self.not_compared += 1;
        for (counts, outcome) in self.without_score.iter_mut().zip(outcomes) {
            let outcome = outcome.into_iter();
            outcome.for_each(|outcome| *counts.entry(outcome).or_default() += 1);
        }
    }
}

impl ComparedRows {
    pub(super) fn of(metric: Selected<'_>, pairs: &Pairs<'_>, failure_score: f64) -> Self {
        let mut compared = Self::default();
        let [of_a, of_b] = pairs.runs.map(|run| run.scores_of(metric.name));
        for (pair, [a, b]) in pairs.rows.iter().enumerate() {
            let scores = [of_a(*a), of_b(*b)];
            let values = scores.map(|score| score.counted(failure_score));
            let [Some(a), Some(b)] = values else {
                if scores.iter().any(Score::is_not_sampled) {
                    continue;
                }
                for (lost, value) in compared.lost.iter_mut().zip(values) {
                    *lost += value.map_or(0.0, |value| value - failure_score);
                }
                compared.leave_out([0, 1].map(|side| match values[side] {
                    Some(_) => None,
                    None => Some(scores[side].name()),
                }));
                continue;
            };
            for (side, score) in scores.iter().enumerate() {
                compared.failed[side] += u64::from(score.is_failure());
                compared.has_verdict[side] |= score.passed.is_some();
            }
            compared.rows.push(Compared {
                pair,
                sides: [a, b],
                is_scored_in_both: !scores.iter().any(Score::is_failure),
            });
        }
        compared
    }

    /// Returns every score of both runs.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().flat_map(|row| row.sides)
    }
}

/// The group of every pair. A row without a group forms its own group, as in an evaluation.
pub(super) struct Groups {
    pub(super) names: IndexSet<String>,
    /// The number of each pair's group: the position of its name. A pair without a group gets a larger number of its
    /// own.
    pub(super) of_pair: Vec<usize>,
    pub(super) rows_without: u64,
}

impl Groups {
    /// Returns the group of every pair. A row's group is read from the runs that have the field, and must be the same
    /// in both. A missing value or `null` means that there is no group.
    fn of(field: &str, pairs: &Pairs<'_>) -> Result<Self, ResultsError> {
        let [a, b] = pairs.runs;
        RunScores::check_group([a, b], field)?;
        let mut names = IndexSet::new();
        let mut of_pair = Vec::with_capacity(pairs.rows.len());
        for [row_a, row_b] in &pairs.rows {
            let group = match (a.group(*row_a), b.group(*row_b)) {
                (Some(of_a), Some(of_b)) if of_a != of_b => {
                    let (id, field) = (escape::name(a.rows.id(*row_a)), escape::name(field));
                    return Err(ResultsError::rows(format!(
                        "row `{id}`: `{field}` is {of_a:?} in one run and {of_b:?} in the other; group by a field of the data"
                    )));
                }
                (of_a, of_b) => of_a.or(of_b),
            };
            of_pair.push(group.map(|group| match names.get_index_of(group) {
                Some(place) => place,
                None => names.insert_full(group.to_owned()).0,
            }));
        }
        let mut alone = names.len()..;
        let mut number = |group: Option<usize>| group.or_else(|| alone.next()).unwrap_or_default();
        let of_pair = of_pair.into_iter().map(&mut number).collect();
        Ok(Self {
            rows_without: (alone.start - names.len()) as u64,
            names,
            of_pair,
        })
    }
}

/// A value for each of the two runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sides<T> {
    /// The value of the first run.
    pub a: T,
    /// The value of the second run.
    pub b: T,
}

impl<T> From<[T; 2]> for Sides<T> {
    fn from([a, b]: [T; 2]) -> Self {
        Self { a, b }
    }
}

/// The totals of a single run in a comparison.
///
/// The latency, tokens and cost cover only the rows that both runs have.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunTotals {
    /// The name of the run, by default the path of its file.
    pub name: String,
    /// The program's label, from the run's manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The names of the data files, from the run's manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<String>,
    /// The total number of rows in the run.
    pub rows: u64,
    /// The mean latency of the program, in seconds.
    ///
    /// Only rows with a known latency are included.
    pub latency_s: Option<f64>,
    /// The number of rows whose latency is known.
    pub latency_rows: u64,
    /// The number of tokens in the program's prompts.
    pub input_tokens: Option<u64>,
    /// The number of tokens in the models' replies to the program.
    pub output_tokens: Option<u64>,
    /// The number of rows whose token counts are known.
    pub usage_rows: u64,
    /// The program's cost in millisatoshis.
    ///
    /// This is `None` if a row has token counts but its cost is unknown.
    pub cost_msats: Option<u64>,
    /// The cost of all metrics in the run, in millisatoshis.
    pub metric_cost_msats: u64,
}

impl RunTotals {
    /// Sums up the first or second run of the pairs.
    pub(super) fn of(pairs: &Pairs<'_>, side: usize) -> Self {
        let scores = pairs.runs[side];
        let run = &scores.run;
        let data = run.manifest().into_iter().flat_map(|it| &it.run.data);
        let mut totals = Self {
            name: run.name().to_owned(),
            rows: scores.rows.len() as u64,
            label: run.manifest().and_then(|it| it.run.label.clone()),
            data: data.map(|file| file.name.clone()).collect(),
            ..Self::default()
        };
        let (mut latency, mut costs) = (0.0, 0);
        for row in pairs.rows.iter().map(|pair| scores.usage(pair[side])) {
            if let Some(seconds) = row.latency_s {
                latency += seconds;
                totals.latency_rows += 1;
            }
            add(&mut totals.input_tokens, row.input_tokens);
            add(&mut totals.output_tokens, row.output_tokens);
            add(&mut totals.cost_msats, row.cost_msats);
            totals.usage_rows += u64::from(row.input_tokens.or(row.output_tokens).is_some());
            costs += u64::from(row.cost_msats.is_some());
            totals.metric_cost_msats = totals
                .metric_cost_msats
                .saturating_add(row.metric_cost_msats);
        }
        totals.latency_s = (totals.latency_rows > 0).then(|| latency / totals.latency_rows as f64);
        totals.cost_msats = totals.cost_msats.filter(|_| costs >= totals.usage_rows);
        totals
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
