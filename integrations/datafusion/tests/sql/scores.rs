//! Scores and details of rows: types of arguments, null semantics, failures.

use datafusion::prelude::SessionContext;
use dsrs_metrics::metrics::{AnswerExactMatch, F1, NumericMatch, ReciprocalRank};
use dsrs_metrics::prelude::*;
use dsrs_metrics_datafusion::{MetricFunctions, RegisterMetric as _};

use crate::rows;

/// Shares of the words of the plan that the answer has, with the first that it lacks.
#[metric]
fn covered(#[gold] words: &[String], #[pred] answer: Option<&str>) -> f64 {
    let answer = answer.unwrap_or_default();
    words.iter().filter(|word| answer.contains(*word)).count() as f64 / words.len() as f64
}

/// Fails, abstains, panics or returns a number out of range, as the row requests.
#[metric(range = 0.0..=1.0)]
fn unreliable(#[pred] kind: &str) -> Result<Option<f64>, String> {
    match kind {
        "fails" => Err("no luck".to_owned()),
        "abstains" => Ok(None),
        "panics" => panic!("out of luck"),
        "too large" => Ok(Some(7.0)),
        _ => Ok(Some(0.25)),
    }
}

/// Recall and precision of the characters, with recall as the score.
#[metric(range = 0.0..=1.0)]
fn characters(#[gold] answer: &str, #[pred] reply: &str) -> Scores {
    let share = |of: &str, within: &str| {
        of.chars().filter(|c| within.contains(*c)).count() as f64 / of.chars().count() as f64
    };
    Scores::new("recall", share(answer, reply)).with("precision", share(reply, answer))
}

/// A component with named scores, one that may fail, and one with neither.
#[metric(weighted(characters = 0.5, unreliable = 0.25, AnswerExactMatch = 0.25), on_missing = skip)]
struct Blend;

fn context() -> SessionContext {
    let ctx = SessionContext::new();
    ctx.register_metric(AnswerExactMatch::default()).unwrap();
    ctx.register_metric(F1::default()).unwrap();
    ctx.register_metric(NumericMatch::default()).unwrap();
    ctx.register_metric(ReciprocalRank::default()).unwrap();
    ctx.register_metric(Covered).unwrap();
    ctx.register_metric(Unreliable).unwrap();
    ctx
}

#[tokio::test]
async fn a_bool_metric_returns_booleans_and_a_number_float64() {
    let sql = "SELECT answer_exact_match(a, b), f1(a, b), arrow_typeof(answer_exact_match(a, b)), \
               arrow_typeof(f1(a, b)) FROM (VALUES ('the cat', 'Cat'), ('a cat sat', 'cat')) AS t(a, b)";
    let found = rows(&context(), sql).await.unwrap();
    let expected = [
        "true | 1.0 | Boolean | Float64",
        "false | 0.6666666666666666 | Boolean | Float64",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn strings_of_every_arrow_type_and_lists_of_them_are_read() {
    for ty in ["Utf8", "LargeUtf8", "Utf8View", "Dictionary(Int32, Utf8)"] {
        let sql = format!(
            "SELECT answer_exact_match(arrow_cast(a, '{ty}'), arrow_cast(b, '{ty}')) FROM \
             (VALUES ('Paris', 'paris'), ('Rome', 'Lyon'), ('Lyon', 'the Lyon')) AS t(a, b)"
        );
        assert_eq!(
            rows(&context(), &sql).await.unwrap(),
            ["true", "false", "true"],
            "{ty}"
        );
    }
    for ty in [
        "List(Utf8)",
        "LargeList(Utf8View)",
        "FixedSizeList(2, Utf8)",
        "ListView(Utf8)",
    ] {
        let sql = format!(
            "SELECT answer_exact_match(arrow_cast(a, '{ty}'), b) FROM (VALUES (['x', 'Paris'], 'paris'), \
             (['Rome', 'y'], 'Lyon'), (['z', 'Lyon'], 'lyon')) AS t(a, b)"
        );
        assert_eq!(
            rows(&context(), &sql).await.unwrap(),
            ["true", "false", "true"],
            "{ty}"
        );
    }
}

#[tokio::test]
async fn numbers_of_every_arrow_type_are_read() {
    let types = [
        "Int8",
        "Int64",
        "UInt16",
        "UInt64",
        "Float32",
        "Float64",
        "Decimal128(5, 1)",
    ];
    for ty in types {
        let sql = format!(
            "SELECT numeric_match(a, arrow_cast(b, '{ty}')) FROM (VALUES ('7 km', 7), ('8', 7)) AS t(a, b)"
        );
        assert_eq!(
            rows(&context(), &sql).await.unwrap(),
            ["true", "false"],
            "{ty}"
        );
    }
    // Not 0.10000000149.
    let sql = "SELECT numeric_match('0.1', arrow_cast(0.1, 'Float32'))";
    assert_eq!(rows(&context(), sql).await.unwrap(), ["true"]);
}

#[tokio::test]
async fn lists_of_numbers_maps_and_structs_are_read() {
    let ctx = context();
    // A list is read into the memory of the one before, which is longer.
    let ranks = "SELECT mrr(a, b) FROM (VALUES ([7, 9], [4, 9, 7]), ([7], [2, 3])) AS t(a, b)";
    assert_eq!(rows(&ctx, ranks).await.unwrap(), ["0.5", "0.0"]);
    let maps = "SELECT mrr(MAP {'a': 2, 'b': 0}, make_array('b', 'a'))";
    assert_eq!(rows(&ctx, maps).await.unwrap(), ["0.5"]);
    let same = metric_fn("same", |gold, pred| gold.get("row") == pred.get("row"));
    let functions = MetricFunctions::new(same).with_fields(["row"], ["row"]);
    ctx.register_metric_functions(functions).unwrap();
    let structs = "SELECT same(named_struct('x', a, 'y', [a, NULL]), named_struct('y', [b, NULL], 'x', b)) \
                   FROM (VALUES (1, 1), (1, 2), (NULL, NULL)) AS t(a, b)";
    assert_eq!(
        rows(&ctx, structs).await.unwrap(),
        ["true", "false", "true"]
    );
}

#[tokio::test]
async fn a_null_prediction_scores_as_a_missing_one_and_a_null_gold_value_fails() {
    let sql = "SELECT answer_exact_match(a, b), d['outcome'], d['error'], d['feedback'] FROM (SELECT a, b, \
               answer_exact_match_details(a, b) AS d FROM (VALUES ('x', NULL), (NULL, 'x'), ('x', 'x')) AS t(a, b))";
    let found = rows(&context(), sql).await.unwrap();
    let expected = [
        "false | scored | NULL | the prediction's field `answer` is null",
        "NULL | metric_failed | metric `answer_exact_match`: field `gold.answer`: expected a string or list of strings, found null | NULL",
        "true | scored | NULL | exact match with \"x\"",
    ];
    assert_eq!(found, expected);
    let constant =
        "SELECT f1(a, CAST(NULL AS VARCHAR)), f1('y', a) FROM (VALUES ('x'), ('y'), ('z')) AS t(a)";
    assert_eq!(
        rows(&context(), constant).await.unwrap(),
        ["0.0 | 0.0", "0.0 | 1.0", "0.0 | 0.0"]
    );
    // A column without values has the type Null.
    assert_eq!(
        rows(&context(), "SELECT f1('x', NULL)").await.unwrap(),
        ["0.0"]
    );
}

#[tokio::test]
async fn optional_arguments_are_null_or_left_out_at_the_end() {
    let ctx = context();
    assert_eq!(
        rows(&ctx, "SELECT covered(['x', 'y'], 'x')").await.unwrap(),
        ["0.5"]
    );
    assert_eq!(
        rows(&ctx, "SELECT covered(['x', 'y'], NULL)")
            .await
            .unwrap(),
        ["0.0"]
    );
    assert_eq!(
        rows(&ctx, "SELECT covered(['x', 'y'])").await.unwrap(),
        ["0.0"]
    );
}

#[tokio::test]
async fn rows_without_a_score_are_null_and_the_details_have_the_outcome() {
    let sql = "SELECT unreliable(k), d['value'], d['outcome'], d['error'] FROM (SELECT k, unreliable_details(k) AS d \
               FROM (VALUES ('fails'), ('abstains'), ('panics'), ('too large'), ('scores')) AS t(k))";
    let found = rows(&context(), sql).await.unwrap();
    let expected = [
        "NULL | NULL | metric_failed | metric `unreliable`: no luck",
        "NULL | NULL | abstained | NULL",
        "NULL | NULL | metric_failed | metric `unreliable` panicked: out of luck",
        "NULL | NULL | metric_failed | metric `unreliable`: the score 7.0 is outside the declared range 0.0..=1.0",
        "0.25 | 0.25 | scored | NULL",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_number_that_is_not_finite_is_an_error_of_its_row() {
    let sql = "SELECT numeric_match(a, b), numeric_match_details(a, b)['error'] \
               FROM (VALUES ('1', 1.0), ('1', 'NaN'::DOUBLE), ('2', 2.0)) AS t(a, b)";
    let found = rows(&context(), sql).await.unwrap();
    let error =
        "NULL | metric `numeric_match`: field `pred.answer`: expected a finite number, found NaN";
    assert_eq!(found, ["true | NULL", error, "true | NULL"]);
}

#[tokio::test]
async fn details_have_verdict_and_feedback() {
    let ctx = SessionContext::new();
    ctx.register_metric_as("good_f1", F1::default().with_threshold(0.6))
        .unwrap();
    let sql = "SELECT d['value'], d['verdict'], d['feedback'] FROM (SELECT good_f1_details(a, b) AS d \
               FROM (VALUES ('a cat sat', 'cat'), ('cat', 'dog')) AS t(a, b))";
    let found = rows(&ctx, sql).await.unwrap();
    assert!(
        found[0].starts_with("0.6666666666666666 | true | "),
        "{found:?}"
    );
    assert!(found[1].starts_with("0.0 | false | "), "{found:?}");
}

#[tokio::test]
async fn arguments_may_be_named() {
    let sql = "SELECT f1(prediction_answer => 'cat', answer => 'a cat sat')";
    assert_eq!(rows(&context(), sql).await.unwrap(), ["0.6666666666666666"]);
}

#[tokio::test]
async fn details_have_the_named_scores_and_those_of_components() {
    let ctx = context();
    ctx.register_metric(Characters).unwrap();
    ctx.register_metric(Blend).unwrap();
    let sql = "SELECT d['value'], d['scores'], d['scores']['precision'], d['scores']['other'] FROM (SELECT \
               characters_details(a, b) AS d FROM (VALUES ('ab', 'a'), ('ab', 'abcd'), (NULL, 'a')) AS t(a, b))";
    let expected = [
        "0.5 | {recall: 0.5, precision: 1.0} | 1.0 | NULL",
        "1.0 | {recall: 1.0, precision: 0.5} | 0.5 | NULL",
        "NULL | NULL | NULL | NULL",
    ];
    assert_eq!(rows(&ctx, sql).await.unwrap(), expected);
    let sql = "SELECT d['scores'] FROM (SELECT blend_details(answer => 'ab', reply => 'a', kind => k, \
               prediction_answer => 'ab') AS d FROM (VALUES ('scores'), ('fails')) AS t(k))";
    let characters = "characters: 0.5, characters.recall: 0.5, characters.precision: 1.0";
    let expected = [
        format!("{{{characters}, unreliable: 0.25, answer_exact_match: 1.0}}"),
        format!("{{{characters}, unreliable: NULL, answer_exact_match: 1.0}}"),
    ];
    assert_eq!(rows(&ctx, sql).await.unwrap(), expected);
    let sql = "SELECT f1_details('a', 'a')['scores'] IS NULL, unreliable_details('scores')['scores'] IS NULL";
    assert_eq!(rows(&ctx, sql).await.unwrap(), ["true | true"]);
}

#[tokio::test]
async fn aggregates_read_details_with_named_scores() {
    let ctx = context();
    ctx.register_metric(Characters).unwrap();
    let sql = "SELECT metric_mean(d), metric_summary(d)['scored'], metric_summary(d)['failed'], metric_mean(p) FROM (SELECT d, \
               d['scores']['precision'] AS p FROM (SELECT characters_details(a, b) AS d FROM \
               (VALUES ('ab', 'a'), ('ab', 'abcd'), (NULL, 'a')) AS t(a, b)))";
    assert_eq!(rows(&ctx, sql).await.unwrap(), ["0.5 | 2 | 1 | 0.5"]);
}
