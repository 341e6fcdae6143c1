//! The contribution of a row to a score of all rows, as result files contain it: the formula with its parameters, and the
//! labels, values or counts of the row. From these `compare` computes the score of any selection of rows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::labels::{LabelFormula, LabelScore};
use super::{CorpusCounts, CorpusFormula};
use crate::json::structured::FieldCounts;
use crate::score::counted::{CorpusState, Counted};
use crate::stats::{Brier, Calibration, ClassScores, NotDefined, ValuePairs};
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
            Self::Bleu(bleu) => (1..=MAX_ORDER)
                .contains(&bleu.max_order)
                .then(|| 2 + 2 * bleu.max_order),
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
            (Self::EntityF1, &[found, expected, predicted]) => Some(
                EntityCounts {
                    found,
                    expected,
                    predicted,
                }
                .f1(),
            ),
            (Self::FieldAccuracy, &[correct, expected, predicted, extra]) => Some(
                FieldCounts {
                    correct,
                    expected,
                    predicted,
                    extra,
                }
                .accuracy(),
            ),
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

    fn values<const N: usize>(formula: ValueFormula, values: [f64; N]) -> Option<Value> {
        Self::Values {
            formula,
            values: values.to_vec(),
        }
        .to_value()
    }

    /// Returns the contribution, unless no metric returns it.
    fn restore(self) -> Option<Counted> {
        match self {
            Self::Labels {
                formula,
                labels: (gold, predicted),
            } => Some(Counted::new(LabelScore::of_pair(
                &gold, &predicted, formula,
            ))),
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

/// Lets values of `stats` be the state of a score of all rows: the method that computes the score, and the record of a row.
macro_rules! corpus_states {
    ($($state:ident: $score:ident, |$this:ident| $record:expr;)*) => {$(
        impl CorpusState for $state {
            fn merge(&mut self, other: &Self) {
                Self::merge(self, other);
            }

            fn score(&self) -> Result<f64, NotDefined> {
                Self::$score(self)
            }

            fn record(&self) -> Option<Value> {
                let $this = self;
                $record
            }
        }
    )*};
}

corpus_states! {
    ValuePairs: spearman, |pairs| {
        Record::values(ValueFormula::Spearman, <[f64; 2]>::from(pairs.only()?))
    };
    ClassScores: auroc, |scores| {
        let (is_positive, score) = scores.only()?;
        Record::values(ValueFormula::Auroc, [f64::from(u8::from(is_positive)), score])
    };
    Brier: score, |brier| Record::values(ValueFormula::Brier, [brier.only()?]);
    Calibration: expected_error, |calibration| {
        let (bins, came_true, probability) = calibration.only()?;
        let values = [f64::from(u8::from(came_true)), probability];
        Record::values(ValueFormula::Calibration(bins), values)
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks that the record of a contribution is read as the contribution, and returns its score.
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

    /// The scores of BLEU and chrF are those of sacrebleu; that of BLEU is the geometric mean of 5/6, 3/5, 2/4 and 1/3.
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
