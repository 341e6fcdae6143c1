//! The evaluations under way in the process: they share one bound on memory, whatever the number of
//! rows and cores, and one on threads that did not stop.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::deep_stack::STACK_BYTES;
use super::query::QueryError;
use super::query_results::ExecutionError;

/// The bytes of one share.
const SHARE_BYTES: usize = 32 << 20;

/// The shares of all evaluations: 1 GiB.
const SHARES: u32 = 32;

/// The shares of an evaluation at its first attempt, and at the second, if the first needs more
/// memory: 32 MiB, 256 MiB. Most queries need some kilobytes, so 32 of them run at a time.
const ATTEMPTS: [u32; 2] = [1, 8];

/// The maximum number of bytes that an evaluation stores, in MiB.
pub(super) const MAX_MEBIBYTES: usize = (ATTEMPTS[1] as usize * SHARE_BYTES) >> 20;

/// How often a waiting evaluation checks whether any other will ever end.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

static FREE: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(SHARES as usize)));

/// The shares of evaluations that did not stop in time.
static STUCK: AtomicU32 = AtomicU32::new(0);

/// The outcome of an evaluation on a thread.
pub(super) enum ThreadOutcome<T> {
    Returned(T),
    Panicked,
    /// It did not return in time. The thread is detached, and keeps its shares until it ends.
    Stuck,
}

/// Runs an evaluation with little memory, and again with more if it returns `None`. The argument is
/// the number of bytes. Waiting for other evaluations does not count as time of this one.
pub(super) async fn run<T: Send + 'static>(
    time: Duration,
    evaluate: impl Fn(usize) -> Option<T> + Send + Sync + 'static,
) -> Result<ThreadOutcome<Option<T>>, ExecutionError> {
    let evaluate = Arc::new(evaluate);
    let mut outcome = ThreadOutcome::Returned(None);
    for shares in ATTEMPTS {
        let permit = acquire(shares).await?;
        let evaluate = Arc::clone(&evaluate);
        let bytes = shares as usize * SHARE_BYTES;
        outcome = on_new_thread(time, permit, move || evaluate(bytes)).await?;
        if !matches!(outcome, ThreadOutcome::Returned(None)) {
            break;
        }
    }
    Ok(outcome)
}

async fn acquire(shares: u32) -> Result<OwnedSemaphorePermit, ExecutionError> {
    let acquire = Arc::clone(&FREE).acquire_many_owned(shares);
    tokio::pin!(acquire);
    loop {
        if STUCK.load(Ordering::Relaxed) + shares > SHARES {
            let reason = "earlier SPARQL evaluations did not stop; start the program again";
            return Err(ExecutionError::Unavailable(reason.to_owned()));
        }
        match tokio::time::timeout(POLL_INTERVAL, &mut acquire).await {
            Ok(Ok(permit)) => return Ok(permit),
            Ok(Err(closed)) => return Err(ExecutionError::Unavailable(closed.to_string())),
            Err(_) => {}
        }
    }
}

/// Shares that are counted in [`STUCK`] while their thread runs on.
struct Detached(u32);

impl Drop for Detached {
    fn drop(&mut self) {
        STUCK.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Runs a function on a thread with a large stack.
async fn on_new_thread<T: Send + 'static>(
    time: Duration,
    permit: OwnedSemaphorePermit,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<ThreadOutcome<T>, ExecutionError> {
    let shares = u32::try_from(permit.num_permits()).unwrap_or(SHARES);
    let (send, receive) = tokio::sync::oneshot::channel();
    let (detach, detached) = std::sync::mpsc::channel::<Detached>();
    let evaluation = move || {
        let result = run();
        drop(permit);
        drop(send.send(result));
        // Dropped last: the channel, and with it the mark that this thread is stuck.
        drop(detached);
    };
    thread::Builder::new()
        .name("sparql".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(evaluation)
        .map_err(QueryError::NoThread)?;
    Ok(match tokio::time::timeout(time, receive).await {
        Ok(Ok(result)) => ThreadOutcome::Returned(result),
        Ok(Err(_)) => ThreadOutcome::Panicked,
        Err(_) => {
            STUCK.fetch_add(shares, Ordering::Relaxed);
            drop(detach.send(Detached(shares)));
            ThreadOutcome::Stuck
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn an_evaluation_that_needs_more_memory_gets_it_once() {
        let ended = block_on(run(Duration::from_secs(60), |bytes| {
            (bytes > SHARE_BYTES).then_some(bytes)
        }));
        assert!(
            matches!(ended, Ok(ThreadOutcome::Returned(Some(bytes))) if bytes == MAX_MEBIBYTES << 20)
        );
        let ended = block_on(run(Duration::from_secs(60), |_| None::<()>));
        assert!(matches!(ended, Ok(ThreadOutcome::Returned(None))));
        let ended = block_on(run(Duration::from_secs(60), |_| -> Option<()> {
            std::panic::resume_unwind(Box::new(()))
        }));
        assert!(matches!(ended, Ok(ThreadOutcome::Panicked)));
    }

    #[test]
    fn the_memory_of_all_evaluations_at_once_is_bounded() {
        static USED: Mutex<(usize, usize)> = Mutex::new((0, 0));
        let evaluate = |bytes| {
            let mut used = USED.lock().unwrap();
            *used = (used.0 + bytes, used.1.max(used.0 + bytes));
            drop(used);
            thread::sleep(Duration::from_millis(2));
            USED.lock().unwrap().0 -= bytes;
            (bytes > SHARE_BYTES).then_some(())
        };
        let evaluations = (0..100).map(|_| run(Duration::from_secs(60), evaluate));
        for ended in block_on(futures_util::future::join_all(evaluations)) {
            assert!(matches!(ended, Ok(ThreadOutcome::Returned(Some(())))));
        }
        let (_, most) = *USED.lock().unwrap();
        assert!(most <= SHARES as usize * SHARE_BYTES, "{most}");
    }

    #[test]
    fn a_thread_that_does_not_stop_keeps_its_share_until_it_ends() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let stopped = Mutex::new(stopped);
        let ended = block_on(run(Duration::from_millis(1), move |_| {
            drop(stopped.lock().map(|stopped| stopped.recv()));
            Some(())
        }));
        assert!(matches!(ended, Ok(ThreadOutcome::Stuck)));
        assert!(STUCK.load(Ordering::Relaxed) >= 1);
        drop(stop);
        let ended = std::time::Instant::now() + Duration::from_secs(60);
        while STUCK.load(Ordering::Relaxed) > 0 && std::time::Instant::now() < ended {
            thread::yield_now();
        }
        assert_eq!(STUCK.load(Ordering::Relaxed), 0);
        drop(block_on(acquire(SHARES)).unwrap());
    }
}
