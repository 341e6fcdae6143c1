//! The builder of [`Scorer`], and the validation of its setup.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::aggregate::AggregationMethod;
use super::budget::Ledger;
use super::call::Entry;
use super::error::ScorerError;
use super::set::{BoxedMetric, MetricSet};
use super::{Inner, Scorer};
use crate::composite::OnMissing;
use crate::core::batching;
use crate::core::dedup::memo::Sharing;
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::spec::MetricTier;

/// The configuration of a [`Scorer`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScoringConfig {
    /// The smallest proxy mean, in [0, 1], at which the truth metrics are evaluated; the default is 0.5. At
    /// 0 every row with a proxy score passes the gate.
    pub threshold: f64,
    /// The number of rollouts of each row; the default is 1. [`Scorer::run`] runs the program as often for each example.
    /// If predictions are given instead, rows with fewer are counted as [`short`](super::ScoringSummary::short).
    pub num_rollouts: usize,
    /// How the scores of the rollouts of one row are aggregated; the default is the median.
    pub aggregation: AggregationMethod,
    /// The maximum cost of all calls together, in millisatoshis; the default is no limit.
    pub budget_msats: Option<u64>,
    /// How a metric without a score affects the row; by default the row fails.
    pub on_missing: OnMissing,
}

impl Default for ScoringConfig {
    fn default() -> Self {
        Self {
            threshold: 0.5,
            num_rollouts: 1,
            aggregation: AggregationMethod::default(),
            budget_msats: None,
            on_missing: OnMissing::default(),
        }
    }
}

impl ScoringConfig {
    fn check(&self) -> Result<(), ScorerError> {
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(ScorerError::Threshold { threshold: self.threshold });
        }
        if self.num_rollouts == 0 {
            return Err(ScorerError::ZeroRollouts);
        }
        if self.budget_msats == Some(0) {
            return Err(ScorerError::ZeroBudget);
        }
        Ok(self.aggregation.check()?)
    }
}

/// A builder of [`Scorer`].
#[must_use]
pub struct ScorerBuilder<G = Example, P = Prediction> {
    metrics: Vec<(Option<MetricTier>, BoxedMetric<G, P>)>,
    free: Vec<String>,
    inputs: Option<Arc<[String]>>,
    config: ScoringConfig,
}

/// Settings of rows with dynamic fields.
impl<P> ScorerBuilder<Example, P> {
    /// Sets which fields of an example a program receives, for examples that do not declare their own with
    /// [`with_inputs`](Example::with_inputs), as [`EvaluateBuilder::inputs`](crate::EvaluateBuilder::inputs) does.
    pub fn inputs<T: Into<String>>(mut self, fields: impl IntoIterator<Item = T>) -> Self {
        self.inputs = Some(fields.into_iter().map(Into::into).collect());
        self
    }
}

impl ScorerBuilder {
    /// Returns a builder for a scorer over dynamic rows, without metrics.
    pub fn new() -> Self {
        Self::typed()
    }
}

impl Default for ScorerBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> ScorerBuilder<G, P> {
    /// Returns a builder for a scorer over rows of any type.
    pub fn typed() -> Self {
        let config = ScoringConfig::default();
        Self { metrics: Vec::new(), free: Vec::new(), inputs: None, config }
    }

    /// Adds a metric to the tier of its spec.
    pub fn metric(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(None, metric)
    }

    /// Adds several metrics, each to the tier of its spec.
    pub fn metrics<M: Metric<G, P> + 'static>(self, metrics: impl IntoIterator<Item = M>) -> Self {
        metrics.into_iter().fold(self, Self::metric)
    }

    /// Adds a proxy metric; [`build`](Self::build) returns an error if it is a truth metric.
    pub fn proxy(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(Some(MetricTier::Proxy), metric)
    }

    /// Adds a truth metric; [`build`](Self::build) returns an error if it is a proxy metric.
    pub fn truth(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(Some(MetricTier::Truth), metric)
    }

    /// Marks a truth metric without a declared cost as free, such as a local test run. With a budget, every
    /// other truth metric must declare a cost, so that all calls count towards the limit.
    pub fn free(mut self, truth_metric: impl Into<String>) -> Self {
        self.free.push(truth_metric.into());
        self
    }

    /// Sets [`ScoringConfig::threshold`], in [0, 1].
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.config.threshold = threshold;
        self
    }

    /// Sets [`ScoringConfig::num_rollouts`].
    pub fn num_rollouts(mut self, rollouts: usize) -> Self {
        self.config.num_rollouts = rollouts;
        self
    }

    /// Sets [`ScoringConfig::aggregation`].
    pub fn aggregation(mut self, method: AggregationMethod) -> Self {
        self.config.aggregation = method;
        self
    }

    /// Sets [`ScoringConfig::budget_msats`], in millisatoshis.
    pub fn budget_msats(mut self, budget: u64) -> Self {
        self.config.budget_msats = Some(budget);
        self
    }

    /// Sets [`ScoringConfig::on_missing`].
    pub fn on_missing(mut self, on_missing: OnMissing) -> Self {
        self.config.on_missing = on_missing;
        self
    }

    /// Sets everything but the metrics.
    pub fn config(mut self, config: ScoringConfig) -> Self {
        self.config = config;
        self
    }

    /// Validates the setup.
    ///
    /// # Errors
    /// There is no metric; two metrics have the same name; a metric is in the wrong tier or has no range;
    /// the threshold is outside [0, 1]; there are no rollouts; the percentage of a trimmed mean is invalid;
    /// the budget is 0; or, with a budget, a truth metric declares no cost and is not
    /// [`free`](Self::free).
    pub fn build(self) -> Result<Scorer<G, P>, ScorerError> {
        self.config.check()?;
        let mut set = MetricSet::new();
        for (requested_tier, metric) in &self.metrics {
            let tier = requested_tier.unwrap_or_else(|| metric.spec().tier);
            set.insert_as(tier, Arc::clone(metric))?;
        }
        check_names(&set)?;
        let proxies = entries(set.proxy())?;
        let truth = entries(set.truth())?;
        self.check_costs(&truth)?;
        let ledger = Ledger::new(self.config.budget_msats);
        let mut all = Vec::new();
        set.all().for_each(|metric| Metric::<G, P>::keys(metric, &mut all));
        let sharing = Sharing::among(&all);
        let Self { inputs, config, .. } = self;
        let inner = Inner { set, proxies, truth, inputs, config, ledger, sharing };
        Ok(Scorer { inner: Arc::new(inner) })
    }

    fn with(mut self, tier: Option<MetricTier>, metric: impl Metric<G, P> + 'static) -> Self {
        self.metrics.push((tier, batching::batched(Arc::new(metric))));
        self
    }

    fn check_costs(&self, truth: &[Entry<G, P>]) -> Result<(), ScorerError> {
        let named = |name: &String| truth.iter().any(|entry| entry.name == *name);
        if let Some(name) = self.free.iter().find(|name| !named(name)) {
            return Err(ScorerError::UnknownFree { name: name.clone() });
        }
        let unpriced =
            |entry: &&Entry<G, P>| entry.declared_cost == 0 && !self.free.contains(&entry.name);
        match truth.iter().find(unpriced) {
            Some(entry) if self.config.budget_msats.is_some() => {
                Err(ScorerError::Unpriced { metric: entry.name.clone() })
            }
            _ => Ok(()),
        }
    }
}

fn check_names<G: Sync, P: Sync>(set: &MetricSet<G, P>) -> Result<(), ScorerError> {
    if set.is_empty() {
        return Err(ScorerError::NoMetric);
    }
    let mut names = HashSet::new();
    let duplicate = set.all().map(Metric::name).find(|name| !names.insert(*name));
    duplicate.map_or(Ok(()), |name| Err(ScorerError::DuplicateMetric { name: name.to_owned() }))
}

fn entries<G: Sync, P: Sync>(
    metrics: &[BoxedMetric<G, P>],
) -> Result<Vec<Entry<G, P>>, ScorerError> {
    metrics.iter().map(|metric| Entry::new(Arc::clone(metric))).collect()
}

impl<G, P> fmt::Debug for ScorerBuilder<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScorerBuilder").field("config", &self.config).finish_non_exhaustive()
    }
}
