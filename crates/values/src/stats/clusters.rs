//! The standard error of a mean whose rows come in groups that are not independent.

use std::collections::HashMap;
use std::hash::Hash;

use super::compact_sum::CompactSum;
use super::exact_sum::ExactSum;
use super::moments::Uncertainty;

/// Values in groups, such as the questions about one document. The rows of a group are alike, so they count for less
/// than as many independent rows.
///
/// ```
/// use dsrs_metrics::stats::{Clusters, Moments};
///
/// let scores = [("a", 1.0), ("b", 0.0), ("c", 0.5), ("d", 1.0)];
/// let mut once = Clusters::default();
/// scores.iter().for_each(|(group, score)| once.record(*group, *score));
/// let independent: Moments = scores.iter().map(|(_, score)| *score).collect();
/// assert!((once.uncertainty().stderr().unwrap() - independent.uncertainty().stderr().unwrap()).abs() < 1e-15);
///
/// // Copies of the rows add nothing.
/// let mut copied = once.clone();
/// (0..4).for_each(|_| copied.merge(&once));
/// assert_eq!(copied.uncertainty(), once.uncertainty());
/// ```
#[derive(Debug, Clone)]
pub struct Clusters<K> {
    groups: HashMap<K, Group>,
}

#[derive(Debug, Clone, Default)]
struct Group {
    count: u64,
    sum: CompactSum,
}

impl<K> Default for Clusters<K> {
    fn default() -> Self {
        Self { groups: HashMap::new() }
    }
}

impl<K: Hash + Eq + Clone> Clusters<K> {
    /// Adds a finite value of a group.
    pub fn record(&mut self, group: K, value: f64) {
        debug_assert!(value.is_finite());
        let group = self.groups.entry(group).or_default();
        group.count += 1;
        group.sum.add(value);
    }

    /// Adds the groups of another part of the rows.
    pub fn merge(&mut self, other: &Self) {
        for (key, more) in &other.groups {
            let group = self.groups.entry(key.clone()).or_default();
            group.count += more.count;
            group.sum.add_all(&more.sum);
        }
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the mean over all rows; `None` without rows.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let mut sum = ExactSum::default();
        self.groups.values().for_each(|group| group.sum.add_to(&mut sum));
        let count = self.groups.values().map(|group| group.count).sum();
        (count > 0).then(|| sum.mean(count))
    }

    /// Returns the cluster-robust standard error of the mean, and the interval by Student's t with one degree of freedom
    /// less than there are groups.
    ///
    /// With `G` groups of `n_g` rows with sums `s_g`, `n` rows and the mean `m`, the standard error is
    /// `√(G / (G - 1) Σ (s_g - n_g m)²) / n` (Liang and Zeger 1986), as of an ordinary least-squares fit of a constant in
    /// statsmodels with `cov_type="cluster"`.
    #[must_use]
    pub fn uncertainty(&self) -> Uncertainty {
        let groups = self.groups.len() as u64;
        let (Some(mean), true) = (self.mean(), groups > 1) else {
            return Uncertainty::NotEnoughRows { found: groups, needed: 2 };
        };
        let (mut squares, mut rows) = (ExactSum::default(), 0);
        for group in self.groups.values() {
            let mut deviation = ExactSum::default();
            group.sum.add_to(&mut deviation);
            deviation.add_times(-mean, group.count);
            let square = deviation.value().powi(2);
            if !square.is_finite() {
                return Uncertainty::TooLarge;
            }
            squares.add(square);
            rows += group.count;
        }
        let correction = groups as f64 / (groups - 1) as f64;
        let stderr = (correction * squares.value()).sqrt() / rows as f64;
        Uncertainty::student(mean, stderr, groups - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(u32, f64)]) -> Clusters<u32> {
        let mut clusters = Clusters::default();
        values.iter().for_each(|(group, value)| clusters.record(*group, *value));
        clusters
    }

    #[test]
    fn parts_have_the_groups_of_the_whole() {
        let values = [(1, 0.25), (2, 1.0), (1, 0.5), (3, 0.75), (2, 0.125), (1, 1.0)];
        for split in 0..=values.len() {
            let mut merged = of(&values[..split]);
            merged.merge(&of(&values[split..]));
            assert_eq!((merged.groups(), merged.mean()), (3, Some(3.625 / 6.0)));
            // The groups differ from 3, 2 and 1 times the mean by -1/16, -1/12 and 7/48.
            let stderr = (1.5_f64 * (9.0 + 16.0 + 49.0)).sqrt() / 48.0 / 6.0;
            let found = merged.uncertainty().stderr().unwrap();
            assert!((found - stderr).abs() < 1e-12, "{found} is not {stderr}");
        }
    }

    #[test]
    fn fewer_than_two_groups_have_no_interval() {
        assert_eq!((of(&[]).mean(), of(&[(1, 0.5)]).mean()), (None, Some(0.5)));
        for values in [&[] as &[(u32, f64)], &[(1, 0.5), (1, 1.0)]] {
            let found = of(values).groups() as u64;
            let expected = Uncertainty::NotEnoughRows { found, needed: 2 };
            assert_eq!(of(values).uncertainty(), expected);
        }
    }

    #[test]
    fn squares_and_sums_of_squares_that_are_not_finite_are_too_large() {
        for size in [1e200, 1e154] {
            let values = [(1, size), (2, -size), (3, size), (4, -size)];
            assert_eq!(of(&values).uncertainty(), Uncertainty::TooLarge);
        }
    }
}
