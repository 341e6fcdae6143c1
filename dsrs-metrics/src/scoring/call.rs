//! One call of one metric: its maximum cost, its actual cost, and its outcome.
//!
//! Whether a call is made is decided in `flow.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::Either;

use super::budget::Reservation;
use super::error::ScorerError;
use super::normalization::Normalization;
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

type CallAnswer = Result<Result<Scored, MetricError>, Panic>;

/// A metric with those of its properties that every row needs.
pub(super) struct Entry<G, P> {
    pub(super) name: String,
    pub(super) normalization: Normalization,
    /// The declared maximum cost of one call, in millisatoshis: of a judge, that of its whole panel with all repairs.
    pub(super) declared_cost: u64,
    /// The declared cost, raised to the highest cost observed once a call exceeds it.
    max_cost: AtomicU64,
    metric: BoxedMetric<G, P>,
    key: Option<Key>,
}

/// The result of one call.
pub(super) struct CallResult {
    pub(super) outcome: Outcome,
    pub(super) spending: Spending,
}

impl<G: Sync, P: Sync> Entry<G, P> {
    pub(super) fn new(metric: BoxedMetric<G, P>) -> Result<Self, ScorerError> {
        let spec = metric.spec();
        let name = metric.name().to_owned();
        let normalization = Normalization::of(&spec)?;
        let declared_cost = spec.cost_msats.max(metric.cost_estimate());
        let key = Metric::<G, P>::key(&metric);
        let max_cost = AtomicU64::new(declared_cost);
        Ok(Self { name, normalization, declared_cost, max_cost, metric, key })
    }

    /// Returns the amount to reserve for one call, in millisatoshis.
    pub(super) fn max_cost(&self) -> u64 {
        self.max_cost.load(Ordering::Relaxed)
    }

    /// Calls the metric with the reservation of the call.
    pub(super) fn call<'a>(
        &'a self,
        call: MetricCall<'a, G, P>,
        reservation: Reservation<'a>,
    ) -> Either<CallResult, impl Future<Output = CallResult> + Send + 'a> {
        let answer = panic::catch(false, || memo::answer(&*self.metric, self.key.as_ref(), call));
        match answer {
            Ok(Answer::Ready(answer)) => Either::Left(self.settle(Ok(answer), reservation)),
            Err(panic) => Either::Left(self.settle(Err(panic), reservation)),
            Ok(Answer::Pending(future)) => Either::Right(async move {
                self.settle(panic::catch_async(false, future).await, reservation)
            }),
        }
    }

    fn settle(&self, answer: CallAnswer, reservation: Reservation<'_>) -> CallResult {
        let (reserved, limited) = (reservation.msats(), reservation.is_limited());
        let cost = match &answer {
            Ok(Ok(scored)) => scored.score.cost_msats,
            Ok(Err(error)) => error.cost_msats(),
            // The cost of a call that panicked is unknown.
            Err(_) => 0,
        };
        self.max_cost.fetch_max(cost, Ordering::Relaxed);
        reservation.settle(cost);
        let spending = Spending::of_call(reserved, cost, limited);
        CallResult { outcome: self.outcome(answer), spending }
    }

    fn outcome(&self, answer: CallAnswer) -> Outcome {
        let metric = self.name.clone();
        let error = match answer {
            // A hand-written metric may have changed the score after it was validated.
            Ok(Ok(scored)) if !self.normalization.range.contains(scored.score.value) => {
                let value = scored.score.value;
                let kind = MetricErrorKind::OutOfRange { value, range: self.normalization.range };
                MetricError::new(metric, kind).with_cost_msats(scored.score.cost_msats)
            }
            Ok(answer) => return Outcome::from(answer),
            Err(panic) => MetricError::panicked(metric, panic.message),
        };
        Outcome::MetricFailed { error }
    }
}
