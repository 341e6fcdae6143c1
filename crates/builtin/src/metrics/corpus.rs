//! Metrics over all rows: accuracy, F1, agreement, rank correlation, calibration.
//!
//! A row has no score of its own. It contributes to one score over all rows, which does not depend on the order of the
//! rows or on how they are divided; see [`CorpusState`](dsrs_metrics_core::CorpusState). If the rows do not determine a
//! score, such as a correlation between equal values, it is reported as not defined, never as 0 or NaN.
//!
//! Rows that fail are not included: the headline shows how many rows the score covers, and how many failed. A missing
//! label counts as the empty label, so it is wrong. A missing number makes the row fail.
//!
//! The scores are defined as in scikit-learn 1.9 and the `krippendorff` package, version 0.9. In scikit-learn, an
//! undefined Matthews correlation is 0.
//!
//! The file is long because each metric has its rules, a reference and an example. The code itself is short.

use crate::contract::{LabelFormula, within};
use crate::stats::{AlphaLevel, Brier, Calibration, ClassScores, KappaWeights, ValuePairs};
use crate::{ParamGroup, metric};

pub use crate::contract::rows::field_types::{Label, Truth};
pub use crate::contract::score::corpus::LabelScore;

/// Parameters shared by all metrics that compare a gold label with a predicted label.
#[derive(Debug, Clone, ParamGroup)]
pub struct LabelComparison {
    /// `true` to compare labels case-sensitively.
    #[param(default = true)]
    pub case_sensitive: bool,
}

impl LabelComparison {
    fn score(&self, gold: &Label<'_>, predicted: &Label<'_>, formula: LabelFormula) -> LabelScore {
        let (gold, predicted) = (gold.as_str(), predicted.as_str());
        match self.case_sensitive {
            true => LabelScore::of_pair(gold, predicted, formula),
            false => LabelScore::of_pair(&gold.to_lowercase(), &predicted.to_lowercase(), formula),
        }
    }

    /// Returns the labels in the form used to compare them.
    fn folded(&self, labels: &[String]) -> Vec<String> {
        let folded = |label: &String| match self.case_sensitive {
            true => label.trim().to_owned(),
            false => label.trim().to_lowercase(),
        };
        labels.iter().map(folded).collect()
    }
}

/// Computes the fraction of rows whose predicted label is correct.
///
/// A label is a string, a number or a boolean. A prediction without a label counts as wrong.
///
/// ```
/// use dsrs_metrics::metrics::Accuracy;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (&str, &str)| {
///     Pair::new(format!("{gold} {pred}"), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let rows = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", " yes")].map(row);
/// let result = Evaluate::builder().metric(Accuracy::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "accuracy  0.7500 (over 4/4 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0)]
pub fn accuracy(
    #[gold] answer: Label<'_>,
    #[pred("answer", missing)] prediction: Label<'_>,
    #[param(flatten)] comparison: &LabelComparison,
) -> LabelScore {
    comparison.score(&answer, &prediction, LabelFormula::Accuracy)
}

/// Computes the F1 of each label over all rows, and returns the mean.
///
/// Each label has the same weight.
///
/// By default, the mean covers every gold label and every predicted label. Set `labels` to include only some labels.
/// The score is undefined if no row has any of the included labels.
///
/// ```
/// use dsrs_metrics::metrics::MacroF1;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (&str, &str)| {
///     Pair::new(format!("{gold} {pred}"), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let rows = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", " yes")].map(row);
/// let result = Evaluate::builder().metric(MacroF1::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "macro_f1  0.7333 (over 4/4 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0)]
pub fn macro_f1(
    #[gold] answer: Label<'_>,
    #[pred("answer", missing)] prediction: Label<'_>,
    #[param(flatten)] comparison: &LabelComparison,
    /// The labels to include in the score. If empty, all labels are included.
    #[param(default)]
    labels: &[String],
) -> LabelScore {
    let formula = LabelFormula::MacroF1(comparison.folded(labels));
    comparison.score(&answer, &prediction, formula)
}

/// Computes the F1 of all labels together, over all rows.
///
/// If all labels are included, the score equals the accuracy. Set `labels` to leave out a label, such as "none".
///
/// ```
/// use dsrs_metrics::metrics::MicroF1;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (&str, &str)| {
///     Pair::new(format!("{gold} {pred}"), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let rows = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", " yes")].map(row);
/// let result = Evaluate::builder().metric(MicroF1::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "micro_f1  0.7500 (over 4/4 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0)]
pub fn micro_f1(
    #[gold] answer: Label<'_>,
    #[pred("answer", missing)] prediction: Label<'_>,
    #[param(flatten)] comparison: &LabelComparison,
    /// The labels to include in the score. If empty, all labels are included.
    #[param(default)]
    labels: &[String],
) -> LabelScore {
    let formula = LabelFormula::MicroF1(comparison.folded(labels));
    comparison.score(&answer, &prediction, formula)
}

/// Computes the recall of each gold label, and returns the mean.
///
/// A label's recall is the fraction of its rows that are predicted correctly. Each label has the same weight, no matter
/// how many rows it has.
///
/// ```
/// use dsrs_metrics::metrics::BalancedAccuracy;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (&str, &str)| {
///     Pair::new(format!("{gold} {pred}"), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let rows = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", " yes")].map(row);
/// let result = Evaluate::builder().metric(BalancedAccuracy::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "balanced_accuracy  0.8333 (over 4/4 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0)]
pub fn balanced_accuracy(
    #[gold] answer: Label<'_>,
    #[pred("answer", missing)] prediction: Label<'_>,
    #[param(flatten)] comparison: &LabelComparison,
) -> LabelScore {
    comparison.score(&answer, &prediction, LabelFormula::BalancedAccuracy)
}

/// Computes the Matthews correlation coefficient of gold and predicted labels over all rows.
///
/// The coefficient works for two or more labels. The score is undefined if all gold labels are equal, or if all
/// predicted labels are equal.
///
/// ```
/// use dsrs_metrics::metrics::MatthewsCorrelation;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (&str, &str)| {
///     Pair::new(format!("{gold} {pred}"), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let rows = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", " yes")].map(row);
/// let result = Evaluate::builder().metric(MatthewsCorrelation::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "matthews_correlation  0.5774 (over 4/4 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = -1.0..=1.0)]
pub fn matthews_correlation(
    #[gold] answer: Label<'_>,
    #[pred("answer", missing)] prediction: Label<'_>,
    #[param(flatten)] comparison: &LabelComparison,
) -> LabelScore {
    comparison.score(&answer, &prediction, LabelFormula::Matthews)
}

/// Computes Cohen's kappa of gold and predicted labels over all rows.
///
/// Kappa measures agreement beyond chance. The score is undefined if all labels are equal.
///
/// If you set `weights`, labels are sorted as numbers. If any label is not a number, all labels are sorted as strings.
///
/// ```
/// use dsrs_metrics::metrics::CohenKappa;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (&str, &str)| {
///     Pair::new(format!("{gold} {pred}"), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let rows = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", " yes")].map(row);
/// let result = Evaluate::builder().metric(CohenKappa::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "cohen_kappa  0.5000 (over 4/4 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = -1.0..=1.0)]
pub fn cohen_kappa(
    #[gold] answer: Label<'_>,
    #[pred("answer", missing)] prediction: Label<'_>,
    #[param(flatten)] comparison: &LabelComparison,
    /// How disagreements are weighted: `unweighted`, `linear` or `quadratic`.
    #[param(default = KappaWeights::Unweighted)]
    weights: KappaWeights,
) -> LabelScore {
    comparison.score(&answer, &prediction, LabelFormula::Kappa(weights))
}

/// Computes Krippendorff's alpha of gold and predicted labels over all rows.
///
/// The gold labels and the predicted labels are treated as two coders.
///
/// The score is undefined if all labels are equal. The levels `ordinal` and `interval` require numeric labels.
///
/// ```
/// use dsrs_metrics::metrics::KrippendorffAlpha;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (&str, &str)| {
///     Pair::new(format!("{gold} {pred}"), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let rows = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", " yes")].map(row);
/// let result = Evaluate::builder().metric(KrippendorffAlpha::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "krippendorff_alpha  0.5333 (over 4/4 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = -1.0..=1.0)]
pub fn krippendorff_alpha(
    #[gold] answer: Label<'_>,
    #[pred("answer", missing)] prediction: Label<'_>,
    #[param(flatten)] comparison: &LabelComparison,
    /// The level of measurement of the labels: `nominal`, `ordinal` or `interval`.
    #[param(default = AlphaLevel::Nominal)]
    level: AlphaLevel,
) -> LabelScore {
    comparison.score(&answer, &prediction, LabelFormula::Alpha(level))
}

/// Computes Spearman's rank correlation of gold and predicted numbers over all rows.
///
/// Equal numbers get the mean of their ranks.
///
/// The score is undefined if all gold numbers are equal, or if all predicted numbers are equal.
///
/// The metric uses 16 bytes of memory per row.
///
/// ```
/// use dsrs_metrics::metrics::SpearmanCorrelation;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (u32, f64)| {
///     Pair::new(gold.to_string(), example! { "answer" => gold }, prediction! { "answer" => pred })
/// };
/// let evaluate = Evaluate::builder().metric(SpearmanCorrelation).build()?;
/// let result = evaluate.score([(1, 0.1), (2, 0.4), (30, 0.3)].map(row)).await?;
/// assert_eq!(result.score, Some(0.5));
///
/// let constant = evaluate.score([(1, 0.1), (2, 0.1)].map(row)).await?;
/// let headline = "spearman_correlation  not defined: all predicted values are equal (over 2/2 rows, 0 failed)";
/// assert_eq!((constant.score, constant.to_string()), (None, headline.to_owned()));
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = -1.0..=1.0)]
pub fn spearman_correlation(#[gold] answer: f64, #[pred("answer")] prediction: f64) -> ValuePairs {
    let mut pairs = ValuePairs::default();
    pairs.add(answer, prediction);
    pairs
}

/// Computes the area under the ROC curve over all rows.
///
/// The area measures how well a predicted number separates true rows from false rows.
///
/// The score is the probability that a true row has a higher number than a false row. A score of 0.5 means that the
/// numbers are no better than chance. The score is undefined if all rows are true, or if all rows are false.
///
/// `gold.answer` is true or false (or 1 or 0), and `pred.probability` is any number.
///
/// The metric uses 8 bytes of memory per row.
///
/// ```
/// use dsrs_metrics::metrics::Auroc;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (bool, f64)| {
///     Pair::new(pred.to_string(), example! { "answer" => gold }, prediction! { "probability" => pred })
/// };
/// let rows = [(true, 0.9), (false, 0.8), (true, 0.7), (false, 0.1)].map(row);
/// assert_eq!(Evaluate::builder().metric(Auroc).score(rows).await?.score, Some(0.75));
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0)]
pub fn auroc(#[gold] answer: Truth, #[pred] probability: f64) -> ClassScores {
    let mut scores = ClassScores::default();
    scores.add(answer.0, probability);
    scores
}

/// Checks that a probability is in [0, 1].
///
/// # Errors
/// Returns an error if the probability is outside of [0, 1].
fn checked(probability: f64) -> Result<f64, String> {
    within("pred.probability", probability, [0.0, 1.0]).map(|()| probability)
}

/// Computes the Brier score of the predicted probabilities over all rows.
///
/// The Brier score is the mean squared error of the probabilities. A score of 0 is best.
///
/// `gold.answer` is true or false (or 1 or 0). `pred.probability` is the predicted probability of true, in [0, 1].
///
/// ```
/// use dsrs_metrics::metrics::BrierScore;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (bool, f64)| {
///     Pair::new(pred.to_string(), example! { "answer" => gold }, prediction! { "probability" => pred })
/// };
/// let rows = [(true, 0.75), (false, 0.25), (true, 1.0)].map(row);
/// let result = Evaluate::builder().metric(BrierScore).score(rows).await?;
/// assert_eq!(result.to_string(), "brier_score  0.0417 (over 3/3 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0, lower_is_better)]
pub fn brier_score(#[gold] answer: Truth, #[pred] probability: f64) -> Result<Brier, String> {
    Ok(Brier::of(answer.0, checked(probability)?))
}

/// Computes the expected calibration error of the predicted probabilities over all rows.
///
/// A score of 0 is best.
///
/// The metric divides rows by probability into bins of equal width. For each bin, it compares the mean probability with
/// the fraction of true rows. The score is the mean absolute difference, weighted by the number of rows in each bin
/// (Guo et al. 2017).
///
/// `pred.probability` is in [0, 1], and `gold.answer` is true or false (or 1 or 0).
///
/// To measure how well a model knows when it is right, set `gold.answer` to true if the model's answer is right.
///
/// ```
/// use dsrs_metrics::metrics::ExpectedCalibrationError;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |(gold, pred): (bool, f64)| {
///     Pair::new(pred.to_string(), example! { "answer" => gold }, prediction! { "probability" => pred })
/// };
/// let rows = [(true, 0.75), (false, 0.25), (true, 1.0)].map(row);
/// let result = Evaluate::builder().metric(ExpectedCalibrationError::default()).score(rows).await?;
/// assert_eq!(result.to_string(), "expected_calibration_error  0.1667 (over 3/3 rows, 0 failed)");
/// # Ok(())
/// # }
/// ```
#[metric(corpus, range = 0.0..=1.0, lower_is_better)]
pub fn expected_calibration_error(
    #[gold] answer: Truth,
    #[pred] probability: f64,
    /// The number of bins.
    #[param(default = 10)]
    bins: u32,
) -> Result<Calibration, String> {
    Ok(Calibration::of(answer.0, checked(probability)?, bins))
}

requires_valid! {
    ExpectedCalibrationError: |metric| within("bins", metric.bins, [1, 1000]);
}
