//! Rows of the metrics of trajectories.

use dsrs_metrics::metrics as m;
use dsrs_metrics::prelude::*;
use dsrs_metrics::trajectory::{ArgsRule, CallOrder, MatchMode};
use serde_json::{Value, json};

use crate::explanations::{Case, case};

/// A call with arguments of all kinds, and how it is written.
const SEARCH: &str = r#"`search({"a":"x","b":{},"c":true,"d":[1],"e":1})`"#;

/// The call that is expected with two nights, and made with three.
const BOOK: [&str; 2] = [
    r#"`book({"city":"Rome","filter":{"nights":2,"stars":[4]}})`"#,
    r#"`book({"city":"Rome","filter":{"nights":3,"stars":[4]}})`"#,
];

fn book(city: &str, nights: u32) -> Value {
    let filter = json!({ "nights": nights, "stars": [4] });
    json!({ "name": "book", "args": { "filter": filter, "city": city } })
}

fn gold(trajectory: impl Into<Value>) -> Example {
    example! { "trajectory" => trajectory.into() }
}

fn pred(trajectory: impl Into<Value>) -> Prediction {
    prediction! { "trajectory" => trajectory.into() }
}

/// Three expected calls, one of them made with a different argument, and one unexpected call.
fn rows() -> (Example, Prediction) {
    let args = json!({ "e": 1, "d": [1], "c": true, "b": {}, "a": "x" });
    let search = json!({ "name": "search", "args": args });
    let expected = json!([search, book("Rome", 2), { "name": "pay" }]);
    (
        gold(expected),
        pred(json!([book("Rome", 3), { "name": "log" }])),
    )
}

fn on_rows(metric: impl Metric + 'static, details: impl Into<String>) -> Case {
    let (gold, pred) = rows();
    case(metric, gold, pred, details.into().leak())
}

fn mode(mode: MatchMode) -> m::TrajectoryMatchBuilder {
    m::TrajectoryMatch::builder().mode(mode)
}

/// A message of the user, and one of the agent with calls of these tools.
fn messages(roles: [&str; 2], tools: &[&str]) -> Value {
    let calls: Vec<Value> = tools.iter().map(|tool| json!({ "name": tool })).collect();
    json!([{ "role": roles[0] }, { "role": roles[1], "tool_calls": calls }])
}

pub(super) fn cases() -> Vec<Case> {
    matches()
        .into_iter()
        .chain(shares())
        .chain(limits())
        .collect()
}

fn matches() -> Vec<Case> {
    let agent = |tools| messages(["user", "assistant"], tools);
    let nights = || ArgsRule::Paths(vec!["filter.nights".to_owned()]);
    let same_city = || ArgsRule::function("same_city", |one, other| one["city"] == other["city"]);
    let default = m::TrajectoryMatch::default;
    vec![
        on_rows(
            mode(MatchMode::Unordered).build(),
            format!(
                "missing: {SEARCH}, {}, `pay()`; extra: {}, `log()`",
                BOOK[0], BOOK[1]
            ),
        ),
        on_rows(
            mode(MatchMode::Subset).build(),
            format!("missing: {}; extra: {}, `log()`", BOOK[0], BOOK[1]),
        ),
        on_rows(
            mode(MatchMode::Superset).args(ArgsRule::Ignore).build(),
            format!("missing: {SEARCH}, `pay()`"),
        ),
        on_rows(
            mode(MatchMode::Ordered).build(),
            format!("call 1: expected {SEARCH}, found {}", BOOK[1]),
        ),
        case(
            mode(MatchMode::Ordered).args(nights()).build(),
            gold([book("Rome", 2)]),
            pred([json!({ "name": "book" })]),
            r#"call 1: expected `book({"city":"Rome","filter":{"nights":2,"stars":[4]}})`, found `book()`"#,
        ),
        case(
            mode(MatchMode::Ordered).args(same_city()).build(),
            gold([book("Rome", 2)]),
            pred([book("Oslo", 2)]),
            r#"call 1: expected `book({"city":"Rome","filter":{"nights":2,"stars":[4]}})`, found `book({"city":"Oslo","filter":{"nights":2,"stars":[4]}})`"#,
        ),
        case(
            default(),
            gold(agent(&["a"])),
            pred(agent(&["a", "b"])),
            "call 2 of message 2: expected no call, found `b()`",
        ),
        case(
            default(),
            gold(agent(&[])),
            pred([json!({ "role": "user" })]),
            "1 message, expected 2",
        ),
        case(
            default(),
            gold(agent(&[])),
            pred(messages(["system", "assistant"], &[])),
            "message 1: expected the role `user`, found `system`",
        ),
    ]
}

fn shares() -> Vec<Case> {
    let result = |result: u32| [json!({ "name": "a", "result": result })];
    vec![
        on_rows(
            m::ToolCallF1,
            format!(
                "missing: {SEARCH}, {}, `pay()`; extra: {}, `log()`",
                BOOK[0], BOOK[1]
            ),
        ),
        on_rows(
            m::TrajectoryF1::default(),
            format!("missing: {SEARCH}, `pay()`; extra: `log()`"),
        ),
        on_rows(
            m::ToolCorrectness::builder().arguments(true).build(),
            format!(
                "missing: {SEARCH}, {}, `pay()`; extra: {}",
                BOOK[0], BOOK[1]
            ),
        ),
        case(
            m::ToolCorrectness::builder()
                .order(CallOrder::InOrder)
                .build(),
            gold(["a", "b"]),
            pred(json!({ "tool_calls": ["b", "a"] })),
            "call 1: expected `a()`, found `b()`",
        ),
        case(
            m::ToolCorrectness::builder().outputs(true).build(),
            gold(result(1)),
            pred(result(2)),
            "the results differ",
        ),
    ]
}

fn limits() -> Vec<Case> {
    let usage = json!({ "prompt_tokens": 120, "completion_tokens": 8 });
    let reply = json!({ "role": "assistant", "content": "", "usage": usage });
    vec![
        case(
            m::NoLoops::default(),
            example! {},
            pred(json!({ "tool_calls": ["a", "b", "a", "a"] })),
            "3 times, the first as call 1: `a()`",
        ),
        case(
            m::WithinSteps::builder().max(1).build(),
            example! {},
            pred(json!({ "tool_calls": ["a", "b"] })),
            "2 steps, at most 1 allowed",
        ),
        case(
            m::WithinToolCalls::builder().max(0).build(),
            example! {},
            pred(json!({ "tool_calls": ["a"] })),
            "1 tool call, at most 0 allowed",
        ),
        case(
            m::WithinTokens::builder().max(100).build(),
            example! {},
            pred([reply]),
            "128 tokens, at most 100 allowed",
        ),
    ]
}

/// Calls with long and hostile names and arguments.
pub(super) fn with(text: &str, words: &str) -> Vec<Case> {
    let calls = |name: &str, value: &str| {
        let call = json!({ "name": name, "args": { "a": value, name: 1, "b": value, "c": value } });
        Value::Array(vec![call; 30])
    };
    let rows = || (gold(calls(words, text)), pred(calls(text, words)));
    let [one, two, three] = [rows(), rows(), rows()];
    vec![
        case(mode(MatchMode::Unordered).build(), one.0, one.1, ""),
        case(m::TrajectoryF1::default(), two.0, two.1, ""),
        case(m::NoLoops::default(), three.0, three.1, ""),
    ]
}
