//! Per-row memoization: a metric that is used in several places of a run is evaluated once per row, and all places get
//! that answer.
//!
//! Which metrics are the same is decided in `key.rs`. A run without equal metrics has no memo and pays nothing.

use std::fmt;
use std::ptr;
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::core::answer::{Answer, RowAnswer};
use crate::core::call::MetricCall;
use crate::core::dedup::key::Key;
use crate::core::error::{MetricError, Result};
use crate::core::metric::Metric;
use crate::core::panic;
use crate::core::rows::dynamic::Trace;

/// The keys that occur more than once among the metrics of a run and their components.
#[derive(Debug, Clone)]
pub(crate) struct Sharing(Arc<[Key]>);

impl Sharing {
    /// Returns the keys that occur more than once, or `None` if there are none.
    pub(crate) fn among(all: &[Key]) -> Option<Self> {
        let mut shared: Vec<Key> = Vec::new();
        for (position, key) in all.iter().enumerate() {
            if all[..position].contains(key) && !shared.contains(key) {
                shared.push(key.clone());
            }
        }
        (!shared.is_empty()).then(|| Self(shared.into()))
    }

    /// Creates a memo for one call.
    #[cold]
    pub(crate) fn memo<G, P>(&self, call: &MetricCall<'_, G, P>) -> Memo {
        let answers = self.0.iter().map(|_| OnceCell::new()).collect();
        Memo { shared: Arc::clone(&self.0), answers, of: address(call) }
    }
}

/// The answers of shared metrics to one call.
pub(crate) struct Memo {
    shared: Arc<[Key]>,
    answers: Box<[OnceCell<Result<RowAnswer>>]>,
    of: Address,
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// The addresses of everything that a call refers to, and whether its explanation is read. A call with other rows or
/// another trace is another call, and an answer without an explanation is not reused where one is read.
type Address = [usize; 7];

fn address<G, P>(call: &MetricCall<'_, G, P>) -> Address {
    let trace = |trace: Option<&Trace>| trace.map_or(0, |trace| ptr::from_ref(trace).addr());
    [
        ptr::from_ref(call.gold).addr(),
        ptr::from_ref(call.pred).addr(),
        trace(call.trace),
        call.pred_name.map_or(0, |name| name.as_ptr().addr()),
        trace(call.pred_trace),
        call.run.map_or(0, |run| ptr::from_ref(run).addr()),
        usize::from(call.is_explained),
    ]
}

fn cell<'a, G, P>(
    key: Option<&Key>,
    call: &MetricCall<'a, G, P>,
) -> Option<&'a OnceCell<Result<RowAnswer>>> {
    let (memo, key) = (call.memo?, key?);
    let position = memo.shared.iter().position(|shared| shared == key)?;
    (memo.of == address(call)).then(|| &memo.answers[position])
}

/// Returns the metric's answer, or the one that an equal metric already returned for this call. The first evaluation is charged;
/// a reused answer costs nothing.
#[inline]
pub(crate) fn answer<'a, G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &'a M,
    key: Option<&Key>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    match cell(key, &call) {
        None => metric.answer(call),
        Some(cell) => shared_answer(metric, cell, call),
    }
}

#[cold]
fn shared_answer<'a, G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &'a M,
    cell: &'a OnceCell<Result<RowAnswer>>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    if let Some(answer) = cell.get() {
        return Answer::Ready(reused(answer));
    }
    let panicked = |panic: panic::Panic| Err(MetricError::panicked(metric.name(), panic.message));
    let future = match panic::catch(false, || metric.answer(call)) {
        Ok(Answer::Pending(future)) => future,
        Ok(Answer::Ready(answer)) => return Answer::Ready(keep(cell, answer)),
        Err(panic) => return Answer::Ready(keep(cell, panicked(panic))),
    };
    Answer::pending(async move {
        let mut is_first = false;
        let evaluate = async {
            is_first = true;
            panic::catch_async(false, future).await.unwrap_or_else(panicked)
        };
        let answer = cell.get_or_init(|| evaluate).await;
        if is_first { answer.clone() } else { reused(answer) }
    })
}

/// Stores an answer. If another thread has stored one in the meantime, both evaluations are charged.
fn keep(cell: &OnceCell<Result<RowAnswer>>, answer: Result<RowAnswer>) -> Result<RowAnswer> {
    let _ = cell.set(answer.clone());
    answer
}

fn reused(answer: &Result<RowAnswer>) -> Result<RowAnswer> {
    match answer {
        Ok(answer) => Ok(answer.clone().without_cost()),
        Err(error) => Err(error.clone().with_cost_msats(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::Sharing;
    use crate::core::call::MetricCall;
    use crate::core::metric::Metric;
    use crate::core::rows::dynamic::{Example, Prediction};
    use crate::metrics::Em;
    use crate::{example, prediction};

    #[test]
    fn an_answer_without_an_explanation_is_not_reused_where_one_is_read() {
        let metric = Em::default();
        let key = Metric::<Example, Prediction>::key(&metric);
        let keys = vec![key.clone().unwrap(); 2];
        let sharing = Sharing::among(&keys).unwrap();
        let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "Lyon" });
        let call = MetricCall::<Example, Prediction>::new(&gold, &pred);
        let details = |call: MetricCall<'_>| {
            let answer = super::answer(&metric, key.as_ref(), call).ready().unwrap().unwrap();
            answer.score.details.is_some()
        };
        let memo = sharing.memo(&call.without_explanation());
        let call = call.with_memo(Some(&memo));
        assert!(!details(call.without_explanation()));
        assert!(details(call));
        assert!(!details(call.without_explanation()));
    }
}
