//! Scores of labels over all rows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::Record;
use crate::score::counted::CorpusState;
use crate::stats::{AlphaLevel, KappaWeights, LabelPairs, NotDefined};

/// The labels of all rows, and the formula of their score.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelScore {
    pairs: LabelPairs,
    formula: LabelFormula,
}

/// The formula of a score of labels.
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

    fn score(&self) -> Result<f64, NotDefined> {
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
        let (gold, predicted) = self.pairs.only()?;
        let labels = (gold.to_owned(), predicted.to_owned());
        Record::Labels {
            formula: self.formula.clone(),
            labels,
        }
        .to_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labels_of_a_row_are_one_pair() {
        let score = LabelScore::of_pair("cat", "dog", LabelFormula::Accuracy);
        assert_eq!(score.pairs().only(), Some(("cat", "dog")));
    }
}
