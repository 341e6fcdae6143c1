//! Rows in chunks: threads decode chunks in parallel, and rows are delivered in input order.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use derive_where::derive_where;

use super::{Input, NextRow, Numbering, OwnRows};
use crate::contract::panic;
use crate::evaluate::error::{EvaluateError, lock};

/// Decodes the rows of a chunk, up to the first error.
pub(crate) type Chunk<'a, G, P> =
    Box<dyn FnOnce() -> Vec<Result<Input<G, P>, EvaluateError>> + Send + 'a>;

pub(crate) type Chunks<'a, G, P> = Box<dyn Iterator<Item = Chunk<'a, G, P>> + Send + 'a>;

/// Chunks of rows, shared by the threads.
pub(crate) struct ChunkedRows<'a, G, P> {
    /// The chunks, and how many of them were taken.
    chunks: Mutex<(Chunks<'a, G, P>, u64)>,
    pub(crate) decoded: Mutex<Numbering<Decoded<G, P>>>,
    /// Notified when a chunk is delivered.
    delivered: Condvar,
}

#[derive_where(Default)]
pub(crate) struct Decoded<G, P> {
    ready: VecDeque<NextRow<G, P>>,
    /// The number of chunks that were delivered.
    chunks: u64,
    has_failed: bool,
}

impl<'a, G, P> ChunkedRows<'a, G, P> {
    pub(crate) fn new(chunks: Chunks<'a, G, P>) -> Self {
        let decoded = Decoded::default();
        Self {
            chunks: Mutex::new((chunks, 0)),
            decoded: Mutex::new(Numbering::new(decoded)),
            delivered: Condvar::new(),
        }
    }

    /// Returns the next row, or `None` if none are left.
    pub(crate) fn take(&self) -> Option<NextRow<G, P>> {
        loop {
            if let Some(row) = lock(&self.decoded).rows.ready.pop_front() {
                return Some(row);
            }
            if !self.decode(None) {
                return None;
            }
        }
    }

    /// Moves up to this many rows into a thread's own rows. If none is ready, decodes a chunk and moves all of its
    /// rows, because a thread that frees another thread's memory waits for it. Returns a row's error after the rows
    /// before it.
    pub(crate) fn take_several(
        &self,
        number: usize,
        own: &OwnRows<G, P>,
    ) -> Result<(), (u64, EvaluateError)> {
        loop {
            let mut decoded = lock(&self.decoded);
            let ready = &mut decoded.rows.ready;
            if !ready.is_empty() {
                // Taken while the source is locked: a thread that finds the source empty must see these rows.
                let mut own = lock(own);
                for row in ready.drain(..number.min(ready.len())) {
                    own.push_back(row?);
                }
                return Ok(());
            }
            drop(decoded);
            if !self.decode(Some(own)) || !lock(own).is_empty() {
                return Ok(());
            }
        }
    }

    /// Decodes and delivers a chunk, to a thread's own rows if given, or waits until another thread does. Returns
    /// `false` after the last row.
    fn decode(&self, own: Option<&OwnRows<G, P>>) -> bool {
        if lock(&self.decoded).rows.has_failed {
            return false;
        }
        let (number, chunk) = {
            let mut chunks = lock(&self.chunks);
            let next = panic::catch(false, || chunks.0.next());
            let chunk = next.unwrap_or_else(|panic| {
                let error = EvaluateError::rows_panicked(&panic.message);
                Some(Box::new(|| vec![Err(error)]))
            });
            let number = chunks.1;
            chunks.1 += u64::from(chunk.is_some());
            (number, chunk)
        };
        let rows = chunk.map(|chunk| {
            let rows = panic::catch(false, chunk);
            rows.unwrap_or_else(|panic| vec![Err(EvaluateError::rows_panicked(&panic.message))])
        });
        // The chunks before this one, or all of them.
        let is_waiting = |decoded: &mut Numbering<Decoded<G, P>>| {
            let Decoded { ready, chunks, .. } = &decoded.rows;
            *chunks < number && (rows.is_some() || ready.is_empty())
        };
        let decoded = self.delivered.wait_while(lock(&self.decoded), is_waiting);
        let mut decoded = decoded.unwrap_or_else(PoisonError::into_inner);
        let Some(rows) = rows else {
            return !decoded.rows.ready.is_empty();
        };
        let mut own = own.map(lock);
        for row in rows {
            if decoded.rows.has_failed {
                break;
            }
            match (decoded.number(row), &mut own) {
                (Ok(row), Some(own)) => own.push_back(row),
                (row, _) => {
                    decoded.rows.has_failed = row.is_err();
                    decoded.rows.ready.push_back(row);
                }
            }
        }
        decoded.rows.chunks += 1;
        self.delivered.notify_all();
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    use super::super::Given;
    use super::*;
    use crate::contract::rows::Pair;

    fn row(id: &str, number: u64) -> Result<Input<u64, u64>, EvaluateError> {
        Ok(Pair::new(id, Arc::new(number), Given::Prediction(number)))
    }

    /// Ten rows whose ids are their numbers.
    fn ten_rows(chunk: u64) -> Vec<Result<Input<u64, u64>, EvaluateError>> {
        (10 * chunk..10 * chunk + 10)
            .map(|number| row(&number.to_string(), number))
            .collect()
    }

    fn gold(row: &Input<u64, u64>) -> u64 {
        *row.gold
    }

    fn chunk(number: u64) -> Chunk<'static, u64, u64> {
        Box::new(move || ten_rows(number))
    }

    fn chunks(
        chunks: impl IntoIterator<Item = Chunk<'static, u64, u64>, IntoIter: Send + 'static>,
    ) -> ChunkedRows<'static, u64, u64> {
        ChunkedRows::new(Box::new(chunks.into_iter()))
    }

    /// Pulls a row, and returns its number and id, or the error.
    fn pull(rows: &ChunkedRows<'_, u64, u64>) -> Option<String> {
        rows.take().map(|row| match row {
            Ok((index, row)) => format!("{index}: {}", row.id),
            Err((_, error)) => error.to_string(),
        })
    }

    fn pulled(rows: &ChunkedRows<'_, u64, u64>) -> Vec<String> {
        std::iter::from_fn(|| pull(rows)).collect()
    }

    #[test]
    fn a_chunk_that_is_decoded_early_waits_for_the_ones_before() {
        let barrier = Arc::new(Barrier::new(2));
        let rows = chunks((0..50_u64).map(move |number| {
            let barrier = Arc::clone(&barrier);
            let decode = move || {
                match number {
                    0 => {
                        // Decoded after the second chunk.
                        barrier.wait();
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    1 => _ = barrier.wait(),
                    _ => {}
                }
                ten_rows(number)
            };
            Box::new(decode) as Chunk<'static, u64, u64>
        }));
        let pulled = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(row) = rows.take() {
                        let (index, row) = row.unwrap();
                        pulled.lock().unwrap().push((index, gold(&row)));
                    }
                });
            }
        });
        let mut pulled = pulled.into_inner().unwrap();
        pulled.sort_unstable();
        assert_eq!(pulled, (0..500).map(|row| (row, row)).collect::<Vec<_>>());
    }

    #[test]
    fn a_thread_without_chunks_waits_for_the_rows_of_others() {
        let barrier = Arc::new(Barrier::new(2));
        let decoding = Arc::clone(&barrier);
        let rows = chunks([Box::new(move || {
            decoding.wait();
            std::thread::sleep(Duration::from_millis(20));
            ten_rows(0)
        }) as Chunk<'static, u64, u64>]);
        std::thread::scope(|scope| {
            // Takes at most one row and does not come back for the rest.
            let other = scope.spawn(|| usize::from(rows.take().is_some()));
            barrier.wait();
            let here = pulled(&rows).len();
            assert_eq!((here + other.join().unwrap(), here >= 9), (10, true));
        });
    }

    #[test]
    fn the_first_error_is_the_last_row() {
        let failing = chunks((0..3).map(|number| {
            let decode = move || {
                if number == 1 {
                    vec![
                        row("x", 0),
                        Err(EvaluateError::input("line 12 is not JSON".to_owned())),
                    ]
                } else {
                    ten_rows(number)
                }
            };
            Box::new(decode) as Chunk<'static, u64, u64>
        }));
        let rows = pulled(&failing);
        assert_eq!((rows.len(), &*rows[10]), (12, "10: x"));
        assert_eq!(rows[11], "line 12 is not JSON");
    }

    #[test]
    fn a_panic_and_a_duplicate_id_are_errors() {
        let panicking: [Chunk<'static, u64, u64>; 2] =
            [chunk(0), Box::new(|| panic!("out of paper"))];
        let found = pulled(&chunks(panicking));
        assert_eq!(found[10..], ["reading the rows panicked: out of paper"]);
        let found = pulled(&chunks([0, 1, 0].map(chunk)));
        let error = "duplicate row id `0` (rows 1 and 21); ids must be unique within a run";
        assert_eq!(found[20..], [error]);
    }
}
