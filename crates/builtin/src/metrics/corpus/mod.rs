//! Metrics over all rows: accuracy, F1, agreement, rank correlation, calibration.
//!
//! A row has no score of its own. It contributes to one score of all rows, which does not depend on their order or on how
//! they are divided; see [`CorpusState`](dsrs_metrics_core::CorpusState). A score that the rows do not determine is reported as not
//! defined, never as 0 or NaN: a correlation where all values are equal, for example.
//!
//! Rows that fail are not included: the headline shows how many rows the score is over, and how many failed. A prediction
//! without a label counts as the empty label, so it is wrong; one without a number fails.
//!
//! The scores are defined as in scikit-learn 1.9 and the package `krippendorff` 0.9. In scikit-learn, an undefined
//! Matthews correlation is 0.

mod labels;
mod probabilities;
mod ranks;

pub use crate::core::rows::field_types::{Label, Truth};
pub use crate::core::score::corpus::labels::LabelScore;
pub use labels::{
    Accuracy, BalancedAccuracy, CohenKappa, KrippendorffAlpha, LabelComparison,
    LabelComparisonSetters, MacroF1, MatthewsCorrelation, MicroF1, accuracy, balanced_accuracy,
    cohen_kappa, krippendorff_alpha, macro_f1, matthews_correlation, micro_f1,
};
pub use probabilities::{
    BrierScore, ExpectedCalibrationError, brier_score, expected_calibration_error,
};
pub use ranks::{Auroc, SpearmanCorrelation, auroc, spearman_correlation};
