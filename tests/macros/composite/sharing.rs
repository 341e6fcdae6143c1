//! Deduplication: a metric used in several places of one run is evaluated and charged once per row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dsrs_metrics::composite::{Composite, component, weighted};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    scoring::{MetricSet, Scorer},
};

use super::{FormatOk, Length, score};

/// The number of calls per test. Each row has the index of its test's counter.
static CALLS: [AtomicU64; 40] = [const { AtomicU64::new(0) }; 40];

fn calls(test: usize) -> u64 {
    CALLS[test].load(Ordering::SeqCst)
}

/// A proxy that counts its calls.
#[metric(range = 0.0..=1.0)]
fn counted(#[pred] test: usize, #[pred] length: f64, #[param(default = 1.0)] scale: f64) -> f64 {
    CALLS[test].fetch_add(1, Ordering::SeqCst);
    length * scale
}

/// An asynchronous truth metric that counts its calls, costs 70 msat, and fails or panics depending on the row.
#[metric(tier = truth, cost = "70 msat", range = 0.0..=1.0)]
async fn judge(#[pred] test: usize, #[pred] judged: f64) -> Result<f64, String> {
    CALLS[test].fetch_add(1, Ordering::SeqCst);
    tokio::task::yield_now().await;
    match judged {
        judged if judged > 1.0 => panic!("told to"),
        judged if judged < 0.0 => Err("the judge is away".to_owned()),
        judged => Ok(judged),
    }
}

/// A parameter type without `PartialEq`, whose `Debug` output does not depend on the value.
#[derive(Clone)]
struct Opaque(f64);

impl std::fmt::Debug for Opaque {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opaque")
    }
}

impl<'de> serde::Deserialize<'de> for Opaque {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        f64::deserialize(from).map(Self)
    }
}

/// A metric with a parameter that cannot be compared, which counts its calls.
#[metric(range = 0.0..=1.0)]
fn closed(#[pred] test: usize, #[param] by: &Opaque) -> f64 {
    CALLS[test].fetch_add(1, Ordering::SeqCst);
    by.0
}

fn row(test: usize) -> Prediction {
    prediction! { "test" => test, "length" => 0.5, "format" => true, "judged" => 0.25 }
}

fn half(name: &str, one: impl Metric + 'static, other: impl Metric + 'static) -> Composite {
    let whole = weighted([(component(one), 0.5), (component(other), 0.5)]);
    Composite::builder(name, whole).build().unwrap()
}

#[test]
fn a_component_of_a_nested_composite_is_asked_once() {
    let inner = half("inner", Counted::default(), FormatOk);
    let middle = half("middle", inner, Length);
    let outer = half("outer", middle, Counted::default());
    let scored = score(&outer, &row(0)).unwrap();
    // The inner composite's score is 0.75, the middle one's is 0.625.
    assert_eq!(scored.score.value, 0.5625);
    assert_eq!(calls(0), 1, "three levels, one call");
}

#[test]
fn one_composite_may_name_a_component_in_two_combinations() {
    let inner = || {
        weighted([
            (component(Counted::default()), 0.5),
            (component(FormatOk), 0.5),
        ])
    };
    let whole = weighted([(inner(), 0.5), (inner(), 0.5)]);
    let composite = Composite::builder("c", whole).build().unwrap();
    assert_eq!(score(&composite, &row(1)).unwrap().score.value, 0.75);
    assert_eq!(calls(1), 1);
}

#[metric(weighted(counted = 0.5, format_ok = 0.5))]
struct Inner;

#[metric(min(inner, length))]
struct Middle;

#[metric(weighted(middle = 0.25, counted = 0.25, counted(scale = 0.5) = 0.5))]
struct Outer;

#[metric(max(judge, counted))]
struct Dear;

#[metric(gate(proxy(inner) >= 0.25, truth(judge, dear)))]
struct Dearest;

#[test]
fn composites_that_the_compiler_checked_share_their_components() {
    let scored = score(&Outer, &row(30)).unwrap();
    assert_eq!(scored.score.value, 0.25 * 0.5 + 0.25 * 0.5 + 0.5 * 0.25);
    assert_eq!(calls(30), 2, "once as it is, once with another scale");
}

#[tokio::test]
async fn all_metrics_of_a_run_share_what_they_have_in_common() {
    let evaluate = Evaluate::builder()
        .metric(Dear)
        .metric(Dearest)
        .metric(Counted::default());
    let evaluate = evaluate.metric(Outer).build().unwrap();
    let result = evaluate
        .score([Pair::new("a", example! {}, row(31))])
        .await
        .unwrap();
    let means: Vec<_> = result.metrics.iter().map(|metric| metric.mean).collect();
    assert_eq!(means, [Some(0.5), Some(0.375), Some(0.5), Some(0.375)]);
    assert_eq!(calls(31), 3, "the judge, and the counter in two scales");
    let costs: u64 = result.metrics.iter().map(|metric| metric.cost_msats).sum();
    assert_eq!(costs, 70, "the judge is paid once");
}

#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
enum Mode {
    #[default]
    Plain,
    Twice,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
struct Settings {
    mode: Mode,
    offset: f64,
}

/// A metric with an enum and a struct as parameters.
#[metric(range = 0.0..=1.0)]
fn adjusted(
    #[pred] test: usize,
    #[pred] length: f64,
    #[param(default)] mode: Mode,
    #[param(default)] settings: &Settings,
) -> f64 {
    CALLS[test].fetch_add(1, Ordering::SeqCst);
    let factor = if mode == Mode::Twice || settings.mode == Mode::Twice {
        2.0
    } else {
        1.0
    };
    length * factor / 2.0 + settings.offset
}

/// Parameters of any type are compared by their own equality.
#[tokio::test]
async fn metrics_with_enum_and_struct_parameters_are_evaluated_once() {
    let settings = || Settings {
        mode: Mode::Twice,
        offset: 0.25,
    };
    let custom = || {
        Adjusted::builder()
            .mode(Mode::Twice)
            .settings(settings())
            .build()
    };
    let first = half("first", Adjusted::default(), custom());
    let second = half("second", custom(), Adjusted::default());
    let evaluate = Evaluate::builder()
        .metric(first)
        .metric(second)
        .build()
        .unwrap();
    let result = evaluate
        .score([Pair::new("a", example! {}, row(35))])
        .await
        .unwrap();
    assert_eq!(
        result
            .metrics
            .iter()
            .map(|metric| metric.mean)
            .collect::<Vec<_>>(),
        [Some(0.5); 2]
    );
    assert_eq!(calls(35), 2, "two configurations in four places");
}

#[test]
fn another_configuration_is_another_metric() {
    let halved = Counted { scale: 0.5 };
    let outer = half("outer", half("inner", Counted::default(), FormatOk), halved);
    assert_eq!(
        score(&outer, &row(2)).unwrap().score.value,
        0.5 * 0.75 + 0.5 * 0.25
    );
    assert_eq!(calls(2), 2);

    let opaque = |by| Closed { by: Opaque(by) };
    let outer = half("outer", half("inner", opaque(0.0), FormatOk), opaque(1.0));
    assert_eq!(score(&outer, &row(3)).unwrap().score.value, 0.75);
    assert_eq!(
        calls(3),
        2,
        "what cannot be compared is never taken to be the same"
    );
}

#[test]
fn one_value_in_two_places_is_one_metric_whatever_it_is() {
    let made = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&made);
    let closure = metric_fn("closure", move |_, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        0.5
    });
    let closure = Arc::new(closure.with_range(0.0, 1.0));
    let outer = half(
        "outer",
        half("inner", Arc::clone(&closure), FormatOk),
        closure,
    );
    assert_eq!(score(&outer, &row(4)).unwrap().score.value, 0.625);
    assert_eq!(made.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_awaited_component_is_asked_and_paid_once() {
    let outer = half("outer", half("inner", Judge, FormatOk), Judge);
    let (gold, pred) = (example! {}, row(5));
    let scored = outer.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(
        (scored.score.value, scored.score.cost_msats),
        (0.5 * 0.625 + 0.5 * 0.25, 70)
    );
    assert_eq!(calls(5), 1);
    // A different row is evaluated again.
    let other = row(5);
    outer.answer(MetricCall::new(&gold, &other)).await.unwrap();
    assert_eq!(calls(5), 2);
}

#[tokio::test]
async fn metrics_of_one_run_share_at_any_concurrency() {
    for (test, concurrency) in [(6, 1), (7, 16)] {
        let pairs = (0..100).map(|row_| Pair::new(row_.to_string(), example! {}, row(test)));
        let evaluate = Evaluate::builder()
            .metric(half("first", Judge, FormatOk))
            .metric(Judge)
            .metric(half("second", FormatOk, half("inner", Judge, Length)))
            .concurrency(concurrency)
            .build()
            .unwrap();
        let result = evaluate.score(pairs.collect::<Vec<_>>()).await.unwrap();
        assert_eq!(calls(test), 100);
        let costs: Vec<u64> = result
            .metrics
            .iter()
            .map(|metric| metric.cost_msats)
            .collect();
        assert_eq!(costs, [7_000, 0, 0], "the first one pays");
        let means: Vec<_> = result
            .metrics
            .iter()
            .map(|metric| metric.mean.unwrap())
            .collect();
        assert_eq!(means, [0.625, 0.25, 0.5 + 0.5 * 0.375]);
    }
}

#[tokio::test]
async fn a_scorer_asks_and_pays_once_a_rollout() {
    let mut set: MetricSet = MetricSet::new();
    set.add(Judge);
    set.add(half("composite", Judge, FormatOk));
    let scorer = Scorer::builder()
        .metrics(set.all().cloned())
        .budget_msats(1_000)
        .build()
        .unwrap();
    let row = scorer.score_rollouts(&example! {}, &[row(8), row(8)]).await;
    assert_eq!(calls(8), 2, "each rollout is a row of its own");
    assert_eq!(row.spending.spent_msats, 140);
    assert_eq!((scorer.budget().spent, scorer.budget().reserved), (140, 0));
    assert_eq!(row.score(), Some(0.5 * 0.25 + 0.5 * 0.625));
}

#[tokio::test]
async fn a_component_that_fails_or_panics_fails_everywhere_and_is_asked_once() {
    for (test, judged, said) in [
        (9, -1.0, "metric `judge`: the judge is away"),
        (10, 2.0, "metric `judge` panicked: told to"),
    ] {
        let mut pred = row(test);
        pred.data.insert("judged".to_owned(), judged);
        let evaluate = Evaluate::builder()
            .metric(half("whole", Judge, FormatOk))
            .metric(Judge);
        let evaluate = evaluate.build().unwrap();
        let result = evaluate
            .score(vec![Pair::new("0", example! {}, pred)])
            .await
            .unwrap();
        let errors: Vec<_> = result.results[0]
            .outcomes
            .iter()
            .map(|it| it.error().unwrap())
            .collect();
        assert_eq!(
            errors[0],
            format!("metric `whole`: its component `judge` has no score: {said}")
        );
        assert_eq!(errors[1], said);
        assert_eq!(calls(test), 1);
    }
}

#[tokio::test]
async fn a_paid_call_that_fails_is_charged() {
    let mut pred = row(20);
    pred.data.insert("judged".to_owned(), -1.0);
    let gold = example! {};
    let error = Metric::evaluate(&Judge, &gold, &pred).await.unwrap_err();
    assert_eq!(error.cost_msats(), 70);
    assert_eq!(error.to_string(), "metric `judge`: the judge is away");

    let whole = half("whole", Judge, FormatOk);
    let error = whole
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap_err();
    assert_eq!(
        error.cost_msats(),
        70,
        "a composite has paid for its components"
    );

    let evaluate = Evaluate::builder().metric(Judge).build().unwrap();
    let rows = vec![Pair::new("0", example! {}, pred.clone())];
    let result = evaluate.score(rows).await.unwrap();
    assert_eq!(
        (result.metrics[0].failed, result.metrics[0].cost_msats),
        (1, 70)
    );

    let scorer = Scorer::builder()
        .metric(Judge)
        .budget_msats(100)
        .build()
        .unwrap();
    let row = scorer.score_row(&gold, &pred).await;
    assert_eq!((row.score(), row.spending.spent_msats), (None, 70));
    assert_eq!(
        (scorer.budget().spent, scorer.budget().available()),
        (70, Some(30))
    );
    assert_eq!(calls(20), 4);
}

#[metric(min(length, format_ok))]
struct Least;

/// Evaluates a composite on another prediction, with the memo of the same call.
struct Instead(Prediction);

#[async_trait]
impl Metric for Instead {
    fn name(&self) -> &str {
        "instead"
    }

    async fn evaluate(&self, gold: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        Metric::evaluate(&Least, gold, &self.0).await
    }

    fn answer<'a>(&'a self, mut call: MetricCall<'a>) -> dsrs_metrics::contract::Answer<'a> {
        call.pred = &self.0;
        Metric::answer(&Least, call)
    }
}

/// The memoized answer for one prediction is never used for another prediction.
#[tokio::test]
async fn an_answer_is_shared_only_by_calls_about_the_same_rows() {
    let instead = Instead(prediction! { "format" => true, "length" => 0.0 });
    let whole = weighted([
        (component(Length), 0.25),
        (component(Least), 0.25),
        (component(instead), 0.5),
    ]);
    let composite = Composite::builder("c", whole).build().unwrap();
    let (gold, pred) = (
        example! {},
        prediction! { "format" => true, "length" => 1.0 },
    );
    let scored = composite
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap();
    assert_eq!(scored.score.value, 0.5);
}
