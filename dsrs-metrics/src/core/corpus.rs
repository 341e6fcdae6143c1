//! Scores of a whole corpus that are not the mean of its rows' scores: corpus BLEU, micro F1.
//!
//! A row contributes counts; counts of rows add up, in any order and on any number of machines; a
//! formula makes the score of the sums. How rows are taken and shown is the harness's business.

use std::fmt;
use std::sync::Arc;

use crate::core::error::Result;
use crate::core::return_types::MetricReturn;
use crate::core::score::Scored;
use crate::core::spec::{MetricSpec, ScoreKind};

/// Makes a corpus's score of the summed counts of its rows.
///
/// Closures over a slice of counts are formulas. All rows of a metric give as many counts, in the same
/// order, and the same formula.
pub trait CorpusFormula: Send + Sync {
    /// The score, in the metric's range; `None` where the sums allow none (nothing to divide by).
    fn corpus_score(&self, counts: &[u64]) -> Option<f64>;
}

impl<F: Fn(&[u64]) -> Option<f64> + Send + Sync> CorpusFormula for F {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        self(counts)
    }
}

/// What one row, or a part of the corpus, contributes to the corpus's score: counts that add up.
///
/// They are integers, so that no digit depends on the order in which rows or workers finish.
///
/// ```
/// use dsrs_metrics::CorpusCounts;
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
    /// A row's counts, and the formula for their sums.
    pub fn new(counts: impl Into<Vec<u64>>, formula: impl CorpusFormula + 'static) -> Self {
        Self { counts: counts.into(), formula: Arc::new(formula) }
    }

    /// Adds the counts of other rows of the same metric. The order does not matter.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    /// The sums.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The score of all rows that were merged; `None` where there is none, and never NaN or infinite.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.formula.corpus_score(&self.counts).filter(|score| score.is_finite())
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

/// A row's score, together with what the row contributes to the score of the corpus. A metric that
/// returns it is shown with both: the mean of its rows, and the corpus's score.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{CorpusCounts, Evaluate, Pair, WithCorpus};
///
/// /// Share of the words that are known.
/// #[metric]
/// fn known_words(#[gold] vocabulary: &[String], #[pred] answer: &str) -> Option<WithCorpus<f64>> {
///     let words = answer.split_whitespace();
///     let known = words.clone().filter(|word| vocabulary.iter().any(|known| known == word)).count();
///     let all = words.count();
///     let share = |counts: &[u64]| Some(counts[0] as f64 / counts[1] as f64);
///     let counts = CorpusCounts::new([known as u64, all as u64], share);
///     (all > 0).then(|| WithCorpus::new(known as f64 / all as f64, counts))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::EvaluateError> {
/// let row = |id: &str, answer: &str| {
///     Pair::new(id, example! { "vocabulary" => ["cat"] }, prediction! { "answer" => answer })
/// };
/// let evaluate = Evaluate::builder().metric(KnownWords).build()?;
/// let result = evaluate.score([row("a", "cat"), row("b", "the dog barks")]).await?;
/// assert_eq!(result.metrics[0].corpus, Some(0.25));
/// assert_eq!(result.to_string(), "known_words  0.5000 (mean of 2/2, 0 failed); corpus 0.2500");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WithCorpus<T> {
    /// The row's score.
    pub score: T,
    /// The row's part in the corpus's score.
    pub counts: CorpusCounts,
}

impl<T> WithCorpus<T> {
    /// A row's score with its counts.
    pub const fn new(score: T, counts: CorpusCounts) -> Self {
        Self { score, counts }
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn> MetricReturn for WithCorpus<T> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Ok(self.score.into_scored(spec)?.with_corpus(self.counts))
    }
}
