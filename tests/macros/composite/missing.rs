//! Components without a score, shared components, and the component results of a score.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsrs_metrics::composite::{Composite, OnMissing, all, component, gate, invert, weighted};
use dsrs_metrics::prelude::*;

use super::{ErrorRate, FormatOk, Judged, Length, Overlap, score};

fn half_half(on_missing: OnMissing) -> Composite {
    let whole = weighted([(component(Overlap), 0.25), (component(Length), 0.75)]);
    Composite::builder("half_half", whole)
        .on_missing(on_missing)
        .build()
        .unwrap()
}

#[test]
fn a_component_without_a_score_fails_the_whole_unless_the_user_says_how() {
    let abstains = prediction! { "length" => 0.5 };
    let error = score(&half_half(OnMissing::Fail), &abstains).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `half_half`: its component `overlap` has no score: it abstained"
    );
    assert_eq!(
        score(&half_half(OnMissing::Skip), &abstains)
            .unwrap()
            .score
            .value,
        0.5
    );
    assert_eq!(
        score(&half_half(OnMissing::Zero), &abstains)
            .unwrap()
            .score
            .value,
        0.375
    );
    let error = score(
        &half_half(OnMissing::Fail),
        &prediction! { "overlap" => 0.5 },
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `half_half`: its component `length` has no score: metric `length`: no field `pred.length`; found `overlap`"
    );
    let nothing = score(&half_half(OnMissing::Skip), &prediction! {}).unwrap_err();
    assert!(
        nothing.to_string().contains("`overlap` has no score"),
        "{nothing}"
    );
}

#[test]
fn a_component_that_panics_is_a_component_that_fails() {
    let broken = metric_fn("broken", |_, _| -> f64 { panic!("told to") }).with_range(0.0, 1.0);
    let whole = weighted([(component(broken), 0.5), (component(Length), 0.5)]);
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
    let whole = weighted([
        (component(mild), 0.5),
        (component(critic), 0.25),
        (component(FormatOk), 0.25),
    ]);
    let composite = Composite::builder("c", whole).build().unwrap();
    let scored = score(&composite, &prediction! { "format" => true }).unwrap();
    let kept: Vec<_> = scored
        .components()
        .map(|component| (component.name, component.outcome.value().unwrap()))
        .collect();
    assert_eq!(kept, [("mild", 0.75), ("critic", 0.25), ("format_ok", 1.0)]);
    let verdicts: Vec<_> = scored
        .components()
        .map(|c| c.outcome.scored().unwrap().passed)
        .collect();
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
    let shared = component(shared);
    let inner = all([shared.clone(), component(FormatOk)]);
    let whole = weighted([(inner, 0.5), (shared, 0.25), (component(Length), 0.25)]);
    let composite = Composite::builder("c", whole).build().unwrap();
    let pred = prediction! { "format" => true, "length" => 1.0 };
    assert_eq!(score(&composite, &pred).unwrap().score.value, 1.0);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(
        composite.components().collect::<Vec<_>>(),
        ["shared", "format_ok", "length"]
    );
}

#[tokio::test]
async fn a_gate_asks_the_truths_only_where_it_opens() {
    let whole = gate(
        [component(FormatOk), component(Length)],
        0.75,
        [component(Judged)],
    );
    let composite = Composite::builder("c", whole)
        .threshold(0.5)
        .build()
        .unwrap();
    let gold = example! {};
    let call = |format: bool, length: f64, judged: f64| {
        let pred = prediction! { "format" => format, "length" => length, "judged" => judged };
        let (gold, composite) = (&gold, &composite);
        async move { Outcome::from(composite.answer(MetricCall::new(gold, &pred)).await) }
    };
    // The judge would fail, but it is not evaluated.
    let gated = call(false, 1.0, -1.0).await;
    assert_eq!(
        gated,
        Outcome::Gated {
            by: "format_ok, length".to_owned()
        }
    );
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

/// Fails if the row has no `flagged`.
#[metric]
fn flagged(#[pred] flagged: Option<bool>) -> Result<bool, String> {
    flagged.ok_or_else(|| "the service is away".to_owned())
}

/// Returns the field `spam`.
#[metric]
fn spam(#[pred] spam: bool) -> bool {
    spam
}

/// A number from 1 to 5.
#[metric(range = 1.0..=5.0)]
fn stars(#[pred] stars: Option<f64>) -> Option<f64> {
    stars
}

#[metric(invert(any(flagged, spam)), on_missing = zero)]
struct Civil;

#[metric(invert(error_rate), on_missing = zero)]
struct Correct;

#[metric(weighted(overlap = 0.5, stars = 0.5), on_missing = skip)]
struct Blend;

#[metric(min(overlap, stars), on_missing = skip)]
struct Least;

#[metric(gate(proxy(overlap, length) >= 0.5, truth(judged)), on_missing = zero)]
struct Proxied;

#[metric(weighted(overlap = 1.0, spam = 0.0), on_missing = skip)]
struct OneCounts;

/// A missing component never results in a higher score than any value of it would.
#[test]
fn zero_is_the_worst_also_upside_down() {
    let value = |pred: &Prediction| score(&Civil, pred).unwrap().score.value;
    assert_eq!(
        value(&prediction! { "flagged" => false, "spam" => false }),
        1.0
    );
    assert_eq!(
        value(&prediction! { "flagged" => true, "spam" => false }),
        0.0
    );
    assert_eq!(value(&prediction! { "spam" => false }), 0.0);
    let twice = invert(invert(weighted([
        (component(Overlap), 0.5),
        (component(Length), 0.5),
    ])));
    let twice = Composite::builder("c", twice)
        .on_missing(OnMissing::Zero)
        .build()
        .unwrap();
    assert_eq!(
        score(&twice, &prediction! { "length" => 0.5 })
            .unwrap()
            .score
            .value,
        0.25
    );
    assert_eq!(
        score(&Correct, &prediction! { "errors" => 0.5 })
            .unwrap()
            .score
            .value,
        1.5
    );
    assert_eq!(score(&Correct, &prediction! {}).unwrap().score.value, 0.0);
}

/// A missing proxy never opens a gate, whether the gate is inverted or not.
#[tokio::test]
async fn a_missing_proxy_is_no_reason_to_open_a_gate() {
    let whole = invert(gate(
        [component(Overlap), component(Length)],
        0.5,
        [component(Judged)],
    ));
    let upside_down = Composite::builder("c", whole)
        .on_missing(OnMissing::Zero)
        .build()
        .unwrap();
    let (gold, pred) = (
        example! {},
        prediction! { "length" => 0.75, "judged" => 0.25 },
    );
    let call = MetricCall::new(&gold, &pred);
    for answer in [upside_down.answer(call).await, Proxied.answer(call).await] {
        assert_eq!(
            Outcome::from(answer),
            Outcome::Gated {
                by: "overlap, length".to_owned()
            }
        );
    }
    let (gold, pred) = (
        example! {},
        prediction! { "overlap" => 0.5, "length" => 0.75 },
    );
    let missing = upside_down
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap();
    assert_eq!(missing.score.value, 0.0);
}

/// With components of different ranges, the remaining one keeps its value and is not clamped to the range of the mean.
#[test]
fn what_is_left_by_skip_is_in_range() {
    let range = |spec: MetricSpec<'_>| spec.range.map(|range| (range.min, range.max));
    assert_eq!(
        (range(Blend::SPEC), range(Least::SPEC)),
        (Some((0.0, 5.0)), Some((0.0, 5.0)))
    );
    let both = prediction! { "overlap" => 0.5, "stars" => 5.0 };
    assert_eq!(score(&Blend, &both).unwrap().score.value, 2.75);
    let one = prediction! { "stars" => 5.0 };
    assert_eq!(score(&Blend, &one).unwrap().score.value, 5.0);
    assert_eq!(score(&Least, &one).unwrap().score.value, 5.0);
    let whole = weighted([(component(Overlap), 0.5), (component(Stars), 0.5)]);
    let built = Composite::builder("c", whole)
        .on_missing(OnMissing::Skip)
        .build()
        .unwrap();
    assert_eq!(range(built.spec()), Some((0.0, 5.0)));
    assert_eq!(score(&built, &one).unwrap().score.value, 5.0);
}

#[test]
fn where_all_that_weighs_anything_is_missing_there_is_no_score() {
    assert_eq!(
        score(
            &OneCounts,
            &prediction! { "overlap" => 0.5, "spam" => true }
        )
        .unwrap()
        .score
        .value,
        0.5
    );
    let error = score(&OneCounts, &prediction! { "spam" => true }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `one_counts`: its component `overlap` has no score: it abstained"
    );
}

/// A truth metric that is charged even if it abstains.
#[metric(tier = truth, cost = "70 msat", range = 0.0..=1.0)]
async fn opinion(#[pred] opinion: Option<f64>) -> Option<f64> {
    opinion
}

#[metric(weighted(opinion = 0.5, gate(proxy(length) >= 0.5, truth(judged)) = 0.5))]
struct Beside;

#[metric(gate(proxy(format_ok) >= 0.5, truth(beside)))]
struct Outer;

/// The composite and the budget are charged for components whose scores are not used.
#[tokio::test]
async fn abstentions_and_gated_components_are_charged() {
    let gold = example! {};
    let cost = async |pred: Prediction| {
        let answer = Outer.answer(MetricCall::new(&gold, &pred)).await;
        let cost = answer
            .as_ref()
            .map_or_else(dsrs_metrics::MetricError::cost_msats, |it| {
                it.score.cost_msats
            });
        (Outcome::from(answer).name(), cost)
    };
    let row = |length: f64| prediction! { "format" => true, "length" => length, "judged" => 0.5 };
    let mut gated = row(0.25);
    gated.data.insert("opinion", 0.5);
    assert_eq!(
        cost(gated.clone()).await,
        ("gated", 70),
        "the opinion was asked beside the gate"
    );
    assert_eq!(
        cost(row(0.75)).await,
        ("metric_failed", 70),
        "the opinion was an abstention"
    );
    let scorer = dsrs_metrics::scoring::Scorer::builder()
        .metric(Outer)
        .budget_msats(1_000)
        .build()
        .unwrap();
    let _ = scorer.score_row(&gold, &gated).await;
    assert_eq!(scorer.budget().spent, 70);
}

#[metric(weighted(
    gate(proxy(format_ok) >= 0.5, truth(judged)) = 0.5,
    gate(proxy(length) >= 0.5, truth(opinion)) = 0.5,
))]
struct TwoGates;

#[metric(weighted(overlap = 0.5, gate(proxy(format_ok) >= 0.5, truth(judged)) = 0.5))]
struct Doomed;

/// Once the composite cannot have a value any more, no truth is evaluated or charged.
#[tokio::test]
async fn no_truth_is_asked_for_a_row_that_is_rejected_or_failed_already() {
    let gold = example! {};
    let pred =
        prediction! { "format" => true, "length" => 0.25, "judged" => 0.5, "opinion" => 0.5 };
    let gated = TwoGates
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap_err();
    assert_eq!(
        gated.to_string(),
        "metric `two_gates`: the row was rejected by length"
    );
    assert_eq!(gated.cost_msats(), 0);
    let failed = Doomed
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap_err();
    assert_eq!(
        failed.to_string(),
        "metric `doomed`: its component `overlap` has no score: it abstained"
    );
    assert_eq!(failed.cost_msats(), 0);
}

/// A constant value with the row's confidence.
#[metric(range = 0.0..=1.0)]
fn hunch(#[pred] sure: f64) -> MetricScore {
    MetricScore::new(0.5).with_confidence(sure)
}

#[metric(weighted(hunch = 0.5, length = 0.25, spam = 0.25))]
struct Vague;

#[test]
fn the_whole_is_as_sure_as_the_least_sure_component() {
    let pred = prediction! { "sure" => 0.25, "length" => 1.0, "spam" => true };
    let MetricScore {
        value, confidence, ..
    } = score(&Vague, &pred).unwrap().score;
    assert_eq!((value, confidence), (0.75, 0.25));
}
