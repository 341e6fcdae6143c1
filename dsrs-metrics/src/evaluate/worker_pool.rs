//! The number of workers of a run: it grows while every worker is busy, up to the concurrency limit, and
//! shrinks while many wait for a row.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The number of workers spawned at the start of a run.
const INITIAL_WORKERS: usize = 64;

/// The number of workers that may wait for a row. All are woken when there is one, so they are few.
const MAX_IDLE_WORKERS: usize = 8;

/// Counts the spawned workers of a run and those that are busy with a row.
pub(super) struct WorkerPool {
    limit: usize,
    max_idle: usize,
    spawned: AtomicUsize,
    busy: AtomicUsize,
    all_busy: Notify,
}

impl WorkerPool {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            max_idle: MAX_IDLE_WORKERS,
            spawned: AtomicUsize::new(limit.min(INITIAL_WORKERS)),
            busy: AtomicUsize::new(0),
            all_busy: Notify::new(),
        }
    }

    /// A pool whose workers never retire: they are not counted as busy with rows that never wait.
    pub(super) fn without_retirement(limit: usize) -> Self {
        Self { max_idle: usize::MAX, ..Self::new(limit) }
    }

    /// A pool whose number of workers never changes.
    pub(super) fn fixed(workers: usize) -> Self {
        let spawned = AtomicUsize::new(workers);
        Self { spawned, ..Self::without_retirement(workers) }
    }

    /// Returns the number of workers.
    pub(super) fn spawned(&self) -> usize {
        self.spawned.load(Ordering::SeqCst)
    }

    /// Records that a worker has started a row.
    pub(super) fn begin_row(&self) {
        self.busy.fetch_add(1, Ordering::SeqCst);
        self.notify_if_all_are_busy();
    }

    fn notify_if_all_are_busy(&self) {
        let spawned = self.spawned();
        if self.busy.load(Ordering::SeqCst) >= spawned && spawned < self.limit {
            self.all_busy.notify_one();
        }
    }

    /// Returns whether a worker that has no row has to end, since enough others have none either.
    pub(super) fn retire(&self) -> bool {
        let busy = self.busy.load(Ordering::SeqCst);
        let retired =
            |spawned: usize| (spawned.saturating_sub(busy) > self.max_idle).then(|| spawned - 1);
        let order = Ordering::SeqCst;
        let has_retired = self.spawned.fetch_update(order, order, retired).is_ok();
        if has_retired {
            // The others may have started a row meanwhile.
            self.notify_if_all_are_busy();
        }
        has_retired
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
        self.spawned.fetch_add(more, Ordering::SeqCst);
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
    fn all_but_a_few_workers_without_a_row_retire() {
        let pool = WorkerPool::new(1_000);
        (0..3).for_each(|_| pool.begin_row());
        let retired = (0..INITIAL_WORKERS).filter(|_| pool.retire()).count();
        assert_eq!((retired, pool.spawned()), (INITIAL_WORKERS - 11, 11));
        (0..8).for_each(|_| pool.begin_row());
        assert_eq!((pool.grow().now_or_never(), pool.spawned()), (Some(11), 22));
        let kept = WorkerPool::without_retirement(1_000);
        assert_eq!((kept.retire(), kept.spawned()), (false, INITIAL_WORKERS));
        let fixed = WorkerPool::fixed(1_000);
        assert_eq!((fixed.retire(), fixed.spawned()), (false, 1_000));
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
