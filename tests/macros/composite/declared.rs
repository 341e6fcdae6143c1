//! Composites declared with `#[metric]`: the spec that is derived at compile time, and scores equal to the scores of composites
//! built at run time.

use dsrs_metrics::composite::{
    Composite, CompositeBuilder, all, any, component, gate, invert, max, min, weighted,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Scored,
    contract::{Configure, Direction, Params, ScoreKind, ScoreRange},
};

use super::{ErrorRate, FormatOk, Judged, Length, Overlap};

/// A weighted mean of overlap and length.
#[metric(weighted(overlap = 0.75, Length = 0.25), threshold = 0.8, version = 2)]
struct Blend;

#[metric(weighted(
    all(overlap >= 0.5, format_ok) = 0.5,
    min(overlap, invert(super::error_rate)) = 0.5,
))]
struct Nested;

#[metric(any(max(overlap, length) >= 0.75, format_ok), on_missing = skip)]
struct Either;

#[metric(
    gate(proxy(format_ok, length) >= 0.5, truth(judged)),
    budget = "100 msat",
    name = "checked_then_judged"
)]
struct Gated;

#[metric(weighted(blend = 0.5, overlap = 0.5), tier = truth, strict, threshold = 1)]
struct OfComposites;

/// A share with a parameter.
#[metric(range = 0.0..=1.0)]
fn scaled(#[pred] overlap: f64, #[param] by: f64, #[param(default = "x")] label: &str) -> f64 {
    if label == "x" { overlap * by } else { 0.0 }
}

const HALF: f64 = 0.5;

#[metric(weighted(scaled(by = HALF) = HALF, scaled(by = 0.25, label = "x") = 1.0 - HALF))]
struct Configured;

fn spec_of(builder: CompositeBuilder) -> String {
    let composite = builder.build().unwrap();
    let spec = composite.spec();
    let (kind, range, threshold) = (spec.kind, spec.range, spec.threshold);
    let (tier, cost, is_async) = (spec.tier, spec.cost_msats, spec.is_async);
    format!(
        "{kind:?} {range:?} {threshold:?} {tier:?} {cost} {is_async} {}",
        spec.strict
    )
}

fn spec(spec: &MetricSpec<'_>) -> String {
    let (kind, range, threshold) = (spec.kind, spec.range, spec.threshold);
    let (tier, cost, is_async) = (spec.tier, spec.cost_msats, spec.is_async);
    format!(
        "{kind:?} {range:?} {threshold:?} {tier:?} {cost} {is_async} {}",
        spec.strict
    )
}

fn blend() -> CompositeBuilder {
    let whole = weighted([(component(Overlap), 0.75), (component(Length), 0.25)]);
    Composite::builder("blend", whole).threshold(0.8)
}

fn nested() -> CompositeBuilder {
    let overlap = component(Overlap);
    let verdict = all([overlap.clone().at_least(0.5), component(FormatOk)]);
    let least = min([overlap, invert(component(ErrorRate))]);
    Composite::builder("nested", weighted([(verdict, 0.5), (least, 0.5)]))
}

fn either() -> CompositeBuilder {
    let whole = any([
        max([component(Overlap), component(Length)]).at_least(0.75),
        component(FormatOk),
    ]);
    Composite::builder("either", whole).on_missing(dsrs_metrics::composite::OnMissing::Skip)
}

fn gated() -> CompositeBuilder {
    let whole = gate(
        [component(FormatOk), component(Length)],
        0.5,
        [component(Judged)],
    );
    Composite::builder("checked_then_judged", whole).budget_msats(100)
}

#[test]
fn the_compiler_derives_what_the_builder_derives() {
    const BLEND: MetricSpec<'static> = Blend::SPEC;
    assert_eq!(
        (BLEND.name, BLEND.doc, BLEND.version),
        ("blend", "A weighted mean of overlap and length.", "2")
    );
    assert_eq!(
        (BLEND.kind, BLEND.direction),
        (ScoreKind::Number, Direction::HigherIsBetter)
    );
    assert_eq!(
        (BLEND.threshold, BLEND.range),
        (Some(0.8), Some(ScoreRange::UNIT))
    );
    assert_eq!(spec(&Blend::SPEC), spec_of(blend()));
    assert_eq!(spec(&Nested::SPEC), spec_of(nested()));
    assert_eq!(spec(&Either::SPEC), spec_of(either()));
    assert_eq!(spec(&Gated::SPEC), spec_of(gated()));
    assert_eq!(Gated.name(), "checked_then_judged");
    assert_eq!(
        (Gated.tier(), Gated.cost_estimate()),
        (MetricTier::Truth, 100)
    );
    // The gate has a single truth, so it has the truth's threshold, 0.5.
    assert_eq!(
        (Gated::SPEC.threshold, Gated::SPEC.is_async),
        (Some(0.5), true)
    );
    assert_eq!(
        (OfComposites.tier(), OfComposites::SPEC.strict),
        (MetricTier::Truth, true)
    );
}

#[test]
fn fields_are_those_of_the_components_each_once() {
    let fields: Vec<_> = Nested::SPEC.get_input_fields().collect();
    assert_eq!(fields, ["pred.overlap", "pred.format", "pred.errors"]);
    let required: Vec<_> = Nested::SPEC.required_fields().collect();
    assert_eq!(required, ["pred.format", "pred.errors"]);
    let required: Vec<_> = OfComposites::SPEC.required_fields().collect();
    assert_eq!(required, ["pred.length"]);
    let (gold, whole) = (
        example! {},
        prediction! { "format" => true, "errors" => 0.5 },
    );
    assert!(Nested.can_evaluate(&gold, &whole));
    assert!(!Nested.can_evaluate(&gold, &prediction! { "format" => true }));
}

/// A grid of rows on which every rule of the composites above both passes and fails.
fn rows() -> impl Iterator<Item = Prediction> {
    let steps = [0.0, 0.25, 0.5, 0.75, 0.8, 1.0];
    let rows = steps.into_iter().flat_map(move |overlap| {
        steps.into_iter().flat_map(move |length| {
            [(true, 0.0), (true, 1.5), (false, 0.3)]
                .into_iter()
                .flat_map(move |(format, errors)| {
                    [-1.0, 0.4, 0.9].into_iter().map(move |judged| {
                        prediction! {
                            "overlap" => overlap, "length" => length, "format" => format,
                            "errors" => errors, "judged" => judged,
                        }
                    })
                })
        })
    });
    rows.chain([
        prediction! { "format" => false, "errors" => 0.1, "length" => 0.9, "judged" => 0.4 },
    ])
}

fn told(result: dsrs_metrics::Result<Scored>) -> String {
    match result {
        Ok(scored) => {
            let parts = scored
                .components()
                .map(|part| (part.name, part.outcome.value()));
            let parts: Vec<_> = parts.collect();
            format!("{:?} {:?} {parts:?}", scored.score, scored.passed)
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn they_score_as_those_set_up_at_run_time() {
    let (gold, mut seen) = (example! {}, 0);
    let (blend, nested) = (blend().build().unwrap(), nested().build().unwrap());
    let (either, gated) = (either().build().unwrap(), gated().build().unwrap());
    for pred in rows() {
        let call = MetricCall::new(&gold, &pred);
        let now = |metric: &dyn Metric| told(metric.answer(call).ready().unwrap());
        assert_eq!(now(&Blend), now(&blend));
        assert_eq!(now(&Nested), now(&nested));
        assert_eq!(now(&Either), now(&either));
        assert_eq!(
            told(Gated.answer(call).await),
            told(gated.answer(call).await)
        );
        seen += 1;
    }
    assert_eq!(seen, 6 * 6 * 3 * 3 + 1);
    const { assert!(Gated::SPEC.is_async) };
}

#[test]
fn components_are_configured_where_they_are_named() {
    let (gold, pred) = (example! {}, prediction! { "overlap" => 0.8 });
    assert_eq!(
        Configured.score(&gold, &pred).unwrap().value,
        0.5 * 0.4 + 0.5 * 0.2
    );
    let scored = Configured
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap();
    let names: Vec<_> = scored.components().map(|part| part.name).collect();
    assert_eq!(
        names,
        ["scaled(by = HALF)", "scaled(by = 0.25, label = \"x\")"]
    );
}

#[test]
fn composites_are_components_too() {
    let (gold, pred) = (
        example! {},
        prediction! { "overlap" => 1.0, "length" => 1.0 },
    );
    assert_eq!(OfComposites.score(&gold, &pred).unwrap().value, 1.0);
    let pred = prediction! { "overlap" => 1.0, "length" => 0.9 };
    assert_eq!(
        OfComposites.score(&gold, &pred).unwrap().value,
        0.0,
        "strict, from 1 on"
    );
    let error = OfComposites
        .score(&gold, &prediction! { "overlap" => 1.0 })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `of_composites`: its component `blend` has no score: metric `blend`: its component `length` has no score: metric `length`: no field `pred.length`; found `overlap`"
    );
}

#[tokio::test]
async fn a_row_that_its_proxies_reject_is_gated_and_has_no_score() {
    let (gold, pred) = (
        example! {},
        prediction! { "format" => false, "length" => 0.0, "judged" => 1.0 },
    );
    let error = Gated.evaluate(&gold, &pred).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `checked_then_judged`: the row was rejected by format_ok, length"
    );
}

/// Accepts only metrics with a verdict.
fn accepts(metric: &impl dsrs_metrics::optimizers::AcceptanceTest) -> &str {
    metric.name()
}

#[test]
fn a_composite_with_a_verdict_is_an_acceptance_test() {
    assert_eq!((accepts(&Blend), accepts(&Either)), ("blend", "either"));
    // The gate's single truth has a threshold.
    assert_eq!(accepts(&Gated), "checked_then_judged");
}

#[test]
fn a_composite_takes_no_parameters_from_text() {
    let mut params = Params::default();
    assert_eq!(
        Blend::configure(&params).map(|blend| blend.name()),
        Ok("blend")
    );
    params.insert("weight", "0.5");
    let error = Blend::configure(&params)
        .map(|blend| blend.name())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `blend` has no parameter `weight`; it takes none"
    );
}

/// A row type that a component over whole rows and a component over fields can both score.
#[derive(Record)]
struct Told {
    overlap: Option<f64>,
    words: Vec<String>,
}

#[derive(Record)]
struct Asked {
    question: String,
}

#[metric(range = 0.0..=1.0)]
fn brief(gold: &Asked, pred: &Told) -> f64 {
    f64::from(u8::from(pred.words.len() <= gold.question.len()))
}

#[metric(weighted(brief = 0.5, overlap = 0.5))]
struct OfTypedRows;

#[test]
fn components_over_fields_and_over_whole_rows_meet_in_one_type() {
    let gold = Asked {
        question: "who?".to_owned(),
    };
    let pred = Told {
        overlap: Some(0.5),
        words: vec!["me".to_owned()],
    };
    assert_eq!(OfTypedRows.score(&gold, &pred).unwrap().value, 0.75);
}

#[metric(all(format_ok))]
#[derive(Clone, Default, PartialEq, Eq)]
struct DerivesSome;

#[test]
fn a_composite_is_debug_clone_and_copy() {
    fn shown<M: std::fmt::Debug + Clone + Copy>(metric: M) -> String {
        format!("{:?}", metric.clone())
    }
    assert_eq!(
        (shown(Blend), shown(Gated)),
        ("Blend".to_owned(), "Gated".to_owned())
    );
    assert_eq!(shown(DerivesSome), "DerivesSome");
    assert!(DerivesSome == DerivesSome);
}
