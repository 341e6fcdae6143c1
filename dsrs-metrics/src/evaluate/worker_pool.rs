//! The number of workers of a run: it grows only while every worker is busy, up to the concurrency limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The number of workers spawned at the start of a run.
const INITIAL_WORKERS: usize = 64;

/// Counts the spawned workers of a run and those that are busy with a row.
pub(super) struct WorkerPool {
    limit: usize,
    spawned: AtomicUsize,
    busy: AtomicUsize,
    all_busy: Notify,
}

impl WorkerPool {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            spawned: AtomicUsize::new(limit.min(INITIAL_WORKERS)),
            busy: AtomicUsize::new(0),
            all_busy: Notify::new(),
        }
    }

    /// Returns the number of workers spawned so far.
    pub(super) fn spawned(&self) -> usize {
        self.spawned.load(Ordering::SeqCst)
    }

    /// Records that a worker has started a row.
    pub(super) fn begin_row(&self) {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        let spawned = self.spawned();
        if busy == spawned && spawned < self.limit {
            self.all_busy.notify_one();
        }
    }

    /// Records that a worker has finished a row.
    pub(super) fn end_row(&self) {
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }

    /// Waits until all workers are busy at once and the limit is not reached. Returns how many more
    /// workers to spawn: the number doubles each time. They count as spawned from now on.
    pub(super) async fn grow(&self) -> usize {
        self.all_busy.notified().await;
        let spawned = self.spawned();
        let more = spawned.min(self.limit - spawned);
        self.spawned.store(spawned + more, Ordering::SeqCst);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::{INITIAL_WORKERS, WorkerPool};
    use futures_util::FutureExt;

    #[test]
    fn workers_are_spawned_only_when_all_are_busy_at_once() {
        let pool = WorkerPool::new(100_000_000);
        for _ in 0..1_000_000 {
            pool.begin_row();
            pool.end_row();
        }
        assert_eq!((pool.spawned(), pool.grow().now_or_never()), (INITIAL_WORKERS, None));
        (0..INITIAL_WORKERS).for_each(|_| pool.begin_row());
        assert_eq!(pool.grow().now_or_never(), Some(INITIAL_WORKERS));
        assert_eq!((pool.spawned(), pool.grow().now_or_never()), (2 * INITIAL_WORKERS, None));
    }

    #[test]
    fn the_limit_is_reached_and_never_exceeded() {
        for limit in [1, INITIAL_WORKERS - 1, INITIAL_WORKERS, INITIAL_WORKERS + 1, 512, 1_000] {
            let pool = WorkerPool::new(limit);
            let mut spawned = pool.spawned();
            let mut busy = 0;
            while busy < spawned {
                pool.begin_row();
                busy += 1;
                spawned += pool.grow().now_or_never().unwrap_or(0);
            }
            assert_eq!((spawned, pool.spawned()), (limit, limit));
        }
    }
}
