//! Metrics from closures: [`metric_fn`], [`typed_metric_fn`] and [`traced_metric_fn`].

use std::fmt;
use std::marker::PhantomData;

use async_trait::async_trait;

use crate::declared::requirements::Requirement;
use crate::metric::Metric;
use crate::metric::answer::Answer;
use crate::metric::call::MetricCall;
use crate::metric::closure_return::{AtOnce, ClosureReturn};
use crate::metric::optimizer::AcceptanceTest;
use crate::rows::dynamic::{Example, Prediction, Trace};
use crate::score::MetricScore;
use crate::score::error::{MetricError, Result};
use crate::score::return_types::MetricReturn;
use crate::spec::instance_settings::{InstanceSettings, SettingError};
use crate::spec::{MetricSpec, MetricTier};

/// The name of a metric from a closure: everything that converts into a `String`.
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

/// Creates a metric from a closure over dynamic rows. [`FnMetric`] has methods for threshold, range, tier and cost.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let score = same.score(&example! { "answer" => 4 }, &prediction! { "answer" => 4 }).unwrap();
/// assert_eq!(score.value, 1.0);
/// ```
///
/// The closure may return a future. The future owns what it needs, since the rows are borrowed:
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
/// [`traced_metric_fn`] takes a closure that also reads what an optimizer passes.
pub fn metric_fn<R, F, M>(name: impl MetricName, score: F) -> FnMetric<F, TwoArguments<M>>
where
    R: ClosureReturn<M>,
    F: Fn(&Example, &Prediction) -> R + Send + Sync,
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
pub fn typed_metric_fn<G, P, R, F, M>(
    name: impl MetricName,
    score: F,
) -> FnMetric<F, TwoArguments<M>>
where
    R: ClosureReturn<M>,
    F: Fn(&G, &P) -> R + Send + Sync,
{
    FnMetric::new(name.into(), R::declare(MetricSpec::new("")), score)
}

/// Creates a metric from a closure with DSPy's five arguments: gold row, prediction, trace, name and trace of the
/// predictor that is scored. The last three are `None` unless an optimizer passes them; see [`MetricCall`].
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
pub fn traced_metric_fn<R, F, M>(name: impl MetricName, score: F) -> FnMetric<F, FiveArguments<M>>
where
    R: ClosureReturn<M>,
    F: Fn(&Example, &Prediction, Option<&Trace>, Option<&str>, Option<&Trace>) -> R + Send + Sync,
{
    FnMetric::new(name.into(), R::declare(MetricSpec::new("")), score)
}

/// Marks a closure of the gold row and the prediction.
///
/// ```
/// use dsrs_metrics::contract::{AtOnce, FnMetric, TwoArguments};
/// use dsrs_metrics::prelude::*;
///
/// // The type of a metric from a function pointer, for a field of a struct.
/// struct Suite {
///     same: FnMetric<fn(&Example, &Prediction) -> bool, TwoArguments<AtOnce>>,
/// }
///
/// let suite = Suite { same: metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer")) };
/// assert_eq!(suite.same.score(&example! {}, &prediction! {})?.value, 1.0);
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[derive(Debug)]
pub struct TwoArguments<M>(PhantomData<M>);

/// Marks a closure of all five arguments of a call.
#[derive(Debug)]
pub struct FiveArguments<M>(PhantomData<M>);

/// A metric from a closure, created by [`metric_fn`], [`typed_metric_fn`] or [`traced_metric_fn`]. `A` is a marker of the
/// closure's arguments and return type, which the compiler infers.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let short = metric_fn("short", |_, pred| 1.0 / (1.0 + pred.data.len() as f64)).with_range(0.0, 1.0);
/// let short = short.with_threshold(0.5).with_cost_msats(5);
/// let spec = Metric::<Example, Prediction>::spec(&short);
/// assert_eq!(spec.properties(), "proxy, number in 0.0..=1.0, higher is better, threshold 0.5, 5 msat a row");
/// ```
pub struct FnMetric<F, A = TwoArguments<AtOnce>> {
    name: String,
    spec: MetricSpec<'static>,
    settings: InstanceSettings,
    invalid: Option<SettingError>,
    score: F,
    arguments: PhantomData<fn() -> A>,
}

impl<F: Clone, A> Clone for FnMetric<F, A> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            score: self.score.clone(),
            ..*self
        }
    }
}

impl<F, A> FnMetric<F, A> {
    const fn new(name: String, spec: MetricSpec<'static>, score: F) -> Self {
        let settings = InstanceSettings {
            threshold: None,
            strict: None,
            cost_msats: None,
        };
        Self {
            name,
            spec,
            settings,
            invalid: None,
            score,
            arguments: PhantomData,
        }
    }

    /// Returns the error of an invalid setting.
    fn usable(&self) -> Result<()> {
        match &self.invalid {
            Some(error) => Err(MetricError::failed(&*self.name, error)),
            None => Ok(()),
        }
    }

    fn named_spec(&self) -> MetricSpec<'_> {
        MetricSpec {
            name: &self.name,
            ..self.spec
        }
    }

    /// Sets the smallest (or, if lower is better, the largest) value that is a pass.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let half = metric_fn("half", |_, _| 0.5).with_range(0.0, 1.0);
    /// let error = half.with_threshold(1.5).score(&example! {}, &prediction! {}).unwrap_err().to_string();
    /// let message = "expected a threshold in the range 0.0..=1.0, found 1.5; write one within it";
    /// assert_eq!(error, format!("metric `half`: {message}"));
    /// ```
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.settings.threshold = Some(threshold);
        self.checked()
    }

    /// Replaces each score with 1 (pass) or 0 (fail). The metric must have a threshold.
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
    pub fn strict(mut self) -> Self {
        self.settings.strict = Some(true);
        self.checked()
    }

    /// Applies the settings in whatever order they are set: a range, for instance, after the threshold.
    fn checked(mut self) -> Self {
        let spec = MetricSpec {
            threshold: None,
            strict: false,
            ..self.spec
        };
        let applied = self.settings.apply(spec);
        self.invalid = applied.err();
        self.spec = applied.unwrap_or(spec);
        self
    }

    /// Sets the interval that contains every value.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let stars = metric_fn("stars", |_, _| 6).with_range(1.0, 5.0);
    /// let error = stars.score(&example! {}, &prediction! {}).unwrap_err().to_string();
    /// assert_eq!(error, "metric `stars`: the score 6.0 is outside the declared range 1.0..=5.0");
    /// ```
    pub fn with_range(mut self, min: f64, max: f64) -> Self {
        self.spec = self.spec.with_range(min, max);
        self.checked()
    }

    /// Sets the tier.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let reviewed = metric_fn("reviewed", |_, _| true).with_tier(MetricTier::Truth);
    /// assert_eq!(Metric::<Example, Prediction>::tier(&reviewed), MetricTier::Truth);
    /// ```
    pub fn with_tier(mut self, tier: MetricTier) -> Self {
        self.spec = self.spec.with_tier(tier);
        self
    }

    /// Sets the largest expected cost of one call, in millisatoshis.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let paid = metric_fn("paid", |_, _| true).with_cost_msats(1_500);
    /// assert_eq!(paid.score(&example! {}, &prediction! {})?.cost_msats, 1_500);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn with_cost_msats(mut self, cost_msats: u64) -> Self {
        self.spec = self.spec.with_cost_msats(cost_msats);
        self
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
        self.spec = self
            .spec
            .with_direction(crate::spec::Direction::LowerIsBetter);
        self.checked()
    }
}

impl<F> FnMetric<F> {
    /// Scores one pair of rows. The closure is synchronous.
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
    /// The closure's own error, an abstention, a value that is not finite or out of range, or an invalid threshold.
    pub fn score<G, P, R>(&self, gold: &G, pred: &P) -> Result<MetricScore>
    where
        F: Fn(&G, &P) -> R,
        R: MetricReturn,
    {
        self.usable()?;
        Ok((self.score)(gold, pred)
            .into_scored(&self.named_spec())?
            .into_score())
    }
}

impl<F, A> fmt::Debug for FnMetric<F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnMetric")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

macro_rules! closure_metric {
    ($arguments:ident, ($($argument:ty),*), |$call:ident| ($($value:expr),*)) => {
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<G: Sync, P: Sync, R, F, M> Metric<G, P> for FnMetric<F, $arguments<M>>
        where
            F: Fn(&G, &P $(, $argument)*) -> R + Send + Sync,
            R: ClosureReturn<M>,
        {
            fn name(&self) -> &str {
                &self.name
            }

            fn tier(&self) -> MetricTier {
                self.spec.tier
            }

            fn cost_estimate(&self) -> u64 {
                self.spec.cost_msats
            }

            fn spec(&self) -> MetricSpec<'_> {
                self.named_spec()
            }

            async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
                Ok(self.answer(MetricCall::new(gold, pred)).await?.into_score())
            }

            fn requirements(&self, all: &mut Vec<Requirement>) {
                all.extend(self.invalid.map(|error| Requirement::missing(&*self.name, error)));
            }

            fn answer<'a>(&'a self, $call: MetricCall<'a, G, P>) -> Answer<'a> {
                if let Err(error) = self.usable() {
                    return Answer::Ready(Err(error));
                }
                (self.score)($call.gold, $call.pred $(, $value)*).into_answer(self.named_spec())
            }
        }
    };
}
closure_metric!(TwoArguments, (), |call| ());
closure_metric!(
    FiveArguments,
    (Option<&Trace>, Option<&str>, Option<&Trace>),
    |call| (call.trace, call.pred_name, call.pred_trace)
);

#[diagnostic::do_not_recommend]
impl<G: Sync, P: Sync, F, A> AcceptanceTest<G, P> for FnMetric<F, A> where Self: Metric<G, P> {}
