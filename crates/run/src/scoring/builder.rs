//! The builder of [`Scorer`], and how its setup is validated.

use std::sync::Arc;

use super::combine::{AggregationMethod, ScoringConfig};
use super::gate::{Entry, Tiers};
use super::row::ScorerError;
use super::{BoxedMetric, Inner, MetricSet, Scorer};
use crate::composite::OnMissing;
use crate::contract::metric::batching;
use crate::contract::{Example, Metric, MetricTier, Outcome, Prediction};
use crate::evaluate::{Evaluate, EvaluateBuilder, Gate, InputNames};

/// A builder for a [`Scorer`].
#[must_use]
pub struct ScorerBuilder<G = Example, P = Prediction> {
    metrics: Vec<(Option<MetricTier>, BoxedMetric<G, P>)>,
    free: Vec<String>,
    evaluate: EvaluateBuilder<G, P>,
    config: ScoringConfig,
}

/// Settings for rows with dynamic fields.
impl<P: Send + Sync + 'static> ScorerBuilder<Example, P> {
    /// Sets the fields that the program receives from an example.
    ///
    /// This is like [`EvaluateBuilder::inputs`](crate::EvaluateBuilder::inputs). Examples that declare their own fields
    /// with [`with_inputs`](Example::with_inputs) are not affected.
    pub fn inputs<Kind>(mut self, fields: impl InputNames<Kind>) -> Self {
        self.evaluate = self.evaluate.inputs(fields);
        self
    }
}

impl ScorerBuilder {
    /// Creates a builder for a scorer over dynamic rows.
    ///
    /// The builder starts without metrics.
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
    /// Creates a builder for a scorer over rows of any type.
    pub fn typed() -> Self {
        let config = ScoringConfig::default();
        Self {
            metrics: Vec::new(),
            free: Vec::new(),
            evaluate: Evaluate::typed(),
            config,
        }
    }

    /// Changes the settings of the evaluation behind [`Scorer::score_all`] and [`Scorer::run`].
    ///
    /// For example, you can set its store, result files, observers, progress, timeout, groups, and handling of Ctrl-C.
    /// The scorer itself sets the metrics, repeats and concurrency, and keeps all results.
    ///
    /// With a [store](crate::ModelSettings::store), a run pays for each outcome only once.
    ///
    /// Amounts that a killed run paid count towards the budget, including the cost of calls that were in progress.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{rows::Pair, scoring::ScorerBuilder};
    ///
    /// /// A stand-in for a judge with a cost.
    /// #[metric(tier = truth, cost = "100 msat")]
    /// fn correct(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
    ///     answer == guess
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = std::env::temp_dir().join(format!("dsrs-doc-scorer-{}.jsonl", std::process::id()));
    /// let scorer = ScorerBuilder::new().truth(Correct).evaluate(|run| run.files(|files| files.jsonl(&file)));
    /// let row = Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "4" });
    /// let result = scorer.build()?.score_all([row], 1).await?;
    /// assert_eq!(result.summary.mean, Some(1.0));
    /// assert_eq!(std::fs::read_to_string(&file)?.lines().count(), 1);
    /// # std::fs::remove_file(file)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn evaluate(
        mut self,
        settings: impl FnOnce(EvaluateBuilder<G, P>) -> EvaluateBuilder<G, P>,
    ) -> Self {
        self.evaluate = settings(self.evaluate);
        self
    }

    /// Adds a metric to the tier that its spec declares.
    pub fn metric(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(None, metric)
    }

    /// Adds several metrics, each to the tier that its spec declares.
    pub fn metrics<M: Metric<G, P> + 'static>(self, metrics: impl IntoIterator<Item = M>) -> Self {
        metrics.into_iter().fold(self, Self::metric)
    }

    /// Adds a proxy metric.
    ///
    /// [`build`](Self::build) returns an error if the metric is a truth metric.
    pub fn proxy(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(Some(MetricTier::Proxy), metric)
    }

    /// Adds a truth metric.
    ///
    /// [`build`](Self::build) returns an error if the metric is a proxy metric.
    pub fn truth(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.with(Some(MetricTier::Truth), metric)
    }

    /// Declares that calls to a truth metric are free.
    ///
    /// For example, the metric may run tests locally. If you set a budget, every other truth metric must declare a
    /// cost, because all calls count towards the limit.
    ///
    /// A `#[metric]` function over fields is free unless the function is `async`.
    pub fn free(mut self, truth_metric: impl Into<String>) -> Self {
        self.free.push(truth_metric.into());
        self
    }

    setters! {
        /// Sets the [threshold](ScoringConfig::threshold), in [0, 1].
        pub fn threshold(threshold: f64) => config.threshold = threshold;

        /// Sets [`ScoringConfig::num_rollouts`].
        pub fn num_rollouts(rollouts: usize) => config.num_rollouts = rollouts;

        /// Sets [`ScoringConfig::aggregation`].
        pub fn aggregation(method: AggregationMethod) => config.aggregation = method;

        /// Sets the [`ScoringConfig::budget_msats`], in millisatoshis.
        pub fn budget_msats(budget: u64) => config.budget_msats = Some(budget);

        /// Sets [`ScoringConfig::on_missing`].
        pub fn on_missing(on_missing: OnMissing) => config.on_missing = on_missing;

        /// Replaces the whole [`ScoringConfig`], but keeps the metrics.
        pub fn config(config: ScoringConfig) => config = config;
    }

    /// Validates the setup and builds the scorer.
    ///
    /// # Errors
    /// Returns an error if:
    /// - there is no metric, or two metrics have the same name
    /// - a metric is in the wrong tier or has no range
    /// - the threshold is outside [0, 1], there are no rollouts, or the percentage of a trimmed mean is invalid
    /// - the budget is 0
    /// - a budget is set, and a truth metric that may make calls declares no cost and is not marked as
    ///   [`free`](Self::free)
    pub fn build(self) -> Result<Scorer<G, P>, ScorerError> {
        self.config.check()?;
        let mut set = MetricSet::new();
        for (requested, metric) in &self.metrics {
            let tier = metric.spec().tier;
            if requested.is_some_and(|requested| requested != tier) {
                let (found, expected) = match tier {
                    MetricTier::Proxy => ("proxy", "truth"),
                    MetricTier::Truth => ("truth", "proxy"),
                };
                let metric = metric.name();
                return Err(ScorerError::setup(format!(
                    "expected a {expected} metric, found the {found} metric `{metric}`; add it as a {found} metric"
                )));
            }
            set.insert(Arc::clone(metric));
        }
        let metrics = set.all();
        let metrics = metrics.map(|it| Entry::new(it.name(), &it.spec(), it.cost_estimate()));
        let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
        let proxies = set.proxy().len();
        self.check_costs(set.truth(), &metrics[proxies..])?;
        let (config, evaluate) = (self.config, self.evaluate);
        let tiers = Arc::new(Tiers {
            metrics,
            proxies,
            config: config.clone(),
        });
        let of_gate = Arc::clone(&tiers);
        let rejected_by = move |proxies: &[Outcome]| of_gate.rejected_by(proxies);
        let costs = tiers.metrics.iter().map(|entry| entry.declared_cost);
        let gate = Gate::new(proxies, Box::new(rejected_by), config.budget_msats, costs);
        let gate = Arc::new(gate);
        let rollouts = u32::try_from(config.num_rollouts).unwrap_or(u32::MAX);
        let evaluate = evaluate
            .gated(Arc::clone(&gate), rollouts, set.all())
            .keep_results(true)
            .concurrency(usize::MAX)
            .described("scorer.threshold", config.threshold.to_string())
            .described("scorer.on_missing", format!("{:?}", config.on_missing))
            .described("scorer.aggregation", format!("{:?}", config.aggregation))
            .build()?;
        Ok(Scorer {
            inner: Arc::new(Inner {
                set,
                tiers,
                gate,
                evaluate,
            }),
        })
    }

    fn with(mut self, tier: Option<MetricTier>, metric: impl Metric<G, P> + 'static) -> Self {
        self.metrics
            .push((tier, batching::batched(Arc::new(metric))));
        self
    }

    fn check_costs(
        &self,
        metrics: &[BoxedMetric<G, P>],
        truth: &[Entry],
    ) -> Result<(), ScorerError> {
        let named = |name: &String| truth.iter().any(|entry| entry.name == *name);
        if let Some(name) = self.free.iter().find(|name| !named(name)) {
            return Err(ScorerError::setup(format!(
                "`.free(\"{name}\")` does not name a truth metric of this scorer"
            )));
        }
        // A synchronous function of fields calls no model or service.
        let unpriced = |(metric, entry): &(&BoxedMetric<G, P>, &Entry)| {
            let spec = metric.spec();
            let may_call = spec.is_async || !spec.only_fields;
            may_call && entry.declared_cost == 0 && !self.free.contains(&entry.name)
        };
        match metrics.iter().zip(truth).find(unpriced) {
            Some((_, Entry { name, .. })) if self.config.budget_msats.is_some() => {
                Err(ScorerError::setup(format!(
                    "the truth metric `{name}` declares no cost, so the budget cannot limit it; declare one with \
                     `#[metric(cost = \"100 msat\")]`, or write `.free(\"{name}\")` if it is free"
                )))
            }
            _ => Ok(()),
        }
    }
}

debug_fields!(ScorerBuilder<G, P>: |builder| "config" => builder.config);
