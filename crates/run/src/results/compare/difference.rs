//! The difference between two runs over some rows, with its interval and its test.

use std::fmt;

use serde::Serialize;
use serde::ser::Serializer;

use super::pairs::Compared;
use crate::core::spec::{Direction, ScoreKind};
use crate::stats::{
    Clusters, Interval, Moments, PermutationTest, Uncertainty, mcnemar_exact, permutation_limit,
    permutation_test, rows_for_power,
};

/// The difference between the means of two runs, or between their scores of all rows, over the rows that are compared.
///
/// Means of pass or fail are shares in [0, 1]. `None` is a figure that cannot be computed. A row has no score of all rows,
/// so that `wins` and `losses` are 0 for such a score, and `ties` are the rows with equal contributions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedDifference {
    /// The number of rows.
    pub n: u64,
    /// The number of groups, if the interval and the test are by group.
    #[serde(rename = "clusters", skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    /// The mean of the first run, or its score of all rows.
    pub a: Option<f64>,
    /// The mean of the second run, or its score of all rows.
    pub b: Option<f64>,
    /// The second minus the first; `None` without rows, with a score above 1e150 in magnitude, and if a score of all rows
    /// is not known.
    pub difference: Option<f64>,
    /// The standard error of the difference: of the mean of the differences of rows, or cluster-robust by group;
    /// of a score of all rows by the paired bootstrap (Koehn 2004).
    pub stderr: Option<f64>,
    /// The 95% interval of the difference, by Student's t, or by the same bootstrap.
    pub ci95: Option<Interval>,
    /// The two-sided p-value of `test`; `None` without a difference.
    pub p_value: Option<f64>,
    /// The test of the hypothesis that the runs are equally good.
    pub test: DifferenceTest,
    /// The rows in which the second run is better.
    pub wins: u64,
    /// The rows in which the second run is worse.
    pub losses: u64,
    /// The rows with the same score.
    pub ties: u64,
    /// The number of rows needed to detect this difference with 80% power (alpha 5%). `None` if the
    /// difference is 0 or its error is not known.
    pub power_rows: Option<u64>,
}

/// A test of paired runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DifferenceTest {
    /// McNemar's exact test of the rows that only one run passes.
    McnemarExact,
    /// The permutation test over all assignments of signs, or for a score of all rows over all ways to exchange the
    /// results of rows.
    PermutationExact,
    /// The permutation test over this number of random assignments.
    Permutation(u64),
    /// The normal limit of the permutation test over very many rows, see [`permutation_limit`](crate::stats::permutation_limit).
    PermutationLimit,
}

impl DifferenceTest {
    pub(super) fn of(test: PermutationTest) -> Self {
        match test.is_exact {
            true => Self::PermutationExact,
            false => Self::Permutation(test.assignments),
        }
    }

    /// Returns the name of the test in snake case, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::McnemarExact => "mcnemar_exact",
            Self::PermutationExact => "permutation_exact",
            Self::Permutation(_) => "permutation",
            Self::PermutationLimit => "permutation_limit",
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
pub(super) struct Testing {
    pub(super) kind: ScoreKind,
    /// Whether every score is 0 or 1, for pass or fail.
    pub(super) is_pass_or_fail: bool,
    pub(super) direction: Direction,
    pub(super) draws: u32,
    pub(super) seed: u64,
}

impl Testing {
    /// The number of rows or groups at which the smallest possible p-value, `2 / 2^n`, times the number of tests is
    /// below 5%.
    pub(super) fn least_units(tests: usize) -> u64 {
        (1..64).find(|n| tests as f64 * 2.0 * 0.5_f64.powi(*n) < 0.05).map_or(64, |n| n as u64)
    }

    /// Tests the rows. With the group of each pair, the rows of a group are not independent.
    pub(super) fn of<'r>(
        self,
        rows: &(impl Iterator<Item = &'r Compared> + Clone),
        groups: Option<&[usize]>,
    ) -> PairedDifference {
        let differences: Vec<f64> = rows.clone().map(|row| row.b - row.a).collect();
        let moments: Moments = differences.iter().copied().collect();
        // Without a difference, there are no rows or too large scores.
        let difference = moments.mean().filter(|_| moments.uncertainty() != Uncertainty::TooLarge);
        let grouped = groups.map(|of_pair| {
            let groups = rows.clone().map(|row| of_pair[row.pair]);
            groups.zip(differences.iter().copied())
        });
        let clusters = grouped.clone().filter(|_| difference.is_some()).map(cluster);
        let uncertainty = match &clusters {
            Some(clusters) => clusters.uncertainty(),
            None => moments.uncertainty(),
        };
        let mean = |of: fn(&Compared) -> f64| rows.clone().map(of).collect::<Moments>().mean();
        let (above, below) = (
            differences.iter().filter(|it| **it > 0.0).count() as u64,
            differences.iter().filter(|it| **it < 0.0).count() as u64,
        );
        let (wins, losses) = match self.direction {
            Direction::HigherIsBetter => (above, below),
            Direction::LowerIsBetter => (below, above),
        };
        let n = differences.len() as u64;
        let (test, p_value) = match grouped {
            Some(grouped) => self.permutation(&sums(grouped)),
            None if self.is_pass_or_fail => {
                (DifferenceTest::McnemarExact, mcnemar_exact(wins, losses))
            }
            None => self.permutation(&differences),
        };
        PairedDifference {
            n,
            clusters: clusters.map(|clusters| clusters.groups() as u64),
            a: mean(|row| row.a),
            b: mean(|row| row.b),
            difference,
            stderr: uncertainty.stderr(),
            ci95: uncertainty.ci95(),
            p_value: difference.map(|_| p_value),
            test,
            wins,
            losses,
            ties: n - wins - losses,
            power_rows: power_rows(uncertainty, n, difference),
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

pub(super) fn power_rows(uncertainty: Uncertainty, n: u64, difference: Option<f64>) -> Option<u64> {
    let deviation = uncertainty.stderr()? * (n as f64).sqrt();
    rows_for_power(deviation, difference?)
}

fn cluster(grouped: impl Iterator<Item = (usize, f64)>) -> Clusters<usize> {
    let mut clusters = Clusters::default();
    grouped.for_each(|(group, difference)| clusters.record(group, difference));
    clusters
}

/// The sum of the differences of each group.
fn sums(grouped: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
    let mut sums = Vec::new();
    for (group, difference) in grouped {
        if sums.len() <= group {
            sums.resize(group + 1, 0.0);
        }
        sums[group] += difference;
    }
    sums
}
