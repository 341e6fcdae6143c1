//! The contribution of a row to a score of all rows, as result files contain it: the formula with its parameters, and the
//! labels, values or counts of the row. From these `compare` computes the score of any selection of rows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::labels::{LabelFormula, LabelScore};
use super::{CorpusCounts, CorpusFormula};
use crate::json::structured::FieldCounts;
use crate::score::counted::Counted;
use crate::stats::{Brier, Calibration, ClassScores, ValuePairs};
use crate::text::{BleuOptions, ChrfOptions, EditCounts, EntityCounts, MAX_ORDER};

/// The contribution of one row.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Record {
    /// Gold and predicted label.
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

/// The formula of a score of numbers. The values of a row are in the comments.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ValueFormula {
    /// The gold and the predicted value.
    Spearman,
    /// 1 for a row in the class and 0 for any other, and the score.
    Auroc,
    /// The squared difference.
    Brier,
    /// With this number of bins; 1 if it came true and 0 if not, and the probability.
    Calibration(u32),
}

/// The formula of a score of summed counts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountFormula {
    Bleu(BleuOptions),
    Chrf(ChrfOptions),
    /// Edits and the length of the reference.
    EditRate,
    /// Found, expected and predicted entities.
    EntityF1,
    /// Correct, expected, predicted and superfluous fields.
    FieldAccuracy,
}

/// The largest count of a file. The sum of any number of rows is below 2^64.
const MAX_COUNT: u64 = u32::MAX as u64;

impl CountFormula {
    /// Returns the number of counts of a row, if a metric has such parameters.
    fn width(&self) -> Option<usize> {
        match self {
            Self::Bleu(bleu) => {
                (1..=MAX_ORDER).contains(&bleu.max_order).then(|| 2 + 2 * bleu.max_order)
            }
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
                Some(EntityCounts { found, expected, predicted }.f1())
            }
            (Self::FieldAccuracy, &[correct, expected, predicted, extra]) => {
                Some(FieldCounts { correct, expected, predicted, extra }.accuracy())
            }
            _ => None,
        }
    }

    fn record(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

/// The BLEU of a corpus in [0, 1], over all orders.
impl CorpusFormula for BleuOptions {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        Some(self.score(counts, false))
    }

    fn record(&self) -> Option<Value> {
        CountFormula::Bleu(*self).record()
    }
}

/// The chrF of a corpus in [0, 1]: the same formula over the summed counts.
impl CorpusFormula for ChrfOptions {
    fn corpus_score(&self, counts: &[u64]) -> Option<f64> {
        Some(self.score(counts))
    }

    fn record(&self) -> Option<Value> {
        CountFormula::Chrf(*self).record()
    }
}

impl Record {
    pub(super) fn to_value(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }

    pub(super) fn values<const N: usize>(formula: ValueFormula, values: [f64; N]) -> Option<Value> {
        Self::Values { formula, values: values.to_vec() }.to_value()
    }

    /// Returns the contribution, unless no metric returns it.
    fn restore(self) -> Option<Counted> {
        match self {
            Self::Labels { formula, labels: (gold, predicted) } => {
                Some(Counted::new(LabelScore::of_pair(&gold, &predicted, formula)))
            }
            Self::Values { formula, values } => formula.restore(&values),
            Self::Counts { formula, counts } => {
                let is_valid = formula.width() == Some(counts.len())
                    && counts.iter().all(|count| *count <= MAX_COUNT);
                is_valid.then(|| Counted::new(CorpusCounts::new(counts, formula)))
            }
        }
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

/// Returns the contribution that a result file contains, unless it is not one of this library.
pub fn restore(record: &Value) -> Option<Counted> {
    Record::deserialize(record).ok()?.restore()
}
