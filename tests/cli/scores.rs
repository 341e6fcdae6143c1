//! `score` on valid input: its output, its result files and its exit code.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{Folder, Words as _, pretty};

/// Three of four answers are correct.
pub(crate) const ROWS: &str = r#"{"id": "a", "gold": {"answer": "x"}, "pred": {"answer": "x"}}
{"id": "b", "gold": {"answer": "y"}, "pred": {"answer": "y"}}

{"gold": {"answer": "z"}, "pred": {"answer": "z"}}
{"id": 7, "gold": {"answer": "u"}, "pred": {"answer": "v"}, "topic": "letters"}
"#;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn orders(orders: &str) -> Folder {
    let row = |order| format!("{{\"pred\": {{\"answer\": \"{order}\"}}}}\n");
    Folder::with(
        "rows.jsonl",
        orders.words().into_iter().map(row).collect::<String>(),
    )
}

#[test]
fn a_line_for_each_metric() {
    let folder = Folder::with("rows.jsonl", ROWS);
    assert_snapshot!(folder.run("score rows.jsonl -m same_text,f1"), @"
    same_text  75.00% [30.06, 95.44] (3/4, 0 failed)
    f1         0.7500 [0.1374, 0.9826; few rows] (mean of 4/4, 0 failed)
    -- exit code 0 --
    ");
}

#[test]
fn one_json_object() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let printed = folder.printed("score rows.jsonl -m same_text -m f1 --json");
    assert_eq!(printed.lines().count(), 1);
    let mut report: Value = serde_json::from_str(&printed).unwrap();
    assert!(report["elapsed_s"].take().as_f64().unwrap() > 0.0);
    assert_snapshot!(pretty(&report));
}

#[test]
fn rows_of_scores_as_jsonl() {
    let folder = Folder::with("rows.jsonl", ROWS);
    folder.run("score rows.jsonl -m same_text --out scores.jsonl");
    let mut scores = lines(&folder.read("scores.jsonl"));
    let ids: Vec<_> = scores.iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["a", "b", "3", "7"]);
    let score = json!({
        "outcome": "scored", "value": 0.0, "passed": false, "confidence": 1.0, "details": null,
        "feedback": null, "cost_msats": 0,
    });
    let attributes = json!({"topic": "letters"});
    let row = json!({"id": "7", "attributes": attributes, "scores": {"same_text": score}});
    // Only the last row refers to the manifest.
    let references: Vec<_> = scores
        .iter_mut()
        .map(|row| row["manifest"].take())
        .collect();
    assert_eq!(references[..3], [Value::Null, Value::Null, Value::Null]);
    scores[3].as_object_mut().unwrap().remove("manifest");
    for key in ["gold_hash", "pred_hash"] {
        assert!(
            scores[3]
                .as_object_mut()
                .unwrap()
                .remove(key)
                .is_some_and(|hash| hash.is_string())
        );
    }
    assert_eq!(scores[3], row);
    assert_eq!(scores[2]["positional"], json!(true));
}

#[test]
fn a_csv_result_file_is_valid_input() {
    let folder = Folder::with("rows.jsonl", ROWS);
    folder.run("score rows.jsonl -m same_text --out scores.csv");
    assert_eq!(
        folder.read("scores.csv").lines().next().unwrap(),
        "id,attributes.topic,same_text,same_text.outcome,same_text.passed,same_text.confidence,\
         same_text.details,same_text.feedback,same_text.cost_msats,gold_hash,pred_hash,positional,manifest"
    );
    let maps = "--map gold.answer=same_text --map pred.answer=same_text.confidence";
    let again = folder.printed(&format!("score scores.csv -m distance {maps}"));
    assert_eq!(
        again,
        "distance  0.2500 [0.0000, 759.6185; few rows] (mean of 4/4, 0 failed)\n"
    );
}

#[test]
fn the_same_rows_in_every_format() {
    let folder = Folder::new();
    let rows = [("a", 1.0, 2.0), ("b", 3.0, 3.0)];
    let json = |(id, gold, pred): &(_, f64, f64)| {
        json!({"id": id, "gold": {"answer": gold}, "pred": {"answer": pred}}).to_string()
    };
    let json: Vec<_> = rows.iter().map(json).collect();
    folder.write(
        "rows.jsonl",
        format!("\u{feff}{}\r\n", json.join("\r\n\r\n")),
    );
    folder.write("rows.ndjson", json.join("\n"));
    folder.write(
        "rows.json",
        format!("\u{feff}[\r\n{}\r\n]", json.join(",\r\n")),
    );
    folder.write(
        "rows.csv",
        "\u{feff}id,gold.answer,pred.answer\r\na,1,2.0\r\n\r\nb,3,\"3\"",
    );
    let headline = "distance  0.5000 [0.0031, 75.6510; few rows] (mean of 2/2, 0 failed)\n";
    for file in ["rows.jsonl", "rows.ndjson", "rows.json", "rows.csv"] {
        let printed = folder.printed(&format!("score {file} -m distance --out scores.jsonl"));
        assert_eq!(printed, headline, "{file}");
        let scores = lines(&folder.read("scores.jsonl"));
        assert_eq!(
            (&scores[0]["id"], &scores[1]["id"]),
            (&json!("a"), &json!("b"))
        );
    }
    folder.write("rows.txt", json.join("\n"));
    assert_eq!(
        folder.printed("score rows.txt --format jsonl -m distance"),
        headline
    );
}

#[test]
fn rows_without_ids_are_identified_by_their_number() {
    let row = r#"{"pred": {"answer": "1"}}"#;
    let folder = Folder::with("one.jsonl", format!("\n{row}\n{row}\n"));
    folder.write("two.csv", "pred.answer,note\n1,\"two\nlines\"\n\n1,one\n");
    let ids = |files: &str| -> Vec<String> {
        folder.printed(&format!("score {files} -m obeys --out scores.jsonl"));
        let scores = lines(&folder.read("scores.jsonl"));
        scores
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("one.jsonl"), ["1", "2"]);
    assert_eq!(ids("two.csv"), ["1", "2"]);
    folder.write("three.json", format!("[\n\n{row}, {row}]"));
    assert_eq!(ids("three.json"), ["1", "2"]);
    let both = ["one.jsonl:1", "one.jsonl:2", "two.csv:1", "two.csv:2"];
    assert_eq!(ids("one.jsonl two.csv"), both);
}

#[test]
fn flat_rows_are_mapped() {
    let row =
        r#"{"key": 7, "answers": ["x", "y"], "choices": [{"text": "z"}, {"text": "y"}], "a.b": 1}"#;
    let folder = Folder::with("rows.jsonl", row);
    let maps = "--map id=key --map gold.answers=answers --map pred.answer=choices.1.text";
    let printed = folder.printed(&format!(
        "score rows.jsonl -m any_of --out scores.jsonl {maps}"
    ));
    assert_eq!(printed, "any_of  100.00% [20.65, 100.00] (1/1, 0 failed)\n");
    assert_eq!(lines(&folder.read("scores.jsonl"))[0]["id"], "7");
}

#[test]
fn values_of_gold_and_keys_with_dots_are_mapped() {
    let folder = Folder::with("rows.jsonl", r#"{"gold": 4.5, "pred": {"out.value": 4}}"#);
    let maps = "--map gold.answer=gold --map pred.answer=pred.out.value";
    let printed = folder.printed(&format!("score rows.jsonl -m distance {maps}"));
    assert_eq!(
        printed,
        "distance  0.5000 [not enough rows] (mean of 1/1, 0 failed)\n"
    );
}

#[test]
fn a_mapping_that_no_row_uses_is_a_warning() {
    let folder = Folder::with("rows.jsonl", r#"{"pred": {"answer": "x"}}"#);
    let args = "score rows.jsonl -m short_note --param short_note.limit=3 --map pred.note=notes";
    assert_snapshot!(folder.run(args), @"
    short_note  not enough rows (0/1 scored, 0 failed, 1 abstained)
    -- standard error --
    warning: --map pred.note=notes: no row has `notes`
    -- exit code 0 --
    ");
    folder.printed(&format!("{args} --quiet"));
}

#[test]
fn parameters_configure_a_metric() {
    let folder = Folder::with(
        "rows.csv",
        "gold.answer,pred.answer,pred.note\n1,3,ab\n1,5,abc\n",
    );
    let score = |args: &str| folder.printed(&format!("score rows.csv {args}"));
    let scaled = score("-m distance --param distance.scale=2");
    assert_eq!(
        scaled,
        "distance  1.5000 [0.0753, 29.0872; few rows] (mean of 2/2, 0 failed)\n"
    );
    let limited = score("-m short_note --param short_note.limit=2");
    assert_eq!(
        limited,
        "short_note  50.00% [9.45, 90.55] (1/2, 0 failed)\n"
    );
}

#[test]
fn failures_of_a_metric_are_counted_and_shown() {
    let folder = orders("1 panic nan fail 1");
    // One line of the panic, and no output of the default panic hook.
    assert_snapshot!(folder.run("score rows.jsonl -m obeys --out scores.jsonl"), @"
    obeys  0.4000 [-0.2801, 1.0801; few rows] (mean of 2/5, 3 failed counted as 0; 1.0000 over the 2 scored)
    -- standard error --
    warning: 3 rows failed; first error: rows.jsonl:2: metric `obeys` panicked: ordered to panic
    -- exit code 0 --
    ");
    let scores = lines(&folder.read("scores.jsonl"));
    let errors: Vec<_> = scores
        .iter()
        .map(|row| row["scores"]["obeys"]["error"].clone())
        .collect();
    let expected = [
        Value::Null,
        json!("metric `obeys` panicked: ordered to\npanic"),
        json!("metric `obeys`: the score NaN is not a finite number"),
        json!("metric `obeys`: ordered to fail"),
        Value::Null,
    ];
    assert_eq!(errors, expected);
}

#[test]
fn a_failed_row_counts_as_the_failure_score() {
    let folder = orders("1 fail");
    assert_snapshot!(folder.run("score rows.jsonl -m obeys --failure-score -1 -q"), @"
    obeys  0.0000 [-12.7062, 12.7062; few rows] (mean of 1/2, 1 failed counted as -1; 1.0000 over the 1 scored)
    -- exit code 0 --
    ");
}

#[test]
fn max_errors_stops_the_run_and_keeps_finished_rows() {
    let folder = orders("1 fail 1 fail 1 1 1");
    let args = "score rows.jsonl -m obeys --concurrency 1 --out scores.jsonl";
    assert_snapshot!(folder.run(&format!("{args} --max-errors 2 -q")), @"
    obeys  0.5000 [-0.4187, 1.4187; few rows] (mean of 2/4, 2 failed counted as 0; 1.0000 over the 2 scored)
    after 4 rows: incomplete: too many rows failed
    -- standard error --
    stopped after 4 rows: 2 failed, the --max-errors limit
    -- exit code 1 --
    ");
    assert_eq!(lines(&folder.read("scores.jsonl")).len(), 4);
    folder.printed(&format!("{args} --max-errors 3 -q"));
}

#[test]
fn with_max_errors_an_unreadable_row_is_a_failed_row() {
    let rows = "{\"pred\": {\"answer\": \"1\"}}\n{\"pred\": {}}\n{\"pred\": {\"answer\": {}}}\n";
    let folder = Folder::with("rows.jsonl", rows);
    assert_snapshot!(folder.run("score rows.jsonl -m obeys --max-errors 9"), @"
    obeys  0.3333 [-1.1009, 1.7676; few rows] (mean of 1/3, 2 failed counted as 0; 1.0000 over the 1 scored)
    -- standard error --
    warning: 2 rows failed; first error: rows.jsonl:2: metric `obeys`: no field `pred.answer`; found no fields
    -- exit code 0 --
    ");
}

#[test]
fn a_row_that_takes_too_long_fails() {
    let folder = Folder::with(
        "rows.jsonl",
        "{\"pred\":{\"seconds\":0}}\n{\"pred\":{\"seconds\":60}}",
    );
    assert_snapshot!(folder.run("score rows.jsonl -m sleeps --timeout 200ms"), @"
    sleeps  50.00% [9.45, 90.55] (1/2, 1 failed counted as 0; 100.00% of the 1 scored)
    -- standard error --
    warning: 1 row failed; first error: rows.jsonl:2: metric `sleeps` returned no score within 0.2 s
    -- exit code 0 --
    ");
}

#[test]
fn the_report_is_the_same_at_any_concurrency() {
    let orders_of: Vec<String> = (0..500).map(|n| format!("0.{n}")).collect();
    let folder = orders(&orders_of.join(" "));
    let run = |concurrency: &str| {
        let args = "score rows.jsonl -m obeys --out s.jsonl --concurrency";
        let ran = folder.run(&format!("{args} {concurrency}"));
        (ran, folder.read("s.jsonl"))
    };
    assert_eq!(run("1"), run("64"));
}

#[test]
fn csv_booleans_as_python_writes_them() {
    let folder = Folder::with(
        "rows.csv",
        "pred.sure\nTrue\ntrue\nTRUE\nFalse\nfalse\nFALSE\n",
    );
    let printed = folder.printed("score rows.csv -m certain");
    assert_eq!(printed, "certain  50.00% [18.76, 81.24] (3/6, 0 failed)\n");
}

#[test]
fn with_max_errors_a_row_whose_reading_panics_is_a_failed_row() {
    let rows = "{\"pred\": {\"word\": \"a\"}}\n{\"pred\": {\"word\": \"!\"}}\n";
    let folder = Folder::with("rows.jsonl", rows);
    assert_snapshot!(folder.run("score rows.jsonl -m pickiness --max-errors 9"), @"
    pickiness  50.00% [9.45, 90.55] (1/2, 1 failed counted as 0; 100.00% of the 1 scored)
    -- standard error --
    warning: 1 row failed; first error: rows.jsonl:2: metric `pickiness` panicked: cannot read `!`
    -- exit code 0 --
    ");
}

#[test]
fn corpus_scores_and_several_ranks_are_printed_with_the_mean() {
    let rows = r#"{"gold": {"answer": "a b c d", "relevant": ["x"]}, "pred": {"answer": "a b", "retrieved": ["y", "x"]}}
{"gold": {"answer": "a b", "relevant": {"x": 2, "y": 1}}, "pred": {"answer": "a b", "retrieved": {"x": 0.9, "y": 0.1}}}
{"gold": {"answer": "a", "relevant": []}, "pred": {"answer": "b", "retrieved": []}}"#;
    let args = "score rows.jsonl -m wer,recall_at_k --param recall_at_k.k=[1,2]";
    let folder = Folder::with("rows.jsonl", rows);
    assert_snapshot!(folder.run(args), @"
    wer               0.5000 [-0.7421, 1.7421; few rows] (mean of 3/3, 0 failed); corpus 0.4286
    recall_at_k       0.2500 [0.0012, 0.9897; few rows] (mean of 2/3, 0 failed, 1 abstained)
    recall_at_k.at_1  0.2500 [0.0012, 0.9897; few rows] (mean of 2/3, 0 failed, 1 abstained)
    recall_at_k.at_2  1.0000 [0.0092, 1.0000; few rows] (mean of 2/3, 0 failed, 1 abstained)
    -- exit code 0 --
    ");
    let json = folder.json(&format!("{args} --json"));
    assert_eq!(json["metrics"]["wer"]["corpus"], 3.0 / 7.0);
}

#[test]
fn latency_tokens_and_cost_are_read_from_rows_by_mapping() {
    let rows = concat!(
        r#"{"id":"a","gold":{},"pred":{"answer":"x"},"usage":{"s":0.5,"prompt":120,"completion":8,"msat":40}}"#,
        "\n",
        r#"{"id":"b","gold":{},"pred":{"answer":"y"},"usage":{"s":1.5,"prompt":80,"completion":2,"msat":20}}"#,
        "\n",
    );
    let folder = Folder::with("rows.jsonl", rows);
    let metrics = "score rows.jsonl -m latency,tokens,cost --json";
    let map = "--map pred.latency_s=usage.s --map pred.input_tokens=usage.prompt --map pred.output_tokens=usage.completion --map pred.cost_msats=usage.msat";
    let report = folder.json(&format!("{metrics} {map}"));
    let means = ["latency", "tokens", "cost"].map(|name| report["metrics"][name]["mean"].as_f64());
    assert_eq!(means, [Some(1.0), Some(105.0), Some(30.0)]);
    let ran = folder.run("score rows.jsonl -m tokens");
    assert!(
        ran.err
            .contains("expected the program's token counts, found none"),
        "{ran:?}"
    );
    assert!(
        ran.err
            .contains("set or map the fields `pred.input_tokens` and"),
        "{ran:?}"
    );
}
