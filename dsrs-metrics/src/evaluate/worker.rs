//! A worker: a task that pulls rows until there are none.
//!
//! A worker is one task for the whole run. No task is spawned per row, and tokio distributes the workers over
//! its threads.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;

use super::chunk_rows::Lent;
use super::journal::RunJournal;
use super::plain_rows::{self, PlainRows, SharedPlainRows};
use super::pulled_rows::OwnRows;
use super::row_result::RowResult;
use super::run::Run;
use super::source::{Numbered, lock};
use super::source_row::{Evaluated, Input};
use crate::core::outcome::Outcome;
use crate::core::panic;
use crate::evaluate::program::Program;
use crate::evaluate::report::Render;

/// How long a worker may run without yielding to timers, signals and other tasks.
const TIME_SLICE: Duration = Duration::from_millis(5);

/// The largest number of rows between two readings of the clock.
const MAX_ROWS_PER_READING: u32 = 64;

/// The number of rows between two readings of the clock while the rows of a chunk are counted.
const CHUNK_ROWS_PER_READING: u32 = 16;

/// How long a worker may count the rows of a chunk, whose other rows no worker can take. It is much longer than fast rows
/// take, so that a thread that is suspended rarely ends the counting.
const CHUNK_SLICE: Duration = Duration::from_millis(20);

/// The longest time that a row may take where the rows of a chunk are counted.
const MAX_CHUNK_ROW: Duration = Duration::from_micros(50);

/// Awaits a row, resetting its cooperative time slice each time it is resumed, since other tasks ran
/// meanwhile. Yielding again at its end would queue it behind all tasks that were woken with it.
async fn with_time_slice<T>(
    slice_start: &mut std::time::Instant,
    mut row: Pin<&mut impl Future<Output = T>>,
) -> T {
    let mut has_waited = false;
    poll_fn(|context| {
        if has_waited {
            *slice_start = std::time::Instant::now();
        }
        has_waited = true;
        row.as_mut().poll(context)
    })
    .await
}

/// When a worker yields.
struct Slice {
    start: Instant,
    /// The rows until the clock is read again: few if rows take long.
    rows_left: u32,
    rows_per_reading: u32,
    last_reading: Instant,
    /// Whether rows take so little time that they can be counted as they are decoded.
    counts_chunks: bool,
}

impl Slice {
    fn start() -> Self {
        let now = Instant::now();
        let (rows_left, rows_per_reading) = (1, 1);
        Self { start: now, rows_left, rows_per_reading, last_reading: now, counts_chunks: false }
    }

    /// Returns the time since the start of the slice, after a chunk of fast rows.
    fn elapsed_after_chunk(&mut self) -> Duration {
        self.last_reading = Instant::now();
        self.last_reading.duration_since(self.start)
    }

    /// Returns the time since the start of the slice, unless the clock need not be read after this row.
    fn elapsed(&mut self) -> Option<Duration> {
        self.rows_left -= 1;
        if self.rows_left > 0 {
            return None;
        }
        let now = Instant::now();
        let since_reading = now.duration_since(self.last_reading);
        self.counts_chunks |= since_reading / self.rows_per_reading < MAX_CHUNK_ROW;
        let is_fast = since_reading < TIME_SLICE / 50;
        self.rows_per_reading = match is_fast {
            true => (2 * self.rows_per_reading).min(MAX_ROWS_PER_READING),
            false => 1,
        };
        (self.rows_left, self.last_reading) = (self.rows_per_reading, now);
        Some(now.duration_since(self.start))
    }
}

/// What became of a row that a worker tried to evaluate without awaiting anything.
enum Attempted<G, P> {
    /// It was counted as a plain row.
    Counted,
    Evaluated(RowResult<G, P>),
    /// It was not evaluated.
    Waits(Input<G, P>),
}

impl<'a, G: Send + Sync, P: Send + Sync> Run<'a, G, P> {
    /// Returns the next row: one that this worker has pulled, else one of the source, else one that another worker has
    /// pulled.
    async fn next(&self, own: &OwnRows<G, P>, rows_at_once: u32) -> Option<Numbered<G, P>> {
        if self.stop.is_set() {
            return None;
        }
        if let Some(row) = lock(own).pop_front() {
            return Some(row);
        }
        if rows_at_once > 1
            && let Some(row) = self.source.pull_several(rows_at_once, &self.stop, own)
        {
            return Some(row);
        }
        let pulled = self.source.pull(&self.stop, &self.pool).await;
        pulled.or_else(|| self.pulled.take().filter(|_| !self.stop.is_set()))
    }

    /// Evaluates rows until there are no more.
    pub(super) async fn work<Kind>(&self, program: &impl Program<G, P, Kind>) {
        let is_immediate = self.journal.is_none() && self.plan.is_immediate;
        let plain = self.plain_from.filter(|_| is_immediate).map(|from| (from, self.add_worker()));
        let counted = plain.as_ref().map(|(_, rows)| rows);
        let (mut line, mut outcomes) = (Vec::new(), Vec::new());
        let mut slice = Slice::start();
        let own = self.pulled.add_worker();
        loop {
            if self.counts_chunks
                && slice.counts_chunks
                && let Some(rows) = counted
                && self.count_chunk(&own, rows, &mut outcomes, &mut slice.counts_chunks)
            {
                let elapsed = slice.elapsed_after_chunk();
                self.yield_after(elapsed, &mut slice, counted).await;
                continue;
            }
            let rows_at_once = if is_immediate { slice.rows_per_reading } else { 1 };
            let Some((index, input)) = self.next(&own, rows_at_once).await else { break };
            let plain_rows = plain.as_ref().filter(|(from, _)| index >= *from);
            let attempted = match is_immediate {
                true => {
                    self.evaluate_now(index, input, &mut outcomes, plain_rows.map(|(_, rows)| rows))
                }
                false => Attempted::Waits(input),
            };
            match attempted {
                Attempted::Counted => {}
                Attempted::Evaluated(row) => self.finish_row(index, row, &mut line),
                Attempted::Waits(input) => {
                    self.pool.begin_row();
                    let row = self.plan.finish(index, input, program, self.journal.as_ref());
                    let row = with_time_slice(&mut slice.start, pin!(row)).await;
                    self.pool.end_row();
                    match row {
                        Ok(row) => self.finish_row(index, row, &mut line),
                        Err(error) => return self.source.fail(error, &self.stop),
                    }
                }
            }
            if let Some(elapsed) = slice.elapsed() {
                self.yield_after(elapsed, &mut slice, counted).await;
            }
        }
    }

    /// Rows that never wait must yield to timers, signals and other tasks: short ones by tokio's budget, which costs
    /// least, long ones when their time slice is over.
    async fn yield_after(
        &self,
        elapsed: Duration,
        slice: &mut Slice,
        plain: Option<&SharedPlainRows>,
    ) {
        if elapsed < TIME_SLICE {
            return tokio::task::consume_budget().await;
        }
        if let Some(rows) = plain {
            self.add_plain_rows(rows);
        }
        self.poll_stop_signal();
        tokio::task::yield_now().await;
        slice.start = Instant::now();
    }

    /// Decodes a chunk of rows and counts those that are plain, without keeping them. Returns whether there was one: not if
    /// other rows are to be evaluated first.
    fn count_chunk(
        &self,
        own: &OwnRows<G, P>,
        plain: &SharedPlainRows,
        outcomes: &mut Vec<Outcome>,
        are_fast: &mut bool,
    ) -> bool {
        if self.stop.is_set() || !lock(own).is_empty() {
            return false;
        }
        let (start, mut rows) = (Instant::now(), 0_u32);
        self.source.score_chunk(&mut |gold, pred| {
            rows += 1;
            if rows.is_multiple_of(CHUNK_ROWS_PER_READING) {
                // Rows that take long are better evaluated one by one, by all workers.
                *are_fast = start.elapsed() < CHUNK_SLICE;
                if !*are_fast || self.stop.is_set() {
                    return Lent::Later;
                }
            }
            match self.plan.score_now(self.plan.call(gold, pred, None), outcomes) {
                None => Lent::Later,
                Some(_) if plain_rows::lock(plain).record(outcomes) => Lent::Counted,
                Some(traceback) => {
                    let outcomes = std::mem::take(outcomes);
                    Lent::Evaluated(Evaluated { outcomes, traceback })
                }
            }
        })
    }

    fn evaluate_now(
        &self,
        index: u64,
        mut input: Input<G, P>,
        outcomes: &mut Vec<Outcome>,
        plain: Option<&SharedPlainRows>,
    ) -> Attempted<G, P> {
        if let Some(Evaluated { outcomes, traceback }) = input.take_evaluated() {
            let row = RowResult::begin(index, input);
            return Attempted::Evaluated(RowResult { outcomes, traceback, ..row });
        }
        let call = input.pred.as_ref().map(|pred| self.plan.call(input.gold.get(), pred, None));
        let Some(traceback) = call.and_then(|call| self.plan.score_now(call, outcomes)) else {
            return Attempted::Waits(input);
        };
        if plain.is_some_and(|plain| plain_rows::lock(plain).record(outcomes)) {
            return Attempted::Counted;
        }
        let row = RowResult::begin(index, input);
        Attempted::Evaluated(RowResult { outcomes: std::mem::take(outcomes), traceback, ..row })
    }

    fn finish_row(&self, index: u64, row: RowResult<G, P>, line: &mut Vec<u8>) {
        if let Some(render) = self.render {
            line.clear();
            self.render_row(render, &row, line);
        }
        self.observers.notify(|observer| observer.on_row(&row));
        self.record(index, row, line);
    }

    /// Returns the plain rows of a new worker.
    fn add_worker(&self) -> SharedPlainRows {
        let collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = Arc::new(Mutex::new(PlainRows::new(&collector.tallies)));
        let mut all = self.plain_rows.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Arc::clone(&rows));
        rows
    }

    fn add_plain_rows(&self, rows: &SharedPlainRows) {
        let mut collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner);
        collector.add(&mut plain_rows::lock(rows));
    }

    /// Polls the stop signal here too, because busy workers may starve the task that waits for it.
    fn poll_stop_signal(&self) {
        let signal = self.stop_when.as_ref().filter(|_| !self.stop.is_requested());
        if signal.is_some_and(|signal| signal.clone().now_or_never().is_some()) {
            self.stop.request();
        }
    }

    fn render_row(&self, render: Render<G, P>, row: &RowResult<G, P>, line: &mut Vec<u8>) {
        if panic::catch(false, || render(row, &self.names, line)).is_err() {
            line.clear();
            super::score_line(row, &self.names, line);
        }
    }

    fn record(&self, index: u64, row: RowResult<G, P>, line: &[u8]) {
        let mut collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner);
        collector.record(index, row, line);
        if let Some(error) = self.journal.as_ref().and_then(RunJournal::error) {
            collector.output_error.get_or_insert(error.into());
        }
        if collector.is_full() {
            self.stop.set();
        }
    }
}
