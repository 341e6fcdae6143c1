//! Rows of the metrics of trajectories.

use dsrs_metrics::metrics as m;
use dsrs_metrics::prelude::*;
use dsrs_metrics::trajectory::{ArgsRule, CallOrder, MatchMode};
use serde_json::{Value, json};

use crate::explanations::{Case, case};

fn book(city: &str, filter: Value) -> Value {
    json!({ "name": "book", "args": { "filter": filter, "city": city } })
}

fn gold(trajectory: impl Into<Value>) -> Example {
    example! { "trajectory" => trajectory.into() }
}

fn pred(trajectory: impl Into<Value>) -> Prediction {
    prediction! { "trajectory" => trajectory.into() }
}

pub(super) fn cases() -> Vec<Case> {
    let nights = |nights: u32| json!({ "nights": nights, "stars": [4] });
    let search =
        json!({ "name": "search", "args": { "e": 1, "d": [1], "c": true, "b": {}, "a": "x" } });
    let expected = json!([search, book("Rome", nights(2)), { "name": "pay" }]);
    let called = json!([book("Rome", nights(3)), { "name": "log" }]);
    let mode = |mode| m::TrajectoryMatch::builder().mode(mode);
    let rows = || (gold(expected.clone()), pred(called.clone()));
    let matching = |metric: m::TrajectoryMatch, details| case(metric, rows().0, rows().1, details);
    let messages = |messages: &[(&str, &[&str])]| -> Value {
        let message = |(role, tools): &(&str, &[&str])| {
            let calls: Vec<Value> = tools.iter().map(|tool| json!({ "name": tool })).collect();
            json!({ "role": role, "content": "", "tool_calls": calls })
        };
        messages.iter().map(message).collect()
    };
    let agent = |tools: &'static [&'static str]| messages(&[("user", &[]), ("assistant", tools)]);
    let usage = json!([{ "role": "assistant", "content": "", "usage": { "prompt_tokens": 120, "completion_tokens": 8 } }]);
    vec![
        matching(
            mode(MatchMode::Unordered).build(),
            "`book`: argument `filter.nights`: expected the number 2, found the number 3; missing: \
             `search(a=\"x\", b={}, c=true, d=[..], ..)`, `pay()`; extra: `log()`",
        ),
        matching(
            mode(MatchMode::Subset).build(),
            "extra: `book(city=\"Rome\", filter={..})`, `log()`",
        ),
        matching(
            mode(MatchMode::Superset).args(ArgsRule::Ignore).build(),
            "missing: `search(a=\"x\", b={}, c=true, d=[..], ..)`, `pay()`",
        ),
        matching(
            mode(MatchMode::Ordered).build(),
            "call 1: expected `search(a=\"x\", b={}, c=true, d=[..], ..)`, found `book(city=\"Rome\", filter={..})`",
        ),
        case(
            mode(MatchMode::Ordered)
                .args(ArgsRule::Paths(vec!["filter.nights".to_owned()]))
                .build(),
            gold([book("Rome", nights(2))]),
            pred([book("Oslo", json!({}))]),
            "call 1, `book`: argument `filter.nights`: expected the number 2, found none",
        ),
        case(
            mode(MatchMode::Ordered)
                .args(ArgsRule::function("same_city", |one, other| one["city"] == other["city"]))
                .build(),
            gold([book("Rome", nights(2))]),
            pred([book("Oslo", nights(2))]),
            "call 1, `book`: the arguments differ by the function `same_city`",
        ),
        case(
            m::TrajectoryMatch::default(),
            gold(agent(&["a"])),
            pred(agent(&["a", "b"])),
            "call 2 of message 2: expected no call, found `b()`",
        ),
        case(
            m::TrajectoryMatch::default(),
            gold(agent(&["a"])),
            pred(messages(&[("user", &[])])),
            "1 message, expected 2",
        ),
        case(
            m::TrajectoryMatch::default(),
            gold(agent(&["a"])),
            pred(messages(&[("system", &[])])),
            "message 1: expected the role `user`, found `system`",
        ),
        case(
            m::ToolCallF1,
            rows().0,
            rows().1,
            "3 calls expected, 2 made, 0 in common; `book`: argument `filter.nights`: expected the number 2, found the number 3; \
             missing: `search(a=\"x\", b={}, c=true, d=[..], ..)`, `pay()`; extra: `log()`",
        ),
        case(
            m::TrajectoryF1,
            rows().0,
            rows().1,
            "3 calls expected, 2 made, 1 in common; expected `search`, `book`, `pay`; found `book`, `log`",
        ),
        case(
            m::ToolCorrectness::builder().arguments(true).build(),
            rows().0,
            rows().1,
            "`book`: argument `filter.nights`: expected the number 2, found the number 3; missing: \
             `search(a=\"x\", b={}, c=true, d=[..], ..)`, `pay()`",
        ),
        case(
            m::ToolCorrectness::builder().order(CallOrder::InOrder).build(),
            gold(["a", "b"]),
            pred(["b", "a"]),
            "expected `a`, `b`; found `b`, `a`",
        ),
        case(
            m::ToolCorrectness::builder().outputs(true).build(),
            gold([json!({ "name": "a", "result": 1 })]),
            pred([json!({ "name": "a", "result": 2 })]),
            "the results differ",
        ),
        case(
            m::NoLoops::builder().max_cycles(9.try_into().unwrap()).build(),
            example! {},
            pred(["a", "b", "a", "a"]),
            "3 times, the first as call 1: `a()`",
        ),
        case(
            m::WithinSteps::builder().max(1).build(),
            example! {},
            pred(["a", "b"]),
            "2 steps, at most 1 allowed",
        ),
        case(
            m::WithinToolCalls::builder().max(0).build(),
            example! {},
            pred(["a"]),
            "1 tool call, at most 0 allowed",
        ),
        case(
            m::WithinTokens::builder().max(100).build(),
            example! {},
            pred(usage),
            "128 tokens, at most 100 allowed",
        ),
    ]
}
