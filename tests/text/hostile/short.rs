//! Empty sides, repeated words, two normal forms of one letter.

use dsrs_metrics::metrics::{
    Bleu, Cer, Chrf, EditSimilarity, EntityF1, F1, HotpotF1, JsonFieldAccuracy, Precision, Recall,
    Rouge1, Rouge2, RougeL, RougeLsum, Wer,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::{Profile, RougeTokens};
use serde_json::json;

fn value(metric: &dyn Metric, gold: &str, pred: &str) -> f64 {
    let (gold, pred) = (
        example! { "answer" => gold },
        prediction! { "answer" => pred },
    );
    metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap()
        .score
        .value
}

#[test]
fn empty_sides_have_the_values_of_the_formula() {
    // Reference empty, prediction empty, both.
    let cases: [(&dyn Metric, [f64; 3]); 10] = [
        (&Bleu::default(), [0.0, 0.0, 0.0]),
        (&Chrf::default(), [0.0, 0.0, 0.0]),
        (&Rouge1::default(), [0.0, 0.0, 0.0]),
        (
            &Rouge2::builder().use_stemmer(true).build(),
            [0.0, 0.0, 0.0],
        ),
        (&RougeL::default(), [0.0, 0.0, 0.0]),
        (&RougeLsum::default(), [0.0, 0.0, 0.0]),
        (&Wer::default(), [2.0, 1.0, 0.0]),
        (&Cer::default(), [9.0, 1.0, 0.0]),
        (&EditSimilarity::default(), [0.0, 0.0, 1.0]),
        (&F1::default(), [0.0, 0.0, 0.0]),
    ];
    for (metric, expected) in cases {
        let found =
            [("", "two words"), ("two words", ""), ("", "")].map(|(a, b)| value(metric, a, b));
        assert_eq!(found, expected, "{}", metric.name());
    }
}

#[test]
fn json_with_an_empty_side_scores_zero_or_one() {
    let metric = JsonFieldAccuracy::default();
    let cases = [
        ("{}", "{}", 1.0),
        (r#"{"a":1}"#, "{}", 0.0),
        ("{}", r#"{"a":1}"#, 0.0),
    ];
    for (gold, pred, expected) in cases {
        assert_eq!(value(&metric, gold, pred), expected, "{gold} {pred}");
    }
    assert_eq!(
        value(&metric, "[]", ""),
        0.0,
        "an empty string is not valid JSON"
    );
    let gold = example! { "answer" => "" };
    assert_eq!(
        metric
            .score(&gold, &prediction! { "answer" => "{}" })
            .unwrap_err()
            .to_string(),
        "metric `json_field_accuracy`: `gold.answer` is not valid JSON: EOF while parsing a value at line 1 column 0"
    );
}

#[test]
fn a_repeated_word_is_not_rewarded() {
    let five = "Paris Paris Paris Paris Paris";
    let third = 2.0 * 0.2 / 1.2;
    let cases: [(&dyn Metric, f64); 12] = [
        (&F1::default(), third),
        (&HotpotF1::default(), third),
        (&Precision::default(), 0.2),
        (&Recall::default(), 1.0),
        (&Rouge1::default(), third),
        (&Rouge1::builder().use_stemmer(true).build(), third),
        (&Rouge2::default(), 0.0),
        (&RougeL::default(), third),
        (&RougeLsum::default(), third),
        (&Bleu::builder().max_order(1).build(), 0.2),
        (&EditSimilarity::default(), 5.0 / 29.0),
        (&Wer::default(), 4.0),
    ];
    for (metric, expected) in cases {
        let found = value(metric, "Paris", five);
        assert!(
            (found - expected).abs() < 1e-12,
            "{}: {found}, not {expected}",
            metric.name()
        );
    }
    assert!(value(&Chrf::default(), "Paris", five) < 0.6);
    let gold = example! { "expected_entities" => "Paris" };
    let pred = prediction! { "entities" => "Paris, Paris, Paris, Paris, Paris" };
    let lists = EntityF1::builder().distinct(false).build();
    assert_eq!(lists.score(&gold, &pred).unwrap().value, 2.0 / 6.0);
    let (gold, pred) = (
        json!(["Paris"]),
        json!(["Paris", "Paris", "Paris", "Paris", "Paris"]),
    );
    assert_eq!(
        value(
            &JsonFieldAccuracy::default(),
            &gold.to_string(),
            &pred.to_string()
        ),
        0.2,
        "four are too many"
    );
}

#[test]
fn normal_forms_do_not_change_the_score() {
    let (composed, decomposed) = ("Ré Né Gé Lé", "Re\u{301} Ne\u{301} Ge\u{301} Le\u{301}");
    let best: [&dyn Metric; 5] = [
        &Bleu::default(),
        &Chrf::default(),
        &EditSimilarity::default(),
        &RougeL::builder()
            .tokens(RougeTokens::Unicode)
            .use_stemmer(true)
            .build(),
        &F1::builder().profile(Profile::Folded).build(),
    ];
    for metric in best {
        assert_eq!(
            value(metric, composed, decomposed),
            1.0,
            "{}",
            metric.name()
        );
    }
    assert_eq!(
        [
            value(&Wer::default(), composed, decomposed),
            value(&Cer::default(), composed, decomposed)
        ],
        [0.0; 2]
    );
    // rouge-score's words consist of ASCII letters: "R" and "Re".
    assert_eq!(value(&Rouge1::default(), composed, decomposed), 0.0);
    let gold = json!({ composed: decomposed }).to_string();
    let pred = json!({ composed: composed }).to_string();
    assert_eq!(value(&JsonFieldAccuracy::default(), &gold, &pred), 1.0);
}
