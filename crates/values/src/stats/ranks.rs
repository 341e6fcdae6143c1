//! Scores computed from pairs of numbers, or from pairs of an outcome and a number: Spearman's correlation, the area
//! under the ROC curve, the Brier score and the calibration error.
//!
//! The file is long because each score is documented with its definition and an example.

use std::collections::{BTreeMap, HashMap};

use super::exact_sum::ExactSum;
use super::labels::NotDefined;

/// Returns the rank of each value, starting at 1.
///
/// Equal values share the mean of their ranks. All values must be finite.
///
/// ```
/// use dsrs_metrics::stats::average_ranks;
///
/// assert_eq!(average_ranks(&[0.5, 2.0, 2.0, -1.0]), [2.0, 3.5, 3.5, 1.0]);
/// ```
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let levels = Levels::of(values);
    let ranks = levels.ranks(levels.level.iter().map(|level| (*level, 1.0)));
    levels.level.iter().map(|level| ranks[*level]).collect()
}

/// Returns Spearman's rank correlation coefficient, in [-1, 1].
///
/// This is Pearson's correlation of the [`average_ranks`], so ties are allowed. All values must be finite.
///
/// Returns `None` if the lengths differ, if there are fewer than two rows, or if all values on one side are equal.
///
/// ```
/// use dsrs_metrics::stats::spearman;
///
/// assert_eq!(spearman(&[1.0, 2.0, 30.0], &[0.1, 0.2, 0.3]), Some(1.0));
/// assert_eq!(spearman(&[1.0, 1.0, 1.0], &[0.1, 0.2, 0.3]), None);
/// ```
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    (x.len() == y.len()).then(|| RankPairs::of(x, y).spearman(0..x.len()))?
}

/// Pairs of values, prepared for computing rank correlations over many resamples.
///
/// The order of the values is computed in advance, so resamples can be ranked without sorting again.
#[doc(hidden)]
pub struct RankPairs {
    x: Levels,
    y: Levels,
    /// The distinct pairs of levels.
    pairs: Vec<(usize, usize)>,
    /// For each row, the index of its pair among the distinct pairs.
    pair: Vec<u32>,
}

impl RankPairs {
    /// Creates pairs from two lists of values.
    ///
    /// Both lists must have the same length, and the length must fit into 32 bits.
    pub fn of(x: &[f64], y: &[f64]) -> Self {
        let (x, y) = (Levels::of(x), Levels::of(y));
        let mut known = HashMap::new();
        let mut pairs = Vec::new();
        let levels = x.level.iter().copied().zip(y.level.iter().copied());
        let pair = levels.map(|levels| {
            *known.entry(levels).or_insert_with(|| {
                pairs.push(levels);
                (pairs.len() - 1) as u32
            })
        });
        let pair = pair.collect();
        Self { x, y, pairs, pair }
    }

    /// Returns Spearman's rank correlation for the pairs at the given indices.
    ///
    /// An index can occur more than once.
    pub fn spearman(&self, sample: impl ExactSizeIterator<Item = usize>) -> Option<f64> {
        let (mut counts, rows) = (vec![0_u32; self.pairs.len()], sample.len());
        sample.for_each(|at| counts[self.pair[at] as usize] += 1);
        let levels = self.pairs.iter().zip(counts.into_iter().map(f64::from));
        let (x, y) = (levels.clone(), levels.clone());
        let x_ranks = self.x.ranks(x.map(|((x, _), count)| (*x, count)));
        let y_ranks = self.y.ranks(y.map(|((_, y), count)| (*y, count)));
        // Ties do not change the mean of the ranks.
        let mean = (rows as f64 + 1.0) / 2.0;
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for ((x, y), count) in levels {
            let (x, y) = (x_ranks[*x] - mean, y_ranks[*y] - mean);
            xx += count * x * x;
            yy += count * y * y;
            xy += count * x * y;
        }
        // Takes a single root of the product, which is exact if both sides are in the same order.
        (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
    }
}

/// Values represented by their indices among the distinct values, in ascending order.
struct Levels {
    level: Vec<usize>,
    count: usize,
}

impl Levels {
    fn of(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut level = vec![0; values.len()];
        let mut count = 0;
        for (place, at) in order.iter().enumerate() {
            // Both zeros are equal.
            if place > 0 && values[order[place - 1]] < values[*at] {
                count += 1;
            }
            level[*at] = count;
        }
        Self {
            level,
            count: if values.is_empty() { 0 } else { count + 1 },
        }
    }

    /// Returns the average rank of each level in a sample. Each item of the sample is a level and its number of values.
    fn ranks(&self, sample: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut ranks = vec![0.0; self.count];
        for (level, count) in sample {
            ranks[level] += count;
        }
        let mut below = 0.0;
        for rank in &mut ranks {
            let here = *rank;
            *rank = below + (here + 1.0) / 2.0;
            below += here;
        }
        ranks
    }
}

/// Pairs of gold and predicted values.
///
/// Each row takes 16 bytes of memory.
///
/// ```
/// use dsrs_metrics::stats::ValuePairs;
///
/// let mut pairs = ValuePairs::default();
/// [(1.0, 0.1), (2.0, 0.4), (30.0, 0.3)].iter().for_each(|(gold, predicted)| pairs.add(*gold, *predicted));
/// assert_eq!(pairs.spearman(), Ok(0.5));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValuePairs {
    pairs: Vec<(f64, f64)>,
}

impl ValuePairs {
    /// Adds a row.
    ///
    /// Both values must be finite.
    pub fn add(&mut self, gold: f64, predicted: f64) {
        self.pairs.push((gold, predicted));
    }

    /// Returns the gold and predicted values if there is exactly one row.
    #[doc(hidden)]
    pub fn only(&self) -> Option<(f64, f64)> {
        let [pair] = *self.pairs else { return None };
        Some(pair)
    }

    /// Adds all rows from `other`.
    pub fn merge(&mut self, other: &Self) {
        self.pairs.extend_from_slice(&other.pairs);
    }

    /// Returns Spearman's rank correlation coefficient, in [-1, 1].
    ///
    /// Ties share the mean of their ranks.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if all values on one side are equal.
    pub fn spearman(&self) -> Result<f64, NotDefined> {
        let mut pairs = self.pairs.clone();
        // Sorted so that the sums do not depend on the order of the rows.
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (gold, predicted): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        spearman(&gold, &predicted).ok_or_else(|| {
            let is_constant = |side: &[f64]| side.windows(2).all(|pair| pair[0] == pair[1]);
            match gold.len() {
                0 | 1 => "there are fewer than two rows".into(),
                _ if is_constant(&gold) => "all gold values are equal".into(),
                _ => "all predicted values are equal".into(),
            }
        })
    }
}

/// The predicted scores for positive and negative rows.
///
/// A row is positive if it is in the class.
///
/// Each row takes 8 bytes of memory.
///
/// ```
/// use dsrs_metrics::stats::ClassScores;
///
/// let mut scores = ClassScores::default();
/// [(true, 0.9), (false, 0.8), (true, 0.7), (false, 0.1)].iter().for_each(|(is_in, score)| scores.add(*is_in, *score));
/// assert_eq!(scores.auroc(), Ok(0.75));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassScores {
    scores: Vec<(bool, f64)>,
}

impl ClassScores {
    /// Adds a row.
    ///
    /// The score must be finite.
    pub fn add(&mut self, is_positive: bool, score: f64) {
        self.scores.push((is_positive, score));
    }

    /// Returns the row's class and score if there is exactly one row.
    ///
    /// The first value is `true` if the row is in the class.
    #[doc(hidden)]
    pub fn only(&self) -> Option<(bool, f64)> {
        let [score] = *self.scores else { return None };
        Some(score)
    }

    /// Adds all rows from `other`.
    pub fn merge(&mut self, other: &Self) {
        self.scores.extend_from_slice(&other.scores);
    }

    /// Returns the area under the ROC curve, in [0, 1].
    ///
    /// This is the probability that a positive row has a higher score than a negative row. Ties count as half.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if there are no positive rows or no negative rows.
    pub fn auroc(&self) -> Result<f64, NotDefined> {
        let scores_of = |class: bool| -> Vec<f64> {
            let scores = self.scores.iter().filter(|score| score.0 == class);
            scores.map(|score| score.1).collect()
        };
        let (positive, mut negative) = (scores_of(true), scores_of(false));
        match (positive.len(), negative.len()) {
            (0, 0) => return Err("there are no rows".into()),
            (0, _) => return Err("no row is positive".into()),
            (_, 0) => return Err("every row is positive".into()),
            _ => {}
        }
        negative.sort_by(f64::total_cmp);
        // Twice the number of pairs in the right order, so that half a pair is an integer.
        let won = positive.iter().map(|score| {
            let below = negative.partition_point(|other| other < score);
            let up_to = negative.partition_point(|other| other <= score);
            (below + up_to) as u128
        });
        let all = 2 * positive.len() as u128 * negative.len() as u128;
        Ok(won.sum::<u128>() as f64 / all as f64)
    }
}

/// The Brier score of predicted probabilities.
///
/// This is the mean squared difference between a predicted probability and the outcome (1 or 0). The best score is 0.
///
/// ```
/// use dsrs_metrics::stats::Brier;
///
/// let mut score = Brier::of(true, 0.8);
/// score.merge(&Brier::of(false, 0.4));
/// assert!((score.score().unwrap() - (0.04 + 0.16) / 2.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Brier {
    rows: u64,
    squares: ExactSum,
}

impl Brier {
    /// Creates a Brier score from a single row.
    ///
    /// The probability must be in [0, 1].
    pub fn of(is_true: bool, probability: f64) -> Self {
        let difference = probability - f64::from(u8::from(is_true));
        Self::of_square(difference * difference)
    }

    /// Creates a Brier score from a single row's squared error.
    ///
    /// The squared error must be in [0, 1].
    #[doc(hidden)]
    pub fn of_square(square: f64) -> Self {
        Self {
            rows: 1,
            squares: square.into(),
        }
    }

    /// Returns the row's squared error if there is exactly one row.
    #[doc(hidden)]
    pub fn only(&self) -> Option<f64> {
        (self.rows == 1).then(|| self.squares.mean(1))
    }

    /// Adds all rows from `other`.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.squares.add_all(&other.squares);
    }

    /// Returns the Brier score, in [0, 1].
    ///
    /// # Errors
    /// The result is always `Ok`, because there is at least one row.
    pub fn score(&self) -> Result<f64, NotDefined> {
        Ok(self.squares.mean(self.rows))
    }
}

/// Counts used to compute the calibration error of predicted probabilities (Guo et al. 2017).
///
/// Rows are counted in bins of equal width.
///
/// ```
/// use dsrs_metrics::stats::Calibration;
///
/// let mut calibration = Calibration::of(true, 0.95, 10);
/// [(true, 0.95), (false, 0.95), (false, 0.15)]
///     .iter()
///     .for_each(|(is_true, probability)| calibration.merge(&Calibration::of(*is_true, *probability, 10)));
/// let expected = 0.75 * (0.95 - 2.0 / 3.0) + 0.25 * 0.15;
/// assert!((calibration.expected_error().unwrap() - expected).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The number of bins, including empty ones.
    all: u32,
    bins: BTreeMap<u32, Bin>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Bin {
    rows: u64,
    came_true: u64,
    probabilities: ExactSum,
}

impl Calibration {
    /// Creates a calibration from a single row, with `bins` bins.
    ///
    /// The probability must be in [0, 1].
    ///
    /// A bin includes its upper end, and the first bin also includes 0.
    pub fn of(is_true: bool, probability: f64, bins: u32) -> Self {
        let bins = bins.max(1);
        let place = ((probability * f64::from(bins)).ceil() - 1.0).max(0.0) as u32;
        let bin = Bin {
            rows: 1,
            came_true: u64::from(is_true),
            probabilities: probability.into(),
        };
        Self {
            all: bins,
            bins: BTreeMap::from([(place, bin)]),
        }
    }

    /// Returns the number of bins, the outcome and the probability if there is exactly one row.
    ///
    /// The outcome is `true` if the prediction came true.
    #[doc(hidden)]
    pub fn only(&self) -> Option<(u32, bool, f64)> {
        let bin = self.bins.values().next().filter(|_| self.bins.len() == 1)?;
        (bin.rows == 1).then(|| (self.all, bin.came_true == 1, bin.probabilities.mean(1)))
    }

    /// Adds all rows from `other`.
    ///
    /// Both calibrations must have the same number of bins.
    pub fn merge(&mut self, other: &Self) {
        for (place, more) in &other.bins {
            let bin = self.bins.entry(*place).or_default();
            bin.rows += more.rows;
            bin.came_true += more.came_true;
            bin.probabilities.add_all(&more.probabilities);
        }
    }

    /// Returns the expected calibration error, in [0, 1].
    ///
    /// For each bin, this compares the mean probability with the fraction of predictions that came true. The result is
    /// the mean of these differences, weighted by the number of rows in each bin. The best value is 0.
    ///
    /// # Errors
    /// The result is always `Ok`, because there is at least one row.
    pub fn expected_error(&self) -> Result<f64, NotDefined> {
        let rows: u64 = self.bins.values().map(|bin| bin.rows).sum();
        let errors = self.bins.values().map(|bin| {
            let share = bin.came_true as f64 / bin.rows as f64;
            bin.rows as f64 * (bin.probabilities.mean(bin.rows) - share).abs()
        });
        Ok(errors.sum::<f64>() / rows as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_zeros_have_the_same_rank() {
        assert_eq!(
            average_ranks(&[0.0, -0.0, 1.0, -1.0, -0.0]),
            [3.0, 3.0, 5.0, 1.0, 3.0]
        );
    }

    #[test]
    fn more_than_256_different_pairs_are_counted() {
        let x: Vec<f64> = (0..300).map(f64::from).collect();
        // Neighbours are swapped, so the squared rank differences sum to 300.
        let y: Vec<f64> = (0..300).map(|row| f64::from(row ^ 1)).collect();
        let expected = 1.0 - 6.0 * 300.0 / (300.0 * (300.0 * 300.0 - 1.0));
        assert!((spearman(&x, &y).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn a_sample_may_repeat_pairs() {
        let (x, y) = ([1.0, 2.0, 3.0], [0.1, 0.3, 0.2]);
        assert_eq!(spearman(&x, &y), Some(0.5));
        // The ranks are 1.5, 1.5, 3 and 4, and 1.5, 1.5, 4 and 3. Around their mean, 2.5, the squares of each side sum
        // to 1 + 1 + 0.25 + 2.25, and the products to 1 + 1 + 0.75 + 0.75.
        let sample = [0, 0, 1, 2];
        assert_eq!(
            RankPairs::of(&x, &y).spearman(sample.into_iter()),
            Some(3.5 / 4.5)
        );
    }
}

#[cfg(test)]
mod value_tests {
    use super::*;

    #[test]
    fn a_correlation_needs_two_rows_and_values_that_differ() {
        for (rows, reason) in [
            (&[] as &[(f64, f64)], "there are fewer than two rows"),
            (&[(1.0, 2.0)], "there are fewer than two rows"),
            (
                &[(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)],
                "all gold values are equal",
            ),
            (
                &[(1.0, 2.0), (3.0, 2.0), (3.0, 2.0)],
                "all predicted values are equal",
            ),
        ] {
            let mut pairs = ValuePairs::default();
            rows.iter()
                .for_each(|(gold, predicted)| pairs.add(*gold, *predicted));
            assert_eq!(pairs.spearman(), Err(reason.into()), "{rows:?}");
        }
    }

    fn scores(rows: &[(bool, f64)]) -> ClassScores {
        let mut scores = ClassScores::default();
        rows.iter()
            .for_each(|(is_positive, score)| scores.add(*is_positive, *score));
        scores
    }

    #[test]
    fn the_area_needs_a_row_in_the_class_and_one_that_is_not() {
        for (rows, reason) in [
            (&[] as &[(bool, f64)], "there are no rows"),
            (&[(false, 0.5), (false, 0.7)], "no row is positive"),
            (&[(true, 0.5), (true, 0.7)], "every row is positive"),
        ] {
            assert_eq!(scores(rows).auroc(), Err(reason.into()), "{rows:?}");
        }
    }

    #[test]
    fn both_zeros_are_a_tie() {
        for (positive, negative) in [(0.0, -0.0), (-0.0, 0.0)] {
            let rows = [
                (true, positive),
                (false, negative),
                (false, positive),
                (false, 1.0),
            ];
            // Two ties of three pairs.
            assert_eq!(scores(&rows).auroc(), Ok(1.0 / 3.0));
        }
    }
}

#[cfg(test)]
mod calibration_tests {
    use super::*;

    #[test]
    fn a_bin_has_its_upper_end_and_the_first_one_also_0() {
        // The bins are one half wide, and `is_same` is `true` if both probabilities are in the same bin. The first
        // prediction comes true, the second does not.
        for (a, b, is_same) in [
            (0.0, 0.5, true),
            (0.5, 0.6, false),
            (0.6, 1.0, true),
            (0.0, 1.0, false),
        ] {
            let mut calibration = Calibration::of(true, a, 2);
            calibration.merge(&Calibration::of(false, b, 2));
            let each: f64 = (1.0 - a + b) / 2.0;
            let together = ((a + b) / 2.0 - 0.5).abs();
            let expected = if is_same { together } else { each };
            let found = calibration.expected_error().unwrap();
            assert!((found - expected).abs() < 1e-12, "{a} {b}: {found}");
        }
    }

    #[test]
    fn scores_of_the_same_rows_are_equal_in_every_order() {
        let [a, b, c] = [(true, 0.8), (false, 0.4), (false, 0.1)].map(|(is_true, probability)| {
            (
                Brier::of(is_true, probability),
                Calibration::of(is_true, probability, 1),
            )
        });
        let merged = |parts: [&(Brier, Calibration); 2]| {
            let (mut brier, mut calibration) = parts[0].clone();
            brier.merge(&parts[1].0);
            calibration.merge(&parts[1].1);
            (brier, calibration)
        };
        assert_eq!(merged([&a, &b]), merged([&b, &a]));
        assert_ne!(merged([&a, &b]).0, merged([&a, &c]).0);
        assert_ne!(merged([&a, &b]).1, merged([&a, &c]).1);
    }
}
