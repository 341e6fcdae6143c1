//! Laws of the metrics of trajectories, and their limits.

use std::time::{Duration, Instant};

use dsrs_metrics::metrics::{
    NoLoops, ToolCallF1, ToolCorrectness, TrajectoryF1, TrajectoryMatch, WithinSteps,
    WithinToolCalls,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::trajectory::{
    ArgsRule, ArgsRules, CallOrder, MatchMode, ToolCorrectnessOptions, UnmatchedCalls,
};
use proptest::prelude::*;
use serde_json::json;

fn call() -> impl Strategy<Value = ToolCall> {
    let value = prop_oneof![
        Just(json!(1)),
        Just(json!(1.0)),
        Just(json!(2)),
        Just(json!(true))
    ];
    let args = prop::collection::btree_map("[ab]", value, 0..3);
    let name = prop_oneof![Just("search"), Just("book")];
    (name, args).prop_map(|(name, args)| ToolCall::new(name).with_args(json!(args)))
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    prop::collection::vec(call(), 0..6)
}

/// Messages of one or several calls.
fn trajectory() -> impl Strategy<Value = Trajectory> {
    prop::collection::vec(prop::collection::vec(call(), 1..3), 0..4)
        .prop_map(|messages| Trajectory::new(messages.into_iter().map(Message::calling)))
}

/// Two trajectories, often the same calls in other messages or in another order.
fn pair() -> impl Strategy<Value = (Trajectory, Trajectory)> {
    let related = calls().prop_flat_map(|calls| {
        (Just(calls.clone()).prop_shuffle(), Just(calls)).prop_map(|(one, other)| {
            (
                Trajectory::of_calls(one),
                Trajectory::new([Message::calling(other)]),
            )
        })
    });
    let same = trajectory().prop_map(|one| (one.clone(), one));
    prop_oneof![(trajectory(), trajectory()), related, same]
}

fn rules() -> impl Strategy<Value = ArgsRules> {
    let rule = prop_oneof![
        Just(ArgsRule::Exact),
        Just(ArgsRule::Ignore),
        Just(ArgsRule::Subset),
        Just(ArgsRule::Superset),
        Just(ArgsRule::Paths(vec!["a".to_owned()])),
        Just(ArgsRule::function("one_is_one", |one, other| one["a"] == 1 || other["a"] == 1)),
    ];
    (rule.clone(), rule).prop_map(|(one, other)| ArgsRules::from(one).with_tool("book", other))
}

fn is_match(mode: MatchMode, one: &Trajectory, other: &Trajectory, rules: &ArgsRules) -> bool {
    mode.difference(one, other, rules).unwrap().is_none()
}

/// The largest number of pairs, by trying every partner of each call.
fn most_pairs(called: &[&ToolCall], expected: &mut Vec<&ToolCall>, rules: &ArgsRules) -> usize {
    let Some((first, rest)) = called.split_first() else {
        return 0;
    };
    let mut most = most_pairs(rest, expected, rules);
    for at in 0..expected.len() {
        if rules.matches(first, expected[at]) {
            let partner = expected.remove(at);
            most = most.max(1 + most_pairs(rest, expected, rules));
            expected.insert(at, partner);
        }
    }
    most
}

/// The largest sum of weights, by trying every assignment.
fn best_sum(
    expected: &[&ToolCall],
    called: &mut Vec<&ToolCall>,
    options: ToolCorrectnessOptions,
) -> f64 {
    let Some((first, rest)) = expected.split_first() else {
        return 0.0;
    };
    let mut best = best_sum(rest, called, options);
    for at in 0..called.len() {
        let partner = called.remove(at);
        best = best.max(options.weight(partner, first) + best_sum(rest, called, options));
        called.insert(at, partner);
    }
    best
}

/// 1 and 1.0 are equal arguments, but not for every function.
#[test]
fn a_function_sees_each_call_as_it_is_written() {
    let book = |args| ToolCall::new("book").with_args(args);
    let called = Trajectory::of_calls([book(json!({ "a": 1.0 })), book(json!({ "a": 1 }))]);
    let expected = Trajectory::of_calls([book(json!({}))]);
    let is_one = ArgsRule::function("is_one", |one, _| one["a"] == 1);
    let (calls, missing) = (called.tool_calls(), expected.tool_calls());
    let unmatched = UnmatchedCalls::new(&calls, &missing, &is_one.into()).unwrap();
    assert_eq!(unmatched.missing, Vec::<&ToolCall>::new());
    assert_eq!(
        unmatched
            .extra
            .iter()
            .map(|call| &call.args)
            .collect::<Vec<_>>(),
        [&json!({ "a": 1.0 })]
    );
}

proptest! {
    #[test]
    fn modes_imply_each_other((one, other) in pair(), rules in rules()) {
        let is = |mode| is_match(mode, &one, &other, &rules);
        prop_assert!(!is(MatchMode::Strict) || is(MatchMode::Ordered));
        prop_assert!(!is(MatchMode::Ordered) || is(MatchMode::Unordered));
        prop_assert!(!is(MatchMode::Unordered) || is(MatchMode::Subset) && is(MatchMode::Superset));
        let as_many = one.tool_calls().len() == other.tool_calls().len();
        prop_assert_eq!(is(MatchMode::Unordered), as_many && is(MatchMode::Subset));
    }

    #[test]
    fn subset_and_superset_are_mirrored((one, other) in pair()) {
        for (rule, mirrored) in [
            (ArgsRule::Exact, ArgsRule::Exact),
            (ArgsRule::Ignore, ArgsRule::Ignore),
            (ArgsRule::Subset, ArgsRule::Superset),
        ] {
            let subset = is_match(MatchMode::Subset, &one, &other, &rule.into());
            prop_assert_eq!(subset, is_match(MatchMode::Superset, &other, &one, &mirrored.into()));
        }
    }

    #[test]
    fn as_many_calls_as_possible_have_a_partner((one, other) in pair(), rules in rules()) {
        let (called, expected) = (one.tool_calls(), other.tool_calls());
        let unmatched = UnmatchedCalls::new(&called, &expected, &rules).unwrap();
        let ours: Vec<_> = called.iter().collect();
        let most = most_pairs(&ours, &mut expected.iter().collect(), &rules);
        prop_assert_eq!(called.len() - unmatched.extra.len(), most);
        prop_assert_eq!(expected.len() - unmatched.missing.len(), most);
    }

    #[test]
    fn an_assignment_is_the_best(
        one in calls(), other in calls(), arguments in any::<bool>(), outputs in any::<bool>(),
    ) {
        let options = ToolCorrectnessOptions { order: CallOrder::Any, arguments, outputs };
        // Every third call has another result.
        let numbered = |calls: Vec<ToolCall>| {
            Trajectory::of_calls(calls.into_iter().enumerate().map(|(at, call)| {
                call.with_result(if at % 3 == 0 { "no" } else { "ok" })
            }))
        };
        let (called, expected) = (numbered(one), numbered(other));
        let wanted: Vec<_> = expected.tool_calls().iter().collect();
        prop_assume!(!wanted.is_empty());
        let best = best_sum(&wanted, &mut called.tool_calls().iter().collect(), options);
        let score = options.score(&called, &expected).unwrap();
        prop_assert!((score - best / wanted.len() as f64).abs() < 1e-9);
        let in_order = ToolCorrectnessOptions { order: CallOrder::InOrder, ..options };
        let in_order = in_order.score(&called, &expected).unwrap();
        prop_assert!(in_order <= score + 1e-9);
        let exact = ToolCorrectnessOptions { order: CallOrder::Exact, ..options };
        prop_assert!(exact.score(&called, &expected).unwrap() <= in_order + 1e-9);
    }

    #[test]
    fn f1_is_symmetric((one, other) in pair()) {
        let rows = |trajectory: &Trajectory| Row { trajectory: trajectory.clone() };
        let (one, other) = (rows(&one), rows(&other));
        let f1 = |gold, pred| ToolCallF1.score(gold, pred).unwrap().value;
        prop_assert_eq!(f1(&one, &other), f1(&other, &one));
        prop_assert_eq!(f1(&one, &one), 1.0);
        for order in [CallOrder::Any, CallOrder::InOrder, CallOrder::Exact] {
            let metric = TrajectoryF1::builder().order(order).build();
            let f1 = |gold, pred| metric.score(gold, pred).unwrap().value;
            prop_assert_eq!(f1(&one, &other), f1(&other, &one));
            prop_assert_eq!(f1(&one, &one), 1.0);
        }
    }
}

#[derive(Record)]
struct Row {
    trajectory: Trajectory,
}

fn row(calls: impl IntoIterator<Item = ToolCall>) -> Row {
    Row {
        trajectory: Trajectory::of_calls(calls),
    }
}

fn numbered(name: &str, number: usize) -> ToolCall {
    ToolCall::new(name).with_args(json!({ "number": number }))
}

#[test]
fn greedy_matching_would_miss_this() {
    // The first call fits both expected calls, the second one only the first.
    let [wide, narrow] = [
        json!({ "city": "Rome", "days": 2 }),
        json!({ "city": "Rome" }),
    ];
    let book = |args: &serde_json::Value| ToolCall::new("book").with_args(args.clone());
    let (gold, pred) = (
        row([book(&narrow), book(&wide)]),
        row([book(&wide), book(&narrow)]),
    );
    let metric = TrajectoryMatch::builder()
        .mode(MatchMode::Superset)
        .args(ArgsRule::Superset);
    assert_eq!(metric.build().score(&gold, &pred).unwrap().value, 1.0);
}

/// 100,000 steps take linear time where calls are compared by equality, and are an error where that is impossible.
#[test]
fn long_trajectories() {
    let start = Instant::now();
    let many = |name: &str| row((0..100_000).map(|number| numbered(name, number)));
    let (one, other) = (many("next"), many("next"));
    for mode in [
        MatchMode::Strict,
        MatchMode::Ordered,
        MatchMode::Unordered,
        MatchMode::Subset,
    ] {
        let metric = TrajectoryMatch::builder().mode(mode).build();
        assert_eq!(metric.score(&one, &other).unwrap().value, 1.0);
    }
    assert_eq!(ToolCallF1.score(&one, &other).unwrap().value, 1.0);
    assert_eq!(
        TrajectoryF1.score(&one, &other).unwrap_err().to_string(),
        "metric `trajectory_f1`: too many calls to compare: 100000 called, 100000 expected; compare them in any order"
    );
    let correctness = ToolCorrectness::builder().arguments(true).build();
    assert_eq!(correctness.score(&one, &other).unwrap().value, 1.0);
    assert_eq!(NoLoops::default().score(&one, &other).unwrap().value, 1.0);
    assert_eq!(
        WithinSteps::builder()
            .max(100_000)
            .build()
            .score(&one, &other)
            .unwrap()
            .value,
        1.0
    );
    assert_eq!(
        WithinToolCalls::builder()
            .max(99_999)
            .build()
            .score(&one, &other)
            .unwrap()
            .value,
        0.0
    );

    // Equal calls are paired first, except by a function.
    let equal = || row((0..100_000).map(|_| numbered("next", 1)));
    let superset = TrajectoryMatch::builder()
        .mode(MatchMode::Unordered)
        .args(ArgsRule::Superset)
        .build();
    assert_eq!(superset.score(&equal(), &equal()).unwrap().value, 1.0);
    assert_eq!(superset.score(&one, &other).unwrap().value, 1.0);
    let shifted = row((1..=100_000).map(|number| numbered("next", number + 100_000)));
    assert_eq!(
        superset.score(&shifted, &other).unwrap_err().to_string(),
        "metric `trajectory_match`: too many different calls of `next` to compare: 100000 called, 100000 expected; compare their \
         arguments by `exact`, `ignore` or paths"
    );
    assert_eq!(
        correctness.score(&shifted, &other).unwrap_err().to_string(),
        "metric `tool_correctness`: too many different calls of `next` to compare: 100000 called, 100000 expected; compare them in \
         order, or without arguments"
    );
    assert!(
        start.elapsed() < Duration::from_secs(120),
        "{:?}",
        start.elapsed()
    );
}

/// The largest assignments and matchings that are computed take seconds.
#[test]
fn the_largest_assignment_ends() {
    let some = |from: usize| {
        row((from..from + 1000).map(|number| {
            ToolCall::new("f").with_args(json!({ "a": number % 7, "b": number % 5, "c": number }))
        }))
    };
    let start = Instant::now();
    let metric = TrajectoryMatch::builder()
        .mode(MatchMode::Unordered)
        .args(ArgsRule::function("same_a", |one, other| {
            one["a"] == other["a"]
        }))
        .build();
    assert_eq!(metric.score(&some(0), &some(7000)).unwrap().value, 1.0);
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}
