//! Batches on all cores, without the interpreter lock, which Ctrl-C interrupts.
//!
//! The threads live as long as the batch: a pool would not survive the `fork` of Python's `multiprocessing`.

use std::iter;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::{RowError, caught};

/// Up to this number of rows, starting threads takes longer than the rows.
const MAX_ROWS_AT_ONCE: usize = 32;

/// The maximum number of rows that a worker takes at once.
const MAX_CHUNK: usize = 512;

/// How often a batch looks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Why a batch ended early.
enum Stopped {
    /// The row with the lowest index among those that failed.
    Row(usize, RowError),
    /// A signal handler raised this exception.
    Signal(PyErr),
}

/// Evaluates every row by its index, and returns the results in the order of the rows. Each worker evaluates its rows with a
/// function of its own, which may reuse memory.
///
/// # Errors
/// The exception of a row that failed, with its index; `KeyboardInterrupt`.
pub(crate) fn map<T: Default + Send, W: FnMut(usize) -> Result<T, RowError>>(
    py: Python<'_>,
    name: &str,
    rows: usize,
    worker: impl Fn() -> W + Sync,
) -> PyResult<Vec<T>> {
    let worker = || {
        let mut work = worker();
        move |row| caught(name, || work(row)).flatten()
    };
    let mut results: Vec<T> = iter::repeat_with(T::default).take(rows).collect();
    let stopped = py.detach(|| match rows {
        ..=MAX_ROWS_AT_ONCE => fill(0, &mut results, &mut worker(), &AtomicBool::new(false)).err(),
        _ => run(&mut results, &worker),
    });
    match stopped {
        None => Ok(results),
        Some(Stopped::Signal(error)) => Err(error),
        Some(Stopped::Row(row, error)) => Err(error.into_exception(py, Some(row))),
    }
}

/// Runs a batch on several threads, while this one looks for signals.
fn run<T: Send, W: FnMut(usize) -> Result<T, RowError>>(
    results: &mut [T],
    worker: &(impl Fn() -> W + Sync),
) -> Option<Stopped> {
    let workers = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(results.len());
    let chunk = (results.len() / (workers * 8)).clamp(1, MAX_CHUNK);
    let queue = Mutex::new(results.chunks_mut(chunk).enumerate());
    let (stop, first) = (AtomicBool::new(false), Mutex::new(None));
    // Chunks that were taken before a row failed are finished, so that the failure with the lowest index is the same in
    // every run.
    let has_failed = AtomicBool::new(false);
    thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        for _ in 0..workers {
            let (queue, stop, first, running) = (&queue, &stop, &first, running.clone());
            let has_failed = &has_failed;
            scope.spawn(move || {
                let mut work = worker();
                let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                while !has_failed.load(Ordering::Relaxed)
                    && let Some((number, results)) = next()
                {
                    if let Err(failed) = fill(number * chunk, results, &mut work, stop) {
                        has_failed.store(true, Ordering::Relaxed);
                        keep_first(first, failed);
                    }
                }
                drop(running);
            });
        }
        drop(running);
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(SIGNAL_INTERVAL) {
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method has one lifetime"
            )]
            let signals = Python::attach(|py| py.check_signals());
            if let Err(error) = signals {
                stop.store(true, Ordering::Relaxed);
                has_failed.store(true, Ordering::Relaxed);
                keep_first(&first, Stopped::Signal(error));
            }
        }
    });
    first.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Computes the results of consecutive rows from index `start` on.
fn fill<T>(
    start: usize,
    results: &mut [T],
    work: &mut impl FnMut(usize) -> Result<T, RowError>,
    stop: &AtomicBool,
) -> Result<(), Stopped> {
    for (row, result) in (start..).zip(results) {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        *result = work(row).map_err(|error| Stopped::Row(row, error))?;
    }
    Ok(())
}

/// Keeps a signal, or else the failure of the row with the lowest index.
fn keep_first(first: &Mutex<Option<Stopped>>, stopped: Stopped) {
    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
    let comes_first = match (&*first, &stopped) {
        (None, _) | (Some(Stopped::Row(..)), Stopped::Signal(_)) => true,
        (Some(Stopped::Row(known, _)), Stopped::Row(new, _)) => new < known,
        (Some(Stopped::Signal(_)), _) => false,
    };
    if comes_first {
        *first = Some(stopped);
    }
}
