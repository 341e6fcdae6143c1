//! Predictions without a field: counted and printed; exit code 2 with the nearest name if no row has the field.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{Folder, Ran};

/// Rows with these predictions.
fn rows(preds: &[Value]) -> Folder {
    let gold = json!({ "answer": "Paris", "question": "Where?" });
    let row = |pred: &Value| json!({ "gold": gold, "pred": pred }).to_string() + "\n";
    Folder::with("rows.jsonl", preds.iter().map(row).collect::<String>())
}

fn score(folder: &Folder, args: &str) -> Ran {
    folder.run(&format!("score rows.jsonl --quiet {args}"))
}

#[test]
fn a_field_that_some_rows_lack_is_counted_and_printed() {
    let folder = rows(&[
        json!({ "answer": "Paris" }),
        json!({ "anwser": "Paris" }),
        json!({}),
    ]);
    assert_snapshot!(score(&folder, "-m em,answer_present --out scores.jsonl"), @"
    em              33.33% [6.15, 79.23] (1/3, 0 failed, 2 without `answer`)
    answer_present  33.33% [6.15, 79.23] (1/3, 0 failed, 2 without `answer`)
    -- exit code 0 --
    ");
    let second: Value =
        serde_json::from_str(folder.read("scores.jsonl").lines().nth(1).unwrap()).unwrap();
    let em = &second["scores"]["em"];
    assert_eq!(
        (&em["outcome"], &em["value"]),
        (&json!("scored"), &json!(0.0))
    );
    assert_eq!(em["missing"], json!(["answer"]));
    assert_eq!(em["feedback"], "the prediction has no field `answer`");

    let ran = score(&folder, "-m em --json");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let em = &report["metrics"]["em"];
    assert_eq!(
        (&em["missing"], &em["missing_fields"]),
        (&json!(2), &json!({ "answer": 2 }))
    );
    assert!(em["unknown_fields"].is_null());
}

#[test]
fn a_field_that_no_row_has_is_exit_code_2_with_the_nearest_name() {
    let folder = rows(&[json!({ "anwser": "Paris" }), json!({ "anwser": "Rome" })]);
    assert_snapshot!(score(&folder, "-m em --fail-under em=0.5"), @"
    em  not scored: no prediction has a field `answer`; did you mean `anwser`? (0/2 rows)
    -- standard error --
    em: no prediction has a field `answer`; did you mean `anwser`? if the rows have it elsewhere, pass --map pred.answer=PATH
    -- exit code 2 --
    ");
    let mapped = score(&folder, "-m em --map pred.answer=pred.anwser");
    assert_eq!(
        (mapped.code, &*mapped.out),
        (Some(0), "em  50.00% [9.45, 90.55] (1/2, 0 failed)\n")
    );
    assert_snapshot!(score(&folder, "-m em --map pred.answer=pred.reply"), @"
    em  not scored: no prediction has a field `answer`; did you mean `anwser`? (0/2 rows)
    -- standard error --
    em: no prediction has a field `answer`; did you mean `anwser`? --map names `pred.reply`, which no row has
    -- exit code 2 --
    ");
}

#[test]
fn a_misspelt_name_in_a_parameter_is_found_as_well() {
    let folder = rows(&[json!({ "summary": "short" }), json!({ "summary": "short" })]);
    let params = "-m length --param length.max_chars=9 --param";
    let ran = score(&folder, &format!("{params} length.field=sumary"));
    assert_snapshot!(ran, @"
    length  not scored: no prediction has a field `sumary`; did you mean `summary`? (0/2 rows)
    -- standard error --
    length: no prediction has a field `sumary`; did you mean `summary`? if the rows have it elsewhere, pass --map pred.sumary=PATH
    -- exit code 2 --
    ");
    let ran = score(&folder, &format!("{params} length.field=summary"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn the_other_metrics_of_the_run_and_their_rows_are_kept() {
    let folder = rows(&[json!({ "answer": "Paris" }), json!({ "answer": "Rome" })]);
    let ran = score(
        &folder,
        "-m em,answer_passage_match --json --out scores.jsonl",
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["metrics"]["em"]["score"], 0.5);
    let passages = &report["metrics"]["answer_passage_match"];
    assert_eq!(
        (&passages["score"], &passages["missing"]),
        (&Value::Null, &json!(2))
    );
    assert_eq!(passages["unknown_fields"][0]["name"], "context");
    assert_eq!(folder.read("scores.jsonl").lines().count(), 2);
}

#[test]
fn a_heritage_row_with_intent_and_answer_only_is_0_4() {
    let gold = json!({ "expected_intent": "temporal", "expected_entities": ["Louvre"] });
    let full = json!({
        "intent": "temporal", "entities": ["Louvre"], "sparql_query": "SELECT ?s { ?s ?p ?o }",
        "answer": "1793", "sources_used": ["h:louvre"],
    });
    let part = json!({ "intent": "temporal", "answer": "1793" });
    let rows = [&full, &part].map(|pred| json!({ "gold": gold, "pred": pred }).to_string());
    let folder = Folder::with("rows.jsonl", rows.join("\n"));
    assert_snapshot!(score(&folder, "-m heritage_rag,heritage_rag_strict"), @"
    heritage_rag         0.7000 [0.0070, 0.9987; few rows] (mean of 2/2, 0 failed, 1 without `entities`, `sources_used`, `sparql_query`)
    heritage_rag_strict  50.00% [9.45, 90.55] (1/2, 0 failed, 1 without `entities`, `sparql_query`)
    -- exit code 0 --
    ");
}

#[test]
fn a_missing_gold_field_and_a_field_of_your_own_metric_are_errors() {
    let folder = Folder::with("rows.jsonl", r#"{"gold": {}, "pred": {}}"#);
    let error = folder.score_error("rows.jsonl -m em");
    assert_eq!(
        error,
        "rows.jsonl:1: metric `em`: no field `gold.answer`; found no fields; if the row has it elsewhere, \
         pass --map gold.answer=PATH"
    );
    let folder = rows(&[json!({})]);
    let error = folder.score_error("rows.jsonl -m same_text");
    assert!(
        error.contains("metric `same_text`: no field `pred.answer`"),
        "{error}"
    );
}

#[test]
fn the_list_shows_which_fields_may_be_missing() {
    let ran = Folder::new().run("list em outcome_coupled");
    assert!(
        ran.out
            .contains("  reads  pred.answer: string, may be missing\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("  reads  gold.answer: string or list of strings\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("  reads  pred.was_repeated: true or false\n"),
        "{}",
        ran.out
    );
    let list = Folder::new().json("list em --json");
    assert_eq!(list[0]["missing"], 0.0);
    assert_eq!(list[0]["pred"][0]["may_be_missing"], true);
    assert_eq!(
        list[0]["gold"][0]
            .as_object()
            .unwrap()
            .get("may_be_missing"),
        None
    );
}
