//! Numbers calls: calls that a rule cannot tell apart get the same number.

use std::collections::HashMap;
use std::fmt::Write as _;

use foldhash::fast::RandomState;
use serde_json::{Number, Value};

use super::TooManyCalls;
use super::args::{ArgsRule, at};
use crate::json::equality::whole;
use crate::text::common_subsequence;
use crate::trajectory::calls::ToolCalls;
use crate::trajectory::message::ToolCall;

/// Consecutive numbers of keys.
#[derive(Default)]
pub(in crate::trajectory) struct Keys {
    numbers: HashMap<String, usize, RandomState>,
    /// The memory of the last key.
    key: String,
}

impl Keys {
    /// Returns the number of a call's tool.
    pub(super) fn of_tool(&mut self, call: &ToolCall) -> usize {
        self.of_parts(call, false, false)
    }

    /// Returns the number of a call's tool and arguments.
    pub(in crate::trajectory) fn of_call(&mut self, call: &ToolCall) -> usize {
        self.of_parts(call, true, false)
    }

    /// Returns the number of a call's tool and of its arguments as they are written: a function of the caller may tell 1 from 1.0.
    pub(super) fn as_written(&mut self, call: &ToolCall) -> usize {
        self.number(|key| {
            push_text(key, &call.name);
            // A string takes everything.
            let _ = write!(key, "{}", call.args);
        })
    }

    /// Returns the number of a call's tool, and of its arguments and its result if these count.
    pub(super) fn of_parts(&mut self, call: &ToolCall, args: bool, result: bool) -> usize {
        self.number(|key| {
            push_text(key, &call.name);
            if args {
                push(key, &call.args);
            }
            if let (true, Some(result)) = (result, &call.result) {
                push(key, result);
            }
        })
    }

    /// Returns the number of what a rule compares of a call; `None` if two calls that match a third one need not match each other.
    pub(super) fn by_rule(&mut self, call: &ToolCall, rule: &ArgsRule) -> Option<usize> {
        match rule {
            ArgsRule::Exact => Some(self.of_call(call)),
            ArgsRule::Ignore => Some(self.of_tool(call)),
            ArgsRule::Paths(_) if !call.args.is_object() => Some(self.number(|key| {
                key.push('!');
                push_text(key, &call.name);
                push(key, &call.args);
            })),
            ArgsRule::Paths(paths) => Some(self.number(|key| {
                push_text(key, &call.name);
                paths
                    .iter()
                    .for_each(|path| push(key, at(&call.args, path)));
            })),
            ArgsRule::Subset | ArgsRule::Superset | ArgsRule::Function(_) => None,
        }
    }

    /// Returns the number of keys.
    pub(in crate::trajectory) fn len(&self) -> usize {
        self.numbers.len()
    }

    fn number(&mut self, write: impl FnOnce(&mut String)) -> usize {
        self.key.clear();
        write(&mut self.key);
        if let Some(number) = self.numbers.get(&self.key) {
            return *number;
        }
        let next = self.numbers.len();
        self.numbers.insert(self.key.clone(), next);
        next
    }
}

/// Returns the group of a number, which is the next one or known.
pub(super) fn group<T: Default>(groups: &mut Vec<T>, number: usize) -> &mut T {
    if groups.len() <= number {
        groups.resize_with(number + 1, T::default);
    }
    &mut groups[number]
}

/// Appends a value such that two values are appended equally if and only if `same_value` returns true for them.
fn push(key: &mut String, value: &Value) {
    match value {
        Value::Null => key.push('n'),
        Value::Bool(value) => key.push(if *value { 't' } else { 'f' }),
        Value::Number(number) => push_number(key, number),
        Value::String(text) => push_text(key, text),
        Value::Array(items) => {
            // Writing to a string cannot fail.
            let _ = write!(key, "[{}:", items.len());
            items.iter().for_each(|item| push(key, item));
        }
        Value::Object(fields) => {
            let _ = write!(key, "{{{}:", fields.len());
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in fields {
                push_text(key, name);
                push(key, value);
            }
        }
    }
}

fn push_number(key: &mut String, number: &Number) {
    let _ = match (whole(number), number.as_f64()) {
        (Some(whole), _) => write!(key, "i{whole};"),
        (None, Some(float)) => write!(key, "d{};", float.to_bits()),
        (None, None) => write!(key, "x{number};"),
    };
}

fn push_text(key: &mut String, text: &str) {
    let _ = write!(key, "s{}:{text}", text.len());
}

/// The largest number of pairs of calls for a longest common subsequence; it takes seconds.
const MAX_PAIRS: u64 = 4_000_000_000;

/// The number of calls in each of two trajectories, and the number they have in common.
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
    /// The number of calls that both trajectories have in common.
    pub common: usize,
    /// The number of calls that were made.
    pub called: usize,
    /// The number of expected calls.
    pub expected: usize,
}

impl CallCounts {
    /// Counts the calls that both trajectories have in common, in any order (the multiset intersection). Calls are
    /// compared by tool and, if `with_args` is `true`, also by arguments.
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

    /// Counts the calls in a longest common subsequence of the tool names.
    ///
    /// # Errors
    /// Returns [`TooManyCalls`] if there are more than 4,000,000,000 pairs of calls.
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

    /// Returns the fraction of the calls that were expected, in [0, 1]. Returns 1 if neither side has a call.
    pub fn precision(self) -> f64 {
        self.share(self.called)
    }

    /// Returns the fraction of the expected calls that were made, in [0, 1]. Returns 1 if neither side has a call.
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
