//! Rows that are only counted: each worker counts its own, and the counts are added to those of the run.
//!
//! A row is plain if every metric returned a score without components, named scores or other data, and if
//! nothing else of it is needed. Most rows of a large run are.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::tally::Tally;
use crate::core::outcome::Outcome;
use crate::core::score::Scored;
use crate::stats::{Histogram, Moments};

/// The plain rows of one worker that are not yet counted in those of the run. Only the worker locks it, until the run
/// ends, so that rows of a worker that is blocked are not lost.
pub(super) type SharedPlainRows = Arc<Mutex<PlainRows>>;

pub(super) struct PlainRows {
    rows: u64,
    tallies: Vec<PlainTally>,
}

/// The counts and values of one metric.
#[derive(Default)]
pub(super) struct PlainTally {
    pub(super) scored: u64,
    pub(super) passed: u64,
    pub(super) with_verdict: u64,
    pub(super) ones: u64,
    pub(super) cost_msats: u64,
    pub(super) moments: Moments,
    pub(super) histogram: Option<Histogram>,
}

impl PlainTally {
    pub(super) fn new(histogram: Option<Histogram>) -> Self {
        Self { histogram, ..Self::default() }
    }

    fn record(&mut self, scored: &Scored) {
        let value = scored.score.value;
        self.scored += 1;
        self.passed += u64::from(scored.passed == Some(true));
        self.with_verdict += u64::from(scored.passed.is_some());
        self.ones += u64::from(value >= 1.0);
        self.cost_msats = self.cost_msats.saturating_add(scored.score.cost_msats);
        self.moments.record(value);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(value);
        }
    }
}

impl PlainRows {
    pub(super) fn new(tallies: &[Tally]) -> Self {
        Self { rows: 0, tallies: tallies.iter().map(Tally::plain).collect() }
    }

    /// Counts a row if it is plain, and returns whether it is.
    pub(super) fn record(&mut self, outcomes: &[Outcome]) -> bool {
        if !outcomes.iter().all(is_simple) {
            return false;
        }
        self.rows += 1;
        for (tally, scored) in
            self.tallies.iter_mut().zip(outcomes.iter().filter_map(Outcome::scored))
        {
            tally.record(scored);
        }
        true
    }

    /// Adds the rows to those of the run, and returns their number.
    pub(super) fn add_to(&mut self, tallies: &mut [Tally]) -> u64 {
        if self.rows > 0 {
            for (plain, tally) in self.tallies.iter_mut().zip(tallies) {
                tally.add(&std::mem::replace(plain, tally.plain()));
            }
        }
        std::mem::take(&mut self.rows)
    }
}

/// Returns whether an outcome is a score without components, named scores or other data.
pub(super) fn is_simple(outcome: &Outcome) -> bool {
    outcome.scored().is_some_and(Scored::is_simple)
}

pub(super) fn lock(rows: &SharedPlainRows) -> MutexGuard<'_, PlainRows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}
