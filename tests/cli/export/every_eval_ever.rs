//! Folders of *Every Eval Ever*, checked by its validator.

use std::fs;
use std::path::Path;

use dsrs_metrics_tests::Peer;
use serde_json::{Value, json};

use super::{ROWS, TAGS, export, read};
use crate::Folder;

#[test]
fn the_validator_of_every_eval_ever_accepts_both_files() {
    let Some(peer) = Peer::with(&["every-eval-ever"]) else {
        return;
    };
    let folder = Folder::with("run.jsonl", ROWS);
    let ran = export(&folder, "eee", "eee", TAGS);
    let note =
        "note: run.jsonl: results without a score are not in the output: 1 abstained, 1 gated\n";
    assert_eq!(ran.err, note);
    let read = &read(&peer, &folder)["eee"];
    assert_eq!(read["valid"], true, "{read}");
    let written: Vec<&str> = ran
        .out
        .lines()
        .map(|line| line.strip_prefix("eee/").unwrap())
        .collect();
    assert_eq!(read["files"], json!(written));
    let run = &read["run"];
    assert_eq!(run["source_metadata"]["source_organization_name"], "Acme");
    let [em, f1] = &run["evaluation_results"].as_array().unwrap()[..] else {
        panic!("{run}")
    };
    assert_eq!(
        (
            &em["metric_config"]["score_type"],
            &f1["metric_config"]["score_type"]
        ),
        (&json!("binary"), &json!("continuous"))
    );
    let details = json!({
        "scored": "2", "failed": "1", "gated": "0", "skipped": "0", "abstained": "1", "failure_score": "0",
    });
    assert_eq!(em["score_details"]["details"], details);
    let uncertainty = &em["score_details"]["uncertainty"];
    assert_eq!(
        (
            &uncertainty["num_samples"],
            &uncertainty["confidence_interval"]["method"]
        ),
        (&json!(3), &json!("Wilson"))
    );
    // Wilson's interval of 1 of 3.
    let low = uncertainty["confidence_interval"]["lower"]
        .as_f64()
        .unwrap();
    assert!((low - 0.061_491_943_949_738_57).abs() < 1e-9, "{low}");
    assert_eq!(f1["metric_config"]["min_score"], "-Infinity");
    let rows: Vec<Value> = read["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            json!([
                row["sample_id"],
                row["evaluation_name"],
                row["evaluation"]["score"],
                row["evaluation"]["is_correct"],
                row["error"]
            ])
        })
        .collect();
    let expected = json!([
        ["q1", "em", 1.0, true, null],
        ["q1", "f1", 0.25, false, null],
        ["q2", "em", 0.0, false, null],
        ["q2", "f1", 0.0, false, "no words"],
        ["q3", "em", 0.0, false, "timed out"],
        ["q3", "f1", 0.0, false, "timed out"],
    ]);
    assert_eq!(json!(rows), expected);
    assert_eq!(run["detailed_evaluation_results"]["total_rows"], 6);
}

#[test]
fn the_validator_accepts_a_run_with_its_manifest_and_with_an_agent() {
    let Some(peer) = Peer::with(&["every-eval-ever"]) else {
        return;
    };
    let data = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/data/heritage/heritage.baseline.jsonl");
    let agent = r#"{"id":"a1","gold":{"question":"Is it sunny?","answer":"yes"},"pred":{"answer":"yes","trajectory":[{"role":"user","content":"Is it sunny?"},{"role":"assistant","content":"","tool_calls":[{"name":"weather","args":{"city":"Rome","days":2}}]},{"role":"assistant","content":"yes"}]}}"#;
    for rows in [fs::read_to_string(data).unwrap(), format!("{agent}\n")] {
        let folder = Folder::with("rows.jsonl", rows);
        let args = "score rows.jsonl -m em,f1 --with-rows --out run.jsonl -q --label base";
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        export(
            &folder,
            "eee",
            "eee",
            &format!("{TAGS} --tag dataset=heritage/v1 --tag relationship=first_party"),
        );
        let read = &read(&peer, &folder)["eee"];
        assert_eq!(read["valid"], true, "{read}");
        assert_eq!(
            read["run"]["source_metadata"]["evaluator_relationship"],
            "first_party"
        );
        let description =
            &read["run"]["evaluation_results"][1]["metric_config"]["evaluation_description"];
        assert_eq!(
            description,
            "f1 of dsrs-metrics: version 1; F1.profile = dspy"
        );
        assert!(
            read["files"][0]
                .as_str()
                .unwrap()
                .starts_with("data/heritage_v1/acme/small/"),
            "{read}"
        );
    }
}

#[test]
fn the_offline_judge_is_not_a_model() {
    let Some(peer) = Peer::with(&["every-eval-ever", "mlflow-skinny"]) else {
        return;
    };
    let rows = r#"{"id":"r1","trace_id":"t1","gold":{"question":"q","response":"a b"},"pred":{"response":"a b"}}"#;
    let folder = Folder::with("rows.jsonl", rows);
    let args = "score rows.jsonl -m semantic_f1 --offline --with-rows -q";
    let ran = folder.run(&format!("{args} --out run.jsonl"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    export(&folder, "mlflow", "assessments.jsonl", "");
    export(&folder, "eee", "eee", TAGS);
    let read = read(&peer, &folder);
    assert_eq!(read["eee"]["valid"], true, "{read}");
    assert_eq!(
        read["assessments.jsonl"][0]["source"],
        json!(["CODE", "dsrs-metrics:semantic_f1"])
    );
    let config = &read["eee"]["run"]["evaluation_results"][0]["metric_config"];
    assert_eq!(
        config["additional_details"],
        json!({ "judge": "offline-lexical" })
    );
    assert_eq!(config["llm_scoring"], Value::Null);
}

#[test]
fn without_gold_rows_only_the_run_is_written() {
    let folder = Folder::with(
        "run.jsonl",
        r#"{"id":"q1","scores":{"em":{"outcome":"scored","value":1,"passed":true}}}"#,
    );
    let ran = export(&folder, "eee", "eee", TAGS);
    assert_eq!(ran.out.lines().count(), 1);
    let note = "note: run.jsonl: the rows are not exported, because the result file has no gold rows; write it with `score --with-rows`\n";
    assert_eq!(ran.err, note);
}

#[test]
fn what_every_eval_ever_needs_is_named_all_at_once() {
    let folder = Folder::with("run.jsonl", ROWS);
    let unscored = r#"{"id":"q1","scores":{"em":{"outcome":"abstained"}}}"#;
    folder.write("unscored.jsonl", unscored);
    let eee = |run: &str, tags: &str| {
        let error = folder.error("export", &format!("{run} --to eee --out eee {tags}"));
        error.strip_prefix("--to eee: ").unwrap().to_owned()
    };
    let (model, organization) = (
        "--tag model=DEVELOPER/NAME, the model that was evaluated",
        "--tag organization=NAME, who evaluated it",
    );
    let missing = format!("missing facts about the run; pass {model}, and {organization}");
    assert_eq!(eee("run.jsonl", ""), missing);
    for found in ["small", "acme/..", "acme/", "acme/a:b", "con/small"] {
        assert_eq!(
            eee(
                "run.jsonl",
                &format!("--tag model={found} --tag organization=Acme")
            ),
            missing
        );
    }
    let dataset = "invalid data set name `..\\x`: expected a folder name; pass --tag dataset=NAME";
    assert_eq!(
        eee("run.jsonl", &format!("{TAGS} --tag dataset=..\\x")),
        dataset
    );
    for (tag, allowed) in [
        (
            "relationship=ours",
            "first_party, third_party, collaborative, other",
        ),
        (
            "deployment=cloud",
            "self_deployed, externally_managed, unknown",
        ),
        ("availability=open", "open_weights, closed_weights, unknown"),
    ] {
        let message = format!("invalid tag {tag}; write one of: {allowed}");
        assert_eq!(eee("run.jsonl", &format!("{TAGS} --tag {tag}")), message);
    }
    assert_eq!(eee("unscored.jsonl", TAGS), "no metric has a score");
}
