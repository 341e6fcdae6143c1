//! Scores for a whole corpus that are not the mean of the row scores.
//!
//! Examples are corpus BLEU and micro F1.
//!
//! Each row contributes counts, which can be summed in any order and across machines. A formula computes the score from
//! the sums. `evaluate/` runs the formula and reports the score.
//!
//! Counts, labels and values each have a formula, a state and a stored form.
//!
//! The file is long because each formula has its counts, its score and an example.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::json::structured::FieldCounts;
use crate::score::{CorpusState, Counted};
use crate::stats::{
    AlphaLevel, Brier, Calibration, ClassScores, KappaWeights, LabelPairs, NotDefined, ValuePairs,
};
use crate::text::{BleuOptions, ChrfOptions, EditCounts, EntityCounts, MAX_ORDER};

/// Computes a corpus score from the counts summed over all rows.
///
/// Closures that take a slice of counts implement this trait.
///
/// A metric must return the same number of counts for every row, in the same order and with the same formula.
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
    /// Returns the score, in the metric's range.
    ///
    /// Returns `None` if the score is undefined, for example because of a division by zero.
    fn corpus_score(&self, counts: &[u64]) -> Option<f64>;

    /// Returns the formula in the form that result files use.
    ///
    /// Two files with the same formula can be compared.
    ///
    /// The default, `None`, is for a formula that `record.rs` cannot read.
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

/// The counts that one row, or part of the corpus, contributes to the corpus score.
///
/// Counts are integers, so their sums do not depend on which rows or workers finish first.
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
    /// Creates one row's counts, with a formula to apply to the sums.
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

    /// Adds the counts from other rows.
    ///
    /// All rows must belong to the same metric. You can merge them in any order.
    ///
    /// ```
    /// # use dsrs_metrics::contract::CorpusCounts;
    /// let share = |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64);
    /// let mut corpus = CorpusCounts::new([1, 2], share);
    /// corpus.merge(&CorpusCounts::new([3, 6], share));
    /// assert_eq!(corpus.counts(), [4, 8]);
    /// ```
    pub fn merge(&mut self, other: &Self) {
        let length = self.counts.len().max(other.counts.len());
        self.counts.resize(length, 0);
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

    /// Returns the counts and their formula as they are written to a result file.
    #[doc(hidden)]
    pub fn record(&self) -> Option<Value> {
        Some(json!({ "formula": self.formula.record()?, "counts": self.counts }))
    }

    /// Returns the score over all merged rows.
    ///
    /// Returns `None` if the formula returns `None` or a value that is not finite.
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

    fn overall_score(&self) -> Result<f64, NotDefined> {
        Self::score(self).ok_or_else(|| "the counts do not determine a score".into())
    }

    fn record(&self) -> Option<Value> {
        Self::record(self)
    }
}

/// The labels from all rows, with the formula that scores them.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelScore {
    pairs: LabelPairs,
    formula: LabelFormula,
}

/// The formula for a score computed from labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelFormula {
    Accuracy,
    MacroF1(Vec<String>),
    MicroF1(Vec<String>),
    BalancedAccuracy,
    Matthews,
    Kappa(KappaWeights),
    Alpha(AlphaLevel),
}

impl LabelScore {
    pub fn of_pair(gold: &str, predicted: &str, formula: LabelFormula) -> Self {
        let mut pairs = LabelPairs::default();
        pairs.add(gold, predicted);
        Self { pairs, formula }
    }

    /// Returns the number of rows for each pair of labels.
    pub fn pairs(&self) -> &LabelPairs {
        &self.pairs
    }
}

impl CorpusState for LabelScore {
    fn merge(&mut self, other: &Self) {
        self.pairs.merge(&other.pairs);
    }

    fn overall_score(&self) -> Result<f64, NotDefined> {
        match &self.formula {
            LabelFormula::Accuracy => self.pairs.accuracy(),
            LabelFormula::MacroF1(labels) => self.pairs.macro_f1(labels),
            LabelFormula::MicroF1(labels) => self.pairs.micro_f1(labels),
            LabelFormula::BalancedAccuracy => self.pairs.balanced_accuracy(),
            LabelFormula::Matthews => self.pairs.matthews_correlation(),
            LabelFormula::Kappa(weights) => self.pairs.cohen_kappa(*weights),
            LabelFormula::Alpha(level) => self.pairs.krippendorff_alpha(*level),
        }
    }

    fn record(&self) -> Option<Value> {
        Some(json!({ "formula": self.formula, "labels": self.pairs.only()? }))
    }
}

/// One row's contribution, as it appears in a result file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Record {
    /// The gold label and the predicted label.
    Labels {
        formula: LabelFormula,
        labels: (String, String),
    },
    Values {
        formula: ValueFormula,
        values: Vec<f64>,
    },
    Counts {
        formula: CountFormula,
        counts: Vec<u64>,
    },
}

/// The formula for a score computed from numbers. Each variant says which values a row contributes.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ValueFormula {
    /// Each row contributes the gold and the predicted value.
    Spearman,
    /// Each row contributes 1 if it is in the class or 0 otherwise, and its score.
    Auroc,
    /// Each row contributes the squared difference.
    Brier,
    /// Each row contributes 1 if the prediction came true or 0 otherwise, and the predicted probability. Contains the
    /// number of bins.
    Calibration(u32),
}

/// The formula for a score computed from summed counts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountFormula {
    Bleu(BleuOptions),
    Chrf(ChrfOptions),
    /// The edit rate, computed from the number of edits and the length of the reference.
    EditRate,
    /// The F1 over entities, computed from the number of found, expected and predicted entities.
    EntityF1,
    /// The field accuracy.
    ///
    /// The counts are the number of correct, expected, predicted and superfluous fields.
    FieldAccuracy,
}

/// The largest count in a file. The sum over any number of rows stays below 2^64.
const MAX_COUNT: u64 = u32::MAX as u64;

impl CountFormula {
    /// Returns the number of counts per row, or `None` if the formula's parameters are invalid.
    fn width(&self) -> Option<usize> {
        match self {
            Self::Bleu(BleuOptions { max_order, .. }) => (1..=MAX_ORDER)
                .contains(max_order)
                .then(|| 2 + 2 * max_order),
            Self::Chrf(chrf) => {
                let orders = [chrf.char_order, chrf.word_order];
                let is_valid = orders.iter().all(|order| *order <= MAX_ORDER);
                (is_valid && chrf.beta.is_finite()).then(|| 3 * orders.iter().sum::<usize>())
            }
            Self::EditRate => Some(2),
            Self::EntityF1 => Some(3),
            Self::FieldAccuracy => Some(4),
        }
    }
}

impl CorpusFormula for CountFormula {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        match (self, counts) {
            (Self::Bleu(bleu), counts) => bleu.corpus_score(counts),
            (Self::Chrf(chrf), counts) => chrf.corpus_score(counts),
            (Self::EditRate, &[edits, length]) => Some(EditCounts { edits, length }.rate()),
            (Self::EntityF1, &[found, expected, predicted]) => {
                let counts = EntityCounts {
                    found,
                    expected,
                    predicted,
                };
                Some(counts.f1())
            }
            (Self::FieldAccuracy, &[correct, expected, predicted, extra]) => {
                let counts = FieldCounts {
                    correct,
                    expected,
                    predicted,
                    extra,
                };
                Some(counts.accuracy())
            }
            _ => None,
        }
    }

    fn record(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

/// Computes the BLEU of a corpus in [0, 1], over all orders.
impl CorpusFormula for BleuOptions {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        Some(self.score(counts, false))
    }

    fn record(&self) -> Option<Value> {
        CountFormula::Bleu(*self).record()
    }
}

/// Computes the chrF of a corpus in [0, 1], using the same formula over the summed counts.
impl CorpusFormula for ChrfOptions {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        Some(self.score(counts))
    }

    fn record(&self) -> Option<Value> {
        CountFormula::Chrf(*self).record()
    }
}

impl ValueFormula {
    fn restore(self, values: &[f64]) -> Option<Counted> {
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let truth = |value: f64| (value == 0.0 || value == 1.0).then_some(value == 1.0);
        Some(match (self, values) {
            (Self::Spearman, &[gold, predicted]) => {
                let mut pairs = ValuePairs::default();
                pairs.add(gold, predicted);
                Counted::new(pairs)
            }
            (Self::Auroc, &[is_positive, score]) => {
                let mut scores = ClassScores::default();
                scores.add(truth(is_positive)?, score);
                Counted::new(scores)
            }
            (Self::Brier, &[square]) if is_share(square) => Counted::new(Brier::of_square(square)),
            (Self::Calibration(bins), &[came_true, probability])
                if bins > 0 && is_share(probability) =>
            {
                Counted::new(Calibration::of(truth(came_true)?, probability, bins))
            }
            _ => return None,
        })
    }
}

/// Restores a contribution from a result file.
///
/// Returns `None` if the record is not in a form that this library writes.
pub fn restore(record: &Value) -> Option<Counted> {
    match Record::deserialize(record).ok()? {
        Record::Labels { formula, labels } => {
            let (gold, predicted) = labels;
            let score = LabelScore::of_pair(&gold, &predicted, formula);
            Some(Counted::new(score))
        }
        Record::Values { formula, values } => formula.restore(&values),
        Record::Counts { formula, counts } => {
            let is_valid = formula.width() == Some(counts.len())
                && counts.iter().all(|count| *count <= MAX_COUNT);
            is_valid.then(|| Counted::new(CorpusCounts::new(counts, formula)))
        }
    }
}

/// Lets types from `stats` be the state of a score over all rows: names the method that computes the score, and a row's
/// record.
macro_rules! corpus_states {
    ($($state:ident: $score:ident, |$this:ident| $record:expr;)*) => {$(
        impl CorpusState for $state {
            fn merge(&mut self, other: &Self) {
                Self::merge(self, other);
            }

            fn overall_score(&self) -> Result<f64, NotDefined> {
                Self::$score(self)
            }

            fn record(&self) -> Option<Value> {
                let $this = self;
                Some($record)
            }
        }
    )*};
}

corpus_states! {
    ValuePairs: spearman, |pairs| json!({ "formula": "spearman", "values": pairs.only()? });
    ClassScores: auroc, |scores| {
        let (is_positive, score) = scores.only()?;
        json!({ "formula": "auroc", "values": [f64::from(u8::from(is_positive)), score] })
    };
    Brier: score, |brier| json!({ "formula": "brier", "values": [brier.only()?] });
    Calibration: expected_error, |calibration| {
        let (bins, came_true, probability) = calibration.only()?;
        let values = [f64::from(u8::from(came_true)), probability];
        json!({ "formula": { "calibration": bins }, "values": values })
    };
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

#[cfg(test)]
mod labels_tests {
    use super::*;

    #[test]
    fn the_labels_of_a_row_are_one_pair() {
        let score = LabelScore::of_pair("cat", "dog", LabelFormula::Accuracy);
        assert_eq!(score.pairs().only(), Some(("cat", "dog")));
    }
}

#[cfg(test)]
mod record_tests {
    use serde_json::json;

    use super::*;

    /// Checks that a contribution's record reads back as the same contribution, and returns its score.
    fn stored(state: impl CorpusState) -> Option<f64> {
        let counted = Counted::new(state);
        let read = restore(&counted.record().unwrap()).unwrap();
        assert_eq!(read, counted);
        read.score().ok()
    }

    #[test]
    fn values_of_a_row_are_read_as_they_were_written() {
        for is_true in [true, false] {
            let share = if is_true { 0.75 } else { 0.25 };
            assert_eq!(stored(Brier::of(is_true, share)), Some(0.0625));
            assert_eq!(stored(Calibration::of(is_true, share, 1)), Some(0.25));
            let (mut pairs, mut scores) = (ValuePairs::default(), ClassScores::default());
            pairs.add(share, 2.0);
            scores.add(is_true, share);
            assert_eq!(
                (stored(pairs), stored(scores)),
                (None, None),
                "one row has no ranks"
            );
        }
        let labels = LabelScore::of_pair("cat", "dog", LabelFormula::Accuracy);
        assert_eq!(stored(labels), Some(0.0));
    }

    /// The BLEU and chrF scores match sacrebleu's; BLEU is the geometric mean of 5/6, 3/5, 2/4 and 1/3.
    #[test]
    fn counts_of_a_row_are_read_with_their_formula() {
        let (prediction, references) = ("the cat sat on the mat", ["the cat sat on a mat"]);
        let (bleu, chrf) = (BleuOptions::default(), ChrfOptions::default());
        let plus_plus = ChrfOptions {
            word_order: 2,
            ..chrf
        };
        let of_bleu = CorpusCounts::new(bleu.counts(prediction, &references).unwrap(), bleu);
        let of_chrf = |chrf: ChrfOptions| {
            CorpusCounts::new(chrf.counts(prediction, &references).unwrap(), chrf)
        };
        for (counts, expected) in [
            (of_bleu, (1.0_f64 / 12.0).powf(0.25)),
            (of_chrf(chrf), 0.720_848),
            (of_chrf(plus_plus), 0.720_304),
            (CorpusCounts::new([1, 4], CountFormula::EditRate), 0.25),
            (CorpusCounts::new([1, 2, 2], CountFormula::EntityF1), 0.5),
        ] {
            let score = stored(counts).unwrap();
            assert!(
                (score - expected).abs() < 1e-6,
                "{score} instead of {expected}"
            );
        }
    }

    #[test]
    fn what_no_metric_contributes_is_not_read() {
        let calibration = |bins: u32, values: [f64; 2]| json!({ "formula": { "calibration": bins }, "values": values });
        let bleu = |max_order| {
            let bleu = BleuOptions {
                max_order,
                ..BleuOptions::default()
            };
            json!({ "formula": { "bleu": bleu }, "counts": vec![1; 2 + 2 * max_order] })
        };
        let chrf = |char_order, word_order| {
            let chrf = ChrfOptions {
                char_order,
                word_order,
                ..ChrfOptions::default()
            };
            let counts = vec![1; 3 * (char_order + word_order)];
            json!({ "formula": { "chrf": chrf }, "counts": counts })
        };
        for valid in [
            calibration(1, [1.0, 0.5]),
            bleu(1),
            bleu(MAX_ORDER),
            chrf(MAX_ORDER, 0),
            json!({ "formula": "edit_rate", "counts": [1, MAX_COUNT] }),
        ] {
            assert!(restore(&valid).is_some(), "{valid}");
        }
        for invalid in [
            calibration(0, [1.0, 0.5]),
            calibration(1, [0.5, 0.5]),
            calibration(1, [1.0, 1.5]),
            json!({ "formula": "auroc", "values": [0.5, 0.5] }),
            json!({ "formula": "brier", "values": [1.5] }),
            json!({ "formula": "spearman", "values": [1.0] }),
            bleu(0),
            bleu(MAX_ORDER + 1),
            chrf(MAX_ORDER + 1, 0),
            chrf(1, MAX_ORDER + 1),
            json!({ "formula": "edit_rate", "counts": [1, MAX_COUNT + 1] }),
            json!({ "formula": "edit_rate", "counts": [1] }),
        ] {
            assert!(restore(&invalid).is_none(), "{invalid}");
        }
    }
}
