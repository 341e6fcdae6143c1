//! How many workers there are: as many as have something to do, however high the limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// So many workers are there from the start.
const AT_FIRST: usize = 64;

/// Counts the workers of a run and those of them that have a row.
pub(super) struct Crew {
    limit: usize,
    hired: AtomicUsize,
    busy: AtomicUsize,
    all_busy: Notify,
}

impl Crew {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            hired: AtomicUsize::new(limit.min(AT_FIRST)),
            busy: AtomicUsize::new(0),
            all_busy: Notify::new(),
        }
    }

    /// How many workers there are by now.
    pub(super) fn hired(&self) -> usize {
        self.hired.load(Ordering::SeqCst)
    }

    /// A worker has taken a row.
    pub(super) fn begin_row(&self) {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        let hired = self.hired();
        if busy == hired && hired < self.limit {
            self.all_busy.notify_one();
        }
    }

    /// It has finished it.
    pub(super) fn end_row(&self) {
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }

    /// Waits until all workers have a row at once and more may be hired: as many again, so that the
    /// limit is soon reached. They count as hired from now on.
    pub(super) async fn more(&self) -> usize {
        self.all_busy.notified().await;
        let hired = self.hired();
        let more = hired.min(self.limit - hired);
        self.hired.store(hired + more, Ordering::SeqCst);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_FIRST, Crew};
    use futures_util::FutureExt;

    #[test]
    fn workers_are_hired_only_when_all_have_a_row_at_once() {
        let crew = Crew::new(100_000_000);
        for _ in 0..1_000_000 {
            crew.begin_row();
            crew.end_row();
        }
        assert_eq!((crew.hired(), crew.more().now_or_never()), (AT_FIRST, None));
        (0..AT_FIRST).for_each(|_| crew.begin_row());
        assert_eq!(crew.more().now_or_never(), Some(AT_FIRST));
        assert_eq!((crew.hired(), crew.more().now_or_never()), (2 * AT_FIRST, None));
    }

    #[test]
    fn the_limit_is_reached_and_never_exceeded() {
        for limit in [1, AT_FIRST - 1, AT_FIRST, AT_FIRST + 1, 512, 1_000] {
            let crew = Crew::new(limit);
            let mut hired = crew.hired();
            let mut busy = 0;
            while busy < hired {
                crew.begin_row();
                busy += 1;
                hired += crew.more().now_or_never().unwrap_or(0);
            }
            assert_eq!((hired, crew.hired()), (limit, limit));
        }
    }
}
