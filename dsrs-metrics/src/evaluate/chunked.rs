//! Rows in chunks: the workers decode chunks side by side, and rows are delivered in input order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex};

use super::chunk_rows::{ChunkRows, DecodedChunk, ScoreRow};
use super::error::EvaluateError;
use super::source::{Numbered, Numbering, input_panicked, lock};
use crate::core::panic;

/// Decodes the rows of a chunk.
pub(super) type Chunk<'a, G, P> = Box<dyn FnOnce(&mut ChunkRows<'_, G, P>) + Send + 'a>;

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
            self.decode(None)?;
        }
    }

    /// Decodes a chunk, and evaluates those of its rows that can be counted at once. Returns whether there was one: not if
    /// rows are ready, which are evaluated first.
    pub(super) fn score_chunk(&self, score: ScoreRow<'_, G, P>) -> bool {
        lock(&self.decoded).rows.ready.is_empty() && self.decode(Some(score)).is_some()
    }

    /// Decodes and delivers the next chunk, if there is one.
    fn decode(&self, score: Option<ScoreRow<'_, G, P>>) -> Option<()> {
        let (number, chunk) = self.take()?;
        let decode = || {
            let mut rows = ChunkRows::new(score);
            chunk(&mut rows);
            rows.decoded
        };
        let rows = panic::catch(false, decode);
        self.deliver(
            number,
            rows.unwrap_or_else(|panic| DecodedChunk::failed(input_panicked(panic))),
        );
        Some(())
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
            let error = input_panicked(panic);
            Some(Box::new(move |rows| rows.push(Err(error))))
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
            if !decoded.rows.has_failed {
                decoded.deliver(rows);
            }
        }
        self.delivered.notify_all();
    }
}

impl<G, P> Numbering<Decoded<G, P>> {
    /// Numbers the rows of a chunk, up to the first error, which is the last row.
    fn deliver(&mut self, chunk: DecodedChunk<G, P>) {
        if let Err(error) = self.try_deliver(chunk) {
            self.rows.has_failed = true;
            self.rows.ready.push_back(Err(error));
        }
    }

    fn try_deliver(&mut self, chunk: DecodedChunk<G, P>) -> Result<(), EvaluateError> {
        let DecodedChunk { counted, rows } = chunk;
        let mut start = 0;
        for (end, row) in rows {
            counted.try_each(start..end, |id, at| self.count(id, at))?;
            start = end;
            let row = self.number(row)?;
            self.rows.ready.push_back(Ok(row));
        }
        counted.try_each(start..counted.len(), |id, at| self.count(id, at))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    use super::super::chunk_rows::Lent;
    use super::*;
    use crate::core::rows::pair::{Origin, Pair};

    type Rows<'s> = ChunkRows<'s, u64, u64>;

    /// Adds ten rows whose ids are their numbers.
    fn push_ten(chunk: u64, rows: &mut Rows<'_>) {
        for row in 10 * chunk..10 * chunk + 10 {
            rows.push(Ok(Pair::new(row.to_string(), row, row)));
        }
    }

    fn chunk(number: u64) -> Chunk<'static, u64, u64> {
        Box::new(move |rows| push_ten(number, rows))
    }

    fn chunks(
        chunks: impl IntoIterator<Item = Chunk<'static, u64, u64>, IntoIter: Send + 'static>,
    ) -> ChunkedRows<'static, u64, u64> {
        ChunkedRows::new(Box::new(chunks.into_iter()))
    }

    /// Pulls a row, and returns its number and id, or the error.
    fn pull(rows: &ChunkedRows<'_, u64, u64>) -> Option<String> {
        rows.pull().map(|row| match row {
            Ok((index, row)) => format!("{index}: {}", row.id.unwrap()),
            Err(error) => error.to_string(),
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
            let decode = move |rows: &mut Rows<'_>| {
                match number {
                    0 => {
                        // Decoded after the second one.
                        barrier.wait();
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    1 => _ = barrier.wait(),
                    _ => {}
                }
                push_ten(number, rows);
            };
            Box::new(decode) as Chunk<'static, u64, u64>
        }));
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
        let failing = chunks((0..3).map(|number| {
            let decode = move |rows: &mut Rows<'_>| {
                if number == 1 {
                    rows.push(Ok(Pair::new("x", 0, 0)));
                    rows.push(Err(EvaluateError::input("line 12 is not JSON".to_owned())));
                }
                push_ten(number, rows);
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
            [chunk(0), Box::new(|_| panic!("out of paper"))];
        let found = pulled(&chunks(panicking));
        assert_eq!(found[10..], ["reading the rows panicked: out of paper"]);
        let found = pulled(&chunks([0, 1, 0].map(chunk)));
        let error = "duplicate row id `0` (rows 1 and 21); ids must be unique within a run";
        assert_eq!(found[20..], [error]);
    }

    /// Lends rows with these ids; those whose row cannot be counted are pushed.
    fn lending(first_line: u64, ids: &'static [&'static str]) -> Chunk<'static, u64, u64> {
        Box::new(move |rows| {
            let mut at = Origin { file: Arc::from(Path::new("rows")), line: first_line };
            for id in ids {
                let value = id.len() as u64;
                if !rows.lend(id, &at, &value, &value) {
                    let pair = Pair::new(*id, value, value);
                    rows.push(Ok(Pair { origin: Some(at.clone()), ..pair }));
                }
                at.line += 1;
            }
        })
    }

    /// Scores chunks: rows with ids of one byte are counted, those with three bytes end the counting.
    fn scored(chunks: &ChunkedRows<'_, u64, u64>) -> (usize, Vec<String>) {
        let (mut counted, mut found) = (0, Vec::new());
        loop {
            let mut score = |gold: &u64, _: &u64| match gold {
                1 => {
                    counted += 1;
                    Lent::Counted
                }
                3 => Lent::Later,
                _ => Lent::Evaluated(Default::default()),
            };
            if !chunks.score_chunk(&mut score) {
                match pull(chunks) {
                    Some(row) => found.push(row),
                    None => return (counted, found),
                }
            }
        }
    }

    #[test]
    fn counted_rows_are_numbered_and_their_ids_compared() {
        let rows = chunks([lending(1, &["a", "b", "cc", "d"]), lending(5, &["e", "fff", "g"])]);
        assert_eq!(scored(&rows), (4, vec!["2: cc".to_owned(), "5: fff".into(), "6: g".into()]));
        for ids in [&["xx", "y", "b"][..], &["y", "xx", "xx"], &["y", "fff", "y"]] {
            let rows = chunks([lending(1, &["a", "b"]), lending(3, ids)]);
            let id = ids[2];
            let first = ["a", "b"].iter().chain(ids).position(|other| *other == id).unwrap() + 1;
            let error = format!(
                "duplicate row id `{id}` (rows rows:{first} and rows:5); ids must be unique within a run"
            );
            assert_eq!(scored(&rows).1.last(), Some(&error), "{ids:?}");
        }
    }
}
