//! The mean of scores, with its standard error and interval.
//!
//! A `Moments` contains the most common value and returns an `Uncertainty`, so all three are in one file.
//!
//! The file is long because each figure is documented with its formula, and the byte format has its own tests.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::FEW;
use super::exact_sum::ExactSum;
use super::interval::{Interval, t_quantile, weight, wilson};

/// Beyond this magnitude, neither a value's square nor the variance is finite.
const MAX_SQUARED: f64 = 1e150;

/// The uncertainty of a mean, or why it is unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Uncertainty {
    /// The standard error and the 95% interval are known.
    Known {
        /// The standard error, in the same unit as the values.
        stderr: f64,
        /// The 95% interval.
        ci95: Interval,
    },
    /// The 95% interval is known, but the standard error is not.
    ///
    /// This happens if all values are equal and have a known range.
    WithoutStderr {
        /// The 95% interval.
        ci95: Interval,
    },
    /// There are too few rows, or too few groups of rows, to estimate a standard error.
    NotEnoughRows {
        /// The number of rows or groups that were found.
        found: u64,
        /// The minimum number of rows or groups needed.
        needed: u64,
    },
    /// All values are equal, so the error of their mean cannot be estimated.
    ///
    /// This happens if the values have no known range.
    Constant,
    /// The variance is too large for a float.
    TooLarge,
    /// The uncertainty was not computed, because the score is not a mean over rows.
    NotComputed,
}

impl Default for Uncertainty {
    /// Returns the uncertainty for zero rows.
    fn default() -> Self {
        Self::not_enough_rows(0, 1)
    }
}

impl Uncertainty {
    /// Returns the standard error of the mean, if it is known.
    pub const fn stderr(&self) -> Option<f64> {
        match self {
            Self::Known { stderr, .. } => Some(*stderr),
            _ => None,
        }
    }

    /// Returns the 95% interval of the mean, if it is known.
    pub const fn ci95(&self) -> Option<Interval> {
        match self {
            Self::Known { ci95, .. } | Self::WithoutStderr { ci95 } => Some(*ci95),
            _ => None,
        }
    }

    /// Returns the reason there is no interval, such as `not enough rows`.
    ///
    /// Returns `None` if the interval is known.
    pub const fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Known { .. } | Self::WithoutStderr { .. } => None,
            Self::NotEnoughRows { .. } => Some("not enough rows"),
            Self::Constant => Some("all scores are equal"),
            Self::TooLarge => Some("the variance is too large"),
            Self::NotComputed => Some("a score over all rows has no standard error"),
        }
    }

    /// Clamps the interval to the range from `min` to `max`.
    ///
    /// ```
    /// use dsrs_metrics::stats::Moments;
    ///
    /// let scores: Moments = [0.9, 1.0].into_iter().collect();
    /// let interval = scores.uncertainty().within(0.0, 1.0).ci95().unwrap();
    /// assert_eq!((format!("{:.3}", interval.low), interval.high), ("0.315".to_owned(), 1.0));
    /// ```
    pub fn within(mut self, min: f64, max: f64) -> Self {
        if let Self::Known { ci95, .. } | Self::WithoutStderr { ci95 } = &mut self {
            *ci95 = ci95.within(min, max);
        }
        self
    }

    pub(super) const fn not_enough_rows(found: u64, needed: u64) -> Self {
        Self::NotEnoughRows { found, needed }
    }

    /// Returns the interval `mean ± t · stderr` with Student's t.
    pub(super) fn student(mean: f64, stderr: f64, degrees: f64) -> Self {
        let half = t_quantile(degrees) * stderr;
        match stderr == 0.0 {
            true => Self::Constant,
            false if half.is_finite() => Self::Known {
                stderr,
                ci95: Interval::new(mean - half, mean + half),
            },
            false => Self::TooLarge,
        }
    }

    /// Converts an interval of shares to the scale of the values, from `min` to `max`.
    pub(super) fn bounded(stderr: f64, shares: Interval, min: f64, max: f64) -> Self {
        let of = |share: f64| match share {
            1.0 => max,
            share => min + share * (max - min),
        };
        let ci95 = Interval::new(of(shares.low), of(shares.high));
        if stderr == 0.0 {
            Self::WithoutStderr { ci95 }
        } else {
            Self::Known { stderr, ci95 }
        }
    }
}

/// Writes `"stderr": .., "ci95": [low, high]`, each null if it is unknown. If there is no interval, also writes
/// `"no_interval": "not enough rows"`.
impl Serialize for Uncertainty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Uncertainty", 3)?;
        fields.serialize_field("stderr", &self.stderr())?;
        fields.serialize_field("ci95", &self.ci95())?;
        match self.reason() {
            Some(reason) => fields.serialize_field("no_interval", reason)?,
            None => fields.skip_field("no_interval")?,
        }
        fields.end()
    }
}

/// The count, mean and variance of a set of values.
///
/// Nothing is rounded until you read a result. The result is the same, bit for bit, regardless of how the values are
/// ordered, split and [merged](Self::merge).
///
/// ```
/// use dsrs_metrics::stats::Moments;
///
/// let scores: Moments = [0.5, 1.0, 0.0, 0.75, 0.25].into_iter().collect();
/// assert_eq!((scores.count(), scores.mean(), scores.variance()), (5, Some(0.5), Some(0.15625)));
/// let uncertainty = scores.uncertainty();
/// assert_eq!(format!("{:.4}", uncertainty.stderr().unwrap()), "0.1768");
/// assert_eq!(format!("{:.4}", uncertainty.ci95().unwrap()), "[0.0092, 0.9908]");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Moments {
    pub(super) count: u64,
    pub(super) sum: ExactSum,
    pub(super) squares: ExactSum,
    pub(super) commonest: Commonest,
    /// `true` if the square of a value is too large.
    pub(super) has_large: bool,
    pub(super) has_infinite: bool,
}

impl Moments {
    /// Adds a value.
    ///
    /// If a value is not finite, the mean and the variance become `None`.
    pub fn record(&mut self, value: f64) {
        self.record_times(value, 1);
    }

    /// Adds a value `times` times.
    pub fn record_times(&mut self, value: f64, times: u64) {
        if times == 0 {
            return;
        }
        self.count += times;
        self.commonest.record(value, times);
        if value == 0.0 {
            return;
        }
        self.has_large |= !matches!(value.abs(), 0.0..=MAX_SQUARED);
        if value.is_finite() {
            self.sum.add_times(value, times);
        } else {
            self.has_infinite = true;
        }
        if !self.has_large {
            let square = value * value;
            self.squares.add_times(square, times);
            self.squares.add_times(value.mul_add(value, -square), times);
        }
    }

    /// Adds all values from `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.add_all(&other.sum);
        self.squares.add_all(&other.squares);
        self.commonest.merge(&other.commonest);
        self.has_large |= other.has_large;
        self.has_infinite |= other.has_infinite;
    }

    /// Returns the number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean of the values.
    ///
    /// Returns `None` if there are no values, or if a value is not finite.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0 && !self.has_infinite).then(|| self.sum.mean(self.count))
    }

    /// Returns the unbiased variance of the values, with `n - 1` in the denominator.
    ///
    /// Returns `None` if there are fewer than two values, or if a value is above 1e150 in magnitude.
    pub fn variance(&self) -> Option<f64> {
        if self.count < 2 || self.has_large {
            return None;
        }
        // n Σx² - (Σx)², exact up to products below 2^-1074: nothing cancels, however close the values are.
        let mut deviations = ExactSum::default();
        for part in self.squares.parts() {
            deviations.add_times(part, self.count);
        }
        let sums = self.sum.parts();
        for a in sums {
            for b in sums {
                add_product(&mut deviations, a, b, -1.0);
            }
        }
        let (n, rest) = (self.count as f64, (self.count - 1) as f64);
        Some((deviations.value() / n / rest).max(0.0))
    }

    /// Returns how often the most common value occurs, or `None` if at least 30 values differ from it.
    pub(crate) fn commonest(&self) -> Option<u64> {
        self.commonest.count()
    }

    /// Returns `true` if fewer than 30 values differ from the most common value.
    ///
    /// In this case, an interval from Student's t distribution would be too narrow.
    pub fn has_few(&self) -> bool {
        self.commonest().is_some()
    }

    /// Returns the standard error and the 95% interval of the mean.
    ///
    /// The standard error is `√(variance / n)`. The interval comes from Student's t distribution with `n - 1` degrees
    /// of freedom.
    ///
    /// If the values have a known range, use [`uncertainty_within`](Self::uncertainty_within) instead. Its interval
    /// contains the true mean more often.
    pub fn uncertainty(&self) -> Uncertainty {
        match (self.mean(), self.variance()) {
            (Some(mean), Some(variance)) => {
                let stderr = (variance / self.count as f64).sqrt();
                Uncertainty::student(mean, stderr, (self.count - 1) as f64)
            }
            _ if self.count < 2 => Uncertainty::not_enough_rows(self.count, 2),
            _ => Uncertainty::TooLarge,
        }
    }

    /// Returns the standard error and the interval of the mean, given the range of the values.
    ///
    /// All values must be between `min` and `max`.
    ///
    /// If at least 30 values differ from the most common value, the interval is the same as that of
    /// [`uncertainty`](Self::uncertainty), clamped to the range.
    ///
    /// That interval comes from Student's t distribution and is too narrow if most values are equal. For example, if
    /// 97% of 50 scores are 1, it contains the mean in only 67% of studies.
    ///
    /// If fewer than 30 values differ, Wilson's interval is used instead, even if all values are equal. It is computed
    /// for the number of passes and failures that would have the same variance as the values. The quantile comes from
    /// Student's t distribution.
    ///
    /// If more than half of the values are equal, the variance includes two additional values, one at each end of the
    /// range. Their weight is 1 if all values are equal, and falls to 0 if only half of the values are equal.
    ///
    /// ```
    /// use dsrs_metrics::stats::Moments;
    ///
    /// let interval = |ones, other: &[f64]| {
    ///     let mut scores: Moments = other.iter().copied().collect();
    ///     scores.record_times(1.0, ones);
    ///     format!("{:.4}", scores.uncertainty_within(0.0, 1.0).ci95().unwrap())
    /// };
    /// assert_eq!(interval(1000, &[]), "[0.9962, 1.0000]");
    /// assert_eq!(interval(49, &[0.5]), "[0.9189, 0.9988]");
    /// ```
    pub fn uncertainty_within(&self, min: f64, max: f64) -> Uncertainty {
        let width = max - min;
        let is_bounded = width > 0.0 && width.is_finite();
        let commonest = self.commonest().filter(|_| is_bounded);
        let known = (self.mean(), self.variance(), commonest);
        let (Some(mean), Some(variance), Some(commonest)) = known else {
            return self.uncertainty().within(min, max);
        };
        let n = self.count as f64;
        let mean = ((mean - min) / width).clamp(0.0, 1.0);
        let weight = weight(commonest, self.count);
        let all = n + 2.0 * weight;
        let centre = (n * mean + weight) / all;
        let squares = variance / width / width * (n - 1.0)
            + n * (mean - centre).powi(2)
            + weight * (centre.powi(2) + (1.0 - centre).powi(2));
        let effective = n * centre * (1.0 - centre) * (all - 1.0) / squares;
        let shares = wilson(mean, effective, t_quantile(n - 1.0));
        Uncertainty::bounded((variance / n).sqrt(), shares, min, max)
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        values.into_iter().for_each(|value| moments.record(value));
        moments
    }
}

/// Adds the product without rounding, as the rounded product and its error.
fn add_product(sum: &mut ExactSum, a: f64, b: f64, sign: f64) {
    let product = a * b;
    sum.add(sign * product);
    sum.add(sign * a.mul_add(b, -product));
}

/// Counts the values that differ from the most common one, up to [`FEW`].
///
/// The count does not depend on how the values are ordered, split and merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Commonest {
    /// Each value with its count. The list has at most `FEW` entries, and is empty once at least `FEW` values differ
    /// from the most common one.
    pub(super) counts: Vec<(u64, u64)>,
    pub(super) is_varied: bool,
}

impl Commonest {
    pub(super) fn record(&mut self, value: f64, times: u64) {
        if !self.is_varied {
            self.add(key(value), times);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.is_varied |= other.is_varied;
        for (key, times) in &other.counts {
            if !self.is_varied {
                self.add(*key, *times);
            }
        }
        if self.is_varied {
            self.counts.clear();
        }
    }

    fn add(&mut self, key: u64, times: u64) {
        match self.counts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += times,
            None => self.counts.push((key, times)),
        }
        if self.all() - self.largest() >= FEW {
            *self = Self {
                counts: Vec::new(),
                is_varied: true,
            };
        }
    }

    fn all(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    fn largest(&self) -> u64 {
        let counts = self.counts.iter().map(|(_, count)| *count);
        counts.max().unwrap_or(0)
    }

    /// Returns how often the most common value occurs, or `None` if at least [`FEW`] values differ from it. A value
    /// that occurs only once is not common, so all of 30 distinct values count as different from it.
    pub(super) fn count(&self) -> Option<u64> {
        let count = self.largest();
        (!self.is_varied && (count > 1 || self.all() < FEW)).then_some(count)
    }
}

/// Returns a key that is the same for values that differ only by rounding, unless they are at the edge between two
/// keys.
fn key(value: f64) -> u64 {
    // Zero has no sign.
    (value + 0.0).to_bits().wrapping_add(1 << 7) >> 8
}

/// The version of the format. It changes if the format changes.
const FORMAT: u8 = 5;

/// The numbers that make up a sum. The large ones are scaled.
type Parts = [Vec<f64>; 2];

/// In order: the format; whether a value is large, whether one is infinite, and whether many differ; the number of
/// values; the sums of the values and of their squares; the values that were counted one by one, each with its count.
type Written = (u8, [bool; 3], u64, Parts, Parts, Vec<(u64, u64)>);

impl Moments {
    /// Serializes the moments to bytes.
    ///
    /// Use [`from_bytes`](Self::from_bytes) to restore them exactly.
    ///
    /// ```
    /// use dsrs_metrics::stats::Moments;
    ///
    /// let parts: [Moments; 2] = [[0.1, 1.0].into_iter().collect(), [0.7].into_iter().collect()];
    /// let mut merged = Moments::default();
    /// for part in parts {
    ///     merged.merge(&Moments::from_bytes(&part.to_bytes()).unwrap());
    /// }
    /// assert_eq!(merged.mean(), [0.7, 0.1, 1.0].into_iter().collect::<Moments>().mean());
    /// assert!(Moments::from_bytes(b"other").is_none());
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = [self.has_large, self.has_infinite, self.commonest.is_varied];
        let mut counts = self.commonest.counts.clone();
        counts.sort_unstable();
        let (sum, squares) = (self.sum.canonical(), self.squares.canonical());
        let written: Written = (FORMAT, flags, self.count, sum, squares, counts);
        // Numbers and lists can always be written as JSON.
        serde_json::to_vec(&written).unwrap_or_default()
    }

    /// Restores moments from bytes written by [`to_bytes`](Self::to_bytes).
    ///
    /// Returns `None` if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let written: Written = serde_json::from_slice(bytes).ok()?;
        let (format, [has_large, has_infinite, is_varied], count, sum, squares, counts) = written;
        let mut each = counts.iter().map(|(_, count)| *count);
        let counted = each.try_fold(0, u64::checked_add);
        let is_counted = match is_varied {
            true => counts.is_empty(),
            false => counted == Some(count) && counts.len() as u64 <= FEW,
        };
        (format == FORMAT && is_counted).then_some(Self {
            count,
            sum: ExactSum::from_canonical(sum),
            squares: ExactSum::from_canonical(squares),
            commonest: Commonest { counts, is_varied },
            has_large,
            has_infinite,
        })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod commonest_tests {
    use super::*;

    fn of(values: &[f64]) -> Commonest {
        let mut commonest = Commonest::default();
        values.iter().for_each(|value| commonest.record(*value, 1));
        commonest
    }

    fn distinct(values: u32) -> Vec<f64> {
        (0..values).map(f64::from).collect()
    }

    #[test]
    fn thirty_values_that_differ_from_the_commonest_are_enough() {
        let ones = [1.0; 1_000];
        assert_eq!(of(&[&ones[..], &[0.5; 29]].concat()).count(), Some(1_000));
        assert_eq!(of(&[&ones[..], &[0.5; 30]].concat()).count(), None);
        assert_eq!((of(&[]).count(), of(&ones).count()), (Some(0), Some(1_000)));
        // 29 values of 30 differ from any of them, but none is common.
        assert_eq!(
            [of(&distinct(29)).count(), of(&distinct(30)).count()],
            [Some(1), None]
        );
        assert_eq!(of(&[0.0, -0.0, 0.1 + 0.2, 0.3]).counts.len(), 2);
    }

    #[test]
    fn parts_have_the_count_of_the_whole() {
        let values = [vec![0.25; 40], vec![0.5; 20], distinct(9)].concat();
        for split in 0..values.len() {
            let (a, b) = values.split_at(split);
            let (mut merged, mut reversed) = (of(a), of(b));
            merged.merge(&of(b));
            reversed.merge(&of(a));
            assert_eq!([merged.count(), reversed.count()], [of(&values).count(); 2]);
        }
        assert_eq!(of(&values).count(), Some(40));
        let mut more = of(&values);
        more.merge(&of(&[0.75]));
        assert_eq!((more.count(), more.counts.len()), (None, 0));
    }
}

#[cfg(test)]
mod moments_bytes_tests {
    use super::*;

    fn of(values: &[f64]) -> Moments {
        values.iter().copied().collect()
    }

    #[test]
    fn bytes_restore_every_bit() {
        let tenths: Vec<f64> = (0..1_000).map(|row| f64::from(row % 11) / 10.0).collect();
        for values in [
            &[] as &[f64],
            &[1.0, 0.0],
            &[-0.3, 1e-300],
            &[1e200, 5e-324],
            &tenths,
        ] {
            let moments = of(values);
            let restored = Moments::from_bytes(&moments.to_bytes()).unwrap();
            assert_eq!(restored.count(), moments.count());
            assert_eq!(
                restored.mean().map(f64::to_bits),
                moments.mean().map(f64::to_bits)
            );
            assert_eq!(
                restored.variance().map(f64::to_bits),
                moments.variance().map(f64::to_bits)
            );
            assert_eq!(restored.to_bytes(), moments.to_bytes());
            assert_eq!(restored.commonest(), moments.commonest());
        }
        let infinite = Moments::from_bytes(&of(&[f64::INFINITY]).to_bytes()).unwrap();
        assert_eq!((infinite.count(), infinite.mean()), (1, None));
        // Every flag.
        let roots = (0..1_000).map(|row| f64::from(row).sqrt());
        let all: Moments = roots.chain([1e200, f64::INFINITY]).collect();
        assert!(all.to_bytes().starts_with(b"[5,[true,true,true],1002,"));
        assert_eq!(Moments::from_bytes(&all.to_bytes()).unwrap().count(), 1_002);
    }

    #[test]
    fn zeros_and_ones_are_short_and_order_does_not_change_the_bytes() {
        assert!(of(&[0.0, 1.0, 1.0]).to_bytes().len() < 100);
        let (mut one, two) = (of(&[0.1, 0.2]), of(&[0.7]));
        let mut other = two.clone();
        other.merge(&one);
        one.merge(&two);
        assert_eq!(one.to_bytes(), other.to_bytes());
    }

    #[test]
    fn other_bytes_are_rejected() {
        let bytes = "[5,[false,false,false],1,[[0.5],[]],[[0.25],[]],[[7,1]]]";
        let moments = Moments::from_bytes(bytes.as_bytes()).unwrap();
        assert_eq!((moments.count(), moments.commonest()), (1, Some(1)));
        // A different format, an invalid number, a count of too many rows, counts of varied values, extra bytes.
        for (part, instead) in [
            ("[5,", "[3,"),
            ("[0.25]", "[1e999]"),
            ("[7,1]", "[7,2]"),
            ("false]", "true]"),
            ("]]]", "]]]]"),
        ] {
            let changed = bytes.replacen(part, instead, 1);
            assert_ne!(changed, bytes);
            assert!(
                Moments::from_bytes(changed.as_bytes()).is_none(),
                "{changed}"
            );
        }
        for end in 0..bytes.len() {
            assert!(Moments::from_bytes(&bytes.as_bytes()[..end]).is_none());
        }
    }
}
