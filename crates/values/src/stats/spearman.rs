//! Spearman's rank correlation.

/// Returns the rank of each value, from 1; equal values have the mean of their ranks. Values must
/// be finite.
///
/// ```
/// use dsrs_metrics::stats::average_ranks;
///
/// assert_eq!(average_ranks(&[0.5, 2.0, 2.0, -1.0]), [2.0, 3.5, 3.5, 1.0]);
/// ```
#[must_use]
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let levels = Levels::of(values);
    let ranks = levels.ranks(&levels.level);
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
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let all: Vec<usize> = (0..x.len()).collect();
    (x.len() == y.len()).then(|| RankPairs::of(x, y).spearman(&all))?
}

/// Pairs of values with precomputed order, so that samples are ranked without sorting again.
#[doc(hidden)]
pub struct RankPairs {
    x: Levels,
    y: Levels,
}

impl RankPairs {
    /// Both sides must have the same length.
    pub fn of(x: &[f64], y: &[f64]) -> Self {
        Self { x: Levels::of(x), y: Levels::of(y) }
    }

    /// Returns the correlation of the pairs at these indices, which may be repeated.
    pub fn spearman(&self, sample: &[usize]) -> Option<f64> {
        let levels = |side: &Levels| sample.iter().map(|at| side.level[*at]).collect::<Vec<_>>();
        let (x, y) = (levels(&self.x), levels(&self.y));
        let (x_ranks, y_ranks) = (self.x.ranks(&x), self.y.ranks(&y));
        // Ties do not change the mean of the ranks.
        let mean = (sample.len() as f64 + 1.0) / 2.0;
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for (x, y) in x.iter().zip(&y) {
            let (x, y) = (x_ranks[*x] - mean, y_ranks[*y] - mean);
            xx += x * x;
            yy += y * y;
            xy += x * y;
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
        // Both zeros are equal.
        let key = |at: usize| values[at] + 0.0;
        order.sort_unstable_by(|a, b| key(*a).total_cmp(&key(*b)));
        let mut level = vec![0; values.len()];
        let mut count = 0;
        for (place, at) in order.iter().enumerate() {
            if place > 0 && key(order[place - 1]) < key(*at) {
                count += 1;
            }
            level[*at] = count;
        }
        Self { level, count: if values.is_empty() { 0 } else { count + 1 } }
    }

    /// Returns the average rank of each level in a sample of levels.
    fn ranks(&self, sample: &[usize]) -> Vec<f64> {
        let mut ranks = vec![0.0; self.count];
        for level in sample {
            ranks[*level] += 1.0;
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
