//! Rows in chunks: threads decode chunks in parallel, and rows are numbered in input order.

use std::sync::{Condvar, Mutex, PoisonError};

use super::{Input, Numbering, OwnRows};
use crate::contract::panic::{self, Panic};
use crate::evaluate::error::{EvaluateError, lock};

/// A function that decodes the rows of a chunk, up to the first error.
pub(crate) type Chunk<'a, G, P> =
    Box<dyn FnOnce() -> Vec<Result<Input<G, P>, EvaluateError>> + Send + 'a>;

pub(crate) type Chunks<'a, G, P> = Box<dyn Iterator<Item = Chunk<'a, G, P>> + Send + 'a>;

/// Chunks of rows that the threads share.
pub(crate) struct ChunkedRows<'a, G, P> {
    /// The chunks, and how many of them have been taken.
    chunks: Mutex<(Chunks<'a, G, P>, u64)>,
    delivered: Mutex<Numbering<Delivered>>,
    /// Notified when a chunk is delivered.
    is_delivered: Condvar,
}

#[derive(Default)]
struct Delivered {
    chunks: u64,
    has_failed: bool,
}

impl<'a, G, P> ChunkedRows<'a, G, P> {
    pub(crate) fn new(chunks: Chunks<'a, G, P>) -> Self {
        Self {
            chunks: Mutex::new((chunks, 0)),
            delivered: Mutex::new(Numbering::new(Delivered::default())),
            is_delivered: Condvar::new(),
        }
    }

    /// Returns the rows of all chunks. A chunk is decoded when its first row is read.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = Result<Input<G, P>, EvaluateError>> + 'a
    where
        G: 'a,
        P: 'a,
    {
        let chunks = self.chunks.into_inner();
        let (chunks, _) = chunks.unwrap_or_else(PoisonError::into_inner);
        chunks.flat_map(|decode| decode())
    }

    /// Decodes a chunk and moves its rows into a thread's own rows, because freeing another thread's memory makes a
    /// thread wait. After the last chunk, there are no more rows to move; the remaining rows are in the own rows of
    /// other threads.
    ///
    /// # Errors
    /// Returns a row's error only after the rows before it.
    pub(crate) fn take(&self, own: &OwnRows<G, P>) -> Result<(), (u64, EvaluateError)> {
        while lock(own).is_empty() {
            let (number, next) = {
                let mut chunks = lock(&self.chunks);
                let next = panic::catch(false, || chunks.0.next());
                let number = chunks.1;
                chunks.1 += u64::from(!matches!(next, Ok(None)));
                (number, next)
            };
            let rows = next.and_then(|chunk| chunk.map(|it| panic::catch(false, it)).transpose());
            let panicked = |panic: Panic| vec![Err(EvaluateError::rows_panicked(&panic.message))];
            let rows = rows.unwrap_or_else(|panic| Some(panicked(panic)));
            // Waits for the chunks before this one, or for all of them.
            let is_waiting = |it: &mut Numbering<Delivered>| it.rows.chunks < number;
            let delivered = self
                .is_delivered
                .wait_while(lock(&self.delivered), is_waiting);
            let mut delivered = delivered.unwrap_or_else(PoisonError::into_inner);
            let Some(rows) = rows else { break };
            delivered.rows.chunks += 1;
            self.is_delivered.notify_all();
            if delivered.rows.has_failed {
                break;
            }
            // Moved while the source is locked: a thread that finds the source empty must see these rows.
            let mut own = lock(own);
            for row in rows {
                let row = delivered.number(row);
                delivered.rows.has_failed = row.is_err();
                own.push_back(row?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    use super::super::{Given, Numbered};
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

    fn chunk(number: u64) -> Chunk<'static, u64, u64> {
        Box::new(move || ten_rows(number))
    }

    fn chunks(
        chunks: impl IntoIterator<Item = Chunk<'static, u64, u64>, IntoIter: Send + 'static>,
    ) -> ChunkedRows<'static, u64, u64> {
        ChunkedRows::new(Box::new(chunks.into_iter()))
    }

    /// Takes the rows of a chunk, with their numbers.
    fn taken(rows: &ChunkedRows<'_, u64, u64>) -> (Vec<Numbered<u64, u64>>, Option<EvaluateError>) {
        let own = OwnRows::default();
        let error = rows.take(&own).err().map(|(_, error)| error);
        (own.into_inner().unwrap().into(), error)
    }

    /// Takes all rows and returns each row's number and id. If there is an error, it comes last.
    fn pulled(rows: &ChunkedRows<'_, u64, u64>) -> Vec<String> {
        let mut pulled = Vec::new();
        loop {
            let (rows, error) = taken(rows);
            let is_last = rows.is_empty() && error.is_none();
            pulled.extend(
                rows.into_iter()
                    .map(|(index, row)| format!("{index}: {}", row.id)),
            );
            pulled.extend(error.map(|error| error.to_string()));
            if is_last {
                return pulled;
            }
        }
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
                    loop {
                        let (rows, _) = taken(&rows);
                        if rows.is_empty() {
                            break;
                        }
                        let rows = rows.into_iter().map(|(index, row)| (index, *row.gold));
                        pulled.lock().unwrap().extend(rows);
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
        let of_other = OwnRows::default();
        std::thread::scope(|scope| {
            scope.spawn(|| rows.take(&of_other).unwrap());
            barrier.wait();
            assert_eq!(taken(&rows).0.len(), 0);
            assert_eq!(of_other.lock().unwrap().len(), 10);
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
