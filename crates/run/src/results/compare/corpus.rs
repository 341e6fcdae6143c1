//! Compares a score over all rows, such as macro F1 or corpus BLEU. The rows of both runs have contributions, which are
//! merged. The test and the interval merge different selections of rows.

use indexmap::IndexSet;

use super::difference::{DifferenceTest, PairedDifference, Testing};
use super::metric::MetricComparison;
use super::pairs::{Compared, ComparedRows, Groups, Pairs};
use crate::contract::Counted;
use crate::messages::escape;
use crate::results::run_scores::RunScores;
use crate::results::{ResultOutcome, ResultsError};
use crate::stats::{Bootstrap, Uncertainty, exchange_test, score_difference};

/// The maximum number of random assignments, and of the contributions that they merge in total.
const MAX_DRAWS: u32 = 10_000;
const MAX_MERGED: u64 = 20_000_000;

/// The minimum number of random assignments.
const MIN_DRAWS: u32 = 1_000;

/// The number of bootstrap samples.
const RESAMPLES: u32 = 2_000;

/// The maximum number of units; more rows are combined into blocks that are exchanged and drawn together.
const MAX_UNITS: usize = 2_000;

/// A row's contribution, if it is known.
type Contribution<'a> = Option<&'a Counted>;

/// The rows that both runs count.
pub(super) type CorpusRows<'a> = ComparedRows<Contribution<'a>>;

/// Returns a row's contribution, if the file has it. The error is the outcome of a row that is not counted.
fn contribution<'a>(
    metric: &str,
    run: &'a RunScores,
    row: usize,
) -> Result<Contribution<'a>, &'static str> {
    let score = run.scores_of(metric)(row);
    match (run.corpus(metric, row), score.outcome) {
        (Some(counted), _) => Ok(Some(counted)),
        (None, Some(ResultOutcome::Counted)) => Ok(None),
        (None, Some(ResultOutcome::Scored)) => Err("scored without counts"),
        (None, _) => Err(score.name()),
    }
}

impl<'a> CorpusRows<'a> {
    pub(super) fn of_contributions(metric: &str, pairs: &Pairs<'a>) -> Self {
        let mut rows = Self::default();
        for (pair, places) in pairs.rows.iter().enumerate() {
            let sides = [0, 1].map(|side| contribution(metric, pairs.runs[side], places[side]));
            match sides {
                [Ok(a), Ok(b)] => rows.rows.push(Compared {
                    pair,
                    sides: [a, b],
                    is_scored_in_both: true,
                }),
                sides => rows.leave_out(sides.map(Result::err)),
            }
        }
        rows
    }

    /// Returns the first pair of formulas that differ. Contributions to different formulas cannot be exchanged.
    pub(super) fn different_formulas(&self) -> Option<[String; 2]> {
        let formula = |counted: &Counted| Some(counted.record()?.get("formula")?.to_string());
        let states = self.rows.iter().flat_map(|row| row.sides).flatten();
        let mut formulas = states.filter_map(formula);
        let first = formulas.next()?;
        let other = formulas.find(|formula| *formula != first)?;
        Some([first, other])
    }
}

/// The contributions of one row, or of several rows that are exchanged together.
type Unit = [Counted; 2];

fn merge(all: &mut Option<Counted>, more: &Counted) {
    match all {
        Some(all) => all.merge(more),
        None => *all = Some(more.clone()),
    }
}

fn merge_unit(all: &mut [Option<Counted>; 2], unit: &Unit) {
    all.iter_mut()
        .zip(unit)
        .for_each(|(all, more)| merge(all, more));
}

/// Returns the score of merged contributions, or why there is none.
fn score(merged: &Option<Counted>) -> Result<f64, String> {
    let merged = merged.as_ref().ok_or("there are no rows")?;
    merged.score().map_err(|reason| reason.to_string())
}

/// Returns the score of each run over these rows. A run has no score if a contribution is unknown.
fn scores(rows: &[&Compared<Contribution<'_>>]) -> [Option<Result<f64, String>>; 2] {
    [0, 1].map(|side| {
        let mut all = None;
        for row in rows {
            merge(&mut all, row.sides[side]?);
        }
        Some(score(&all))
    })
}

/// Returns the second score minus the first, if both are defined.
fn difference(sides: &[Option<Counted>; 2]) -> Option<f64> {
    let [a, b] = sides.each_ref().map(|side| score(side).ok());
    Some(score_difference(b?, a?))
}

impl Testing<'_> {
    /// Compares a score over all rows.
    pub(super) fn corpus(self, name: &str, metric: &str) -> Result<MetricComparison, ResultsError> {
        let pairs = self.pairs;
        let rows = CorpusRows::of_contributions(metric, pairs);
        if let Some(formulas) = rows.different_formulas() {
            let [of_a, of_b] = formulas.each_ref().map(|formula| escape::name(formula));
            let message = format!(
                "expected the same formula in both runs, found {of_a} and {of_b}; score both runs with the same parameters"
            );
            return Err(ResultsError::metric(name, &message));
        }
        let mut of_runs = pairs
            .runs
            .iter()
            .zip(["A", "B"])
            .zip(scores(&Vec::from_iter(&rows.rows)));
        let not_tested = of_runs.find_map(|((run, side), score)| match score {
            None => Some(format!(
                "no test, because {} lacks its rows' contributions to the score (`corpus`); write it again with `score --out`, which knows the built-in metrics, or compare the evaluations in code",
                escape::name(run.run.name())
            )),
            Some(Err(reason)) if !rows.rows.is_empty() => {
                Some(format!("the score of {side} is not defined: {reason}"))
            }
            Some(_) => None,
        });
        let compare = |rows: &[&_], groups: Option<&_>| self.of_corpus(rows, groups);
        Ok(MetricComparison {
            not_tested,
            ..MetricComparison::of(name, &rows, self, compare)
        })
    }

    /// Compares the scores of these rows. Rows of the same group are exchanged and drawn together.
    fn of_corpus(
        self,
        rows: &[&Compared<Contribution<'_>>],
        groups: Option<&Groups>,
    ) -> PairedDifference {
        let n = rows.len() as u64;
        let [a, b] = scores(rows).map(|score| score?.ok());
        let (count, units) = units(rows, groups).unwrap_or_default();
        let (equal, differing): (Vec<_>, Vec<_>) = units.iter().partition(|[a, b]| a == b);
        let change = a.zip(b).map(|(a, b)| score_difference(b, a));
        let tested = change.map(|change| self.exchange(change, n, &equal, &differing));
        let uncertainty = match change {
            Some(_) => self.bootstrap(n, &units),
            None => Uncertainty::NotComputed,
        };
        let is_tie = |row: &&&Compared<_>| row.sides[0] == row.sides[1];
        PairedDifference {
            n,
            clusters: groups.map(|_| count),
            a,
            b,
            difference: change,
            stderr: uncertainty.stderr(),
            ci95: uncertainty.ci95(),
            p_value: tested.map(|(_, p_value)| p_value),
            test: tested.map_or(DifferenceTest::PermutationExact, |(test, _)| test),
            wins: 0,
            losses: 0,
            ties: rows.iter().filter(is_tie).count() as u64,
        }
    }

    fn draws_of_corpus(self, rows: u64) -> u32 {
        let most = u32::try_from(MAX_MERGED / rows.max(1)).unwrap_or(u32::MAX);
        self.draws.min(most.clamp(MIN_DRAWS, MAX_DRAWS))
    }

    fn exchange(
        self,
        observed: f64,
        rows: u64,
        equal: &[&Unit],
        differing: &[&Unit],
    ) -> (DifferenceTest, f64) {
        let mut base = [None, None];
        equal.iter().for_each(|unit| merge_unit(&mut base, unit));
        let exchanged = |exchanged: &[bool]| {
            let mut sides = base.clone();
            for ([a, b], is_exchanged) in differing.iter().zip(exchanged) {
                let [first, second] = &mut sides;
                let (of_a, of_b) = if *is_exchanged { (b, a) } else { (a, b) };
                merge(first, of_a);
                merge(second, of_b);
            }
            difference(&sides)
        };
        let draws = self.draws_of_corpus(rows);
        let test = exchange_test(differing.len(), observed, draws, self.seed, exchanged);
        (DifferenceTest::of(test), test.p_value)
    }

    fn bootstrap(self, rows: u64, units: &[Unit]) -> Uncertainty {
        let bootstrap = Bootstrap {
            resamples: RESAMPLES.min(self.draws_of_corpus(rows)),
            seed: self.seed,
        };
        bootstrap.statistic(units.len(), |sample| {
            let mut sides = [None, None];
            sample
                .iter()
                .for_each(|unit| merge_unit(&mut sides, &units[*unit]));
            difference(&sides)
        })
    }
}

/// Merges the rows of each group. If there are very many units, merges them into blocks to bound the time of a test.
/// Also returns the number of groups or rows. Returns `None` if a contribution is unknown.
fn units(
    rows: &[&Compared<Contribution<'_>>],
    groups: Option<&Groups>,
) -> Option<(u64, Vec<Unit>)> {
    let mut numbers = IndexSet::new();
    let mut units: Vec<Unit> = Vec::new();
    for row in rows {
        let [a, b] = row.sides;
        let (a, b) = (a?, b?);
        let (number, _) =
            numbers.insert_full(groups.map_or(row.pair, |groups| groups.of_pair[row.pair]));
        match units.get_mut(number % MAX_UNITS) {
            Some([all_a, all_b]) => {
                all_a.merge(a);
                all_b.merge(b);
            }
            None => units.push([a.clone(), b.clone()]),
        }
    }
    Some((numbers.len() as u64, units))
}
