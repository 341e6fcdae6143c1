//! Assigns numbers to calls, giving calls that a rule cannot tell apart the same number. Call counts and loops are
//! computed from the numbers.

use std::num::NonZeroUsize;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use serde_json::{Value, json};

use super::{ArgsRule, TooManyCalls, at};
use crate::json::canonical;
use crate::stats::share;
use crate::text::common_subsequence;
use crate::trajectory::ToolCall;
use crate::trajectory::calls::ToolCalls;

/// Numbers keys consecutively. A key is JSON text, and equal values have equal text.
#[derive(Default)]
pub(in crate::trajectory) struct Keys(IndexSet<String, RandomState>);

impl Keys {
    /// Returns the number assigned to a call's tool.
    pub(super) fn of_tool(&mut self, call: &ToolCall) -> usize {
        self.of_parts(call, false, false)
    }

    /// Returns the number assigned to a call's tool and arguments.
    pub(in crate::trajectory) fn of_call(&mut self, call: &ToolCall) -> usize {
        self.of_parts(call, true, false)
    }

    /// Returns the number assigned to a call's tool, together with the arguments if `args` is `true` and the result if
    /// `result` is `true`.
    pub(super) fn of_parts(&mut self, call: &ToolCall, args: bool, result: bool) -> usize {
        let args = args.then(|| canonical(&call.args));
        let result = call.result.iter().filter(|_| result).map(canonical);
        self.number(&json!([call.name, args, result.collect::<Vec<_>>()]))
    }

    /// Returns the number assigned to the parts of a call that a rule compares, or to the whole call if the rule may
    /// match different calls. If the rule is a function, it need not match a call with an equal one, so each call gets
    /// its own number.
    pub(super) fn by_rule(&mut self, call: &ToolCall, rule: &ArgsRule) -> usize {
        match rule {
            ArgsRule::Ignore => self.of_tool(call),
            ArgsRule::Paths(paths) if call.args.is_object() => {
                let values = paths.iter().map(|path| canonical(at(&call.args, path)));
                self.number(&json!([call.name, values.collect::<Vec<_>>()]))
            }
            ArgsRule::Function(_) => self.number(&json!([call.name, null, self.len()])),
            _ => self.of_call(call),
        }
    }

    /// Returns the number of keys.
    pub(in crate::trajectory) fn len(&self) -> usize {
        self.0.len()
    }

    fn number(&mut self, key: &Value) -> usize {
        self.0.insert_full(key.to_string()).0
    }
}

/// Calls that were made and expected calls, with their positions.
pub(super) type Sides<'t> = [Vec<(usize, &'t ToolCall)>; 2];

/// Returns the calls of two trajectories.
pub(super) fn sides<'t>(called: &ToolCalls<'t>, expected: &ToolCalls<'t>) -> Sides<'t> {
    [called, expected].map(|calls| calls.iter().enumerate().collect())
}

/// Groups calls by the numbers that `key` returns.
pub(super) fn grouped<'t>(
    calls: Sides<'t>,
    mut key: impl FnMut(&ToolCall) -> usize,
) -> Vec<Sides<'t>> {
    let mut groups = Vec::<Sides<'_>>::new();
    for (side, calls) in calls.into_iter().enumerate() {
        for call in calls {
            let number = key(call.1);
            if groups.len() <= number {
                groups.resize_with(number + 1, Sides::default);
            }
            groups[number][side].push(call);
        }
    }
    groups
}

/// Removes as many pairs of calls with the same number as possible.
pub(super) fn without_equal<'t>(
    calls: Sides<'t>,
    key: impl FnMut(&ToolCall) -> usize,
) -> Sides<'t> {
    let mut rest = Sides::default();
    for group in grouped(calls, key) {
        let pairs = group[0].len().min(group[1].len());
        for (rest, calls) in rest.iter_mut().zip(group) {
            rest.extend_from_slice(&calls[pairs..]);
        }
    }
    rest
}

/// The maximum number of pairs of calls for finding a longest common subsequence, which takes seconds.
const MAX_PAIRS: u64 = 4_000_000_000;

/// The number of calls in each of two trajectories, and the number of calls they share.
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
    /// The number of calls that both trajectories share.
    pub common: usize,
    /// The number of calls that were made.
    pub called: usize,
    /// The number of expected calls.
    pub expected: usize,
}

impl CallCounts {
    /// Counts the calls that two trajectories share, in any order.
    ///
    /// Calls are compared by tool and, if `with_args` is `true`, also by arguments. A call that both trajectories
    /// contain several times is counted several times.
    pub fn in_any_order(called: &ToolCalls<'_>, expected: &ToolCalls<'_>, with_args: bool) -> Self {
        let mut keys = Keys::default();
        let key = |call: &ToolCall| keys.of_parts(call, with_args, false);
        let [extra, _] = without_equal(sides(called, expected), key);
        Self {
            common: called.len() - extra.len(),
            called: called.len(),
            expected: expected.len(),
        }
    }

    /// Counts the calls that two trajectories share, in the same order.
    ///
    /// The shared calls are a longest common subsequence of the tool names.
    ///
    /// # Errors
    /// Returns [`TooManyCalls`] if there are more than 4,000,000,000 pairs of calls.
    pub fn in_order(
        called: &ToolCalls<'_>,
        expected: &ToolCalls<'_>,
    ) -> Result<Self, TooManyCalls> {
        TooManyCalls::check(called, expected, MAX_PAIRS)?;
        let mut keys = Keys::default();
        // At most as many numbers as there are calls.
        let [one, other] = [called, expected].map(|calls| {
            let tools = calls.iter().map(|call| keys.of_tool(call) as u32);
            tools.collect::<Vec<_>>()
        });
        Ok(Self {
            common: common_subsequence(&one, &other),
            called: called.len(),
            expected: expected.len(),
        })
    }

    /// Returns the fraction of calls that were expected, in [0, 1].
    ///
    /// Returns 1 if neither trajectory has a call.
    pub fn precision(self) -> f64 {
        self.share(self.called)
    }

    /// Returns the fraction of expected calls that were made, in [0, 1].
    ///
    /// Returns 1 if neither trajectory has a call.
    pub fn recall(self) -> f64 {
        self.share(self.expected)
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f1(self) -> f64 {
        share(2 * self.common as u64, (self.called + self.expected) as u64)
    }

    fn share(self, of: usize) -> f64 {
        match (of, self.called + self.expected) {
            (_, 0) => 1.0,
            (0, _) => 0.0,
            (of, _) => self.common as f64 / of as f64,
        }
    }
}

/// The maximum number of calls in a cycle.
const MAX_CYCLE: usize = 100;

/// Limits on how often calls can be repeated before they count as a loop.
///
/// Two calls are the same if their tools and arguments are equal.
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
    /// The maximum number of times that the same call can be made.
    ///
    /// All calls in the trajectory are counted.
    pub max_same: NonZeroUsize,
    /// The maximum number of times that a cycle of calls can occur in a row.
    ///
    /// A cycle consists of two or more calls.
    pub max_cycles: NonZeroUsize,
}

/// Allows two of each, because deepeval counts a third equal call as a loop (`repetition_threshold = 3`).
impl Default for LoopLimits {
    fn default() -> Self {
        let twice = NonZeroUsize::MIN.saturating_add(1);
        Self {
            max_same: twice,
            max_cycles: twice,
        }
    }
}

/// A call, or a cycle of calls, that repeats too many times.
#[derive(Debug, Clone, PartialEq)]
pub struct CallLoop<'t> {
    /// The calls in the cycle, in order.
    ///
    /// If a single call is repeated, the list contains only that call.
    pub calls: Vec<&'t ToolCall>,
    /// The number of times that the call or the cycle is repeated.
    ///
    /// For a single call, this is the number of times in the whole trajectory. For a cycle, it is the number of times
    /// in a row.
    pub times: usize,
    /// The position of the first call in the loop, starting at 1.
    pub first: usize,
}

impl LoopLimits {
    /// Returns a loop of calls that exceeds these limits, or `None` if there is none.
    ///
    /// Shorter cycles take precedence over longer ones, and earlier cycles over later ones. If no cycle exceeds the
    /// limit, the most frequent call is returned if it exceeds its own limit.
    ///
    /// Cycles of more than 100 calls are not found.
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
            let numbers_from_last = (0..counts.len()).rev();
            let commonest = numbers_from_last.max_by_key(|number| counts[*number])?;
            let first = numbers.iter().position(|number| *number == commonest)?;
            let times = counts[commonest];
            (times > self.max_same.get()).then(|| CallLoop {
                calls: vec![calls[first]],
                times,
                first: first + 1,
            })
        })
    }
}

/// Finds the first cycle of this length that occurs more than `max` times in a row. Returns where the cycle starts and
/// how often it occurs. Repetitions of a single call do not count as a cycle.
fn cycle(numbers: &[usize], length: usize, max: usize) -> Option<(usize, usize)> {
    let mut at = length;
    while at < numbers.len() {
        let is_same = |place: &usize| numbers[*place] == numbers[place - length];
        let same = (at..numbers.len()).take_while(is_same).count();
        let first = at - length;
        let times = same / length + 1;
        let is_of_one = numbers[first..at].iter().all(|it| *it == numbers[first]);
        if times > max && !is_of_one {
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
            numbers in prop::collection::vec(0_usize..3, 0..14), length in 2_usize..5, max in 1_usize..4,
        ) {
            let is_cycle = |first: usize| {
                let end = first + length * (max + 1);
                let block = &numbers[first..first + length];
                end <= numbers.len()
                    && block.iter().any(|number| *number != block[0])
                    && (first..end).all(|at| numbers[at] == block[(at - first) % length])
            };
            let last = (numbers.len() + 1).saturating_sub(length);
            let expected = (0..last).find(|first| is_cycle(*first));
            prop_assert_eq!(cycle(&numbers, length, max).map(|it| it.0), expected);
        }
    }
}
