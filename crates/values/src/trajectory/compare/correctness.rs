//! Tool correctness: how well each expected call was made, as deepeval defines it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keys::{Keys, grouped, sides, without_equal};
use super::modes::MatchMode;
use super::{ArgsRule, ArgsRules, TooManyCalls};
use crate::json::same_value;
use crate::messages::escape::name;
use crate::trajectory::calls::ToolCalls;
use crate::trajectory::{ToolCall, Trajectory};

/// The maximum number of steps for assigning the calls to one tool, which takes seconds.
const MAX_STEPS: u64 = 1_000_000_000;

/// The maximum number of pairs of calls that are compared one by one.
const MAX_PAIRS: u64 = 16_000_000;

/// The required order of the expected calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallOrder {
    /// The calls can be made in any order.
    #[default]
    Any,
    /// The calls must be made in the expected order.
    ///
    /// Other calls can come between them.
    InOrder,
    /// The calls must be made in the expected order, without any other calls.
    Exact,
}

/// Options for comparing tool calls with expected calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCorrectnessOptions {
    /// The required order of the expected calls.
    pub order: CallOrder,
    /// `true` to compare the calls' arguments.
    pub arguments: bool,
    /// `true` to compare the calls' outputs.
    pub outputs: bool,
}

impl ToolCorrectnessOptions {
    /// Returns how well a call matches an expected call, in [0, 1].
    ///
    /// The weight is 0 if the tools differ, or if results are compared and differ. If arguments are not compared, the
    /// weight is 1.
    ///
    /// Otherwise, the weight is the fraction of arguments that are equal. This fraction covers the keys of both calls,
    /// and objects in arguments are compared key by key.
    pub fn weight(self, called: &ToolCall, expected: &ToolCall) -> f64 {
        let is_output = !self.outputs || is_same_output(called, expected);
        match called.name == expected.name && is_output {
            false => 0.0,
            true if self.arguments => equal_share(&called.args, &expected.args),
            true => 1.0,
        }
    }

    /// Returns how well the expected calls were made, in [0, 1].
    ///
    /// Each call is assigned to at most one expected call, in the required order. The score is the largest possible sum
    /// of the pairs' weights, divided by the number of expected calls.
    ///
    /// If the order must be exact, the score is either 1 or 0. If no calls are expected, the score is 1 if no calls
    /// were made, and 0 otherwise.
    ///
    /// # Errors
    /// Returns [`TooManyCalls`] if there are too many distinct calls to compare.
    pub fn score(self, called: &Trajectory, expected: &Trajectory) -> Result<f64, TooManyCalls> {
        let (calls, wanted) = (called.tool_calls(), expected.tool_calls());
        if wanted.is_empty() {
            return Ok(if calls.is_empty() { 1.0 } else { 0.0 });
        }
        let sum = match self.order {
            CallOrder::Exact => {
                let rules = match self.arguments {
                    true => ArgsRules::default(),
                    false => ArgsRules::from(ArgsRule::Ignore),
                };
                let is_match = MatchMode::Ordered
                    .difference(called, expected, &rules)?
                    .is_none();
                let mut pairs = calls.iter().zip(wanted.iter());
                let is_output =
                    !self.outputs || pairs.all(|(one, other)| is_same_output(one, other));
                return Ok(if is_match && is_output { 1.0 } else { 0.0 });
            }
            CallOrder::InOrder => self.sum_in_order(&calls, &wanted)?,
            CallOrder::Any => self.sum_in_any_order(&calls, &wanted)?,
        };
        Ok((sum / wanted.len() as f64).min(1.0))
    }

    /// Returns the weight of a heaviest common subsequence.
    fn sum_in_order(
        self,
        called: &ToolCalls<'_>,
        expected: &ToolCalls<'_>,
    ) -> Result<f64, TooManyCalls> {
        TooManyCalls::check(called, expected, MAX_PAIRS)?;
        // One row of the table for each expected call.
        let mut row = vec![0.0_f64; called.len() + 1];
        for wanted in expected.iter() {
            let mut diagonal = 0.0;
            for (at, call) in called.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = above.max(row[at]).max(diagonal + self.weight(call, wanted));
                diagonal = above;
            }
        }
        Ok(row.last().copied().unwrap_or(0.0))
    }

    /// Returns the weight of a best assignment. Equal calls are assigned to each other, and the remaining calls to each
    /// tool are assigned by the Hungarian method.
    fn sum_in_any_order(
        self,
        called: &ToolCalls<'_>,
        expected: &ToolCalls<'_>,
    ) -> Result<f64, TooManyCalls> {
        let (mut keys, mut tools) = (Keys::default(), Keys::default());
        let rest = without_equal(sides(called, expected), |call| {
            keys.of_parts(call, self.arguments, self.outputs)
        });
        let mut sum = (called.len() - rest[0].len()) as f64;
        if !self.arguments {
            return Ok(sum);
        }
        for [called, expected] in grouped(rest, |call| tools.of_parts(call, false, self.outputs)) {
            sum += self.assigned(&called, &expected)?;
        }
        Ok(sum)
    }

    /// Returns the weight of a best assignment between calls to one tool.
    fn assigned(
        self,
        called: &[(usize, &ToolCall)],
        expected: &[(usize, &ToolCall)],
    ) -> Result<f64, TooManyCalls> {
        let (ours, theirs) = (called.len(), expected.len());
        let (fewer, more) = (ours.min(theirs), ours.max(theirs));
        let pairs = (fewer as u64).saturating_mul(more as u64);
        if pairs.saturating_mul(fewer as u64) > MAX_STEPS || pairs > MAX_PAIRS {
            let what = format!("different calls of `{}`", name(&called[0].1.name));
            let instead = "compare them in order, or without arguments";
            return Err(TooManyCalls::new(&what, ours, theirs, instead));
        }
        let (rows, columns) = match expected.len() <= called.len() {
            true => (expected, called),
            false => (called, expected),
        };
        // A weight does not depend on which call is the expected one.
        let weights = |(_, row): &(usize, &ToolCall)| {
            let columns = columns.iter();
            columns
                .map(|(_, column)| self.weight(row, column))
                .collect()
        };
        let weights: Vec<Vec<f64>> = rows.iter().map(weights).collect();
        Ok(largest_weight(&weights))
    }
}

fn is_same_output(called: &ToolCall, expected: &ToolCall) -> bool {
    match (&called.result, &expected.result) {
        (None, None) => true,
        (Some(called), Some(expected)) => same_value(called, expected),
        _ => false,
    }
}

/// Returns the share of arguments that are equal, counting the keys of both objects.
fn equal_share(called: &Value, expected: &Value) -> f64 {
    if same_value(called, expected) {
        return 1.0;
    }
    let (Value::Object(called), Value::Object(expected)) = (called, expected) else {
        return 0.0;
    };
    let both = expected.iter();
    let both = both.filter_map(|(key, value)| Some((called.get(key)?, value)));
    let (mut common, mut equal) = (0_usize, 0.0);
    for (one, other) in both {
        common += 1;
        equal += match (one, other) {
            (Value::Object(_), Value::Object(_)) => equal_share(one, other),
            (one, other) => f64::from(u8::from(same_value(one, other))),
        };
    }
    // Not empty, because the objects differ.
    equal / (called.len() + expected.len() - common) as f64
}

/// Returns the largest sum of weights when each row is assigned a different column. There must be at least as many
/// columns as rows. This is the Hungarian method with potentials (Kuhn 1955, Munkres 1957), in O(n² m).
fn largest_weight(weights: &[Vec<f64>]) -> f64 {
    let (rows, columns) = (weights.len(), weights.first().map_or(0, Vec::len));
    // Row and column 0 stand for none: `row_of[column]` is the row of a column, from 1.
    let mut row_of = vec![0; columns + 1];
    let (mut row_potential, mut column_potential) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    for row in 1..=rows {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut before = vec![0; columns + 1];
        let mut is_used = vec![false; columns + 1];
        while row_of[column] != 0 {
            is_used[column] = true;
            let current = row_of[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for other in 1..=columns {
                if is_used[other] {
                    continue;
                }
                let cost = -weights[current - 1][other - 1]
                    - row_potential[current]
                    - column_potential[other];
                if cost < least[other] {
                    least[other] = cost;
                    before[other] = column;
                }
                if least[other] < delta {
                    delta = least[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if is_used[other] {
                    row_potential[row_of[other]] += delta;
                    column_potential[other] -= delta;
                } else {
                    least[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            let previous = before[column];
            row_of[column] = row_of[previous];
            column = previous;
        }
    }
    let assigned = (1..=columns).filter(|column| row_of[*column] > 0);
    let weights = assigned.map(|column| weights[row_of[column] - 1][column - 1]);
    weights.fold(0.0, |sum, weight| sum + weight)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::largest_weight;

    fn brute_force(weights: &[Vec<f64>], row: usize, taken: &mut Vec<bool>) -> f64 {
        let Some(of_row) = weights.get(row) else {
            return 0.0;
        };
        let mut largest = brute_force(weights, row + 1, taken);
        for column in 0..of_row.len() {
            if !taken[column] {
                taken[column] = true;
                largest = largest.max(of_row[column] + brute_force(weights, row + 1, taken));
                taken[column] = false;
            }
        }
        largest
    }

    proptest! {
        #[test]
        fn no_assignment_weighs_more(
            (rows, more) in (0_usize..5, 0_usize..3),
            drawn in prop::collection::vec(prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..1.0], 35),
        ) {
            let columns = rows + more;
            let weights: Vec<Vec<f64>> =
                (0..rows).map(|row| drawn[row * 7..row * 7 + columns].to_vec()).collect();
            let largest = brute_force(&weights, 0, &mut vec![false; columns]);
            let found = largest_weight(&weights);
            prop_assert!((found - largest).abs() < 1e-9, "{} {}", found, largest);
        }
    }
}
