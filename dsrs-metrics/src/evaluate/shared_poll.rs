//! One source that many workers poll.
//!
//! No worker is handed a lock or a turn: tokio may keep a worker that was woken on a thread which a metric
//! blocks, and all others would wait for it. So when the source is ready, all workers that wait are
//! woken, and each polls it again.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use tokio::sync::Notify;

/// The workers that wait for a source, which are woken together.
#[derive(Default)]
pub(super) struct SharedPoll(Arc<Waiting>);

#[derive(Default)]
struct Waiting(Notify);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.0.notify_waiters();
    }
}

impl SharedPoll {
    /// Polls the source until it is ready. Before it waits, it asks whether to give up, and returns `None` if so.
    pub(super) async fn poll<T>(
        &self,
        mut source: impl FnMut(&mut Context<'_>) -> Poll<T>,
        gives_up: impl Fn() -> bool,
    ) -> Option<T> {
        let waker = Waker::from(Arc::clone(&self.0));
        let mut poll = || source(&mut Context::from_waker(&waker));
        loop {
            if let Poll::Ready(item) = poll() {
                return Some(item);
            }
            let mut woken = pin!(self.0.0.notified());
            woken.as_mut().enable();
            // Another time, since the source may have become ready before this worker waited.
            if let Poll::Ready(item) = poll() {
                return Some(item);
            }
            if gives_up() {
                return None;
            }
            woken.await;
            // A source that wakes its worker at once waits for other tasks.
            tokio::task::yield_now().await;
        }
    }

    /// Wakes all workers that wait, for a source that will never do it.
    pub(super) fn wake(&self) {
        self.0.0.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::task::{Context, Poll, Waker};

    use super::SharedPoll;
    use futures_util::FutureExt;

    #[test]
    fn a_source_that_is_ready_is_polled_once() {
        let polls = Cell::new(0);
        let source = |_: &mut Context<'_>| {
            polls.set(polls.get() + 1);
            Poll::Ready("row")
        };
        let polled = SharedPoll::default().poll(source, || false).now_or_never();
        assert_eq!((polled, polls.get()), (Some(Some("row")), 1));
    }

    #[test]
    fn all_who_wait_are_woken_and_the_first_takes_the_item() {
        let (shared, item, waker) = (SharedPoll::default(), Cell::new(None), Cell::new(None));
        let source = |context: &mut Context<'_>| {
            waker.set(Some(context.waker().clone()));
            item.take().map_or(Poll::Pending, Poll::Ready)
        };
        let workers = [(); 3].map(|()| Box::pin(shared.poll(source, || false)));
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = workers.into_iter().collect::<Vec<_>>();
        assert!(waiting.iter_mut().all(|worker| worker.as_mut().poll(&mut context).is_pending()));
        for row in ["first", "second", "third"] {
            item.set(Some(row));
            waker.take().unwrap().wake();
            // The last one was woken too, though only one row is there: polled first, it takes the row.
            let mut worker = waiting.pop().unwrap();
            let polled = (0..2).map(|_| worker.as_mut().poll(&mut context)).find(Poll::is_ready);
            assert_eq!(polled, Some(Poll::Ready(Some(row))));
            for worker in &mut waiting {
                assert!((0..2).all(|_| worker.as_mut().poll(&mut context).is_pending()), "{row}");
            }
        }
    }

    #[test]
    fn an_item_that_comes_between_poll_and_wait_is_taken() {
        let polls = Cell::new(0);
        let source = |_: &mut Context<'_>| {
            polls.set(polls.get() + 1);
            if polls.get() == 1 { Poll::Pending } else { Poll::Ready("row") }
        };
        let polled = SharedPoll::default().poll(source, || true).now_or_never();
        assert_eq!(polled, Some(Some("row")));
    }

    #[test]
    fn a_worker_that_gives_up_does_not_wait() {
        let source = |_: &mut Context<'_>| Poll::<()>::Pending;
        let polled = SharedPoll::default().poll(source, || true).now_or_never();
        assert_eq!(polled, Some(None));
    }
}
