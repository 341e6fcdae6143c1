//! The standard error of a mean over grouped rows that are not independent within a group.

use std::collections::HashMap;
use std::hash::Hash;

use super::exact_sum::ExactSum;
use super::interval::{t_quantile, weight, wilson};
use super::moments::{Commonest, Uncertainty};

/// Grouped values, such as question scores grouped by document.
///
/// Rows in the same group are similar to each other, so they carry less information than the same number of independent
/// rows.
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
/// let shown = |it: &Clusters<_>| format!("{:.12}", it.uncertainty().ci95().unwrap());
/// assert_eq!(shown(&copied), shown(&once));
/// ```
#[derive(Debug, Clone)]
pub struct Clusters<K> {
    groups: HashMap<K, Group>,
}

#[derive(Debug, Clone, Default)]
struct Group {
    count: u64,
    sum: ExactSum,
}

impl<K> Default for Clusters<K> {
    fn default() -> Self {
        Self {
            groups: HashMap::new(),
        }
    }
}

impl<K: Hash + Eq + Clone> Clusters<K> {
    /// Adds a value to a group.
    ///
    /// The value must be finite.
    pub fn record(&mut self, group: K, value: f64) {
        debug_assert!(value.is_finite());
        let group = self.groups.entry(group).or_default();
        group.count += 1;
        group.sum.add(value);
    }

    /// Adds all values from `other`.
    pub fn merge(&mut self, other: &Self) {
        for (key, more) in &other.groups {
            let group = self.groups.entry(key.clone()).or_default();
            group.count += more.count;
            group.sum.add_all(&more.sum);
        }
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the mean over all rows, or `None` if there are no rows.
    pub fn mean(&self) -> Option<f64> {
        let (mut sum, mut count) = (ExactSum::default(), 0);
        for group in self.groups.values() {
            sum.add_all(&group.sum);
            count += group.count;
        }
        (count > 0).then(|| sum.mean(count))
    }

    /// Returns the standard error and the 95% interval of the mean.
    ///
    /// The standard error is cluster-robust, and the interval comes from Student's t distribution.
    ///
    /// The standard error is `√(Σ (s_g - n_g m)² / (1 - n_g / n)) / n`. Here, `n_g` is the number of rows in a group,
    /// and `s_g` is the sum of their values. `n` is the total number of rows, and `m` is the mean of all values.
    ///
    /// This is CR2 (Bell and McCaffrey 2002), which is unbiased for groups of unequal size if rows are independent.
    ///
    /// The degrees of freedom are the harmonic mean of two values: one for independent rows and one for groups of
    /// identical rows. `G` groups of equal size have `G - 1` degrees of freedom.
    ///
    /// If the values have a known range, use [`uncertainty_within`](Self::uncertainty_within) instead. Its interval
    /// contains the true mean more often.
    pub fn uncertainty(&self) -> Uncertainty {
        match (self.mean(), self.deviations()) {
            (Some(mean), Some(groups)) if groups.len() > 1 => {
                let stderr = variance(&groups, self.rows()).sqrt() / self.rows();
                Uncertainty::student(mean, stderr, degrees(&groups))
            }
            (Some(_), None) => Uncertainty::TooLarge,
            _ => Uncertainty::not_enough_rows(self.groups.len() as u64, 2),
        }
    }

    /// Returns the standard error and the interval of the mean, given the range of the values.
    ///
    /// All values must be between `min` and `max`.
    ///
    /// Student's interval is too narrow if only a few group means differ from the most common one. If fewer than 30 do,
    /// the interval is therefore computed as in [`Moments::uncertainty_within`](super::Moments::uncertainty_within),
    /// with groups instead of values.
    pub fn uncertainty_within(&self, min: f64, max: f64) -> Uncertainty {
        let (width, n) = (max - min, self.rows());
        let is_bounded = width > 0.0 && width.is_finite() && self.groups.len() > 1;
        let commonest = self.commonest().filter(|_| is_bounded);
        let known = (self.mean(), self.deviations(), commonest);
        let (Some(mean), Some(mut groups), Some(commonest)) = known else {
            return self.uncertainty().within(min, max);
        };
        let stderr = (variance(&groups, n) / n / n).sqrt();
        let degrees = degrees(&groups);
        // A group of the mean size at each end of the range.
        let rows = n / groups.len() as f64 * weight(commonest, groups.len() as u64);
        let mean = ((mean - min) / width).clamp(0.0, 1.0);
        let all = n + 2.0 * rows;
        let centre = (n * mean + rows) / all;
        for group in &mut groups {
            group.deviation = group.deviation / width + group.rows * (mean - centre);
        }
        groups.extend([0.0, 1.0].map(|end| Deviation {
            rows,
            deviation: rows * (end - centre),
        }));
        let effective = centre * (1.0 - centre) / (variance(&groups, all) / all / all) * n / all;
        let shares = wilson(mean, effective, t_quantile(degrees));
        Uncertainty::bounded(stderr, shares, min, max)
    }

    fn rows(&self) -> f64 {
        self.groups.values().map(|group| group.count).sum::<u64>() as f64
    }

    /// Returns how many groups have the most common mean, or `None` if at least 30 groups have a different one.
    pub(crate) fn commonest(&self) -> Option<u64> {
        let mut commonest = Commonest::default();
        for group in self.groups.values() {
            commonest.record(group.sum.mean(group.count), 1);
        }
        commonest.count()
    }

    /// Returns each group's deviation, in an order that depends only on the deviations. Returns `None` if a square is
    /// not finite.
    fn deviations(&self) -> Option<Vec<Deviation>> {
        let mean = self.mean()?;
        let deviation = |group: &Group| {
            let mut deviation = group.sum.clone();
            deviation.add_times(-mean, group.count);
            Deviation {
                rows: group.count as f64,
                deviation: deviation.value(),
            }
        };
        let mut groups: Vec<Deviation> = self.groups.values().map(deviation).collect();
        groups.sort_by(|a, b| {
            let by_rows = a.rows.total_cmp(&b.rows);
            by_rows.then(a.deviation.total_cmp(&b.deviation))
        });
        let sum: f64 = groups.iter().map(|group| group.deviation.powi(2)).sum();
        sum.is_finite().then_some(groups)
    }
}

/// A group of rows.
struct Deviation {
    rows: f64,
    /// The sum of the values minus the number of rows times the mean.
    deviation: f64,
}

/// Returns the variance of the sum over `all` rows in these groups.
fn variance(groups: &[Deviation], all: f64) -> f64 {
    let part = |group: &Deviation| group.deviation.powi(2) / (1.0 - group.rows / all);
    groups.iter().fold(0.0, |sum, group| sum + part(group))
}

/// Returns the harmonic mean of two degrees of freedom: one for independent rows within each group, and one for equal
/// rows.
fn degrees(groups: &[Deviation]) -> f64 {
    let sizes: Vec<f64> = groups.iter().map(|group| group.rows).collect();
    let independent = bell_mccaffrey(&sizes, |size| size);
    let equal = bell_mccaffrey(&sizes, |size| size * size);
    2.0 / (1.0 / independent + 1.0 / equal)
}

/// Returns the degrees of freedom of a mean's CR2 variance (Bell and McCaffrey 2002). They are `tr(B)² / tr(B²)`, where
/// `B` is the covariance of the adjusted deviations. The groups have the given sizes, and their sums are assumed to be
/// independent, with the given variances.
fn bell_mccaffrey(sizes: &[f64], variance: impl Fn(f64) -> f64) -> f64 {
    let n: f64 = sizes.iter().sum();
    let total = sizes.iter().map(|size| variance(*size)).sum::<f64>() / n / n;
    // B = diag(d) - (u vᵀ + v uᵀ) / n + total u uᵀ
    let (mut trace, mut squares) = (0.0, 0.0);
    let (mut uu, mut uv, mut vv) = (0.0, 0.0, 0.0);
    for size in sizes {
        let (adjusted, variance) = (1.0 / (1.0 - size / n), variance(*size));
        let (u, v) = (adjusted.sqrt() * size, adjusted.sqrt() * variance);
        let d = adjusted * variance;
        let rest = total * u * u - 2.0 * u * v / n;
        (trace, squares) = (trace + d + rest, squares + d * d + 2.0 * d * rest);
        (uu, uv, vv) = (uu + u * u, uv + u * v, vv + v * v);
    }
    squares += 2.0 * (uu * vv + uv * uv) / n / n - 4.0 * total * uu * uv / n + (total * uu).powi(2);
    trace * trace / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(u32, f64)]) -> Clusters<u32> {
        let mut clusters = Clusters::default();
        values
            .iter()
            .for_each(|(group, value)| clusters.record(*group, *value));
        clusters
    }

    #[test]
    fn parts_have_the_groups_of_the_whole() {
        let values = [
            (1, 0.25),
            (2, 1.0),
            (1, 0.5),
            (3, 0.75),
            (2, 0.125),
            (1, 1.0),
        ];
        for split in 0..=values.len() {
            let mut merged = of(&values[..split]);
            merged.merge(&of(&values[split..]));
            assert_eq!((merged.groups(), merged.mean()), (3, Some(3.625 / 6.0)));
            // The groups differ from 3, 2 and 1 times the mean by -1/16, -1/12 and 7/48.
            let stderr = (9.0 * 2.0 + 16.0 * 1.5 + 49.0 * 1.2_f64).sqrt() / 48.0 / 6.0;
            let found = merged.uncertainty().stderr().unwrap();
            assert!((found - stderr).abs() < 1e-12, "{found} is not {stderr}");
        }
    }

    /// Returns groups of these sizes. The rows have the values 37/101, 74/101, 10/101 and so on.
    fn sized(sizes: &[u32]) -> Clusters<u32> {
        let mut clusters = Clusters::default();
        let groups = (0..)
            .zip(sizes)
            .flat_map(|(group, size)| (0..*size).map(move |_| group));
        for (row, group) in (1_u32..).zip(groups) {
            clusters.record(group, f64::from(row * 37 % 101) / 101.0);
        }
        clusters
    }

    #[test]
    fn standard_errors_and_degrees_of_freedom_are_those_of_r() {
        let large = |first: &[u32], others: usize, size: u32| {
            first
                .iter()
                .copied()
                .chain(std::iter::repeat_n(size, others))
                .collect::<Vec<_>>()
        };
        // R's clubSandwich 0.5.8: `coef_test(lm(x ~ 1), vcov = "CR2", cluster = g, test = "Satterthwaite")`.
        for (sizes, stderr, degrees) in [
            (large(&[], 6, 20), 0.006_912_596_206_883_79, 5.0),
            (
                large(&[50], 5, 5),
                0.018_088_183_010_730_2,
                1.884_615_384_615_4,
            ),
            (
                large(&[100], 9, 5),
                0.011_967_648_668_283_4,
                1.921_568_627_451,
            ),
            (
                large(&[30; 3], 20, 3),
                0.009_271_690_789_301_43,
                6.872_271_914_132_37,
            ),
            (large(&[], 8, 1), 0.105_256_244_807_02, 7.0),
            (large(&[99], 1, 1), 0.013_433_673_768_314_7, 1.0),
        ] {
            let found = sized(&sizes).uncertainty().stderr().unwrap();
            assert!(
                (found - stderr).abs() < 1e-9,
                "{sizes:?}: {found} is not {stderr}"
            );
            let sizes: Vec<f64> = sizes.into_iter().map(f64::from).collect();
            let found = bell_mccaffrey(&sizes, |size| size);
            assert!(
                (found - degrees).abs() < 1e-9,
                "{sizes:?}: {found} is not {degrees}"
            );
        }
    }

    #[test]
    fn degrees_of_freedom_are_those_of_the_whole_matrix() {
        let sizes = [40.0, 30.0, 20.0, 10.0, 5.0, 5.0];
        let n: f64 = sizes.iter().sum();
        for variance in [|size: f64| size, |size: f64| size * size] {
            let (mut trace, mut squares) = (0.0, 0.0);
            let of = |a: usize, b: usize| {
                let residual = |row: usize, group: usize| {
                    (if row == group { 1.0 } else { 0.0 }) - sizes[row] / n
                };
                let covariance = (0..6)
                    .map(|group| residual(a, group) * variance(sizes[group]) * residual(b, group));
                let adjusted = |group: usize| 1.0 / (1.0 - sizes[group] / n).sqrt();
                adjusted(a) * adjusted(b) * covariance.sum::<f64>()
            };
            for a in 0..6 {
                trace += of(a, a);
                squares += (0..6).map(|b| of(a, b).powi(2)).sum::<f64>();
            }
            let found = bell_mccaffrey(&sizes, variance);
            assert!((found - trace * trace / squares).abs() < 1e-12, "{found}");
        }
        // 3.0 for independent rows, and 2.0 for copies.
        let groups = sizes.map(|rows| Deviation {
            rows,
            deviation: 0.0,
        });
        assert!(
            (degrees(&groups) - 2.4).abs() < 0.05,
            "{}",
            degrees(&groups)
        );
    }

    #[test]
    fn groups_that_pass_have_an_interval() {
        let mut passes = Clusters::default();
        (0..100_u32).for_each(|row| passes.record(row % 10, 1.0));
        let Uncertainty::WithoutStderr { ci95 } = passes.uncertainty_within(0.0, 1.0) else {
            panic!("{passes:?}")
        };
        // The same as ten rows that pass.
        let rows: super::super::Moments = [1.0; 10].into_iter().collect();
        assert_eq!(ci95.high, 1.0);
        assert!((ci95.low - rows.uncertainty_within(0.0, 1.0).ci95().unwrap().low).abs() < 0.01);
        assert_eq!(passes.uncertainty(), Uncertainty::Constant);
        // If nearly all groups differ, the interval is that of their standard error.
        let many = sized(&[5; 40]);
        assert_eq!(many.uncertainty_within(0.0, 1.0), many.uncertainty());
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
