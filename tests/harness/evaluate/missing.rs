//! Predictions without a field: counted in the summary, and no headline if no row has the field.

use dsrs_metrics::metrics::{EntityF1, IntentAccuracy, Ndcg, SubtaskPlanning};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    runs::{EvaluateErrorKind, EvaluationResult},
};
use serde_json::json;

fn gold() -> Example {
    example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"], "relevant" => ["d1"] }
}

async fn score(metric: impl Metric + 'static, preds: Vec<Prediction>) -> EvaluationResult {
    score_at(2, metric, preds).await
}

async fn score_at(
    concurrency: usize,
    metric: impl Metric + 'static,
    preds: Vec<Prediction>,
) -> EvaluationResult {
    let rows = preds.into_iter().enumerate();
    let rows: Vec<_> = rows
        .map(|(id, pred)| Pair::new(id.to_string(), gold(), pred))
        .collect();
    Evaluate::builder()
        .metric(metric)
        .concurrency(concurrency)
        .score(rows)
        .await
        .unwrap()
}

/// Whether intent and entities are right.
#[metric(weighted(intent_accuracy = 0.5, entity_f1 = 0.5))]
struct Understood;

#[tokio::test]
async fn rows_without_a_field_are_counted_and_printed() {
    let right = || prediction! { "intent" => "temporal", "entities" => ["Louvre"] };
    let rows = vec![
        right(),
        prediction! { "entities" => ["Louvre"] },
        prediction! { "intent" => () },
        right(),
    ];
    let result = score(Understood, rows).await;
    let summary = &result.metrics[0];
    assert_eq!(
        (result.score, summary.mean, summary.failed),
        (Some(0.625), Some(0.625), 0)
    );
    assert_eq!(summary.missing, 2);
    let fields: Vec<_> = summary.missing_fields.iter().collect();
    assert_eq!(
        fields,
        [(&"entities".to_owned(), &1), (&"intent".to_owned(), &2)]
    );
    assert!(summary.unknown_fields.is_empty());
    assert_eq!(
        result.to_string(),
        "understood  0.6250 [0.1178, 0.9541; few rows] (mean of 4/4, 0 failed, 2 without `entities`, `intent`)"
    );
    let json = dsrs_metrics_tests::schema::to_value(&result);
    assert_eq!(json["metrics"]["understood"]["missing"], 2);
    assert_eq!(
        json["metrics"]["understood"]["missing_fields"],
        json!({ "entities": 1, "intent": 2 })
    );
    assert_eq!(
        result.results[1].outcomes[0]
            .scored()
            .unwrap()
            .missing_fields(),
        ["intent"]
    );
}

#[tokio::test]
async fn rows_with_all_fields_have_no_such_count() {
    let result = score(IntentAccuracy, vec![prediction! { "intent" => "temporal" }]).await;
    assert_eq!(
        result.to_string(),
        "intent_accuracy  100.00% [20.65, 100.00] (1/1, 0 failed)"
    );
    let json = dsrs_metrics_tests::schema::to_value(&result);
    let metric = json["metrics"]["intent_accuracy"].as_object().unwrap();
    assert!(
        metric
            .keys()
            .all(|key| !key.contains("missing") && !key.contains("unknown"))
    );
}

#[tokio::test]
async fn a_field_that_no_row_has_is_a_wrong_name_and_not_a_headline_of_0() {
    let misspelt = || prediction! { "id" => 1, "intnet" => "temporal" };
    let result = score(IntentAccuracy, vec![misspelt(), misspelt(), misspelt()]).await;
    assert_eq!((result.score, result.metrics[0].missing), (None, 3));
    let unknown = &result.metrics[0].unknown_fields[0];
    assert_eq!(
        (&*unknown.name, unknown.nearest.as_deref()),
        ("intent", Some("intnet"))
    );
    let words = "no prediction has a field `intent`; did you mean `intnet`?";
    assert_eq!(
        result.to_string(),
        format!("intent_accuracy  not scored: {words} (0/3 rows)")
    );
    let error = result.try_score().unwrap_err();
    assert_eq!(error.kind(), EvaluateErrorKind::NothingScored);
    assert_eq!(
        error.to_string(),
        format!("metric `intent_accuracy`: {words}")
    );
    // The numbers of a run that was paid for are kept.
    assert_eq!(
        (result.metrics[0].mean, result.results.len()),
        (Some(0.0), 3)
    );
    let json = dsrs_metrics_tests::schema::to_value(&result);
    let metric = &json["metrics"]["intent_accuracy"];
    assert!(metric["score"].is_null());
    assert_eq!(
        metric["unknown_fields"],
        json!([{ "name": "intent", "nearest": "intnet" }])
    );
}

#[tokio::test]
async fn without_a_similar_name_the_message_lists_those_of_the_first_prediction() {
    let rows = vec![
        prediction! { "x" => 1, "y" => 2 },
        prediction! { "intnet" => 1 },
    ];
    let result = score(IntentAccuracy, rows).await;
    assert_eq!(
        result.metrics[0].to_string(),
        "not scored: no prediction has a field `intent`; the first prediction has `x`, `y` (0/2 rows)"
    );
    let result = score(IntentAccuracy, vec![prediction! {}]).await;
    assert_eq!(
        result.metrics[0].to_string(),
        "not scored: no prediction has a field `intent`; the first prediction has no fields (0/1 rows)"
    );
}

#[tokio::test]
async fn one_row_with_the_field_or_with_null_shows_that_the_name_is_right() {
    let result = score(
        IntentAccuracy,
        vec![prediction! {}, prediction! { "intent" => () }],
    )
    .await;
    assert_eq!(result.score, Some(0.0));
    assert_eq!(
        result.to_string(),
        "intent_accuracy  0.00% [0.00, 65.76] (0/2, 0 failed, 2 without `intent`)"
    );
}

#[tokio::test]
async fn a_field_that_no_row_has_leaves_a_composite_without_a_headline() {
    let result = score(Understood, vec![prediction! { "intent" => "temporal" }]).await;
    assert_eq!(result.score, None);
    assert_eq!(result.metrics[0].unknown_fields[0].name, "entities");
    let both = score(Understood, vec![prediction! {}]).await;
    let names: Vec<_> = both.metrics[0]
        .unknown_fields
        .iter()
        .map(|field| &*field.name)
        .collect();
    assert_eq!(names, ["entities", "intent"]);
}

#[tokio::test]
async fn named_scores_have_no_headline_either() {
    let result = score(Ndcg::default(), vec![prediction! { "retreived" => ["d1"] }]).await;
    let scores: Vec<_> = result.metrics.iter().map(|summary| summary.score).collect();
    assert_eq!(scores, [None; 5]);
    let plan = score(SubtaskPlanning::default(), vec![prediction! {}]).await;
    assert!(
        plan.metrics.iter().all(|summary| summary.score.is_none()),
        "{plan}"
    );
}

#[tokio::test]
async fn failed_rows_and_programs_do_not_hide_a_wrong_name() {
    let evaluate = Evaluate::builder()
        .devset([
            gold(),
            example! { "fail" => true }.with_inputs(["fail"]),
            gold(),
        ])
        .inputs([""; 0])
        .metric(EntityF1::default())
        .build()
        .unwrap();
    let program = |row: Example| async move {
        row.get("fail")
            .is_none()
            .then(|| prediction! { "entity" => "Louvre" })
            .ok_or("no reply")
    };
    let result = evaluate.run(program).await.unwrap();
    assert_eq!((result.score, result.failed_rows), (None, 1));
    let unknown = &result.metrics[0].unknown_fields[0];
    assert_eq!(
        unknown.to_string(),
        "no prediction has a field `entities`; did you mean `entity`?"
    );
}

#[tokio::test]
async fn the_counts_do_not_depend_on_the_concurrency() {
    let rows = || -> Vec<Prediction> {
        let row = |row: i32| match row % 3 {
            0 => prediction! { "intent" => "temporal" },
            1 => Prediction::from_iter([(format!("field{row}"), 1)]),
            _ => prediction! { "intent" => () },
        };
        (0..60).map(row).collect()
    };
    let (first, second) = (
        score_at(1, IntentAccuracy, rows()).await,
        score_at(16, IntentAccuracy, rows()).await,
    );
    assert_eq!(first.metrics, second.metrics);
    assert_eq!(
        first.to_string(),
        "intent_accuracy  33.33% [22.73, 45.94] (20/60, 0 failed, 40 without `intent`)"
    );
}
