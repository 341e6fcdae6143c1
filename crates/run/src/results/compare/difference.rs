//! The difference between two runs over some rows, with its interval and its test.

use std::fmt;

use serde::Serialize;
use serde::ser::Serializer;

use super::pairs::{Compared, Groups, Pairs};
use crate::contract::{Direction, ScoreKind, ScoreRange};
use crate::evaluate::summary::{Place, Sample};
use crate::stats::{
    BettingTest, Interval, Moments, PairedShares, PermutationTest, detectable_difference,
    mcnemar_exact, mcnemar_mid_p, permutation_limit, permutation_test, population_sequence,
    score_difference,
};

/// The difference between the means or corpus scores of two runs.
///
/// The difference is computed over the compared rows only.
///
/// For pass/fail metrics, means are fractions in [0, 1].
///
/// A value that cannot be computed is `None`.
///
/// Single rows have no corpus score. In a comparison of corpus scores, `wins` and `losses` are therefore 0, and `ties`
/// counts the rows with equal contributions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedDifference {
    /// The number of compared rows.
    pub n: u64,
    /// The number of groups, if the interval and the test account for groups.
    #[serde(rename = "clusters", skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    /// The first run's mean or corpus score.
    pub a: Option<f64>,
    /// The second run's mean or corpus score.
    pub b: Option<f64>,
    /// The difference `b - a`.
    ///
    /// This is `None` if there are no rows, if a score is above 1e150 in magnitude, or if a corpus score is unknown.
    pub difference: Option<f64>,
    /// The standard error of the difference.
    ///
    /// The error is cluster-robust if rows are grouped. For a corpus score, it is computed with the paired bootstrap
    /// (Koehn 2004).
    pub stderr: Option<f64>,
    /// The 95% interval of the difference.
    ///
    /// Pass/fail metrics use Tango's interval. Numbers use a Student's t interval, or a Wilson interval if [most rows
    /// are equal](Moments::uncertainty_within). Corpus scores use an interval from the paired bootstrap.
    pub ci95: Option<Interval>,
    /// The two-sided p-value of `test`.
    ///
    /// This is `None` if `difference` is `None`.
    pub p_value: Option<f64>,
    /// The test that produced the p-value.
    pub test: DifferenceTest,
    /// The number of rows that are better in the second run.
    pub wins: u64,
    /// The number of rows that are worse in the second run.
    pub losses: u64,
    /// The number of rows with the same score in both runs.
    ///
    /// Scores that [differ only by rounding](score_difference) count as the same.
    pub ties: u64,
}

impl PairedDifference {
    /// Returns `true` if a comparison of this size has less than 80% power.
    ///
    /// With this many rows, a difference of the observed size would be detected less than 80% of the time, at the 5%
    /// level.
    ///
    /// If the observed difference is significant anyway, the true difference is probably smaller.
    pub fn has_low_power(&self) -> bool {
        let (Some(difference), Some(stderr)) = (self.difference, self.stderr) else {
            return false;
        };
        difference.abs() < detectable_difference(stderr)
    }
}

/// The statistical test used to compare paired runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DifferenceTest {
    /// McNemar's exact test on the rows that pass in exactly one of the runs.
    McnemarExact,
    /// The mid-p value of McNemar's test.
    ///
    /// See [`mcnemar_mid_p`](crate::stats::mcnemar_mid_p).
    McnemarMidP,
    /// The permutation test over all sign assignments.
    ///
    /// For a corpus score, the test covers all possible ways to swap the results of the two runs.
    PermutationExact,
    /// The permutation test over this many random assignments.
    Permutation(u64),
    /// A normal approximation of the permutation test, used if there are very many rows.
    ///
    /// See [`permutation_limit`](crate::stats::permutation_limit).
    PermutationLimit,
    /// A betting test, which stays valid no matter how often you compare the runs.
    ///
    /// The test bets on each row, once for each run. See [`BettingTest`].
    Betting,
    /// The test used if a metric judged only a sample of the rows.
    ///
    /// The test corresponds to the interval of [`sampled_difference`](crate::stats::sampled_difference).
    PredictionPowered,
}

impl DifferenceTest {
    pub(super) fn of(test: PermutationTest) -> Self {
        match test.is_exact {
            true => Self::PermutationExact,
            false => Self::Permutation(test.assignments),
        }
    }

    /// Returns the test's name in snake case.
    ///
    /// The JSON form uses this name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::McnemarExact => "mcnemar_exact",
            Self::McnemarMidP => "mcnemar_mid_p",
            Self::PermutationExact => "permutation_exact",
            Self::Permutation(_) => "permutation",
            Self::PermutationLimit => "permutation_limit",
            Self::Betting => "betting",
            Self::PredictionPowered => "prediction_powered",
        }
    }
}

impl fmt::Display for DifferenceTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for DifferenceTest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How a difference is tested.
#[derive(Clone, Copy)]
pub(super) struct Testing<'a> {
    pub(super) pairs: &'a Pairs<'a>,
    pub(super) kind: ScoreKind,
    /// `true` if every score is 0 or 1, for pass or fail.
    pub(super) is_pass_or_fail: bool,
    /// `true` to use the mid-p value for pass or fail.
    pub(super) is_mid_p: bool,
    /// `true` to test by betting, row by row.
    pub(super) is_sequential: bool,
    /// The range of the scores.
    pub(super) range: Option<ScoreRange>,
    pub(super) direction: Direction,
    pub(super) draws: u32,
    pub(super) seed: u64,
}

/// Returns how many rows or groups are needed for the smallest possible p-value, `2 / 2^n`, times the number of tests
/// to be below 5%.
pub(super) fn least_units(tests: usize) -> u64 {
    let least = (1..64).find(|n| tests as f64 * 2.0 * 0.5_f64.powi(*n) < 0.05);
    least.map_or(64, |n| n as u64)
}

impl Testing<'_> {
    /// Tests the rows. If each pair has a group, rows of the same group are not independent.
    pub(super) fn of(self, rows: &[&Compared], groups: Option<&Groups>) -> PairedDifference {
        let differences: Vec<f64> = rows.iter().map(|row| row.change()).collect();
        let moments: Moments = differences.iter().copied().collect();
        let n = differences.len() as u64;
        // Without a difference, there are no rows or the scores are too large.
        let difference = moments
            .mean()
            .filter(|_| n < 2 || moments.variance().is_some());
        let group = |row: &&Compared| groups.map_or(0, |groups| groups.of_pair[row.pair]);
        let grouped = rows.iter().map(group).zip(differences.iter().copied());
        let mut sample = Sample::new(groups.is_some() && difference.is_some(), None);
        for (group, change) in grouped.clone() {
            let group = u32::try_from(group).unwrap_or(u32::MAX);
            sample.record(Place { row: 0, group }, change);
        }
        let mean = |side: usize| {
            let scores = rows.iter().map(|row| row.sides[side]);
            scores.collect::<Moments>().mean()
        };
        let count = |is: fn(&&f64) -> bool| differences.iter().filter(is).count() as u64;
        let (above, below) = (count(|it| **it > 0.0), count(|it| **it < 0.0));
        let (wins, losses) = match self.direction {
            Direction::HigherIsBetter => (above, below),
            Direction::LowerIsBetter => (below, above),
        };
        let most = self.range.map(|range| range.max - range.min);
        let sequential = most.filter(|_| self.is_sequential && n > 0);
        let sequential = sequential.map(|most| Interval {
            low: -most,
            high: most,
        });
        let (test, p_value) = match groups {
            _ if let Some(range) = sequential => betting(&differences, range),
            Some(_) => self.permutation(&sums(grouped)),
            None if self.is_pass_or_fail && self.is_mid_p => {
                (DifferenceTest::McnemarMidP, mcnemar_mid_p(wins, losses))
            }
            None if self.is_pass_or_fail => {
                (DifferenceTest::McnemarExact, mcnemar_exact(wins, losses))
            }
            None => self.permutation(&differences),
        };
        let range = most.map(|max| ScoreRange { min: -max, max });
        let uncertainty = sample.uncertainty(ScoreKind::Number, range);
        let ci95 = match sample.groups() {
            _ if let Some(range) = sequential => Some(population_sequence(&differences, range)),
            None if self.is_pass_or_fail => PairedShares {
                wins: above,
                losses: below,
                rows: n,
            }
            .tango(),
            _ => uncertainty.ci95(),
        };
        PairedDifference {
            n,
            clusters: sample.groups(),
            a: mean(0),
            b: mean(1),
            difference,
            stderr: uncertainty.stderr(),
            ci95,
            p_value: difference.map(|_| p_value),
            test,
            wins,
            losses,
            ties: n - wins - losses,
        }
    }

    fn permutation(self, differences: &[f64]) -> (DifferenceTest, f64) {
        if let Some(p_value) = permutation_limit(differences) {
            return (DifferenceTest::PermutationLimit, p_value);
        }
        let test = permutation_test(differences, self.draws, self.seed);
        (DifferenceTest::of(test), test.p_value)
    }
}

/// Tests by betting on each row, once for each run.
fn betting(differences: &[f64], range: Interval) -> (DifferenceTest, f64) {
    let mut test = BettingTest::of_population(range, 0.0);
    let differences = differences.iter();
    differences.for_each(|difference| test.record(Some(*difference)));
    let capital = test.above().max(test.below());
    (DifferenceTest::Betting, (2.0 / capital).min(1.0))
}

/// Returns the sum of the differences in each group. Differences that cancel up to rounding sum to 0.
fn sums(grouped: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for (group, difference) in grouped {
        if sums.len() <= group {
            sums.resize(group + 1, (0.0, 0.0));
        }
        let (above, below) = &mut sums[group];
        *(if difference > 0.0 { above } else { below }) += difference.abs();
    }
    sums.into_iter()
        .map(|(above, below)| score_difference(above, below))
        .collect()
}
