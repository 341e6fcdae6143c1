//! Rows in chunks: the workers decode chunks side by side, and rows are delivered in input order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex};

use super::error::EvaluateError;
use super::source::{Input, Numbered, Numbering, input_panicked, lock};
use crate::core::panic;

/// The rows of a chunk after they are decoded.
pub(super) type DecodedChunk<G, P> = Vec<Result<Input<G, P>, String>>;

/// Decodes the rows of a chunk.
pub(super) type Chunk<'a, G, P> = Box<dyn FnOnce() -> DecodedChunk<G, P> + Send + 'a>;

pub(super) type Chunks<'a, G, P> = Box<dyn Iterator<Item = Chunk<'a, G, P>> + Send + 'a>;

/// The most decoded chunks that wait for an earlier one, whose thread may be suspended.
const MAX_WAITING: usize = 8;

/// Chunks of rows, shared by the workers.
pub(super) struct ChunkedRows<'a, G, P> {
    chunks: Mutex<Undecoded<'a, G, P>>,
    pub(super) decoded: Mutex<Numbering<Decoded<G, P>>>,
    /// Notified when chunks stop waiting.
    delivered: Condvar,
}

struct Undecoded<'a, G, P> {
    chunks: Chunks<'a, G, P>,
    taken: u64,
}

pub(super) struct Decoded<G, P> {
    ready: VecDeque<Result<Numbered<G, P>, EvaluateError>>,
    /// Chunks that were decoded before an earlier one, by their number.
    waiting: BTreeMap<u64, DecodedChunk<G, P>>,
    /// The number of chunks that became ready.
    delivered: u64,
    has_failed: bool,
}

impl<'a, G, P> ChunkedRows<'a, G, P> {
    pub(super) fn new(chunks: Chunks<'a, G, P>) -> Self {
        let (ready, waiting) = (VecDeque::new(), BTreeMap::new());
        let decoded = Decoded { ready, waiting, delivered: 0, has_failed: false };
        Self {
            chunks: Mutex::new(Undecoded { chunks, taken: 0 }),
            decoded: Mutex::new(Numbering::new(decoded)),
            delivered: Condvar::new(),
        }
    }

    /// Returns the next row, or `None` if all are taken. Decodes a chunk if no row is ready.
    pub(super) fn pull(&self) -> Option<Result<Numbered<G, P>, EvaluateError>> {
        loop {
            if let Some(row) = lock(&self.decoded).rows.ready.pop_front() {
                return Some(row);
            }
            let (number, chunk) = self.take()?;
            let rows = panic::catch(false, chunk);
            let rows = rows.unwrap_or_else(|panic| vec![Err(input_panicked(&panic))]);
            self.deliver(number, rows);
        }
    }

    /// Moves rows that are ready to those of a worker, up to the first error.
    pub(super) fn take_ready(&self, number: u32, own: &mut VecDeque<Numbered<G, P>>) {
        let mut decoded = lock(&self.decoded);
        for _ in 0..number {
            match decoded.rows.ready.pop_front() {
                Some(Ok(row)) => own.push_back(row),
                Some(error) => return decoded.rows.ready.push_front(error),
                None => return,
            }
        }
    }

    fn take(&self) -> Option<(u64, Chunk<'a, G, P>)> {
        let is_full = |decoded: &mut Numbering<Decoded<G, P>>| {
            decoded.rows.waiting.len() >= MAX_WAITING && !decoded.rows.has_failed
        };
        // Blocks only while another thread decodes a chunk.
        let decoded = self.delivered.wait_while(lock(&self.decoded), is_full);
        if decoded.is_ok_and(|decoded| decoded.rows.has_failed) {
            return None;
        }
        let mut undecoded = lock(&self.chunks);
        let chunk = panic::catch(false, || undecoded.chunks.next());
        let chunk = chunk.unwrap_or_else(|panic| {
            let message = input_panicked(&panic);
            Some(Box::new(move || vec![Err(message)]))
        })?;
        undecoded.taken += 1;
        Some((undecoded.taken - 1, chunk))
    }

    /// Makes the rows of the chunk ready, and those of the chunks that waited for it.
    fn deliver(&self, number: u64, rows: DecodedChunk<G, P>) {
        let mut decoded = lock(&self.decoded);
        decoded.rows.waiting.insert(number, rows);
        loop {
            let next = decoded.rows.delivered;
            let Some(rows) = decoded.rows.waiting.remove(&next) else { break };
            decoded.rows.delivered += 1;
            for row in rows {
                if decoded.rows.has_failed {
                    break;
                }
                let row = decoded.number(row);
                decoded.rows.has_failed = row.is_err();
                decoded.rows.ready.push_back(row);
            }
        }
        self.delivered.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::Duration;

    use super::*;
    use crate::core::rows::pair::Pair;

    type Row = Input<u64, u64>;

    /// A chunk of ten rows whose ids are their numbers.
    fn chunk(number: u64) -> DecodedChunk<u64, u64> {
        let pair = |row: u64| Pair::new(row.to_string(), row, row);
        (10 * number..10 * number + 10).map(|row| Ok(Row::from(pair(row)))).collect()
    }

    fn rows(
        chunks: impl Iterator<Item = Chunk<'static, u64, u64>> + Send + 'static,
    ) -> Vec<String> {
        let rows = ChunkedRows::new(Box::new(chunks));
        let pulled = std::iter::from_fn(|| rows.pull());
        pulled
            .map(|row| match row {
                Ok((index, row)) => format!("{index}: {}", row.id.unwrap()),
                Err(error) => error.to_string(),
            })
            .collect()
    }

    #[test]
    fn a_chunk_that_is_decoded_early_waits_for_the_ones_before() {
        let barrier = std::sync::Arc::new(Barrier::new(2));
        let chunks = (0..50_u64).map(move |number| {
            let barrier = std::sync::Arc::clone(&barrier);
            let decode = move || {
                match number {
                    0 => {
                        // Decoded after the second one.
                        barrier.wait();
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    1 => _ = barrier.wait(),
                    _ => {}
                }
                chunk(number)
            };
            Box::new(decode) as Chunk<'static, u64, u64>
        });
        let rows = ChunkedRows::new(Box::new(chunks));
        let pulled = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(row) = rows.pull() {
                        let (index, row) = row.unwrap();
                        pulled.lock().unwrap().push((index, *row.gold.get()));
                    }
                });
            }
        });
        let mut pulled = pulled.into_inner().unwrap();
        pulled.sort_unstable();
        assert_eq!(pulled, (0..500).map(|row| (row, row)).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_error_is_the_last_row() {
        let failing = (0..3).map(|number| {
            let decode = move || {
                let mut rows = chunk(number);
                if number == 1 {
                    rows[2] = Err("line 12 is not JSON".to_owned());
                }
                rows
            };
            Box::new(decode) as Chunk<'static, u64, u64>
        });
        let rows = rows(failing);
        assert_eq!((rows.len(), &*rows[11]), (13, "11: 11"));
        assert_eq!(rows[12], "line 12 is not JSON");
    }

    #[test]
    fn a_panic_and_a_duplicate_id_are_errors() {
        let panicking = [|| chunk(0), || panic!("out of paper")];
        let panicking = panicking.map(|decode| Box::new(decode) as Chunk<'static, u64, u64>);
        let found = rows(panicking.into_iter());
        assert_eq!(found[10..], ["reading the rows panicked: out of paper"]);
        let twice = [0, 1, 0].map(|it| Box::new(move || chunk(it)) as Chunk<'static, u64, u64>);
        let found = rows(twice.into_iter());
        let error = "duplicate row id `0` (rows 1 and 21); ids must be unique within a run";
        assert_eq!(found[20..], [error]);
    }
}
