//! Formulas of `stats` as scores of all rows.

use super::record::{Record, ValueFormula};
use crate::stats::{Brier, Calibration, ClassScores, ValuePairs};

/// Lets values of `stats` be the state of a score of all rows: the method that computes the score, and the record of a row.
macro_rules! corpus_states {
    ($($state:ident: $score:ident, |$this:ident| $record:expr;)*) => {$(
        impl $crate::score::counted::CorpusState for $state {
            fn merge(&mut self, other: &Self) {
                Self::merge(self, other);
            }

            fn score(&self) -> Result<f64, $crate::stats::NotDefined> {
                Self::$score(self)
            }

            fn record(&self) -> Option<serde_json::Value> {
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
