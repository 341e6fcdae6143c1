//! A set of metrics by tier.

use std::fmt;
use std::sync::Arc;

use derive_where::derive_where;

use super::row::ScorerError;
use crate::contract::{Example, Metric, MetricTier, Prediction};

/// A reference-counted metric that scorers can share.
pub type BoxedMetric<G = Example, P = Prediction> = Arc<dyn Metric<G, P>>;

/// A set of metrics in two tiers.
///
/// Proxies run first. Truth metrics run only on rows whose proxies pass.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::scoring::MetricSet;
///
/// let short = metric_fn("short", |_, pred| pred.data.len() < 3);
/// let correct = metric_fn("correct", |gold, pred| gold.get("answer") == pred.get("answer"));
///
/// let mut set: MetricSet = MetricSet::new();
/// set.add(correct.with_tier(MetricTier::Truth));
/// set.add(short);
/// let names: Vec<_> = set.all().map(|metric| metric.name()).collect();
/// assert_eq!(names, ["short", "correct"]);
/// ```
#[derive_where(Clone, Default)]
pub struct MetricSet<G = Example, P = Prediction> {
    /// Proxies first.
    all: Vec<BoxedMetric<G, P>>,
    proxies: usize,
}

impl<G: Sync, P: Sync> MetricSet<G, P> {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self {
            all: Vec::new(),
            proxies: 0,
        }
    }

    /// Adds a metric to the tier that its spec declares.
    pub fn add(&mut self, metric: impl Metric<G, P> + 'static) {
        self.insert(Arc::new(metric));
    }

    /// Returns the proxy metrics, in the order they were added.
    pub fn proxy(&self) -> &[BoxedMetric<G, P>] {
        &self.all[..self.proxies]
    }

    /// Returns the truth metrics, in the order they were added.
    pub fn truth(&self) -> &[BoxedMetric<G, P>] {
        &self.all[self.proxies..]
    }

    /// Returns an iterator over all metrics in the order they run, proxies first.
    pub fn all(&self) -> impl Iterator<Item = &BoxedMetric<G, P>> {
        self.all.iter()
    }

    /// Returns the number of metrics.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn insert(&mut self, metric: BoxedMetric<G, P>) {
        match metric.spec().tier {
            MetricTier::Proxy => {
                self.all.insert(self.proxies, metric);
                self.proxies += 1;
            }
            MetricTier::Truth => self.all.push(metric),
        }
    }

    pub(super) fn insert_as(
        &mut self,
        expected: MetricTier,
        metric: BoxedMetric<G, P>,
    ) -> Result<(), ScorerError> {
        let tier = metric.spec().tier;
        if tier != expected {
            let (found, expected) = match tier {
                MetricTier::Proxy => ("proxy", "truth"),
                MetricTier::Truth => ("truth", "proxy"),
            };
            let metric = metric.name();
            return Err(ScorerError::setup(format!(
                "expected a {expected} metric, found the {found} metric `{metric}`; add it as a {found} metric"
            )));
        }
        self.insert(metric);
        Ok(())
    }
}

impl<G: Sync, P: Sync> fmt::Debug for MetricSet<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |metrics: &[BoxedMetric<G, P>]| -> Vec<String> {
            metrics
                .iter()
                .map(|metric| metric.name().to_owned())
                .collect()
        };
        f.debug_struct("MetricSet")
            .field("proxy", &names(self.proxy()))
            .field("truth", &names(self.truth()))
            .finish()
    }
}
