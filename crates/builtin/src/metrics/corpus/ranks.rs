//! Metrics of the order of predicted values.

use crate::core::rows::field_types::Truth;
use crate::metric;
use crate::stats::{ClassScores, ValuePairs};

/// Spearman's rank correlation of gold and predicted numbers, over all rows.
///
/// Ties have the mean of their ranks. Not defined if all numbers of one side are equal. Takes 16 bytes a row.
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

/// The area under the ROC curve: how well a predicted number separates true from false, over all rows.
///
/// The probability that a true row has a higher number than a false one; 0.5 is chance. `gold.answer` is true or false, 1
/// or 0, and `pred.probability` any number. Not defined if all rows are true, or all false. Takes 8 bytes a row.
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
