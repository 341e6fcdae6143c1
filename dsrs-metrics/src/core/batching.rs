//! Collects the concurrent calls of a run into batches, for a metric that overrides
//! [`Metric::evaluate_batch`] and [`Metric::batch_size`].
//!
//! The first call of a batch is its leader: it waits while other calls arrive, then evaluates all of them. A call that
//! completes the batch evaluates it at once. If the evaluating call is cancelled or panics, the others evaluate their
//! own rows.

use std::any::Any;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::core::answer::Answer;
use crate::core::call::MetricCall;
use crate::core::dedup::key::Key;
use crate::core::error::{MetricError, Result};
use crate::core::metric::{Metric, forward};
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::{MetricScore, Scored};

/// How often a leader yields without a new call before it evaluates its batch.
const IDLE_YIELDS: usize = 4;

/// Returns a metric whose calls are collected into batches, if its [`batch_size`](Metric::batch_size) is above 1 and
/// its rows are dynamic, so that a batch can own copies of them.
pub(crate) fn batched<G, P>(metric: Arc<dyn Metric<G, P>>) -> Arc<dyn Metric<G, P>>
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    match metric.batch_size() {
        0 | 1 => metric,
        size => Arc::new(Batched { metric, size, open: Mutex::default() }),
    }
}

/// A copy of a dynamic row, or `None` for a row of another type.
fn copy<T: 'static>(row: &T) -> Option<T> {
    let row: &dyn Any = row;
    let example =
        row.downcast_ref::<Example>().map(|row| -> Box<dyn Any> { Box::new(row.clone()) });
    let prediction = || row.downcast_ref::<Prediction>().cloned();
    let copy = example.or_else(|| prediction().map(|row| -> Box<dyn Any> { Box::new(row) }))?;
    copy.downcast().ok().map(|row| *row)
}

struct Batched<G, P> {
    metric: Arc<dyn Metric<G, P>>,
    size: usize,
    open: Mutex<Open<G, P>>,
}

/// The batch that is being collected.
struct Open<G, P> {
    /// The number of batches before this one.
    number: u64,
    pairs: Vec<(G, P)>,
    replies: Vec<oneshot::Sender<Result<MetricScore>>>,
}

impl<G, P> Default for Open<G, P> {
    fn default() -> Self {
        Self { number: 0, pairs: Vec::new(), replies: Vec::new() }
    }
}

impl<G, P> Open<G, P> {
    /// Takes the batch and opens the next one.
    fn take(&mut self) -> Self {
        let next = Self { number: self.number + 1, ..Self::default() };
        mem::replace(self, next)
    }
}

/// Dissolves the batch if its leader is cancelled before it evaluated it, so that nothing waits for it.
struct Leader<'a, G, P> {
    open: &'a Mutex<Open<G, P>>,
    number: u64,
}

impl<G, P> Leader<'_, G, P> {
    /// Waits while calls arrive, then takes the batch, or returns `None` if a call has completed it.
    async fn collect(self) -> Option<Open<G, P>> {
        let (mut seen, mut idle) = (1, 0);
        while idle < IDLE_YIELDS {
            tokio::task::yield_now().await;
            let open = lock(self.open);
            if open.number != self.number {
                return None;
            }
            idle = if open.pairs.len() == seen { idle + 1 } else { 0 };
            seen = open.pairs.len();
        }
        let mut open = lock(self.open);
        (open.number == self.number).then(|| open.take())
    }
}

impl<G, P> Drop for Leader<'_, G, P> {
    fn drop(&mut self) {
        let mut open = lock(self.open);
        if open.number == self.number {
            open.take();
        }
    }
}

fn lock<G, P>(open: &Mutex<Open<G, P>>) -> MutexGuard<'_, Open<G, P>> {
    // A panic cannot leave the batch inconsistent, so a poisoned lock is safe to use.
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a call has to do after it joined a batch.
enum Part<'a, G, P> {
    Lead(Leader<'a, G, P>),
    Complete(Open<G, P>),
    Wait,
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Batched<G, P> {
    fn join(&self, pair: (G, P), reply: oneshot::Sender<Result<MetricScore>>) -> Part<'_, G, P> {
        let mut open = lock(&self.open);
        open.pairs.push(pair);
        open.replies.push(reply);
        match open.pairs.len() {
            full if full == self.size => Part::Complete(open.take()),
            1 => Part::Lead(Leader { open: &self.open, number: open.number }),
            _ => Part::Wait,
        }
    }

    async fn scored(&self, call: MetricCall<'_, G, P>, pair: (G, P)) -> Result<Scored> {
        let (reply, mut score) = oneshot::channel();
        let batch = match self.join(pair, reply) {
            Part::Lead(leader) => leader.collect().await,
            Part::Complete(batch) => Some(batch),
            Part::Wait => None,
        };
        if let Some(batch) = batch {
            self.evaluate_all(batch).await;
        }
        let score = match (&mut score).await {
            Ok(score) => score,
            Err(_) => self.alone(call).await,
        };
        Scored::validated(score?, &self.metric.spec())
    }

    async fn evaluate_all(&self, batch: Open<G, P>) {
        let scores = self.metric.evaluate_batch(&batch.pairs).await;
        let (found, expected) = (scores.len(), batch.pairs.len());
        if found == expected {
            batch
                .replies
                .into_iter()
                .zip(scores)
                .for_each(|(reply, score)| drop(reply.send(score)));
            return;
        }
        for reply in batch.replies {
            let _ = reply.send(Err(self.wrong_count(expected, found)));
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
        let message = format!("expected {expected} results of `evaluate_batch`, found {found}");
        MetricError::failed(self.metric.name(), message)
    }
}

#[async_trait]
impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Metric<G, P> for Batched<G, P> {
    forward!(all < G, P > |this| this.metric);

    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
        self.metric.evaluate(gold, pred).await
    }

    /// A call with a trace belongs to an optimizer; it is not batched, since a batch has no traces.
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
