//! Components without a score, shared components, and what the result keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsrs_metrics::composite::{Composite, OnMissing, all, gate, part, weighted};
use dsrs_metrics::prelude::*;

use crate::{FormatOk, Judged, Length, Overlap, score};

fn half_half(on_missing: OnMissing) -> Composite {
    let whole = weighted([(part(Overlap), 0.25), (part(Length), 0.75)]);
    Composite::builder("half_half", whole).on_missing(on_missing).build().unwrap()
}

#[test]
fn a_component_without_a_score_fails_the_whole_unless_the_user_says_how() {
    let abstains = prediction! { "length" => 0.5 };
    let error = score(&half_half(OnMissing::Fail), &abstains).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `half_half`: its component `overlap` has no score: it abstained"
    );
    assert_eq!(score(&half_half(OnMissing::Skip), &abstains).unwrap().score.value, 0.5);
    assert_eq!(score(&half_half(OnMissing::Zero), &abstains).unwrap().score.value, 0.375);
    let error = score(&half_half(OnMissing::Fail), &prediction! { "overlap" => 0.5 }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `half_half`: its component `length` has no score: metric `length`: no field `pred.length`; it has `overlap`"
    );
    let nothing = score(&half_half(OnMissing::Skip), &prediction! {}).unwrap_err();
    assert!(nothing.to_string().contains("`overlap` has no score"), "{nothing}");
}

#[test]
fn a_component_that_panics_is_a_component_that_fails() {
    let broken = metric_fn("broken", |_, _| -> f64 { panic!("told to") }).with_range(0.0, 1.0);
    let whole = weighted([(part(broken), 0.5), (part(Length), 0.5)]);
    let composite = Composite::builder("c", whole).build().unwrap();
    let error = score(&composite, &prediction! { "length" => 1.0 }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `c`: its component `broken` has no score: metric `broken` panicked: told to"
    );
}

#[test]
fn the_result_keeps_its_parts_with_verdicts_and_critiques() {
    let critic = metric_fn("critic", |_, _| FeedbackMetric::new(0.25, "too long"));
    let critic = critic.with_range(0.0, 1.0).with_threshold(0.5);
    let mild = metric_fn("mild", |_, _| FeedbackMetric::new(0.75, "almost")).with_range(0.0, 1.0);
    let whole = weighted([(part(mild), 0.5), (part(critic), 0.25), (part(FormatOk), 0.25)]);
    let composite = Composite::builder("c", whole).build().unwrap();
    let scored = score(&composite, &prediction! { "format" => true }).unwrap();
    let kept: Vec<_> = scored
        .components()
        .map(|component| (component.name, component.outcome.value().unwrap()))
        .collect();
    assert_eq!(kept, [("mild", 0.75), ("critic", 0.25), ("format_ok", 1.0)]);
    let verdicts: Vec<_> =
        scored.components().map(|c| c.outcome.scored().unwrap().passed).collect();
    assert_eq!(verdicts, [None, Some(false), Some(true)]);
    assert_eq!(
        scored.into_feedback().feedback,
        "critic (0.25): too long\nmild (0.75): almost",
        "the worst first"
    );
}

#[test]
fn a_shared_component_is_evaluated_once_a_row() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let shared = metric_fn("shared", move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        true
    });
    let shared = part(shared);
    let inner = all([shared.clone(), part(FormatOk)]);
    let whole = weighted([(inner, 0.5), (shared, 0.25), (part(Length), 0.25)]);
    let composite = Composite::builder("c", whole).build().unwrap();
    let pred = prediction! { "format" => true, "length" => 1.0 };
    assert_eq!(score(&composite, &pred).unwrap().score.value, 1.0);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(composite.components().collect::<Vec<_>>(), ["shared", "format_ok", "length"]);
}

#[tokio::test]
async fn a_gate_asks_the_truths_only_where_it_opens() {
    let whole = gate([part(FormatOk), part(Length)], 0.75, [part(Judged)]);
    let composite = Composite::builder("c", whole).threshold(0.5).build().unwrap();
    let gold = example! {};
    let call = |format: bool, length: f64, judged: f64| {
        let pred = prediction! { "format" => format, "length" => length, "judged" => judged };
        let (gold, composite) = (&gold, &composite);
        async move { Outcome::from(composite.call(MetricCall::new(gold, &pred)).await) }
    };
    // The judge would fail, but it is never asked.
    let gated = call(false, 1.0, -1.0).await;
    assert_eq!(gated, Outcome::Gated { by: "format_ok, length".to_owned() });
    let opened = call(true, 0.5, 0.625).await;
    let scored = opened.scored().unwrap();
    assert_eq!((scored.score.value, scored.passed), (0.625, Some(true)));
    assert_eq!(scored.score.cost_msats, 100);
    let error = call(true, 1.0, -1.0).await.error().unwrap();
    assert_eq!(
        error,
        "metric `c`: its component `judged` has no score: metric `judged`: the judge is away"
    );
}
