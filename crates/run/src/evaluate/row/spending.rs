//! The calls and cost of one row or of a whole run.

use serde::Serialize;

/// The calls and cost of one row, or of all rows of a run. Amounts are in millisatoshis; sums saturate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spending {
    /// The number of calls of truth metrics.
    pub truth_calls: u64,
    /// The number of calls not made because the proxies rejected the rollout.
    pub truth_calls_gated: u64,
    /// The declared maximum cost of the calls not made.
    pub saved_msats: u64,
    /// The reported cost of the calls of both tiers, scored or failed. A call that panicked reports none.
    pub spent_msats: u64,
    /// The amount reserved for calls; 0 without a budget.
    pub reserved_msats: u64,
    /// The amount that was reserved, not spent, and released.
    pub returned_msats: u64,
    /// The amount by which calls exceeded their reservations; 0 without a budget.
    pub overrun_msats: u64,
}

impl Spending {
    /// Returns the spending of one settled call.
    pub(crate) fn of_call(reserved: u64, cost: u64, limited: bool) -> Self {
        Self {
            spent_msats: cost,
            reserved_msats: reserved,
            returned_msats: reserved.saturating_sub(cost),
            overrun_msats: if limited {
                cost.saturating_sub(reserved)
            } else {
                0
            },
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sums = [
            (&mut self.truth_calls, other.truth_calls),
            (&mut self.truth_calls_gated, other.truth_calls_gated),
            (&mut self.saved_msats, other.saved_msats),
            (&mut self.spent_msats, other.spent_msats),
            (&mut self.reserved_msats, other.reserved_msats),
            (&mut self.returned_msats, other.returned_msats),
            (&mut self.overrun_msats, other.overrun_msats),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }
}
