//! Metrics over all rows: one score with its denominators, whatever the order of the rows.

mod parity;
mod states;

use dsrs_metrics::composite::{Composite, component, weighted};
use dsrs_metrics::metrics::{
    Accuracy, Auroc, BrierScore, CohenKappa, Em, ExpectedCalibrationError, MacroF1,
    MatthewsCorrelation, SpearmanCorrelation,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, Outcome,
    contract::{CorpusCounts, WithSettings},
    rows::Pair,
    runs::EvaluationResult,
    scoring::Scorer,
};
use serde_json::{Value, json};

fn row(id: usize, gold: impl Into<Value>, pred: impl Into<Value>) -> Pair {
    let (gold, pred) = (gold.into(), pred.into());
    Pair::new(
        id.to_string(),
        example! { "answer" => gold },
        prediction! { "answer" => pred },
    )
}

async fn run(metric: impl Metric + 'static, rows: Vec<Pair>) -> EvaluationResult {
    Evaluate::builder()
        .metric(metric)
        .build()
        .unwrap()
        .score(rows)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_corpus_metric_has_one_score_of_all_rows_and_none_of_a_row() {
    let rows = vec![
        row(0, "a", "a"),
        row(1, "a", "a"),
        row(2, "a", "b"),
        row(3, "b", "b"),
    ];
    let result = run(MacroF1::default(), rows).await;
    let expected = f64::midpoint(4.0 / 5.0, 2.0 / 3.0);
    assert_eq!(result.score, Some(expected));
    let summary = &result.metrics[0];
    assert_eq!(
        (summary.mean, summary.mean_scored, summary.passed),
        (None, None, None)
    );
    assert_eq!(
        result.to_string(),
        "macro_f1  0.7333 (over 4/4 rows, 0 failed)"
    );
    let json = serde_json::to_value(summary).unwrap();
    assert_eq!(
        (&json["score"], &json["kind"], &json["mean"]),
        (&json!(expected), &json!("corpus"), &Value::Null)
    );
    let Outcome::Counted(counted) = &result.results[0].outcomes[0] else {
        panic!("{result:?}")
    };
    assert_eq!(
        (counted.score(), result.results[0].outcomes[0].value()),
        (Ok(1.0), None)
    );

    let (gold, pred) = (
        example! { "answer" => "a" },
        prediction! { "answer" => "a" },
    );
    let single = MacroF1::default()
        .evaluate(&gold, &pred)
        .await
        .unwrap_err()
        .to_string();
    let message = "metric `macro_f1` scores all rows together, not single rows; run it with `Evaluate` or the `score` command";
    assert_eq!(single, message);
}

#[tokio::test]
async fn a_score_that_is_not_defined_is_neither_0_nor_nan() {
    let result = run(
        MatthewsCorrelation::default(),
        vec![row(0, "a", "a"), row(1, "a", "b")],
    )
    .await;
    let headline =
        "matthews_correlation  not defined: all gold labels are equal (over 2/2 rows, 0 failed)";
    assert_eq!(
        (result.score, result.to_string()),
        (None, headline.to_owned())
    );
    let json = serde_json::to_value(&result.metrics[0]).unwrap();
    assert_eq!(
        (&json["score"], &json["not_defined"]),
        (&Value::Null, &json!("all gold labels are equal"))
    );

    let result = run(CohenKappa::default(), vec![row(0, "a", "a")]).await;
    assert_eq!(
        result.metrics[0].not_defined.as_deref(),
        Some("all labels are equal")
    );
    let result = run(
        MacroF1::builder().labels(["x"]).build(),
        vec![row(0, "a", "a")],
    )
    .await;
    assert_eq!(
        result.metrics[0].not_defined.as_deref(),
        Some("no row has the label \"x\"")
    );
    let result = run(SpearmanCorrelation, vec![row(0, 1.0, 2.0)]).await;
    assert_eq!(
        result.metrics[0].not_defined.as_deref(),
        Some("there are fewer than two rows")
    );
    let failed = Pair::new(
        "a",
        example! { "answer" => 1 },
        prediction! { "probability" => 1.5 },
    );
    let result = run(BrierScore, vec![failed]).await;
    assert_eq!(result.score, None);
    assert_eq!(
        result.to_string(),
        "brier_score  not enough rows (0/1 scored, 1 failed)\n\
         first error: row `a`: metric `brier_score`: expected `pred.probability` between 0 and 1, found 1.5"
    );
}

#[tokio::test]
async fn rows_that_fail_are_not_in_the_score_and_in_the_headline() {
    let out_of_range = prediction! { "probability" => 1.5 };
    let rows = vec![
        Pair::new(
            "a",
            example! { "answer" => true },
            prediction! { "probability" => 0.5 },
        ),
        Pair::new("b", example! { "answer" => true }, out_of_range),
        Pair::new(
            "c",
            example! { "answer" => 2 },
            prediction! { "probability" => 0.5 },
        ),
        Pair::new("d", example! { "answer" => true }, prediction! {}),
    ];
    let result = run(BrierScore, rows).await;
    assert_eq!(
        result.to_string(),
        "brier_score  0.2500 (over 1/4 rows, 3 failed)"
    );
    let errors: Vec<String> = result
        .results
        .iter()
        .filter_map(|row| row.outcomes[0].error())
        .collect();
    assert_eq!(
        errors,
        [
            "metric `brier_score`: expected `pred.probability` between 0 and 1, found 1.5",
            "metric `brier_score`: field `gold.answer`: expected true, false, 1 or 0, found the number 2",
            "metric `brier_score`: no field `pred.probability`; found no fields",
        ]
    );
}

#[tokio::test]
async fn a_missing_label_is_wrong_and_a_wrong_name_is_no_score() {
    let none = Pair::new(
        "none",
        example! { "answer" => "a" },
        prediction! { "other" => 1 },
    );
    let result = run(Accuracy::default(), vec![row(0, "a", "a"), none.clone()]).await;
    assert_eq!(
        result.to_string(),
        "accuracy  0.5000 (over 2/2 rows, 0 failed, 1 without `answer`)"
    );
    let result = run(Accuracy::default(), vec![none]).await;
    let headline = "accuracy  not scored: no prediction has a field `answer`; the first prediction has `other` (0/1 rows)";
    assert_eq!(
        (result.score, result.to_string()),
        (None, headline.to_owned())
    );
}

#[tokio::test]
async fn labels_are_strings_numbers_and_bools() {
    let rows = vec![
        row(0, 1, "1"),
        row(1, 1.0, " 1 "),
        row(2, true, "true"),
        row(3, "Yes", "yes"),
    ];
    assert_eq!(
        run(Accuracy::default(), rows.clone()).await.score,
        Some(0.75)
    );
    let folded = Accuracy::builder().case_sensitive(false).build();
    assert_eq!(run(folded, rows).await.score, Some(1.0));
}

#[derive(Record)]
struct Question {
    answer: bool,
}

#[derive(Record)]
struct Reply {
    answer: String,
    probability: f64,
}

#[tokio::test]
async fn typed_rows_have_labels_and_probabilities_too() {
    let row = |(answer, reply, probability): (bool, &str, f64)| {
        Pair::new(
            reply,
            Question { answer },
            Reply {
                answer: reply.to_owned(),
                probability,
            },
        )
    };
    let rows = [
        (true, "true", 0.9),
        (false, "FALSE", 0.2),
        (true, "no", 0.3),
    ]
    .map(row);
    let accuracy = Accuracy::builder().case_sensitive(false).build();
    let evaluate = Evaluate::typed()
        .metric(accuracy)
        .metric(Auroc)
        .build()
        .unwrap();
    let result = evaluate.score(rows).await.unwrap();
    let scores: Vec<Option<f64>> = result.metrics.iter().map(|metric| metric.score).collect();
    assert_eq!(scores, [Some(2.0 / 3.0), Some(1.0)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_corpus_metric_runs_beside_others_at_any_concurrency() {
    let rows: Vec<Pair> = (0..200)
        .map(|id| row(id, id % 3, if id % 7 == 0 { 0 } else { id % 3 }))
        .collect();
    let mut scores = Vec::new();
    for concurrency in [1, 16] {
        let evaluate = Evaluate::builder()
            .metric(Accuracy::default())
            .metric(MatthewsCorrelation::default())
            .metric(metric_fn("same", |gold, pred| {
                gold.get("answer") == pred.get("answer")
            }));
        let result = evaluate
            .concurrency(concurrency)
            .score(rows.clone())
            .await
            .unwrap();
        let same = result.metric("same").unwrap();
        assert_eq!(same.mean, result.metric("accuracy").unwrap().score);
        scores.push(
            result
                .metric("matthews_correlation")
                .unwrap()
                .score
                .unwrap()
                .to_bits(),
        );
    }
    assert_eq!(scores[0], scores[1]);
}

/// Word error rate from counts, without a state of one's own.
#[metric(corpus, lower_is_better)]
fn error_rate(#[pred] wrong: u64, #[pred] words: u64) -> Option<CorpusCounts> {
    let rate = |counts: &[u64]| (counts[1] > 0).then(|| counts[0] as f64 / counts[1] as f64);
    (words < 1000).then(|| CorpusCounts::new([wrong, words], rate))
}

#[tokio::test]
async fn counts_are_states_and_a_row_may_abstain() {
    let of = |wrong: u64, words: u64| {
        Pair::new(
            format!("{wrong}/{words}"),
            example! {},
            prediction! { "wrong" => wrong, "words" => words },
        )
    };
    let result = run(ErrorRate, vec![of(1, 1), of(0, 3), of(0, 5000)]).await;
    assert_eq!(
        result.to_string(),
        "error_rate  0.2500 (over 2/3 rows, 0 failed, 1 abstained)"
    );
    let result = run(ErrorRate, vec![of(0, 0)]).await;
    let reason =
        "error_rate  not defined: the counts do not determine a score (over 1/1 rows, 0 failed)";
    assert_eq!(result.to_string(), reason);
}

#[test]
fn a_corpus_metric_is_no_component_no_gate_and_has_no_threshold() {
    let parts = [
        (component(Em::default()), 0.5),
        (component(Accuracy::default()), 0.5),
    ];
    let composite = Composite::builder("both", weighted(parts));
    let message = "composite `both`: `accuracy` scores all rows together, not single rows; remove it from the composite and run it separately";
    assert_eq!(composite.build().unwrap_err().to_string(), message);
    let scorer = Scorer::builder().proxy(Auroc).build();
    let message = "`auroc` scores all rows together, not single rows; run it with `Evaluate`";
    assert_eq!(scorer.unwrap_err().to_string(), message);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let evaluate = Evaluate::builder().metric(Accuracy::default().with_threshold(0.5));
    let error = runtime
        .block_on(evaluate.score([row(0, "a", "a")]))
        .unwrap_err()
        .to_string();
    let message = "metric `accuracy`: a metric that scores all rows together takes no threshold; remove the threshold, or compare the run's score";
    assert_eq!(error, message);
    let bins = Evaluate::builder().metric(ExpectedCalibrationError::builder().bins(0).build());
    let error = runtime
        .block_on(bins.score([row(0, "a", "a")]))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "metric `expected_calibration_error`: expected `bins` between 1 and 1000, found 0"
    );
}
