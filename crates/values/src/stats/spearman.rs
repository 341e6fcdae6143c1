//! Spearman's rank correlation.

use std::collections::HashMap;

/// Returns the rank of each value, from 1; equal values have the mean of their ranks. Values must
/// be finite.
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

/// Returns Spearman's rank correlation in [-1, 1]: Pearson's correlation of the [`average_ranks`],
/// so that ties are accounted for. Values must be finite.
///
/// Returns `None` if the lengths differ, and if one side is constant, which includes fewer than two
/// rows.
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

/// Pairs of values with precomputed order, so that samples are ranked without sorting again.
#[doc(hidden)]
pub struct RankPairs {
    x: Levels,
    y: Levels,
    /// The different pairs of levels.
    pairs: Vec<(usize, usize)>,
    /// Each pair as its index among the different pairs.
    pair: PairIndices,
}

/// As few bytes as possible, so that they fit into a cache.
enum PairIndices {
    Few(Vec<u8>),
    Many(Vec<u32>),
}

impl RankPairs {
    /// Both sides must have the same length, which fits into 32 bits.
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
        let pair: Vec<u32> = pair.collect();
        let pair = match pairs.len() {
            0..=256 => PairIndices::Few(pair.into_iter().map(|it| it as u8).collect()),
            _ => PairIndices::Many(pair),
        };
        Self { x, y, pairs, pair }
    }

    /// Returns the correlation of the pairs at these indices, which may be repeated.
    pub fn spearman(&self, sample: impl ExactSizeIterator<Item = usize>) -> Option<f64> {
        let (mut counts, rows) = (vec![0_u32; self.pairs.len()], sample.len());
        match &self.pair {
            PairIndices::Few(pair) => sample.for_each(|at| counts[usize::from(pair[at])] += 1),
            PairIndices::Many(pair) => sample.for_each(|at| counts[pair[at] as usize] += 1),
        }
        let levels = self.pairs.iter().zip(counts.into_iter().map(f64::from));
        let x_ranks = self
            .x
            .ranks(levels.clone().map(|((x, _), count)| (*x, count)));
        let y_ranks = self
            .y
            .ranks(levels.clone().map(|((_, y), count)| (*y, count)));
        // Ties do not change the mean of the ranks.
        let mean = (rows as f64 + 1.0) / 2.0;
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for ((x, y), count) in levels {
            let (x, y) = (x_ranks[*x] - mean, y_ranks[*y] - mean);
            xx += count * x * x;
            yy += count * y * y;
            xy += count * x * y;
        }
        // One root of the product: it is exact if both sides are in the same order.
        (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
    }
}

/// Each value as its index among the distinct values in ascending order.
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

    /// Returns the average rank of each level in a sample of levels, each with the number of its values.
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
        // Neighbours are exchanged: the squared differences of the ranks sum up to 300.
        let y: Vec<f64> = (0..300).map(|row| f64::from(row ^ 1)).collect();
        let expected = 1.0 - 6.0 * 300.0 / (300.0 * (300.0 * 300.0 - 1.0));
        assert!((spearman(&x, &y).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn a_sample_may_repeat_pairs() {
        let (x, y) = ([1.0, 2.0, 3.0], [0.1, 0.3, 0.2]);
        assert_eq!(spearman(&x, &y), Some(0.5));
        // The ranks are 1.5, 1.5, 3 and 4, and 1.5, 1.5, 4 and 3. Around their mean, 2.5, the squares of each side sum up
        // to 1 + 1 + 0.25 + 2.25, and the products to 1 + 1 + 0.75 + 0.75.
        let sample = [0, 0, 1, 2];
        assert_eq!(
            RankPairs::of(&x, &y).spearman(sample.into_iter()),
            Some(3.5 / 4.5)
        );
    }
}
