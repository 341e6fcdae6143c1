//! Replays the committed scores of agentevals, deepeval, ragas and pydantic-evals on pairs of trajectories. The library agrees but for
//! the quirks that are listed here: each peer's definition is computed with all of its quirks, which must be the committed score, and
//! without any, which must be the library's.

mod agentevals;
mod deepeval;

use std::collections::BTreeMap;

use dsrs_metrics::metrics::{ToolCallF1, ToolCorrectness, TrajectoryF1, TrajectoryMatch};
use dsrs_metrics::prelude::*;
use dsrs_metrics::trajectory::{ArgsRule, CallOrder, MatchMode};
use dsrs_metrics_tests::{Quirks, SEVERAL, explain, vectors};
use serde::Deserialize;
use serde_json::{Value, json};

const VECTORS: &[u8] = include_bytes!("../../../parity/trajectory_vectors.jsonl.gz");

const MODES: [MatchMode; 4] = [
    MatchMode::Strict,
    MatchMode::Unordered,
    MatchMode::Subset,
    MatchMode::Superset,
];
const RULES: [&str; 5] = ["exact", "ignore", "subset", "superset", "paths"];
/// Whether arguments and outputs are compared.
const PARTS: [(bool, bool); 3] = [(false, false), (true, false), (true, true)];
const ORDERS: [CallOrder; 3] = [CallOrder::Any, CallOrder::InOrder, CallOrder::Exact];

#[derive(Deserialize)]
struct Vector {
    gold: Vec<Turn>,
    pred: Vec<Turn>,
    agentevals: String,
    deepeval: Vec<f64>,
    ragas: f64,
    pydantic: [f64; 3],
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Turn {
    Calls(Vec<Call>),
    User(String),
}

/// Name, arguments, result.
#[derive(Deserialize)]
struct Call(String, Value, Value);

#[derive(Record)]
struct Row {
    trajectory: Trajectory,
}

/// The messages in OpenAI's format, with the results in the calls.
fn row(turns: &[Turn]) -> Row {
    let call = |Call(name, args, result): &Call| json!({"id": "", "function": {"name": name, "arguments": args.to_string()}, "result": result});
    let message = |turn: &Turn| match turn {
        Turn::User(text) => json!({"role": "user", "content": text}),
        Turn::Calls(calls) => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": "", "tool_calls": calls})
        }
    };
    let trajectory = Trajectory::from_json(turns.iter().map(message).collect()).unwrap();
    Row { trajectory }
}

fn calls(turns: &[Turn]) -> Vec<&Call> {
    let of_turn = |turn| match turn {
        &Turn::User(_) => &[],
        Turn::Calls(calls) => &calls[..],
    };
    turns.iter().flat_map(of_turn).collect()
}

/// Equality of JSON values in Python: `True` equals 1 and 1.0. Without the quirk, booleans are not numbers.
fn equal(one: &Value, other: &Value, bools_are_numbers: bool) -> bool {
    let number = |value: &Value| match value {
        Value::Bool(value) if bools_are_numbers => Some(f64::from(u8::from(*value))),
        value => value.as_f64(),
    };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| {
                    other
                        .get(key)
                        .is_some_and(|other| equal(value, other, bools_are_numbers))
                })
        }
        _ => match (number(one), number(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
    }
}

fn is_close(one: &f64, other: &f64) -> bool {
    (one - other).abs() < 1e-9
}

const RAGAS: [&str; 3] = [
    "`True` equals 1 in Python",
    "sets lose repeated calls",
    "the score without any call is 0",
];

fn ragas(vector: &Vector, [bools, sets, empty_is_zero]: Quirks<3>) -> f64 {
    let is_equal = |one: &&Call, other: &&Call| one.0 == other.0 && equal(&one.1, &other.1, bools);
    let [called, expected] = [&vector.pred, &vector.gold].map(|turns| {
        let mut listed: Vec<&Call> = Vec::new();
        for call in calls(turns) {
            if !sets || !listed.iter().any(|other| is_equal(&call, other)) {
                listed.push(call);
            }
        }
        listed
    });
    let (all, mut left, mut common) = (called.len() + expected.len(), expected, 0);
    for call in called {
        if let Some(at) = left.iter().position(|other| is_equal(&call, other)) {
            left.swap_remove(at);
            common += 1;
        }
    }
    match all {
        0 => f64::from(u8::from(!empty_is_zero)),
        all => 2.0 * f64::from(common) / all as f64,
    }
}

#[test]
fn tool_call_f1_agrees_with_ragas() {
    let mut counts = BTreeMap::new();
    for vector in vectors::<Vector>(VECTORS) {
        let theirs = |quirks| ragas(&vector, quirks);
        // ragas rounds its scores.
        assert_eq!(
            format!("{:.4}", theirs([true; 3])),
            format!("{:.4}", vector.ragas)
        );
        let ours = ToolCallF1
            .score(&row(&vector.gold), &row(&vector.pred))
            .unwrap()
            .value;
        explain(&mut counts, RAGAS, &ours, theirs, is_close);
    }
    let [bools, sets, empty] = RAGAS;
    let expected = [(bools, 70), (sets, 576), (empty, 1115), (SEVERAL, 11)];
    assert_eq!(counts, BTreeMap::from(expected), "of 5,000");
}

#[test]
fn trajectory_f1_agrees_with_pydantic_evals() {
    let orders = [CallOrder::InOrder, CallOrder::Any, CallOrder::Exact];
    let metrics = orders.map(|order| TrajectoryF1::builder().order(order).build());
    for vector in vectors::<Vector>(VECTORS) {
        let (gold, pred) = (row(&vector.gold), row(&vector.pred));
        for (metric, theirs) in metrics.iter().zip(vector.pydantic) {
            let ours = metric.score(&gold, &pred).unwrap().value;
            assert!(is_close(&ours, &theirs), "{metric:?}: {ours} {theirs}");
        }
    }
}
