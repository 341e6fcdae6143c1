//! The rows that a thread has evaluated and that are not yet part of the run: each thread has its own, so that threads
//! seldom wait for each other.
//!
//! A row is only counted if every metric returned a score without components, named scores or other data, and if the run
//! needs only its line. Most rows of a large run are only counted.

use std::sync::{Arc, Mutex};

use super::collector::Collector;
use crate::core::score::Scored;
use crate::core::score::outcome::Outcome;
use crate::evaluate::report::Lines;
use crate::evaluate::row::RowResult;
use crate::evaluate::summary::{PlainTally, Tally};

/// The most finished rows of a thread.
const MAX_FINISHED: usize = 64;

/// A thread with this many bytes of lines adds its rows to the rows of the run.
const MAX_TEXT: usize = 1 << 16;

/// Only the thread locks its rows, until the run ends, so that rows of a thread that is blocked are not lost.
pub(crate) type SharedRows<G, P> = Arc<Mutex<ThreadRows<G, P>>>;

pub(crate) struct ThreadRows<G, P> {
    counted: u64,
    tallies: Vec<PlainTally>,
    finished: Vec<(u64, RowResult<G, P>)>,
    /// The lines of the rows, if rows are written.
    pub(crate) lines: Lines,
}

impl<G, P> ThreadRows<G, P> {
    pub(crate) fn new(tallies: &[Tally]) -> Self {
        let tallies = tallies.iter().map(Tally::plain).collect();
        Self {
            counted: 0,
            tallies,
            finished: Vec::new(),
            lines: Lines::default(),
        }
    }

    /// Counts a row whose outcomes are simple.
    pub(crate) fn count(&mut self, outcomes: &[Outcome]) {
        self.counted += 1;
        for (tally, scored) in self
            .tallies
            .iter_mut()
            .zip(outcomes.iter().filter_map(Outcome::scored))
        {
            tally.record(scored);
        }
    }

    /// Adds a row that is not only counted.
    pub(crate) fn push(&mut self, index: u64, row: RowResult<G, P>) {
        self.finished.push((index, row));
    }

    /// Returns whether it is time to add the rows to the rows of the run.
    pub(crate) fn is_full(&self) -> bool {
        self.finished.len() >= MAX_FINISHED || self.lines.text.len() >= MAX_TEXT
    }

    /// Adds the rows to the rows of the run.
    pub(crate) fn add_to(&mut self, collector: &mut Collector<G, P>) {
        if self.counted > 0 {
            collector.add(std::mem::take(&mut self.counted), &mut self.tallies);
        }
        for (index, row) in self.finished.drain(..) {
            collector.record(index, row);
        }
        collector.write(&mut self.lines);
    }
}

/// Returns whether all outcomes are scores without components, named scores or other data.
pub(crate) fn are_simple(outcomes: &[Outcome]) -> bool {
    outcomes
        .iter()
        .all(|outcome| outcome.scored().is_some_and(Scored::is_simple))
}
