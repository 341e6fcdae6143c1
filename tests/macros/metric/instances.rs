//! Settings of one instance: threshold, strictness and cost, in code; acceptance tests of metrics that have a verdict only
//! at run time.

use std::sync::atomic::{AtomicU64, Ordering};

use dsrs_metrics::composite::{Composite, all, component, weighted};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, Result, Scored, contract::Instance, rows::Pair, runs::EvaluationResult,
};

/// A number with a range and without a threshold.
#[metric(range = 0.0..=1.0, cost = "7 msat")]
fn share(#[pred] value: f64, #[param(default = 1.0)] by: f64) -> f64 {
    value * by
}

#[metric(range = 0.0..=10.0, lower_is_better, threshold = 5.0, strict)]
fn errors(#[pred] value: f64) -> f64 {
    value
}

#[metric]
fn unbounded(#[pred] value: f64) -> f64 {
    value
}

#[metric]
fn found(#[pred] value: f64) -> bool {
    value > 0.0
}

#[metric(range = 0.0..=1.0, tier = truth)]
async fn awaited(#[pred] value: f64) -> f64 {
    tokio::task::yield_now().await;
    value
}

#[metric(weighted(share = 0.5, awaited = 0.5), threshold = 0.75)]
struct Blend;

fn pred(value: f64) -> Prediction {
    prediction! { "value" => value }
}

async fn scored(metric: &impl Metric, value: f64) -> Result<Scored> {
    metric
        .answer(MetricCall::new(&example! {}, &pred(value)))
        .await
}

/// The result of one row, or the error of the run.
async fn run(
    metrics: Vec<Box<dyn Metric>>,
    value: f64,
) -> std::result::Result<EvaluationResult, String> {
    let evaluate = Evaluate::builder()
        .metrics(metrics)
        .build()
        .map_err(|error| error.to_string())?;
    let rows = [Pair::new("a", example! {}, pred(value))];
    evaluate
        .score(rows)
        .await
        .map_err(|error| error.to_string())
}

/// The score and the verdict.
async fn both(metric: &impl Metric, value: f64) -> (f64, Option<bool>) {
    let scored = scored(metric, value).await.unwrap();
    (scored.score.value, scored.passed)
}

async fn accepts(metric: &dyn AcceptanceTest, value: f64) -> Result<bool> {
    metric
        .accepts(&example! {}, &pred(value), &Trace::default())
        .await
}

#[tokio::test]
async fn an_instance_has_its_own_threshold_strictness_and_cost() {
    let default = Share::default();
    assert_eq!(both(&default, 0.7).await, (0.7, None));
    let instance: Instance<Share> = Share::default().with_threshold(0.8).with_cost_msats(9);
    assert_eq!(both(&instance, 0.7).await, (0.7, Some(false)));
    assert_eq!(both(&instance, 0.8).await, (0.8, Some(true)));
    let spec = instance.spec();
    assert_eq!(
        (spec.name, spec.threshold, spec.strict, spec.cost_msats),
        ("share", Some(0.8), false, 9)
    );
    assert_eq!((Share::SPEC.threshold, Share::SPEC.cost_msats), (None, 7));
    assert_eq!(Metric::<Example, Prediction>::cost_estimate(&instance), 9);
    assert_eq!(scored(&instance, 0.7).await.unwrap().score.cost_msats, 9);
    let strict = instance.strict();
    assert_eq!(both(&strict, 0.7).await, (0.0, Some(false)));
    assert_eq!(both(&strict, 0.9).await, (1.0, Some(true)));
    assert_eq!(strict.score(&example! {}, &pred(0.9)).unwrap().value, 1.0);
    assert_eq!(
        both(&Share::builder().by(0.5).build().with_threshold(0.4), 0.9).await,
        (0.45, Some(true))
    );
    assert_eq!(
        both(&Unbounded.with_threshold(-3.0), -3.0).await,
        (-3.0, Some(true))
    );
    let outside = scored(&strict, 1.5).await.unwrap_err().to_string();
    assert!(
        outside.contains("0.0..=1.0"),
        "the range is checked first: {outside}"
    );
}

/// The raw score is compared, not the 0 or 1 of the attribute.
#[tokio::test]
async fn a_strict_metric_compares_its_raw_score_with_another_threshold() {
    assert_eq!(both(&Errors, 5.0).await, (1.0, Some(true)));
    let fewer = Errors.with_threshold(2.0);
    assert_eq!(both(&fewer, 5.0).await, (0.0, Some(false)));
    assert_eq!(both(&fewer, 2.0).await, (1.0, Some(true)));
    assert_eq!(fewer.spec().is_success(1.0), Some(true));
}

#[tokio::test]
async fn a_composite_uses_the_verdicts_and_scores_of_its_instances() {
    let composite = |name: &str, threshold: f64| {
        Composite::builder(
            name,
            all([component(Share::default().with_threshold(threshold))]),
        )
        .build()
        .unwrap()
    };
    assert_eq!(both(&composite("low", 0.5), 0.7).await, (1.0, Some(true)));
    assert_eq!(both(&composite("high", 0.8), 0.7).await, (0.0, Some(false)));
    let strict = weighted([
        (
            component(Share::default().with_threshold(0.5).strict()),
            0.5,
        ),
        (component(Awaited), 0.5),
    ]);
    let strict = Composite::builder("strict", strict)
        .threshold(0.8)
        .build()
        .unwrap();
    assert_eq!(both(&strict, 0.6).await, (0.8, Some(true)));
    // The settings of a composite differ from the settings of its components.
    assert_eq!(both(&Blend, 0.7).await, (0.7, Some(false)));
    let blend = Blend.with_threshold(0.6).strict();
    assert_eq!(both(&blend, 0.7).await, (1.0, Some(true)));
    let answer = scored(&blend, 0.5).await.unwrap();
    assert_eq!((answer.score.value, answer.passed), (0.0, Some(false)));
    let components: Vec<_> = answer.components().map(|one| one.outcome.value()).collect();
    assert_eq!(components, [Some(0.5), Some(0.5)]);
}

static CALLS: AtomicU64 = AtomicU64::new(0);

#[metric(range = 0.0..=1.0)]
fn counted(#[pred] value: f64) -> f64 {
    CALLS.fetch_add(1, Ordering::SeqCst);
    value
}

/// Equal settings are evaluated once per row, different ones each.
#[tokio::test]
async fn instances_with_different_settings_are_different_metrics() {
    let half = || component(Counted.with_threshold(0.5));
    let high = || component(Counted.with_threshold(0.8));
    let composite = |name: &str, parts| Composite::builder(name, all(parts)).build().unwrap();
    let metrics: Vec<Box<dyn Metric>> = vec![
        Box::new(composite("a", vec![half()])),
        Box::new(composite("b", vec![half()])),
        Box::new(composite("c", vec![high()])),
        Box::new(Counted),
    ];
    let result = run(metrics, 0.7).await.unwrap();
    let means: Vec<_> = result.metrics.iter().map(|metric| metric.mean).collect();
    assert_eq!(means, [Some(1.0), Some(1.0), Some(0.0), Some(0.7)]);
    assert_eq!(
        CALLS.load(Ordering::SeqCst),
        3,
        "0.5 twice is one call; 0.8 and the default are others"
    );
}

#[tokio::test]
async fn an_invalid_setting_is_reported_before_the_first_row_and_by_every_call() {
    let share = Share::default;
    let cases: [(Box<dyn Metric>, &str); 8] = [
        (
            Box::new(share().with_threshold(1.5)),
            "the threshold 1.5 is outside the range of the metric, 0.0..=1.0; write a threshold within it",
        ),
        (
            Box::new(share().with_threshold(f64::NAN)),
            "the threshold NaN is not finite; write a finite number",
        ),
        (
            Box::new(Unbounded.with_threshold(f64::INFINITY)),
            "the threshold inf is not finite; write a finite number",
        ),
        (
            Box::new(share().with_threshold(0.0)),
            "the threshold 0.0 never fails: every score of the metric is in 0.0..=1.0; write a larger one",
        ),
        (
            Box::new(Errors.with_threshold(10.0)),
            "the threshold 10.0 never fails: every score of the metric is in 0.0..=10.0; write a smaller one",
        ),
        (
            Box::new(Found.with_threshold(0.5)),
            "a metric that returns `bool` takes no threshold, found 0.5; remove the threshold",
        ),
        (
            Box::new(Found.strict()),
            "a metric that returns `bool` is always strict, because its scores are 0 and 1; remove `strict`",
        ),
        (
            Box::new(share().strict()),
            "expected a threshold for `strict`, found none; set a threshold as well, such as 0.5",
        ),
    ];
    for (metric, message) in cases {
        let error = scored(&metric, 0.5).await.unwrap_err().to_string();
        assert!(error.ends_with(message), "{error}");
        let error = run(vec![metric], 0.5).await.unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[tokio::test]
async fn closures_check_their_threshold_in_any_order_of_the_setters() {
    let closure = || {
        metric_fn("share", |_, pred| {
            pred.get("value").and_then(serde_json::Value::as_f64)
        })
    };
    let wide = closure().with_threshold(5.0).with_range(0.0, 10.0);
    assert_eq!(both(&wide, 5.0).await, (5.0, Some(true)));
    assert_eq!(both(&wide.strict(), 4.0).await, (0.0, Some(false)));
    let narrow = closure().with_threshold(5.0).with_range(0.0, 1.0);
    let error = scored(&narrow, 0.5).await.unwrap_err().to_string();
    assert!(
        error.contains("the threshold 5.0 is outside the range"),
        "{error}"
    );
    let error = scored(&closure().strict(), 0.5)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("expected a threshold for `strict`"),
        "{error}"
    );
    let error = run(vec![Box::new(narrow)], 0.5).await.unwrap_err();
    assert!(
        error.contains("the threshold 5.0 is outside the range"),
        "{error}"
    );
}

struct ByHand(Option<f64>);

#[async_trait]
impl Metric for ByHand {
    fn name(&self) -> &str {
        "by_hand"
    }

    fn spec(&self) -> MetricSpec<'_> {
        let spec = MetricSpec::new("by_hand").with_range(0.0, 1.0);
        self.0
            .map_or(spec, |threshold| spec.with_threshold(threshold))
    }

    async fn evaluate(&self, _: &Example, pred: &Prediction) -> Result<MetricScore> {
        Ok(MetricScore::new(
            pred.get("value")
                .and_then(serde_json::Value::as_f64)
                .unwrap_or_default(),
        ))
    }
}

impl AcceptanceTest for ByHand {}

#[tokio::test]
async fn every_metric_with_a_threshold_is_an_acceptance_test() {
    let closure = metric_fn("share", |_, pred| {
        pred.get("value").and_then(serde_json::Value::as_f64)
    });
    let composite = weighted([(component(Share::default()), 1.0)]);
    let composite = Composite::builder("blend", composite)
        .threshold(0.6)
        .build()
        .unwrap();
    let tests: [Box<dyn AcceptanceTest>; 4] = [
        Box::new(ByHand(Some(0.6))),
        Box::new(closure.with_threshold(0.6)),
        Box::new(composite),
        Box::new(Share::default().with_threshold(0.6)),
    ];
    for test in tests {
        let name = test.name();
        assert!(accepts(&*test, 0.6).await.unwrap(), "{name}");
        assert!(!accepts(&*test, 0.59).await.unwrap(), "{name}");
    }
    let verdict = metric_fn("same", |gold, pred| gold.get("value") == pred.get("value"));
    assert!(!accepts(&verdict, 0.5).await.unwrap());
    let error = accepts(&ByHand(None), 1.0).await.unwrap_err().to_string();
    assert!(
        error.ends_with("expected a verdict, found only a score; set a threshold"),
        "{error}"
    );
}
