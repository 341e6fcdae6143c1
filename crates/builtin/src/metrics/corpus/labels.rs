//! Metrics of a gold and a predicted label.

use crate::core::rows::field_types::Label;
use crate::core::score::corpus::labels::{LabelFormula, LabelScore};
use crate::stats::{AlphaLevel, KappaWeights};
use crate::{ParamGroup, metric};

/// The parameters of all metrics of a gold and a predicted label.
#[derive(Debug, Clone, ParamGroup)]
pub struct LabelComparison {
    /// Whether labels that differ in case only are different.
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

    /// Returns the labels as they are compared.
    fn folded(&self, labels: &[String]) -> Vec<String> {
        let folded = |label: &String| match self.case_sensitive {
            true => label.trim().to_owned(),
            false => label.trim().to_lowercase(),
        };
        labels.iter().map(folded).collect()
    }
}

/// The share of rows with the right label, over all rows.
///
/// Labels are strings, numbers, or true and false. A prediction without a label is wrong.
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

/// The mean F1 of the labels, each with the same weight, over all rows.
///
/// Without `labels`, those that are a gold or a predicted label. Not defined if no row has one of `labels`.
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
    /// The labels whose F1 counts; all labels without any.
    #[param(default)]
    labels: &[String],
) -> LabelScore {
    comparison.score(
        &answer,
        &prediction,
        LabelFormula::MacroF1(comparison.folded(labels)),
    )
}

/// The F1 of all labels together, over all rows.
///
/// With all labels it is the accuracy. With `labels` it leaves the others out, such as the label for "none".
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
    /// The labels whose F1 counts; all labels without any.
    #[param(default)]
    labels: &[String],
) -> LabelScore {
    comparison.score(
        &answer,
        &prediction,
        LabelFormula::MicroF1(comparison.folded(labels)),
    )
}

/// The mean share of right rows by gold label, over all rows.
///
/// Each gold label has the same weight, however many rows it has.
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

/// The Matthews correlation of gold and predicted labels, over all rows.
///
/// For two or more labels. Not defined if all gold or all predicted labels are equal.
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

/// Cohen's kappa of gold and predicted labels, over all rows.
///
/// Agreement beyond chance. Weighted, labels are sorted as numbers if all are numbers, as strings otherwise. Not defined
/// if all labels are equal.
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
    /// The weight of a disagreement: `unweighted`, `linear` or `quadratic`.
    #[param(default = KappaWeights::Unweighted)]
    weights: KappaWeights,
) -> LabelScore {
    comparison.score(&answer, &prediction, LabelFormula::Kappa(weights))
}

/// Krippendorff's alpha of gold and predicted labels as two coders, over all rows.
///
/// Not defined if all labels are equal. With `ordinal` and `interval`, labels are numbers.
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
    /// The difference of two labels: `nominal`, `ordinal` or `interval`.
    #[param(default = AlphaLevel::Nominal)]
    level: AlphaLevel,
) -> LabelScore {
    comparison.score(&answer, &prediction, LabelFormula::Alpha(level))
}
