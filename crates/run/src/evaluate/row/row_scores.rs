//! Evaluates the metrics on one prediction, whether they answer immediately or are awaited.
//!
//! The prediction comes from `rollouts.rs`.

use std::ops::Range;

use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::time::Instant;

use super::RolloutOutcomes;
use super::gate::Charge;
use super::metric_entry::MetricEntry;
use super::plan::{Attempt, Failure, Plan, is_conclusive};
use super::rollouts::Rollout;
use crate::contract::{
    Answer, Metric, MetricCall, MetricError, MetricErrorKind, Origin, Outcome, RowAnswer, panic,
};
use crate::evaluate::error::EvaluateError;

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    /// Scores a row with a prediction, without awaiting anything. Returns `None` if a metric has to wait after all.
    pub(crate) fn score_now(&self, call: MetricCall<'_, G, P>) -> Option<RolloutOutcomes> {
        let sharing = self.sharing.as_ref();
        let memo = sharing.map(|sharing| sharing.memo(call.address()));
        let call = call.with_memo(memo.as_ref());
        let (mut outcomes, mut tracebacks) = (Vec::with_capacity(self.cheap), Vec::new());
        for entry in &self.metrics[..self.cheap] {
            let attempt = match panic::catch(self.options.traceback, || entry.answer(call)) {
                Ok(Answer::Ready(result)) => Ok(result),
                // The metric's spec is wrong. Nothing has happened, because the future was not polled.
                Ok(Answer::Pending(_)) => return None,
                Err(panic) => Err(Failure::Panicked(panic)),
            };
            let (outcome, traceback) = self.outcome(entry, attempt);
            tracebacks.extend(traceback);
            outcomes.push(outcome);
        }
        Some((outcomes, joined(&tracebacks)))
    }

    /// Evaluates the metrics in a range concurrently. Each call is settled with the next charge, if there is one.
    pub(super) async fn score_metrics<'a>(
        &'a self,
        rollout: &'a Rollout<'a, G, P>,
        deadline: Option<Instant>,
        metrics: Range<usize>,
        charges: Vec<Charge<'a>>,
    ) -> RolloutOutcomes {
        let mut charges = charges.into_iter();
        let calls = metrics.map(|position| {
            let is_new = !rollout.known.contains_key(&position);
            let charge = is_new.then(|| charges.next()).flatten();
            self.score_metric(rollout, position, deadline, charge)
        });
        let (outcomes, tracebacks): (_, Vec<_>) = join_all(calls).await.into_iter().unzip();
        (
            outcomes,
            joined(&Vec::from_iter(tracebacks.into_iter().flatten())),
        )
    }

    /// Evaluates one metric, then settles and keeps the call, unless its outcome is stored. Returns its outcome, and the
    /// backtrace of a panic.
    pub(super) async fn score_metric(
        &self,
        rollout: &Rollout<'_, G, P>,
        position: usize,
        deadline: Option<Instant>,
        charge: Option<Charge<'_>>,
    ) -> (Outcome, Option<String>) {
        if let Some(outcome) = rollout.known.get(&position) {
            return (outcome.clone(), None);
        }
        let entry = &self.metrics[position];
        let start = |is_first| {
            // Without the memo, because a second attempt must not wait for the first one's answer.
            let memo = rollout.memo.as_ref().filter(|_| is_first);
            entry.answer(rollout.call.with_memo(memo)).resolved()
        };
        let attempt = self.options.attempt(start, is_conclusive, deadline).await;
        if let Some(charge) = charge {
            charge.settle(cost_of(&attempt));
        }
        let (outcome, traceback) = self.outcome(entry, attempt);
        if let Some((kept, keys)) = &rollout.kept {
            kept.keep(keys.get(&position), &outcome);
        }
        (outcome, traceback)
    }

    /// Returns the outcome of a call, and the backtrace of a panic.
    fn outcome(
        &self,
        entry: &MetricEntry<'_, G, P>,
        attempt: Attempt<Result<RowAnswer, MetricError>>,
    ) -> (Outcome, Option<String>) {
        let metric = || entry.name.clone();
        let failed = |error| Outcome::MetricFailed { error };
        match attempt {
            Ok(Ok(RowAnswer::Scored(scored)))
                if self.gate.is_some() && !entry.is_in_range(&scored) =>
            {
                (failed(entry.out_of_range(&scored)), None)
            }
            Ok(result) => (Outcome::from(result), None),
            Err(Failure::Panicked(panic)) => (
                failed(MetricError::panicked(metric(), panic.message)),
                panic.traceback,
            ),
            Err(Failure::TimedOut) => {
                let seconds = self.options.timeout.unwrap_or_default().as_secs_f64();
                let kind = MetricErrorKind::TimedOut { seconds };
                (failed(MetricError::new(metric(), kind)), None)
            }
        }
    }
}

/// Returns the cost of a call, in millisatoshis. The cost of a call that panicked is unknown, and counts as 0.
fn cost_of(attempt: &Attempt<Result<RowAnswer, MetricError>>) -> u64 {
    match attempt {
        Ok(Ok(answer)) => answer.cost_msats(),
        Ok(Err(error)) => error.cost_msats(),
        Err(_) => 0,
    }
}

fn joined(tracebacks: &[String]) -> Option<String> {
    (!tracebacks.is_empty()).then(|| tracebacks.join("\n"))
}

impl<G: Sync, P: Sync> Plan<'_, G, P> {
    /// Returns why a metric cannot read a row of a file, if that must end the run.
    pub(crate) fn unreadable(
        &self,
        gold: &G,
        pred: &P,
        at: Option<&Origin>,
    ) -> Option<EvaluateError> {
        let at = at.filter(|_| self.options.rejects_unreadable)?;
        self.metrics.iter().find_map(|entry| {
            // Reading a field may run the metric author's code.
            let error = panic::catch(false, || read_error(entry.metric(), gold, pred));
            let panicked = |panic: panic::Panic| {
                Some(MetricError::panicked(entry.name.clone(), panic.message))
            };
            let error = error.unwrap_or_else(panicked)?;
            Some(EvaluateError::unreadable(at, &error))
        })
    }
}

/// Returns why the metric cannot read the row. Returns `None` if the metric can read it, or if it reads NaN, which
/// fails only the row.
fn read_error<G: Sync, P: Sync>(
    metric: &dyn Metric<G, P>,
    gold: &G,
    pred: &P,
) -> Option<MetricError> {
    if metric.can_evaluate(gold, pred) {
        return None;
    }
    // `can_evaluate` gives no reason. A call does, before it awaits anything.
    let call = MetricCall::new(gold, pred);
    let answer = metric.answer(call).into_future().now_or_never();
    let error = answer.and_then(Result::err);
    if error.as_ref().is_some_and(MetricError::is_not_finite) {
        return None;
    }
    Some(error.unwrap_or_else(|| MetricError::failed(metric.name(), "it cannot evaluate this row")))
}
