//! Replays the committed scores of agentevals, deepeval, ragas and pydantic-evals on pairs of trajectories. The library agrees but for
//! the quirks that are listed here: each peer's definition is computed with all of its quirks, which must be the committed score, and
//! without any, which must be the library's.

use std::collections::BTreeMap;

use dsrs_metrics::metrics::{ToolCallF1, ToolCorrectness, TrajectoryF1, TrajectoryMatch};
use dsrs_metrics::prelude::*;
use dsrs_metrics::trajectory::{ArgsRule, CallOrder, MatchMode};
use dsrs_metrics_tests::vectors;
use serde::Deserialize;
use serde_json::{Value, json};

const VECTORS: &[u8] = include_bytes!("../../parity/trajectory_vectors.jsonl.gz");

const MODES: [MatchMode; 4] =
    [MatchMode::Strict, MatchMode::Unordered, MatchMode::Subset, MatchMode::Superset];
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

/// The reason of a difference that no quirk alone explains.
const SEVERAL: &str = "several of them";

/// A peer's quirks: what it does, and whether it is computed.
type Quirks<const N: usize> = [bool; N];

/// Counts the differences by the first quirk that alone explains one; by the last reason if several are needed.
fn explain<const N: usize, T: PartialEq>(
    counts: &mut BTreeMap<&'static str, usize>,
    reasons: [&'static str; N],
    ours: &T,
    theirs: impl Fn(Quirks<N>) -> T,
    is_same: impl Fn(&T, &T) -> bool,
) {
    assert!(is_same(&theirs([false; N]), ours), "without its quirks the peer's definition is ours");
    if is_same(&theirs([true; N]), ours) {
        return;
    }
    let without = |quirk: usize| std::array::from_fn(|at| at != quirk);
    let alone = (0..N).find(|quirk| is_same(&theirs(without(*quirk)), ours));
    *counts.entry(alone.map_or(SEVERAL, |quirk| reasons[quirk])).or_default() += 1;
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
                    other.get(key).is_some_and(|other| equal(value, other, bools_are_numbers))
                })
        }
        _ => match (number(one), number(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
    }
}

const AGENTEVALS: [&str; 4] = [
    "`True` equals 1 in Python",
    "the calls of one message may be in any order in `strict`",
    "`subset` and `unordered` exchange the arguments of both sides",
    "greedy matching misses a match",
];

/// The rules for arguments of agentevals.
fn matches(rule: &str, called: &Call, expected: &Call, bools: bool) -> bool {
    let (Some(ours), Some(theirs)) = (called.1.as_object(), expected.1.as_object()) else {
        unreachable!("arguments are objects");
    };
    let has = |in_object: &serde_json::Map<String, Value>, key: &str, value: &Value| {
        in_object.get(key).is_some_and(|other| equal(value, other, bools))
    };
    called.0 == expected.0
        && match rule {
            "exact" => equal(&called.1, &expected.1, bools),
            "ignore" => true,
            "subset" => ours.iter().all(|(key, value)| has(theirs, key, value)),
            "superset" => theirs.iter().all(|(key, value)| has(ours, key, value)),
            _ => ["/a", "/b/c"].iter().all(|path| {
                let at = |args: &Value| args.pointer(path).cloned().unwrap_or_default();
                equal(&at(&called.1), &at(&expected.1), bools)
            }),
        }
}

/// Whether each item has a partner of its own; greedily the first that is free.
fn all_have_partners(edges: &[Vec<bool>], partners: usize, greedy: bool) -> bool {
    fn seat(item: usize, edges: &[Vec<bool>], of: &mut [Option<usize>], seen: &mut [bool]) -> bool {
        for partner in 0..of.len() {
            if edges[item][partner] && !std::mem::replace(&mut seen[partner], true) {
                let is_free = of[partner].is_none_or(|other| seat(other, edges, of, seen));
                if is_free {
                    of[partner] = Some(item);
                    return true;
                }
            }
        }
        false
    }
    let mut of = vec![None; partners];
    (0..edges.len()).all(|item| match greedy {
        true => {
            let free = (0..partners).find(|at| edges[item][*at] && of[*at].is_none());
            free.inspect(|at| of[*at] = Some(item)).is_some()
        }
        false => seat(item, edges, &mut of, &mut vec![false; partners]),
    })
}

fn agentevals(vector: &Vector, mode: MatchMode, rule: &str, quirks: Quirks<4>) -> bool {
    let [bools, any_order, exchanged, greedy] = quirks;
    let (called, expected) = (calls(&vector.pred), calls(&vector.gold));
    let fits = |called: &Call, expected: &Call| matches(rule, called, expected, bools);
    let superset = || {
        let edges = |it: &&Call| called.iter().map(|call| fits(call, it)).collect();
        all_have_partners(&expected.iter().map(edges).collect::<Vec<_>>(), called.len(), greedy)
    };
    let subset = || {
        let edges = |call: &&Call| {
            let fits = |it: &&Call| if exchanged { fits(it, call) } else { fits(call, it) };
            expected.iter().map(fits).collect()
        };
        all_have_partners(&called.iter().map(edges).collect::<Vec<_>>(), expected.len(), greedy)
    };
    let same_turn = |turns: (&Turn, &Turn)| match turns {
        (Turn::User(_), Turn::User(_)) => true,
        (Turn::Calls(called), Turn::Calls(expected)) if called.len() == expected.len() => {
            let edges = |call: &Call| expected.iter().map(|it| fits(call, it)).collect();
            let in_order = called.iter().zip(expected).all(|(call, it)| fits(call, it));
            let edges: Vec<Vec<bool>> = called.iter().map(edges).collect();
            in_order || any_order && all_have_partners(&edges, expected.len(), greedy)
        }
        _ => false,
    };
    match mode {
        MatchMode::Strict => {
            vector.pred.len() == vector.gold.len()
                && vector.pred.iter().zip(&vector.gold).all(same_turn)
        }
        MatchMode::Unordered => superset() && subset(),
        MatchMode::Subset => subset(),
        _ => superset(),
    }
}

fn rule(name: &str) -> ArgsRule {
    match name {
        "exact" => ArgsRule::Exact,
        "ignore" => ArgsRule::Ignore,
        "subset" => ArgsRule::Subset,
        "superset" => ArgsRule::Superset,
        _ => ArgsRule::Paths(vec!["a".to_owned(), "b.c".to_owned()]),
    }
}

#[test]
fn trajectory_match_agrees_with_agentevals() {
    let mut counts = BTreeMap::new();
    let settings: Vec<_> =
        MODES.into_iter().flat_map(|mode| RULES.map(|rule| (mode, rule))).collect();
    let metric = |(mode, name): &(MatchMode, &str)| {
        TrajectoryMatch::builder().mode(*mode).args(rule(name)).build()
    };
    let metrics: Vec<_> = settings.iter().map(metric).collect();
    let mut matched = 0;
    for vector in vectors::<Vector>(VECTORS) {
        let (gold, pred) = (row(&vector.gold), row(&vector.pred));
        for (at, (mode, rule)) in settings.iter().enumerate() {
            let theirs = |quirks| agentevals(&vector, *mode, rule, quirks);
            assert_eq!(theirs([true; 4]), &vector.agentevals[at..=at] == "1", "{mode:?} {rule}");
            let ours = metrics[at].score(&gold, &pred).unwrap().value == 1.0;
            matched += usize::from(ours);
            explain(&mut counts, AGENTEVALS, &ours, theirs, bool::eq);
        }
    }
    assert_eq!(matched, 52_856, "of 100,000");
    let [bools, any_order, exchanged, greedy] = AGENTEVALS;
    let expected = [(bools, 241), (any_order, 676), (exchanged, 922), (greedy, 89), (SEVERAL, 33)];
    assert_eq!(counts, BTreeMap::from(expected));
}

const DEEPEVAL: [&str; 3] = [
    "`True` equals 1 in Python",
    "a call that is equal to an assigned one is not assigned",
    "greedy assignment misses a better one",
];

/// The share of equal arguments of deepeval.
fn share(one: &Value, other: &Value, bools: bool) -> f64 {
    match (one, other) {
        (one, other) if equal(one, other, bools) => 1.0,
        (Value::Object(one), Value::Object(other)) => {
            let all = one.len() + other.keys().filter(|key| !one.contains_key(*key)).count();
            let of = |(key, value): (&String, &Value)| {
                other.get(key).map_or(0.0, |other| share(value, other, bools) / all as f64)
            };
            one.iter().map(of).sum()
        }
        _ => 0.0,
    }
}

fn deepeval(
    vector: &Vector,
    (arguments, outputs): (bool, bool),
    order: CallOrder,
    quirks: Quirks<3>,
) -> f64 {
    let [bools, once, greedy] = quirks;
    let (called, expected) = (calls(&vector.pred), calls(&vector.gold));
    let weight = |expected: &Call, called: &Call| match expected.0 == called.0 {
        true if outputs && expected.2 != called.2 => 0.0,
        true if arguments => share(&expected.1, &called.1, bools),
        true => 1.0,
        false => 0.0,
    };
    if expected.is_empty() {
        return f64::from(u8::from(called.is_empty()));
    }
    let sum = match order {
        CallOrder::Exact => {
            let is_same = |(it, call): (&&Call, &&Call)| weight(it, call) == 1.0;
            let all = called.len() == expected.len() && expected.iter().zip(&called).all(is_same);
            return f64::from(u8::from(all));
        }
        CallOrder::InOrder => {
            let mut table = vec![vec![0.0; called.len() + 1]; expected.len() + 1];
            for (i, it) in expected.iter().enumerate() {
                for (j, call) in called.iter().enumerate() {
                    let both: f64 = table[i][j] + weight(it, call);
                    table[i + 1][j + 1] = both.max(table[i][j + 1]).max(table[i + 1][j]);
                }
            }
            table[expected.len()][called.len()]
        }
        _ => {
            let is_equal = |one: &Call, other: &Call| {
                one.0 == other.0 && one.2 == other.2 && equal(&one.1, &other.1, bools)
            };
            if greedy {
                assign_greedily(&expected, &called, weight, |one, other| {
                    once && is_equal(one, other)
                })
            } else {
                let mut distinct: Vec<&Call> = Vec::new();
                for call in &called {
                    if !once || !distinct.iter().any(|other| is_equal(call, other)) {
                        distinct.push(call);
                    }
                }
                let mut best = vec![f64::NEG_INFINITY; 1 << distinct.len()];
                best[0] = 0.0;
                for it in &expected {
                    for taken in (0..best.len()).rev() {
                        for (at, call) in
                            distinct.iter().enumerate().filter(|it| taken >> it.0 & 1 == 1)
                        {
                            let before = best[taken & !(1 << at)];
                            best[taken] = best[taken].max(before + weight(it, call));
                        }
                    }
                }
                best.into_iter().fold(0.0, f64::max)
            }
        }
    };
    sum / expected.len() as f64
}

fn assign_greedily(
    expected: &[&Call],
    called: &[&Call],
    weight: impl Fn(&Call, &Call) -> f64,
    is_used_with: impl Fn(&Call, &Call) -> bool,
) -> f64 {
    let (mut used, mut sum) = (vec![false; called.len()], 0.0);
    for it in expected {
        let mut best: Option<(f64, usize)> = None;
        for at in (0..called.len()).filter(|at| !used[*at]) {
            let weight = weight(it, called[at]);
            if weight > best.map_or(0.0, |best| best.0) {
                best = Some((weight, at));
            }
        }
        let Some((weight, best)) = best else { continue };
        sum += weight;
        used[best] = true;
        (0..called.len()).for_each(|at| used[at] |= is_used_with(called[at], called[best]));
    }
    sum
}

fn is_close(one: &f64, other: &f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn tool_correctness_agrees_with_deepeval() {
    let mut counts = BTreeMap::new();
    for vector in vectors::<Vector>(VECTORS) {
        let (gold, pred) = (row(&vector.gold), row(&vector.pred));
        for (number, (arguments, outputs)) in PARTS.into_iter().enumerate() {
            for (at, order) in ORDERS.into_iter().enumerate() {
                let theirs = |quirks| deepeval(&vector, (arguments, outputs), order, quirks);
                let committed = vector.deepeval[3 * number + at];
                assert!(
                    is_close(&theirs([true; 3]), &committed),
                    "{order:?} {arguments} {outputs}"
                );
                let builder = ToolCorrectness::builder().order(order);
                let metric = builder.arguments(arguments).outputs(outputs).build();
                let ours = metric.score(&gold, &pred).unwrap().value;
                explain(&mut counts, DEEPEVAL, &ours, theirs, is_close);
            }
        }
    }
    let [bools, once, greedy] = DEEPEVAL;
    let expected = [(bools, 550), (once, 367), (greedy, 190), (SEVERAL, 36)];
    assert_eq!(counts, BTreeMap::from(expected), "of 45,000");
}

const RAGAS: [&str; 3] =
    ["`True` equals 1 in Python", "sets lose repeated calls", "the score without any call is 0"];

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
        assert_eq!(format!("{:.4}", theirs([true; 3])), format!("{:.4}", vector.ragas));
        let ours = ToolCallF1.score(&row(&vector.gold), &row(&vector.pred)).unwrap().value;
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
