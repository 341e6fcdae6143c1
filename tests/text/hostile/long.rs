//! Strings of a megabyte and lists of thousands of items: comparisons in linear time are scored, comparisons that would
//! take minutes fail.

use dsrs_metrics::metrics::{
    Bleu, Cer, Chrf, EditSimilarity, EntityF1, F1, JsonFieldAccuracy, Rouge1, RougeL, RougeLsum,
    Wer,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::structured::ListOrder;
use serde_json::{Value, json};

const MEGABYTE: usize = 1_000_000;

fn call(metric: &dyn Metric, gold: &str, pred: &str) -> Result<f64, String> {
    let (gold, pred) = (
        example! { "answer" => gold },
        prediction! { "answer" => pred },
    );
    let scored = metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap();
    scored
        .map(|scored| scored.score.value)
        .map_err(|error| error.to_string())
}

/// Words that start with this letter, so that strings of different letters share none.
fn megabyte(letter: char) -> String {
    format!("{letter} ").repeat(MEGABYTE / 2)
}

#[test]
fn a_megabyte_is_scored_in_linear_time() {
    let (gold, pred) = (megabyte('a'), megabyte('b'));
    let metrics: [&dyn Metric; 4] = [
        &Bleu::default(),
        &Chrf::default(),
        &Rouge1::default(),
        &F1::default(),
    ];
    for metric in metrics {
        assert_eq!(call(metric, &gold, &pred), Ok(0.0), "{}", metric.name());
    }
    let long_word = "y".repeat(MEGABYTE);
    let stemmed = Rouge1::builder().use_stemmer(true).build();
    assert_eq!(
        call(&stemmed, &long_word, &format!("{long_word}s")),
        Ok(1.0)
    );
}

#[test]
fn a_megabyte_exceeds_the_limit_of_edit_distances() {
    let (gold, pred) = (megabyte('a'), megabyte('b'));
    let cases: [(&dyn Metric, &str); 5] = [
        (
            &Wer::default(),
            "metric `wer`: too many differing words to compare: 500000 predicted, 500000 expected; use rouge_1",
        ),
        (
            &Cer::default(),
            "metric `cer`: too many differing characters to compare: 999999 predicted, 999999 expected; use chrf",
        ),
        (
            &EditSimilarity::default(),
            "metric `edit_similarity`: too many differing characters to compare: 999999 predicted, 999999 expected; use chrf",
        ),
        (
            &RougeL::default(),
            "metric `rouge_l`: too many words to compare: 500000 predicted, 500000 expected; use rouge_2",
        ),
        (
            &RougeLsum::default(),
            "metric `rouge_lsum`: too many words to compare line by line: 500000 predicted, 500000 expected; use rouge_l",
        ),
    ];
    for (metric, said) in cases {
        assert_eq!(call(metric, &gold, &pred), Err(said.to_owned()));
    }
}

#[test]
fn a_megabyte_with_one_edit_is_scored() {
    let gold = megabyte('a');
    let mut pred = gold.clone();
    pred.replace_range(600_000..600_001, "b");
    assert_eq!(call(&Wer::default(), &gold, &pred), Ok(1.0 / 500_000.0));
    assert_eq!(call(&Cer::default(), &gold, &pred), Ok(1.0 / 999_999.0));
    assert_eq!(
        call(&EditSimilarity::default(), &gold, &pred),
        Ok(999_999.0 / 1_000_000.0)
    );
    assert_eq!(call(&Cer::default(), &gold, ""), Ok(1.0));
}

fn entities(expected: &[String], predicted: &[String]) -> Result<f64, String> {
    let gold = example! { "expected_entities" => expected.to_vec() };
    let lists = EntityF1::builder().distinct(false).build();
    let scored = lists.score(&gold, &prediction! { "entities" => predicted.to_vec() });
    scored
        .map(|score| score.value)
        .map_err(|error| error.to_string())
}

#[test]
fn thousands_of_entities_are_matched() {
    let same = vec!["name".to_owned(); 2000];
    let half: Vec<String> = (0..2000)
        .map(|at| if at < 1000 { "name" } else { "other!" }.to_owned())
        .collect();
    assert_eq!(entities(&same, &same), Ok(1.0));
    assert_eq!(entities(&same, &half), Ok(0.5));
}

#[test]
fn too_many_entities_or_too_long_ones_fail() {
    let many = vec!["a".to_owned(); 4001];
    assert_eq!(
        entities(&many, &many),
        Err("metric `entity_f1`: too many entities to compare: 4001 predicted, 4001 expected; provide fewer entities".to_owned())
    );
    let (a, b) = (["a".repeat(MEGABYTE)], ["b".repeat(MEGABYTE)]);
    assert_eq!(
        entities(&a, &b),
        Err("metric `entity_f1`: too many characters of entities to compare: 1000000 predicted, 1000000 expected; provide fewer or shorter entities".to_owned())
    );
}

/// Nested lists with two items each.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("leaf"), |within, level| json!([within, level]))
}

#[test]
fn lists_in_any_order_are_bounded() {
    let unordered = JsonFieldAccuracy::builder()
        .lists(ListOrder::Unordered)
        .build();
    let numbers = |count: usize| json!((0..count).collect::<Vec<_>>()).to_string();
    let reversed = json!((0..500).rev().collect::<Vec<_>>()).to_string();
    assert_eq!(call(&unordered, &numbers(500), &reversed), Ok(1.0));
    assert_eq!(
        call(&unordered, &numbers(5000), &numbers(5000)),
        Err("metric `json_field_accuracy`: too many values to compare in any order: 5001 predicted, 5001 expected, in lists up to 1 \
             deep; set lists=ordered, or compare only some of the fields".to_owned())
    );
    // Each level doubles the work: 60 levels would never end.
    let deep = nested(60).to_string();
    assert_eq!(
        call(&unordered, &deep, &deep),
        Err("metric `json_field_accuracy`: too many values to compare in any order: 121 predicted, 121 expected, in lists up to 60 \
             deep; set lists=ordered, or compare only some of the fields".to_owned())
    );
    assert_eq!(
        call(&unordered, &nested(8).to_string(), &nested(8).to_string()),
        Ok(1.0)
    );
    assert_eq!(call(&JsonFieldAccuracy::default(), &deep, &deep), Ok(1.0));
}
