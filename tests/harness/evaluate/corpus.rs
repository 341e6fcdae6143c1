//! Corpus-level scores beside the mean: independent of the order, over the scored rows.

use dsrs_metrics::metrics::{Bleu, EntityF1, Wer};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::BleuOptions;
use dsrs_metrics::{
    Evaluate,
    contract::{CorpusCounts, WithCorpus},
    rows::Pair,
    runs::EvaluationResult,
};
use serde_json::Value;

fn row(id: usize, gold: &str, pred: &str) -> Pair {
    Pair::new(
        format!("{id}"),
        example! { "answer" => gold },
        prediction! { "answer" => pred },
    )
}

async fn scored(
    metric: impl Metric + 'static,
    rows: Vec<Pair>,
    concurrency: usize,
) -> EvaluationResult {
    let evaluate = Evaluate::builder()
        .metric(metric)
        .concurrency(concurrency)
        .build()
        .unwrap();
    evaluate.score(rows).await.unwrap()
}

fn some_rows(count: usize) -> Vec<Pair> {
    let words = |seed: usize| {
        let word = |at: usize| ["the", "cat", "sat", "on", "a", "mat"][(seed * at + at * at) % 6];
        (1..5 + seed % 7).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count)
        .map(|id| row(id, &words(id), &words(id / 2 + 1)))
        .collect()
}

#[tokio::test]
async fn the_corpus_is_not_the_mean() {
    let rows = vec![
        row(0, "a b c d e f g h", "a b c d e f g h"),
        row(1, "a b", "x"),
    ];
    let result = scored(Wer::default(), rows, 1).await;
    assert_eq!(
        result.to_string(),
        "wer  0.5000 [-5.8531, 6.8531; few rows] (mean of 2/2, 0 failed); corpus 0.2000"
    );
    let json: Value = dsrs_metrics_tests::schema::to_value(&result);
    assert_eq!(json["metrics"]["wer"]["corpus"], 0.2);
}

#[tokio::test]
async fn a_metric_without_counts_has_no_corpus_score() {
    let result = scored(
        dsrs_metrics::metrics::Em::default(),
        vec![row(0, "a", "a")],
        1,
    )
    .await;
    assert_eq!(result.metrics[0].corpus, None);
    let json: Value = dsrs_metrics_tests::schema::to_value(&result);
    assert_eq!(json["metrics"]["em"].get("corpus"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_order_of_rows_does_not_matter() {
    let mut rows = some_rows(500);
    let forwards = scored(Bleu::default(), rows.clone(), 1).await.metrics[0]
        .corpus
        .unwrap();
    rows.reverse();
    let backwards = scored(Bleu::default(), rows.clone(), 16).await.metrics[0]
        .corpus
        .unwrap();
    rows.rotate_left(123);
    let rotated = scored(Bleu::default(), rows, 3).await.metrics[0]
        .corpus
        .unwrap();
    assert!(forwards > 0.1 && forwards < 0.9, "{forwards}");
    assert_eq!(
        [forwards.to_bits(); 2],
        [backwards.to_bits(), rotated.to_bits()]
    );
}

#[tokio::test]
async fn failed_rows_are_excluded_and_reported() {
    let number = Pair::new(
        "2",
        example! { "answer" => "a" },
        prediction! { "answer" => 1 },
    );
    let result = scored(
        Wer::default(),
        vec![row(0, "a b", "a b"), row(1, "a b", "a x"), number],
        1,
    )
    .await;
    let line = result.metrics[0].to_string();
    assert!(
        line.ends_with("; corpus 0.2500 over the 2 scored"),
        "{line}"
    );
}

#[tokio::test]
async fn a_missing_answer_counts_as_an_empty_one() {
    let missing = Pair::new("2", example! { "answer" => "a" }, prediction! {});
    let result = scored(Wer::default(), vec![row(0, "a b", "a b"), missing], 1).await;
    assert_eq!(
        result.metrics[0].to_string(),
        "0.5000 [-5.8531, 6.8531; few rows] (mean of 2/2, 0 failed, 1 without `answer`); corpus 0.3333"
    );
}

#[tokio::test]
async fn micro_f1_of_entities() {
    let row = |id: &str, gold: &[&str], pred: &[&str]| {
        Pair::new(
            id,
            example! { "expected_entities" => gold },
            prediction! { "entities" => pred },
        )
    };
    let rows = vec![
        row("a", &["Louvre"], &["Louvre"]),
        row("b", &["Prado", "Uffizi", "Tate"], &["MoMA"]),
    ];
    let result = scored(EntityF1::default(), rows, 1).await;
    assert_eq!(
        result.metrics[0].to_string(),
        "0.5000 [0.0015, 0.9985; few rows] (mean of 2/2, 0 failed); corpus 0.3333"
    );
}

#[test]
fn parts_of_a_corpus_merge_in_any_order_and_grouping() {
    let bleu = BleuOptions::default();
    let part =
        |pred: &str, gold: &str| CorpusCounts::new(bleu.counts(pred, &[gold]).unwrap(), bleu);
    let rows = || {
        [
            part("the cat sat", "the cat sat"),
            part("a dog", "the dog"),
            part("on the mat now", "on a mat"),
        ]
    };
    let merge = |parts: &[CorpusCounts]| {
        let mut sums = parts[0].clone();
        parts[1..].iter().for_each(|part| sums.merge(part));
        sums
    };
    let [a, b, c] = rows();
    let left = merge(&[merge(&[a.clone(), b.clone()]), c.clone()]);
    let right = merge(&[c, merge(&[b, a])]);
    assert_eq!(left, right);
    assert_eq!(left.counts()[..2], [9, 8]);
    assert_eq!(left.score(), right.score());
}

#[test]
fn a_formula_that_returns_nan_gives_none() {
    let counts = CorpusCounts::new([0, 0], |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64));
    assert_eq!(counts.score(), None);
}

/// Whether the text is short, counted in characters over the corpus.
#[metric]
fn is_short(#[pred] answer: &str) -> WithCorpus<bool> {
    let length = answer.chars().count() as u64;
    let mean = |sums: &[u64]| (sums[1] > 0).then(|| sums[0] as f64 / sums[1] as f64);
    WithCorpus::new(length < 5, CorpusCounts::new([length, 1], mean))
}

#[tokio::test]
async fn a_bool_keeps_its_verdict() {
    let result = scored(IsShort, vec![row(0, "", "abc"), row(1, "", "abcdefg")], 1).await;
    assert_eq!(
        result.to_string(),
        "is_short  50.00% [9.45, 90.55] (1/2, 0 failed); corpus 5.0000"
    );
    assert_eq!(result.metrics[0].passed, Some(1));
}
