//! Catches panics in programs and metrics and returns them as values.
//!
//! `run/evaluate/row/row_scores.rs` decides the outcome of a row whose metric or program panicked.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

/// A caught panic.
pub struct Panic {
    pub message: String,
    /// The panic's location and backtrace, if requested.
    pub traceback: Option<String>,
}

thread_local! {
    static RECORDS_TRACEBACK: Cell<bool> = const { Cell::new(false) };
    static TRACEBACK: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a user's function and catches any panic.
pub fn catch<T>(traceback: bool, run: impl FnOnce() -> T) -> Result<T, Panic> {
    let outer = RECORDS_TRACEBACK.get();
    if traceback {
        record_tracebacks();
        RECORDS_TRACEBACK.set(true);
    }
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    RECORDS_TRACEBACK.set(outer);
    result.map_err(|payload| Panic {
        message: into_message(payload),
        traceback: TRACEBACK.take().filter(|_| traceback),
    })
}

/// Runs a user's future and catches any panic.
///
/// A future that panicked is not polled again.
pub fn catch_async<F: Future>(traceback: bool, future: F) -> Caught<F> {
    Caught { traceback, future }
}

pin_project_lite::pin_project! {
    /// The future that [`catch_async`] returns.
    ///
    /// This type avoids an `async fn`, which would store its argument twice.
    pub struct Caught<F> {
        traceback: bool,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match catch(*this.traceback, || this.future.poll(context)) {
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

/// Installs a panic hook that records backtraces. After unwinding, the stack is no longer available,
/// so the hook must capture it. The previous hook still runs.
fn record_tracebacks() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if RECORDS_TRACEBACK.get() {
                let place = info.location().map(|place| format!("at {place}\n"));
                let stack = Backtrace::force_capture();
                TRACEBACK.set(Some(format!("{}{stack}", place.unwrap_or_default())));
            }
            previous(info);
        }));
    });
}

/// Returns the message in a panic's payload.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is not a string".to_owned())
}

/// Returns the message in a panic's payload, consuming the payload.
///
/// A payload that is not a string is leaked, because dropping it could panic again.
pub fn into_message(payload: Box<dyn Any + Send>) -> String {
    let message = message(&*payload);
    if !payload.is::<&str>() && !payload.is::<String>() {
        std::mem::forget(payload);
    }
    message
}
