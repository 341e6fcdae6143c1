//! One call of one metric: what it may cost, what it cost, and what became of it.
//!
//! Whether it is made at all is decided in `flow.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::Either;

use super::budget::Reservation;
use super::error::ScorerError;
use super::scale::Scale;
use super::set::BoxedMetric;
use super::spending::Spending;
use crate::core::answer::Answer;
use crate::core::call::MetricCall;
use crate::core::dedup::key::Key;
use crate::core::dedup::memo;
use crate::core::error::{MetricError, MetricErrorKind};
use crate::core::metric::Metric;
use crate::core::outcome::Outcome;
use crate::core::panic::{self, Panic};
use crate::core::score::Scored;

type Settled = Result<Result<Scored, MetricError>, Panic>;

/// A metric with what is asked of it row by row.
pub(super) struct Entry<G, P> {
    pub(super) name: String,
    pub(super) scale: Scale,
    /// What one call costs at most, as declared.
    pub(super) declared: u64,
    /// The same, or the most that one has cost: a metric that broke its word is not believed again.
    worst: AtomicU64,
    metric: BoxedMetric<G, P>,
    key: Option<Key>,
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
        let key = Metric::<G, P>::key(&metric);
        Ok(Self { name, scale, declared, worst: AtomicU64::new(declared), metric, key })
    }

    /// What has to be set aside for one call.
    pub(super) fn worst(&self) -> u64 {
        self.worst.load(Ordering::Relaxed)
    }

    /// Calls the metric with the money that is reserved for the call.
    pub(super) fn call<'a>(
        &'a self,
        call: MetricCall<'a, G, P>,
        money: Reservation<'a>,
    ) -> Either<Called, impl Future<Output = Called> + Send + 'a> {
        let answer = panic::catch(false, || memo::answer(&*self.metric, self.key.as_ref(), call));
        match answer {
            Ok(Answer::Ready(answer)) => Either::Left(self.settle(Ok(answer), money)),
            Err(panic) => Either::Left(self.settle(Err(panic), money)),
            Ok(Answer::Pending(future)) => {
                Either::Right(
                    async move { self.settle(panic::catch_async(false, future).await, money) },
                )
            }
        }
    }

    fn settle(&self, answer: Settled, money: Reservation<'_>) -> Called {
        let (reserved, limited) = (money.msats(), money.is_limited());
        let cost = match &answer {
            Ok(Ok(scored)) => scored.score.cost_msats,
            Ok(Err(error)) => error.cost_msats(),
            // The cost of a call that panicked is unknown.
            Err(_) => 0,
        };
        self.worst.fetch_max(cost, Ordering::Relaxed);
        money.settle(cost);
        let spending = Spending::of_call(reserved, cost, limited);
        Called { outcome: self.outcome(answer), spending }
    }

    fn outcome(&self, answer: Settled) -> Outcome {
        let metric = self.name.clone();
        let error = match answer {
            // A metric written by hand may have changed the score after it was checked.
            Ok(Ok(scored)) if !self.scale.range.contains(scored.score.value) => {
                let value = scored.score.value;
                let kind = MetricErrorKind::OutOfRange { value, range: self.scale.range };
                MetricError::new(metric, kind).with_cost_msats(scored.score.cost_msats)
            }
            Ok(answer) => return Outcome::from(answer),
            Err(panic) => MetricError::panicked(metric, panic.message),
        };
        Outcome::MetricFailed { error }
    }
}
