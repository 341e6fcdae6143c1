//! Composites of closures, and what `Metric` returns of a composite.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt as _;

use super::*;
use crate::dedup::memo::Sharing;
use crate::score::Scored;
use crate::score::outcome::Outcome;
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
    composite.answer(MetricCall::new(&gold, &pred)).ready().unwrap().unwrap()
}

fn value(expression: Expression) -> f64 {
    scored(&built(expression)).score.value
}

/// Evaluates rows whose prediction has the field of its name, and counts its calls.
struct Counting {
    name: &'static str,
    calls: Arc<AtomicU32>,
}

#[async_trait]
impl Metric for Counting {
    fn name(&self) -> &str {
        self.name
    }

    fn can_evaluate(&self, _: &Example, pred: &Prediction) -> bool {
        pred.get(self.name).is_some()
    }

    fn key(&self) -> Option<Key> {
        Some(Key::of_type::<Self>())
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> Result<MetricScore> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(MetricScore::new(0.5))
    }
}

/// The smaller one of two metrics with equal keys, and the number of their calls.
fn counting() -> (Composite, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let parts = ["a", "b"].map(|name| component(Counting { name, calls: Arc::clone(&calls) }));
    (built(min(parts)), calls)
}

#[test]
fn a_composite_has_its_own_name_and_costs_as_much_as_its_components() {
    let paid = |name, cost| component(metric_fn(name, |_, _| true).with_cost_msats(cost));
    let both: Composite = built(all([paid("a", 30), paid("b", 40)]));
    assert_eq!((both.spec().name, both.cost_estimate()), ("built", 70));
}

#[test]
fn a_composite_can_evaluate_a_row_if_each_component_can() {
    let (both, _) = counting();
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
    assert_eq!(format!("{builder:?}"), r#"CompositeBuilder { name: "mirrored", .. }"#);
    let composite = format!("{:?}", builder.build().unwrap());
    assert!(composite.starts_with(r#"Composite { name: "mirrored", plan: Plan {"#), "{composite}");
}

#[test]
fn all_and_any_are_conjunction_and_disjunction() {
    for (one, other) in [(false, false), (false, true), (true, false), (true, true)] {
        let parts = || [verdict("one", one), verdict("other", other)];
        assert_eq!(value(all(parts())), f64::from(u8::from(one && other)), "{one} and {other}");
        assert_eq!(value(any(parts())), f64::from(u8::from(one || other)), "{one} or {other}");
    }
}

#[test]
fn the_sum_of_weights_that_are_1_but_for_rounding_is_not_scaled() {
    let explained = metric_fn("c", |_, _| MetricScore::new(1.0).with_details("why"));
    for last in [number("c", 1.0), component(explained.with_range(0.0, 1.0))] {
        let parts = [(number("a", 1.0), 0.7), (number("b", 1.0), 0.2), (last, 0.1)];
        let sum = 0.7 + 0.2 + 0.1;
        assert!(sum < 1.0);
        assert_eq!(value(weighted(parts)).to_bits(), f64::to_bits(sum));
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
    let (outer, gold, pred) = (outer.build().unwrap(), example! {}, prediction! {});
    let answer = outer.answer(MetricCall::new(&gold, &pred)).ready().unwrap();
    assert_eq!(Outcome::from(answer), Outcome::Gated { by: "parses".to_owned() });
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
    let blend = built(weighted([(number("a", 0.25), 0.5), (number("b", 0.75), 0.5)]));
    let results: Vec<_> = scored(&blend).components().map(|it| it.outcome.value()).collect();
    assert_eq!(results, [Some(0.25), Some(0.75)]);
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred).without_explanation();
    let scored = blend.answer(call).ready().unwrap().unwrap();
    assert_eq!((scored.score.value, scored.components().count()), (0.5, 0));
}

#[test]
fn a_metric_in_several_places_is_called_once_for_a_row_of_a_run_and_once_outside_of_a_run() {
    let (both, calls) = counting();
    let (gold, pred) = (example! {}, prediction! {});
    let call = MetricCall::new(&gold, &pred);
    let value = |call| both.answer(call).into_future().now_or_never().unwrap().unwrap().score.value;
    assert_eq!((value(call), calls.swap(0, Ordering::Relaxed)), (0.5, 1));
    let key = Key::of_type::<Counting>();
    let memo = Sharing::among(&[key.clone(), key]).unwrap().memo(call.address());
    let in_run = call.with_memo(Some(&memo));
    assert_eq!((value(in_run), value(in_run)), (0.5, 0.5));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}
