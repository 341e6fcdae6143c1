//! Setting up a scorer, and everything that can be wrong with a setup.

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
use crate::core::dedup::memo::Sharing;
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::spec::MetricTier;

/// How rows are scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScoringConfig {
    /// The mean of the proxies, in [0, 1], from which on the truth metrics are asked; 0.5 if not
    /// set. At 0 the gate lets everything through that has a proxy score.
    pub threshold: f64,
    /// How many rollouts each row should have; 1 if not set. A row with fewer says so.
    pub num_rollouts: usize,
    /// How the rollouts of one row become one score; the median if not set.
    pub aggregation: AggregationMethod,
    /// What all calls together may cost, in millisatoshis; no limit if not set.
    pub budget_msats: Option<u64>,
    /// What a metric without a score does to the row; the row fails if not set.
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

/// Sets up a [`Scorer`].
#[must_use]
pub struct ScorerBuilder<G = Example, P = Prediction> {
    metrics: Vec<(Option<MetricTier>, BoxedMetric<G, P>)>,
    free: Vec<String>,
    config: ScoringConfig,
}

impl ScorerBuilder {
    /// A scorer over dynamic rows, without metrics yet.
    pub fn new() -> Self {
        Self::typed()
    }
}

impl Default for ScorerBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: Send + Sync, P: Send + Sync> ScorerBuilder<G, P> {
    /// A scorer over rows of any type.
    pub fn typed() -> Self {
        Self { metrics: Vec::new(), free: Vec::new(), config: ScoringConfig::default() }
    }

    /// Adds a metric to the tier that its spec names.
    pub fn metric(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(None, metric)
    }

    /// Adds several metrics, each to the tier that its spec names.
    pub fn metrics<M: Metric<G, P> + 'static>(self, metrics: impl IntoIterator<Item = M>) -> Self {
        metrics.into_iter().fold(self, Self::metric)
    }

    /// Adds a proxy metric; [`build`](Self::build) refuses it if it is a truth metric.
    pub fn proxy(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(Some(MetricTier::Proxy), metric)
    }

    /// Adds a truth metric; [`build`](Self::build) refuses it if it is a proxy metric.
    pub fn truth(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(Some(MetricTier::Truth), metric)
    }

    /// Says that a truth metric which declares no cost really has none: a local test run, say. With
    /// a budget every other truth metric has to declare one, so that none escapes the limit.
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

    /// Checks the setup.
    ///
    /// # Errors
    /// No metric, two of one name, one in the wrong tier, one without a range; a threshold outside
    /// [0, 1], no rollouts, a trimmed mean that trims all; a budget of 0, or with a budget a truth
    /// metric that declares no cost and is not said to be [`free`](Self::free).
    pub fn build(self) -> Result<Scorer<G, P>, ScorerError> {
        self.config.check()?;
        let mut set = MetricSet::new();
        for (wanted, metric) in &self.metrics {
            let tier = wanted.unwrap_or_else(|| metric.spec().tier);
            set.insert_as(tier, Arc::clone(metric))?;
        }
        check_names(&set)?;
        let proxies = entries(set.proxy())?;
        let truth = entries(set.truth())?;
        self.check_prices(&truth)?;
        let ledger = Ledger::new(self.config.budget_msats);
        let mut all = Vec::new();
        set.all().for_each(|metric| Metric::<G, P>::keys(metric, &mut all));
        let sharing = Sharing::among(&all);
        let inner = Inner { set, proxies, truth, config: self.config, ledger, sharing };
        Ok(Scorer { inner: Arc::new(inner) })
    }

    fn with(mut self, tier: Option<MetricTier>, metric: impl Metric<G, P> + 'static) -> Self {
        self.metrics.push((tier, Arc::new(metric)));
        self
    }

    fn check_prices(&self, truth: &[Entry<G, P>]) -> Result<(), ScorerError> {
        let named = |name: &String| truth.iter().any(|entry| entry.name == *name);
        if let Some(name) = self.free.iter().find(|name| !named(name)) {
            return Err(ScorerError::UnknownFree { name: name.clone() });
        }
        let unpriced =
            |entry: &&Entry<G, P>| entry.declared == 0 && !self.free.contains(&entry.name);
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
    let twice = set.all().map(Metric::name).find(|name| !names.insert(*name));
    twice.map_or(Ok(()), |name| Err(ScorerError::DuplicateMetric { name: name.to_owned() }))
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
