//! Scores rows in two tiers, with rollouts and a budget.
//!
//! Proxy metrics run first. Truth metrics then run on the rows where the proxies pass.
//!
//! `Scorer` builds on [`Evaluate`]. The evaluation behind a scorer has the metrics of both tiers.
//!
//! - `combine.rs` computes a row's score from its outcomes.
//! - `gate.rs` decides which rollouts pass.
//! - `row.rs` ranks rows.
//!
//! Workers, budget, store and result files are in `evaluate/`.

mod builder;
mod combine;
mod gate;
mod row;
mod run;
mod summary;

use std::sync::Arc;
use std::{fmt, slice};

use derive_where::derive_where;

pub use self::builder::ScorerBuilder;
pub use self::combine::{AggregationError, AggregationMethod, ScoringConfig};
pub use self::row::{FinalScore, Rank, Rollout, RowScore, RowStatus, ScorerError};
pub use self::run::{Rollouts, ScoringResult};
pub use self::summary::ScoringSummary;
pub use crate::composite::OnMissing;

use self::gate::Tiers;
use crate::contract::declared::requirements;
use crate::contract::{Example, Metric, MetricTier, Prediction};
use crate::evaluate::{self, BudgetReport, Evaluate, Gate};

/// A scorer that runs cheap proxy metrics before expensive truth metrics.
///
/// The truth metrics run only if the proxies reach a threshold.
///
/// 1. The proxies run on the row first. Each value is normalized to [0, 1], where 1 is best, using the metric's
///    declared range and direction. Every metric therefore needs a range; a `bool` always has one. The row's proxy
///    score is the mean of these values.
/// 2. If the proxy score reaches the threshold, the truth metrics run concurrently, and their mean is the row's score.
///    Otherwise, the truth metrics are [`Gated`](dsrs_metrics_core::Outcome::Gated) and cost nothing. A gated row
///    [ranks](Rank) below every row that passed.
/// 3. If there are several rollouts, each rollout is scored in this way. The [`AggregationMethod`] combines their
///    scores. A gated rollout counts as 0.
///
/// A metric that fails, abstains or panics never counts as a pass. See [`OnMissing`].
///
/// If you set a budget, the worst-case cost of a tier's calls is reserved before the first call. A call that could
/// exceed the budget is never started.
///
/// Each finished call counts at its actual cost, or at the declared cost if the actual cost is unknown. All clones of
/// the scorer share the budget.
///
/// The worst-case cost of a judge is the declared cost of one verdict from each model on its panel, plus the same
/// amount for repairing invalid replies. If the provider charges for retries, the declared cost must include them.
///
/// Rows that the budget does not cover are [`Skipped`](dsrs_metrics_core::Outcome::Skipped) as a whole, so no score is
/// based on only some of the metrics.
///
/// A metric must not wait for a scorer that contains this metric. This could deadlock, because the scorer may be
/// waiting for the metric's reservation.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::scoring::{AggregationMethod, RowStatus, ScorerBuilder};
///
/// /// The answer has 1 to 20 characters.
/// #[metric]
/// fn format(#[pred] answer: &str) -> bool {
///     (1..=20).contains(&answer.chars().count())
/// }
///
/// /// A stand-in for a judge with a cost.
/// #[metric(tier = truth, cost = "100 msat")]
/// fn correct(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
///     answer.eq_ignore_ascii_case(guess)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::scoring::ScorerError> {
/// let scorer = ScorerBuilder::new()
///     .proxy(Format)
///     .truth(Correct)
///     .threshold(0.5)
///     .num_rollouts(3)
///     .aggregation(AggregationMethod::Median)
///     .budget_msats(250)
///     .build()?;
///
/// let gold = example! { "answer" => "Paris" };
/// let rollouts = ["paris", "", "Lyon"].map(|answer| prediction! { "answer" => answer });
/// let row = scorer.score_rollouts(&gold, &rollouts).await;
/// assert_eq!(row.score(), Some(0.0), "the median of 1, 0 (gated) and 0");
/// assert_eq!((row.gated(), row.spending.saved_msats, row.spending.spent_msats), (1, 100, 200));
///
/// // 50 msat are left.
/// let row = scorer.score_row(&gold, &prediction! { "answer" => "Paris" }).await;
/// assert_eq!(row.status, RowStatus::Skipped { budget: 250 });
/// # Ok(())
/// # }
/// ```
#[derive_where(Clone)]
pub struct Scorer<G = Example, P = Prediction> {
    inner: Arc<Inner<G, P>>,
}

/// The state shared by all clones of a scorer.
struct Inner<G, P> {
    set: MetricSet<G, P>,
    tiers: Arc<Tiers>,
    gate: Arc<Gate>,
    /// Evaluates the metrics under the gate.
    evaluate: Evaluate<G, P>,
}

impl Scorer {
    /// Returns a builder for a scorer over dynamic rows.
    ///
    /// For rows of your own type, see [`ScorerBuilder::typed`].
    pub fn builder() -> ScorerBuilder {
        ScorerBuilder::new()
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Scorer<G, P> {
    /// Checks that the metrics' language models reply, by making one small call to each.
    ///
    /// The check verifies the API key, the host and the model name.
    ///
    /// [`score_all`](Self::score_all) makes the same check before its first row. Call `probe` yourself before you score
    /// rows one by one.
    ///
    /// The models' ledgers record the cost of these calls. The calls do not count towards the metrics' budget.
    ///
    /// # Errors
    /// Returns [`ScorerError::Run`] if a model does not reply. The error names the metric and the setting to correct.
    pub async fn probe(&self) -> Result<(), ScorerError> {
        let required = evaluate::requirements(&self.inner.evaluate.plan.metrics);
        Ok(requirements::probe(required).await?)
    }

    /// Scores one prediction as the only rollout of its row.
    ///
    /// The setting [`num_rollouts`](ScoringConfig::num_rollouts) is ignored. To run a program several times, use
    /// [`run`](Self::run).
    ///
    /// ```
    /// use dsrs_metrics::judge::Models;
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{contract::Settings, scoring::{AggregationMethod, RowStatus, ScorerBuilder}};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::scoring::ScorerError> {
    /// let scorer = ScorerBuilder::new()
    ///     .with_default_proxy_metrics()
    ///     .with_default_truth_metrics()
    ///     .threshold(0.5)
    ///     .num_rollouts(3)
    ///     .aggregation(AggregationMethod::Median)
    ///     .build()?;
    /// let input = example! { "question" => "Capital of France?", "answer" => "Paris" };
    ///
    /// // No model for the judge: token overlap takes its place, as every output states.
    /// let offline = Settings::new().with(Models::offline());
    /// let good = prediction! { "answer" => "Paris" };
    /// let score = offline.clone().scope(scorer.score(&input, &good)).await?;
    /// assert_eq!((score.value, score.row.is_judged_offline()), (1.0, true));
    ///
    /// let score = offline.scope(scorer.score(&input, &prediction! { "answer" => ")" })).await?;
    /// assert_eq!(score.row.status, RowStatus::Scored { score: 0.0 }, "two of three proxies pass");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`ScorerError::NoScore`] with the row if a metric failed or the budget does not cover the row.
    ///
    /// A row that the proxies rejected is not an error, and its value is 0. See [`FinalScore`].
    pub async fn score(&self, gold: &G, pred: &P) -> Result<FinalScore, ScorerError> {
        self.score_row(gold, pred).await.into_score()
    }

    /// Scores one prediction and returns the row, even if it has no score.
    ///
    /// This is like [`score`](Self::score), but a row without a score is not an error. The row's
    /// [status](RowScore::status) says why it has no score.
    pub async fn score_row(&self, gold: &G, pred: &P) -> RowScore {
        RowScore {
            expected: 1,
            ..self.score_rollouts(gold, slice::from_ref(pred)).await
        }
    }

    /// Scores all rollouts of one row and aggregates their scores.
    ///
    /// A row without a score is not an error.
    pub async fn score_rollouts(&self, gold: &G, preds: &[P]) -> RowScore {
        let plan = &self.inner.evaluate.plan;
        self.inner.row(plan.score_row(gold, preds).await)
    }
}

impl<G, P> Scorer<G, P> {
    /// Returns the scorer's metrics by tier.
    pub fn metrics(&self) -> &MetricSet<G, P> {
        &self.inner.set
    }

    /// Returns the configuration of the scorer.
    pub fn config(&self) -> &ScoringConfig {
        &self.inner.tiers.config
    }

    /// Returns the state of the budget.
    ///
    /// All clones of the scorer share the budget.
    pub fn budget(&self) -> BudgetReport {
        self.inner.gate.budget()
    }
}

impl<G: Sync, P: Sync> fmt::Debug for Scorer<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scorer")
            .field("metrics", &self.inner.set)
            .field("config", &self.inner.tiers.config)
            .finish_non_exhaustive()
    }
}

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
    /// All metrics, proxies first.
    all: Vec<BoxedMetric<G, P>>,
}

impl<G: Sync, P: Sync> MetricSet<G, P> {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self { all: Vec::new() }
    }

    /// Adds a metric to the tier that its spec declares.
    pub fn add(&mut self, metric: impl Metric<G, P> + 'static) {
        self.insert(Arc::new(metric));
    }

    /// Returns the proxy metrics, in the order they were added.
    pub fn proxy(&self) -> &[BoxedMetric<G, P>] {
        &self.all[..self.proxies()]
    }

    /// Returns the truth metrics, in the order they were added.
    pub fn truth(&self) -> &[BoxedMetric<G, P>] {
        &self.all[self.proxies()..]
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

    fn proxies(&self) -> usize {
        self.all
            .partition_point(|metric| metric.spec().tier == MetricTier::Proxy)
    }

    pub(super) fn insert(&mut self, metric: BoxedMetric<G, P>) {
        let at = match metric.spec().tier {
            MetricTier::Proxy => self.proxies(),
            MetricTier::Truth => self.all.len(),
        };
        self.all.insert(at, metric);
    }
}

impl<G: Sync, P: Sync> fmt::Debug for MetricSet<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |metrics: &[BoxedMetric<G, P>]| {
            Vec::from_iter(metrics.iter().map(|metric| metric.name().to_owned()))
        };
        f.debug_struct("MetricSet")
            .field("proxy", &names(self.proxy()))
            .field("truth", &names(self.truth()))
            .finish()
    }
}
