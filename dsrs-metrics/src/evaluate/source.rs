//! The source of rows: all workers pull from it, one row at a time.
//!
//! A row is in `source_row.rs`, its evaluation in `row.rs`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::task::{Context, Poll};

use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::chunk_rows::ScoreRow;
use super::chunked::{ChunkedRows, Chunks};
use super::error::EvaluateError;
use super::pulled_rows::OwnRows;
use super::seen_ids::SeenIds;
use super::shared_poll::SharedPoll;
use super::source_row::{Input, ListedRow};
use super::stop::Stop;
use super::worker_pool::WorkerPool;
use crate::core::panic::{self, Panic};
use crate::core::rows::pair::Origin;

/// A row and its position, from 0.
pub(super) type Numbered<G, P> = (u64, Input<G, P>);

pub(super) type Inputs<'a, G, P> =
    Box<dyn Iterator<Item = Result<Input<G, P>, EvaluateError>> + Send + 'a>;
pub(super) type InputStream<'a, G, P> = BoxStream<'a, Result<Input<G, P>, EvaluateError>>;

/// The rows of a devset that is a list.
pub(super) type Listed<G> = Arc<Vec<ListedRow<G>>>;

/// The largest number of rows to allocate space for in advance, since a size hint may be wrong.
pub(super) const MAX_PREALLOCATED_ROWS: usize = 1 << 20;

/// Returns the id of a row of a devset.
pub(super) type RowId<G> = Arc<dyn Fn(&G) -> String + Send + Sync>;

enum Rows<'a, G, P> {
    List(Listed<G>, AtomicUsize),
    Iterator(Mutex<Numbering<Inputs<'a, G, P>>>),
    /// `None` once the stream has ended or panicked, since it must not be polled again.
    Stream(Mutex<Numbering<Option<InputStream<'a, G, P>>>>, SharedPoll),
    Chunks(ChunkedRows<'a, G, P>),
}

/// Rows in the order in which they are read, with the number and ids of the rows before.
pub(super) struct Numbering<S> {
    pub(super) rows: S,
    next: u64,
    seen: SeenIds,
}

impl<S> Numbering<S> {
    pub(super) fn new(rows: S) -> Self {
        Self { rows, next: 0, seen: SeenIds::new() }
    }

    pub(super) fn number<G, P>(
        &mut self,
        row: Result<Input<G, P>, EvaluateError>,
    ) -> Result<Numbered<G, P>, EvaluateError> {
        let row = row?;
        if let Some(id) = &row.id {
            self.seen.insert(id, self.next, row.origin())?;
        }
        self.next += 1;
        Ok((self.next - 1, row))
    }

    /// Numbers a row that is counted already.
    pub(super) fn count(&mut self, id: &str, at: &Origin) -> Result<(), EvaluateError> {
        self.seen.insert(id, self.next, Some(at))?;
        self.next += 1;
        Ok(())
    }
}

/// The source that all workers pull from. The first input error ends it.
pub(super) struct Source<'a, G, P> {
    rows: Rows<'a, G, P>,
    row_id: Option<RowId<G>>,
    error: OnceLock<EvaluateError>,
}

impl<'a, G, P> Source<'a, G, P> {
    pub(super) fn list(rows: Listed<G>, row_id: Option<RowId<G>>) -> Self {
        Self::new(Rows::List(rows, AtomicUsize::new(0)), row_id)
    }

    pub(super) fn iterator(rows: Inputs<'a, G, P>) -> Self {
        Self::new(Rows::Iterator(Mutex::new(Numbering::new(rows))), None)
    }

    pub(super) fn stream(rows: InputStream<'a, G, P>, row_id: Option<RowId<G>>) -> Self {
        let rows = Mutex::new(Numbering::new(Some(rows)));
        Self::new(Rows::Stream(rows, SharedPoll::default()), row_id)
    }

    pub(super) fn chunks(chunks: Chunks<'a, G, P>) -> Self {
        Self::new(Rows::Chunks(ChunkedRows::new(chunks)), None)
    }

    fn new(rows: Rows<'a, G, P>, row_id: Option<RowId<G>>) -> Self {
        Self { rows, row_id, error: OnceLock::new() }
    }

    /// Returns the lower and upper bound of the number of rows, as [`Iterator::size_hint`].
    pub(super) fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.rows {
            Rows::List(rows, _) => (rows.len(), Some(rows.len())),
            Rows::Iterator(rows) => lock(rows).rows.size_hint(),
            Rows::Stream(rows, _) => {
                lock(rows).rows.as_ref().map_or((0, Some(0)), |rows| rows.size_hint())
            }
            Rows::Chunks(_) => (0, None),
        }
    }

    pub(super) fn error(&self) -> Option<&EvaluateError> {
        self.error.get()
    }

    /// Ends the run with an error, unless it has one already.
    pub(super) fn fail(&self, error: EvaluateError, stop: &Stop) {
        // The first error is reported; an error of another worker is discarded.
        let _ = self.error.set(error);
        stop.set();
    }

    pub(super) fn failed(&self) -> bool {
        self.error.get().is_some()
    }

    /// Completes the detection of duplicate ids, which for many rows is possible only at the end.
    pub(super) fn check_ids(&self) {
        let checked = match &self.rows {
            Rows::List(..) => Ok(()),
            Rows::Iterator(rows) => check_ids_of(rows),
            Rows::Stream(rows, _) => check_ids_of(rows),
            Rows::Chunks(rows) => check_ids_of(&rows.decoded),
        };
        if let Err(error) = checked {
            // The first error is reported.
            let _ = self.error.set(error);
        }
    }

    /// Returns the next row and its position, from 0, or `None` if the worker has to end: there are no more
    /// rows to evaluate, or many workers wait for the next one.
    pub(super) async fn pull(&self, stop: &Stop, pool: &WorkerPool) -> Option<Numbered<G, P>> {
        if stop.is_set() {
            return None;
        }
        let pulled = match &self.rows {
            Rows::List(rows, next) => return self.pull_listed(rows, next),
            Rows::Iterator(rows) => Self::next_of(&mut lock(rows)),
            Rows::Chunks(rows) => rows.pull(),
            Rows::Stream(rows, shared) => tokio::select! {
                biased;
                () = stop.wait() => None,
                pulled = shared.poll(|context| self.poll_stream(rows, shared, context), || pool.retire()) => {
                    pulled.flatten()
                }
            },
        };
        match pulled? {
            Ok(pulled) => Some(pulled),
            Err(error) => {
                self.fail(error, stop);
                None
            }
        }
    }

    /// Decodes a chunk of rows, and evaluates those of them that can be counted at once. Returns whether there was one.
    pub(super) fn score_chunk(&self, score: ScoreRow<'_, G, P>) -> bool {
        match &self.rows {
            Rows::Chunks(rows) => rows.score_chunk(score),
            _ => false,
        }
    }

    /// Pulls up to this number of rows at once and returns the first; the others become the worker's own rows. Returns
    /// `None` if the source is a list or a stream, or has no more rows.
    pub(super) fn pull_several(
        &self,
        number: u32,
        stop: &Stop,
        own: &OwnRows<G, P>,
    ) -> Option<Numbered<G, P>> {
        let rows = match &self.rows {
            Rows::Iterator(rows) => rows,
            Rows::Chunks(rows) => {
                let first = rows.pull()?.map_err(|error| self.fail(error, stop)).ok();
                rows.take_ready(number - 1, &mut lock(own));
                return first;
            }
            _ => return None,
        };
        let mut rows = lock(rows);
        // Locked with the source: a worker that finds the source empty must find these rows.
        let mut own = lock(own);
        for _ in 0..number {
            if stop.is_set() {
                break;
            }
            match Self::next_of(&mut rows) {
                Some(Ok(row)) => own.push_back(row),
                Some(Err(error)) => self.fail(error, stop),
                None => break,
            }
        }
        own.pop_front()
    }

    fn pull_listed(&self, rows: &[ListedRow<G>], next: &AtomicUsize) -> Option<Numbered<G, P>> {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let mut row = Input::listed(rows.get(index)?);
        // The ids of a list were checked by the builder.
        if let Some(row_id) = &self.row_id {
            row.id = Some(row_id(row.gold.get()));
        }
        Some((index as u64, row))
    }

    fn next_of(
        rows: &mut Numbering<Inputs<'a, G, P>>,
    ) -> Option<Result<Numbered<G, P>, EvaluateError>> {
        let pulled = panic::catch(false, || rows.rows.next());
        let row = pulled.unwrap_or_else(|panic| Some(Err(input_panicked(panic))));
        row.map(|row| rows.number(row))
    }

    fn poll_stream(
        &self,
        rows: &Mutex<Numbering<Option<InputStream<'a, G, P>>>>,
        shared: &SharedPoll,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Numbered<G, P>, EvaluateError>>> {
        let mut rows = lock(rows);
        let Some(stream) = &mut rows.rows else { return Poll::Ready(None) };
        let polled = panic::catch(false, || {
            stream.poll_next_unpin(context).map_ok(|mut row| {
                let row_id = self.row_id.as_ref();
                row.id = row.id.or_else(|| row_id.map(|row_id| row_id(row.gold.get())));
                row
            })
        });
        let row = match polled {
            Ok(polled) => std::task::ready!(polled),
            Err(panic) => Some(Err(input_panicked(panic))),
        };
        if !matches!(row, Some(Ok(_))) {
            rows.rows = None;
            shared.wake();
        }
        Poll::Ready(row.map(|row| rows.number(row)))
    }
}

pub(super) fn lock<S>(rows: &Mutex<S>) -> MutexGuard<'_, S> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check_ids_of<S>(rows: &Mutex<Numbering<S>>) -> Result<(), EvaluateError> {
    match rows.try_lock() {
        Ok(mut rows) => rows.seen.check(),
        Err(TryLockError::Poisoned(rows)) => rows.into_inner().seen.check(),
        // A row that was abandoned may still be being read.
        Err(TryLockError::WouldBlock) => Ok(()),
    }
}

pub(super) fn input_panicked(panic: Panic) -> EvaluateError {
    EvaluateError::Rows { message: panic.message }
}
