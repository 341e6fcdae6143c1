//! Bootstrap resampling, which estimates how much a statistic varies between samples of the rows.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use statrs::distribution::{ContinuousCDF, Normal};

use super::exact_sum::ExactSum;
use super::interval::{Interval, Z};
use super::moments::Uncertainty;

/// Computes confidence intervals by bootstrap resampling.
///
/// Rows are drawn with replacement. The same seed yields the same interval on every platform.
///
/// ```
/// use dsrs_metrics::stats::Bootstrap;
///
/// let scores: Vec<f64> = (0..40).map(|row| f64::from(row % 5) / 4.0).collect();
/// let mean = |rows: &[usize]| {
///     Some(rows.iter().map(|row| scores[*row]).sum::<f64>() / rows.len() as f64)
/// };
/// let interval = Bootstrap::default().interval(scores.len(), mean).unwrap();
/// assert!(interval.contains(0.5) && interval.high - interval.low < 0.3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// The number of resamples.
    ///
    /// The ends of the interval are quantiles of the values on the resamples. If there are fewer than about 1,000
    /// resamples, the ends vary a lot.
    pub resamples: u32,
    /// The seed for the random number generator.
    ///
    /// The generator is xoshiro256++, seeded through SplitMix64.
    pub seed: u64,
}

impl Default for Bootstrap {
    /// 2,000 resamples from seed 0.
    fn default() -> Self {
        Self {
            resamples: 2_000,
            seed: 0,
        }
    }
}

/// At most one in this many samples may be undefined.
const MOST_UNDEFINED: usize = 20;

impl Bootstrap {
    /// Returns the percentile bootstrap interval for a statistic (Efron 1979).
    ///
    /// The interval runs from the 2.5% quantile to the 97.5% quantile of the statistic's values on the resamples. A
    /// resample is a list of `rows` row indices.
    ///
    /// Returns `None` if there are no rows or resamples, or if the statistic is undefined on more than 5% of the
    /// resamples.
    ///
    /// Also returns `None` if the statistic has the same value on every resample, because then its error cannot be
    /// estimated.
    pub fn interval(
        &self,
        rows: usize,
        statistic: impl FnMut(&[usize]) -> Option<f64>,
    ) -> Option<Interval> {
        self.statistic(rows, statistic).ci95()
    }

    /// Returns the standard error and the 95% interval for a statistic over `rows` rows.
    ///
    /// The standard error is the standard deviation of the statistic's values on the resamples. The interval is the
    /// same as that of [`interval`](Self::interval).
    ///
    /// If the statistic is the difference between two systems, this is the paired bootstrap of Koehn (2004).
    ///
    /// ```
    /// use dsrs_metrics::stats::Bootstrap;
    ///
    /// let change: Vec<f64> = (0..40).map(|row| f64::from(row % 5) / 4.0 - 0.25).collect();
    /// let mean = |rows: &[usize]| Some(rows.iter().map(|row| change[*row]).sum::<f64>() / 40.0);
    /// let uncertainty = Bootstrap::default().statistic(40, mean);
    /// assert!((uncertainty.stderr().unwrap() - 0.125_f64.sqrt() / 40_f64.sqrt()).abs() < 0.003);
    /// ```
    pub fn statistic(
        &self,
        rows: usize,
        mut statistic: impl FnMut(&[usize]) -> Option<f64>,
    ) -> Uncertainty {
        let mut values = match rows {
            0 => Vec::new(),
            rows => self.values(rows, |sample| statistic(sample).filter(|it| it.is_finite())),
        };
        let undefined = self.resamples as usize - values.len();
        if values.is_empty() || undefined * MOST_UNDEFINED > values.len() + undefined {
            return Uncertainty::NotComputed;
        }
        values.sort_unstable_by(f64::total_cmp);
        let ci95 = Interval::new(quantile(&values, 0.025), quantile(&values, 0.975));
        match (deviation(&values), values.first() < values.last()) {
            (stderr, true) if stderr.is_finite() => Uncertainty::Known { stderr, ci95 },
            (_, true) => Uncertainty::TooLarge,
            (_, false) => Uncertainty::Constant,
        }
    }

    /// Returns the statistic's values on the resamples.
    fn values(&self, rows: usize, mut statistic: impl FnMut(&[usize]) -> Option<f64>) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        // The high half of the product is uniform below `rows`, except for a bias of `rows` in 2^64.
        let mut draw = || ((u128::from(random.next_u64()) * rows as u128) >> 64) as usize;
        let mut sample = vec![0; rows];
        let values = (0..self.resamples).filter_map(|_| {
            sample.fill_with(&mut draw);
            statistic(&sample)
        });
        values.collect()
    }

    /// Returns the standard error and the 95% interval of a mean.
    ///
    /// The standard error is the standard deviation of the resamples' means. The interval is the bias-corrected and
    /// accelerated one (BCa, Efron 1987). Both are the same as in `scipy.stats.bootstrap`.
    ///
    /// Each unit is a single row or a group of rows, given as `(sum of scores, number of rows)`. The rows of a unit are
    /// always drawn together. The mean is taken over rows, not units.
    ///
    /// ```
    /// use dsrs_metrics::stats::Bootstrap;
    ///
    /// let skewed: Vec<(f64, u64)> = (0..50).map(|row| ((f64::from(row) / 49.0).powi(4), 1)).collect();
    /// let interval = Bootstrap::default().mean(&skewed).ci95().unwrap();
    /// // The mean is 0.21. The interval reaches further above it than below.
    /// assert_eq!(format!("{interval:.2}"), "[0.14, 0.29]");
    /// ```
    pub fn mean(&self, units: &[(f64, u64)]) -> Uncertainty {
        let found = units.len() as u64;
        let (Some(mean), true) = (mean_of(units), found > 1 && self.resamples > 0) else {
            return Uncertainty::NotEnoughRows { found, needed: 2 };
        };
        let means = self.values(units.len(), |sample| {
            let drawn = sample.iter().map(|at| units[*at]);
            let (sum, rows) = drawn.fold((0.0, 0), |all, unit| (all.0 + unit.0, all.1 + unit.1));
            Some(sum / rows as f64)
        });
        let stderr = deviation(&means);
        match bca_interval(mean, means, &jackknife(units)) {
            _ if !stderr.is_finite() => Uncertainty::TooLarge,
            Some(ci95) => Uncertainty::Known { stderr, ci95 },
            None => Uncertainty::Constant,
        }
    }
}

fn mean_of(units: &[(f64, u64)]) -> Option<f64> {
    let rows: u64 = units.iter().map(|(_, rows)| rows).sum();
    let mut sum = ExactSum::default();
    units.iter().for_each(|(unit, _)| sum.add(*unit));
    (rows > 0).then(|| sum.mean(rows))
}

/// Returns the means with each unit left out in turn.
fn jackknife(units: &[(f64, u64)]) -> Vec<f64> {
    let sum: f64 = units.iter().map(|(sum, _)| sum).sum();
    let rows: u64 = units.iter().map(|(_, rows)| rows).sum();
    let without = |(unit, count): &(f64, u64)| (sum - unit) / (rows - count) as f64;
    units.iter().map(without).collect()
}

/// Returns the standard deviation with `n - 1` in the denominator.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (n - 1.0)).sqrt()
}

/// Returns the bias-corrected and accelerated interval for an estimate (BCa, Efron 1987).
///
/// `samples` contains the estimate for each resample of the rows. `jackknife` contains the estimates with each row left
/// out in turn.
///
/// Returns `None` if the values in `samples` are all equal, or if all of them are on the same side of `estimate`.
///
/// ```
/// use dsrs_metrics::stats::bca_interval;
///
/// let samples: Vec<f64> = (0..=100).map(f64::from).collect();
/// // Without bias and skewness these are the quantiles.
/// let interval = bca_interval(50.0, samples, &[49.0, 50.0, 51.0]).unwrap();
/// assert_eq!(format!("{interval:.2}"), "[2.50, 97.50]");
/// ```
pub fn bca_interval(estimate: f64, mut samples: Vec<f64>, jackknife: &[f64]) -> Option<Interval> {
    samples.sort_unstable_by(f64::total_cmp);
    if samples.first()? == samples.last()? {
        return None;
    }
    let below = samples.partition_point(|value| *value < estimate);
    let up_to = samples.partition_point(|value| *value <= estimate);
    let share = (below + up_to) as f64 / (2 * samples.len()) as f64;
    let normal = Normal::standard();
    let bias = normal.inverse_cdf(share);
    let centre = jackknife.iter().sum::<f64>() / jackknife.len() as f64;
    let moment = |power: i32| -> f64 { jackknife.iter().map(|it| (centre - it).powi(power)).sum() };
    let acceleration = moment(3) / (6.0 * moment(2).powf(1.5));
    let end = |z: f64| {
        let z = bias + z;
        quantile(&samples, normal.cdf(bias + z / (1.0 - acceleration * z)))
    };
    let is_defined = bias.is_finite() && acceleration.is_finite();
    is_defined.then(|| Interval::new(end(-Z), end(Z)))
}

/// Returns a quantile of sorted values, by linear interpolation.
fn quantile(values: &[f64], share: f64) -> f64 {
    let place = share * (values.len() - 1) as f64;
    let (below, rest) = (values[place as usize], place.fract());
    let above = values.get(place as usize + 1).copied().unwrap_or(below);
    below + rest * (above - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the uncertainty of a statistic that has these values on the resamples.
    fn of_values(values: &[Option<f64>]) -> Uncertainty {
        let mut values = values.iter().copied();
        let bootstrap = Bootstrap {
            resamples: values.len() as u32,
            seed: 0,
        };
        bootstrap.statistic(3, |_| values.next().flatten())
    }

    #[track_caller]
    fn assert_close(found: Interval, expected: Interval) {
        let is_close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(
            is_close(found.low, expected.low) && is_close(found.high, expected.high),
            "{found} is not {expected}"
        );
    }

    #[test]
    fn a_statistic_has_the_deviation_and_the_quantiles_of_its_values() {
        let found = of_values(&[4.0, 1.0, 3.0, 5.0, 2.0].map(Some));
        // The squared differences from 3 are 4, 1, 0, 1 and 4, and the quantiles are at 2.5% and 97.5% of the way from 1 to 5.
        assert_eq!(found.stderr(), Some((10.0_f64 / 4.0).sqrt()));
        assert_close(found.ci95().unwrap(), Interval::new(1.1, 4.9));
    }

    #[test]
    fn one_undefined_sample_in_twenty_is_accepted() {
        let undefined = |undefined: u32| {
            let values = (0..20).map(|sample| (sample >= undefined).then_some(f64::from(sample)));
            of_values(&values.collect::<Vec<_>>())
        };
        // The numbers 1 to 19: 0.45 above the smallest, and 0.45 below the largest one.
        assert_close(undefined(1).ci95().unwrap(), Interval::new(1.45, 18.55));
        assert_eq!(undefined(2), Uncertainty::NotComputed);
    }

    #[test]
    fn a_variance_that_is_not_finite_is_too_large() {
        assert_eq!(of_values(&[1e200, -1e200].map(Some)), Uncertainty::TooLarge);
        let units = [(1e200, 1), (-1e200, 1)];
        assert_eq!(Bootstrap::default().mean(&units), Uncertainty::TooLarge);
    }

    #[test]
    fn a_mean_needs_two_units_with_rows_and_a_sample() {
        for units in [&[] as &[(f64, u64)], &[(0.5, 1)], &[(0.0, 0), (0.0, 0)]] {
            let expected = Uncertainty::NotEnoughRows {
                found: units.len() as u64,
                needed: 2,
            };
            assert_eq!(Bootstrap::default().mean(units), expected);
        }
        let without_samples = Bootstrap {
            resamples: 0,
            seed: 0,
        }
        .mean(&[(0.5, 1), (1.0, 1)]);
        assert_eq!(without_samples.ci95(), None);
        assert_ne!(
            without_samples,
            Uncertainty::Constant,
            "the values are not equal"
        );
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_its_samples_and_of_the_mean_without_each_unit() {
        let units = [(9.0, 1), (1.0, 3), (0.5, 2), (7.0, 8), (2.0, 5), (0.0, 4)];
        let mean = |of: &[usize]| {
            let sum: f64 = of.iter().map(|at| units[*at].0).sum();
            sum / of.iter().map(|at| units[*at].1).sum::<u64>() as f64
        };
        let (bootstrap, mut means) = (
            Bootstrap {
                resamples: 200,
                seed: 3,
            },
            Vec::new(),
        );
        let samples = bootstrap.statistic(units.len(), |sample| {
            means.push(mean(sample));
            means.last().copied()
        });
        let all = [0, 1, 2, 3, 4, 5];
        let without = all.map(|unit| mean(&[&all[..unit], &all[unit + 1..]].concat()));
        let found = bootstrap.mean(&units);
        assert!((found.stderr().unwrap() - samples.stderr().unwrap()).abs() < 1e-12);
        assert_close(
            found.ci95().unwrap(),
            bca_interval(mean(&all), means, &without).unwrap(),
        );
    }

    #[test]
    fn an_interval_needs_samples_on_both_sides_and_a_mean_that_varies() {
        let interval = |estimate, jackknife| bca_interval(estimate, vec![1.0, 2.0, 3.0], jackknife);
        // Without bias or skewness, the ends are the 2.5% and 97.5% quantiles.
        let found = interval(2.0, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(format!("{found:.9}"), "[1.050000000, 2.950000000]");
        assert_eq!(interval(0.0, &[1.0, 2.0, 3.0]), None);
        assert_eq!(interval(4.0, &[1.0, 2.0, 3.0]), None);
        assert_eq!(interval(2.0, &[2.0, 2.0, 2.0]), None);
    }

    #[test]
    fn an_end_above_all_samples_is_the_largest_sample() {
        // The estimate is above 999 of 1,000 samples, which is 3.1 deviations, and the acceleration is 0.07. So the end
        // is more than 10 deviations away, where the distribution function is 1.
        let samples = (0..1_000).map(f64::from).collect();
        assert_eq!(
            bca_interval(998.5, samples, &[1.0, 1.0, -2.0])
                .unwrap()
                .high,
            999.0
        );
    }
}
