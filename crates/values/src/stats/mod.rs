//! Statistics for numbers and counts.
//!
//! This module contains intervals, measures of agreement, tests, and corrections for error rates.
//!
//! All intervals are 95% intervals. A statistic that is not defined is returned as `None` or as an error with the
//! reason, never as a number.
//!
//! To compare a metric with labels, see `dsrs_metrics::agreement`.
//!
//! | figure | estimate | interval |
//! | --- | --- | --- |
//! | mean of rows | [`Moments::mean`] | Student's t or Wilson's, [`Moments::uncertainty_within`]; bootstrap, [`Bootstrap::mean`] |
//! | mean of rows in groups | [`Clusters::mean`] | cluster-robust, [`Clusters::uncertainty_within`] |
//! | share of rows | [`Proportion::rate`] | Wilson's score interval, [`Proportion::wilson`] |
//! | difference of paired shares | [`PairedShares::difference`] | Tango's score interval, [`PairedShares::tango`] |
//! | Cohen's kappa, also weighted | [`cohen_kappa`] | its asymptotic standard error, [`Kappa::interval`] |
//! | Spearman's rank correlation | [`spearman`] | [`Bootstrap::interval`] |
//! | a share, from labels of some rows | [`post_stratified`] | Wilson's, combined by MOVER |
//! | a share, from a metric on some rows | [`sampled_share`] | the same, for the mean of these rows |
//! | a mean, from a metric on some rows | [`prediction_powered`] | Student's t or Wilson's, of what the cheaper metric does not explain |
//! | a difference, from a metric on some rows | [`sampled_difference`] | the same, of a population |
//! | a share, corrected for error rates | [`rogan_gladen`] | Lang and Reiczigel's |
//! | labels of all rows | [`LabelPairs`]: accuracy, F1, Matthews, Cohen, Krippendorff | |
//! | ranks of all rows | [`ValuePairs`], [`ClassScores`]: Spearman, AUROC | |
//! | probabilities of all rows | [`Calibration`], [`Brier`] | |
//! | success in several attempts | [`Proportion::pass_at`], [`Proportion::pass_hat`] | |
//!
//! To compare two systems on the same rows, use one of these functions:
//!
//! - [`mcnemar_exact`], if each row passes or fails.
//! - [`permutation_test`], if each row has a score.
//! - [`exchange_test`] and [`Bootstrap::statistic`], if the score is computed over all rows.
//!
//! [`BettingTest`] can decide before all rows are scored, and [`confidence_sequence`] computes the matching interval.
//! [`plan_rows`] estimates how many rows a decision needs.
//!
//! [`holm`] adjusts the p-values of several tests. [`rows_for_power`] returns the number of rows needed to detect a
//! difference.

mod bootstrap;
mod clusters;
mod corrected;
#[doc(hidden)]
pub mod exact_sum;
mod interval;
mod labels;
mod moments;
mod paired;
mod ranks;
mod sampled;
mod sequential;
#[cfg(test)]
mod tests;

use std::fmt;

pub use bootstrap::{Bootstrap, bca_interval};
pub use clusters::Clusters;
pub use corrected::{CorrectedRate, ErrorRates, Stratum, post_stratified, rogan_gladen};
#[doc(hidden)]
pub use interval::decimals;
pub use interval::{Interval, Proportion};
pub use labels::{
    AlphaLevel, ConfusionMatrix, Kappa, KappaWeights, LabelPairs, NotDefined, cohen_kappa,
};
pub use moments::{Moments, Uncertainty};
pub use paired::{
    PairedShares, PermutationTest, detectable_difference, exchange_test, holm, mcnemar_exact,
    mcnemar_mid_p, permutation_limit, permutation_test, rows_for_power,
};
#[doc(hidden)]
pub use ranks::RankPairs;
pub use ranks::{Brier, Calibration, ClassScores, ValuePairs, average_ranks, spearman};
pub use sampled::{SampledMean, prediction_powered, sampled_difference, sampled_share};
#[doc(hidden)]
pub use sampled::{error_and_p_value, least_squares};
pub use sequential::{
    BettingTest, DecisionPlan, confidence_sequence, plan_rows, population_sequence,
};

/// If fewer values than this differ from the most common one, Student's interval contains the mean of skewed scores too
/// rarely.
const FEW: u64 = 30;

/// Computes the F-beta score, in [0, 1], from counts.
///
/// The score is `(1 + beta²) hits / ((1 + beta²) hits + beta² missed + wrong)`, or 0 if there are no hits.
///
/// This is the weighted harmonic mean of the precision, `hits / (hits + wrong)`, and the recall, `hits / (hits +
/// missed)`. Recall counts `beta` times as much as precision (van Rijsbergen 1979).
///
/// ```
/// use dsrs_metrics::stats::f_beta;
///
/// assert_eq!(f_beta(2, 2, 0, 1.0), 2.0 / 3.0); // precision 1/2, recall 1
/// assert_eq!(f_beta(2, 2, 0, 2.0), 5.0 / 6.0);
/// assert_eq!(f_beta(0, 0, 0, 1.0), 0.0);
/// ```
pub fn f_beta(hits: usize, wrong: usize, missed: usize, beta: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (hits, wrong, missed) = (hits as f64, wrong as f64, missed as f64);
    let weight = beta * beta;
    let weighted = (1.0 + weight) * hits;
    weighted / (weighted + weight * missed + wrong)
}

/// Returns the harmonic mean of two numbers, `2ab / (a + b)`.
///
/// Returns 0 if the numbers sum to 0.
///
/// For precision and recall, this is F1. It is computed as in `f1_score` from dspy's `auto_evaluation.py`. Arguments
/// are not clamped to [0, 1].
///
/// ```
/// use dsrs_metrics::stats::harmonic_mean;
///
/// assert_eq!((harmonic_mean(1.0, 0.5), harmonic_mean(0.0, 0.0)), (2.0 / 3.0, 0.0));
/// ```
pub fn harmonic_mean(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum == 0.0 { 0.0 } else { 2.0 * (a * b) / sum }
}

/// Returns the difference `a - b`, or 0 if it is only a rounding error.
///
/// A rounding error is at most `2⁻⁵⁰` times the larger score.
///
/// A score is a mean of decimal numbers. Each number and the mean are rounded by at most `2⁻⁵³`, so two equal scores
/// differ by at most `4 · 2⁻⁵³`. The bound is twice as large, to allow for other rounding errors in a metric.
///
/// The bound never hides a difference between counts. Two different fractions with denominators below 10 million differ
/// by more than `10⁻¹⁴`.
///
/// ```
/// use dsrs_metrics::stats::score_difference;
///
/// assert_ne!((0.1 + 0.2 + 0.3) / 3.0, 0.2_f64.next_down());
/// assert_eq!(score_difference(0.1 + 0.2, 0.3), 0.0);
/// assert_eq!(score_difference(0.75, 0.5), 0.25);
/// ```
pub fn score_difference(a: f64, b: f64) -> f64 {
    /// `2⁻⁵⁰`.
    const BOUND: f64 = 4.0 * f64::EPSILON;
    match a - b {
        difference if difference.abs() <= BOUND * a.abs().max(b.abs()) => 0.0,
        difference => difference,
    }
}

/// Returns `part / whole`, or 1 if both are 0. Counts stay far below 2^53.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 1.0,
        _ => part as f64 / whole as f64,
    }
}

/// The number of bins.
const BINS: usize = 20;

/// A histogram with 20 bins of equal width.
///
/// The bins cover the range from the smallest to the largest possible value. You can merge histograms that have the
/// same range.
///
/// `Display` shows one bar for each bin. The bin with the most values has the tallest bar, and an empty bin is blank.
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
    /// Creates an empty histogram for values from `min` to `max`.
    ///
    /// Returns `None` if `min` or `max` is not finite, or if `min` is not less than `max`.
    pub fn new(min: f64, max: f64) -> Option<Self> {
        let is_valid = min < max && (max - min).is_finite();
        is_valid.then_some(Self {
            min,
            max,
            counts: [0; BINS],
        })
    }

    /// Adds a value to the histogram.
    ///
    /// A value outside the range is counted in the nearest bin. NaN is not counted.
    pub fn record(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        let share = ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0);
        // 0 to 20.
        let bin = (share * BINS as f64) as usize;
        self.counts[bin.min(BINS - 1)] += 1;
    }

    /// Adds the counts from `other`.
    ///
    /// Both histograms must have the same range.
    #[doc(hidden)]
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
    }

    /// Returns the range of values that the histogram covers.
    pub const fn range(&self) -> (f64, f64) {
        (self.min, self.max)
    }

    /// Returns the count of each bin, in ascending order of values.
    pub const fn counts(&self) -> &[u64; BINS] {
        &self.counts
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let highest = self.counts.iter().copied().max().unwrap_or(0).max(1);
        for count in self.counts {
            let height = (u128::from(count) * 8).div_ceil(u128::from(highest)) as usize;
            let bar = height.checked_sub(1).map_or(' ', |height| BARS[height]);
            write!(f, "{bar}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod histogram_tests {
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
    fn a_single_value_among_many_is_visible() {
        let mut histogram = Histogram::new(0.0, 1.0).unwrap();
        (0..1_000_000).for_each(|_| histogram.record(1.0));
        histogram.record(0.0);
        assert_eq!(histogram.to_string(), format!("▁{}█", " ".repeat(18)));
    }
}
