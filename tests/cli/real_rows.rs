//! `score` over real rows, against the reference figures: dspy's for question answering, the authors'
//! labels for mathematics.
//!
//! The rows live outside the project, in the folder that `DSRS_METRICS_DATA` names. Without it the
//! tests report this and pass, unless `DSRS_METRICS_REQUIRE` is 1.

use std::path::Path;

use dsrs_metrics_tests::data;
use serde_json::{Value, json};

use crate::scorer;

fn json(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// The report of `score FILE args.. --json`.
fn score(file: &Path, args: &[&str]) -> Value {
    let ran = scorer()
        .arg("score")
        .arg(file)
        .args(args)
        .arg("--json")
        .output()
        .unwrap();
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    dsrs_metrics_tests::schema::parsed(&ran.stdout)
}

fn assert_close(found: &Value, expected: &Value, what: &str) {
    let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
    assert!(
        (found - expected).abs() <= 1e-12,
        "{what}: {found} is not {expected}"
    );
}

#[test]
fn question_answering_gives_every_figure_of_dspy() {
    let Some(data) = data("qa/reference.json") else {
        return;
    };
    let reference = json(&data.join("qa/reference.json"));
    let models = reference["models"].as_object().unwrap();
    assert_eq!(models.len(), 3);
    for (model, expected) in models {
        let file = data.join(format!("qa/xquad-en.{model}.jsonl"));
        let report = score(
            &file,
            &[
                "-m",
                "answer_exact_match,em,f1,hotpot_f1,answer_passage_match",
            ],
        );
        assert_eq!(report["rows"], expected["rows"], "{model}");
        let metrics = &report["metrics"];
        for exact in ["answer_exact_match", "em"] {
            assert_eq!(metrics[exact]["passed"], expected["em_true"], "{model}");
            let percent = json!(100.0 * metrics[exact]["score"].as_f64().unwrap());
            assert_close(&percent, &expected["em_percent"], model);
        }
        assert_close(&metrics["f1"]["mean"], &expected["f1_mean"], model);
        assert_close(
            &metrics["hotpot_f1"]["mean"],
            &expected["hotpot_f1_mean"],
            model,
        );
        assert_eq!(
            metrics["answer_passage_match"]["passed"],
            expected["passage_match_true"]
        );
        assert_eq!(metrics["f1"]["failed"], 0);
    }
}

#[test]
fn mathematics_agrees_with_the_authors_on_every_row() {
    let Some(data) = data("math/reference.json") else {
        return;
    };
    let reference = json(&data.join("math/reference.json"));
    for (model, expected) in reference.as_object().unwrap() {
        let file = data.join(format!("math/gsm8k.{model}.jsonl"));
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("scores.jsonl");
        let args = [
            "-m",
            "numeric_match",
            "--map",
            "pred.answer=pred.solution",
            "--out",
        ];
        let report = score(&file, &[&args[..], &[out.to_str().unwrap()]].concat());
        assert_eq!(
            report["metrics"]["numeric_match"]["passed"], expected["correct"],
            "{model}"
        );
        let lines = |file: &Path| -> Vec<Value> {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        };
        let (rows, scores) = (lines(&file), lines(&out));
        assert_eq!((rows.len(), scores.len()), (1319, 1319));
        for (row, score) in rows.iter().zip(&scores) {
            assert_eq!(row["id"], score["id"]);
            assert_eq!(
                score["scores"]["numeric_match"]["passed"], row["label"],
                "{}",
                row["id"]
            );
        }
    }
}
