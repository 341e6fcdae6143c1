//! Metrics with their own settings: [`Instance`].

use std::fmt;

use async_trait::async_trait;

use crate::declared::{Declared, Requirement};
use crate::dedup::Key;
use crate::metric::answer::at_once;
use crate::metric::{AcceptanceTest, Answer, Metric, MetricCall, ScoredAtOnce, batching};
use crate::score::{MetricError, MetricScore, Result, Scored};
use crate::spec::MetricSpec;
use crate::spec::instance_settings::{InstanceSettings, SettingError};

/// Changes the threshold, strictness and cost of one metric instance.
///
/// Every `#[metric]` has these methods. A judge has its own versions, which return the judge.
///
/// The attribute sets the defaults, and the instance's spec contains the changed values.
///
/// Two metrics are equal only if their settings are equal.
///
/// If a setting is invalid, a run reports it before the first row, and every call returns an error.
///
/// ```
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(F1::default().score(&gold, &pred)?.value, 2.0 / 3.0);
///
/// let f1 = F1::default().with_threshold(0.8);
/// assert_eq!((f1.spec().threshold, f1.spec().is_success(0.9)), (Some(0.8), Some(true)));
/// assert_eq!(f1.strict().score(&gold, &pred)?.value, 0.0);
///
/// let error = F1::default().with_threshold(1.5).score(&gold, &pred).unwrap_err();
/// let message = "the threshold 1.5 is outside the range of the metric, 0.0..=1.0; write a threshold within it";
/// assert!(error.to_string().contains(message));
/// # Ok(())
/// # }
/// ```
pub trait WithSettings: Declared {
    /// Sets the threshold that separates passes from failures.
    ///
    /// The threshold is the smallest passing value, or the largest if lower is better.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::{Em, F1}, prelude::*};
    /// assert_eq!(F1::default().with_threshold(0.8).spec().is_success(0.7), Some(false));
    ///
    /// // A metric that returns `bool` already has a verdict.
    /// # let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "Paris" });
    /// let error = Em::default().with_threshold(0.5).score(&gold, &pred).unwrap_err().to_string();
    /// let reason = "a metric that returns `bool` takes no threshold, found 0.5; remove the threshold";
    /// assert_eq!(error, format!("metric `em`: {reason}"));
    /// ```
    fn with_threshold(self, threshold: f64) -> Instance<Self> {
        Instance::of(self).with_threshold(threshold)
    }

    /// Replaces each score with 1 for a pass and 0 for a failure.
    ///
    /// The metric must have a threshold.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
    /// let error = F1::default().strict().score(&gold, &pred).unwrap_err().to_string();
    /// let reason = "expected a threshold for `strict`, found none; set a threshold as well, such as 0.5";
    /// assert_eq!(error, format!("metric `f1`: {reason}"));
    /// ```
    fn strict(self) -> Instance<Self> {
        Instance::of(self).strict()
    }

    /// Sets the maximum expected cost of one call, in millisatoshis.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "Paris" });
    /// assert_eq!(F1::default().with_cost_msats(25).score(&gold, &pred)?.cost_msats, 25);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    fn with_cost_msats(self, cost_msats: u64) -> Instance<Self> {
        Instance::of(self).with_cost_msats(cost_msats)
    }
}

#[diagnostic::do_not_recommend]
impl<M: Declared> WithSettings for M {}

/// A metric with its own threshold, strictness or cost.
///
/// Use [`WithSettings`] to create an instance.
///
/// ```
/// use dsrs_metrics::{contract::Instance, metrics::F1, prelude::*};
///
/// struct Suite {
///     overlap: Instance<F1>,
/// }
///
/// let suite = Suite { overlap: F1::default().with_threshold(0.8) };
/// assert_eq!(suite.overlap.spec().threshold, Some(0.8));
/// ```
#[derive(Clone)]
#[must_use]
pub struct Instance<M> {
    metric: M,
    /// The spec of the metric's type.
    declared: MetricSpec<'static>,
    settings: InstanceSettings,
    /// The spec of the instance, used to validate scores.
    spec: std::result::Result<MetricSpec<'static>, SettingError>,
}

impl<M: Declared> Instance<M> {
    fn of(metric: M) -> Self {
        Self::new(metric, M::SPEC, InstanceSettings::default())
    }
}

impl<M> Instance<M> {
    /// Creates an instance of a metric with the given settings.
    ///
    /// `declared` is the spec of the metric's type.
    #[doc(hidden)]
    pub fn new(metric: M, declared: MetricSpec<'static>, settings: InstanceSettings) -> Self {
        Self {
            metric,
            declared,
            settings,
            spec: settings.apply(declared),
        }
    }

    /// Returns the instance, or an error if a setting is invalid.
    #[doc(hidden)]
    pub fn checked(self) -> std::result::Result<Self, SettingError> {
        match &self.spec {
            Ok(_) => Ok(self),
            Err(error) => Err(error.clone()),
        }
    }

    /// Sets the threshold that separates passes from failures.
    ///
    /// The threshold is the smallest passing value, or the largest if lower is better.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// let f1 = F1::default().strict().with_threshold(0.5).with_threshold(0.8); // the last one applies
    /// assert_eq!(f1.spec().threshold, Some(0.8));
    /// ```
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.settings.threshold = Some(threshold);
        Self::new(self.metric, self.declared, self.settings)
    }

    /// Replaces each score with 1 for a pass and 0 for a failure.
    ///
    /// The metric must have a threshold.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
    /// let f1 = F1::default().with_threshold(0.5);
    /// assert_eq!(f1.score(&gold, &pred)?.value, 2.0 / 3.0);
    /// assert_eq!(f1.strict().score(&gold, &pred)?.value, 1.0);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn strict(mut self) -> Self {
        self.settings.strict = Some(true);
        Self::new(self.metric, self.declared, self.settings)
    }

    /// Sets the maximum expected cost of one call, in millisatoshis.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// let f1 = F1::default().with_threshold(0.8).with_cost_msats(1_000); // 1 satoshi
    /// assert_eq!(f1.spec().cost_msats, 1_000);
    /// assert!(f1.spec().properties().ends_with("threshold 0.8, 1000 msat a row"));
    /// ```
    pub fn with_cost_msats(mut self, cost_msats: u64) -> Self {
        self.settings.cost_msats = Some(cost_msats);
        Self::new(self.metric, self.declared, self.settings)
    }

    /// Returns the instance's spec.
    ///
    /// This spec does not include field names that are set by parameters. Use [`Metric::spec`] to get them.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// assert_eq!(F1::default().with_threshold(0.8).spec().threshold, Some(0.8));
    /// assert_eq!(F1::default().with_threshold(1.5).spec().threshold, None); // invalid, and each call returns the error
    /// ```
    pub fn spec(&self) -> MetricSpec<'static> {
        self.settings.shown(self.declared)
    }

    /// Scores one pair of rows, if the metric is synchronous.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// let f1 = F1::default().with_threshold(0.8);
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => 7 });
    /// let error = f1.score(&gold, &pred).unwrap_err().to_string();
    /// assert_eq!(error, "metric `f1`: field `pred.answer`: expected a string, found the number 7");
    /// assert_eq!(f1.score(&gold, &prediction! {})?.value, 0.0); // a missing answer is wrong
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Metric::evaluate`]. Also returns an error if a setting is invalid.
    pub fn score<G: Sync, P: Sync>(&self, gold: &G, pred: &P) -> Result<MetricScore>
    where
        M: Metric<G, P> + ScoredAtOnce<G>,
    {
        at_once(self, gold, pred)
    }
}

impl<M: fmt::Debug> fmt::Debug for Instance<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut instance = f.debug_struct("Instance");
        instance
            .field("metric", &self.metric)
            .field("settings", &self.settings);
        instance.finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync, M: Metric<G, P>> Metric<G, P> for Instance<M> {
    crate::forward_metric!(<G, P> |this| this.metric);

    fn cost_estimate(&self) -> u64 {
        match (self.settings.cost_msats, self.metric.declaration()) {
            (None, _) => self.metric.cost_estimate(),
            (Some(cost_msats), None) => cost_msats,
            (Some(cost_msats), Some(declared)) => declared.max_cost_of(cost_msats),
        }
    }

    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
        Ok(self.answer(MetricCall::new(gold, pred)).await?.into_score())
    }

    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        match &self.spec {
            Ok(spec) => self.metric.answer(call.with_spec(Some(spec))),
            Err(error) => Answer::Ready(Err(MetricError::failed(self.declared.name, error))),
        }
    }

    fn spec(&self) -> MetricSpec<'_> {
        self.settings.shown(self.metric.spec())
    }

    async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
        if self.metric.batch_size() < 2 {
            let answer = |row: usize| self.answer(MetricCall::new(&pairs[row].0, &pairs[row].1));
            return batching::evaluate(pairs.len(), &answer).await;
        }
        let spec = Metric::<G, P>::spec(self);
        let score = |score: Result<_>| Ok(Scored::validated(score?, &spec)?.into_score());
        let scores = self.metric.evaluate_batch(pairs).await;
        scores.into_iter().map(score).collect()
    }

    fn batch_size(&self) -> usize {
        self.metric.batch_size()
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        let spec = self.spec.as_ref().map(|_| ());
        all.extend(Requirement::unless(self.declared.name, spec));
        self.metric.requirements(all);
    }

    fn parameters(&self, all: &mut Vec<(String, String)>) {
        self.metric.parameters(all);
    }

    fn key(&self) -> Option<Key> {
        Some(Key::of_instance(self.metric.key()?, self.settings))
    }

    /// The metric's components have their own keys. The metric itself is evaluated only with the settings.
    fn keys(&self, all: &mut Vec<Key>) {
        let start = all.len();
        self.metric.keys(all);
        if let Some(own) = self.metric.key() {
            if all.get(start) == Some(&own) {
                all.remove(start);
            }
            all.push(Key::of_instance(own, self.settings));
        }
    }
}

#[diagnostic::do_not_recommend]
impl<G: Sync, P: Sync, M: Metric<G, P>> AcceptanceTest<G, P> for Instance<M> {}
