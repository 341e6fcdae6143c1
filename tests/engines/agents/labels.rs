//! Labelled training data from files.

use std::fs;

use dsrs_metrics::Evaluate;
use dsrs_metrics::data::{DataError, DataErrorKind};
use dsrs_metrics::metrics::OutcomeCoupled;
use dsrs_metrics::outcome_coupled::{
    LabelledExample, OutcomeCoupledLabels, OutcomeCoupledScorer, OutcomeWeights, load_jsonl,
    load_jsonl_with_labels,
};
use serde_json::{Value, json};

fn row() -> Value {
    json!({
        "id": "call-7", "tool": "edit", "params": { "path": "a.rs" },
        "step_utility": 0.5, "tests_before": 10, "tests_after": 9, "was_repeated": false, "params_valid": true,
    })
}

fn with(field: &str, value: Value) -> Value {
    let mut row = row();
    row[field] = value;
    row
}

fn load(
    content: impl AsRef<[u8]>,
    scorer: &OutcomeCoupledScorer,
) -> Vec<Result<LabelledExample, DataError>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool_calls.jsonl");
    fs::write(&file, content).unwrap();
    load_jsonl(file, scorer).unwrap().collect()
}

/// The error in the second of three rows.
fn error_in(second: &str) -> String {
    let content = format!("{}\n\n{second}\n{}\n", row(), row());
    let mut rows = load(content, &OutcomeCoupledScorer::default());
    assert_eq!(rows.len(), 2, "the iterator ends with the first error");
    let error = rows.pop().unwrap().unwrap_err().to_string();
    let (_, message) = error
        .split_once("tool_calls.jsonl:")
        .unwrap_or_else(|| panic!("no file: {error}"));
    message.to_owned()
}

#[test]
fn labels_are_computed_and_rows_are_split() {
    let mut rows = load(format!("{}\n", row()), &OutcomeCoupledScorer::default());
    let LabelledExample { pair, labels } = rows.pop().unwrap().unwrap();
    assert!((labels.outcome_score - 0.7).abs() < 1e-12);
    assert_eq!(
        labels,
        OutcomeCoupledLabels {
            step_utility: 0.5,
            tests_before: 10,
            tests_after: 9,
            verification_delta: -1,
            was_repeated: false,
            params_valid: true,
            outcome_score: labels.outcome_score,
        }
    );
    assert_eq!(
        (&*pair.id, pair.origin.as_ref().map(|origin| origin.line)),
        ("call-7", Some(1))
    );
    assert_eq!(
        serde_json::to_value(&pair.gold).unwrap(),
        json!({ "tool": "edit", "params": { "path": "a.rs" } })
    );
    assert_eq!(
        serde_json::to_value(&pair.pred).unwrap(),
        serde_json::to_value(labels).unwrap()
    );
    assert_eq!(pair.attributes.len(), 0);
}

#[tokio::test]
async fn rows_of_training_data_can_be_scored() {
    let mut rows = [
        row(),
        with("was_repeated", json!(true)),
        with("step_utility", json!(-1)),
    ];
    for (number, row) in rows.iter_mut().enumerate() {
        row["id"] = json!(number);
    }
    let content: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let rows = load(content, &OutcomeCoupledScorer::default());
    let (pairs, scores): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .map(Result::unwrap)
        .map(|row| (row.pair, row.labels.outcome_score))
        .unzip();
    let evaluate = Evaluate::builder()
        .metric(OutcomeCoupled::default())
        .build()
        .unwrap();
    let result = evaluate.score(pairs).await.unwrap();
    let mean = result.metric("outcome_coupled").unwrap().mean.unwrap();
    assert!(
        (mean - scores.iter().sum::<f64>() / 3.0).abs() < 1e-12,
        "{mean} {scores:?}"
    );
    assert_eq!(result.metric("outcome_coupled").unwrap().scored, 3);
}

#[test]
fn rows_with_gold_or_pred_are_not_split() {
    let mut both = with("gold", json!({ "answer": "x" }));
    both["pred"] = json!("unchanged");
    let mut rows = load(both.to_string(), &OutcomeCoupledScorer::default());
    let LabelledExample { pair, .. } = rows.pop().unwrap().unwrap();
    assert_eq!(pair.gold.get("answer"), Some(&json!("x")));
    assert_eq!(
        pair.attributes.get("pred"),
        Some(&json!("unchanged")),
        "no field is dropped"
    );
    assert_eq!(pair.attributes.get("tool"), Some(&json!("edit")));
}

#[test]
fn labels_round_trip() {
    let scorer = OutcomeCoupledScorer::default();
    let labels = load(row().to_string(), &scorer)
        .pop()
        .unwrap()
        .unwrap()
        .labels;
    let written = serde_json::to_string(&labels).unwrap();
    let again = load(&written, &scorer).pop().unwrap().unwrap().labels;
    assert_eq!(again, labels);
    assert_eq!(
        serde_json::from_str::<OutcomeCoupledLabels>(&written).unwrap(),
        labels
    );
}

#[test]
fn labels_that_are_missing_or_wrong_are_named_with_file_and_line() {
    let mut missing = row();
    missing.as_object_mut().unwrap().remove("was_repeated");
    let error = error_in(&missing.to_string());
    assert_eq!(error, "3: invalid label: missing field `was_repeated`");
    for (field, value, expected) in [
        (
            "step_utility",
            json!("0.5"),
            "3: invalid label: step_utility: invalid type: string \"0.5\", expected f64",
        ),
        (
            "step_utility",
            json!(1.25),
            "3: expected a step utility in -1..=1, found 1.25",
        ),
        (
            "tests_after",
            json!(-1),
            "3: invalid label: tests_after: invalid value: integer `-1`, expected u32",
        ),
        (
            "tests_before",
            json!(5_000_000_000_u64),
            "3: invalid label: tests_before: invalid value: integer `5000000000`, expected u32",
        ),
        (
            "params_valid",
            json!("yes"),
            "3: invalid label: params_valid: invalid type: string \"yes\", expected a boolean",
        ),
        (
            "verification_delta",
            json!(1),
            "3: `verification_delta` is 1, but `tests_after - tests_before` is 9 - 10",
        ),
    ] {
        assert_eq!(error_in(&with(field, value).to_string()), expected);
    }
}

#[test]
fn a_score_computed_with_other_weights_is_an_error() {
    let error = error_in(&with("outcome_score", json!(0.8)).to_string());
    let start = "3: `outcome_score` is 0.8, but the labels give 0.7";
    let end = "set the weights that it was computed with, or remove `outcome_score`";
    assert!(error.starts_with(start) && error.ends_with(end), "{error}");
    let weights = OutcomeWeights {
        step_utility: 0.0,
        repetition: 0.5,
        verification: 0.2,
        schema: 0.3,
    };
    let scorer = OutcomeCoupledScorer::new(weights).unwrap();
    let mut rows = load(with("outcome_score", json!(0.8)).to_string(), &scorer);
    assert_eq!(rows.pop().unwrap().unwrap().labels.outcome_score, 0.8);
}

#[test]
fn lines_that_are_no_rows() {
    assert_eq!(
        error_in("{"),
        "3:1: invalid JSON: EOF while parsing an object; write one object per line"
    );
    assert!(
        error_in("[1]").starts_with("3: expected a row such as {"),
        "{}",
        error_in("[1]")
    );
    let twice = row()
        .to_string()
        .replacen("\"tool\"", "\"step_utility\": 1, \"tool\"", 1);
    assert!(
        error_in(&twice).contains("duplicate key `step_utility`"),
        "{}",
        error_in(&twice)
    );
    let deep = with("params", json!("DEEP")).to_string();
    let deep = deep.replace(
        "\"DEEP\"",
        &format!("{}{}", "[".repeat(200), "]".repeat(200)),
    );
    assert!(error_in(&deep).contains("nested deeper than 127 levels"));
    let mut empty = load("\n", &OutcomeCoupledScorer::default());
    let error = empty.pop().unwrap().unwrap_err();
    assert_eq!(error.kind(), DataErrorKind::Empty, "{error}");
    let bytes = load(b"{\"tool\": \"\xFF\"}", &OutcomeCoupledScorer::default())
        .pop()
        .unwrap();
    let error = bytes.unwrap_err().to_string();
    assert!(
        error.contains(":1: invalid UTF-8: byte 11 is 0xFF"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_an_error() {
    let error = load_jsonl("no/such.jsonl", &OutcomeCoupledScorer::default());
    let error = error.err().unwrap().to_string();
    assert!(error.starts_with("no/such.jsonl: "), "{error}");
}

#[test]
fn a_long_file_is_read_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool_calls.jsonl");
    // The last row is invalid, which does not affect a reader of the others.
    let content = format!("{}{{", format!("{}\n", row()).repeat(1000));
    fs::write(&file, content).unwrap();
    let rows = load_jsonl(&file, &OutcomeCoupledScorer::default()).unwrap();
    assert_eq!(rows.take(1000).filter_map(Result::ok).count(), 1000);
}

#[test]
fn the_function_of_the_document_reads_all_rows_with_the_default_weights() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool_calls.jsonl");
    fs::write(
        &file,
        format!("{}\n{}\n", row(), with("was_repeated", json!(true))),
    )
    .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let examples = runtime.block_on(load_jsonl_with_labels(&file)).unwrap();
    let scores: Vec<_> = examples
        .iter()
        .map(|example| example.labels.outcome_score)
        .collect();
    let expected: Vec<_> = load_jsonl(&file, &OutcomeCoupledScorer::default())
        .unwrap()
        .collect();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|example| example.unwrap().labels.outcome_score)
        .collect();
    assert_eq!((scores.len(), &scores), (2, &expected));
    assert!(scores[0] > scores[1]);

    let without_runtime = futures_util::FutureExt::now_or_never(load_jsonl_with_labels(&file));
    assert_eq!(without_runtime.unwrap().unwrap(), examples);

    fs::write(&file, format!("{}\n{{\n", row())).unwrap();
    let error = runtime
        .block_on(load_jsonl_with_labels(&file))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("tool_calls.jsonl:2:1: invalid JSON"),
        "{error}"
    );
}
