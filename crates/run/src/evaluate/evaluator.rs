//! [`Evaluator`]: a module with its own metric.

use std::sync::Arc;

use async_trait::async_trait;

use super::error::EvaluateError;
use super::input::{Given, Source, check_rows, listed};
use super::options::Options;
use super::report::ProgressDisplay;
use super::row::{MetricEntry, Plan, RowOptions};
use super::run;
use super::summary::EvaluationResult;
use crate::contract::{Example, Metric, MetricScore, Module, Prediction, Result};

/// A [`Module`] that defines a metric for its own predictions.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::runs::{Evaluator, Module, ProgramError};
///
/// struct Upper;
///
/// #[async_trait]
/// impl Module for Upper {
///     async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
///         let text = inputs.get("text").and_then(|text| text.as_str()).ok_or("no text")?;
///         Ok(prediction! { "answer" => text.to_uppercase() })
///     }
/// }
///
/// impl Evaluator for Upper {
///     const DISPLAY_PROGRESS: bool = false;
///
///     async fn metric(&self, example: &Example, prediction: &Prediction) -> dsrs_metrics::Result<f64> {
///         Ok(if example.get("answer") == prediction.get("answer") { 1.0 } else { 0.0 })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let examples = [example! { "text" => "a", "answer" => "A" }, example! { "answer" => "B" }];
/// let examples = examples.map(|example| example.with_inputs(["text"])).to_vec();
/// let score = Upper.evaluate(examples.clone()).await?;
/// assert_eq!(score, 0.5);
///
/// let rows = Upper.evaluate_rows(examples).await?;
/// assert_eq!(rows.metrics[0].failed, 1);
/// assert_eq!(rows.first_error.as_deref(), Some("row `1`: no input `text`; the row has `answer`"));
/// # Ok(())
/// # }
/// ```
pub trait Evaluator: Module {
    /// The maximum number of examples to evaluate concurrently.
    ///
    /// A value of 0 counts as 1.
    const MAX_CONCURRENCY: usize = 32;

    /// Determines whether to show progress on standard error.
    ///
    /// If `true`, progress is shown only on a terminal.
    const DISPLAY_PROGRESS: bool = true;

    /// Scores a single prediction against the expected output.
    ///
    /// # Errors
    /// Returns an error if the metric cannot score the row. The row then counts as failed.
    fn metric(
        &self,
        example: &Example,
        prediction: &Prediction,
    ) -> impl Future<Output = Result<f64>> + Send;

    /// Evaluates the module on examples and returns the mean score.
    ///
    /// Examples must declare their [inputs](Example::with_inputs).
    ///
    /// If the program or the metric fails, the example counts as 0. The other examples are unaffected.
    ///
    /// # Errors
    /// Returns an error if there are no examples, if an example does not declare its inputs, or if no example has a
    /// score.
    fn evaluate(
        &self,
        examples: Vec<Example>,
    ) -> impl Future<Output = Result<f64, EvaluateError>> + Send
    where
        Self: Sized,
    {
        async { self.evaluate_rows(examples).await?.try_score() }
    }

    /// Evaluates the module like [`evaluate`](Self::evaluate), but returns the outcome of every row.
    ///
    /// # Errors
    /// Returns an error if there are no examples, or if an example does not declare its inputs.
    fn evaluate_rows(
        &self,
        examples: Vec<Example>,
    ) -> impl Future<Output = Result<EvaluationResult, EvaluateError>> + Send
    where
        Self: Sized,
    {
        async move {
            let options = Options {
                concurrency: Self::MAX_CONCURRENCY.max(1),
                progress: ProgressDisplay::from(Self::DISPLAY_PROGRESS),
                ..Options::new()
            };
            let metrics = vec![MetricEntry::new(Arc::new(OwnMetric(self)))];
            let row_options = RowOptions::default();
            let plan = Plan::new(metrics, row_options, None, None, options.concurrency);
            check_rows(examples.iter(), None)?;
            let rows = examples
                .into_iter()
                .map(|row| Ok(listed(row.into(), Given::Nothing)));
            let source = Source::iterator(rows);
            let program = self;
            run::run_in_task(plan, source, &program, options).await
        }
    }
}

/// Wraps an evaluator's own metric as a [`Metric`].
struct OwnMetric<'a, E>(&'a E);

#[async_trait]
impl<E: Evaluator> Metric for OwnMetric<'_, E> {
    fn name(&self) -> &'static str {
        "metric"
    }

    async fn evaluate(&self, gold: &Example, pred: &Prediction) -> Result<MetricScore> {
        self.0.metric(gold, pred).await.map(MetricScore::new)
    }
}
