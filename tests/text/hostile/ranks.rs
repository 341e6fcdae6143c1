//! Rankings with invalid grades and with repetitions.

use dsrs_metrics::contract::{Configure, Params};
use dsrs_metrics::metrics::{
    AveragePrecision, HitRate, Ndcg, PrecisionAtK, RecallAtK, ReciprocalRank,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::retrieval::{Cutoffs, Gain, Relevant};
use serde_json::{Value, json};

fn value(metric: &dyn Metric, relevant: &Value, retrieved: &Value) -> f64 {
    let gold = example! { "relevant" => relevant.clone() };
    let pred = prediction! { "retrieved" => retrieved.clone() };
    metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap()
        .score
        .value
}

#[test]
fn grades_that_are_not_finite_fail() {
    for (grade, said) in [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_eq!(
            Relevant::graded([("a", grade)]).unwrap_err().to_string(),
            format!("expected a finite grade for `a`, found {said}")
        );
    }
    let gold = example! { "relevant" => json!({"a": "NaN"}) };
    let error = Ndcg::default()
        .score(&gold, &prediction! { "retrieved" => ["a"] })
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("metric `ndcg`: field `gold.relevant`: expected "),
        "{error}"
    );
}

#[test]
fn a_negative_grade_counts_zero() {
    let (relevant, retrieved) = (json!({"a": 1, "b": -1e300}), json!(["b", "a"]));
    let at_rank_two = 1.0 / 3.0_f64.log2();
    assert!((value(&Ndcg::default(), &relevant, &retrieved) - at_rank_two).abs() < 1e-12);
    assert_eq!(value(&RecallAtK::default(), &relevant, &retrieved), 1.0);
    assert_eq!(
        value(&ReciprocalRank::default(), &relevant, &retrieved),
        0.5
    );
}

#[test]
fn a_huge_grade_does_not_overflow() {
    let (relevant, retrieved) = (json!({"a": 1e308, "b": 1}), json!(["b", "a"]));
    let second = 1.0 / 3.0_f64.log2();
    for gain in [Gain::Linear, Gain::Exponential] {
        let ndcg = Ndcg::builder().gain(gain).build();
        let found = value(&ndcg, &relevant, &retrieved);
        assert!((found - second).abs() < 1e-9, "{found}");
    }
}

#[test]
fn the_same_hit_ten_times_is_one_hit() {
    let (relevant, retrieved) = (json!(["a", "b"]), json!(vec!["a"; 10]));
    let cases: [(&dyn Metric, f64); 6] = [
        (&PrecisionAtK::default(), 0.1),
        (&RecallAtK::default(), 0.5),
        (&HitRate::default(), 1.0),
        (&ReciprocalRank::default(), 1.0),
        (&AveragePrecision::default(), 0.5),
        (&Ndcg::default(), 1.0 / (1.0 + 1.0 / 3.0_f64.log2())),
    ];
    for (metric, expected) in cases {
        let found = value(metric, &relevant, &retrieved);
        assert!(
            (found - expected).abs() < 1e-12,
            "{}: {found}, not {expected}",
            metric.name()
        );
    }
}

#[test]
fn rank_zero_is_rejected_before_any_row() {
    let said = "expected a cutoff rank of 1 or more, found 0";
    assert_eq!(Cutoffs::new([0]).unwrap_err().to_string(), said);
    let mut params = Params::default();
    params.insert("k", "0");
    let error = PrecisionAtK::configure(&params).unwrap_err().to_string();
    assert!(error.contains(said), "{error}");
    let mut params = Params::default();
    params.insert("depth", "0");
    let error = AveragePrecision::configure(&params)
        .unwrap_err()
        .to_string();
    let said = "metric `map`: parameter `depth`: expected a whole number, 1 or more, found `0`";
    assert_eq!(error, said);
}

#[test]
fn a_ranking_of_a_hundred_thousand_is_scored() {
    let retrieved: Vec<_> = (0..100_000).collect();
    let relevant: Vec<_> = (0..100_000).rev().collect();
    let k = Cutoffs::new([100_000, usize::MAX]).unwrap();
    let ndcg = Ndcg::builder().k(k).build();
    assert!((value(&ndcg, &json!(relevant), &json!(retrieved)) - 1.0).abs() < 1e-9);
    let average = value(
        &AveragePrecision::default(),
        &json!(relevant),
        &json!(retrieved),
    );
    assert!((average - 1.0).abs() < 1e-9, "{average}");
}
