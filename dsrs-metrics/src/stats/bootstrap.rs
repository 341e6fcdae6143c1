//! The bootstrap: the variation of a statistic over samples drawn from the rows.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::interval::Interval;

/// Seeded resampling of rows with replacement. The same seed gives the same interval on every
/// platform.
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
    /// The number of samples. The interval's ends are quantiles of as many values; with fewer than
    /// about 1,000 they vary much.
    pub resamples: u32,
    /// The seed of the random numbers (xoshiro256++, seeded through SplitMix64).
    pub seed: u64,
}

impl Default for Bootstrap {
    /// 2,000 samples from seed 0.
    fn default() -> Self {
        Self { resamples: 2_000, seed: 0 }
    }
}

/// At most one in this many samples may be undefined.
const MOST_UNDEFINED: usize = 20;

impl Bootstrap {
    /// Returns the percentile interval (Efron 1979) of a statistic over `rows` rows: from the 2.5%
    /// to the 97.5% quantile of its values on samples of `rows` rows. A sample is a list of row
    /// indices.
    ///
    /// Returns `None` without rows or samples, if the statistic is undefined on more than one
    /// sample in twenty, and if it never varies, since a constant shows nothing about its error.
    pub fn interval(
        &self,
        rows: usize,
        mut statistic: impl FnMut(&[usize]) -> Option<f64>,
    ) -> Option<Interval> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        // The high half of the product is uniform below `rows`, except for a bias of `rows` in
        // 2^64.
        let mut draw = || ((u128::from(random.next_u64()) * rows as u128) >> 64) as usize;
        let mut sample = vec![0; rows];
        let mut values = Vec::with_capacity(self.resamples as usize);
        for _ in 0..if rows == 0 { 0 } else { self.resamples } {
            sample.fill_with(&mut draw);
            values.extend(statistic(&sample).filter(|value| value.is_finite()));
        }
        let undefined = self.resamples as usize - values.len();
        if values.is_empty() || undefined * MOST_UNDEFINED > values.len() + undefined {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        let interval = Interval { low: quantile(&values, 0.025), high: quantile(&values, 0.975) };
        (values.first() < values.last()).then_some(interval)
    }
}

/// Returns a quantile of sorted values, by linear interpolation.
fn quantile(values: &[f64], share: f64) -> f64 {
    let place = share * (values.len() - 1) as f64;
    let (below, rest) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(values.len() - 1);
    values[below] + rest * (values[above] - values[below])
}
