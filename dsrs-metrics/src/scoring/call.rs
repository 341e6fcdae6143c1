//! One call of one metric: what it may cost, what it cost, and what became of it.
//!
//! Whether it is made at all is decided in `flow.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

use super::budget::Reservation;
use super::error::ScorerError;
use super::scale::Scale;
use super::set::BoxedMetric;
use super::spending::Spending;
use crate::core::dedup::key::Identity;
use crate::core::dedup::memo;
use crate::core::error::MetricError;
use crate::core::metric::{Metric, MetricCall};
use crate::core::outcome::Outcome;
use crate::core::panic::{self, Panic};
use crate::core::score::Scored;

type Answer = Result<Result<Scored, MetricError>, Panic>;

/// A metric with what is asked of it row by row.
pub(super) struct Entry<G, P> {
    pub(super) name: String,
    pub(super) scale: Scale,
    /// What one call costs at most, as declared.
    pub(super) declared: u64,
    /// The same, or the most that one has cost: a metric that broke its word is not believed again.
    worst: AtomicU64,
    metric: BoxedMetric<G, P>,
    identity: Option<Identity>,
}

/// What became of one call.
pub(super) struct Called {
    pub(super) outcome: Outcome,
    pub(super) spending: Spending,
}

impl<G: Sync, P: Sync> Entry<G, P> {
    pub(super) fn new(metric: BoxedMetric<G, P>) -> Result<Self, ScorerError> {
        let spec = metric.spec();
        let (name, scale) = (metric.name().to_owned(), Scale::of(&spec)?);
        let declared = spec.cost_msats.max(metric.cost_estimate());
        let identity = Metric::<G, P>::identity(&metric);
        Ok(Self { name, scale, declared, worst: AtomicU64::new(declared), metric, identity })
    }

    /// What has to be set aside for one call.
    pub(super) fn worst(&self) -> u64 {
        self.worst.load(Ordering::Relaxed)
    }

    /// Calls a metric that need not be awaited; gives the money back to be used for
    /// [`later`](Self::later) if it must.
    pub(super) fn now<'b>(
        &self,
        call: MetricCall<'_, G, P>,
        money: Reservation<'b>,
    ) -> Result<Called, Reservation<'b>> {
        match panic::catch(false, || memo::call_now(&*self.metric, self.identity.as_ref(), call))
            .transpose()
        {
            Some(answer) => Ok(self.settle(answer, money)),
            None => Err(money),
        }
    }

    /// Calls a metric and waits for it.
    pub(super) async fn later(&self, call: MetricCall<'_, G, P>, money: Reservation<'_>) -> Called {
        // The call stands in an async block because it may panic before its first await.
        let answer = panic::catch_async(false, async {
            memo::call(&*self.metric, self.identity.as_ref(), call).await
        })
        .await;
        self.settle(answer, money)
    }

    fn settle(&self, answer: Answer, money: Reservation<'_>) -> Called {
        let (reserved, limited) = (money.msats(), money.is_limited());
        let cost = match &answer {
            Ok(Ok(scored)) => scored.score.cost_msats,
            Ok(Err(error)) => error.cost_msats(),
            // Whoever panics tells no cost.
            Err(_) => 0,
        };
        self.worst.fetch_max(cost, Ordering::Relaxed);
        money.settle(cost);
        let spending = Spending::of_call(reserved, cost, limited);
        Called { outcome: self.outcome(answer), spending }
    }

    fn outcome(&self, answer: Answer) -> Outcome {
        let metric = self.name.clone();
        let error = match answer {
            // A metric written by hand may have changed the score after it was checked.
            Ok(Ok(scored)) if !self.scale.range.contains(scored.score.value) => {
                let value = scored.score.value;
                let error = MetricError::OutOfRange { metric, value, range: self.scale.range };
                error.with_cost_msats(scored.score.cost_msats)
            }
            Ok(answer) => return Outcome::from(answer),
            Err(panic) => MetricError::Panicked { metric, message: panic.message },
        };
        Outcome::MetricFailed { error }
    }
}
