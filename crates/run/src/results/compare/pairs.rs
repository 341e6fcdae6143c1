//! Rows that both runs have, matched by id, with their scores.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use serde::Serialize;

use crate::messages::{escape, suggest};
use crate::results::error::{ResultsError, first_ids};
use crate::results::run_scores::{RunScores, Score, Selected};
use crate::stats::score_difference;

/// The positions of an id in both runs.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
}

/// The rows of two runs.
pub(super) struct Pairs<'a> {
    pub(super) a: &'a RunScores,
    pub(super) b: &'a RunScores,
    /// In the order of the first run.
    pub(super) pairs: Vec<Pair>,
    pub(super) only_in_a: Vec<String>,
    pub(super) only_in_b: Vec<String>,
    /// `true` if a run has rows without ids, so pairs are by position.
    pub(super) by_position: bool,
}

impl<'a> Pairs<'a> {
    pub(super) fn of(
        a: &'a RunScores,
        b: &'a RunScores,
        only_paired: bool,
    ) -> Result<Self, ResultsError> {
        let pair = |row| {
            Some(Pair {
                a: row,
                b: b.rows.find(a.rows.id(row))?,
            })
        };
        let pairs: Vec<Pair> = (0..a.len()).filter_map(pair).collect();
        let only = |of: &RunScores, other: &RunScores| {
            let (of, other) = (&of.rows, &other.rows);
            let rows = (0..of.len()).filter(|row| other.find(of.id(*row)).is_none());
            rows.map(|row| of.id(row).to_owned()).collect::<Vec<_>>()
        };
        let (only_in_a, only_in_b) = (only(a, b), only(b, a));
        let (name_a, name_b) = (a.run.name(), b.run.name());
        if pairs.is_empty() {
            let [of_a, of_b] = [&only_in_a, &only_in_b]
                .map(|ids| escape::name(ids.first().map_or("", String::as_str)));
            let at = match b.rows.at(0).line {
                0 => name_b.to_owned(),
                line => format!("{name_b}:{line}"),
            };
            return Err(ResultsError::rows(format!(
                "{at}: `id`: expected ids from {name_a} such as `{of_a}`, found `{of_b}`, and no row has a matching id; compare runs over the same rows"
            )));
        }
        let by_position = a.rows.has_positional() || b.rows.has_positional();
        if !only_paired && (!only_in_a.is_empty() || !only_in_b.is_empty()) {
            let (paired, only_a, only_b) = (
                pairs.len(),
                only_in(&only_in_a, name_a),
                only_in(&only_in_b, name_b),
            );
            return Err(ResultsError::rows(match by_position {
                true => format!(
                    "expected the same number of rows in both runs, which have no ids and are paired by position, found {only_a} and {only_b}; score both with --map id=COLUMN, using a column whose value is different in each row"
                ),
                false => format!(
                    "expected the same rows in both runs, found {only_a} and {only_b}; to compare the {paired} common rows, pass --only-paired (in code, `only_paired(true)`)"
                ),
            }));
        }
        let pairs = Self {
            a,
            b,
            pairs,
            only_in_a,
            only_in_b,
            by_position,
        };
        pairs.check_gold()?;
        Ok(pairs)
    }

    /// Checks gold rows, because different data can have the same ids. Rows without ids are paired only if both are
    /// known to have the same gold row.
    fn check_gold(&self) -> Result<(), ResultsError> {
        let (a, b, pairs) = (self.a, self.b, &self.pairs);
        let gold = |pair: &Pair| (a.rows.gold_hash(pair.a), b.rows.gold_hash(pair.b));
        let is_different = |pair: &&Pair| matches!(gold(pair), (Some(a), Some(b)) if a != b);
        let is_unknown = |pair: &&Pair| !matches!(gold(pair), (Some(_), Some(_)));
        if let Some(first) = pairs.iter().find(is_different) {
            let different = pairs.iter().filter(is_different);
            let ids: Vec<_> = different.map(|pair| a.rows.id(pair.a).to_owned()).collect();
            let (ids, a, b) = (first_ids(&ids), a.rows.at(first.a), b.rows.at(first.b));
            let advice = match self.by_position {
                true => {
                    "the rows have no ids and are paired by position: score both runs with --map id=COLUMN, using a column whose value is different in each row"
                }
                false => "compare runs over the same data",
            };
            return Err(ResultsError::rows(format!(
                "the gold rows of {ids} differ: the first is at {a} and {b}; {advice}"
            )));
        }
        match pairs.iter().find(is_unknown) {
            Some(first) if self.by_position => {
                let (a, b) = (a.rows.at(first.a), b.rows.at(first.b));
                Err(ResultsError::rows(format!(
                    "expected a `gold_hash` in {a} and {b}, which have no ids and are paired by position, found none; score both runs again, with --map id=COLUMN if a column identifies the rows"
                )))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn id(&self, pair: usize) -> &'a str {
        self.a.rows.id(self.pairs[pair].a)
    }
}

/// A row that is compared.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    /// The position of the pair.
    pub(super) pair: usize,
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) is_scored_in_both: bool,
}

impl Compared {
    /// Returns how far the second run's score is above the first's; 0 if they differ only by rounding.
    pub(super) fn change(&self) -> f64 {
        score_difference(self.b, self.a)
    }
}

/// The rows that are not compared.
#[derive(Default)]
pub(super) struct NotCompared {
    pub(super) rows: u64,
    /// The number of rows that only one run scores.
    pub(super) scored_in_one: u64,
    /// How far the scores that only one run has are above the failure score, by run.
    pub(super) lost: [f64; 2],
    /// The number of rows by outcome other than a score, for each run.
    pub(super) outcomes: [BTreeMap<&'static str, u64>; 2],
}

impl NotCompared {
    /// Adds a row with its outcome in each run; `None` is a score.
    pub(super) fn add(&mut self, outcomes: [Option<&'static str>; 2]) {
        self.rows += 1;
        self.scored_in_one += u64::from(outcomes.iter().flatten().count() == 1);
        for (counts, outcome) in self.outcomes.iter_mut().zip(outcomes) {
            outcome
                .into_iter()
                .for_each(|outcome| *counts.entry(outcome).or_default() += 1);
        }
    }
}

/// The rows compared by one metric.
#[derive(Default)]
pub(super) struct ComparedRows {
    pub(super) rows: Vec<Compared>,
    /// The number of compared rows that failed, for each run.
    pub(super) failed: [u64; 2],
    /// The rows that a run neither scored nor failed on.
    pub(super) not_compared: NotCompared,
    pub(super) has_verdict: [bool; 2],
}

impl ComparedRows {
    pub(super) fn of(metric: Selected<'_>, pairs: &Pairs<'_>, failure_score: f64) -> Self {
        let mut compared = Self::default();
        let (of_a, of_b) = (
            pairs.a.scores_of(metric.name),
            pairs.b.scores_of(metric.name),
        );
        for (position, pair) in pairs.pairs.iter().enumerate() {
            let scores = [of_a(pair.a), of_b(pair.b)];
            let values = scores.each_ref().map(|score| score.counted(failure_score));
            let [Some(a), Some(b)] = values else {
                if scores.iter().any(Score::is_not_sampled) {
                    continue;
                }
                for (lost, value) in compared.not_compared.lost.iter_mut().zip(values) {
                    *lost += value.map_or(0.0, |value| value - failure_score);
                }
                let without = |score: Score| match score.counted(failure_score) {
                    Some(_) => None,
                    None => Some(score.name()),
                };
                compared.not_compared.add(scores.map(without));
                continue;
            };
            for (side, score) in scores.iter().enumerate() {
                compared.failed[side] += u64::from(score.is_failure());
                compared.has_verdict[side] |= score.passed.is_some();
            }
            compared.rows.push(Compared {
                pair: position,
                a,
                b,
                is_scored_in_both: !scores.iter().any(Score::is_failure),
            });
        }
        compared
    }

    /// Returns the mean difference if rows that only one run scores counted as failures of the other.
    pub(super) fn with_lost(&self, difference: Option<f64>) -> Option<f64> {
        let ([of_a, of_b], n) = (self.not_compared.lost, self.rows.len() as f64);
        let sum = difference.unwrap_or(0.0) * n + of_b - of_a;
        let rows = n + self.not_compared.scored_in_one as f64;
        (rows > 0.0).then(|| sum / rows)
    }

    /// Returns the minimum and maximum score.
    pub(super) fn extremes(&self) -> (f64, f64) {
        let values = self.rows.iter().flat_map(|row| [row.a, row.b]);
        values.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), value| (least.min(value), most.max(value)),
        )
    }

    /// Returns `true` if every score is 0 or 1.
    pub(super) fn are_verdicts(&self) -> bool {
        let is_verdict = |value: f64| value == 0.0 || value == 1.0;
        self.rows
            .iter()
            .all(|row| is_verdict(row.a) && is_verdict(row.b))
    }
}

/// `` 2 only in a.jsonl (`x`, `y`) ``
fn only_in(ids: &[String], file: &str) -> String {
    match ids.len() {
        0 => format!("0 only in {file}"),
        count => format!("{count} only in {file} ({})", first_ids(ids)),
    }
}

/// The group of every pair. A row without one is a group of its own, as in an evaluation.
pub(super) struct Groups {
    pub(super) names: IndexSet<String>,
    /// The number of each pair's group: the position of its name. A pair without a group gets a larger number of its
    /// own.
    pub(super) of_pair: Vec<usize>,
    pub(super) rows_without: u64,
}

impl Groups {
    pub(super) fn of(field: &str, pairs: &Pairs<'_>) -> Result<Self, ResultsError> {
        let mut names = IndexSet::new();
        let mut of_pair = Vec::with_capacity(pairs.pairs.len());
        for pair in &pairs.pairs {
            let group = group(field, *pair, pairs)?;
            of_pair.push(group.map(|group| match names.get_index_of(group) {
                Some(place) => place,
                None => names.insert_full(group.to_owned()).0,
            }));
        }
        if names.is_empty() {
            let file = pairs.a.run.name();
            let hint = suggest::known_names(field, pairs.a.known_fields());
            let field = escape::name(field);
            return Err(ResultsError::rows(format!(
                "{file}: no row has `{field}`{hint}"
            )));
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

/// Returns a row's group, from both runs or the one that has the field. A missing value and `null` are `None`.
fn group<'a>(
    field: &str,
    pair: Pair,
    Pairs { a, b, .. }: &Pairs<'a>,
) -> Result<Option<&'a str>, ResultsError> {
    match (a.group(pair.a), b.group(pair.b)) {
        (Some(of_a), Some(of_b)) if of_a != of_b => {
            let (id, field) = (escape::name(a.rows.id(pair.a)), escape::name(field));
            Err(ResultsError::rows(format!(
                "row `{id}`: `{field}` is {of_a:?} in one run and {of_b:?} in the other; group by a field of the data"
            )))
        }
        (of_a, of_b) => Ok(of_a.or(of_b)),
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
    pub(super) fn of(scores: &RunScores, rows: impl Iterator<Item = usize>) -> Self {
        let run = &scores.run;
        let data = run.manifest().into_iter().flat_map(|it| &it.run.data);
        let mut totals = Self {
            name: run.name().to_owned(),
            rows: scores.len() as u64,
            label: run.manifest().and_then(|it| it.run.label.clone()),
            data: data.map(|file| file.name.clone()).collect(),
            ..Self::default()
        };
        let (mut latency, mut costs) = (0.0, 0);
        for row in rows.map(|row| scores.usage(row)) {
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
