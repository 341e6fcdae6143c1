//! Metrics from closures: [`metric_fn`], [`typed_metric_fn`] and [`traced_metric_fn`].

use std::sync::Arc;

use async_trait::async_trait;

use crate::declared::Requirement;
use crate::metric::answer::at_once;
use crate::metric::{AcceptanceTest, Answer, Metric, MetricCall, ScoredAtOnce};
use crate::rows::by_name::intern;
use crate::rows::{Example, Prediction, Trace};
use crate::score::{MetricError, MetricReturn, MetricScore, Result};
use crate::spec::instance_settings::InstanceSettings;
use crate::spec::{Direction, MetricSpec, MetricTier};

/// A type that can be the name of a closure metric.
///
/// This trait is implemented for types that convert into a `String`.
///
/// ```
/// # use dsrs_metrics::prelude::*;
/// let at_most = |count: usize| metric_fn(format!("at_most_{count}_fields"), move |_, pred| pred.data.len() <= count);
/// let metric = at_most(3);
/// assert_eq!(Metric::<Example, Prediction>::name(&metric), "at_most_3_fields");
/// ```
#[diagnostic::on_unimplemented(
    message = "expected the metric's name, found `{Self}`",
    label = "expected a string",
    note = "write `metric_fn(\"name\", |gold, pred| ..)`"
)]
pub trait MetricName: Into<String> {}

#[diagnostic::do_not_recommend]
impl<T: Into<String>> MetricName for T {}

/// Creates a metric from a closure over dynamic rows.
///
/// To set the metric's threshold, range, tier or cost, call the methods of [`FnMetric`].
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let score = same.score(&example! { "answer" => 4 }, &prediction! { "answer" => 4 }).unwrap();
/// assert_eq!(score.value, 1.0);
/// ```
///
/// The closure can return a future. The rows are borrowed, so the future must own what it needs:
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let short = metric_fn("short", |_, pred| {
///     let fields = pred.data.len();
///     async move { fields < 3 }
/// });
/// assert_eq!(short.evaluate(&example! {}, &prediction! { "answer" => 4 }).await?.value, 1.0);
/// # Ok(())
/// # }
/// ```
///
/// To also read the values that an optimizer passes, use [`traced_metric_fn`].
pub fn metric_fn<R, F, M>(name: impl MetricName, score: F) -> FnMetric
where
    R: ClosureReturn<M>,
    // rustc shows this line for an async closure.
    F: Fn(&Example, &Prediction) -> R + Send + Sync + 'static, // write `|gold, pred| { let answer = ..; async move { .. } }`
{
    typed_metric_fn(name, score)
}

/// Creates a metric from a closure over rows of any type.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let near = typed_metric_fn("near", |gold: &f64, pred: &f64| 1.0 - (gold - pred).abs());
/// assert_eq!(near.with_threshold(0.9).score(&1.0, &1.0).unwrap().value, 1.0);
/// ```
pub fn typed_metric_fn<G, P, R, F, M>(name: impl MetricName, score: F) -> FnMetric<G, P>
where
    R: ClosureReturn<M>,
    F: Fn(&G, &P) -> R + Send + Sync + 'static,
{
    FnMetric {
        declared: R::declare(MetricSpec::new(intern(&name.into()))),
        settings: InstanceSettings::default(),
        answer: Arc::new(move |call, spec| score(call.gold, call.pred).into_answer(spec)),
    }
}

/// Creates a metric from a closure that takes DSPy's five metric arguments.
///
/// The arguments are the gold row, the prediction, the trace, and the scored predictor's name and trace. The last three
/// are `None` unless an optimizer passes them; see [`MetricCall`].
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let strict = traced_metric_fn("strict", |gold, pred, trace, _pred_name, _pred_trace| {
///     let is_same = gold.get("answer") == pred.get("answer");
///     is_same && (trace.is_none() || pred.get("reasoning").is_some())
/// });
/// let (gold, pred, trace) = (example! { "answer" => 4 }, prediction! { "answer" => 4 }, Trace::default());
/// let call = MetricCall::new(&gold, &pred);
/// assert_eq!(strict.grade(call).await?, Grade::Score(MetricScore::new(1.0)));
/// assert_eq!(strict.grade(call.with_trace(&trace)).await?, Grade::Verdict(false));
/// # Ok(())
/// # }
/// ```
pub fn traced_metric_fn<R, F, M>(name: impl MetricName, score: F) -> FnMetric
where
    R: ClosureReturn<M>,
    F: Fn(&Example, &Prediction, Option<&Trace>, Option<&str>, Option<&Trace>) -> R
        + Send
        + Sync
        + 'static,
{
    FnMetric {
        declared: R::declare(MetricSpec::new(intern(&name.into()))),
        settings: InstanceSettings::default(),
        answer: Arc::new(move |call, spec| {
            let MetricCall { gold, pred, .. } = call;
            score(gold, pred, call.trace, call.pred_name, call.pred_trace).into_answer(spec)
        }),
    }
}

/// A metric created from a closure.
///
/// The closure takes the rows `G` and `P`. Use [`metric_fn`], [`typed_metric_fn`] or [`traced_metric_fn`] to create the
/// metric.
///
/// ```
/// use dsrs_metrics::contract::FnMetric;
/// use dsrs_metrics::prelude::*;
///
/// struct Suite {
///     short: FnMetric,
/// }
///
/// let short = metric_fn("short", |_, pred| 1.0 / (1.0 + pred.data.len() as f64)).with_range(0.0, 1.0);
/// let short = short.with_threshold(0.5).with_cost_msats(5);
/// let spec = Metric::<Example, Prediction>::spec(&short);
/// assert_eq!(spec.properties(), "proxy, number in 0.0..=1.0, higher is better, threshold 0.5, 5 msat a row");
///
/// let suite = Suite { short };
/// assert_eq!(suite.short.score(&example! {}, &prediction! {})?.value, 1.0);
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
pub struct FnMetric<G = Example, P = Prediction> {
    declared: MetricSpec<'static>,
    settings: InstanceSettings,
    answer: Arc<AnswerFn<G, P>>,
}

type AnswerFn<G, P> =
    dyn for<'a> Fn(MetricCall<'a, G, P>, MetricSpec<'a>) -> Answer<'a> + Send + Sync;

impl<G, P> Clone for FnMetric<G, P> {
    fn clone(&self) -> Self {
        Self {
            answer: Arc::clone(&self.answer),
            ..*self
        }
    }
}

impl<G, P> FnMetric<G, P> {
    setters! {
        /// Sets the threshold that separates passes from failures.
        ///
        /// The threshold is the smallest passing value, or the largest if lower is better.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let half = metric_fn("half", |_, _| 0.5).with_range(0.0, 1.0);
        /// let error = half.with_threshold(1.5).score(&example! {}, &prediction! {}).unwrap_err().to_string();
        /// let message = "the threshold 1.5 is outside the range of the metric, 0.0..=1.0; write a threshold within it";
        /// assert_eq!(error, format!("metric `half`: {message}"));
        /// ```
        pub fn with_threshold(threshold: f64) => settings.threshold = Some(threshold);

        /// Replaces each score with 1 for a pass and 0 for a failure.
        ///
        /// The metric must have a threshold.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let half = metric_fn("half", |_, _| 0.5);
        /// let error = half.clone().strict().score(&example! {}, &prediction! {}).unwrap_err().to_string();
        /// let message = "expected a threshold for `strict`, found none; set a threshold as well, such as 0.5";
        /// assert_eq!(error, format!("metric `half`: {message}"));
        /// assert_eq!(half.strict().with_threshold(0.6).score(&example! {}, &prediction! {})?.value, 0.0);
        /// # Ok::<(), dsrs_metrics::MetricError>(())
        /// ```
        pub fn strict() => settings.strict = Some(true);
    }

    setters! {
        /// Sets the range of the metric's values.
        ///
        /// The range is an interval that contains every value.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let stars = metric_fn("stars", |_, _| 6).with_range(1.0, 5.0);
        /// let error = stars.score(&example! {}, &prediction! {}).unwrap_err().to_string();
        /// assert_eq!(error, "metric `stars`: the score 6.0 is outside the declared range 1.0..=5.0");
        /// ```
        pub fn with_range(min: f64, max: f64) in declared.with_range;

        /// Sets the metric's tier.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let reviewed = metric_fn("reviewed", |_, _| true).with_tier(MetricTier::Truth);
        /// assert_eq!(Metric::<Example, Prediction>::tier(&reviewed), MetricTier::Truth);
        /// ```
        pub fn with_tier(tier: MetricTier) in declared.with_tier;

        /// Sets the maximum expected cost of one call, in millisatoshis.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let paid = metric_fn("paid", |_, _| true).with_cost_msats(1_500);
        /// assert_eq!(paid.score(&example! {}, &prediction! {})?.cost_msats, 1_500);
        /// # Ok::<(), dsrs_metrics::MetricError>(())
        /// ```
        pub fn with_cost_msats(cost_msats: u64) in declared.with_cost_msats;
    }

    /// Declares that smaller values are better.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let edits = metric_fn("edits", |_, _| 2).lower_is_better().with_threshold(3.0);
    /// assert_eq!(edits.strict().score(&example! {}, &prediction! {})?.value, 1.0);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn lower_is_better(mut self) -> Self {
        self.declared.direction = Direction::LowerIsBetter;
        self
    }

    /// Scores one pair of rows, if the closure is synchronous.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let ratio = typed_metric_fn("ratio", |gold: &f64, pred: &f64| pred / gold);
    /// assert_eq!(ratio.score(&4.0, &1.0)?.value, 0.25);
    /// let error = ratio.score(&0.0, &1.0).unwrap_err().to_string();
    /// assert_eq!(error, "metric `ratio`: the score inf is not a finite number");
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the closure's own error. Also returns an error if the closure abstains or is asynchronous.
    ///
    /// A score that is out of range or not finite is also an error, and so is an invalid threshold.
    pub fn score(&self, gold: &G, pred: &P) -> Result<MetricScore>
    where
        G: Sync,
        P: Sync,
    {
        at_once(self, gold, pred)
    }
}

debug_fields!(FnMetric<G, P>: |metric| "name" => metric.declared.name);

impl<G, P> ScoredAtOnce<G> for FnMetric<G, P> {}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync> Metric<G, P> for FnMetric<G, P> {
    fn name(&self) -> &str {
        self.declared.name
    }

    fn tier(&self) -> MetricTier {
        self.declared.tier
    }

    fn cost_estimate(&self) -> u64 {
        self.declared.cost_msats
    }

    fn spec(&self) -> MetricSpec<'_> {
        self.settings.shown(self.declared)
    }

    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
        Ok(self.answer(MetricCall::new(gold, pred)).await?.into_score())
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        let spec = self.settings.apply(self.declared);
        all.extend(Requirement::unless(self.declared.name, spec.map(|_| ())));
    }

    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        let own = || self.settings.apply(self.declared);
        match call.spec.map_or_else(own, |spec| Ok(*spec)) {
            Ok(spec) => (self.answer)(call, spec),
            Err(error) => Answer::Ready(Err(MetricError::failed(self.declared.name, error))),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<G: Sync, P: Sync> AcceptanceTest<G, P> for FnMetric<G, P> {}

/// Marks a closure that returns a score.
#[derive(Debug)]
pub enum AtOnce {}

/// Marks a closure that returns a future.
#[derive(Debug)]
pub enum Awaited {}

/// A type that a metric's closure can return.
///
/// `M` is a marker that the compiler infers.
///
/// ```
/// # use dsrs_metrics::prelude::*;
/// // `None` abstains, and an error fails the row.
/// let rated = metric_fn("rated", |_, pred| pred.get("rating").map(|it| it.as_f64().ok_or("not a number")));
/// let error = |pred: Prediction| rated.score(&example! {}, &pred).unwrap_err().to_string();
/// assert_eq!(error(prediction! {}), "metric `rated` abstained");
/// assert_eq!(error(prediction! { "rating" => "good" }), "metric `rated`: not a number");
/// ```
#[diagnostic::on_unimplemented(
    message = "a metric cannot return `{Self}`",
    label = "not a score",
    note = "return `bool`, `f64`, `f32`, an integer, `MetricScore`, `FeedbackMetric`, `Scores`, `Check` or `Breakdown`,\nor an `Option` of one of these (`None` abstains),\nor a `Result<_, E>` of one of these with `E: Display` (an error fails the row),\nor a `Send` future of one of these that does not borrow the rows: `async move {{ .. }}`"
)]
pub trait ClosureReturn<M> {
    /// Adds the return type's properties to the spec.
    ///
    /// The properties are the kind of the score, and whether the metric is asynchronous.
    fn declare(spec: MetricSpec<'static>) -> MetricSpec<'static>;

    /// Converts the return value to an answer, validated against the spec.
    fn into_answer(self, spec: MetricSpec<'_>) -> Answer<'_>;
}

#[diagnostic::do_not_recommend]
impl<R: MetricReturn> ClosureReturn<AtOnce> for R {
    fn declare(spec: MetricSpec<'static>) -> MetricSpec<'static> {
        spec.with_kind(R::KIND)
    }

    #[inline]
    fn into_answer(self, spec: MetricSpec<'_>) -> Answer<'_> {
        self.into_scored(&spec).into()
    }
}

#[diagnostic::do_not_recommend]
impl<R> ClosureReturn<Awaited> for R
where
    R: Future + Send + 'static,
    R::Output: MetricReturn,
{
    fn declare(spec: MetricSpec<'static>) -> MetricSpec<'static> {
        spec.with_kind(R::Output::KIND).with_async()
    }

    fn into_answer(self, spec: MetricSpec<'_>) -> Answer<'_> {
        Answer::pending(async move { self.await.into_scored(&spec) })
    }
}
