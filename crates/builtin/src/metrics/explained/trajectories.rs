//! Explanations of the metrics of trajectories: calls that are missing, calls that are extra, arguments that differ.
//!
//! Arguments are written in the order of their names, since the order of keys depends on how the library was built.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::{MAX_ITEMS, counted, joined, more};
use crate::json::describe::found;
use crate::json::equality::same_value;
use crate::json::path;
use crate::messages::escape::{name, names, quoted, truncate};
use crate::trajectory::{
    ArgsRule, ArgsRules, CallCounts, CallLoop, CallOrder, ToolCall, ToolCorrectnessOptions,
    Trajectory, TrajectoryDifference, UnmatchedCalls,
};

/// The largest number of arguments of a call that are written.
const MAX_ARGS: usize = 4;

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
pub(in crate::metrics) fn difference(
    difference: &TrajectoryDifference<'_>,
    rules: &ArgsRules,
) -> String {
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
            match (called, expected) {
                (Some(one), Some(other)) if one.name == other.name => {
                    format!("{place}, {}", of_tool(one, other, rules))
                }
                (called, expected) => {
                    let [expected, called] = [expected, called]
                        .map(|call| call.map_or_else(|| "no call".to_owned(), written));
                    bounded(format!("{place}: expected {expected}, found {called}"))
                }
            }
        }
        TrajectoryDifference::Unmatched(calls) => bounded(unmatched(calls, rules)),
        _ => String::new(),
    }
}

/// Describes calls without a partner. A missing and an extra call of one tool are described by the argument that differs.
fn unmatched(calls: &UnmatchedCalls<'_>, rules: &ArgsRules) -> String {
    let mut extra_of: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, call) in calls.extra.iter().enumerate() {
        extra_of.entry(&call.name).or_default().push_back(at);
    }
    let mut is_extra = vec![true; calls.extra.len()];
    let (mut differing, mut missing) = (Vec::new(), Vec::new());
    for &expected in &calls.missing {
        match extra_of
            .get_mut(&*expected.name)
            .and_then(VecDeque::pop_front)
        {
            Some(at) => {
                is_extra[at] = false;
                differing.push((calls.extra[at], expected));
            }
            None => missing.push(expected),
        }
    }
    let extra = calls
        .extra
        .iter()
        .zip(is_extra)
        .filter(|(_, is_extra)| *is_extra);
    let extra: Vec<&ToolCall> = extra.map(|(call, _)| *call).collect();
    let shown = differing.iter().take(MAX_ITEMS);
    let shown: Vec<String> = shown
        .map(|(one, other)| of_tool(one, other, rules))
        .collect();
    joined([
        more(shown.join("; "), differing.len()),
        list("missing", &missing),
        list("extra", &extra),
    ])
}

fn list(label: &str, calls: &[&ToolCall]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = calls
        .iter()
        .take(MAX_ITEMS)
        .map(|call| written(call))
        .collect();
    more(format!("{label}: {}", shown.join(", ")), calls.len())
}

/// Describes how the arguments of two calls of one tool differ.
fn of_tool(called: &ToolCall, expected: &ToolCall, rules: &ArgsRules) -> String {
    let tool = name(&called.name);
    let rule = rules.of(&called.name);
    let differing = match rule {
        ArgsRule::Function(function) => {
            return format!(
                "`{tool}`: the arguments differ by the function `{}`",
                name(function.name())
            );
        }
        ArgsRule::Paths(paths) => paths.iter().find_map(|path| {
            let [one, other] = [called, expected].map(|call| path::below(&call.args, path));
            let is_same = match (one, other) {
                (Some(one), Some(other)) => same_value(one, other),
                (one, other) => one.or(other).is_none_or(Value::is_null),
            };
            (!is_same).then(|| (path.clone(), one, other))
        }),
        rule => {
            let is_compared = [
                !matches!(rule, ArgsRule::Superset),
                !matches!(rule, ArgsRule::Subset),
            ];
            differing_argument(&called.args, &expected.args, is_compared)
        }
    };
    let none = || "none".to_owned();
    match differing {
        Some((path, one, other)) => {
            let [expected, called] = [other, one].map(|value| value.map_or_else(none, found));
            format!(
                "`{tool}`: argument `{}`: expected {expected}, found {called}",
                name(&path)
            )
        }
        // Arguments that are not objects, or calls that have a partner each in another matching.
        None => format!("expected {}, found {}", written(expected), written(called)),
    }
}

/// Returns the path of the first argument that differs, and its values. Arguments that one side alone has count by `is_compared`: those of
/// the call, those that are expected.
fn differing_argument<'a>(
    called: &'a Value,
    expected: &'a Value,
    is_compared: [bool; 2],
) -> Option<(String, Option<&'a Value>, Option<&'a Value>)> {
    let (Value::Object(ours), Value::Object(theirs)) = (called, expected) else {
        return None;
    };
    let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter()
        .find_map(|key| match (ours.get(key), theirs.get(key)) {
            (Some(one), Some(other)) if same_value(one, other) => None,
            (Some(one), Some(other)) => match differing_argument(one, other, [true, true]) {
                Some((path, one, other)) => Some((format!("{key}.{path}"), one, other)),
                None => Some((key.clone(), Some(one), Some(other))),
            },
            (one, other) => {
                let [of_call, of_expected] = is_compared;
                let counts = (one.is_some() && of_call) || (other.is_some() && of_expected);
                counts.then(|| (key.clone(), one, other))
            }
        })
}

/// Writes a call with its first arguments: `` `book(city="Rome", nights=2)` ``.
fn written(call: &ToolCall) -> String {
    let args = match &call.args {
        Value::Object(args) => {
            let mut args: Vec<_> = args.iter().collect();
            args.sort_unstable_by_key(|(key, _)| *key);
            let shown = args.iter().take(MAX_ARGS);
            let mut shown: Vec<String> = shown
                .map(|(key, value)| format!("{}={}", name(key), short(value)))
                .collect();
            if args.len() > MAX_ARGS {
                shown.push("..".to_owned());
            }
            shown.join(", ")
        }
        other => short(other),
    };
    format!("`{}({args})`", name(&call.name))
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) if !items.is_empty() => "[..]".to_owned(),
        Value::Object(fields) if !fields.is_empty() => "{..}".to_owned(),
        scalar => scalar.to_string(),
    }
}

pub(in crate::metrics) fn tool_call_f1(called: &Trajectory, expected: &Trajectory) -> String {
    let (called, expected) = (called.tool_calls(), expected.tool_calls());
    let rules = ArgsRules::default();
    let counts = CallCounts::in_any_order(&called, &expected, true);
    let calls = UnmatchedCalls::new(&called, &expected, &rules).unwrap_or_default();
    bounded(joined([in_common(counts), unmatched(&calls, &rules)]))
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
    let described = unmatched(&calls, &rules);
    match described.is_empty() {
        false => bounded(described),
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
        calls => {
            let shown: Vec<String> = calls.iter().take(MAX_ITEMS).map(|it| written(it)).collect();
            let shown = more(shown.join(", "), calls.len());
            bounded(format!(
                "{times} times in a row from call {first} on: {shown}"
            ))
        }
    }
}
