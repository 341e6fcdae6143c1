//! Metrics from closures: [`metric_fn`] and [`typed_metric_fn`].

use std::fmt;

use async_trait::async_trait;

use crate::core::answer::Answer;
use crate::core::call::MetricCall;
use crate::core::error::{MetricError, Result};
use crate::core::instance::{InstanceSettings, SettingError};
use crate::core::metric::{AcceptanceTest, Metric};
use crate::core::requirements::Requirement;
use crate::core::return_types::MetricReturn;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::{MetricScore, Scored};
use crate::core::spec::{MetricSpec, MetricTier};

/// Creates a metric from a closure over dynamic rows. [`FnMetric`] has methods for threshold, range, tier and cost.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let score = same.score(&example! { "answer" => 4 }, &prediction! { "answer" => 4 }).unwrap();
/// assert_eq!(score.value, 1.0);
/// ```
pub fn metric_fn<R, F>(name: impl Into<String>, score: F) -> FnMetric<F>
where
    R: MetricReturn,
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
pub fn typed_metric_fn<G, P, R, F>(name: impl Into<String>, score: F) -> FnMetric<F>
where
    R: MetricReturn,
    F: Fn(&G, &P) -> R + Send + Sync,
{
    let spec = MetricSpec::new("").with_kind(R::KIND);
    let settings = InstanceSettings::default();
    FnMetric { name: name.into(), spec, settings, invalid: None, score }
}

/// A metric from a closure, created by [`metric_fn`] or [`typed_metric_fn`].
#[derive(Clone)]
pub struct FnMetric<F> {
    name: String,
    spec: MetricSpec<'static>,
    settings: InstanceSettings,
    invalid: Option<SettingError>,
    score: F,
}

impl<F> FnMetric<F> {
    /// Sets the smallest (or, if lower is better, the largest) value that is a pass.
    #[must_use]
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.settings.threshold = Some(threshold);
        self.checked()
    }

    /// Replaces each score with 1 (pass) or 0 (fail). The metric must have a threshold.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.settings.strict = Some(true);
        self.checked()
    }

    /// Applies the settings in whatever order they are set: a range, for instance, after the threshold.
    fn checked(mut self) -> Self {
        let spec = MetricSpec { threshold: None, strict: false, ..self.spec };
        let applied = self.settings.apply(spec);
        self.invalid = applied.err();
        self.spec = applied.unwrap_or(spec);
        self
    }

    /// Sets the interval that contains every value.
    #[must_use]
    pub fn with_range(mut self, min: f64, max: f64) -> Self {
        self.spec = self.spec.with_range(min, max);
        self.checked()
    }

    /// Sets the tier.
    #[must_use]
    pub fn with_tier(mut self, tier: MetricTier) -> Self {
        self.spec = self.spec.with_tier(tier);
        self
    }

    /// Sets the largest expected cost of one call, in millisatoshis.
    #[must_use]
    pub fn with_cost_msats(mut self, cost_msats: u64) -> Self {
        self.spec = self.spec.with_cost_msats(cost_msats);
        self
    }

    /// Declares that smaller values are better.
    #[must_use]
    pub fn lower_is_better(mut self) -> Self {
        self.spec = self.spec.with_direction(crate::core::spec::Direction::LowerIsBetter);
        self.checked()
    }

    /// Scores one pair of rows.
    ///
    /// # Errors
    /// The closure's own error, an abstention, a value that is not finite or out of range, or an invalid threshold.
    pub fn score<G, P, R>(&self, gold: &G, pred: &P) -> Result<MetricScore>
    where
        F: Fn(&G, &P) -> R,
        R: MetricReturn,
    {
        Ok(self.scored(gold, pred)?.score)
    }

    fn scored<G, P, R>(&self, gold: &G, pred: &P) -> Result<Scored>
    where
        F: Fn(&G, &P) -> R,
        R: MetricReturn,
    {
        if let Some(error) = &self.invalid {
            return Err(MetricError::failed(&*self.name, error));
        }
        let spec = MetricSpec { name: &self.name, ..self.spec };
        (self.score)(gold, pred).into_scored(&spec)
    }
}

impl<F> fmt::Debug for FnMetric<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnMetric").field("name", &self.name).finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync, R, F> Metric<G, P> for FnMetric<F>
where
    R: MetricReturn,
    F: Fn(&G, &P) -> R + Send + Sync,
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
        MetricSpec { name: &self.name, ..self.spec }
    }

    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
        self.score(gold, pred)
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(self.invalid.map(|error| Requirement::missing(&*self.name, error)));
    }

    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        Answer::Ready(self.scored(call.gold, call.pred))
    }
}

#[diagnostic::do_not_recommend]
impl<G: Sync, P: Sync, F> AcceptanceTest<G, P> for FnMetric<F> where Self: Metric<G, P> {}
