//! Predictions that lack a field: an error, or the score of `missing`, with a mark.

use std::sync::Arc;

use dsrs_metrics::composite::{Composite, all, component};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{MetricError, contract::FieldSpec};
use serde_json::Value;

fn answer<M: Metric>(metric: &M, gold: &Example, pred: &Prediction) -> dsrs_metrics::Scored {
    metric
        .answer(MetricCall::new(gold, pred))
        .ready()
        .unwrap()
        .unwrap()
}

/// Whether the answers are equal.
#[metric]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer == given
}

/// The same, and false without an answer.
#[metric(missing = false, cost = "5 msat")]
fn same_or_false(
    #[gold] answer: &str,
    #[pred("answer")] given: &str,
    #[pred] source: &str,
) -> bool {
    answer == given && !source.is_empty()
}

/// The length of the title, or the largest without one.
#[metric(range = 0.0..=80.0, threshold = 20.0, lower_is_better, missing = 80)]
fn title_length(
    #[pred(named_by = field)] text: &str,
    #[param(default = "title")] field: &str,
) -> f64 {
    text.chars().count() as f64
}

/// How many tags there are.
#[metric(range = 0.0..=10.0, threshold = 1.0)]
fn tags(
    #[pred(missing)] tags: &[String],
    #[pred(missing = "en")] language: &str,
    #[pred(missing)] note: Option<&str>,
    #[pred] hint: Option<&str>,
) -> FeedbackMetric {
    let count = tags.len() as f64;
    FeedbackMetric::new(
        count,
        format!("{language}, {}, {}", note.is_some(), hint.is_some()),
    )
}

#[test]
fn a_prediction_without_a_required_field_is_an_error_of_a_metric_without_the_key() {
    let gold = example! { "answer" => "4" };
    let error = |pred| Same.score(&gold, &pred).unwrap_err().to_string();
    assert_eq!(
        error(prediction! { "anwser" => "4" }),
        "metric `same`: no field `pred.answer`; found `anwser`"
    );
    assert_eq!(
        error(prediction! { "answer" => () }),
        "metric `same`: field `pred.answer`: expected a string, found null"
    );
    assert_eq!(
        (Same::SPEC.missing, Same::SPEC.pred[0].may_be_missing),
        (None, false)
    );
}

#[test]
fn a_prediction_without_a_required_field_has_the_score_of_the_key_without_a_call_and_without_cost()
{
    let gold = example! { "answer" => "" };
    let scored = answer(&SameOrFalse, &gold, &prediction! { "id" => 7 });
    assert_eq!(
        (scored.score.value, scored.passed, scored.score.cost_msats),
        (0.0, Some(false), 0)
    );
    assert_eq!(scored.missing_fields(), ["answer", "source"]);
    let words = "the prediction has no field `answer`; the prediction has no field `source`";
    assert_eq!(scored.score.details.as_deref(), Some(words));
    assert_eq!(scored.feedback().as_deref(), Some(words));

    let scored = answer(
        &SameOrFalse,
        &gold,
        &prediction! { "answer" => (), "source" => "a" },
    );
    assert_eq!(
        (scored.score.value, scored.missing_fields()),
        (0.0, vec!["answer"])
    );
    let words = "the prediction's field `answer` is null";
    assert_eq!(scored.score.details.as_deref(), Some(words));

    let scored = answer(
        &SameOrFalse,
        &gold,
        &prediction! { "answer" => "", "source" => "a" },
    );
    assert_eq!((scored.score.value, scored.score.cost_msats), (1.0, 5));
    assert!(scored.missing_fields().is_empty() && scored.score.details.is_none());
}

#[test]
fn a_missing_gold_field_and_a_value_of_another_type_stay_errors() {
    let pred = prediction! { "answer" => "4", "source" => "a" };
    let error = SameOrFalse
        .score(&example! {}, &pred)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "metric `same_or_false`: no field `gold.answer`; found no fields"
    );
    // The gold row is read first.
    let error = SameOrFalse
        .score(&example! {}, &prediction! {})
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "metric `same_or_false`: no field `gold.answer`; found no fields"
    );
    let gold = example! { "answer" => "4" };
    let error = SameOrFalse
        .score(&gold, &prediction! { "answer" => 4 })
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "metric `same_or_false`: field `pred.answer`: expected a string, found the number 4"
    );
}

#[test]
fn the_score_follows_the_spec_of_the_instance() {
    let metric = TitleLength::builder().field("headline").build();
    let scored = answer(&metric, &example! {}, &prediction! { "title" => "short" });
    assert_eq!((scored.score.value, scored.passed), (80.0, Some(false)));
    assert_eq!(scored.missing_fields(), ["headline"]);
    let strict = metric.strict();
    assert_eq!(
        answer(&strict, &example! {}, &prediction! {}).score.value,
        0.0
    );
    // A field whose name is configured has no value either if it is null.
    let null = prediction! { "title" => () };
    let scored = answer(&TitleLength::default(), &example! {}, &null);
    assert_eq!(
        (scored.score.value, scored.missing_fields()),
        (80.0, vec!["title"])
    );
}

#[test]
fn a_value_takes_the_place_of_a_missing_field_and_the_row_is_marked() {
    let scored = answer(
        &Tags,
        &example! {},
        &prediction! { "language" => (), "tags" => ["a"] },
    );
    assert_eq!(
        (scored.score.value, scored.missing_fields()),
        (1.0, vec!["language", "note"])
    );
    assert_eq!(
        scored.feedback().as_deref(),
        // The function gets `None` for `note`.
        Some("the prediction's field `language` is null\nen, false, false")
    );
    let full = prediction! { "tags" => ["a", "b"], "language" => "de", "note" => "n" };
    let scored = answer(&Tags, &example! {}, &full);
    // `hint` is optional.
    assert_eq!(scored.feedback().as_deref(), Some("de, true, false"));
    assert!(scored.missing_fields().is_empty());
    let empty = answer(&Tags, &example! {}, &prediction! {});
    assert_eq!((empty.score.value, empty.passed), (0.0, Some(false)));
    assert_eq!(empty.missing_fields(), ["tags", "language", "note"]);
}

#[test]
fn rows_without_the_field_can_be_evaluated_and_the_spec_states_it() {
    let (gold, pred) = (example! { "answer" => "4" }, prediction! {});
    assert!(SameOrFalse.can_evaluate(&gold, &pred) && SameOrFalse::SPEC.can_evaluate(&gold, &pred));
    assert!(Tags.can_evaluate(&gold, &pred) && Tags::SPEC.can_evaluate(&gold, &pred));
    assert!(!Same.can_evaluate(&gold, &pred) && !Same::SPEC.can_evaluate(&gold, &pred));
    assert!(!SameOrFalse.can_evaluate(&example! {}, &pred));
    assert!(!SameOrFalse.can_evaluate(&gold, &prediction! { "answer" => 4, "source" => "a" }));
    let fields = |spec: MetricSpec<'static>| {
        let field = |field: &FieldSpec<'_>| (field.required, field.may_be_missing);
        spec.pred.iter().map(field).collect::<Vec<_>>()
    };
    assert_eq!(SameOrFalse::SPEC.missing, Some(0.0));
    assert_eq!(TitleLength::SPEC.missing, Some(80.0));
    assert_eq!(fields(SameOrFalse::SPEC), [(true, true), (true, true)]);
    assert_eq!(
        fields(Tags::SPEC),
        [(true, true), (true, true), (true, true), (false, false)]
    );
    assert!(!SameOrFalse::SPEC.gold[0].may_be_missing);
}

#[test]
fn a_record_has_no_value_where_an_option_is_none() {
    #[derive(Record)]
    struct Reply {
        tags: Option<Vec<String>>,
        language: String,
        note: Option<String>,
        hint: Option<String>,
    }
    let reply = Reply {
        tags: None,
        language: "de".to_owned(),
        note: Some(String::new()),
        hint: None,
    };
    let gold = example! {};
    let call = MetricCall::new(&gold, &reply);
    let scored = Tags.answer(call).ready().unwrap().unwrap();
    assert_eq!(
        (scored.score.value, scored.missing_fields()),
        (0.0, vec!["tags"])
    );
    assert_eq!(
        scored.feedback().as_deref(),
        Some("the prediction's field `tags` is null\nde, true, false")
    );
    let shared = Arc::new(reply);
    let scored = Tags
        .answer(MetricCall::new(&gold, &shared))
        .ready()
        .unwrap()
        .unwrap();
    assert_eq!(scored.missing_fields(), ["tags"]);
}

/// One component scores a row without an answer, the other does not.
#[metric(all(same, same_or_false))]
struct Mixed;

/// Both score it.
#[metric(all(same_or_false, tags >= 0.5))]
struct Tolerant;

#[test]
fn a_composite_collects_the_missing_fields_of_its_components() {
    let gold = example! { "answer" => "4" };
    let scored = answer(
        &Tolerant,
        &gold,
        &prediction! { "language" => "de", "note" => "" },
    );
    assert_eq!((scored.score.value, scored.passed), (0.0, Some(false)));
    assert_eq!(scored.missing_fields(), ["answer", "source", "tags"]);
    let field = |spec: MetricSpec<'static>, name: &str| {
        *spec.pred.iter().find(|field| field.name == name).unwrap()
    };
    assert!(field(Tolerant::SPEC, "answer").may_be_missing);
    // A component for which it is an error decides.
    let mixed = field(Mixed::SPEC, "answer");
    assert_eq!((mixed.required, mixed.may_be_missing), (true, false));
    let runtime = Composite::builder("mixed", all([component(Same), component(SameOrFalse)]));
    let runtime = runtime.build().unwrap();
    let spec = runtime.spec();
    assert_eq!(
        (spec.pred[0].name, spec.pred[0].may_be_missing),
        ("answer", false)
    );
    assert_eq!(
        (spec.pred[1].name, spec.pred[1].may_be_missing),
        ("source", true)
    );
    let error = Mixed.score(&gold, &prediction! {}).unwrap_err();
    assert!(error.is_missing_from_prediction(), "{error}");
}

#[tokio::test]
async fn an_acceptance_test_rejects_a_prediction_without_a_field() {
    let (gold, trace) = (example! { "answer" => "4" }, Trace::default());
    let (lacks, null) = (prediction! {}, prediction! { "answer" => () });
    for pred in [&lacks, &null] {
        assert_eq!(Same.accepts(&gold, pred, &trace).await, Ok(false));
        assert_eq!(Mixed.accepts(&gold, pred, &trace).await, Ok(false));
        assert_eq!(
            Same.with_cost_msats(3).accepts(&gold, pred, &trace).await,
            Ok(false)
        );
        let runtime = Composite::builder("both", all([component(Same), component(SameOrFalse)]));
        assert_eq!(
            runtime.build().unwrap().accepts(&gold, pred, &trace).await,
            Ok(false)
        );
    }
    assert_eq!(
        Same.accepts(&gold, &prediction! { "answer" => "4" }, &trace)
            .await,
        Ok(true)
    );
    let text = |error: MetricError| error.to_string();
    let error = Same
        .accepts(&example! {}, &lacks, &trace)
        .await
        .map_err(text);
    assert_eq!(
        error,
        Err("metric `same`: no field `gold.answer`; found no fields".to_owned())
    );
    let number = prediction! { "answer" => 4 };
    let error = Same.accepts(&gold, &number, &trace).await.map_err(text);
    let expected = "metric `same`: field `pred.answer`: expected a string, found the number 4";
    assert_eq!(error, Err(expected.to_owned()));
    let error = Mixed.accepts(&gold, &number, &trace).await.unwrap_err();
    assert!(!error.is_missing_from_prediction(), "{error}");
}

#[tokio::test]
async fn an_acceptance_test_over_typed_rows_rejects_a_dynamic_prediction_without_a_field() {
    #[derive(serde::Deserialize)]
    struct Reply {
        answer: String,
    }

    #[metric(pred = Reply)]
    fn is_brief(#[pred] answer: &str) -> bool {
        answer.len() < 3
    }

    let (gold, trace) = (example! {}, Trace::default());
    let accepts = async |pred: Prediction| IsBrief.accepts(&gold, &pred, &trace).await;
    assert_eq!(accepts(prediction! { "answer" => "4" }).await, Ok(true));
    assert_eq!(accepts(prediction! {}).await, Ok(false));
    assert_eq!(
        accepts(prediction! { "answer" => Value::Null }).await,
        Ok(false)
    );
    let error = accepts(prediction! { "answer" => 4 })
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("invalid type: integer `4`, expected a string"),
        "{error}"
    );
}
