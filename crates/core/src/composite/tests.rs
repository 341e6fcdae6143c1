//! Composites of closures, and what their `Metric` methods return.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt as _;

use super::shape::{Decision, Named, Reads, Shape};
use super::*;
use crate::lm::LmErrorKind;
use crate::score::{MetricError, MetricErrorKind, Outcome, Scored};
use crate::spec::ScoreKind;
use crate::{example, metric_fn, prediction};

fn number(name: &str, value: f64) -> Expression {
    component(metric_fn(name, move |_, _| value).with_range(0.0, 1.0))
}

fn verdict(name: &str, passed: bool) -> Expression {
    component(metric_fn(name, move |_, _| passed))
}

fn built(expression: Expression) -> Composite {
    Composite::builder("built", expression).build().unwrap()
}

fn scored(composite: &Composite) -> Scored {
    let (gold, pred) = (example! {}, prediction! {});
    composite
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap()
}

fn value(expression: Expression) -> f64 {
    scored(&built(expression)).score.value
}

/// Returns 0.5 or an error, and counts its calls. Scores only rows whose prediction has a field with its name.
struct Counting {
    name: &'static str,
    tier: MetricTier,
    error: Option<MetricError>,
    is_awaited: bool,
    has_key: bool,
    calls: Arc<AtomicU32>,
}

impl Counting {
    fn new(name: &'static str, calls: &Arc<AtomicU32>) -> Self {
        let (tier, calls) = (MetricTier::Proxy, Arc::clone(calls));
        Self {
            name,
            tier,
            error: None,
            is_awaited: false,
            has_key: false,
            calls,
        }
    }

    fn failing(name: &'static str, error: MetricError) -> Self {
        Self {
            error: Some(error),
            ..Self::new(name, &Arc::default())
        }
    }

    fn truth(self) -> Self {
        Self {
            tier: MetricTier::Truth,
            ..self
        }
    }
}

#[async_trait]
impl Metric for Counting {
    fn name(&self) -> &str {
        self.name
    }

    /// Declares that it is synchronous, which may be wrong.
    fn spec(&self) -> MetricSpec<'_> {
        MetricSpec::new(self.name)
            .with_range(0.0, 1.0)
            .with_tier(self.tier)
    }

    fn can_evaluate(&self, _: &Example, pred: &Prediction) -> bool {
        pred.get(self.name).is_some()
    }

    fn key(&self) -> Option<Key> {
        self.has_key.then(Key::of_type::<Self>)
    }

    async fn evaluate(&self, gold: &Example, pred: &Prediction) -> Result<MetricScore> {
        Ok(self.answer(MetricCall::new(gold, pred)).await?.into_score())
    }

    fn answer<'a>(&'a self, _: MetricCall<'a>) -> Answer<'a> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let score = Scored::validated(MetricScore::new(0.5), &self.spec());
        let result = self.error.clone().map_or(score, Err);
        if self.is_awaited {
            Answer::pending(async { result })
        } else {
            result.into()
        }
    }
}

/// Returns the minimum of two metrics with equal keys, and a counter of their calls.
fn counting(is_awaited: bool) -> (Composite, Arc<AtomicU32>) {
    let calls = Arc::default();
    let part = |name| {
        component(Counting {
            is_awaited,
            has_key: true,
            ..Counting::new(name, &calls)
        })
    };
    (built(min(["a", "b"].map(part))), calls)
}

/// Returns the error of a judge whose calls are estimated.
fn estimated() -> MetricError {
    MetricError::of_model("judge", LmErrorKind::Estimated.into())
}

fn outcome(builder: CompositeBuilder) -> Outcome {
    let (composite, gold, pred) = (builder.build().unwrap(), example! {}, prediction! {});
    composite
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .into()
}

#[test]
fn a_composite_has_its_own_name_and_costs_as_much_as_its_components() {
    let paid = |name, cost| component(metric_fn(name, |_, _| true).with_cost_msats(cost));
    let both: Composite = built(all([paid("a", 30), paid("b", 40)]));
    assert_eq!((both.spec().name, both.cost_estimate()), ("built", 70));
}

#[test]
fn a_composite_can_evaluate_a_row_if_each_component_can() {
    let (both, _) = counting(false);
    let gold = example! {};
    assert!(both.can_evaluate(&gold, &prediction! { "a" => 1, "b" => 1 }));
    assert!(!both.can_evaluate(&gold, &prediction! { "a" => 1 }));
    assert!(!both.can_evaluate(&gold, &prediction! { "b" => 1 }));
}

#[test]
fn a_composite_is_shown_with_its_name_and_an_expression_with_that_of_its_combination() {
    let expression = invert(number("half", 0.5));
    assert_eq!(format!("{expression:?}"), r#"Expression("invert(half)")"#);
    let builder = Composite::builder("mirrored", expression);
    assert_eq!(
        format!("{builder:?}"),
        r#"CompositeBuilder { name: "mirrored", .. }"#
    );
    let composite = format!("{:?}", builder.build().unwrap());
    assert!(
        composite.starts_with(r#"Composite { name: "mirrored", plan: Plan {"#),
        "{composite}"
    );
}

#[test]
fn all_and_any_are_conjunction_and_disjunction() {
    for (one, other) in [(false, false), (false, true), (true, false), (true, true)] {
        let parts = || [verdict("one", one), verdict("other", other)];
        assert_eq!(
            value(all(parts())),
            f64::from(u8::from(one && other)),
            "{one} and {other}"
        );
        assert_eq!(
            value(any(parts())),
            f64::from(u8::from(one || other)),
            "{one} or {other}"
        );
    }
}

#[test]
fn the_sum_of_weights_that_are_1_but_for_rounding_is_not_scaled() {
    let explained = metric_fn("c", |_, _| MetricScore::new(1.0).with_details("why"));
    for last in [number("c", 1.0), component(explained.with_range(0.0, 1.0))] {
        let names = ["a", "b", "d", "e", "f", "g", "h", "i", "j"];
        let parts = names.map(|name| (number(name, 1.0), 0.1));
        let sum: f64 = [0.1; 10].iter().sum();
        assert!(sum < 1.0);
        let blend = weighted(parts.into_iter().chain([(last, 0.1)]));
        assert_eq!(value(blend).to_bits(), f64::to_bits(sum));
    }
}

#[test]
fn a_weighted_mean_is_the_same_whether_a_component_or_the_call_is_explained_or_not() {
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred);
    for (a, b) in [(0.25, 0.75), (0.1, -0.7), (-0.0, -0.0)] {
        // A score of zero has no sign.
        let expected = 0.3 * a + 0.7 * b + 0.0;
        let number = metric_fn("b", move |_, _| b).with_range(-1.0, 1.0);
        let explained = metric_fn("b", move |_, _| MetricScore::new(b).with_details("why"));
        for last in [
            component(number),
            component(explained.with_range(-1.0, 1.0)),
        ] {
            let first = component(metric_fn("a", move |_, _| a).with_range(-1.0, 1.0));
            let blend = built(weighted([(first, 0.3), (last, 0.7)]));
            for call in [call, call.without_explanation()] {
                let value = blend.answer(call).ready().unwrap().unwrap().score.value;
                assert_eq!(value.to_bits(), f64::to_bits(expected), "{value}");
            }
        }
    }
}

#[test]
fn a_gate_with_one_truth_has_its_verdict() {
    let correct =
        |passed| component(metric_fn("correct", move |_, _| passed).with_tier(MetricTier::Truth));
    let gated = |passed| all([gate([verdict("parses", true)], 1.0, [correct(passed)])]);
    assert_eq!((value(gated(true)), value(gated(false))), (1.0, 0.0));
}

#[test]
fn a_row_that_a_gate_of_a_component_rejects_is_gated_even_if_missing_components_are_omitted() {
    let correct = metric_fn("correct", |_, _| true).with_tier(MetricTier::Truth);
    let inner = built(gate([verdict("parses", false)], 1.0, [component(correct)]));
    let parts = [(component(inner), 0.5), (number("half", 0.5), 0.5)];
    let outer = Composite::builder("outer", weighted(parts)).on_missing(OnMissing::Skip);
    assert_eq!(
        outcome(outer),
        Outcome::Gated {
            by: "parses".to_owned()
        }
    );
}

#[test]
fn components_behind_a_gate_are_called_if_it_opens_or_its_proxies_are_only_estimated() {
    let gated = Outcome::Gated {
        by: "proxy".to_owned(),
    };
    let proxy = |error| component(Counting::failing("proxy", error));
    for (proxy, is_called, expected) in [
        (number("proxy", 0.25), false, Some(gated)),
        (number("proxy", 0.75), true, None),
        (proxy(MetricError::failed("proxy", "no reply")), false, None),
        (proxy(estimated()), true, None),
    ] {
        let calls = Arc::default();
        let truth = component(Counting::new("truth", &calls).truth());
        let parts = [gate([proxy], 0.5, [truth]), number("other", 1.0)];
        let outcome = outcome(Composite::builder("built", min(parts)));
        assert_eq!(
            calls.load(Ordering::Relaxed),
            u32::from(is_called),
            "{outcome:?}"
        );
        assert!(expected.is_none_or(|expected| outcome == expected));
    }
}

#[test]
fn a_gate_waits_for_its_proxies_where_missing_components_count_as_0() {
    let truth = component(Counting::new("truth", &Arc::default()).truth());
    let gate = gate([number("proxy", 0.75)], 0.5, [truth]);
    let builder = Composite::builder("built", gate).on_missing(OnMissing::Zero);
    assert_eq!(outcome(builder).value(), Some(0.5));
}

#[test]
fn no_component_is_called_after_one_that_leaves_the_composite_without_a_score() {
    let over_budget = MetricErrorKind::OverBudget { budget_msats: 5 };
    let over_budget = || MetricError::new("b", over_budget.clone()).with_cost_msats(3);
    let failed = || MetricError::failed("b", "no reply");
    for (on_missing, error, is_called, name) in [
        (OnMissing::Fail, failed(), false, "metric_failed"),
        (OnMissing::Fail, over_budget(), false, "skipped"),
        (OnMissing::Skip, over_budget(), false, "skipped"),
        (OnMissing::Skip, failed(), true, "scored"),
        (OnMissing::Fail, estimated(), true, "metric_failed"),
    ] {
        let calls = Arc::default();
        let explained = metric_fn("a", |_, _| MetricScore::new(0.5).with_details("why"));
        let explained = component(explained.with_range(0.0, 1.0));
        let (b, c) = (Counting::failing("b", error), Counting::new("c", &calls));
        let parts = min([explained, component(b), component(c)]);
        let outcome = outcome(Composite::builder("built", parts).on_missing(on_missing));
        assert_eq!(
            calls.load(Ordering::Relaxed),
            u32::from(is_called),
            "{outcome:?}"
        );
        assert_eq!(outcome.name(), name);
    }
}

#[test]
fn a_panic_of_a_component_is_its_error() {
    let explained = metric_fn("a", |_, _| MetricScore::new(0.5).with_details("why"));
    let panics = metric_fn("b", |_, _| -> f64 { panic!("no file") });
    let (explained, panics) = (explained.with_range(0.0, 1.0), panics.with_range(0.0, 1.0));
    let parts = min([component(explained), component(panics)]);
    let error = outcome(Composite::builder("built", parts)).error().unwrap();
    let reason = "its component `b` has no score: metric `b` panicked: no file";
    assert_eq!(error, format!("metric `built`: {reason}"));
}

#[test]
fn a_missing_component_counts_as_its_worst_value_which_is_the_largest_if_it_is_inverted() {
    let missing = |name| component(metric_fn(name, |_, _| None::<f64>).with_range(0.0, 2.0));
    for (one, other, expected) in [
        (invert(number("one", 0.25)), missing("other"), 0.375),
        (invert(missing("one")), number("other", 0.5), 0.25),
        (invert(invert(missing("one"))), number("other", 0.5), 0.25),
    ] {
        let blend = Composite::builder("blend", weighted([(one, 0.5), (other, 0.5)]));
        assert_eq!(
            outcome(blend.on_missing(OnMissing::Zero)).value(),
            Some(expected)
        );
    }
}

#[test]
fn a_composite_may_have_more_components_than_are_collected_on_the_stack() {
    for count in [8_u8, 9] {
        let parts = (1..=count).map(|it| number(&format!("part_{it}"), f64::from(it) / 16.0));
        assert_eq!(value(max(parts)), f64::from(count) / 16.0);
    }
}

#[test]
fn a_score_has_the_results_of_components_that_are_numbers_only_if_its_explanation_is_read() {
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred);
    let numbers = || [number("a", 0.25), number("b", 0.75)];
    let explained = metric_fn("b", |_, _| MetricScore::new(0.75).with_details("why"));
    let explained = component(explained.with_range(0.0, 1.0));
    for (expression, expected) in [
        (weighted(numbers().map(|part| (part, 0.5))), 0),
        (min(numbers()), 0),
        (min([number("a", 0.25), explained]), 2),
    ] {
        let composite = built(expression);
        let results: Vec<_> = scored(&composite)
            .components()
            .map(|it| it.outcome.value())
            .collect();
        assert_eq!(results, [Some(0.25), Some(0.75)]);
        let scored = composite
            .answer(call.without_explanation())
            .ready()
            .unwrap()
            .unwrap();
        assert_eq!(scored.components().count(), expected);
    }
}

const NODE: MetricSpec<'static> = MetricSpec::new("short").with_kind(ScoreKind::Bool);
const BRANCH: MetricSpec<'static> = MetricSpec::new("branch").with_range(0.0, 1.0);

/// Returns `true` for each branch of the tree (`yes`, then `no`) that is called. Also returns the tree's path if the
/// tree has a score.
fn tree(node: &dyn Metric, is_explained: bool) -> ([bool; 2], Option<String>) {
    let named = |index, spec| Named {
        index,
        configured: "",
        spec,
    };
    let branches = [1, 2].map(|index| Shape::new(Operator::Leaf(named(index, &BRANCH)), []));
    let decision = Decision {
        node: named(0, &NODE),
        reads: Reads::Bool,
        answers: vec![&["yes"], &["no"]],
    };
    let tree = Shape::new(Operator::Decision(decision), branches);
    let plan = Plan {
        node: check::Leaves::new(OnMissing::Fail).resolve(tree).unwrap(),
        names: vec!["short", "branch", "branch"],
        on_missing: OnMissing::Fail,
        keys: Vec::new(),
        sharing: None,
    };
    let calls = [Arc::default(), Arc::default()];
    let [yes, no] = [
        Counting::new("yes", &calls[0]),
        Counting::new("no", &calls[1]),
    ];
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred);
    let call = if is_explained {
        call
    } else {
        call.without_explanation()
    };
    let answer = plan
        .answer(&[node, &yes, &no], call, &BRANCH)
        .ready()
        .unwrap();
    let details = answer.ok().and_then(|scored| scored.score.details);
    (
        calls.map(|calls| calls.load(Ordering::Relaxed) == 1),
        details,
    )
}

#[test]
fn a_tree_calls_the_component_of_the_branch_that_is_taken_and_of_each_if_its_node_is_estimated() {
    let node = |passed| metric_fn("short", move |_, _| passed);
    let shown = |path: &str| Some(path.to_owned());
    assert_eq!(
        tree(&node(true), true),
        ([true, false], shown("short: yes"))
    );
    assert_eq!(
        tree(&node(false), true),
        ([false, true], shown("short: no"))
    );
    assert_eq!(
        tree(&node(true), false),
        ([true, false], None),
        "its path is not read"
    );
    assert_eq!(
        tree(&Counting::failing("short", estimated()), true),
        ([true, true], None)
    );
    let failed = MetricError::failed("short", "no reply");
    assert_eq!(
        tree(&Counting::failing("short", failed), true),
        ([false, false], None)
    );
}

#[test]
fn a_metric_in_several_places_is_called_once_for_a_row_of_a_run_and_once_outside_of_a_run() {
    let (both, calls) = counting(false);
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred);
    let value = |call| both.answer(call).ready().unwrap().unwrap().score.value;
    assert_eq!((value(call), calls.swap(0, Ordering::Relaxed)), (0.5, 1));
    let key = Key::of_type::<Counting>();
    let memo = Sharing::among(&[key.clone(), key])
        .unwrap()
        .memo(call.address());
    let in_run = call.with_memo(Some(&memo));
    assert_eq!((value(in_run), value(in_run)), (0.5, 0.5));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

/// A run's memo lives as long as the future.
#[test]
fn a_component_that_is_awaited_and_does_not_declare_it_is_an_error_outside_of_a_run_only() {
    let (both, _) = counting(true);
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred);
    let error = both.answer(call).ready().unwrap().unwrap_err().to_string();
    let reason = "a component is asynchronous, but its spec declares that it is synchronous";
    assert_eq!(error, format!("metric `built`: {reason}"));
    let key = Key::of_type::<Counting>();
    let memo = Sharing::among(&[key.clone(), key])
        .unwrap()
        .memo(call.address());
    let answer = both
        .answer(call.with_memo(Some(&memo)))
        .into_future()
        .now_or_never();
    assert_eq!(answer.unwrap().unwrap().score.value, 0.5);
}
