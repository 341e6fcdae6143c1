//! What was said of a row already: a metric that stands in several places of one run is asked once a
//! row, and all places get that answer.
//!
//! Who is the same as whom is in `identity.rs`. Where nothing is shared, nothing here is ever reached.

use std::fmt;
use std::ptr;
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::core::dedup::key::Identity;
use crate::core::error::{MetricError, Result};
use crate::core::metric::{Metric, MetricCall};
use crate::core::panic;
use crate::core::rows::dynamic::Trace;
use crate::core::score::Scored;

/// The identities that stand in more than one place, found when a run is set up.
#[derive(Debug, Clone)]
pub(crate) struct Sharing(Arc<[Identity]>);

impl Sharing {
    /// `None` if no identity stands there twice.
    pub(crate) fn among(all: &[Identity]) -> Option<Self> {
        let mut shared: Vec<Identity> = Vec::new();
        for (position, identity) in all.iter().enumerate() {
            if all[..position].contains(identity) && !shared.contains(identity) {
                shared.push(identity.clone());
            }
        }
        (!shared.is_empty()).then(|| Self(shared.into()))
    }

    /// For one row and one prediction.
    #[cold]
    pub(crate) fn memo<G, P>(&self, call: &MetricCall<'_, G, P>) -> Memo {
        let answers = self.0.iter().map(|_| OnceCell::new()).collect();
        Memo { shared: Arc::clone(&self.0), answers, of: address(call) }
    }
}

/// The answers of shared metrics to one call.
pub(crate) struct Memo {
    shared: Arc<[Identity]>,
    answers: Box<[OnceCell<Result<Scored>>]>,
    of: Address,
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// Where all that a call tells lies: a call of other rows, or with another trace, is another call.
type Address = [usize; 5];

fn address<G, P>(call: &MetricCall<'_, G, P>) -> Address {
    let trace = |trace: Option<&Trace>| trace.map_or(0, |trace| ptr::from_ref(trace).addr());
    [
        ptr::from_ref(call.gold).addr(),
        ptr::from_ref(call.pred).addr(),
        trace(call.trace),
        call.pred_name.map_or(0, |name| name.as_ptr().addr()),
        trace(call.pred_trace),
    ]
}

fn place<'a, G, P>(
    identity: Option<&Identity>,
    call: &MetricCall<'a, G, P>,
) -> Option<&'a OnceCell<Result<Scored>>> {
    let (memo, identity) = (call.memo?, identity?);
    let position = memo.shared.iter().position(|shared| shared == identity)?;
    (memo.of == address(call)).then(|| &memo.answers[position])
}

/// As [`Metric::call_now`], unless the answer is there. Whoever asks first pays; to the others the
/// answer costs nothing.
pub(crate) fn call_now<G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &M,
    identity: Option<&Identity>,
    call: MetricCall<'_, G, P>,
) -> Option<Result<Scored>> {
    let Some(place) = place(identity, &call) else {
        return metric.call_now(call);
    };
    if let Some(answer) = place.get() {
        return Some(reused(answer));
    }
    let answer = match panic::catch(false, || metric.call_now(call)) {
        Ok(answer) => answer?,
        Err(panic) => Err(panicked(metric.name(), panic.message)),
    };
    // If it is filled by now, that answer came from another thread, and this one was paid for too.
    let _ = place.set(answer.clone());
    Some(answer)
}

/// As [`Metric::call`], unless the answer is there or under way.
pub(crate) async fn call<G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &M,
    identity: Option<&Identity>,
    call: MetricCall<'_, G, P>,
) -> Result<Scored> {
    let Some(place) = place(identity, &call) else {
        return metric.call(call).await;
    };
    let mut paid = false;
    let ask = async {
        paid = true;
        let called = panic::catch_async(false, async { metric.call(call).await }).await;
        called.unwrap_or_else(|panic| Err(panicked(metric.name(), panic.message)))
    };
    let answer = place.get_or_init(|| ask).await;
    if paid { answer.clone() } else { reused(answer) }
}

fn reused(answer: &Result<Scored>) -> Result<Scored> {
    match answer {
        Ok(scored) => Ok(scored.clone().paid_elsewhere()),
        Err(error) => Err(error.clone().paid_elsewhere()),
    }
}

fn panicked(metric: &str, message: String) -> MetricError {
    MetricError::Panicked { metric: metric.to_owned(), message }
}
