//! The source of rows, shared by the threads or tasks of a run.
//!
//! `mod.rs` defines a row and numbers it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::chunks::{ChunkedRows, Chunks};
use super::devset::hash_order;
use super::{Input, NextRow, Numbered, Numbering, OwnRows};
use crate::contract::{Example, Prediction, panic};
use crate::data::DataFile;
use crate::evaluate::error::{EvaluateError, Level, Stop, lock};

pub(crate) type InputStream<'a, G, P> = BoxStream<'a, Result<Input<G, P>, EvaluateError>>;

/// If reading takes this long, a thread stops taking rows, so the rows it already has don't wait for more.
const LONG: Duration = Duration::from_micros(100);

enum Rows<'a, G, P> {
    /// `None` once the stream has ended or panicked, because it must not be polled again. The flag is `true` if the
    /// stream is never pending.
    Stream(Mutex<Numbering<Option<InputStream<'a, G, P>>>>, bool),
    Chunks(ChunkedRows<'a, G, P>),
    /// Rows sorted by a hash of their ids.
    Shuffled(Mutex<VecDeque<Numbered<G, P>>>),
}

/// A function that returns the files that the rows were read from. Its argument is `true` if the run was complete.
type ReadFiles = Box<dyn Fn(bool) -> Vec<DataFile> + Send + Sync>;

/// The rows of a run. The first error in input order ends the run.
pub(crate) struct Source<'a, G, P> {
    rows: Rows<'a, G, P>,
    files: ReadFiles,
    error: Mutex<Option<EvaluateError>>,
    /// The position of the row with the error. That row and all later ones are not evaluated.
    error_at: AtomicU64,
}

impl<'a, G, P> Source<'a, G, P> {
    /// Sets the files that the rows come from.
    pub(crate) fn with_files(
        self,
        files: impl Fn(bool) -> Vec<DataFile> + Send + Sync + 'static,
    ) -> Self {
        let files = Box::new(files);
        Self { files, ..self }
    }

    pub(crate) fn data(&self, is_complete: bool) -> Vec<DataFile> {
        (self.files)(is_complete)
    }

    pub(crate) fn iterator(
        rows: impl Iterator<Item = Result<Input<G, P>, EvaluateError>> + Send + 'a,
    ) -> Self
    where
        G: 'a,
        P: 'a,
    {
        let rows = Numbering::new(Some(stream::iter(rows).boxed()));
        Self::new(Rows::Stream(Mutex::new(rows), true))
    }

    pub(crate) fn stream(rows: InputStream<'a, G, P>) -> Self {
        let rows = Mutex::new(Numbering::new(Some(rows)));
        Self::new(Rows::Stream(rows, false))
    }

    pub(crate) fn chunks(chunks: Chunks<'a, G, P>) -> Self {
        Self::new(Rows::Chunks(ChunkedRows::new(chunks)))
    }

    /// Returns a source that tasks can take rows from. Only threads decode rows in chunks.
    pub(crate) fn for_tasks(self) -> Self
    where
        G: Send + Sync + 'a,
        P: Send + 'a,
    {
        match self.rows {
            Rows::Chunks(chunks) => Self::iterator(chunks.into_rows()).with_files(self.files),
            rows => Self { rows, ..self },
        }
    }

    fn new(rows: Rows<'a, G, P>) -> Self {
        Self {
            rows,
            files: Box::new(|_| Vec::new()),
            error: Mutex::default(),
            error_at: AtomicU64::new(u64::MAX),
        }
    }

    /// Returns the number of rows left, if it is known.
    pub(crate) fn rows_left(&self) -> Option<u64> {
        let rows = match &self.rows {
            Rows::Stream(rows, _) => match &lock(rows).rows {
                Some(rows) => rows.size_hint().1?,
                None => 0,
            },
            Rows::Chunks(_) => return None,
            Rows::Shuffled(rows) => lock(rows).len(),
        };
        Some(rows as u64)
    }

    pub(crate) fn error(&self) -> Option<EvaluateError> {
        lock(&self.error).clone()
    }

    /// Ends the run with an error for the row at this position, unless an earlier row has an error. Earlier rows can
    /// still be evaluated, because they may have errors too.
    pub(crate) fn fail(&self, at: u64, error: EvaluateError) {
        let mut first = lock(&self.error);
        if first.is_none() || at < self.error_at.load(Ordering::SeqCst) {
            *first = Some(error);
            self.error_at.store(at, Ordering::SeqCst);
        }
    }

    pub(crate) fn failed(&self) -> bool {
        self.error_at() < u64::MAX
    }

    /// Returns the position of the row that ends the run, if any.
    pub(crate) fn error_at(&self) -> u64 {
        self.error_at.load(Ordering::SeqCst)
    }

    /// Reads all rows and orders them by the hash of their ids. For each input position, returns the position in that
    /// order.
    ///
    /// # Errors
    /// Returns the error of the first row that cannot be read.
    pub(crate) async fn shuffle(
        &mut self,
        seed: u64,
        stop: &Stop,
    ) -> Result<Vec<u64>, EvaluateError> {
        let mut rows = Vec::new();
        while let Some((index, row)) = self.next(stop).await {
            rows.push((hash_order(seed, Some(&row.id), index), (index, row)));
        }
        if let Some(error) = self.error() {
            return Err(error);
        }
        rows.sort_unstable_by_key(|(key, _)| *key);
        let mut ranks = vec![0; rows.len()];
        for (rank, ((_, index), _)) in (0..).zip(&rows) {
            ranks[usize::try_from(*index).unwrap_or(usize::MAX)] = rank;
        }
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        self.rows = Rows::Shuffled(Mutex::new(rows));
        Ok(ranks)
    }

    /// Takes all rows that no thread or task has taken.
    pub(crate) fn drain(&self) -> VecDeque<Numbered<G, P>> {
        match &self.rows {
            Rows::Shuffled(rows) => std::mem::take(&mut *lock(rows)),
            _ => VecDeque::new(),
        }
    }

    /// Returns the next row, or `None` if none are left. Waits for rows of a stream.
    pub(crate) async fn next(&self, stop: &Stop) -> Option<Numbered<G, P>> {
        let Rows::Stream(rows, false) = &self.rows else {
            return self.take(stop);
        };
        tokio::select! {
            biased;
            () = stop.reached(Level::Stopped) => None,
            row = poll_fn(|context| self.poll_stream(&mut lock(rows), context)) => self.unless_error(row?),
        }
    }

    /// Returns the next row without waiting. Returns `None` if there is no row or if the source is a stream.
    pub(crate) fn take(&self, stop: &Stop) -> Option<Numbered<G, P>> {
        if stop.is_at(Level::Stopped) || self.failed() {
            return None;
        }
        let row = match &self.rows {
            Rows::Stream(rows, true) => self.poll_now(&mut lock(rows)),
            Rows::Stream(_, false) | Rows::Chunks(_) => None,
            Rows::Shuffled(rows) => return lock(rows).pop_front(),
        };
        self.unless_error(row?)
    }

    /// Moves up to this many rows into a thread's own rows, and blocks until at least one is read. Returns `true` if
    /// the thread got rows. At the end of the source, it gets none.
    pub(crate) fn take_several(&self, number: usize, stop: &Stop, own: &OwnRows<G, P>) -> bool {
        if stop.is_at(Level::Stopped) || self.failed() {
            return false;
        }
        // Added while the source is locked: a thread that finds the source empty must see these rows.
        match &self.rows {
            Rows::Shuffled(..) => {}
            Rows::Chunks(rows) => {
                if let Err((at, error)) = rows.take(own) {
                    self.fail(at, error);
                }
            }
            Rows::Stream(rows, is_ready) => {
                if !is_ready {
                    let first = Handle::current().block_on(self.next(stop));
                    lock(own).extend(first);
                }
                let (mut rows, start) = (lock(rows), Instant::now());
                for taken in usize::from(!is_ready)..number {
                    let is_slow = taken % 16 == 1 && start.elapsed() >= LONG;
                    if is_slow || stop.is_at(Level::Stopped) {
                        break;
                    }
                    match self
                        .poll_now(&mut rows)
                        .and_then(|row| self.unless_error(row))
                    {
                        Some(row) => lock(own).push_back(row),
                        None => break,
                    }
                }
            }
        }
        !lock(own).is_empty()
    }

    /// Returns the next row of a stream, if it is ready.
    fn poll_now(
        &self,
        rows: &mut Numbering<Option<InputStream<'a, G, P>>>,
    ) -> Option<NextRow<G, P>> {
        match self.poll_stream(rows, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(row) => row,
            Poll::Pending => None,
        }
    }

    fn unless_error(&self, row: NextRow<G, P>) -> Option<Numbered<G, P>> {
        row.map_err(|(at, error)| self.fail(at, error)).ok()
    }

    fn poll_stream(
        &self,
        rows: &mut Numbering<Option<InputStream<'a, G, P>>>,
        context: &mut Context<'_>,
    ) -> Poll<Option<NextRow<G, P>>> {
        let Some(stream) = &mut rows.rows else {
            return Poll::Ready(None);
        };
        let polled = panic::catch(false, || stream.poll_next_unpin(context));
        let row = match polled {
            Ok(polled) => std::task::ready!(polled),
            Err(panic) => Some(Err(EvaluateError::rows_panicked(&panic.message))),
        };
        if !matches!(row, Some(Ok(_))) {
            rows.rows = None;
        }
        Poll::Ready(row.map(|row| rows.number(row)))
    }
}

/// Reads rows on a separate thread, a few rows ahead, because reading from a pipe may block.
pub(crate) fn read_on_thread(
    rows: impl Iterator<Item = Result<Input<Example, Prediction>, EvaluateError>> + Send + 'static,
) -> Result<Source<'static, Example, Prediction>, EvaluateError> {
    const AHEAD: usize = 8;
    let (send, receive) = mpsc::channel(AHEAD);
    let read = move || {
        let result = panic::catch(false, || {
            for row in rows {
                if send.blocking_send(row).is_err() {
                    // The run has ended, so there is no receiver.
                    break;
                }
            }
        });
        if let Err(panic) = result {
            // Without an error, the closed channel would look like the end of the rows.
            let _ = send.blocking_send(Err(EvaluateError::rows_panicked(&panic.message)));
        }
    };
    thread::Builder::new()
        .name("rows".to_owned())
        .spawn(read)
        .map_err(EvaluateError::no_thread)?;
    let rows = stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|row| (row, receive))
    });
    Ok(Source::stream(rows.boxed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_reader_is_an_error_and_not_the_end_of_the_rows() {
        let source = read_on_thread(std::iter::from_fn(|| panic!("out of paper"))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let row = runtime.block_on(source.next(&Stop::default()));
        let error = source.error().map(|error| error.to_string());
        assert_eq!((row.is_none(), source.error_at()), (true, 0));
        assert_eq!(
            error.as_deref(),
            Some("reading the rows panicked: out of paper")
        );
    }
}
