//! Verdicts: thresholds, strictness, direction, and the result for an optimizer.

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Result,
    contract::{Direction, ScoreKind, Side},
};

#[metric(threshold = 0.0)]
fn gain(#[pred] delta: f64) -> f64 {
    delta
}

#[metric(threshold = 0.1, lower_is_better, range = 0.0..=1.0)]
fn error_rate(#[pred] rate: f64) -> f64 {
    rate
}

#[metric(threshold = 0.1, lower_is_better, strict, range = 0.0..=1.0)]
fn strict_error_rate(#[pred] rate: f64) -> f64 {
    rate
}

#[metric]
fn matches(#[pred] found: bool) -> bool {
    found
}

const LIMIT: f64 = 0.5;

#[metric(threshold = LIMIT, range = -1.0..=LIMIT * 2.0)]
fn from_constants(#[pred] value: f64) -> f64 {
    value
}

async fn grade<M: Metric>(metric: M, pred: &Prediction, tracing: bool) -> Result<Grade> {
    let (gold, trace) = (example! {}, Trace::default());
    let call = MetricCall::new(&gold, pred);
    metric
        .grade(if tracing {
            call.with_trace(&trace)
        } else {
            call
        })
        .await
}

async fn accepts<M: AcceptanceTest>(metric: M, pred: &Prediction) -> Result<bool> {
    metric.accepts(&example! {}, pred, &Trace::default()).await
}

#[tokio::test]
async fn a_rejection_is_false_and_a_threshold_of_zero_counts() -> Result<()> {
    let rejected = prediction! { "found" => false, "delta" => -0.25 };
    assert_eq!(
        grade(Matches, &rejected, true).await?,
        Grade::Verdict(false)
    );
    assert_eq!(grade(Gain, &rejected, true).await?, Grade::Verdict(false));
    assert!(!accepts(Matches, &rejected).await?);
    assert!(!accepts(Gain, &rejected).await?);
    let kept = prediction! { "found" => true, "delta" => 0.0 };
    assert_eq!(grade(Gain, &kept, true).await?, Grade::Verdict(true));
    assert_eq!(
        grade(Gain, &kept, false).await?,
        Grade::Score(MetricScore::new(0.0))
    );
    assert!(accepts(Matches, &kept).await? && accepts(Gain, &kept).await?);
    Ok(())
}

#[tokio::test]
async fn an_error_rate_passes_below_its_threshold() -> Result<()> {
    let spec = ErrorRate::SPEC;
    assert_eq!(
        (spec.direction, spec.higher_is_better()),
        (Direction::LowerIsBetter, false)
    );
    assert!(accepts(ErrorRate, &prediction! { "rate" => 0.1 }).await?);
    assert!(!accepts(ErrorRate, &prediction! { "rate" => 0.2 }).await?);
    assert_eq!(
        (spec.is_success(0.05), spec.is_success(0.9)),
        (Some(true), Some(false))
    );
    Ok(())
}

#[test]
fn a_strict_score_is_one_or_zero_before_anything_else_sees_it() -> Result<()> {
    let score = |rate: f64| StrictErrorRate.score(&example! {}, &prediction! { "rate" => rate });
    assert_eq!((score(0.05)?.value, score(0.5)?.value), (1.0, 0.0));
    let spec = StrictErrorRate::SPEC;
    assert!(spec.strict_mode() && spec.higher_is_better());
    assert_eq!(
        (spec.is_success(1.0), spec.is_success(0.0)),
        (Some(true), Some(false))
    );
    assert!(
        score(1.5).is_err(),
        "the range is checked before the score becomes strict"
    );
    Ok(())
}

#[test]
fn the_spec_is_a_constant() {
    const KIND: ScoreKind = Matches::SPEC.kind;
    const THRESHOLD: Option<f64> = FromConstants::SPEC.threshold;
    assert_eq!((KIND, THRESHOLD), (ScoreKind::Bool, Some(0.5)));
    let range = FromConstants::SPEC.range.unwrap();
    assert_eq!((range.min, range.max), (-1.0, 1.0));
    let required: Vec<_> = Gain::SPEC.required_fields().collect();
    assert_eq!(required, ["pred.delta"]);
}

#[test]
fn the_input_spec_has_side_type_and_requirement_of_every_field() {
    #[metric]
    fn same(#[gold] answer: &str, #[pred("text")] given: Option<&str>) -> bool {
        given == Some(answer)
    }
    let fields = Same::SPEC.get_input_spec();
    let fields: Vec<_> = fields
        .map(|(side, field)| (side, field.name, field.ty, field.required))
        .collect();
    assert_eq!(
        fields,
        [
            (Side::Gold, "answer", "&str", true),
            (Side::Pred, "text", "Option<&str>", false)
        ]
    );
    let names: Vec<_> = Same::SPEC.get_input_fields().collect();
    assert_eq!(names, ["gold.answer", "pred.text"]);
    assert!(Same::SPEC.higher_is_better() && !Same::SPEC.strict_mode());
}

#[tokio::test]
async fn no_metric_has_a_threshold_that_nobody_wrote() -> Result<()> {
    #[metric]
    fn length(#[pred] answer: &str) -> usize {
        answer.chars().count()
    }
    assert_eq!(
        (Length::SPEC.threshold, Length::SPEC.is_success(0.0)),
        (None, None)
    );
    let pred = prediction! { "answer" => "" };
    assert_eq!(
        grade(Length, &pred, true).await?,
        Grade::Score(MetricScore::new(0.0))
    );
    Ok(())
}

#[tokio::test]
async fn closures_and_hand_written_metrics_have_verdicts_too() -> Result<()> {
    let near = metric_fn("near", |_, pred| {
        pred.get("x").and_then(serde_json::Value::as_f64)
    });
    let near = near.with_threshold(0.5).with_range(0.0, 1.0);
    let scored = |x: f64| {
        let (gold, pred) = (example! {}, prediction! { "x" => x });
        near.answer(MetricCall::new(&gold, &pred))
            .ready()
            .expect("a closure is synchronous")
    };
    assert_eq!(
        (scored(0.75)?.passed, scored(0.25)?.passed),
        (Some(true), Some(false))
    );
    assert_eq!(
        scored(2.0).unwrap_err().to_string(),
        "metric `near`: the score 2.0 is outside the declared range 0.0..=1.0"
    );
    Ok(())
}
