//! Compares a score of all rows, such as macro F1 or corpus BLEU. The rows of both runs have contributions, which are
//! merged. The test and the interval merge other selections of rows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::difference::{DifferenceTest, PairedDifference, Testing};
use super::pairs::{NotCompared, Pairs};
use crate::contract::Counted;
use crate::results::ResultOutcome;
use crate::results::run_scores::{RunScores, Selected};
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

/// A row that both runs count.
pub(super) struct CorpusRow<'a> {
    /// Each run's contribution, if it is known.
    pub(super) states: [Option<&'a Counted>; 2],
    pub(super) group: Option<usize>,
}

/// The rows that are compared by a score of all rows.
#[derive(Default)]
pub(super) struct CorpusRows<'a> {
    pub(super) rows: Vec<CorpusRow<'a>>,
    /// The rows that either run did not count.
    pub(super) not_compared: NotCompared,
}

/// Returns a row's contribution, if the file has it. The error is the outcome of a row that is not counted.
fn contribution<'a>(
    metric: &str,
    run: &'a RunScores,
    row: usize,
) -> Result<Option<&'a Counted>, &'static str> {
    let score = run.scores_of(metric)(row);
    match (run.corpus(metric, row), score.outcome) {
        (Some(counted), _) => Ok(Some(counted)),
        (None, Some(ResultOutcome::Counted)) => Ok(None),
        (None, Some(ResultOutcome::Scored)) => Err("scored without counts"),
        (None, _) => Err(score.name()),
    }
}

impl<'a> CorpusRows<'a> {
    pub(super) fn of(metric: Selected<'_>, pairs: &Pairs<'a>, groups: Option<&[usize]>) -> Self {
        let mut rows = Self::default();
        for (position, pair) in pairs.pairs.iter().enumerate() {
            let sides = [(pairs.a, pair.a), (pairs.b, pair.b)];
            let sides = sides.map(|(run, row)| contribution(metric.metric(), run, row));
            let [Ok(a), Ok(b)] = sides else {
                rows.not_compared.add(sides.map(Result::err));
                continue;
            };
            let states = [a, b];
            rows.rows.push(CorpusRow {
                states,
                group: groups.map(|groups| groups[position]),
            });
        }
        rows
    }

    /// Returns the first pair of formulas that differ. Contributions to different formulas cannot be exchanged.
    pub(super) fn different_formulas(&self) -> Option<[String; 2]> {
        let formula = |counted: &Counted| Some(counted.record()?.get("formula")?.to_string());
        let states = self.rows.iter().flat_map(|row| row.states).flatten();
        let mut formulas = states.filter_map(formula);
        let first = formulas.next()?;
        let other = formulas.find(|formula| *formula != first)?;
        Some([first, other])
    }
}

/// The contributions of one row, or of several rows that are exchanged together.
type Unit<'a> = [Cow<'a, Counted>; 2];

fn merge(all: &mut Option<Counted>, more: &Counted) {
    match all {
        Some(all) => all.merge(more),
        None => *all = Some(more.clone()),
    }
}

/// Returns the score of merged contributions, or why there is none.
fn score(merged: &Option<Counted>) -> Result<f64, String> {
    let merged = merged.as_ref().ok_or("there are no rows")?;
    merged.score().map_err(|reason| reason.to_string())
}

/// Returns the second score minus the first, if both are defined.
fn difference(sides: &[Option<Counted>; 2]) -> Option<f64> {
    let [a, b] = sides.each_ref().map(|side| score(side).ok());
    Some(score_difference(b?, a?))
}

impl Testing {
    /// Compares the scores of these rows. With `by_group`, rows of the same group are exchanged and drawn together. The
    /// second value says why there is no difference.
    pub(super) fn of_corpus(
        self,
        rows: &[&CorpusRow<'_>],
        by_group: bool,
    ) -> (PairedDifference, Option<String>) {
        let n = rows.len() as u64;
        let scores = [0, 1].map(|side| {
            let mut all = None;
            for row in rows {
                merge(&mut all, row.states[side]?);
            }
            Some(score(&all))
        });
        let reason = |(side, score): (&str, &Option<Result<f64, String>>)| match score {
            Some(Err(reason)) if n > 0 => {
                Some(format!("the score of {side} is not defined: {reason}"))
            }
            _ => None,
        };
        let reason = ["A", "B"].into_iter().zip(&scores).find_map(reason);
        let [a, b] = scores.map(|score| score.and_then(Result::ok));
        let units = units(rows, by_group);
        let clusters = by_group.then_some(units.len() as u64);
        let units = blocks(units);
        let (equal, differing): (Vec<_>, Vec<_>) = units.iter().partition(|[a, b]| a == b);
        let change = a.zip(b).map(|(a, b)| score_difference(b, a));
        let tested = change.map(|change| self.exchange(change, n, &equal, &differing));
        let uncertainty = match change {
            Some(_) => self.bootstrap(n, &units),
            None => Uncertainty::NotComputed,
        };
        let ties = rows
            .iter()
            .filter(|row| row.states[0] == row.states[1])
            .count();
        let of_rows = PairedDifference {
            n,
            clusters,
            a,
            b,
            difference: change,
            stderr: uncertainty.stderr(),
            ci95: uncertainty.ci95(),
            p_value: tested.map(|(_, p_value)| p_value),
            test: tested.map_or(DifferenceTest::PermutationExact, |(test, _)| test),
            wins: 0,
            losses: 0,
            ties: ties as u64,
        };
        (of_rows, reason)
    }

    fn draws_of_corpus(self, rows: u64) -> u32 {
        let most = u32::try_from(MAX_MERGED / rows.max(1)).unwrap_or(u32::MAX);
        self.draws.min(most.clamp(MIN_DRAWS, MAX_DRAWS))
    }

    fn exchange(
        self,
        observed: f64,
        rows: u64,
        equal: &[&Unit<'_>],
        differing: &[&Unit<'_>],
    ) -> (DifferenceTest, f64) {
        let mut base = [None, None];
        for unit in equal {
            base.iter_mut()
                .zip(*unit)
                .for_each(|(all, state)| merge(all, state));
        }
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

    fn bootstrap(self, rows: u64, units: &[Unit<'_>]) -> Uncertainty {
        let resamples = RESAMPLES.min(self.draws_of_corpus(rows));
        Bootstrap {
            resamples,
            seed: self.seed,
        }
        .statistic(units.len(), |sample| {
            let mut sides = [None, None];
            for unit in sample {
                sides
                    .iter_mut()
                    .zip(&units[*unit])
                    .for_each(|(all, state)| merge(all, state));
            }
            difference(&sides)
        })
    }
}

/// Returns the rows, or with `by_group` the groups. Empty if a contribution is unknown.
fn units<'a>(rows: &[&CorpusRow<'a>], by_group: bool) -> Vec<Unit<'a>> {
    let unit = |row: &&CorpusRow<'a>| match row.states {
        [Some(a), Some(b)] => Some((row.group, [Cow::Borrowed(a), Cow::Borrowed(b)])),
        _ => None,
    };
    let Some(units) = rows.iter().map(unit).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    if !by_group {
        return units.into_iter().map(|(_, unit)| unit).collect();
    }
    let mut groups: BTreeMap<Option<usize>, Unit<'a>> = BTreeMap::new();
    for (group, unit) in units {
        match groups.get_mut(&group) {
            Some(all) => merge_unit(all, &unit),
            None => drop(groups.insert(group, unit)),
        }
    }
    groups.into_values().collect()
}

/// Merges units into blocks if there are very many, to bound the time of a test.
fn blocks(units: Vec<Unit<'_>>) -> Vec<Unit<'_>> {
    let mut blocks = units;
    let rest = blocks.split_off(blocks.len().min(MAX_UNITS));
    for (position, unit) in rest.iter().enumerate() {
        merge_unit(&mut blocks[position % MAX_UNITS], unit);
    }
    blocks
}

fn merge_unit<'a>(all: &mut Unit<'a>, more: &Unit<'a>) {
    all.iter_mut()
        .zip(more)
        .for_each(|(all, more)| all.to_mut().merge(more));
}
