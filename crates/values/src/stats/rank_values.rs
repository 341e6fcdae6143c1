//! Scores of ranks over all rows: Spearman's correlation and the area under the ROC curve.

use super::not_defined::NotDefined;
use super::spearman::spearman;

/// Pairs of gold and predicted values, in any order. Takes 16 bytes a row.
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
    /// Adds a row with finite values.
    pub fn add(&mut self, gold: f64, predicted: f64) {
        self.pairs.push((gold, predicted));
    }

    /// Returns the gold and the predicted value, if there is one row.
    #[doc(hidden)]
    pub fn only(&self) -> Option<(f64, f64)> {
        let [pair] = *self.pairs else { return None };
        Some(pair)
    }

    /// Adds the rows of another part of the data.
    pub fn merge(&mut self, other: &Self) {
        self.pairs.extend_from_slice(&other.pairs);
    }

    /// Returns Spearman's rank correlation in [-1, 1]; ties have the mean of their ranks.
    ///
    /// # Errors
    /// All values of one side are equal.
    pub fn spearman(&self) -> Result<f64, NotDefined> {
        let mut pairs = self.pairs.clone();
        // So that the sums do not depend on the order of the rows.
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

/// Predicted scores of rows that are in a class and of rows that are not. Takes 8 bytes a row.
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
    positive: Vec<f64>,
    negative: Vec<f64>,
}

impl ClassScores {
    /// Adds a row with a finite score.
    pub fn add(&mut self, is_positive: bool, score: f64) {
        if is_positive {
            self.positive.push(score)
        } else {
            self.negative.push(score)
        }
    }

    /// Returns whether the row is in the class, and its score, if there is one row.
    #[doc(hidden)]
    pub fn only(&self) -> Option<(bool, f64)> {
        match (&*self.positive, &*self.negative) {
            ([score], []) => Some((true, *score)),
            ([], [score]) => Some((false, *score)),
            _ => None,
        }
    }

    /// Adds the rows of another part of the data.
    pub fn merge(&mut self, other: &Self) {
        self.positive.extend_from_slice(&other.positive);
        self.negative.extend_from_slice(&other.negative);
    }

    /// Returns the area under the ROC curve in [0, 1]: the probability that a positive row has a higher score than a
    /// negative one, where a tie counts half.
    ///
    /// # Errors
    /// There is not at least one positive and one negative row.
    pub fn auroc(&self) -> Result<f64, NotDefined> {
        match (self.positive.len(), self.negative.len()) {
            (0, 0) => return Err("there are no rows".into()),
            (0, _) => return Err("no row is positive".into()),
            (_, 0) => return Err("every row is positive".into()),
            _ => {}
        }
        let mut negative = self.negative.clone();
        negative.sort_by(f64::total_cmp);
        // Twice the number of pairs in the right order, so that half a pair is an integer.
        let won = self.positive.iter().map(|score| {
            let below = negative.partition_point(|other| other < score);
            let up_to = negative.partition_point(|other| other <= score);
            (below + up_to) as u128
        });
        let all = 2 * self.positive.len() as u128 * self.negative.len() as u128;
        Ok(won.sum::<u128>() as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
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
