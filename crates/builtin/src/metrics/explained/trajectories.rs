//! Explanations of the metrics of trajectories: calls that are missing, and calls that are extra, with their arguments.

use serde_json::Value;

use super::{MAX_ITEMS, counted, joined, more};
use crate::messages::escape::{name, names, truncate};
use crate::trajectory::{
    ArgsRule, ArgsRules, CallCounts, CallLoop, CallOrder, ToolCall, ToolCorrectnessOptions,
    Trajectory, TrajectoryDifference, UnmatchedCalls,
};

/// The largest length of an explanation in bytes.
const MAX_BYTES: usize = 2000;

fn bounded(mut text: String) -> String {
    truncate(&mut text, MAX_BYTES);
    text
}

/// Adds to an explanation the calls whose arguments the model wrote wrongly.
pub(in crate::metrics) fn with_malformed_args(
    called: &Trajectory,
    explanation: Option<String>,
) -> Option<String> {
    let malformed: Vec<String> = called.malformed_args().collect();
    let shown = more(
        malformed[..malformed.len().min(MAX_ITEMS)].join("; "),
        malformed.len(),
    );
    Some(joined([explanation.unwrap_or_default(), shown])).filter(|it| !it.is_empty())
}

/// Describes why a trajectory does not match.
pub(in crate::metrics) fn difference(difference: &TrajectoryDifference<'_>) -> String {
    match difference {
        TrajectoryDifference::Messages { called, expected } => {
            format!("{}, expected {expected}", counted(*called, "message"))
        }
        TrajectoryDifference::Role {
            message,
            called,
            expected,
        } => {
            let [expected, called] = [expected, called].map(|role| role.as_str());
            format!("message {message}: expected the role `{expected}`, found `{called}`")
        }
        TrajectoryDifference::Call {
            message,
            call,
            called,
            expected,
        } => {
            let place = match message {
                Some(message) => format!("call {call} of message {message}"),
                None => format!("call {call}"),
            };
            let [expected, called] =
                [expected, called].map(|call| call.map_or_else(|| "no call".to_owned(), written));
            bounded(format!("{place}: expected {expected}, found {called}"))
        }
        TrajectoryDifference::Unmatched(calls) => unmatched(calls),
        _ => String::new(),
    }
}

/// Describes calls without a partner.
fn unmatched(calls: &UnmatchedCalls<'_>) -> String {
    let list = |label: &str, calls: &[&ToolCall]| match calls {
        [] => String::new(),
        calls => format!("{label}: {}", listed(calls)),
    };
    bounded(joined([
        list("missing", &calls.missing),
        list("extra", &calls.extra),
    ]))
}

fn listed(calls: &[&ToolCall]) -> String {
    let shown: Vec<String> = calls.iter().take(MAX_ITEMS).map(|it| written(it)).collect();
    more(shown.join(", "), calls.len())
}

/// Writes a call with its arguments: `` `book({"city":"Rome"})` ``.
fn written(call: &ToolCall) -> String {
    let args = match &call.args {
        Value::Object(args) if args.is_empty() => String::new(),
        args => {
            let mut args = args.clone();
            // Otherwise their order depends on how the library was built.
            args.sort_all_objects();
            args.to_string()
        }
    };
    format!("`{}({})`", name(&call.name), name(&args))
}

pub(in crate::metrics) fn tool_call_f1(called: &Trajectory, expected: &Trajectory) -> String {
    let (called, expected) = (called.tool_calls(), expected.tool_calls());
    let counts = CallCounts::in_any_order(&called, &expected, true);
    let calls = UnmatchedCalls::new(&called, &expected, &ArgsRules::default()).unwrap_or_default();
    joined([in_common(counts), unmatched(&calls)])
}

pub(in crate::metrics) fn trajectory_f1(
    counts: CallCounts,
    called: &Trajectory,
    expected: &Trajectory,
) -> String {
    let is_best = counts.common == counts.called && counts.common == counts.expected;
    let order = if is_best {
        String::new()
    } else {
        expected_and_found(called, expected)
    };
    bounded(joined([in_common(counts), order]))
}

pub(in crate::metrics) fn tool_correctness(
    called: &Trajectory,
    expected: &Trajectory,
    options: ToolCorrectnessOptions,
) -> String {
    let rules = if options.arguments {
        ArgsRule::Exact
    } else {
        ArgsRule::Ignore
    }
    .into();
    let calls = UnmatchedCalls::new(&called.tool_calls(), &expected.tool_calls(), &rules);
    let mut calls = calls.unwrap_or_default();
    if options.order != CallOrder::Exact && !expected.tool_calls().is_empty() {
        // Extra calls cost nothing.
        calls = calls.of_missing();
    }
    let described = unmatched(&calls);
    match described.is_empty() {
        false => described,
        true if options.order == CallOrder::Any => "the results differ".to_owned(),
        true => bounded(expected_and_found(called, expected)),
    }
}

fn in_common(counts: CallCounts) -> String {
    let CallCounts {
        common,
        called,
        expected,
    } = counts;
    format!(
        "{} expected, {called} made, {common} in common",
        counted(expected, "call")
    )
}

fn expected_and_found(called: &Trajectory, expected: &Trajectory) -> String {
    let [expected, called] = [expected, called].map(|trajectory| {
        let tools = trajectory.tool_calls().names();
        if tools.is_empty() {
            "no call".to_owned()
        } else {
            names(tools.into_iter())
        }
    });
    format!("expected {expected}; found {called}")
}

/// Describes a loop.
pub(in crate::metrics) fn call_loop(found: &CallLoop<'_>) -> String {
    let CallLoop {
        calls,
        times,
        first,
    } = found;
    match &calls[..] {
        [call] => format!(
            "{times} times, the first as call {first}: {}",
            written(call)
        ),
        calls => bounded(format!(
            "{times} times in a row from call {first} on: {}",
            listed(calls)
        )),
    }
}
