//! Threads with a large stack, for recursion over syntax trees: the depth of a tree is limited only
//! by the length of its query.

use std::thread;

/// Several times what the deepest tree of a query within the limits needs; the kernel allocates a
/// page only when it is used.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// Runs a function on a thread with a large stack, and waits for it.
pub(super) fn on_deep_stack<T: Send>(run: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, run)?;
        Ok(thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
