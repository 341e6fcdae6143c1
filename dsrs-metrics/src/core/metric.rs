//! The contract: [`Metric`], the optimizer-facing [`MetricCall`], [`AcceptanceTest`],
//! [`FeedbackEvaluator`]. Metrics from closures are in `closure.rs`.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::core::component_results::Place;
use crate::core::declared::Declared;
use crate::core::dedup::key::Identity;
use crate::core::dedup::memo::Memo;
use crate::core::error::Result;
use crate::core::requirements::Need;
use crate::core::return_types::Decided;
use crate::core::rows::dynamic::{Example, Prediction, Trace};
use crate::core::score::{FeedbackMetric, Grade, MetricScore, Scored};
use crate::core::spec::{MetricSpec, MetricTier};

/// Everything that an optimizer tells a metric: DSPy's `(gold, pred, trace, pred_name, pred_trace)`.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric(threshold = 0.5)]
/// fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
///     1.0 - (answer - guess).abs()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => 0.9 }, prediction! { "answer" => 0.5 });
/// let trace = Trace::default();
/// let call = MetricCall::new(&gold, &pred);
/// assert_eq!(Overlap.grade(call).await?, Grade::Score(MetricScore::new(0.6)));
/// assert_eq!(Overlap.grade(call.with_trace(&trace)).await?, Grade::Verdict(true));
/// # Ok(())
/// # }
/// ```
pub struct MetricCall<'a, G = Example, P = Prediction> {
    /// The labelled example.
    pub gold: &'a G,
    /// The program's prediction.
    pub pred: &'a P,
    /// How the whole program reached it; present while an optimizer is running.
    pub trace: Option<&'a Trace>,
    /// The predictor that is being scored, if it is one step of the program.
    pub pred_name: Option<&'a str>,
    /// That predictor's part of the trace.
    pub pred_trace: Option<&'a Trace>,
    /// What was said of these rows already, if metrics of one run share components.
    pub(crate) memo: Option<&'a Memo>,
}

impl<'a, G, P> MetricCall<'a, G, P> {
    /// A call in evaluation: no trace.
    pub const fn new(gold: &'a G, pred: &'a P) -> Self {
        Self { gold, pred, trace: None, pred_name: None, pred_trace: None, memo: None }
    }

    /// A call by an optimizer.
    #[must_use]
    pub const fn with_trace(mut self, trace: &'a Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// A call that scores one predictor of the program.
    #[must_use]
    pub const fn with_predictor(mut self, name: &'a str, trace: &'a Trace) -> Self {
        self.pred_name = Some(name);
        self.pred_trace = Some(trace);
        self
    }

    /// The same call, in which answers are remembered unless they are already.
    pub(crate) fn with_memo<'b>(self, memo: Option<&'b Memo>) -> MetricCall<'b, G, P>
    where
        'a: 'b,
    {
        MetricCall { memo: self.memo.or(memo), ..self }
    }

    /// The same call over other rows.
    #[doc(hidden)]
    pub const fn over<'b, G2, P2>(self, gold: &'b G2, pred: &'b P2) -> MetricCall<'b, G2, P2>
    where
        'a: 'b,
    {
        let Self { trace, pred_name, pred_trace, .. } = self;
        MetricCall { gold, pred, trace, pred_name, pred_trace, memo: None }
    }
}

impl<G, P> Clone for MetricCall<'_, G, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G, P> Copy for MetricCall<'_, G, P> {}

impl<G, P> fmt::Debug for MetricCall<'_, G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("MetricCall");
        call.field("tracing", &self.trace.is_some()).field("pred_name", &self.pred_name);
        call.finish_non_exhaustive()
    }
}

/// Scores a pair of rows. `G` is the gold row's type and `P` the prediction's; without them the
/// rows are dynamic.
///
/// `#[metric]` implements it for a function. By hand it is a name and [`evaluate`](Self::evaluate):
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
    /// The name, in snake case.
    fn name(&self) -> &str;

    /// Cheap and fast, or expensive and accurate.
    fn tier(&self) -> MetricTier {
        MetricTier::Proxy
    }

    /// What one call is expected to cost at most, in millisatoshis.
    fn cost_estimate(&self) -> u64 {
        0
    }

    /// All that is known of the metric before it runs.
    fn spec(&self) -> MetricSpec<'_> {
        MetricSpec::new(self.name())
            .with_tier(self.tier())
            .with_cost_msats(self.cost_estimate())
            .with_async()
    }

    /// Whether the rows have the fields that the metric needs, in types that it can read.
    fn can_evaluate(&self, gold: &G, pred: &P) -> bool {
        let _ = (gold, pred);
        true
    }

    /// Scores one pair of rows.
    ///
    /// # Errors
    /// A missing or unreadable field, a score that is not finite or out of range, the metric's own
    /// error, or an abstention.
    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore>;

    /// Scores pairs of rows; one that fails does not take the others with it.
    async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
        let mut scores = Vec::with_capacity(pairs.len());
        for (gold, pred) in pairs {
            scores.push(self.evaluate(gold, pred).await);
        }
        scores
    }

    /// Scores one pair of rows and keeps all that the metric said: verdict, feedback, parts.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    async fn call(&self, call: MetricCall<'_, G, P>) -> Result<Scored> {
        let score = self.evaluate(call.gold, call.pred).await?;
        Scored::settle(score, &self.spec())
    }

    /// As [`call`](Self::call), for a metric that need not be awaited: `None` from one that must.
    /// The harness asks here first, so that a synchronous metric never becomes a future per row.
    fn call_now(&self, call: MetricCall<'_, G, P>) -> Option<Result<Scored>> {
        let _ = call;
        None
    }

    /// As [`call_now`](Self::call_now), for a composite, which has a place for the answer.
    #[doc(hidden)]
    fn tell_now(&self, call: &MetricCall<'_, G, P>, place: Place<'_>) {
        place.keep(self.name(), self.call_now(*call));
    }

    /// What the metric is and how it is configured, if that can be compared; see
    /// [`identities`](Self::identities).
    #[doc(hidden)]
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Adds the identities of the metric and of all its components, so that what stands in several
    /// places of one run can be asked once a row.
    #[doc(hidden)]
    fn identities(&self, all: &mut Vec<Identity>) {
        all.extend(self.identity());
    }

    /// Adds the language models that the metric asks, its components' too, or why there is none. A harness
    /// probes each of them once, before the first row is paid for.
    fn needs(&self, all: &mut Vec<Need>) {
        let _ = all;
    }

    /// The answer to an optimizer: the score without a trace, the verdict with one.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    async fn grade(&self, call: MetricCall<'_, G, P>) -> Result<Grade> {
        Ok(self.call(call).await?.grade(call.trace.is_some()))
    }
}

macro_rules! forward_metric {
    ($($pointer:ty => $identity:expr),*) => {$(
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
            fn spec(&self) -> MetricSpec<'_> {
                (**self).spec()
            }
            fn can_evaluate(&self, gold: &G, pred: &P) -> bool {
                (**self).can_evaluate(gold, pred)
            }
            async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
                (**self).evaluate(gold, pred).await
            }
            async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
                (**self).evaluate_batch(pairs).await
            }
            async fn call(&self, call: MetricCall<'_, G, P>) -> Result<Scored> {
                (**self).call(call).await
            }
            fn call_now(&self, call: MetricCall<'_, G, P>) -> Option<Result<Scored>> {
                (**self).call_now(call)
            }
            fn tell_now(&self, call: &MetricCall<'_, G, P>, place: Place<'_>) {
                (**self).tell_now(call, place);
            }
            fn identity(&self) -> Option<Identity> {
                let identity: fn(&Self) -> Option<Identity> = $identity;
                (**self).identity().or_else(|| identity(self))
            }
            fn identities(&self, all: &mut Vec<Identity>) {
                let before = all.len();
                (**self).identities(all);
                if (**self).identity().is_none() {
                    all.splice(before..before, self.identity());
                }
            }
            fn needs(&self, all: &mut Vec<Need>) {
                (**self).needs(all);
            }
        }
    )*};
}
// One value that several hold is one metric, whether its kind can be compared or not.
forward_metric!(&M => |_| None, Box<M> => |_| None, Arc<M> => |value| Some(Identity::of_shared(value)));

/// A metric that says pass or fail, so that an optimizer may use it to accept or reject a trace.
///
/// `#[metric]` implements it for functions that return `bool` or have a `threshold`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no verdict, so it cannot accept or reject a trace",
    label = "gives no verdict",
    note = "a metric gives one if it returns `bool` or has a threshold: `#[metric(threshold = ..)]`;\na metric from a closure or written by hand has it only at run time"
)]
#[async_trait]
pub trait AcceptanceTest<G: Sync = Example, P: Sync = Prediction>: Metric<G, P> {
    /// Whether the pair passes.
    ///
    /// # Errors
    /// As [`Metric::evaluate`]; a metric that fails has accepted nothing.
    async fn accepts(&self, gold: &G, pred: &P, trace: &Trace) -> Result<bool>;
}

/// A metric that need not be awaited; `G` only keeps rustc from asking before `score` is called.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is asynchronous, so it cannot be scored at once",
    label = "must be awaited",
    note = "write `.evaluate(&gold, &pred).await` instead of `.score(&gold, &pred)`"
)]
#[doc(hidden)]
pub trait ScoredAtOnce<G> {}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync, M> AcceptanceTest<G, P> for M
where
    M: Metric<G, P> + Declared<Verdict = Decided>,
{
    async fn accepts(&self, gold: &G, pred: &P, trace: &Trace) -> Result<bool> {
        let scored = self.call(MetricCall::new(gold, pred).with_trace(trace)).await?;
        Ok(scored.passed == Some(true))
    }
}

/// Scores with a critique in words, for reflective optimizers. Every [`Metric`] is one.
#[async_trait]
pub trait FeedbackEvaluator<G: Sync = Example, P: Sync = Prediction>: Send + Sync {
    /// Score and critique.
    ///
    /// # Errors
    /// As [`Metric::evaluate`].
    async fn feedback_metric(&self, example: &G, prediction: &P) -> Result<FeedbackMetric>;

    /// Score and critique for each objective: one for each named score, or the only one.
    ///
    /// # Errors
    /// As [`Metric::evaluate`].
    async fn multi_objective_metric(
        &self,
        example: &G,
        prediction: &P,
    ) -> Result<Vec<FeedbackMetric>>;
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync, M: Metric<G, P> + ?Sized> FeedbackEvaluator<G, P> for M {
    async fn feedback_metric(&self, example: &G, prediction: &P) -> Result<FeedbackMetric> {
        Ok(self.call(MetricCall::new(example, prediction)).await?.into_feedback())
    }

    async fn multi_objective_metric(
        &self,
        example: &G,
        prediction: &P,
    ) -> Result<Vec<FeedbackMetric>> {
        let scored = self.call(MetricCall::new(example, prediction)).await?;
        if scored.parts().is_empty() {
            return Ok(vec![scored.into_feedback()]);
        }
        let objective = |part: &crate::core::score::Part| {
            let feedback = format!("{} is {}.", part.name, part.value);
            FeedbackMetric::new(part.value, feedback).with_metadata("name", part.name.clone())
        };
        Ok(scored.parts().iter().map(objective).collect())
    }
}
