//! Texts of a megabyte and lists of thousands: what takes time in proportion is scored, and what would take minutes fails.

use dsrs_metrics::metrics::{
    Bleu, Cer, Chrf, EditSimilarity, EntityF1, F1, JsonFieldAccuracy, Rouge1, RougeL, RougeLsum,
    Wer,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::structured::ListOrder;
use serde_json::{Value, json};

const MEGABYTE: usize = 1_000_000;

fn call(metric: &dyn Metric, gold: &str, pred: &str) -> Result<f64, String> {
    let (gold, pred) = (example! { "answer" => gold }, prediction! { "answer" => pred });
    let scored = metric.answer(MetricCall::new(&gold, &pred)).ready().unwrap();
    scored.map(|scored| scored.score.value).map_err(|error| error.to_string())
}

/// Words of one letter, of which each text has others.
fn megabyte(letter: char) -> String {
    format!("{letter} ").repeat(MEGABYTE / 2)
}

#[test]
fn a_megabyte_is_scored_where_time_goes_with_the_length() {
    let (gold, pred) = (megabyte('a'), megabyte('b'));
    let metrics: [&dyn Metric; 4] =
        [&Bleu::default(), &Chrf::default(), &Rouge1::default(), &F1::default()];
    for metric in metrics {
        assert_eq!(call(metric, &gold, &pred), Ok(0.0), "{}", metric.name());
    }
    let long_word = "y".repeat(MEGABYTE);
    let stemmed = Rouge1::builder().use_stemmer(true).build();
    assert_eq!(call(&stemmed, &long_word, &format!("{long_word}s")), Ok(1.0));
}

#[test]
fn a_megabyte_is_too_much_for_an_edit_distance() {
    let (gold, pred) = (megabyte('a'), megabyte('b'));
    let cases: [(&dyn Metric, &str); 5] = [
        (
            &Wer::default(),
            "metric `wer`: 500000 words that may differ against 500000 are too many to compare; take rouge_1",
        ),
        (
            &Cer::default(),
            "metric `cer`: 999999 characters that may differ against 999999 are too many to compare; take chrf",
        ),
        (
            &EditSimilarity::default(),
            "metric `edit_similarity`: 999999 characters that may differ against 999999 are too many to compare; take chrf",
        ),
        (
            &RougeL::default(),
            "metric `rouge_l`: 500000 words against 500000 are too many to compare; take rouge_2",
        ),
        (
            &RougeLsum::default(),
            "metric `rouge_lsum`: 500000 words against 500000 are too many to compare line by line; take rouge_l",
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
    assert_eq!(call(&EditSimilarity::default(), &gold, &pred), Ok(999_999.0 / 1_000_000.0));
    assert_eq!(call(&Cer::default(), &gold, ""), Ok(1.0));
}

fn entities(expected: &[String], predicted: &[String]) -> Result<f64, String> {
    let gold = example! { "expected_entities" => expected.to_vec() };
    let scored =
        EntityF1::default().score(&gold, &prediction! { "entities" => predicted.to_vec() });
    scored.map(|score| score.value).map_err(|error| error.to_string())
}

#[test]
fn thousands_of_entities_are_matched() {
    let same = vec!["name".to_owned(); 2000];
    let half: Vec<String> =
        (0..2000).map(|at| if at < 1000 { "name" } else { "other!" }.to_owned()).collect();
    assert_eq!(entities(&same, &same), Ok(1.0));
    assert_eq!(entities(&same, &half), Ok(0.5));
}

#[test]
fn too_many_entities_or_too_long_ones_fail() {
    let many = vec!["a".to_owned(); 4001];
    assert_eq!(
        entities(&many, &many),
        Err("metric `entity_f1`: 4001 entities against 4001 are too many to compare; give fewer of them".to_owned())
    );
    let (a, b) = (["a".repeat(MEGABYTE)], ["b".repeat(MEGABYTE)]);
    assert_eq!(
        entities(&a, &b),
        Err("metric `entity_f1`: 1000000 characters of entities against 1000000 are too many to compare; give fewer or shorter ones".to_owned())
    );
}

/// Lists in lists, with two items each.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("leaf"), |within, level| json!([within, level]))
}

#[test]
fn lists_in_any_order_are_bounded() {
    let unordered = JsonFieldAccuracy::builder().lists(ListOrder::Unordered).build();
    let numbers = |count: usize| json!((0..count).collect::<Vec<_>>()).to_string();
    let reversed = json!((0..500).rev().collect::<Vec<_>>()).to_string();
    assert_eq!(call(&unordered, &numbers(500), &reversed), Ok(1.0));
    assert_eq!(
        call(&unordered, &numbers(5000), &numbers(5000)),
        Err("metric `json_field_accuracy`: 5001 values against 5001, in lists up to 1 deep, are too many to compare in \
             any order; take lists=ordered or some of the fields".to_owned())
    );
    // Each level doubles the work: 60 of them would never end.
    let deep = nested(60).to_string();
    assert_eq!(
        call(&unordered, &deep, &deep),
        Err("metric `json_field_accuracy`: 121 values against 121, in lists up to 60 deep, are too many to compare in \
             any order; take lists=ordered or some of the fields".to_owned())
    );
    assert_eq!(call(&unordered, &nested(8).to_string(), &nested(8).to_string()), Ok(1.0));
    assert_eq!(call(&JsonFieldAccuracy::default(), &deep, &deep), Ok(1.0));
}
