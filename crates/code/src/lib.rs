//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.

#[macro_use]
extern crate dsrs_metrics_values;

#[cfg(feature = "sparql")]
pub mod sparql;
pub mod syntax;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{io, thread};

/// Several times what the deepest recursion over a tree within the limits needs. The kernel allocates a page only when
/// it is used.
const STACK_BYTES: usize = 256 << 20;

/// The maximum number of threads that keep working past their deadline.
const MAX_LATE: usize = 8;

static LATE: AtomicUsize = AtomicUsize::new(0);

/// Marks a thread as late: [`LATE`] counts it until this value is dropped.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        LATE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `work` on a new thread with a large stack and waits up to `time` for its result.
///
/// Use this for uninterruptible work on untrusted input.
///
/// Returns `None` if the time runs out. The thread then keeps running in the background.
///
/// # Errors
/// Returns an error if the thread cannot be started or the work panics. Also returns an error if too many threads are
/// still busy with earlier work.
pub fn within_deadline<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    if LATE.load(Ordering::Relaxed) >= MAX_LATE {
        return Err(io::Error::other(
            "earlier tasks on untrusted input are still running; restart the program",
        ));
    }
    let (send, receive) = mpsc::channel();
    let (detach, detached) = mpsc::channel::<Late>();
    thread::Builder::new()
        .name("deadline".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            // After the deadline, the receiver is gone.
            drop(send.send(work()));
            // Dropped last: the channel, and with it the mark that this thread is late.
            drop(detached);
        })?;
    match receive.recv_timeout(time) {
        Ok(result) => Ok(Some(result)),
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the work panicked")),
        Err(RecvTimeoutError::Timeout) => {
            LATE.fetch_add(1, Ordering::Relaxed);
            drop(detach.send(Late));
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn work_returns_panics_or_is_late() {
        assert_eq!(within_deadline(LONG, || 1).unwrap(), Some(1));
        let panics = || -> u8 { std::panic::resume_unwind(Box::new(())) };
        assert_eq!(
            within_deadline(LONG, panics).unwrap_err().to_string(),
            "the work panicked"
        );
        let (stop, stopped) = mpsc::channel::<()>();
        let waits = move || stopped.recv().unwrap_or_default();
        assert_eq!(
            within_deadline(Duration::from_millis(1), waits).unwrap(),
            None
        );
        assert_eq!(LATE.load(Ordering::Relaxed), 1);
        drop(stop);
        let end = std::time::Instant::now() + LONG;
        while LATE.load(Ordering::Relaxed) > 0 && std::time::Instant::now() < end {
            thread::yield_now();
        }
        assert_eq!(LATE.load(Ordering::Relaxed), 0);
    }
}
