//! Real rows: question answering against dspy's figures, mathematics against the authors' labels.
//!
//! The rows are outside the project, in the folder that `DSRS_METRICS_DATA` names. Without it the tests print a notice
//! and pass, unless `DSRS_METRICS_REQUIRE` is 1.

use std::fs;
use std::path::Path;

use dsrs_metrics::text::{NumericOptions, answer_passage_match, em, f1, hotpot_f1, numeric_match};
use dsrs_metrics_tests::data;
use serde_json::Value;

fn json(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn rows(path: &Path) -> Vec<Value> {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_str().unwrap())
        .collect()
}

#[test]
fn question_answering_rows_have_the_scores_of_dspy() {
    let Some(folder) = data("qa/reference.json") else {
        return;
    };
    let reference = json(&folder.join("qa/reference.json"));
    for (model, expected) in reference["models"].as_object().unwrap() {
        let rows = rows(&folder.join(format!("qa/xquad-en.{model}.jsonl")));
        let (mut exact, mut found, mut token, mut hotpot) = (0, 0, 0.0, 0.0);
        for row in &rows {
            let answers = strings(&row["gold"]["answer"]);
            let prediction = row["pred"]["answer"].as_str().unwrap();
            exact += u64::from(em(prediction, &answers).unwrap());
            token += f1(prediction, &answers).unwrap();
            hotpot += hotpot_f1(prediction, &answers).unwrap();
            found += u64::from(answer_passage_match(
                &strings(&row["pred"]["context"]),
                &answers,
            ));
        }
        let mean = |sum: f64, name: &str| {
            let expected = expected[name].as_f64().unwrap();
            let mean = sum / rows.len() as f64;
            assert!(
                (mean - expected).abs() < 1e-12,
                "{model} {name}: {mean}, dspy {expected}"
            );
        };
        assert_eq!(rows.len() as u64, expected["rows"], "{model}");
        assert_eq!(exact, expected["em_true"], "{model}");
        assert_eq!(found, expected["passage_match_true"], "{model}");
        mean(token, "f1_mean");
        mean(hotpot, "hotpot_f1_mean");
        println!("{model}: {} rows, {exact} exact, {found} found", rows.len());
    }
}

#[test]
fn mathematics_rows_match_the_authors_labels() {
    let Some(folder) = data("math/reference.json") else {
        return;
    };
    let reference = json(&folder.join("math/reference.json"));
    for (model, expected) in reference.as_object().unwrap() {
        let rows = rows(&folder.join(format!("math/gsm8k.{model}.jsonl")));
        let mut correct = 0;
        for row in &rows {
            let (gold, solution) = (&row["gold"]["answer"], &row["pred"]["solution"]);
            let matches = numeric_match(
                solution.as_str().unwrap(),
                gold.as_str().unwrap(),
                &NumericOptions::default(),
            );
            assert_eq!(matches, row["label"], "{} {}", row["id"], row["model"]);
            correct += u64::from(matches);
        }
        assert_eq!(rows.len() as u64, expected["rows"]);
        assert_eq!(correct, expected["correct"]);
        println!("{model}: {} rows, {correct} correct", rows.len());
    }
}
