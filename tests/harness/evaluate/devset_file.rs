//! From a file to a devset, and from an earlier result file to a comparison.

use std::path::Path;

use dsrs_metrics::prelude::*;
use dsrs_metrics::results::Verdict;
use dsrs_metrics::{Evaluate, rows::FromSerializeError, runs::EvaluateBuilder};
use serde_json::json;

fn builder(file: &Path) -> EvaluateBuilder<Example, Prediction> {
    let same = metric_fn("same", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    });
    Evaluate::builder()
        .devset(file)
        .inputs(["question"])
        .metric(same)
}

async fn echo(row: Example) -> Prediction {
    prediction! { "answer" => row.get("question") }
}

/// The ids, gold rows and attributes of a run over this file.
async fn rows_of(name: &str, content: &str) -> Vec<(String, Example, String)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, content).unwrap();
    let result = builder(&file).run(echo).await.unwrap();
    let rows = result.results.into_iter();
    rows.map(|row| {
        assert_eq!(row.origin.unwrap().file.as_ref(), file);
        (
            row.id,
            (*row.gold).clone(),
            serde_json::to_string(&row.attributes).unwrap(),
        )
    })
    .collect()
}

#[tokio::test]
async fn ids_of_a_devset_file_are_those_of_the_file() {
    let gold = || example! { "question" => "a", "answer" => "b" };
    let with_gold =
        "{\"id\": \"q7\", \"gold\": {\"question\": \"a\", \"answer\": \"b\"}, \"topic\": \"t\"}\n";
    let rows = rows_of("dev.jsonl", with_gold).await;
    assert_eq!(
        rows,
        [("q7".to_owned(), gold(), r#"{"topic":"t"}"#.to_owned())]
    );
    let flat = r#"[{"question": "a", "answer": "b"}, {"id": 7, "question": "a", "answer": "b"}]"#;
    let rows = rows_of("dev.json", flat).await;
    let ids: Vec<_> = rows.iter().map(|(id, ..)| &**id).collect();
    assert_eq!(ids, ["1", "7"]);
    assert_eq!((&rows[1].1, &*rows[1].2), (&gold(), "{}"));
    let csv = Example::from(gold().data.textual());
    assert_eq!(
        rows_of("dev.csv", "id,question,answer\nq1,a,b\n").await[0].1,
        csv
    );
    let rows = rows_of("dev.csv", "id,gold.question,gold.answer\nq1,a,b\n").await;
    assert_eq!((&*rows[0].0, &rows[0].1), ("q1", &csv));
}

#[tokio::test]
async fn errors_of_a_devset_file_name_file_and_line_before_the_first_row() {
    let folder = tempfile::tempdir().unwrap();
    let error = |name: &str, content: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let error = builder(&file).build().unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    let good = "{\"id\": \"a\", \"question\": 1}\n";
    assert_eq!(
        error("dev.jsonl", &format!("{good}{good}")),
        "duplicate row id `a` (rows dev.jsonl:1 and dev.jsonl:2); ids must be unique within a run"
    );
    let bad = error("dev.jsonl", &format!("{good}{{\"question\"\n"));
    assert!(bad.starts_with("dev.jsonl:2:"), "{bad}");
    assert_eq!(
        error("dev.jsonl", "{\"gold\": 3}\n"),
        "dev.jsonl:1: `gold`: expected an object of fields, found the number 3; to score the value itself, pass \
         --map gold.FIELD=gold"
    );
    assert_eq!(
        error("dev.jsonl", ""),
        "dev.jsonl: expected at least one row, found none; add rows"
    );
    let unknown = error("dev.txt", good);
    assert!(
        unknown.starts_with("dev.txt: unknown extension; expected "),
        "{unknown}"
    );
    let missing = builder(&folder.path().join("no.jsonl"))
        .build()
        .unwrap_err()
        .to_string();
    assert!(missing.contains("no.jsonl: cannot be read: "), "{missing}");
    let file = folder.path().join("dev.jsonl");
    std::fs::write(&file, "{\"pred\": {\"answer\": 1}}\n").unwrap();
    let error = builder(&file).run(echo).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "no row has the input `question`; the first row has no fields"
    );
}

#[tokio::test]
async fn the_function_for_ids_takes_precedence_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dev.jsonl");
    let rows = "{\"id\": \"a\", \"question\": 1}\n{\"id\": \"a\", \"question\": 2}\n";
    std::fs::write(&file, rows).unwrap();
    let named = builder(&file).row_id(|row| row.get("question").unwrap().to_string());
    let result = named.run(echo).await.unwrap();
    let ids: Vec<_> = result.results.iter().map(|row| &*row.id).collect();
    assert_eq!(ids, ["1", "2"]);
}

#[tokio::test]
async fn a_result_is_compared_with_an_earlier_file() {
    let folder = tempfile::tempdir().unwrap();
    let [dev, old] = ["dev.jsonl", "old.jsonl"].map(|name| folder.path().join(name));
    let rows =
        (0..20).map(|n| json!({ "id": format!("q{n}"), "question": n, "answer": n }).to_string());
    std::fs::write(&dev, rows.collect::<Vec<_>>().join("\n")).unwrap();
    let evaluate = builder(&dev)
        .failures(|failures| failures.score(-1.0))
        .build()
        .unwrap();
    let failing = |row: Example| async move {
        let n = row.get("question").unwrap().as_u64().unwrap();
        if n < 9 {
            Err("down")
        } else {
            Ok(prediction! { "answer" => n })
        }
    };
    let _ = evaluate
        .to_builder()
        .files(|files| files.jsonl(&old))
        .run(failing)
        .await
        .unwrap();
    let result = evaluate.run(echo).await.unwrap();
    let comparison = result.compare_with(&old).unwrap();
    assert_eq!(
        (comparison.a.rows, comparison.b.rows, comparison.paired),
        (20, 20, 20)
    );
    let same = &comparison.metrics[0];
    assert_eq!(
        (same.verdict, same.failed.a, same.failed.b),
        (Verdict::Better, 9, 0)
    );
    assert_eq!(same.failure_score, -1.0);
    assert_eq!(same.overall.difference, Some(1.0 - (11.0 - 9.0) / 20.0));
    assert_eq!(same.better_rows[0], "q0");
    let missing = result
        .compare_with(folder.path().join("no.jsonl"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("no.jsonl: cannot be read: "), "{missing}");
    let other = result.compare_with(&dev).unwrap_err().to_string();
    assert!(
        other.contains("dev.jsonl:1: expected a row with `scores`"),
        "{other}"
    );
}

#[test]
fn structs_that_are_serialized_become_rows() {
    #[derive(serde::Serialize)]
    struct Reply {
        z: f64,
        a: Vec<u8>,
    }
    let pred = Prediction::from_serialize(&Reply { z: 0.1, a: vec![1] }).unwrap();
    assert_eq!(pred, prediction! { "z" => 0.1, "a" => [1] });
    assert_eq!(
        pred.keys().collect::<Vec<_>>(),
        ["z", "a"],
        "in the order of the struct"
    );
    let map = std::collections::BTreeMap::from([("x", 1)]);
    assert_eq!(
        Example::from_serialize(&map).unwrap(),
        example! { "x" => 1 }
    );
    assert_eq!(
        Example::from_serialize(&example! { "x" => 1 }).unwrap(),
        example! { "x" => 1 }
    );
}

#[test]
fn values_that_are_not_rows_are_refused() {
    let message = |error: FromSerializeError| error.to_string();
    assert_eq!(
        message(Example::from_serialize(&[1, 2]).unwrap_err()),
        "expected a struct or a map, found a list; put the value into a field"
    );
    let integer = std::collections::BTreeMap::from([("x", u128::MAX)]);
    assert_eq!(
        message(Example::from_serialize(&integer).unwrap_err()),
        "expected an integer of at most 64 bits, found 340282366920938463463374607431768211455; serialize it as a string"
    );
    #[derive(serde::Serialize)]
    struct Twice {
        x: u8,
        #[serde(flatten)]
        more: std::collections::BTreeMap<&'static str, u8>,
    }
    let twice = Twice {
        x: 1,
        more: [("x", 2)].into(),
    };
    let error = message(Example::from_serialize(&twice).unwrap_err());
    assert!(error.contains("duplicate key `x`"), "{error}");
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert_eq!(
        message(Prediction::from_serialize(&keys).unwrap_err()),
        "the value cannot be written as JSON: key must be a string"
    );
}
