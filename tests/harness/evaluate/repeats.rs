//! Rows that are evaluated several times: the reduction of a row, the variances, pass@k, files.

use dsrs_metrics::prelude::*;
use dsrs_metrics::stats::Moments;
use dsrs_metrics::{Evaluate, contract::RepeatNumber, runs::EvaluationResult};

use super::{report, said, saying, scoring};

/// Returns the prediction that the gold row contains for the current repeat.
async fn program(row: Example) -> Result<Prediction, String> {
    let words = row
        .get("words")
        .and_then(|words| words.as_str())
        .unwrap_or_default()
        .to_owned();
    tokio::task::yield_now().await;
    let number = RepeatNumber::current().0 as usize;
    match words.split(' ').nth(number).unwrap_or_default() {
        "crash" => Err("told to crash".to_owned()),
        word => Ok(prediction! { "say" => word }),
    }
}

fn devset(rows: &[&str]) -> Vec<Example> {
    rows.iter()
        .map(|words| example! { "words" => *words })
        .collect()
}

async fn repeated(rows: &[&str], repeats: u32, concurrency: usize) -> EvaluationResult {
    let metric = metric_fn("said", said).with_threshold(0.5);
    let builder = Evaluate::builder()
        .devset(devset(rows))
        .inputs(["words"])
        .metric(metric);
    let builder = builder.repeats(repeats).concurrency(concurrency);
    builder.build().unwrap().run(program).await.unwrap()
}

#[tokio::test]
async fn a_row_is_reduced_before_the_mean_over_rows() {
    let result = repeated(&["1 0 0.5", "0.25 abstain 0.75", "1 1 1"], 3, 4).await;
    let rows: Vec<_> = result
        .results
        .iter()
        .map(|row| row.outcomes[0].value())
        .collect();
    assert_eq!(rows, [Some(0.5), Some(0.5), Some(1.0)]);
    let expected: Moments = [0.5, 0.5, 1.0].into_iter().collect();
    assert_eq!(result.metrics[0].uncertainty, expected.uncertainty());
    assert_eq!(result.metrics[0].mean, expected.mean());
    let first = result.results[0].outcomes[0].scored().unwrap();
    assert_eq!((&first.score.details, first.passed), (&None, None));
}

#[tokio::test]
async fn pass_at_k_is_unbiased() {
    // 3 of 4, 1 of 4 and 0 of 4 repeats pass.
    let result = repeated(&["1 1 0 0.5", "0 0 0 1", "0 0 0 0"], 4, 1).await;
    let repeats = result.metrics[0].repeats.clone().unwrap();
    let mean = |row: [f64; 3]| row.iter().sum::<f64>() / 3.0;
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-15, "{found}");
    for (k, at, hat) in [
        (1, [0.75, 0.25, 0.0], [0.75, 0.25, 0.0]),
        (2, [1.0, 0.5, 0.0], [0.5, 0.0, 0.0]),
        (4, [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
    ] {
        close(repeats.pass_at[&k], mean(at));
        close(repeats.pass_hat[&k], mean(hat));
    }
    assert!(
        result.to_string().ends_with("pass@4 66.67%, pass^4 0.00%)"),
        "{result}"
    );
}

#[tokio::test]
async fn variances_are_those_of_a_one_way_analysis() {
    // Row means 0.5, 0.75 and 0.25; variances within 0.5, 0.125 and 0.125.
    let result = repeated(&["1 0", "0.5 1", "0 0.5"], 2, 1).await;
    let repeats = result.metrics[0].repeats.clone().unwrap();
    assert_eq!(repeats.variance_within, Some(0.25));
    // 0.0625 between means, less 0.25 / 2: not below 0.
    assert_eq!(repeats.variance_between, Some(0.0));
    assert_eq!(repeats.consistency, Some(0.0));
    let result = repeated(&["1 1", "0.5 0.5", "0 0.5"], 2, 1).await;
    let repeats = result.metrics[0].repeats.clone().unwrap();
    let means: Moments = [1.0, 0.5, 0.25].into_iter().collect();
    let between = means.variance().unwrap() - 0.125 / 3.0 / 2.0;
    assert!(
        (repeats.variance_between.unwrap() - between).abs() < 1e-15,
        "{repeats:?}"
    );
    assert_eq!(repeats.consistency, Some(2.0 / 3.0));
}

#[tokio::test]
async fn a_failed_repeat_lowers_the_mean_and_is_counted() {
    let result = repeated(&["1 crash 1 fail", "1 1 1 1"], 4, 2).await;
    assert_eq!(result.metrics[0].mean, Some(0.75));
    let repeats = result.metrics[0].repeats.clone().unwrap();
    assert_eq!(
        (repeats.rows, repeats.evaluations, repeats.failed),
        (2, 8, 2)
    );
    assert_eq!((repeats.pass_at[&1], repeats.pass_hat[&4]), (0.75, 0.5));
    assert_eq!(
        result.to_string(),
        "said  0.7500 [-2.4266, 3.9266; few rows] (mean of 2/2, 0 failed; 4 repeats, 2 of 8 evaluations failed, consistency 0.67, pass@4 100.00%, pass^4 50.00%)"
    );
    assert_eq!(
        result.first_error.as_deref(),
        Some("row `0`: told to crash")
    );
    let row = &result.results[0];
    let said = |number| {
        row.pred_of_repeat(number)
            .and_then(|pred| pred.get("say"))
            .cloned()
    };
    assert_eq!(
        (said(0), said(1), said(2)),
        (Some("1".into()), None, Some("1".into()))
    );
    assert_eq!(
        row.repeats[1].outcomes[0].error().as_deref(),
        Some("told to crash")
    );
}

#[tokio::test]
async fn a_row_whose_repeats_all_fail_is_a_failed_row() {
    let result = repeated(&["crash crash", "1 1"], 2, 1).await;
    let summary = &result.metrics[0];
    assert_eq!(
        (summary.scored, summary.failed, summary.mean),
        (1, 1, Some(0.5))
    );
    assert_eq!(result.results[0].pred, None);
}

#[tokio::test]
async fn the_result_does_not_depend_on_the_concurrency() {
    let rows: Vec<String> = (0..40)
        .map(|row| format!("{} 1 0.{row} abstain", row % 2))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let one = report(&repeated(&rows, 4, 1).await);
    assert_eq!(report(&repeated(&rows, 4, 16).await), one);
    assert!(
        one.contains(r#""evaluations":120,"failed":0,"repeats":4,"rows":0"#),
        "{one}"
    );
}

#[tokio::test]
async fn given_predictions_are_scored_again_by_each_repeat() {
    let draws = metric_fn("draw", |_: &Example, _: &Prediction| {
        f64::from(RepeatNumber::current().0)
    });
    let evaluate = Evaluate::builder()
        .metric(draws)
        .repeats(3)
        .build()
        .unwrap();
    let result = evaluate.score(saying(&["a", "b"])).await.unwrap();
    assert_eq!(result.metrics[0].mean, Some(1.0));
    let row = &result.results[1];
    assert!((0..3).all(|number| row.pred_of_repeat(number) == row.pred.as_ref()));
    assert_eq!(row.pred_of_repeat(3), None);
}

#[tokio::test]
async fn repeats_are_in_result_files() {
    let folder = tempfile::tempdir().unwrap();
    let (jsonl, csv) = (folder.path().join("r.jsonl"), folder.path().join("r.csv"));
    let evaluate = scoring()
        .devset(devset(&["1 crash"]))
        .inputs(["words"])
        .repeats(2);
    let evaluate = evaluate
        .files(|files| files.jsonl(&jsonl).csv(&csv))
        .build()
        .unwrap();
    assert!(evaluate.run(program).await.unwrap().is_complete());
    dsrs_metrics_tests::schema::validate_file(&jsonl);
    let line: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(jsonl).unwrap()).unwrap();
    let repeats = &line["repeats"];
    assert_eq!(line["scores"]["said"]["value"], 0.5);
    assert_eq!(
        (&repeats[0]["pred"]["say"], &repeats[1]["pred"]),
        (&"1".into(), &().into())
    );
    assert_eq!(repeats[0]["scores"]["said"]["value"], 1.0);
    assert_eq!(repeats[1]["scores"]["said"]["outcome"], "program_failed");
    let mut csv = csv::Reader::from_path(csv).unwrap();
    let column = csv
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "repeats")
        .unwrap();
    let cell = csv.records().next().unwrap().unwrap()[column].to_owned();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&cell).unwrap(),
        *repeats
    );
}

#[test]
fn no_repeats_are_rejected() {
    let error = scoring().repeats(0).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected `repeats` to be at least 1, found 0"
    );
}
