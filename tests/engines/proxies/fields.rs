//! The field that a proxy reads: in its spec, in `can_evaluate`, in composites and in typed rows.

use dsrs_metrics::composite::{Composite, component, weighted};
use dsrs_metrics::metrics::{Format, Keyword, Length, Syntax};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    contract::{Configure, Params},
};
use serde::Serialize;
use serde_json::Value;

fn reads(spec: MetricSpec<'_>) -> Vec<String> {
    spec.required_fields().collect()
}

fn short(field: &str) -> Length {
    Length::builder().max_chars(4).field(field).build()
}

#[test]
fn the_spec_names_the_field_that_is_read() {
    assert_eq!(reads(Length::SPEC), ["pred.answer"]);
    for spec in [Format::SPEC, Keyword::SPEC, Syntax::SPEC] {
        assert_eq!(reads(spec), ["pred.answer"], "{}", spec.name);
    }
    assert_eq!(reads(short("summary").spec()), ["pred.summary"]);
    let metric: &dyn Metric = &short("summary");
    assert_eq!(reads(metric.spec()), ["pred.summary"]);
    assert_eq!(reads(short("answer").spec()), ["pred.answer"]);
    assert_eq!(
        reads(short("*").spec()),
        [""; 0],
        "the whole prediction is not a field"
    );
    let mut params = Params::default();
    params.insert("field", "code");
    params.insert("language", "rust");
    assert_eq!(
        reads(Syntax::configure(&params).unwrap().spec()),
        ["pred.code"]
    );
}

#[test]
fn a_prediction_without_the_configured_field_scores_0_and_names_it() {
    let (gold, pred) = (example! {}, prediction! { "summary" => "abc" });
    assert!(short("summary").can_evaluate(&gold, &pred));
    assert!(short("*").can_evaluate(&gold, &pred));
    assert!(short("*").spec().can_evaluate(&gold, &pred));
    assert!(short("answer").can_evaluate(&gold, &pred));
    assert!(short("answer").spec().can_evaluate(&gold, &pred));
    let score = short("text").score(&gold, &pred).unwrap();
    let words = Some("the prediction has no field `text`");
    assert_eq!((score.value, score.details.as_deref()), (0.0, words));
}

/// A format check, and a length check of another field.
#[metric(weighted(format(field = "code") = 0.5, length(max_chars = 4, field = "summary") = 0.3, syntax = 0.2))]
struct Formed;

/// Checks of the whole prediction.
#[metric(all(format(field = "*"), length(max_chars = 40, field = "*")))]
struct Whole;

#[test]
fn composites_know_the_fields_of_their_configured_components() {
    assert_eq!(
        reads(Formed::SPEC),
        ["pred.code", "pred.summary", "pred.answer"]
    );
    assert_eq!(reads(Whole::SPEC), [""; 0]);
    let pred = prediction! { "code" => "", "summary" => "abc", "answer" => "f(" };
    assert_eq!(Formed.score(&example! {}, &pred).unwrap().value, 0.3);
    // Two components lack their fields.
    assert_eq!(
        Formed
            .score(&example! {}, &prediction! { "answer" => "a" })
            .unwrap()
            .value,
        0.2
    );
    assert_eq!(
        Whole
            .score(&example! {}, &prediction! { "a" => 1 })
            .unwrap()
            .value,
        1.0
    );

    let both = weighted([
        (component(short("summary")), 0.5),
        (component(Format::default()), 0.5),
    ]);
    let both = Composite::builder("both", both).build().unwrap();
    assert_eq!(reads(Metric::spec(&both)), ["pred.summary", "pred.answer"]);
}

#[metric(tier = truth, cost = "10 msat")]
fn judged(#[pred] answer: &str) -> bool {
    answer == "yes"
}

#[metric(gate(proxy(format(field = "plan"), length(max_chars = 3)) >= 0.5, truth(judged)))]
struct Gated;

#[test]
fn the_spec_of_a_gate_over_proxies_names_its_fields() {
    assert_eq!(reads(Gated::SPEC), ["pred.plan", "pred.answer"]);
    let pred = prediction! { "plan" => "a", "answer" => "yes" };
    let score = |pred| {
        let scored = Gated
            .answer(MetricCall::new(&example! {}, pred))
            .ready()
            .unwrap();
        scored.map(|scored| scored.score.value)
    };
    assert_eq!(score(&pred), Ok(1.0));
    let gated = prediction! { "plan" => "", "answer" => "much too long" };
    assert!(
        score(&gated)
            .unwrap_err()
            .to_string()
            .contains("was rejected by")
    );
}

#[derive(Record)]
struct Typed<'a, T> {
    answer: String,
    lent: &'a str,
    count: u32,
    maybe: Option<String>,
    list: Vec<Item>,
    opaque: fn() -> u8,
    any: T,
}

#[derive(Serialize)]
struct Item {
    name: &'static str,
}

fn typed() -> Typed<'static, u8> {
    Typed {
        answer: "four".to_owned(),
        lent: "lent",
        count: 12345,
        maybe: None,
        list: vec![Item { name: "a" }],
        opaque: || 1,
        any: 1,
    }
}

#[test]
fn typed_rows_are_read_by_name() {
    let score = |field: &str| {
        let metric = Length::builder()
            .min_chars(4)
            .max_chars(4)
            .field(field)
            .build();
        metric
            .score(&example! {}, &typed())
            .map(|score| score.value)
    };
    assert_eq!(score("answer"), Ok(1.0));
    assert_eq!(score("lent"), Ok(1.0));
    assert_eq!(score("count"), Ok(0.8));
    assert_eq!(score("maybe"), Ok(0.0));
    assert_eq!(score("list"), Ok(4.0 / 14.0), r#"[{{"name":"a"}}]"#);
    assert_eq!(score("text"), Ok(0.0), "no such field");
    let opaque = "metric `length`: field `pred.opaque`: expected a string, or a value that can be written as JSON, found a value whose type does not implement `Serialize`";
    let any = opaque.replace("opaque", "any");
    assert_eq!(
        score("any").unwrap_err().to_string(),
        any,
        "its type is generic"
    );
    assert_eq!(score("opaque").unwrap_err().to_string(), opaque);
    assert_eq!(
        score("*").unwrap_err().to_string(),
        opaque,
        "the whole prediction includes this field"
    );
    assert_eq!((typed().opaque)(), 1);
}

#[derive(Record, Clone)]
struct Plan {
    answer: String,
    #[record(rename = "steps")]
    all_steps: Vec<String>,
}

#[tokio::test]
async fn typed_rows_are_scored_by_composites_and_by_the_harness() {
    let plan = Plan {
        answer: "Plan".to_owned(),
        all_steps: vec!["a".to_owned()],
    };
    let whole = Format::builder()
        .required_fields(["answer", "steps"])
        .field("*")
        .build();
    assert_eq!(whole.score(&example! {}, &plan).unwrap().value, 1.0);
    let steps = Length::builder().max_chars(5).field("steps").build();
    assert_eq!(steps.score(&example! {}, &plan).unwrap().value, 1.0);
    assert!(Metric::<Example, Plan>::can_evaluate(
        &steps,
        &example! {},
        &plan
    ));

    let devset = [example! {}, example! {}];
    let evaluate = Evaluate::<Example, Plan>::typed()
        .devset(devset)
        .metric(short("answer"))
        .build();
    let program = move |_: Example| {
        let plan = plan.clone();
        async move { Ok::<_, String>(plan) }
    };
    let evaluate = evaluate.unwrap();
    let result = evaluate.run(program.clone()).await.unwrap();
    assert_eq!(
        result.to_string(),
        "length  1.0000 [0.0092, 1.0000; few rows] (mean of 2/2, 0 failed)"
    );
    let result = evaluate
        .to_builder()
        .metric(short("step"))
        .run(program)
        .await
        .unwrap();
    assert_eq!(
        result.to_string(),
        "length  not scored: no prediction has a field `step`; did you mean `steps`? (0/2 rows)"
    );
}

/// A user-defined metric.
#[metric]
fn same_start(
    #[gold(named_by = from)] start: &str,
    #[pred(named_by = to)] text: &str,
    #[param(default = "start")] from: &str,
    #[param(default = "text")] to: &str,
) -> bool {
    text.starts_with(start)
}

#[test]
fn any_metric_can_have_configurable_fields() {
    assert_eq!(reads(SameStart::SPEC), ["gold.start", "pred.text"]);
    let metric = SameStart::builder().from("question").to("answer").build();
    assert_eq!(reads(metric.spec()), ["gold.question", "pred.answer"]);
    let score = metric.score(
        &example! { "question" => "Pa" },
        &prediction! { "answer" => "Paris" },
    );
    assert_eq!(score.unwrap().value, 1.0);
    assert_eq!(
        serde_json::to_value(SameStart::SPEC.params[0]).unwrap()["names"],
        Value::Null
    );
}
