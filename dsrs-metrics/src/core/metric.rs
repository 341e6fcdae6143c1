//! The traits of a metric: [`Metric`], and what optimizers call, [`AcceptanceTest`] and [`FeedbackEvaluator`].
//!
//! The arguments of a call are in `call.rs`, its answer in `answer.rs`. Metrics from closures are in `fn_metric.rs`.

use std::sync::Arc;

use async_trait::async_trait;

use crate::core::answer::Answer;
use crate::core::batch;
use crate::core::call::MetricCall;
use crate::core::declared::{Declaration, Declared};
use crate::core::dedup::key::Key;
use crate::core::error::{MetricError, Result};
use crate::core::objectives::objectives;
use crate::core::requirements::Requirement;
use crate::core::return_types::Decided;
use crate::core::rows::dynamic::{Example, Prediction, Trace};
use crate::core::score::{FeedbackMetric, Grade, MetricScore, Scored};
use crate::core::spec::{MetricSpec, MetricTier};

/// Scores a pair of rows. `G` is the gold row's type and `P` the prediction's; the defaults are the dynamic rows.
///
/// `#[metric]` implements it for a function. A metric that is written by hand needs a name and
/// [`evaluate`](Self::evaluate):
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
///     async fn evaluate(&self, _: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
///         let answer = pred.get("answer").and_then(|answer| answer.as_str()).unwrap_or_default();
///         Ok(MetricScore {
///             value: if answer.chars().count() <= 10 { 1.0 } else { 0.0 },
///             confidence: 1.0,
///             details: None,
///             cost_msats: 0,
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let score = Brevity.evaluate(&example! {}, &prediction! { "answer" => "Paris" }).await?;
/// assert_eq!(score.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a metric over the rows `{G}` and `{P}`",
    label = "not a metric over these rows",
    note = "annotate a function with `#[metric]`, wrap a closure in `metric_fn(\"name\", |gold, pred| ..)`,\nor implement `Metric` by hand; a metric over rows of your own type needs `#[derive(Record)]` on them"
)]
#[async_trait]
pub trait Metric<G: Sync = Example, P: Sync = Prediction>: Send + Sync {
    /// Returns the name, in snake case.
    fn name(&self) -> &str;

    /// Returns the tier: proxy (cheap and fast) or truth (expensive and accurate).
    fn tier(&self) -> MetricTier {
        self.declaration().map_or(MetricTier::Proxy, |declared| declared.spec().tier)
    }

    /// Returns the largest expected cost of one call, in millisatoshis. That of a judge is the declared cost of one
    /// verdict, for each model of its panel, and once more for the repairs of their replies.
    fn cost_estimate(&self) -> u64 {
        self.declaration().map_or(0, Declaration::max_cost)
    }

    /// Scores one pair of rows.
    ///
    /// # Errors
    /// A missing or unreadable field, a score that is not finite or out of range, the metric's own
    /// error, or an abstention.
    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore>;

    /// Scores one call: the entry point that the harness, composites, [`Scorer`](crate::Scorer) and the command line
    /// use. The answer has the verdict, feedback and named scores as well.
    ///
    /// The default awaits [`evaluate`](Self::evaluate) and validates the score against [`spec`](Self::spec).
    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        Answer::pending(async move {
            let score = self.evaluate(call.gold, call.pred).await?;
            Scored::validated(score, call.spec(&self.spec()))
        })
    }

    /// Returns the metric's declaration. That of a metric written by hand has the name, tier and cost of the other
    /// methods and the range [0, 1]; a score outside it is an error. Override it for another range, or for a direction,
    /// a threshold or fields.
    fn spec(&self) -> MetricSpec<'_> {
        let by_hand = || {
            let spec = MetricSpec::new(self.name()).with_tier(self.tier()).with_async();
            spec.with_cost_msats(self.cost_estimate()).with_range(0.0, 1.0)
        };
        self.declaration().map_or_else(by_hand, Declaration::spec)
    }

    /// Returns whether the rows have the fields that the metric reads, with values of the right types.
    fn can_evaluate(&self, gold: &G, pred: &P) -> bool {
        let _ = (gold, pred);
        true
    }

    /// Scores pairs of rows and returns one result for each, in the same order. An error of one pair does not affect
    /// the others.
    ///
    /// The default scores up to 32 pairs concurrently. A metric that can score several rows with one call overrides it
    /// together with [`batch_size`](Self::batch_size).
    async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
        batch::evaluate(self, pairs).await
    }

    /// Returns the largest number of rows for one call of [`evaluate_batch`](Self::evaluate_batch) by
    /// [`Evaluate`](crate::Evaluate), [`Scorer`](crate::Scorer) and the command line; the default, 1, means that they
    /// score each row with [`answer`](Self::answer).
    ///
    /// Concurrent calls are collected, so a batch has at most as many rows as are evaluated concurrently. It owns
    /// copies of its rows. Rows of types other than [`Example`] and [`Prediction`], calls with a trace and components
    /// of composites are scored one by one.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, Pair, Result};
    ///
    /// struct Remote;
    ///
    /// #[async_trait]
    /// impl Metric for Remote {
    ///     fn name(&self) -> &str {
    ///         "remote"
    ///     }
    ///
    ///     async fn evaluate(&self, gold: &Example, pred: &Prediction) -> Result<MetricScore> {
    ///         Ok(MetricScore::new(f64::from(gold.get("answer") == pred.get("answer"))))
    ///     }
    ///
    ///     fn batch_size(&self) -> usize {
    ///         16
    ///     }
    ///
    ///     async fn evaluate_batch(&self, pairs: &[(Example, Prediction)]) -> Vec<Result<MetricScore>> {
    ///         // One request to a service for all pairs.
    ///         pairs.iter().map(|_| Ok(MetricScore::new(1.0 / pairs.len() as f64))).collect()
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::result::Result<(), dsrs_metrics::EvaluateError> {
    /// let rows = (0..8).map(|row| Pair::new(row.to_string(), example! {}, prediction! {}));
    /// let result = Evaluate::builder().metric(Remote).concurrency(8).score(rows).await?;
    /// assert_eq!(result.score, Some(1.0 / 8.0));
    /// # Ok(())
    /// # }
    /// ```
    fn batch_size(&self) -> usize {
        1
    }

    /// Scores one call for an optimizer: returns the score without a trace and the verdict with one.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    async fn grade(&self, call: MetricCall<'_, G, P>) -> Result<Grade> {
        Ok(self.answer(call).await?.grade(call.trace.is_some()))
    }

    /// Adds what the metric and its components require: language models, or the reason why they cannot score any row. A
    /// harness probes each model once, before the first row is paid for.
    fn requirements(&self, all: &mut Vec<Requirement>) {
        if let Some(declared) = self.declaration() {
            declared.requirements(all);
        }
    }

    /// Returns the metric's declaration, if its type was generated by a macro.
    #[doc(hidden)]
    fn declaration(&self) -> Option<&dyn Declaration> {
        None
    }

    /// Returns the metric's identity, or `None` if it cannot be compared with other metrics.
    #[doc(hidden)]
    fn key(&self) -> Option<Key> {
        self.declaration()?.key()
    }

    /// Adds the keys of the metric and of all its components.
    #[doc(hidden)]
    fn keys(&self, all: &mut Vec<Key>) {
        match self.declaration() {
            Some(declared) => declared.keys(all),
            None => all.extend(self.key()),
        }
    }
}

macro_rules! forward_metric {
    ($($pointer:ty => $key:expr),*) => {$(
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<G: Sync, P: Sync, M: Metric<G, P> + ?Sized> Metric<G, P> for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }
            fn tier(&self) -> MetricTier {
                (**self).tier()
            }
            fn cost_estimate(&self) -> u64 {
                (**self).cost_estimate()
            }
            async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
                (**self).evaluate(gold, pred).await
            }
            fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
                (**self).answer(call)
            }
            fn spec(&self) -> MetricSpec<'_> {
                (**self).spec()
            }
            fn can_evaluate(&self, gold: &G, pred: &P) -> bool {
                (**self).can_evaluate(gold, pred)
            }
            async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
                (**self).evaluate_batch(pairs).await
            }
            fn batch_size(&self) -> usize {
                (**self).batch_size()
            }
            fn requirements(&self, all: &mut Vec<Requirement>) {
                (**self).requirements(all);
            }
            fn key(&self) -> Option<Key> {
                let key: fn(&Self) -> Option<Key> = $key;
                (**self).key().or_else(|| key(self))
            }
            fn keys(&self, all: &mut Vec<Key>) {
                let before = all.len();
                (**self).keys(all);
                if (**self).key().is_none() {
                    all.splice(before..before, self.key());
                }
            }
        }
    )*};
}
// One value that is used in several places is one metric, even if its type cannot be compared.
forward_metric!(&M => |_| None, Box<M> => |_| None, Arc<M> => |value| Some(Key::of_shared(value)));

/// A metric with a verdict, which an optimizer can use to accept or reject a trace.
///
/// `#[metric]` implements it for functions that return `bool` or have a `threshold`. Closures, run-time composites and
/// instances with settings of their own have it as well; without a verdict each call returns an error. A metric
/// written by hand needs one line:
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
    /// Returns whether the pair passes.
    ///
    /// A prediction that lacks a field which the metric requires, or has `null` there, does not pass.
    ///
    /// # Errors
    /// As [`Metric::evaluate`], except for a missing field of the prediction; a score without a verdict. An error is not
    /// an acceptance.
    async fn accepts(&self, gold: &G, pred: &P, trace: &Trace) -> Result<bool> {
        let call = MetricCall::new(gold, pred).with_trace(trace).without_explanation();
        match self.answer(call).await {
            Ok(scored) => scored.passed.ok_or_else(|| MetricError::failed(self.name(), NO_VERDICT)),
            Err(error) if error.is_missing_from_prediction() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A synchronous metric. `G` defers the check to the call of `score`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is asynchronous, so it cannot be scored synchronously",
    label = "must be awaited",
    note = "write `.evaluate(&gold, &pred).await` instead of `.score(&gold, &pred)`"
)]
#[doc(hidden)]
pub trait ScoredAtOnce<G> {}

/// A metric of `#[metric]` or `#[judge]` with the verdict `V`. It is a bound of its own, so that the error of a method
/// call is the message below, without the associated type.
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

const NO_VERDICT: &str = "expected a verdict, found a score only; set a threshold";

/// Scores with feedback, for reflective optimizers. Every [`Metric`] is one.
///
/// An optimizer that scores one predictor of a program passes the trace, and the name and trace of the predictor:
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
    /// Returns the score and the feedback of a call.
    ///
    /// # Errors
    /// As [`Metric::evaluate`].
    async fn feedback_of(&self, call: MetricCall<'_, G, P>) -> Result<FeedbackMetric>;

    /// Returns the score and the feedback of each objective of a call: one for each named score, or for each component
    /// with a score, or a single one. The metadata has its `name`, and its `passed`, `range` and `details` if it has
    /// them. A verdict of a named score compares its value with the metric's threshold.
    ///
    /// # Errors
    /// As [`Metric::evaluate`].
    async fn objectives_of(&self, call: MetricCall<'_, G, P>) -> Result<Vec<FeedbackMetric>>;

    /// As [`feedback_of`](Self::feedback_of), without a trace.
    ///
    /// # Errors
    /// As [`Metric::evaluate`].
    async fn feedback_metric(&self, example: &G, prediction: &P) -> Result<FeedbackMetric> {
        self.feedback_of(MetricCall::new(example, prediction)).await
    }

    /// As [`objectives_of`](Self::objectives_of), without a trace.
    ///
    /// # Errors
    /// As [`Metric::evaluate`].
    async fn multi_objective_metric(
        &self,
        example: &G,
        prediction: &P,
    ) -> Result<Vec<FeedbackMetric>> {
        self.objectives_of(MetricCall::new(example, prediction)).await
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync, M: Metric<G, P> + ?Sized> FeedbackEvaluator<G, P> for M {
    async fn feedback_of(&self, call: MetricCall<'_, G, P>) -> Result<FeedbackMetric> {
        Ok(self.answer(call).await?.into_feedback())
    }

    async fn objectives_of(&self, call: MetricCall<'_, G, P>) -> Result<Vec<FeedbackMetric>> {
        Ok(objectives(self.answer(call).await?, &self.spec()))
    }
}
