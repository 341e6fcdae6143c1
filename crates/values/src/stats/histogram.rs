//! Counts of values in intervals of equal width.

use std::fmt;

/// The number of bins.
const BINS: usize = 20;

/// A histogram with 20 bins of equal width, from the smallest to the largest possible value. You can merge histograms
/// of separate parts of the rows.
///
/// `Display` shows one bar per bin. The bin with the most values has the highest bar, and an empty bin is blank.
///
/// ```
/// use dsrs_metrics::stats::Histogram;
///
/// let mut scores = Histogram::new(0.0, 1.0).unwrap();
/// [0.0, 0.01, 0.3, 0.31, 0.32, 0.33, 0.9, 1.0].into_iter().for_each(|score| scores.record(score));
/// assert_eq!(scores.counts()[..7], [2, 0, 0, 0, 0, 0, 4]);
/// assert_eq!(scores.to_string(), "▄     █           ▂▂");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    min: f64,
    max: f64,
    counts: [u64; BINS],
}

impl Histogram {
    /// Creates a histogram of values from `min` to `max`. Returns `None` if either is not finite, or if `min` is not
    /// less than `max`.
    pub fn new(min: f64, max: f64) -> Option<Self> {
        let is_valid = min < max && (max - min).is_finite();
        is_valid.then_some(Self {
            min,
            max,
            counts: [0; BINS],
        })
    }

    /// Counts a value. A value outside the range counts towards the nearest bin. NaN is not counted.
    pub fn record(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        let share = ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0);
        // 0 to 20.
        let bin = (share * BINS as f64) as usize;
        self.counts[bin.min(BINS - 1)] += 1;
    }

    /// Adds the counts of another histogram with the same range.
    #[doc(hidden)]
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }

    /// Returns an empty histogram with the same bins.
    #[doc(hidden)]
    pub fn emptied(&self) -> Self {
        Self {
            counts: [0; BINS],
            ..*self
        }
    }

    /// Returns the smallest and largest possible values.
    pub const fn range(&self) -> (f64, f64) {
        (self.min, self.max)
    }

    /// Returns the count of each bin, from the smallest values to the largest.
    pub const fn counts(&self) -> &[u64; BINS] {
        &self.counts
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1);
        for count in self.counts {
            let height = (u128::from(count) * 8).div_ceil(u128::from(most)) as usize;
            let bar = height.checked_sub(1).map_or(' ', |height| BARS[height]);
            write!(f, "{bar}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_width_has_no_histogram() {
        for (min, max) in [
            (1.0, 1.0),
            (1.0, 0.0),
            (f64::NEG_INFINITY, 0.0),
            (f64::NAN, 1.0),
        ] {
            assert_eq!(Histogram::new(min, max), None);
        }
    }

    #[test]
    fn values_outside_the_range_are_in_the_first_and_last_bin() {
        let mut histogram = Histogram::new(-1.0, 1.0).unwrap();
        [-5.0, f64::NAN, 7.0, 0.0]
            .into_iter()
            .for_each(|value| histogram.record(value));
        let mut counts = [0; BINS];
        [0, 10, 19].into_iter().for_each(|bin| counts[bin] = 1);
        assert_eq!(*histogram.counts(), counts);
    }

    #[test]
    fn an_emptied_histogram_has_the_range_and_no_values() {
        let mut histogram = Histogram::new(-2.0, 1.0).unwrap();
        let empty = histogram.clone();
        histogram.record(0.5);
        assert_eq!((histogram.emptied(), empty.range()), (empty, (-2.0, 1.0)));
    }

    #[test]
    fn a_single_value_among_many_is_visible() {
        let mut histogram = Histogram::new(0.0, 1.0).unwrap();
        (0..1_000_000).for_each(|_| histogram.record(1.0));
        histogram.record(0.0);
        assert_eq!(histogram.to_string(), format!("▁{}█", " ".repeat(18)));
    }
}
