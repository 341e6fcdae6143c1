//! Metrics that wrap another metric: the methods that they forward, pointers to metrics, and batches, which collect the
//! rows of waiting calls. This file also evaluates many pairs, several at once.

use std::any::Any;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt;
use tokio::sync::oneshot;

use crate::dedup::Key;
use crate::metric::{Answer, Metric, MetricCall, ScoredAtOnce};
use crate::panic;
use crate::rows::dynamic::{Example, Prediction, cast};
use crate::score::{MetricError, MetricScore, Result, Scored};

/// How many times a call yields without seeing a new call before it evaluates the batch.
const IDLE_YIELDS: usize = 4;

/// Returns a metric that collects calls into batches.
///
/// If the given metric's [`batch_size`](Metric::batch_size) is at most 1, the metric is returned unchanged.
///
/// Only calls on dynamic rows are collected, because a batch owns copies of its rows.
pub fn batched<G, P>(metric: Arc<dyn Metric<G, P>>) -> Arc<dyn Metric<G, P>>
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    match metric.batch_size() {
        0 | 1 => metric,
        size => Arc::new(Batched {
            metric,
            size,
            open: Mutex::new(Open {
                number: 0,
                calls: Vec::new(),
            }),
        }),
    }
}

/// Returns a copy of a dynamic row, or `None` if the row has another type.
fn copy<T: 'static>(row: &T) -> Option<T> {
    let row: &dyn Any = row;
    let prediction = || cast(&mut row.downcast_ref::<Prediction>().cloned());
    cast(&mut row.downcast_ref::<Example>().cloned()).or_else(prediction)
}

struct Batched<G, P> {
    metric: Arc<dyn Metric<G, P>>,
    size: usize,
    open: Mutex<Open<G, P>>,
}

/// The batch that is being collected.
struct Open<G, P> {
    /// The number of earlier batches.
    number: u64,
    calls: Vec<Waiting<G, P>>,
}

/// A call: copies of its rows, and where to send its score.
type Waiting<G, P> = ((G, P), oneshot::Sender<Result<MetricScore>>);

impl<G, P> Open<G, P> {
    /// Takes the calls that were not cancelled, and opens the next batch.
    fn take(&mut self) -> Vec<Waiting<G, P>> {
        self.number += 1;
        let mut calls = mem::take(&mut self.calls);
        calls.retain(|(_, reply)| !reply.is_closed());
        calls
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Batched<G, P> {
    fn lock(&self) -> MutexGuard<'_, Open<G, P>> {
        // A panic cannot leave the batch inconsistent, so a poisoned lock is safe to use.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call to the batch, and waits while other calls arrive. Returns the batch if this call must evaluate it:
    /// it completes the batch, or is the first to find that no more calls arrive.
    async fn collect(&self, call: Waiting<G, P>) -> Option<Vec<Waiting<G, P>>> {
        let (number, mut seen) = {
            let mut open = self.lock();
            open.calls.push(call);
            if open.calls.len() == self.size {
                return Some(open.take());
            }
            (open.number, open.calls.len())
        };
        let mut idle = 0;
        loop {
            tokio::task::yield_now().await;
            let mut open = self.lock();
            if open.number != number {
                return None;
            }
            let is_idle = open.calls.len() == seen;
            idle = if is_idle { idle + 1 } else { 0 };
            seen = open.calls.len();
            if idle == IDLE_YIELDS {
                return Some(open.take());
            }
        }
    }

    async fn scored(&self, call: MetricCall<'_, G, P>, pair: (G, P)) -> Result<Scored> {
        let (reply, score) = oneshot::channel();
        if let Some(batch) = self.collect((pair, reply)).await {
            self.evaluate_all(batch).await;
        }
        let score = match score.await {
            Ok(score) => score,
            Err(_) => self.alone(call).await,
        };
        Scored::validated(score?, &self.metric.spec())
    }

    async fn evaluate_all(&self, batch: Vec<Waiting<G, P>>) {
        let (pairs, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        // After a panic, each call evaluates its own row, so only the row that causes the panic fails.
        let scores = panic::catch_async(false, self.metric.evaluate_batch(&pairs)).await;
        let Ok(scores) = scores else { return };
        let (expected, found) = (pairs.len(), scores.len());
        let mut scores = scores.into_iter();
        for reply in replies {
            let score = scores.next().filter(|_| found == expected);
            let _ = reply.send(score.unwrap_or_else(|| Err(self.wrong_count(expected, found))));
        }
    }

    /// Scores the row of a call whose batch was not evaluated.
    async fn alone(&self, call: MetricCall<'_, G, P>) -> Result<MetricScore> {
        let Some(pair) = copy(call.gold).zip(copy(call.pred)) else {
            return self.metric.evaluate(call.gold, call.pred).await;
        };
        let mut scores = self.metric.evaluate_batch(&[pair]).await;
        match (scores.len(), scores.pop()) {
            (1, Some(score)) => score,
            (found, _) => Err(self.wrong_count(1, found)),
        }
    }

    fn wrong_count(&self, expected: usize, found: usize) -> MetricError {
        let message = format!("expected {expected} results from `evaluate_batch`, found {found}");
        MetricError::failed(self.metric.name(), message)
    }
}

#[async_trait]
impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Metric<G, P> for Batched<G, P> {
    crate::forward_metric!(all < G, P > |this| this.metric);

    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
        self.metric.evaluate(gold, pred).await
    }

    /// Answers a call. A call with a trace comes from an optimizer and is not batched, because a batch has no traces.
    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        if call.trace.is_some() || call.pred_name.is_some() || call.pred_trace.is_some() {
            return self.metric.answer(call);
        }
        match copy(call.gold).zip(copy(call.pred)) {
            Some(pair) => Answer::pending(self.scored(call, pair)),
            None => self.metric.answer(call),
        }
    }

    async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
        self.metric.evaluate_batch(pairs).await
    }

    fn key(&self) -> Option<Key> {
        self.metric.key()
    }

    fn keys(&self, all: &mut Vec<Key>) {
        self.metric.keys(all);
    }
}

/// The maximum number of pending calls in one batch.
pub(crate) const CONCURRENCY: usize = 32;

/// Scores rows, up to [`CONCURRENCY`] at a time, and returns the scores in row order.
///
/// This function isn't generic over the metric, so the compiler generates its code once instead of once per metric.
pub(crate) async fn evaluate<'a>(
    rows: usize,
    answer: &(dyn Fn(usize) -> Answer<'a> + Sync),
) -> Vec<Result<MetricScore>> {
    let score = |row| async move {
        tokio::task::consume_budget().await;
        Ok(answer(row).resolved().await?.scored()?.into_score())
    };
    let scores = futures_util::stream::iter((0..rows).map(score).collect::<Vec<_>>());
    scores.buffered(CONCURRENCY).collect().await
}

/// Forwards [`Metric`] methods to the inner metric unchanged. `all` also forwards the methods that depend on settings.
#[doc(hidden)]
#[macro_export]
macro_rules! forward_metric {
    (<$gold:ty, $pred:ty> |$this:ident| $metric:expr) => {
        forward_methods! {
            |$this| $metric;
            fn name(&self) -> &str;
            fn tier(&self) -> $crate::spec::MetricTier;
            fn can_evaluate(&self, gold: &$gold, pred: &$pred) -> bool;
            fn files(&self, all: &mut Vec<$crate::files::MetricFile>);
        }
    };
    (all <$gold:ty, $pred:ty> |$this:ident| $metric:expr) => {
        $crate::forward_metric!(<$gold, $pred> |$this| $metric);
        forward_methods! {
            |$this| $metric;
            fn cost_estimate(&self) -> u64;
            fn spec(&self) -> $crate::spec::MetricSpec<'_>;
            fn requirements(&self, all: &mut Vec<$crate::Requirement>);
            fn parameters(&self, all: &mut Vec<(String, String)>);
        }
    };
}

macro_rules! metric_of_pointer {
    ($($pointer:ty => $key:expr),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<G, M: ScoredAtOnce<G> + ?Sized> ScoredAtOnce<G> for $pointer {}

        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<G: Sync, P: Sync, M: Metric<G, P> + ?Sized> Metric<G, P> for $pointer {
            forward_metric!(all <G, P> |this| (**this));
            async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
                (**self).evaluate(gold, pred).await
            }
            fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
                (**self).answer(call)
            }
            async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
                (**self).evaluate_batch(pairs).await
            }
            forward_methods!(|this| (**this); fn batch_size(&self) -> usize;);
            fn key(&self) -> Option<Key> {
                let key: fn(&Self) -> Option<Key> = $key;
                (**self).key().or_else(|| key(self))
            }
            fn keys(&self, all: &mut Vec<Key>) {
                let before = all.len();
                (**self).keys(all);
                if (**self).key().is_none() {
                    all.splice(before..before, self.key());
                }
            }
        }
    )*};
}
// One value used in several places is one metric, even if its type cannot be compared.
metric_of_pointer!(&M => |_| None, Box<M> => |_| None, Arc<M> => |value| Some(Key::of_shared(value)));
