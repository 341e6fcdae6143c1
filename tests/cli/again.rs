//! Result files that are scored again.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;

const ROWS: &str = concat!(
    r#"{"id": "a", "gold": {"answer": "Paris"}, "pred": {"answer": "paris"}, "lang": "fr", "n": 1}"#,
    "\n",
    r#"{"id": "b", "gold": {"answer": "Rome"}, "pred": {"answer": "Oslo"}, "lang": "it", "n": 2}"#,
    "\n",
);

/// The formats of result files.
const FORMATS: &[&str] = &["jsonl", "json", "csv", "parquet"];

/// A folder with the results of `em`, with their rows.
fn folder(format: &str) -> Folder {
    let folder = Folder::with("rows.jsonl", ROWS);
    let out = format!("run.{format}");
    folder.printed(&format!(
        "score rows.jsonl -m em --out {out} --with-rows -q"
    ));
    folder
}

fn lines(folder: &Folder, file: &str) -> Vec<Value> {
    folder
        .read(file)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_rows_of_a_result_file_are_those_that_were_scored() {
    for format in FORMATS {
        let (folder, run) = (folder(format), format!("run.{format}"));
        let direct = folder.printed("score rows.jsonl -m f1");
        assert_eq!(
            folder.printed(&format!("score {run} -m f1")),
            direct,
            "{format}"
        );
        folder.printed(&format!("score {run} -m f1 --out again.jsonl --with-rows"));
        let lines = lines(&folder, "again.jsonl");
        for (line, (id, lang, n)) in lines.iter().zip([("a", "fr", 1), ("b", "it", 2)]) {
            // The cells of a CSV file are strings.
            let n = if *format == "csv" {
                json!(n.to_string())
            } else {
                json!(n)
            };
            assert_eq!(line["id"], id, "{format}");
            assert_eq!(
                line["attributes"],
                json!({ "lang": lang, "n": n }),
                "{format}"
            );
            assert_eq!(
                line["scores"].as_object().unwrap().len(),
                1,
                "{format}: {line}"
            );
        }
        assert_eq!(lines.len(), 2, "{format}");
        // Groups and mappings name the fields of the scored row.
        folder.printed(&format!("score {run} -m f1 --group lang"));
        let report = folder.json(&format!("score {run} -m em --map pred.answer=lang --json"));
        assert_eq!(report["metrics"]["em"]["passed"], 0, "{format}");
        // A mapping may also read the scores of the run: of row `a` 1, of row `b` 0.
        let value = if ["jsonl", "json"].contains(format) {
            "scores.em.value"
        } else {
            "em"
        };
        let maps = format!("--map gold.answer={value} --map pred.answer={value}");
        let printed = folder.printed(&format!("score {run} -m distance {maps}"));
        assert!(printed.starts_with("distance  0.0000 "), "{format}");
    }
}

#[test]
fn latency_tokens_and_cost_of_the_program_are_kept() {
    let row = json!({
        "id": "a", "gold": { "answer": "x" }, "pred": { "answer": "x" }, "latency_s": 0.25,
        "input_tokens": 120, "output_tokens": 8, "cost_msats": 40, "traceback": "frames",
        "scores": { "em": { "outcome": "scored", "value": 1.0, "passed": true } },
    });
    let folder = Folder::with("run.jsonl", format!("{row}\n"));
    for repeats in ["", "--repeats 2"] {
        for out in ["again.jsonl", "again.csv"] {
            let args = "score run.jsonl -m f1,latency,tokens -q --with-rows";
            let printed = folder.printed(&format!("{args} --out {out} {repeats}"));
            assert!(
                printed.contains("latency  0.2500 ") && printed.contains("tokens   128.0"),
                "{printed}"
            );
            folder.printed(&format!("score {out} -m em --out third.jsonl -q"));
            let third = &lines(&folder, "third.jsonl")[0];
            for key in ["latency_s", "input_tokens", "output_tokens", "cost_msats"] {
                assert_eq!(third[key], row[key], "{out} {key}");
            }
            assert_eq!(
                (third.get("attributes"), third.get("traceback")),
                (None, None),
                "{third}"
            );
        }
    }
}

#[test]
fn scores_without_rows_cannot_be_scored_again() {
    let folder = Folder::with("rows.jsonl", ROWS);
    for format in FORMATS {
        let run = format!("run.{format}");
        folder.printed(&format!("score rows.jsonl -m em --out {run} -q"));
        let error = folder.score_error(&format!("{run} -m f1"));
        let expected = "the row has scores, but neither gold row nor prediction to score again; write the results with \
                        `score --out FILE --with-rows`";
        assert!(
            error.starts_with(&run) && error.ends_with(expected),
            "{error}"
        );
    }
}

#[test]
fn a_row_that_a_metric_failed_on_is_scored_again() {
    let rows = ROWS.replace("Oslo", "fail").replace("paris", "1");
    let folder = Folder::with("rows.jsonl", rows);
    for format in FORMATS {
        let run = format!("run.{format}");
        let args = format!("score rows.jsonl -m obeys --out {run} --with-rows -q");
        assert_eq!(folder.run(&args).code, Some(0), "{format}");
        folder.printed(&format!("score {run} -m em --out again.jsonl"));
        let lines = lines(&folder, "again.jsonl");
        let attributes = lines
            .iter()
            .map(|line| line["attributes"].as_object().unwrap().len());
        assert_eq!(
            attributes.collect::<Vec<_>>(),
            [2, 2],
            "{format}: {lines:?}"
        );
    }
}

#[test]
fn a_row_without_its_one_prediction_is_an_error() {
    let failed =
        r#"{"id": "a", "gold": {}, "pred": null, "scores": {"em": {"outcome": "program_failed"}}}"#;
    let folder = Folder::with("run.jsonl", failed);
    assert_snapshot!(folder.score_error("run.jsonl -q -m f1"),
        @"run.jsonl:1: the program failed on this row, so it has no prediction to score; remove the row");
    let several = r#"{"id": "a", "gold": {}, "pred": {"answer": "x"}, "scores": {"em": {"outcome": "scored"}}, "repeats": [{"pred": {"answer": "x"}}, {"pred": {"answer": "y"}}]}"#;
    folder.write("run.jsonl", several);
    assert_snapshot!(folder.score_error("run.jsonl -q -m f1"),
        @"run.jsonl:1: expected one prediction to score, found repeats with different predictions; write each prediction as a row of its own");
}

#[test]
fn a_result_file_is_the_one_that_its_manifest_describes() {
    for format in FORMATS {
        let (folder, run) = (folder(format), format!("run.{format}"));
        let manifest = format!("{run}.manifest.json");
        let known = folder.read(&manifest);
        folder.write(&manifest, known.replace("\"complete\"", "\"stopped\""));
        let error = folder.score_error(&format!("{run} -m f1"));
        assert!(
            error.contains("was changed after it was written; restore it"),
            "{error}"
        );
        folder.write(&manifest, &known);
        std::fs::copy(folder.path("rows.jsonl"), folder.path("other.jsonl")).unwrap();
        std::fs::copy(
            folder.path(&manifest),
            folder.path("other.jsonl.manifest.json"),
        )
        .unwrap();
        let error = folder.score_error("other.jsonl -m f1");
        assert!(error.contains("other.jsonl.manifest.json"), "{error}");
        if *format != "parquet" {
            std::fs::remove_file(folder.path(&manifest)).unwrap();
            let ran = folder.run(&format!("score {run} -m f1"));
            let expected =
                format!("warning: {run}: identity unknown: its manifest `{manifest}` is missing\n");
            assert_eq!((ran.code, &*ran.err), (Some(0), &*expected), "{format}");
        }
    }
}

#[test]
fn rows_with_scores_of_another_program_keep_them_as_an_attribute() {
    let row = r#"{"id": "a", "gold": {"answer": "x"}, "pred": {"answer": "x"}, "scores": {"theirs": 3}, "latency_s": 2}"#;
    let folder = Folder::with("rows.jsonl", row);
    folder.printed("score rows.jsonl -m em --out out.jsonl -q");
    let line = &lines(&folder, "out.jsonl")[0];
    assert_eq!(
        line["attributes"],
        json!({ "scores": { "theirs": 3 }, "latency_s": 2 })
    );
}
