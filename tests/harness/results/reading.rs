//! Reading what `score --out` and `Evaluate` write.

use std::path::Path;

use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{ResultOutcome, ResultRow, Results};
use dsrs_metrics::{
    Evaluate,
    contract::{ScoreKind, Scores},
    rows::Pair,
    runs::{ProgramOutput, ProgramUsage},
};
use serde_json::{Value, json};

/// Rows of every outcome, written to all formats.
async fn evaluated(folder: &Path) -> Results {
    let b = metric_fn("b", |gold, pred| gold.get("answer") == pred.get("answer"));
    let a = metric_fn("a", |_, pred| {
        match pred.get("answer").and_then(Value::as_str) {
            Some("fail") => Err("told to fail"),
            _ => Ok(Scores::new("f1", 0.5).with("recall", 0.25)),
        }
    });
    let told = metric_fn("told", |_, pred| {
        let is_known = pred.get("answer").is_some_and(|answer| answer != "abstain");
        is_known.then(|| FeedbackMetric::new(0.75, "true").with_metadata("k", 1))
    });
    let words = ["Paris", "fail", "abstain", "crash"];
    let evaluate = Evaluate::builder()
        .metric(b)
        .metric(a.with_threshold(0.5))
        .metric(told)
        .devset(words.map(|word| example! { "answer" => "Paris", "say" => word }))
        .inputs(["say"])
        .failures(|failures| failures.score(-1.0))
        .files(|files| {
            files
                .jsonl(folder.join("r.jsonl"))
                .json(folder.join("r.json"))
                .csv(folder.join("r.csv"))
        })
        .build()
        .unwrap();
    let program = |row: Example| async move {
        let word = row.get("say").cloned().unwrap();
        let usage = ProgramUsage {
            input_tokens: 7,
            output_tokens: 3,
            cost_msats: Some(20),
        };
        match word == "crash" {
            true => Err("no model"),
            false => Ok(ProgramOutput::new(prediction! { "answer" => word }).with_usage(usage)),
        }
    };
    let results = Results::of(&evaluate.run(program).await.unwrap()).unwrap();
    for name in ["r.jsonl", "r.json", "r.csv"] {
        dsrs_metrics_tests::schema::validate_file(&folder.join(name));
    }
    results
}

/// Rows without their position.
fn content(results: &Results) -> Vec<ResultRow> {
    let without = |row: &ResultRow| {
        let mut row = row.clone();
        row.origin = None;
        row
    };
    results.rows().iter().map(without).collect()
}

#[tokio::test]
async fn every_format_and_an_evaluation_in_memory_have_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let memory = evaluated(folder.path()).await;
    assert_eq!(memory.metrics().collect::<Vec<_>>(), ["b", "a", "told"]);
    assert_eq!(
        (memory.name(), memory.failure_score()),
        ("evaluation", -1.0)
    );
    for file in ["r.jsonl", "r.json"] {
        let path = folder.path().join(file);
        let read = Results::read(&path).unwrap();
        assert_eq!(content(&read), content(&memory), "{file}");
        assert_eq!(
            read.metrics().collect::<Vec<_>>(),
            ["b", "a", "told"],
            "{file}"
        );
        assert_eq!(read.name(), path.to_str().unwrap());
        assert_eq!(read.kind("b"), Some(ScoreKind::Bool));
        assert_eq!(read.kind("a"), Some(ScoreKind::Number));
    }
    let table = Results::read(folder.path().join("r.csv")).unwrap();
    for (cells, row) in table.rows().iter().zip(memory.rows()) {
        assert_eq!((&cells.gold, &cells.pred), (&row.gold, &row.pred));
        assert_eq!(cells.scores, row.scores);
        assert_eq!(
            (cells.input_tokens, cells.cost_msats),
            (row.input_tokens, row.cost_msats)
        );
    }
}

#[tokio::test]
async fn a_row_has_its_scores_and_what_the_program_returned() {
    let folder = tempfile::tempdir().unwrap();
    let results = evaluated(folder.path()).await;
    let [paris, fail, abstain, crash] = results.rows() else {
        panic!("four rows")
    };
    assert_eq!(paris.gold, Some(json!({"answer": "Paris", "say": "Paris"})));
    assert_eq!(paris.pred, Some(json!({"answer": "Paris"})));
    assert_eq!(
        (paris.input_tokens, paris.output_tokens, paris.cost_msats),
        (Some(7), Some(3), Some(20))
    );
    let a = &paris.scores["a"];
    assert_eq!(
        (a.outcome, a.value, a.passed),
        (ResultOutcome::Scored, Some(0.5), Some(true))
    );
    assert_eq!(a.parts["recall"], 0.25);
    let told = &paris.scores["told"];
    assert_eq!(
        (told.feedback.as_deref(), told.passed),
        (Some("true"), None)
    );
    assert_eq!(Value::Object(told.metadata.clone()), json!({"k": 1}));
    let failed = &fail.scores["a"];
    assert_eq!(
        (failed.outcome, failed.value),
        (ResultOutcome::MetricFailed, None)
    );
    assert_eq!(failed.error.as_deref(), Some("metric `a`: told to fail"));
    assert_eq!(abstain.scores["told"].outcome, ResultOutcome::Abstained);
    assert_eq!((&crash.pred, crash.input_tokens), (&None, None));
    assert_eq!(crash.scores["told"].outcome, ResultOutcome::ProgramFailed);
    assert_eq!(crash.scores["told"].error.as_deref(), Some("no model"));
    assert_eq!(
        results.row("3").unwrap().scores["b"].outcome.name(),
        "program_failed"
    );
    assert_eq!(results.row("4"), None);
}

#[tokio::test]
async fn results_in_memory_keep_the_kind_and_the_origin() {
    let number = metric_fn("number", |_, _| 1.0);
    let evaluate = Evaluate::builder()
        .metric(number.with_threshold(0.5))
        .build()
        .unwrap();
    let pair = Pair::new("q", example! {}, prediction! {});
    let result = evaluate.score([pair]).await.unwrap();
    let results = Results::of(&result).unwrap();
    assert_eq!(
        results.kind("number"),
        Some(ScoreKind::Number),
        "also where every score is 1"
    );
    assert_eq!(results.rows()[0].origin, None);

    let pair = Pair::new("q", example! {}, prediction! {});
    let evaluate = evaluate.to_builder().keep_results(false).build().unwrap();
    let result = evaluate.score([pair]).await.unwrap();
    let error = Results::of(&result).unwrap_err().to_string();
    assert_eq!(
        error,
        "the evaluation has no rows; do not set `keep_results(false)`"
    );
}

#[tokio::test]
async fn rows_that_are_not_json_are_read_with_a_note() {
    type Odd = std::collections::BTreeMap<(u8, u8), f64>;
    let same = typed_metric_fn("same", |gold: &Odd, pred: &f64| {
        gold.len() == 1 && pred.is_nan()
    });
    let evaluate = Evaluate::typed()
        .devset([Odd::from([((1, 2), 0.5)])])
        .metric(same);
    let result = evaluate
        .build()
        .unwrap()
        .run(|_: Odd| async { f64::NAN })
        .await
        .unwrap();
    let results = Results::of(&result).unwrap();
    let row = &results.rows()[0];
    assert_eq!(
        row.gold,
        Some("cannot be written as JSON: key must be a string".into())
    );
    assert_eq!((&row.pred, row.scores["same"].value), (&None, Some(1.0)));
}

fn error(name: &str, content: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, content).unwrap();
    let error = Results::read(&file).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    let path = file.to_str().unwrap();
    error
        .strip_prefix(path)
        .unwrap_or_else(|| panic!("{error}"))
        .to_owned()
}

const ROW: &str = r#"{"id":"a","scores":{"j":{"outcome":"scored","value":1.0,"passed":true}}}"#;

#[test]
fn every_kind_of_invalid_file_is_one_sentence() {
    assert_eq!(
        error("r.jsonl", ""),
        ": expected at least one row, found none; add rows"
    );
    assert_eq!(
        error("r.jsonl", r#"{"id": "a", "gold": {}, "ok": true}"#),
        ":1: expected a row with `scores`, as written by `score --out`, found none, only `ok`"
    );
    assert_eq!(
        error("r.csv", "id,ok\na,true\n"),
        ":2: expected a row with `scores`, as written by `score --out`, found none, only `ok`"
    );
    assert_eq!(
        error(
            "r.jsonl",
            &format!("{ROW}\n{}", ROW.replace(r#""id":"a","#, ""))
        ),
        ":2: no `id` in the row; write the file again with `score --out`, or add the ids"
    );
    assert_eq!(
        error("r.jsonl", &format!("{ROW}\n\n{ROW}")),
        ":3: duplicate id `a`, first on line 1; ids must be unique within a file"
    );
    let cut = "the row is cut off, after 1 complete rows; write the file again, or remove the row";
    let half = &ROW.replace("\"a\"", "\"b\"")[..40];
    assert_eq!(
        error("r.jsonl", &format!("{ROW}\n{half}")),
        format!(":2: {cut}")
    );
    assert_eq!(
        error("r.json", &format!("[{ROW},\n{half}")),
        format!(":2: {cut}")
    );
    let table = "id,j,j.outcome,j.details\na,1,scored,\nb,1,scored,\"text";
    assert_eq!(error("r.csv", table), format!(":3: {cut}"));
}

#[test]
fn a_field_of_another_type_is_an_error_with_its_path() {
    let row = |old: &str, new: &str| error("r.jsonl", &ROW.replace(old, new));
    assert_eq!(
        row(r#""scored""#, r#""done""#),
        ":1: `scores.j.outcome`: expected scored, counted, gated, skipped, abstained, not_needed, not_sampled, metric_failed or \
         program_failed, found the string \"done\""
    );
    assert_eq!(
        row("1.0", "null"),
        ":1: `scores.j.value`: expected a finite number, found null"
    );
    assert_eq!(
        row(
            "true",
            r#"true,"components":{"c":{"outcome":"scored","value":"x"}}"#
        ),
        ":1: `scores.j.components.c.value`: expected a finite number, found the string \"x\""
    );
    assert_eq!(
        row("true", r#"true,"cost_msats":-1"#),
        ":1: `scores.j.cost_msats`: expected a non-negative whole number, found the number -1"
    );
    assert_eq!(
        error("r.csv", "id,j,j.outcome,j.passed\na,1,scored,maybe\n"),
        ":2: `j.passed`: expected true, false or null, found the string \"maybe\""
    );
}
