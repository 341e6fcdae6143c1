//! The methods that optimizers call: [`AcceptanceTest`] and [`FeedbackEvaluator`].

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::declared::Declared;
use crate::metric::{Metric, MetricCall};
use crate::rows::dynamic::{Example, Prediction, Trace};
use crate::score::{Decided, FeedbackMetric, MetricError, Part, Result, Scored};
use crate::spec::MetricSpec;

/// A metric that decides whether a row passes.
///
/// An optimizer can use this verdict to accept or reject a trace.
///
/// `#[metric]` implements this trait for functions that return `bool` or have a `threshold`.
///
/// Closures, run-time composites and instances with their own settings also implement this trait. If a metric of this
/// kind has no verdict, each call returns an error.
///
/// To implement the trait for a hand-written metric, write one line:
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// struct Brevity;
///
/// #[async_trait]
/// impl Metric for Brevity {
///     fn name(&self) -> &str {
///         "brevity"
///     }
///
///     fn spec(&self) -> MetricSpec<'_> {
///         MetricSpec::new("brevity").with_range(0.0, 1.0).with_threshold(0.5)
///     }
///
///     async fn evaluate(&self, _: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
///         let answer = pred.get("answer").and_then(|answer| answer.as_str()).unwrap_or_default();
///         Ok(MetricScore::new(1.0 / (1.0 + answer.split(' ').count() as f64)))
///     }
/// }
///
/// impl AcceptanceTest for Brevity {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let (gold, trace) = (example! {}, Trace::default());
/// assert!(Brevity.accepts(&gold, &prediction! { "answer" => "Paris" }, &trace).await?);
/// assert!(!Brevity.accepts(&gold, &prediction! { "answer" => "in Paris" }, &trace).await?);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no verdict, so it cannot accept or reject a trace",
    label = "returns no verdict",
    note = "a metric has a verdict if it returns `bool` or has a threshold: `#[metric(threshold = ..)]`;\na metric written by hand needs `impl AcceptanceTest for .. {{}}`"
)]
#[async_trait]
pub trait AcceptanceTest<G: Sync = Example, P: Sync = Prediction>: Metric<G, P> {
    /// Returns `true` if the prediction passes.
    ///
    /// A prediction does not pass if a required field is missing or `null`.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::Em, prelude::*};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let (gold, trace) = (example! { "answer" => "Paris" }, Trace::default());
    /// let em = Em::default();
    /// assert!(em.accepts(&gold, &prediction! { "answer" => "paris" }, &trace).await?);
    /// assert!(!em.accepts(&gold, &prediction! {}, &trace).await?, "the answer is missing");
    ///
    /// let half = metric_fn("half", |_, _| 0.5);
    /// let error = half.accepts(&gold, &prediction! {}, &trace).await.unwrap_err().to_string();
    /// assert_eq!(error, "metric `half`: expected a verdict, found only a score; set a threshold");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Metric::evaluate`], except for missing fields of the prediction. Also returns an
    /// error if the score has no verdict.
    async fn accepts(&self, gold: &G, pred: &P, trace: &Trace) -> Result<bool> {
        let call = MetricCall::new(gold, pred)
            .with_trace(trace)
            .without_explanation();
        match self.answer(call).await {
            Ok(Scored { passed, .. }) => {
                passed.ok_or_else(|| MetricError::failed(self.name(), NO_VERDICT))
            }
            Err(error) if error.is_missing_from_prediction() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A metric from `#[metric]` or `#[judge]` whose verdict type is `V`.
///
/// Methods use this trait as a bound because its error message is clear. The message does not mention the associated
/// type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no verdict, so it cannot accept or reject a trace",
    label = "returns no verdict",
    note = "a metric has a verdict if it returns `bool` or has a threshold: `#[metric(threshold = ..)]`;\na metric written by hand needs `impl AcceptanceTest for .. {{}}`"
)]
#[doc(hidden)]
pub trait HasVerdict<V = Decided> {}

#[diagnostic::do_not_recommend]
impl<M: Declared> HasVerdict<M::Verdict> for M {}

#[diagnostic::do_not_recommend]
impl<G: Sync, P: Sync, M: Metric<G, P> + HasVerdict> AcceptanceTest<G, P> for M {}

const NO_VERDICT: &str = "expected a verdict, found only a score; set a threshold";

/// Scores rows with textual feedback, for reflective optimizers.
///
/// Every [`Metric`] implements this trait.
///
/// An optimizer can score one predictor in a program. It then passes the program's trace, and the predictor's name and
/// trace:
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let metric = traced_metric_fn("steps", |_, _, _, pred_name, pred_trace| {
///     let (name, steps) = (pred_name.unwrap_or("program"), pred_trace.map_or(0, |it| it.steps.len()));
///     FeedbackMetric::new(0.5, format!("{name} took {steps} steps"))
/// });
/// let (gold, pred, trace) = (example! {}, prediction! {}, Trace::default());
/// let call = MetricCall::new(&gold, &pred).with_trace(&trace).with_predictor("search", &trace);
/// assert_eq!(metric.feedback_of(call).await?.feedback, "search took 0 steps");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait FeedbackEvaluator<G: Sync = Example, P: Sync = Prediction>: Send + Sync {
    /// Returns the score and feedback for a call.
    ///
    /// # Errors
    /// Returns the same errors as [`Metric::evaluate`].
    async fn feedback_of(&self, call: MetricCall<'_, G, P>) -> Result<FeedbackMetric>;

    /// Returns the score and feedback for each of a call's objectives.
    ///
    /// The objectives are the named scores, or the components with a score. A metric with neither has a single
    /// objective.
    ///
    /// The metadata contains the objective's `name`, and its `passed`, `range` and `details` if it has them.
    ///
    /// The verdict of a named score compares the score's value with the metric's threshold.
    ///
    /// # Errors
    /// Returns the same errors as [`Metric::evaluate`].
    async fn objectives_of(&self, call: MetricCall<'_, G, P>) -> Result<Vec<FeedbackMetric>>;

    /// Scores one pair of rows and returns the feedback.
    ///
    /// Like [`feedback_of`](Self::feedback_of), but without a trace.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let half = metric_fn("half", |_, _| 0.5);
    /// let feedback = half.feedback_metric(&example! {}, &prediction! {}).await?;
    /// assert_eq!(feedback, FeedbackMetric::new(0.5, "The score is 0.5."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Metric::evaluate`].
    async fn feedback_metric(&self, example: &G, prediction: &P) -> Result<FeedbackMetric> {
        self.feedback_of(MetricCall::new(example, prediction)).await
    }

    /// Scores one pair of rows and returns the feedback for each objective.
    ///
    /// Like [`objectives_of`](Self::objectives_of), but without a trace.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let overlap = metric_fn("overlap", |_, _| {
    ///     Scores::new("f1", 0.5).with("recall", 0.25).with_feedback("missing: Rome")
    /// });
    /// let objectives = overlap.multi_objective_metric(&example! {}, &prediction! {}).await?;
    /// assert_eq!((&*objectives[0].feedback, &*objectives[1].feedback), ("f1 is 0.5.", "missing: Rome"));
    /// assert_eq!(objectives[1].metadata["name"], "recall");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Metric::evaluate`].
    async fn multi_objective_metric(
        &self,
        example: &G,
        prediction: &P,
    ) -> Result<Vec<FeedbackMetric>> {
        let call = MetricCall::new(example, prediction);
        self.objectives_of(call).await
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync, M: Metric<G, P> + ?Sized> FeedbackEvaluator<G, P> for M {
    async fn feedback_of(&self, call: MetricCall<'_, G, P>) -> Result<FeedbackMetric> {
        Ok(self.answer(call).await?.into_feedback())
    }

    async fn objectives_of(&self, call: MetricCall<'_, G, P>) -> Result<Vec<FeedbackMetric>> {
        Ok(objectives(&self.answer(call).await?, &self.spec()))
    }
}

/// Converts a score to a list of objectives.
///
/// There is one objective per named score, or per component with a score. If there are none of these, there is a single
/// objective.
///
/// The metadata contains the objective's `name`, and its `passed`, `range` and `details` if it has them.
pub fn objectives(scored: &Scored, spec: &MetricSpec<'_>) -> Vec<FeedbackMetric> {
    if !scored.parts().is_empty() {
        let parts = scored.parts().iter();
        return parts.map(|part| of_part(part, spec)).collect();
    }
    let of = |name: &str, scored: &Scored, range| {
        let passed = scored.passed.map(Value::from);
        let details = scored.own_details().map(Value::from);
        let objective = scored.clone().into_feedback().with_metadata("name", name);
        described(
            objective,
            [("passed", passed), ("details", details), ("range", range)],
        )
    };
    let components = scored.components();
    let objectives = components.filter_map(|it| Some(of(it.name, it.outcome.scored()?, None)));
    let objectives: Vec<_> = objectives.collect();
    match objectives.is_empty() {
        true => vec![of(spec.name, scored, range(spec))],
        false => objectives,
    }
}

fn of_part(part: &Part, spec: &MetricSpec<'_>) -> FeedbackMetric {
    let feedback = part.feedback.clone();
    let feedback = feedback.unwrap_or_else(|| format!("{} is {}.", part.name, part.value));
    let objective = FeedbackMetric::new(part.value, feedback).with_metadata("name", &*part.name);
    let passed = spec.verdict(part.value).map(Value::from);
    described(objective, [("passed", passed), ("range", range(spec))])
}

fn range(spec: &MetricSpec<'_>) -> Option<Value> {
    spec.range.map(|range| json!([range.min, range.max]))
}

fn described<const N: usize>(
    mut objective: FeedbackMetric,
    entries: [(&str, Option<Value>); N],
) -> FeedbackMetric {
    for (key, value) in entries {
        if let Some(value) = value {
            objective.metadata.entry(key.to_owned()).or_insert(value);
        }
    }
    objective
}
