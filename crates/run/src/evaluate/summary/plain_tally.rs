//! The counts and values of one metric over rows that are only counted.

use crate::core::score::Scored;
use crate::stats::{Histogram, Moments};

/// The counts and values of one metric.
#[derive(Default)]
pub(crate) struct PlainTally {
    pub(crate) scored: u64,
    pub(crate) passed: Option<u64>,
    pub(crate) ones: u64,
    pub(crate) cost_msats: u64,
    pub(crate) moments: Moments,
    pub(crate) histogram: Option<Histogram>,
}

impl PlainTally {
    pub(crate) fn new(histogram: Option<Histogram>) -> Self {
        Self {
            histogram,
            ..Self::default()
        }
    }

    pub(crate) fn record(&mut self, scored: &Scored) {
        let value = scored.score.value;
        self.scored += 1;
        add_passed(&mut self.passed, scored.passed.map(u64::from));
        self.ones += u64::from(value >= 1.0);
        self.cost_msats = self.cost_msats.saturating_add(scored.score.cost_msats);
        self.moments.record(value);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(value);
        }
    }
}

/// Adds rows that passed, `None` if they have no verdict.
pub(crate) fn add_passed(passed: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *passed.get_or_insert(0) += more;
    }
}
