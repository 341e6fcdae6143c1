//! Totals of the usage and the latency of a program.

use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::core::program_run::{ProgramRun, ProgramUsage};

/// Tokens, cost and latency of a program, summed over the rows of an evaluation. A row whose program failed returned
/// neither, so it is not in the sums.
///
/// As JSON: `{"latency_s": .., "latency_rows": N, "input_tokens": .., "output_tokens": .., "cost_msats": .., "usage_rows": N}`
/// with the latency that the program itself returned, since a measured one differs from run to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramTotals {
    /// The usage of all rows; `None` if the program returned none. The cost is `None` if the cost of any row is unknown.
    pub usage: Option<ProgramUsage>,
    /// The number of rows with a usage.
    pub usage_rows: u64,
    /// The latency of all rows, measured or returned; `None` if no program was run. Rows run concurrently, so it is
    /// not the duration of the evaluation.
    pub latency: Option<Duration>,
    /// The number of rows with a latency.
    pub latency_rows: u64,
    returned_latency: Option<Duration>,
    returned_rows: u64,
}

impl ProgramTotals {
    /// Returns the mean latency of a row, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 rows")]
    pub fn mean_latency_s(&self) -> Option<f64> {
        Some(self.latency?.as_secs_f64() / self.latency_rows as f64)
    }

    pub(crate) fn add(&mut self, run: &ProgramRun) {
        if let Some(usage) = run.usage {
            *self.usage.get_or_insert_default() += usage;
            self.usage_rows += 1;
        }
        let sum = |sum: &mut Option<Duration>, rows: &mut u64, latency: Option<Duration>| {
            if let Some(latency) = latency {
                *sum = Some(sum.unwrap_or_default().saturating_add(latency));
                *rows += 1;
            }
        };
        sum(&mut self.latency, &mut self.latency_rows, run.latency);
        sum(
            &mut self.returned_latency,
            &mut self.returned_rows,
            run.returned_latency(),
        );
    }

    /// Whether the program returned usage or latency.
    pub(crate) fn is_reported(&self) -> bool {
        self.usage.is_some() || self.returned_latency.is_some()
    }
}

impl Serialize for ProgramTotals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut totals = serializer.serialize_struct("ProgramTotals", 6)?;
        if let Some(latency) = self.returned_latency {
            totals.serialize_field("latency_s", &latency.as_secs_f64())?;
            totals.serialize_field("latency_rows", &self.returned_rows)?;
        }
        if let Some(usage) = self.usage {
            totals.serialize_field("input_tokens", &usage.input_tokens)?;
            totals.serialize_field("output_tokens", &usage.output_tokens)?;
            totals.serialize_field("cost_msats", &usage.cost_msats)?;
            totals.serialize_field("usage_rows", &self.usage_rows)?;
        }
        totals.end()
    }
}
