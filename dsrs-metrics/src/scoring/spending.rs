//! What one row or a whole run asked for and paid.

use serde::Serialize;

/// Calls and money of one row, or of all rows of a run. Amounts are in millisatoshis; sums saturate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spending {
    /// How many calls of truth metrics were made.
    pub truth_calls: u64,
    /// How many were not made because the proxies rejected the rollout.
    pub truth_calls_gated: u64,
    /// What those would have cost at most, by what the metrics declare.
    pub saved_msats: u64,
    /// What the calls of both tiers say they cost, scored or failed. A call that panicked tells no cost.
    pub spent_msats: u64,
    /// What was set aside for calls; 0 without a budget.
    pub reserved_msats: u64,
    /// What was set aside and not spent, and so given back.
    pub returned_msats: u64,
    /// By how much calls cost more than was set aside for them; 0 without a budget.
    pub overrun_msats: u64,
}

impl Spending {
    /// One settled call.
    pub(super) fn of_call(reserved: u64, cost: u64, limited: bool) -> Self {
        Self {
            spent_msats: cost,
            reserved_msats: reserved,
            returned_msats: reserved.saturating_sub(cost),
            overrun_msats: if limited { cost.saturating_sub(reserved) } else { 0 },
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
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
