//! A stack of its own for what recurses over a query: a tree may be as deep as its text allows, whoever calls.

use std::thread;

/// Enough for the deepest tree of a text within the bounds, several times over; memory that is not used costs nothing.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// Runs on another thread, and waits for it.
pub(super) fn deep<T: Send>(run: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
