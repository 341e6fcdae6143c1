//! The rows that a metric reads: typed rows, rows that derive `Record`, and dynamic rows that are deserialized.
#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "the cases show what may be written"
)]

use std::rc::Rc;
use std::sync::Arc;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Result,
    contract::{Configure, MetricErrorKind, Params, ScoreRange, Side},
    rows::{FieldError, Fields},
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, Record, Deserialize)]
struct Gold {
    answers: Vec<String>,
    #[record(rename = "year")]
    founded: i32,
    note: Option<String>,
    weight: f32,
}

#[derive(Debug, Clone, Record, Deserialize)]
struct Answer<T> {
    answer: T,
    extra: Value,
}

fn rows() -> (Gold, Answer<String>) {
    let answers = vec!["Paris".to_owned(), "Paris, France".to_owned()];
    let gold = Gold {
        answers,
        founded: 1793,
        note: None,
        weight: 0.5,
    };
    (
        gold,
        Answer {
            answer: "Paris".to_owned(),
            extra: Value::from(3),
        },
    )
}

fn dynamic_rows() -> (Example, Prediction) {
    let gold =
        example! { "answers" => ["Paris", "Paris, France"], "year" => 1793, "weight" => 0.5 };
    (gold, prediction! { "answer" => "Paris", "extra" => 3 })
}

#[metric(range = 0.0..=5000.0)]
fn reads_a_record(
    #[gold] answers: &[String],
    #[gold("answers")] borrowed: &[&str],
    #[gold] year: i32,
    #[gold] note: Option<&str>,
    #[gold("note")] also: Option<String>,
    #[gold] weight: f64,
    #[gold("year", default = 3)] or_three: i32,
    #[pred] answer: &str,
    #[pred("answer")] owned: String,
    #[pred] extra: &Value,
) -> f64 {
    assert_eq!((year, note, &also, or_three), (1793, None, &None, 1793));
    assert_eq!(
        (borrowed, owned.as_str(), extra),
        (&["Paris", "Paris, France"][..], answer, &Value::from(3))
    );
    if answers.iter().any(|gold| gold == answer) {
        weight
    } else {
        0.0
    }
}

#[test]
fn one_metric_scores_records_and_dynamic_rows_alike() -> Result<()> {
    let (gold, pred) = rows();
    assert_eq!(ReadsARecord.score(&gold, &pred)?.value, 0.5);
    let (dynamic_gold, dynamic_pred) = dynamic_rows();
    assert_eq!(ReadsARecord.score(&dynamic_gold, &dynamic_pred)?.value, 0.5);
    assert_eq!(ReadsARecord.score(&gold, &dynamic_pred)?.value, 0.5);
    let as_object: &dyn Metric<Gold, Answer<String>> = &ReadsARecord;
    assert_eq!(
        as_object
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .unwrap()?
            .score
            .value,
        0.5
    );
    let names: Vec<_> = <Gold as Record>::FIELDS
        .iter()
        .map(|field| (field.name, field.ty))
        .collect();
    let expected = [
        ("answers", "Vec<String>"),
        ("year", "i32"),
        ("note", "Option<String>"),
        ("weight", "f32"),
    ];
    assert_eq!(names, expected);
    Ok(())
}

#[metric]
fn same_text(#[gold] a: &str, #[pred] b: &str) -> bool {
    std::ptr::eq(a, b)
}

#[test]
fn a_reference_borrows_from_the_row_without_a_copy() -> Result<()> {
    #[derive(Record)]
    struct Text {
        a: &'static str,
        b: &'static str,
    }
    let text = "shared";
    assert_eq!(
        SameText
            .score(&Text { a: text, b: "" }, &Text { a: "", b: text })?
            .value,
        1.0
    );
    Ok(())
}

#[metric(gold = Gold, pred = Answer<String>, threshold = 0.5)]
fn typed(
    #[gold] answers: &[String],
    #[gold] note: Option<&str>,
    #[gold("founded")] year: i32,
    #[pred] answer: &str,
    #[pred("answer")] owned: String,
    gold: &Gold,
) -> f64 {
    assert_eq!(
        (gold.founded, note, owned.as_str()),
        (year, gold.note.as_deref(), answer)
    );
    f64::from(u8::from(answers.iter().any(|gold| gold == answer)))
}

#[derive(Debug, Deserialize)]
struct FileGold {
    answers: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct FileAnswer<'a> {
    answer: &'a str,
}

#[metric]
async fn typed_from_files(gold: &FileGold, #[pred] answer: &str) -> bool {
    tokio::task::yield_now().await;
    gold.answers.iter().any(|gold| gold == answer)
}

#[metric]
fn borrowing_row(pred: &FileAnswer<'_>) -> bool {
    pred.answer == "Paris"
}

#[test]
fn typed_rows_are_read_directly() -> Result<()> {
    let (gold, pred) = rows();
    assert_eq!(Typed.score(&gold, &pred)?.value, 1.0);
    assert_eq!(
        BorrowingRow
            .score(&example! {}, &FileAnswer { answer: "Paris" })?
            .value,
        1.0
    );
    Ok(())
}

#[metric(gold = FileGold)]
fn typed_at_once(#[gold] answers: &[String], #[pred] answer: &str) -> bool {
    answers.iter().any(|gold| gold == answer)
}

#[test]
fn score_of_a_metric_over_typed_rows_accepts_dynamic_rows_and_pointers() -> Result<()> {
    let (dynamic_gold, dynamic_pred) = dynamic_rows();
    let gold = || FileGold {
        answers: vec!["Paris".to_owned()],
    };
    let value = |score: MetricScore| score.value;
    assert_eq!(
        TypedAtOnce.score(&dynamic_gold, &dynamic_pred).map(value)?,
        1.0
    );
    assert_eq!(TypedAtOnce.score(&gold(), &dynamic_pred).map(value)?, 1.0);
    assert_eq!(
        TypedAtOnce.score(&Box::new(gold()), &rows().1).map(value)?,
        1.0
    );
    assert_eq!(
        TypedAtOnce
            .score(&Arc::new(dynamic_gold), &rows().1)
            .map(value)?,
        1.0
    );
    assert_eq!(
        BorrowingRow.score(&example! {}, &dynamic_pred).map(value)?,
        1.0
    );
    let error = TypedAtOnce
        .score(&example! { "answers" => 3 }, &dynamic_pred)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `typed_at_once`: the gold row is not a `FileGold`: invalid type: integer `3`, expected a sequence"
    );
    Ok(())
}

#[metric(threshold = { 0.5 }, range = if true { 0.0 } else { 0.1 }..=Limits { most: 1.0 }.most)]
fn braces_in_values(#[pred] share: f64) -> f64 {
    share
}

struct Limits {
    most: f64,
}

#[test]
fn values_of_settings_may_contain_braces() -> Result<()> {
    let spec = BracesInValues::SPEC;
    assert_eq!(
        (spec.threshold, spec.range),
        (Some(0.5), Some(ScoreRange { min: 0.0, max: 1.0 }))
    );
    assert_eq!(
        BracesInValues
            .score(&example! {}, &prediction! { "share" => 0.5 })?
            .value,
        0.5
    );
    Ok(())
}

#[tokio::test]
async fn typed_rows_that_deserialize_work_from_files_too() -> Result<()> {
    let (gold, pred) = dynamic_rows();
    let metric: Box<dyn Metric> = Box::new(TypedFromFiles);
    assert_eq!(metric.evaluate(&gold, &pred).await?.value, 1.0);
    assert!(metric.can_evaluate(&gold, &pred));
    let wrong = example! { "answers" => "Paris" };
    let error = metric.evaluate(&wrong, &pred).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `typed_from_files`: the gold row is not a `FileGold`: invalid type: string \"Paris\", expected a sequence"
    );
    assert!(!metric.can_evaluate(&wrong, &pred));
    let metric: Box<dyn Metric> = Box::new(BorrowingRow);
    assert_eq!(metric.evaluate(&gold, &pred).await?.value, 1.0);
    Ok(())
}

#[metric]
fn from_text(
    #[gold] number: f64,
    #[gold] list: Vec<String>,
    #[gold] absent: Option<u8>,
    #[gold] text: &str,
) -> f64 {
    assert_eq!((list.len(), absent, text), (2, None, "308"));
    number
}

#[test]
fn cells_of_text_are_read_as_what_the_parameter_is() -> Result<()> {
    let cells = [
        ("number", "2.5"),
        ("list", "[\"a\",\"b\"]"),
        ("absent", ""),
        ("text", "308"),
    ];
    let row = Example::from(Fields::from_iter(cells).textual());
    assert_eq!(FromText.score(&row, &prediction! {})?.value, 2.5);
    let strict = Example::from_iter(cells);
    let error = FromText.score(&strict, &prediction! {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `from_text`: field `gold.number`: expected a number, found the string \"2.5\""
    );
    Ok(())
}

/// Share of the words that are known.
#[metric]
fn known_words(
    #[pred] answer: &str,
    /// Words that count, in lower case.
    #[param]
    words: &[String],
    #[param(default = 0.5)] weight: f64,
    #[param(default = " ")] separator: &str,
    #[param(default = "x")] owned: String,
    #[param] limit: Option<usize>,
    #[param(default)] fold: bool,
) -> f64 {
    assert_eq!(owned, "x");
    let fold_case = |word: &str| {
        if fold {
            word.to_lowercase()
        } else {
            word.to_owned()
        }
    };
    let found = answer
        .split(separator)
        .map(fold_case)
        .take(limit.unwrap_or(usize::MAX));
    weight * found.filter(|word| words.contains(word)).count() as f64
}

#[test]
fn parameters_are_fields_with_a_builder() -> Result<()> {
    let pred = prediction! { "answer" => "the Eiffel tower" };
    let words = vec!["eiffel".to_owned(), "tower".to_owned()];
    let metric = KnownWords::builder().words(words.clone()).build();
    assert_eq!(metric.score(&example! {}, &pred)?.value, 0.5);
    let metric = KnownWords::builder()
        .words(words)
        .weight(2.0)
        .fold(true)
        .limit(2usize)
        .build();
    assert_eq!(
        (metric.weight, metric.limit, metric.separator.as_str()),
        (2.0, Some(2), " ")
    );
    assert_eq!(metric.score(&example! {}, &pred)?.value, 2.0);
    Ok(())
}

#[metric]
fn brief(
    #[pred] answer: &str,
    #[param(into)] most: Option<u32>,
    #[param(default = 1.0, into)] weight: f64,
) -> f64 {
    let is_brief = answer.chars().count() <= most.map_or(usize::MAX, |most| most as usize);
    if is_brief { weight } else { 0.0 }
}

#[test]
fn a_setter_of_a_parameter_with_into_converts_its_argument() {
    let score = |metric: Brief| {
        metric
            .score(&example! {}, &prediction! { "answer" => "Paris" })
            .unwrap()
            .value
    };
    assert_eq!(score(Brief::builder().most(5_u32).build()), 1.0);
    assert_eq!(score(Brief::builder().most(Some(4)).build()), 0.0);
    assert_eq!(score(Brief::builder().most(None).build()), 1.0);
    assert_eq!(score(Brief::builder().weight(0.5_f32).build()), 0.5);
}

#[metric]
fn defaulted(_gold: &Example, #[param(default = 0.8)] similarity: f64) -> f64 {
    similarity
}

#[test]
fn a_metric_whose_parameters_all_have_defaults_has_one_itself() -> Result<()> {
    assert_eq!(
        Defaulted::default()
            .score(&example! {}, &prediction! {})?
            .value,
        0.8
    );
    Ok(())
}

#[test]
fn parameters_come_from_text_as_well() -> Result<(), dsrs_metrics::contract::ParamError> {
    let params = |pairs: &[(&str, &str)]| {
        let mut params = Params::default();
        pairs
            .iter()
            .for_each(|(name, value)| params.insert(*name, *value));
        params
    };
    let given = params(&[
        ("words", "[\"a\"]"),
        ("separator", "5"),
        ("limit", "3"),
        ("fold", "true"),
    ]);
    let metric = KnownWords::configure(&given)?;
    assert_eq!(
        (metric.words, metric.separator.as_str()),
        (vec!["a".to_owned()], "5")
    );
    assert_eq!(
        (metric.limit, metric.fold, metric.weight),
        (Some(3), true, 0.5)
    );
    let message = |pairs: &[(&str, &str)]| {
        KnownWords::configure(&params(pairs))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(&[]),
        "metric `known_words` requires the parameter `words` (a list of strings): --param known_words.words=VALUE"
    );
    assert_eq!(
        message(&[("word", "x")]),
        "metric `known_words` has no parameter `word`; it takes `words`, `weight`, `separator`, `owned`, `limit`, `fold`"
    );
    assert!(
        message(&[("words", "[]"), ("weight", "heavy")]).starts_with(
            "metric `known_words`: parameter `weight`: expected a number, found `heavy`"
        )
    );
    let spec = KnownWords::SPEC.params[0];
    assert_eq!(
        (spec.doc, spec.default),
        ("Words that count, in lower case.", None)
    );
    assert_eq!(KnownWords::SPEC.params[1].default, Some("0.5"));
    Ok(())
}

#[test]
fn the_error_of_a_missing_field_carries_its_side() {
    let (gold, _) = dynamic_rows();
    let error = ReadsARecord.score(&gold, &prediction! {}).unwrap_err();
    assert!(matches!(
        error.kind(),
        MetricErrorKind::Field {
            side: Side::Pred,
            error: FieldError::Missing { .. }
        }
    ));
}

#[metric]
fn text_of_field(
    /// The name of the field.
    #[param(default = "answer")]
    field: String,
    #[gold(named_by = field)] wanted: &str,
    #[pred(named_by = field)] found: &str,
) -> bool {
    wanted == found
}

#[metric(all(ReadsARecord >= 0.5, ReadsNote))]
struct BothRead;

#[metric]
fn reads_note(#[gold] note: Option<&str>, #[pred] answer: &str) -> bool {
    note.is_none() && !answer.is_empty()
}

#[test]
fn references_and_smart_pointers_of_a_row_are_rows() -> Result<()> {
    let (gold, pred) = rows();
    let (dynamic_gold, dynamic_pred) = dynamic_rows();
    let (shared, boxed) = (
        Arc::new(dynamic_gold.clone()),
        Box::new(dynamic_pred.clone()),
    );
    let (local, lent) = (Rc::new(gold.clone()), &pred);
    assert_eq!(ReadsARecord.score(&shared, &boxed)?.value, 0.5);
    assert_eq!(ReadsARecord.score(&local, &lent)?.value, 0.5);
    assert_eq!(
        ReadsARecord
            .score(&Rc::new(dynamic_gold.clone()), &&dynamic_pred)?
            .value,
        0.5
    );
    assert_eq!(
        ReadsARecord
            .score(&&Arc::new(gold.clone()), &Box::new(pred.clone()))?
            .value,
        0.5
    );
    assert_eq!(BothRead.score(&shared, &boxed)?.value, 1.0);
    let as_object: &dyn Metric<Arc<Gold>, Box<Answer<String>>> = &ReadsARecord;
    let (gold, pred) = (Arc::new(gold), Box::new(pred));
    assert_eq!(
        as_object
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .unwrap()?
            .score
            .value,
        0.5
    );
    assert_eq!(<Arc<Gold> as Record>::FIELDS.len(), 4);
    Ok(())
}

#[derive(Record)]
struct Reply {
    answer: String,
}

#[test]
fn configured_fields_are_found_behind_pointers() -> Result<()> {
    let metric = TextOfField::builder().field("answer").build();
    let (gold, pred) = (
        example! { "answer" => "a" },
        Reply {
            answer: "b".to_owned(),
        },
    );
    assert_eq!(
        metric.score(&Arc::new(gold.clone()), &Rc::new(pred))?.value,
        0.0
    );
    assert_eq!(
        metric.score(&Rc::new(gold.clone()), &Box::new(gold))?.value,
        1.0
    );
    Ok(())
}

#[test]
fn a_missing_field_behind_a_pointer_is_named() {
    let error = ReadsNote.score(
        &Arc::new(example! {}),
        &Arc::new(prediction! { "text" => "" }),
    );
    let message = error.unwrap_err().to_string();
    assert_eq!(
        message,
        "metric `reads_note`: no field `pred.answer`; found `text`"
    );
}
