//! Work that would block an async worker, on a thread of its own.

use std::thread;

use super::SandboxError;

/// Runs `work` on a new thread and returns its result. If the future is dropped, the result is
/// discarded when `work` ends, so `work` must be bounded.
///
/// # Errors
/// If the thread cannot be started, or panics.
pub async fn on_thread<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SandboxError> {
    let (send, receive) = tokio::sync::oneshot::channel();
    thread::Builder::new()
        .name(name.to_owned())
        // The receiver is gone if the future was dropped.
        .spawn(move || _ = send.send(work()))
        .map_err(|error| SandboxError::io("starting a thread", error))?;
    receive
        .await
        .map_err(|_| SandboxError::io(name, "the thread panicked"))
}
