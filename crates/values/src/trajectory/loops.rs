//! Loops: calls, or cycles of several calls, that are repeated too often.

use std::num::NonZeroUsize;

use super::calls::ToolCalls;
use super::compare::Keys;
use super::message::ToolCall;

/// The largest number of calls of a cycle that is found.
const MAX_CYCLE: usize = 100;

/// Limits on how often calls can be repeated before they count as a loop. Calls are equal if their tools and arguments
/// are equal.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::trajectory::LoopLimits;
///
/// let trajectory = Trajectory::of_calls(["read", "test", "read", "test", "read", "test"].map(ToolCall::new));
/// let found = LoopLimits::default().find(&trajectory.tool_calls()).unwrap();
/// assert_eq!((found.calls.len(), found.times, found.first), (2, 3, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopLimits {
    /// The maximum number of times that the same call can be made in the whole trajectory.
    pub max_same: NonZeroUsize,
    /// The maximum number of times in succession that a cycle of two or more calls can occur.
    pub max_cycles: NonZeroUsize,
}

/// Twice each: deepeval counts a third equal call as a loop (`repetition_threshold = 3`).
impl Default for LoopLimits {
    fn default() -> Self {
        let twice = NonZeroUsize::MIN.saturating_add(1);
        Self {
            max_same: twice,
            max_cycles: twice,
        }
    }
}

/// A call, or a cycle of calls, that is repeated more often than allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct CallLoop<'t> {
    /// The call, or each call in the cycle, in order.
    pub calls: Vec<&'t ToolCall>,
    /// The number of times that the call is made, or that the cycle occurs in succession.
    pub times: usize,
    /// The position of the first call, counting from 1.
    pub first: usize,
}

impl LoopLimits {
    /// Returns the first of the shortest cycles that are repeated too often. If there is no such cycle, returns the
    /// most frequent call if it is made too often. Cycles of more than 100 calls are not found.
    pub fn find<'t>(self, calls: &ToolCalls<'t>) -> Option<CallLoop<'t>> {
        let mut keys = Keys::default();
        let numbers: Vec<usize> = calls.iter().map(|call| keys.of_call(call)).collect();
        let calls: Vec<&ToolCall> = calls.iter().collect();
        let cycle = (2..=MAX_CYCLE.min(numbers.len() / 2)).find_map(|length| {
            let (first, times) = cycle(&numbers, length, self.max_cycles.get())?;
            Some(CallLoop {
                calls: calls[first..first + length].to_vec(),
                times,
                first: first + 1,
            })
        });
        cycle.or_else(|| {
            let mut counts = vec![0; keys.len()];
            numbers.iter().for_each(|number| counts[*number] += 1);
            // The first of the most frequent calls: numbers are in the order of the first calls.
            let most = (0..counts.len())
                .rev()
                .max_by_key(|number| counts[*number])?;
            let first = numbers.iter().position(|number| *number == most)?;
            let times = counts[most];
            (times > self.max_same.get()).then(|| CallLoop {
                calls: vec![calls[first]],
                times,
                first: first + 1,
            })
        })
    }
}

/// Returns where the first cycle of this length starts that is made more than `most` times in a row, and how often it is made. A
/// repetition of one call is not a cycle of several.
fn cycle(numbers: &[usize], length: usize, most: usize) -> Option<(usize, usize)> {
    let mut at = length;
    while at < numbers.len() {
        let same = (at..numbers.len())
            .take_while(|it| numbers[*it] == numbers[it - length])
            .count();
        let first = at - length;
        let times = same / length + 1;
        let is_of_one = numbers[first..at]
            .iter()
            .all(|number| *number == numbers[first]);
        if times > most && !is_of_one {
            return Some((first, times));
        }
        at += same + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use proptest::prelude::*;

    use super::{LoopLimits, cycle};
    use crate::trajectory::{ToolCall, Trajectory};

    fn limits(max_same: usize, max_cycles: usize) -> LoopLimits {
        let [max_same, max_cycles] =
            [max_same, max_cycles].map(|it| NonZeroUsize::new(it).unwrap());
        LoopLimits {
            max_same,
            max_cycles,
        }
    }

    fn found(calls: &str, limits: LoopLimits) -> Option<(String, usize, usize)> {
        let trajectory =
            Trajectory::of_calls(calls.chars().map(|name| ToolCall::new(name.to_string())));
        let calls = trajectory.tool_calls();
        let found = limits.find(&calls)?;
        let names: Vec<&str> = found.calls.iter().map(|call| &*call.name).collect();
        Some((names.concat(), found.times, found.first))
    }

    #[test]
    fn calls_and_cycles_are_counted() {
        let of = |calls: &str, times, first| Some((calls.to_owned(), times, first));
        assert_eq!(found("abab", limits(2, 2)), None);
        assert_eq!(found("abacad", limits(2, 2)), of("a", 3, 1));
        assert_eq!(found("xabababy", limits(9, 2)), of("ab", 3, 2));
        assert_eq!(found("xabcabcz", limits(9, 1)), of("abc", 2, 2));
        // Polling is not a cycle of several calls.
        assert_eq!(found("aaaaaa", limits(6, 1)), None);
        assert_eq!(found("aaaaaa", limits(5, 1)), of("a", 6, 1));
        assert_eq!(found("", limits(1, 1)), None);
    }

    proptest! {
        #[test]
        fn a_cycle_is_found_if_and_only_if_there_is_one(
            numbers in prop::collection::vec(0_usize..3, 0..14), length in 2_usize..5, most in 1_usize..4,
        ) {
            let is_cycle = |first: usize| {
                let end = first + length * (most + 1);
                let block = &numbers[first..first + length];
                end <= numbers.len()
                    && block.iter().any(|number| *number != block[0])
                    && (first..end).all(|at| numbers[at] == block[(at - first) % length])
            };
            let last = (numbers.len() + 1).saturating_sub(length);
            let expected = (0..last).find(|first| is_cycle(*first));
            prop_assert_eq!(cycle(&numbers, length, most).map(|it| it.0), expected);
        }
    }
}
