//! Panics of programs and metrics as values.
//!
//! What a panic means for its row is decided in `evaluate/row.rs`.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::Once;
use std::task::Poll;

/// What a panicking call left behind.
pub(crate) struct Panic {
    pub(crate) message: String,
    /// Where it came from, if asked for.
    pub(crate) traceback: Option<String>,
}

thread_local! {
    static WANTED: Cell<bool> = const { Cell::new(false) };
    static TRACEBACK: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a function of the user's.
pub(crate) fn catch<T>(traceback: bool, run: impl FnOnce() -> T) -> Result<T, Panic> {
    if !traceback {
        return panic::catch_unwind(AssertUnwindSafe(run))
            .map_err(|payload| Panic { message: message(&*payload), traceback: None });
    }
    record_tracebacks();
    let outer = WANTED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    WANTED.set(outer);
    result.map_err(|payload| Panic { message: message(&*payload), traceback: TRACEBACK.take() })
}

/// Runs a future of the user's; one that panicked is never polled again.
pub(crate) async fn catch_async<F: Future>(traceback: bool, future: F) -> Result<F::Output, Panic> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| match catch(traceback, || future.as_mut().poll(context)) {
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Once unwinding is over the stack is gone, so only a panic hook can see it. The hook that was
/// there before still runs.
fn record_tracebacks() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if WANTED.get() {
                let place = info.location().map(|place| format!("at {place}\n"));
                let stack = Backtrace::force_capture();
                TRACEBACK.set(Some(format!("{}{stack}", place.unwrap_or_default())));
            }
            previous(info);
        }));
    });
}

pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned())
}
