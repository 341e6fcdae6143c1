//! Proxy first, truth if it passes: metrics by tier, the gate, rollouts, the budget.
//!
//! What a metric is stands in the contract; running programs and writing files is `evaluate/`.

mod aggregate;
mod budget;
mod builder;
mod call;
mod error;
mod flow;
mod gate;
mod row;
mod run;
mod scale;
mod set;
mod spending;
mod standing;
mod summary;

use std::fmt;
use std::slice;
use std::sync::Arc;

pub use self::aggregate::{AggregationError, AggregationMethod};
pub use self::budget::BudgetReport;
pub use self::builder::{ScorerBuilder, ScoringConfig};
pub use self::error::ScorerError;
pub use self::row::{Rollout, RowScore};
pub use self::run::{Rollouts, ScoringResult};
pub use self::set::{BoxedMetric, MetricSet};
pub use self::spending::Spending;
pub use self::standing::{Rank, Standing};
pub use self::summary::ScoringSummary;
pub use crate::composite::OnMissing;

use self::budget::Ledger;
use self::call::Entry;
use crate::core::dedup::memo::Sharing;
use crate::core::metric::Metric;
use crate::core::requirements;
use crate::core::rows::dynamic::{Example, Prediction};

/// Scores rows with cheap proxy metrics first, and with expensive truth metrics only where the
/// proxies reach a threshold.
///
/// 1. The proxies of a row run: synchronous ones as plain calls, the others side by side. Each value
///    is brought to [0, 1], where 1 is best, by the metric's declared range and direction; so every
///    metric needs a range (a `bool` has one). The row's proxy score is their mean.
/// 2. If it reaches the threshold, the truth metrics run side by side, and their mean is the row's
///    score; if not, they are [`Gated`](crate::Outcome::Gated) and cost nothing. A gated row
///    [ranks](Rank) below every row that passed.
/// 3. With several rollouts this happens to each, and the
///    [`AggregationMethod`] makes one score of theirs, in which a gated rollout counts as 0.
///
/// A metric that fails, abstains or panics never counts as a pass; see [`OnMissing`].
///
/// With a budget, the worst case of all calls of a tier is set aside before the first of them, and
/// settled when each has said what it cost. The budget is shared by all clones and all calls, and no
/// call is started that could exceed it. Rows that it does not cover are
/// [`Skipped`](crate::Outcome::Skipped), whole: no score rests on some of its metrics. A metric must
/// not wait for a scorer that it is part of, since that may be waiting for the metric's money.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{AggregationMethod, ScorerBuilder, Standing};
///
/// /// Whether there is an answer of at most 20 characters.
/// #[metric]
/// fn format(#[pred] answer: &str) -> bool {
///     (1..=20).contains(&answer.chars().count())
/// }
///
/// /// Stands for a judge that costs something.
/// #[metric(tier = truth, cost = "100 msat")]
/// fn correct(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
///     answer.eq_ignore_ascii_case(guess)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::ScorerError> {
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
/// let row = scorer.score(&gold, &prediction! { "answer" => "Paris" }).await;
/// assert_eq!(row.standing, Standing::Skipped { budget: 250 });
/// # Ok(())
/// # }
/// ```
pub struct Scorer<G = Example, P = Prediction> {
    inner: Arc<Inner<G, P>>,
}

/// What all clones of a scorer share.
struct Inner<G, P> {
    set: MetricSet<G, P>,
    proxies: Vec<Entry<G, P>>,
    truth: Vec<Entry<G, P>>,
    config: ScoringConfig,
    ledger: Ledger,
    /// What several metrics have in common.
    sharing: Option<Sharing>,
}

impl Scorer {
    /// Sets up a scorer over dynamic rows; [`ScorerBuilder::typed`] does over others.
    pub fn builder() -> ScorerBuilder {
        ScorerBuilder::new()
    }
}

impl<G: Send + Sync, P: Send + Sync> Scorer<G, P> {
    /// Finds out whether the language models that the metrics ask answer at all, with one small call to each:
    /// whether there is a key, a host, a model of this name. [`score_all`](Self::score_all) does so before its first row; before
    /// rows that are scored one by one it is for you to do. What it costs is in the models' own ledgers, not in the budget, which
    /// holds what metrics cost.
    ///
    /// # Errors
    /// [`ScorerError::NotReady`], which names the metric and says what to set.
    pub async fn probe(&self) -> Result<(), ScorerError> {
        let mut required = Vec::new();
        let metrics = self.inner.set.all();
        metrics.for_each(|metric| Metric::<G, P>::requirements(metric, &mut required));
        Ok(requirements::probe(required).await?)
    }

    /// Scores a row with one rollout. A row without a score is no error: its
    /// [standing](RowScore::standing) says why there is none.
    pub async fn score(&self, gold: &G, pred: &P) -> RowScore {
        self.inner.score(gold, slice::from_ref(pred)).await
    }

    /// Scores all rollouts of one row and makes one score of theirs.
    pub async fn score_rollouts(&self, gold: &G, preds: &[P]) -> RowScore {
        self.inner.score(gold, preds).await
    }
}

impl<G, P> Scorer<G, P> {
    /// The metrics, by tier.
    #[must_use]
    pub fn metrics(&self) -> &MetricSet<G, P> {
        &self.inner.set
    }

    /// How rows are scored.
    #[must_use]
    pub fn config(&self) -> &ScoringConfig {
        &self.inner.config
    }

    /// What became of the money so far, over all clones.
    #[must_use]
    pub fn budget(&self) -> BudgetReport {
        self.inner.ledger.report()
    }
}

/// A clone shares the budget.
impl<G, P> Clone for Scorer<G, P> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<G: Sync, P: Sync> fmt::Debug for Scorer<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scorer")
            .field("metrics", &self.inner.set)
            .field("config", &self.inner.config)
            .finish_non_exhaustive()
    }
}
