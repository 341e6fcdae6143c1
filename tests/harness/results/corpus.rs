//! The comparison of scores of all rows: the figures of sacrebleu, scikit-learn and scipy, and all exchanges of few rows.

use dsrs_metrics::metrics::{Accuracy, Bleu, MacroF1, MatthewsCorrelation, Registry, Wer};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{Comparison, DifferenceTest, MetricComparison, Results, Verdict};
use dsrs_metrics::stats::mcnemar_exact;
use dsrs_metrics::text::BleuTokens;
use dsrs_metrics::{
    Evaluate,
    contract::{CorpusCounts, Params, ScoreKind},
    rows::Pair,
    runs::EvaluationResult,
};
use dsrs_metrics_tests::{Peer, vectors};
use serde::Deserialize;
use serde_json::{Value, json};

use super::run;

const VECTORS: &[u8] = include_bytes!("../../parity/compare_vectors.jsonl.gz");
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/parity/make_compare_vectors.py"
);

async fn evaluated<'a>(
    metric: impl Metric + 'static,
    rows: impl IntoIterator<Item = (&'a Value, &'a Value)>,
) -> EvaluationResult {
    let pair = |(id, (gold, pred)): (usize, (&Value, &Value))| {
        let gold = example! { "answer" => gold.clone() };
        Pair::new(
            id.to_string(),
            gold,
            prediction! { "answer" => pred.clone(), "probability" => pred.clone() },
        )
    };
    let rows: Vec<Pair> = rows.into_iter().enumerate().map(pair).collect();
    Evaluate::builder()
        .metric(metric)
        .build()
        .unwrap()
        .score(rows)
        .await
        .unwrap()
}

/// Compares two systems over rows with these labels.
async fn labels<M: Metric + 'static>(
    metric: impl Fn() -> M,
    rows: &[(&str, &str, &str)],
) -> Comparison {
    let rows: Vec<[Value; 3]> = rows
        .iter()
        .map(|(gold, a, b)| [json!(gold), json!(a), json!(b)])
        .collect();
    let a = evaluated(metric(), rows.iter().map(|[gold, a, _]| (gold, a))).await;
    let b = evaluated(metric(), rows.iter().map(|[gold, _, b]| (gold, b))).await;
    a.compare(&b).unwrap()
}

#[track_caller]
fn only(comparison: &Comparison) -> &MetricComparison {
    let [metric] = &*comparison.metrics else {
        panic!("{comparison}")
    };
    metric
}

#[tokio::test]
async fn accuracy_is_tested_like_the_rows_that_only_one_run_passes() {
    let rows = [
        [("x", "x", "y"); 2].as_slice(),
        &[("x", "y", "x"); 9],
        &[("y", "y", "y"); 29],
    ]
    .concat();
    let comparison = labels(Accuracy::default, &rows).await;
    let metric = only(&comparison);
    let it = &metric.overall;
    assert_eq!(
        (metric.kind, it.test),
        (ScoreKind::Corpus, DifferenceTest::PermutationExact)
    );
    assert_eq!(
        (it.a, it.b, it.n, it.ties),
        (Some(31.0 / 40.0), Some(38.0 / 40.0), 40, 29)
    );
    let p = mcnemar_exact(9, 2);
    assert!((it.p_value.unwrap() - p).abs() < 1e-12, "{it:?}");
    assert_eq!(metric.verdict, Verdict::NoDifference);
    // The standard deviation of 9 differences of 1, 2 of -1 and 29 of 0, over the square root of 40.
    assert!((it.stderr.unwrap() - 0.0781).abs() < 0.005, "{it:?}");
    let text = comparison.to_string();
    let line = "accuracy  40  0.7750  0.9500  +0.1750  [0.0250, 0.3250]  0.065         -         -     29\n";
    assert!(text.contains(line), "{text}");
}

/// The mean F1 of the labels in either list.
fn macro_f1(gold: &[&str], pred: &[&str]) -> f64 {
    let all: std::collections::BTreeSet<&str> = gold.iter().chain(pred).copied().collect();
    let f1 = |label: &str| {
        let count = |side: &[&str]| side.iter().filter(|it| **it == label).count() as f64;
        let both = gold
            .iter()
            .zip(pred)
            .filter(|(gold, pred)| gold == pred && **gold == label);
        2.0 * both.count() as f64 / (count(gold) + count(pred))
    };
    all.iter().map(|label| f1(label)).sum::<f64>() / all.len() as f64
}

#[tokio::test]
async fn few_rows_are_exchanged_in_all_ways() {
    let rows = [
        ("x", "x", "x"),
        ("x", "y", "x"),
        ("x", "z", "x"),
        ("y", "x", "y"),
        ("y", "y", "z"),
        ("y", "z", "y"),
        ("z", "z", "z"),
        ("z", "x", "z"),
        ("z", "y", "z"),
        ("z", "z", "x"),
    ];
    let gold: Vec<&str> = rows.iter().map(|row| row.0).collect();
    let difference = |signs: u32| {
        let side = |is_b: bool| -> Vec<&str> {
            let pick = |(row, (_, a, b)): (usize, &(&str, &'static str, &'static str))| {
                if is_b == (signs >> row & 1 == 0) {
                    *b
                } else {
                    *a
                }
            };
            rows.iter().enumerate().map(pick).collect()
        };
        macro_f1(&gold, &side(true)) - macro_f1(&gold, &side(false))
    };
    let observed = difference(0);
    let extreme = (0..1024)
        .filter(|signs| difference(*signs).abs() > observed - 1e-9)
        .count();
    let comparison = labels(MacroF1::default, &rows).await;
    let it = &only(&comparison).overall;
    assert!((it.difference.unwrap() - observed).abs() < 1e-12, "{it:?}");
    assert!(
        (it.p_value.unwrap() - extreme as f64 / 1024.0).abs() < 1e-12,
        "{it:?}"
    );
}

#[derive(Deserialize)]
struct Vector {
    metric: String,
    gold: Vec<Value>,
    a: Vec<Value>,
    b: Vec<Value>,
    p: f64,
    is_exact: bool,
    difference: f64,
    stderr: f64,
    ci95: [f64; 2],
}

#[tokio::test]
async fn the_figures_are_those_of_the_peers() {
    let registry = Registry::builtin();
    for it in vectors::<Vector>(VECTORS) {
        let name = it.metric.split('.').next().unwrap();
        let mut runs = Vec::new();
        for side in [&it.a, &it.b] {
            let metric = registry.create(name, &Params::default()).unwrap();
            let result = evaluated(metric, it.gold.iter().zip(side)).await;
            runs.push(Results::of(&result).unwrap());
        }
        let comparison = Comparison::builder()
            .draws(4_000)
            .of(&runs[0], &runs[1])
            .unwrap();
        let found = &comparison.metric(&it.metric).unwrap().overall;
        let close = |figure: &str, found: f64, expected: f64, within: f64| {
            let context = format!("{} of {} rows: {figure}", it.metric, it.gold.len());
            assert!(
                (found - expected).abs() <= within,
                "{context}: {found} is not {expected}"
            );
        };
        close("difference", found.difference.unwrap(), it.difference, 1e-9);
        // Both p-values are estimates from random assignments, unless all are evaluated.
        let error = (it.p * (1.0 - it.p) * (1.0 / 2_000.0 + 1.0 / 4_000.0)).sqrt() + 2e-4;
        close(
            "p",
            found.p_value.unwrap(),
            it.p,
            if it.is_exact { 1e-9 } else { 5.0 * error },
        );
        if !it.is_exact {
            close("stderr", found.stderr.unwrap(), it.stderr, 0.12 * it.stderr);
            let ci95 = found.ci95.unwrap();
            close("low", ci95.low, it.ci95[0], 0.3 * it.stderr);
            close("high", ci95.high, it.ci95[1], 0.3 * it.stderr);
        }
    }
}

#[test]
fn the_vectors_are_up_to_date() {
    let Some(peer) = Peer::with(&["sacrebleu", "scikit-learn", "scipy"]) else {
        return;
    };
    peer.output(&[SCRIPT, "--check"])
        .unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test]
async fn rows_of_a_group_are_exchanged_together() {
    let rows: Vec<_> = (0..24)
        .map(|row| ("x", "y", if row < 12 { "x" } else { "y" }))
        .collect();
    let texts: Vec<[Value; 3]> = rows
        .iter()
        .map(|(gold, a, b)| [json!(gold), json!(a), json!(b)])
        .collect();
    let mut runs = Vec::new();
    for side in [1, 2] {
        let pairs = texts.clone().into_iter().enumerate().map(move |(id, row)| {
            let gold = example! { "answer" => row[0].clone(), "topic" => id / 3 };
            Pair::new(
                id.to_string(),
                gold,
                prediction! { "answer" => row[side].clone() },
            )
        });
        let evaluate = Evaluate::builder()
            .metric(Accuracy::default())
            .build()
            .unwrap();
        runs.push(Results::of(&evaluate.score(pairs).await.unwrap()).unwrap());
    }
    let grouped = Comparison::builder()
        .group("gold.topic")
        .of(&runs[0], &runs[1])
        .unwrap();
    let it = only(&grouped);
    // Four of eight groups differ: 2 of 16 ways to exchange them are as extreme.
    assert_eq!(
        (it.overall.clusters, it.overall.p_value),
        (Some(8), Some(0.125))
    );
    assert_eq!(it.groups["0"].difference.difference, Some(1.0));
    let plain = Comparison::of(&runs[0], &runs[1]).unwrap();
    assert_eq!(only(&plain).overall.p_value, Some(2.0 / 4096.0));
}

#[tokio::test]
async fn a_score_that_is_not_defined_is_not_tested() {
    let rows = [[("x", "x", "x"); 6].as_slice(), &[("y", "x", "y"); 6]].concat();
    let comparison = labels(MatthewsCorrelation::default, &rows).await;
    let metric = only(&comparison);
    assert_eq!(metric.verdict, Verdict::NotTested);
    assert_eq!(metric.overall.a, None);
    assert!(
        (metric.overall.b.unwrap() - 1.0).abs() < 1e-12,
        "{metric:?}"
    );
    assert_eq!(
        metric.sentence(),
        "matthews_correlation: the score of A is not defined: all predicted labels are equal (12 rows)"
    );
    let json = serde_json::to_value(metric).unwrap();
    assert_eq!(
        (&json["verdict"], &json["p_value"]),
        (&json!("not_tested"), &Value::Null)
    );
}

/// The share of wrong words, from counts with a formula that only this program has.
#[metric(corpus)]
fn error_rate(#[gold] answer: u64, #[pred("answer")] prediction: u64) -> CorpusCounts {
    let rate = |counts: &[u64]| Some(counts[0] as f64 / counts[1] as f64);
    CorpusCounts::new([prediction, answer], rate)
}

#[tokio::test]
async fn a_metric_of_the_user_is_tested_in_code_and_named_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (mut runs, mut files) = (Vec::new(), Vec::new());
    for (run, wrong) in [("a", 4), ("b", 1)] {
        let path = folder.path().join(format!("{run}.jsonl"));
        let rows = (0..8).map(move |id: usize| {
            Pair::new(
                id.to_string(),
                example! { "answer" => 10 },
                prediction! { "answer" => wrong },
            )
        });
        let evaluate = Evaluate::builder()
            .metric(ErrorRate)
            .files(|files| files.jsonl(&path))
            .build()
            .unwrap();
        runs.push(evaluate.score(rows).await.unwrap());
        files.push(Results::read(path).unwrap().with_name(run));
    }
    let comparison = runs[0].compare(&runs[1]).unwrap();
    let it = &only(&comparison).overall;
    assert_eq!(
        (it.a, it.b, it.p_value),
        (Some(0.4), Some(0.1), Some(2.0 / 256.0))
    );

    let comparison = Comparison::of(&files[0], &files[1]).unwrap();
    let metric = only(&comparison);
    assert_eq!((metric.verdict, metric.overall.n), (Verdict::NotTested, 8));
    assert_eq!(
        metric.sentence(),
        "error_rate: no test, because a lacks its rows' contributions to the score (`corpus`); write it again with `score --out`, which knows the built-in metrics, or compare the evaluations in code (8 rows)"
    );
}

#[tokio::test]
async fn scores_of_different_formulas_are_not_compared() {
    let rows =
        [("x", "x", "y"), ("y", "y", "y")].map(|(gold, a, b)| [json!(gold), json!(a), json!(b)]);
    let a = evaluated(
        MacroF1::default(),
        rows.iter().map(|[gold, a, _]| (gold, a)),
    )
    .await;
    let only_x = MacroF1::builder().labels(vec!["x".to_owned()]).build();
    let b = evaluated(only_x, rows.iter().map(|[gold, _, b]| (gold, b))).await;
    let error = a.compare(&b).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "not compared: macro_f1: parameter `MacroF1.labels` is \"[]\" in A, \"[\\\"x\\\"]\" in B; no metric"
        ),
        "{error}"
    );
    let compare = |allowed: &str, a: &EvaluationResult, b: &EvaluationResult| {
        let (a, b) = (Results::of(a).unwrap(), Results::of(b).unwrap());
        Comparison::builder().allow_different([allowed]).of(&a, &b)
    };
    assert_eq!(
        compare("macro_f1", &a, &b).unwrap_err().to_string(),
        "`macro_f1`: expected the same formula in both runs, found {\"macro_f1\":[]} and {\"macro_f1\":[\"x\"]}; score both runs with the same parameters"
    );
    // How strings are split is part of the formula, too.
    let text = json!("a b");
    let a = evaluated(Bleu::default(), [(&text, &text)]).await;
    let b = evaluated(
        Bleu::builder().tokens(BleuTokens::Char).build(),
        [(&text, &text)],
    )
    .await;
    assert!(
        compare("bleu", &a, &b)
            .unwrap_err()
            .to_string()
            .starts_with("`bleu.corpus`: expected the same formula")
    );
}

#[tokio::test]
async fn rows_that_failed_in_a_run_are_not_compared() {
    let rows = |other: Value| [json!("x"), other];
    let texts = [rows(json!("x y")), rows(json!(["no", "string"]))];
    let a = evaluated(Wer::default(), [(&texts[0][0], &texts[0][1]); 2]).await;
    let b = evaluated(
        Wer::default(),
        [(&texts[0][0], &texts[0][1]), (&texts[1][0], &texts[1][1])],
    )
    .await;
    let [a, b] = [a, b].map(|run| Results::of(&run).unwrap().with_failure_score(5.0));
    let comparison = Comparison::builder()
        .lower_is_better(["wer"])
        .of(&a, &b)
        .unwrap();
    let corpus = comparison.metric("wer.corpus").unwrap();
    assert_eq!(
        (
            corpus.overall.n,
            corpus.not_compared,
            corpus.scored_in_one()
        ),
        (1, 1, 1)
    );
    assert_eq!(comparison.metric("wer").unwrap().overall.n, 2);
}

/// Holm's method, from its definition: each p-value times the number of those that are not smaller, in increasing order.
pub(super) fn holm(p_value: f64, all: &[f64]) -> f64 {
    let times = |p: &f64| p * all.iter().filter(|other| *other >= p).count() as f64;
    all.iter()
        .filter(|p| **p <= p_value)
        .map(times)
        .fold(0.0, f64::max)
        .min(1.0)
}

#[test]
fn p_values_are_adjusted_for_the_metrics_that_are_tested() {
    // `em` differs in all 8 rows, `short` in 6 of them, and `mine` cannot be tested.
    let of = |name: &str, value: &str, is_mine_tested: bool| {
        let score = |id: usize| {
            let short = if id < 6 { value } else { "true" };
            let mine = if is_mine_tested { value } else { "counted" };
            format!("em:{value} short:{short} mine:{mine}")
        };
        let rows: Vec<_> = (0..8).map(|id| (id.to_string(), score(id))).collect();
        let rows: Vec<(&str, &str)> = rows.iter().map(|(id, scores)| (&**id, &**scores)).collect();
        run(name, &rows)
    };
    let compared = |is_mine_tested| {
        let [a, b] = [("a", "true"), ("b", "false")];
        Comparison::of(&of(a.0, a.1, is_mine_tested), &of(b.0, b.1, is_mine_tested)).unwrap()
    };
    let is_close = |found: Option<f64>, expected: Option<f64>| match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-12,
        (found, expected) => found == expected,
    };
    let (em, short) = (2.0 / 256.0, 2.0 / 64.0);
    let two = compared(false);
    for (it, (p_value, adjusted, verdict)) in two.metrics.iter().zip([
        (Some(em), Some(2.0 * em), Verdict::Worse),
        (Some(short), Some(short), Verdict::Worse),
        (None, None, Verdict::NotTested),
    ]) {
        assert!(is_close(it.overall.p_value, p_value), "{it:?}");
        assert!(is_close(it.p_adjusted, adjusted), "{it:?}");
        assert_eq!(it.verdict, verdict, "{}", it.name);
    }
    let text = two.to_string();
    for line in [
        "verdicts use p-values adjusted for 2 metrics (Holm)",
        "em: A is better by 100.00 percentage points [35.12, 100.00] (adjusted p = 0.016, 8 rows)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(
        text.contains(" (p = 0.031, 8 rows)\n"),
        "adjusted once: {text}"
    );
    for (it, adjusted) in compared(true)
        .metrics
        .iter()
        .zip([3.0 * em, short, 3.0 * em])
    {
        assert!(is_close(it.p_adjusted, Some(adjusted)), "{it:?}");
    }
}
