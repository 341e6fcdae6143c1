//! Scores of a whole corpus that are not the mean of its rows' scores: corpus BLEU, micro F1.
//!
//! Each row contributes counts. The counts of all rows are summed, in any order and on any number of
//! machines, and a formula computes the score from the sums. Running and reporting is in `evaluate/`.

pub mod labels;
pub mod record;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::score::counted::CorpusState;
use crate::stats::NotDefined;

/// Computes a corpus's score from the summed counts of its rows.
///
/// Closures over a slice of counts implement it. All rows of a metric must return the same number of counts,
/// in the same order, with the same formula.
///
/// ```
/// use dsrs_metrics::contract::{CorpusCounts, CorpusFormula};
///
/// /// Precision and recall over all rows; the counts are true positives, predicted and expected.
/// struct FBeta(f64);
///
/// impl CorpusFormula for FBeta {
///     fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
///         let (found, predicted, expected) = (counts[0] as f64, counts[1] as f64, counts[2] as f64);
///         let square = self.0.powi(2);
///         (predicted + expected > 0.0).then(|| (1.0 + square) * found / (square * expected + predicted))
///     }
/// }
///
/// let mut corpus = CorpusCounts::new([1, 1, 2], FBeta(1.0));
/// corpus.merge(&CorpusCounts::new([0, 1, 0], FBeta(1.0)));
/// assert_eq!(corpus.score(), Some(0.5));
/// ```
pub trait CorpusFormula: Send + Sync {
    /// Returns the score, in the metric's range, or `None` if the sums do not determine one (division by zero).
    fn corpus_score(&self, counts: &[u64]) -> Option<f64>;

    /// Returns the formula as result files name it, so that two files can be compared. `None`, the default, if
    /// `record.rs` cannot read it.
    #[doc(hidden)]
    fn record(&self) -> Option<Value> {
        None
    }
}

impl<F: Fn(&[u64]) -> Option<f64> + Send + Sync> CorpusFormula for F {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        self(counts)
    }
}

/// The counts that one row, or a part of the corpus, contributes to the corpus's score.
///
/// The counts are integers, so the sums do not depend on the order in which rows or workers finish.
///
/// ```
/// use dsrs_metrics::contract::CorpusCounts;
///
/// let share = |counts: &[u64]| (counts[1] > 0).then(|| counts[0] as f64 / counts[1] as f64);
/// let mut corpus = CorpusCounts::new([1, 1], share);
/// corpus.merge(&CorpusCounts::new([0, 3], share));
/// assert_eq!(corpus.score(), Some(0.25)); // the mean of the rows would be 0.5
/// ```
#[derive(Clone)]
pub struct CorpusCounts {
    counts: Vec<u64>,
    formula: Arc<dyn CorpusFormula>,
}

impl CorpusCounts {
    /// Creates the counts of one row, with the formula for their sums.
    ///
    /// ```
    /// # use dsrs_metrics::contract::CorpusCounts;
    /// let counts = CorpusCounts::new([3, 4], |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64));
    /// assert_eq!(counts.score(), Some(0.75));
    /// ```
    pub fn new(counts: impl Into<Vec<u64>>, formula: impl CorpusFormula + 'static) -> Self {
        Self {
            counts: counts.into(),
            formula: Arc::new(formula),
        }
    }

    /// Adds the counts of other rows of the same metric. The order does not matter.
    ///
    /// ```
    /// # use dsrs_metrics::contract::CorpusCounts;
    /// let share = |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64);
    /// let mut corpus = CorpusCounts::new([1, 2], share);
    /// corpus.merge(&CorpusCounts::new([3, 6], share));
    /// assert_eq!(corpus.counts(), [4, 8]);
    /// ```
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .resize(self.counts.len().max(other.counts.len()), 0);
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    /// Returns the summed counts.
    ///
    /// ```
    /// # use dsrs_metrics::contract::CorpusCounts;
    /// let counts = CorpusCounts::new([3, 4], |_: &[u64]| None);
    /// assert_eq!(counts.counts(), [3, 4]);
    /// ```
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the counts and their formula as a result file contains them.
    #[doc(hidden)]
    pub fn record(&self) -> Option<Value> {
        Some(json!({ "formula": self.formula.record()?, "counts": self.counts }))
    }

    /// Returns the score of all merged rows, or `None` if the formula returns none or a value that is not finite.
    ///
    /// ```
    /// # use dsrs_metrics::contract::CorpusCounts;
    /// let share = |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64);
    /// assert_eq!(CorpusCounts::new([1, 4], share).score(), Some(0.25));
    /// assert_eq!(CorpusCounts::new([0, 0], share).score(), None); // 0/0 is NaN
    /// ```
    pub fn score(&self) -> Option<f64> {
        let score = self.formula.corpus_score(&self.counts)?;
        score.is_finite().then_some(score + 0.0)
    }
}

impl fmt::Debug for CorpusCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CorpusCounts").field(&self.counts).finish()
    }
}

impl PartialEq for CorpusCounts {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts
    }
}

impl CorpusState for CorpusCounts {
    fn merge(&mut self, other: &Self) {
        Self::merge(self, other);
    }

    fn score(&self) -> Result<f64, NotDefined> {
        Self::score(self).ok_or_else(|| "the counts do not determine a score".into())
    }

    fn record(&self) -> Option<Value> {
        Self::record(self)
    }
}

#[cfg(test)]
mod tests {
    use super::CorpusCounts;

    fn counts(counts: &[u64]) -> CorpusCounts {
        CorpusCounts::new(counts, |sums: &[u64]| Some(sums[0] as f64))
    }

    #[test]
    fn counts_that_one_of_two_rows_lacks_are_zero() {
        let rows: [(&[u64], &[u64], &[u64]); 4] = [
            (&[1, 2], &[3, 4], &[4, 6]),
            (&[1], &[3, 4, 5], &[4, 4, 5]),
            (&[3, 4, 5], &[1], &[4, 4, 5]),
            (&[], &[1, 2], &[1, 2]),
        ];
        for (row, other, expected) in rows {
            let mut sum = counts(row);
            sum.merge(&counts(other));
            assert_eq!(sum.counts(), expected);
        }
    }

    #[test]
    fn counts_are_shown_without_their_formula() {
        assert_eq!(format!("{:?}", counts(&[1, 2])), "CorpusCounts([1, 2])");
    }
}
