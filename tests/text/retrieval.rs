//! Metrics of rankings over rows: values computed by hand, field types, and rows without relevant documents.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values are written where they are scored, and used once"
)]

use dsrs_metrics::metrics::{
    AveragePrecision, HitRate, Ndcg, PrecisionAtK, RecallAtK, ReciprocalRank,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::retrieval::{Cutoffs, Gain, Ranking, Relevant, Retrieved};
use dsrs_metrics::{
    Evaluate,
    contract::{Configure, Params},
    rows::Pair,
};
use serde_json::{Value, json};

/// The named scores of a row, from JSON.
fn parts(metric: &dyn Metric, relevant: Value, retrieved: Value) -> Vec<(String, f64)> {
    let gold = example! { "relevant" => relevant };
    let pred = prediction! { "retrieved" => retrieved };
    let scored = metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap();
    scored
        .parts()
        .iter()
        .map(|part| (part.name.clone(), part.value))
        .collect()
}

fn value(metric: &dyn Metric, relevant: Value, retrieved: Value) -> f64 {
    let gold = example! { "relevant" => relevant };
    let pred = prediction! { "retrieved" => retrieved };
    metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap()
        .score
        .value
}

fn named<const N: usize>(parts: [(&str, f64); N]) -> Vec<(String, f64)> {
    parts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn at<const N: usize>(ranks: [usize; N]) -> Cutoffs {
    Cutoffs::new(ranks).unwrap()
}

#[test]
fn a_score_of_zero_has_no_sign_in_any_output() {
    let unsigned = |value: f64| (value, value.is_sign_negative());
    let ranking = || (json!(["a"]), json!(["x", "y"]));
    let (relevant, retrieved) = ranking();
    let rank = Ranking::new(&Retrieved::ranked(["x", "y"]), &Relevant::listed(["a"])).unwrap();
    assert_eq!(unsigned(rank.average_precision(None)), (0.0, false));
    assert_eq!(unsigned(rank.ndcg_at(10, Gain::Linear)), (0.0, false));
    assert_eq!(
        unsigned(value(&AveragePrecision::default(), relevant, retrieved)),
        (0.0, false)
    );
    let (relevant, retrieved) = ranking();
    let ndcg = parts(&Ndcg::default(), relevant, retrieved);
    assert!(
        ndcg.iter()
            .all(|(_, value)| unsigned(*value) == (0.0, false)),
        "{ndcg:?}"
    );

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let row = |id| Pair::new(id, example! {}, prediction! {});
    let own = metric_fn("own", |_, _| -0.0);
    let evaluate = Evaluate::builder().metric(own).build().unwrap();
    let result = runtime
        .block_on(evaluate.score([row("1"), row("2")]))
        .unwrap();
    let summary = result.metric("own").unwrap();
    assert_eq!(
        summary.to_string(),
        "0.0000 [all scores are equal] (mean of 2/2, 0 failed)"
    );
    let json = serde_json::to_string(&summary).unwrap();
    assert!(
        json.contains("\"mean\":0.0,") && !json.contains("-0"),
        "{json}"
    );
}

#[test]
fn several_ranks_in_one_call_and_the_first_is_the_headline() {
    let (relevant, retrieved) = (json!(["a", "b", "c"]), json!(["x", "a", "y", "b"]));
    let precision = PrecisionAtK::builder().k(at([4, 1, 2, 10])).build();
    assert_eq!(
        parts(&precision, relevant.clone(), retrieved.clone()),
        named([("at_4", 0.5), ("at_1", 0.0), ("at_2", 0.5), ("at_10", 0.2)])
    );
    let recall = RecallAtK::builder().k(at([4, 1, 2])).build();
    assert_eq!(
        parts(&recall, relevant.clone(), retrieved.clone()),
        named([("at_4", 2.0 / 3.0), ("at_1", 0.0), ("at_2", 1.0 / 3.0)])
    );
    assert_eq!(
        parts(&HitRate::default(), relevant.clone(), retrieved.clone()),
        named([("at_10", 1.0), ("at_1", 0.0), ("at_3", 1.0), ("at_5", 1.0)])
    );
    assert_eq!(value(&precision, relevant, retrieved), 0.5);
}

#[test]
fn reciprocal_rank_and_average_precision_by_hand() {
    let (relevant, retrieved) = (json!(["a", "b", "c"]), json!(["x", "a", "y", "b"]));
    assert_eq!(
        value(
            &ReciprocalRank::default(),
            relevant.clone(),
            retrieved.clone()
        ),
        0.5
    );
    let average = AveragePrecision::default();
    assert_eq!(
        value(&average, relevant.clone(), retrieved.clone()),
        (1.0 / 2.0 + 2.0 / 4.0) / 3.0
    );
    let shallow = AveragePrecision::builder()
        .depth(3.try_into().unwrap())
        .build();
    assert_eq!(
        value(&shallow, relevant.clone(), retrieved.clone()),
        0.5 / 3.0
    );
    let first = ReciprocalRank::builder()
        .depth(1.try_into().unwrap())
        .build();
    assert_eq!(value(&first, relevant, retrieved), 0.0);
    assert_eq!(
        (ReciprocalRank::SPEC.name, AveragePrecision::SPEC.name),
        ("mrr", "map")
    );
}

#[test]
fn graded_relevance_by_hand() {
    let (relevant, retrieved) = (
        json!({"a": 3, "b": 2, "c": 0, "d": -1}),
        json!(["b", "d", "a"]),
    );
    let ndcg = Ndcg::builder().k(at([3, 1])).build();
    let ideal = 3.0 + 2.0 / 3.0_f64.log2();
    let expected = [("at_3", (2.0 + 3.0 / 2.0) / ideal), ("at_1", 2.0 / 3.0)];
    for ((name, found), (expected_name, expected)) in
        parts(&ndcg, relevant.clone(), retrieved.clone())
            .iter()
            .zip(expected)
    {
        assert_eq!(name, expected_name);
        assert!(
            (found - expected).abs() < 1e-12,
            "{name}: {found}, not {expected}"
        );
    }
    let exponential = Ndcg::builder().k(at([1])).gain(Gain::Exponential).build();
    assert_eq!(value(&exponential, relevant, retrieved), 3.0 / 7.0);
}

#[test]
fn huge_and_tiny_grades_do_not_overflow() {
    let retrieved = json!(["b", "a"]);
    for grades in [
        json!({"a": 1e308, "b": 1e308, "c": 1e308}),
        json!({"a": 1e-308, "b": 5e-324}),
    ] {
        for gain in [Gain::Linear, Gain::Exponential] {
            let ndcg = Ndcg::builder().gain(gain).build();
            let score = value(&ndcg, grades.clone(), retrieved.clone());
            assert!((0.0..=1.0).contains(&score), "{score}");
        }
    }
}

#[test]
fn a_repeated_id_counts_once() {
    let precision = PrecisionAtK::builder().k(at([5])).build();
    assert_eq!(
        value(
            &precision,
            json!(["a", "a"]),
            json!(["a", "a", "a", "a", "a"])
        ),
        0.2
    );
    let recall = RecallAtK::builder().k(at([5])).build();
    assert_eq!(
        value(&recall, json!(["a", "a", "b"]), json!(["a", "a"])),
        0.5
    );
    assert_eq!(
        value(&Ndcg::default(), json!(["a"]), json!(["a", "a"])),
        1.0
    );
}

#[test]
fn scores_are_sorted_and_ties_go_to_the_larger_id() {
    let first = |retrieved| value(&ReciprocalRank::default(), json!(["b"]), retrieved);
    assert_eq!(first(json!({"a": 0.1, "b": 0.9, "c": 0.5})), 1.0);
    assert_eq!(first(json!({"a": 1, "b": 1, "c": 1})), 0.5);
    assert_eq!(first(json!({"a": -1, "b": -2})), 0.5);
}

#[test]
fn ids_are_strings_or_whole_numbers() {
    assert_eq!(
        value(&ReciprocalRank::default(), json!([7]), json!(["7"])),
        1.0
    );
    assert_eq!(
        value(&ReciprocalRank::default(), json!({"-7": 1}), json!([-7])),
        1.0
    );
    let (gold, pred) = (
        example! { "relevant" => [1.5] },
        prediction! { "retrieved" => ["a"] },
    );
    let error = ReciprocalRank::default()
        .score(&gold, &pred)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("an id: a string or a whole number"),
        "{error}"
    );
    assert!(
        error.starts_with("metric `mrr`: field `gold.relevant`: expected "),
        "{error}"
    );
}

#[test]
fn grades_are_finite() {
    let error = Relevant::graded([("a", f64::NAN)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a finite grade for `a`, found NaN"
    );
}

#[tokio::test]
async fn rows_without_relevant_documents_are_abstained_from() {
    let row = |id: &str, relevant: Value| {
        Pair::new(
            id,
            example! { "relevant" => relevant },
            prediction! { "retrieved" => ["a"] },
        )
    };
    let rows = || {
        [
            row("1", json!(["a"])),
            row("2", json!([])),
            row("3", json!({"a": 0})),
            row("4", json!(["b"])),
        ]
    };
    let evaluate = Evaluate::builder()
        .metric(RecallAtK::default())
        .metric(AveragePrecision::default())
        .metric(Ndcg::builder().k(at([10])).build())
        .build()
        .unwrap();
    let result = evaluate.score(rows()).await.unwrap();
    let line = |name: &str| result.metric(name).unwrap().to_string();
    assert_eq!(
        line("recall_at_k"),
        "0.5000 [0.0015, 0.9985; few rows] (mean of 2/4, 0 failed, 2 abstained)"
    );
    assert_eq!(
        line("map"),
        "0.5000 [0.0015, 0.9985; few rows] (mean of 2/4, 0 failed, 2 abstained)"
    );
    assert_eq!(
        line("ndcg.at_10"),
        "0.5000 [0.0015, 0.9985; few rows] (mean of 2/4, 0 failed, 2 abstained)"
    );
}

#[test]
fn an_empty_ranking_scores_zero() {
    for metric in [
        &PrecisionAtK::default() as &dyn Metric,
        &RecallAtK::default(),
        &Ndcg::default(),
        &HitRate::default(),
    ] {
        assert_eq!(
            value(metric, json!(["a"]), json!([])),
            0.0,
            "{}",
            metric.name()
        );
    }
}

#[test]
fn ranks_are_configured_from_text() {
    let configure = |k: &str| {
        let mut params = Params::default();
        params.insert("k", k);
        Ndcg::configure(&params)
    };
    let metric = configure("[2,1]").unwrap();
    assert_eq!(
        parts(&metric, json!(["a"]), json!(["a"])),
        named([("at_2", 1.0), ("at_1", 1.0)])
    );
    assert_eq!(
        parts(&configure("3").unwrap(), json!(["a"]), json!([])),
        named([("at_3", 0.0)])
    );
    let said = |k| configure(k).unwrap_err().to_string();
    assert!(
        said("[0]").contains("expected a cutoff rank of 1 or more, found 0"),
        "{}",
        said("[0]")
    );
    assert!(
        said("[]").contains("expected at least one cutoff rank"),
        "{}",
        said("[]")
    );
    assert!(
        said("[5,5]").contains("duplicate cutoff rank 5; remove one"),
        "{}",
        said("[5,5]")
    );
    assert!(
        said("ten").contains("a rank or a list of ranks, each 1 or more"),
        "{}",
        said("ten")
    );
}
