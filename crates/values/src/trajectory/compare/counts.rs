//! Calls in common, and the F1 of calls.

use super::TooManyCalls;
use super::keys::{Keys, group};
use crate::text::common_subsequence;
use crate::trajectory::calls::ToolCalls;

/// The largest number of pairs of calls for a longest common subsequence; it takes seconds.
const MAX_PAIRS: u64 = 4_000_000_000;

/// The calls of two trajectories, counted.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::trajectory::CallCounts;
///
/// let [called, expected] = [&["search", "search", "book"][..], &["search", "book", "pay"]]
///     .map(|names| Trajectory::of_calls(names.iter().copied().map(ToolCall::new)));
/// let counts = CallCounts::in_any_order(&called.tool_calls(), &expected.tool_calls(), true);
/// assert_eq!((counts.common, counts.called, counts.expected), (2, 3, 3));
/// assert_eq!(counts.f1(), 2.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallCounts {
    /// The number of calls in common.
    pub common: usize,
    /// The number of calls.
    pub called: usize,
    /// The number of expected calls.
    pub expected: usize,
}

impl CallCounts {
    /// Counts the calls in common in any order, each as often as it is in both: the overlap of multisets. Calls are compared by tool
    /// and arguments, or by tool alone.
    pub fn in_any_order(called: &ToolCalls<'_>, expected: &ToolCalls<'_>, with_args: bool) -> Self {
        let mut keys = Keys::default();
        let mut counts = Vec::<[usize; 2]>::new();
        for (side, calls) in [called, expected].into_iter().enumerate() {
            for call in calls {
                group(&mut counts, keys.of_parts(call, with_args, false))[side] += 1;
            }
        }
        let common = counts.iter().map(|[ours, theirs]| ours.min(theirs)).sum();
        Self {
            common,
            called: called.len(),
            expected: expected.len(),
        }
    }

    /// Counts the calls of a longest common subsequence of the tools' names.
    ///
    /// # Errors
    /// Too many calls: more than 4,000,000,000 pairs.
    pub fn in_order(
        called: &ToolCalls<'_>,
        expected: &ToolCalls<'_>,
    ) -> Result<Self, TooManyCalls> {
        let (ours, theirs) = (called.len(), expected.len());
        if (ours as u64).saturating_mul(theirs as u64) > MAX_PAIRS {
            return Err(TooManyCalls::new(
                "calls",
                ours,
                theirs,
                "compare them in any order",
            ));
        }
        let mut keys = Keys::default();
        // At most as many numbers as there are calls.
        let [one, other] = [called, expected].map(|calls| {
            calls
                .iter()
                .map(|call| keys.of_tool(call) as u32)
                .collect::<Vec<_>>()
        });
        Ok(Self {
            common: common_subsequence(&one, &other),
            called: ours,
            expected: theirs,
        })
    }

    /// Returns the share of the calls that were expected, in [0, 1]; 1 without any call on both sides.
    pub fn precision(self) -> f64 {
        self.share(self.called)
    }

    /// Returns the share of the expected calls that were made, in [0, 1]; 1 without any call on both sides.
    pub fn recall(self) -> f64 {
        self.share(self.expected)
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f1(self) -> f64 {
        match self.called + self.expected {
            0 => 1.0,
            all => 2.0 * self.common as f64 / all as f64,
        }
    }

    fn share(self, of: usize) -> f64 {
        match (of, self.called + self.expected) {
            (_, 0) => 1.0,
            (0, _) => 0.0,
            (of, _) => self.common as f64 / of as f64,
        }
    }
}
