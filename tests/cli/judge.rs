//! Judges on the command line.

use insta::assert_snapshot;
use serde_json::Value;

use crate::Folder;

const ROWS: &str = concat!(
    r#"{"id": 1, "gold": {"question": "Where is the Louvre?", "response": "in Paris"}, "#,
    r#""pred": {"response": "in Paris"}}"#,
    "\n",
    r#"{"id": 2, "gold": {"question": "Where is Kew?", "response": "in London"}, "#,
    r#""pred": {"response": "somewhere else"}}"#,
    "\n",
);

/// How a model is set, in this build.
#[cfg(feature = "lm")]
const SET_MODEL: &str = "set DSRS_LM=provider:model, such as openai:gpt-6-luna, or pass `--lm provider:model` (in code `.with_lm(..)`)";
#[cfg(not(feature = "lm"))]
const SET_MODEL: &str = "build with the `lm` feature, and set DSRS_LM=provider:model or pass `--lm provider:model`; or set a model in code with `.with_lm(..)`";

fn folder() -> Folder {
    Folder::with("rows.jsonl", ROWS)
}

#[test]
fn a_judge_without_a_model_is_an_error_before_the_first_row() {
    let expected = |metric: &str| {
        format!(
            "metric `{metric}`: no language model is configured; {SET_MODEL}; to score by token overlap instead, pass `--offline` (in code `.offline()`)"
        )
    };
    // A gate that word overlap would pass, and all that a run writes.
    let options = "--fail-under semantic_f1=0.1 --out out.jsonl";
    let files = "--junit r.xml --markdown r.md --summary s.csv";
    for more in ["", "--json", "--max-errors 9", "--quiet"] {
        let start = "rows.jsonl -m f1,semantic_f1 --map gold.answer=gold.response";
        let args = format!("{start} {options} {files} {more}");
        assert_eq!(folder().score_error(&args), expected("semantic_f1"));
    }
    for metric in [
        "decompositional_semantic_f1",
        "complete_and_grounded",
        "llm_judge",
    ] {
        assert_eq!(
            folder().score_error(&format!("rows.jsonl -m {metric}")),
            expected(metric)
        );
    }
    let diff = "rows.jsonl -m diff --param diff.strictness=semantic --max-errors 9";
    assert_eq!(folder().score_error(diff), expected("diff"));
    // Before a row that cannot be read.
    let invalid = Folder::with("rows.jsonl", "{\n");
    assert_eq!(
        invalid.score_error("rows.jsonl -m semantic_f1"),
        expected("semantic_f1")
    );
}

#[test]
fn offline_every_output_says_that_no_model_judged() {
    let folder = folder();
    let score = |more: &str| {
        let ran = folder.run(&format!(
            "score rows.jsonl -m semantic_f1 --offline --quiet {more}"
        ));
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{ran:?}");
        ran.out
    };
    let headline = "semantic_f1  0.5000 [0.0015, 0.9985; few rows] (mean of 2/2, 0 failed; judge: offline-lexical)\n";
    let files = "--out out.jsonl --junit r.xml --markdown r.md";
    assert_eq!(
        score(&format!("{files} --fail-under semantic_f1=0.4")),
        headline
    );
    let lines = folder.read("out.jsonl");
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let details = line["scores"]["semantic_f1"]["details"].as_str().unwrap();
        assert!(details.starts_with("judge: offline-lexical. "), "{details}");
    }
    assert_eq!(lines.lines().count(), 2);
    let xml = folder.read("r.xml");
    let suite = xml.split_once("<testsuite ").unwrap().1;
    assert!(
        suite.contains("   <property name=\"judge\" value=\"offline-lexical\"/>\n  </properties>"),
        "{xml}"
    );
    let markdown = folder.read("r.md");
    assert!(
        markdown.contains("0 failed; judge: offline-lexical)"),
        "{markdown}"
    );
    let report: Value = serde_json::from_str(&score("--json")).unwrap();
    assert_eq!(report["metrics"]["semantic_f1"]["judged_offline"], 2);
}

#[test]
fn offline_and_a_model_exclude_each_other() {
    for lm in ["openai:m", "scripted:lm"] {
        let ran = folder().run(&format!(
            "score rows.jsonl -m semantic_f1 --offline --lm {lm}"
        ));
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{ran:?}");
        let expected =
            "error: the argument '--offline' cannot be used with '--lm <PROVIDER:MODEL>'\n";
        assert!(ran.err.starts_with(expected), "{}", ran.err);
    }
    // A model that the judge names is not called either.
    let models = "--param semantic_f1.models=openai:gpt-6-luna,default";
    assert_snapshot!(folder().score_error(&format!("rows.jsonl -m semantic_f1 --offline {models}")),
        @"metric `semantic_f1`: the judge names the model `openai:gpt-6-luna`, which is not called with `--offline`; remove `--offline` (in code `Models::offline()`), or the model's name");
}

#[test]
fn offline_without_effect_is_a_warning() {
    let map = "--map gold.answer=gold.response --map pred.answer=pred.response";
    let args = format!("score rows.jsonl -m f1 --offline {map}");
    let ran = folder().run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.err,
        "warning: --offline: no metric in this run uses it\n"
    );
    assert_eq!(folder().run(&format!("{args} -q")).err, "");
}

#[cfg(not(feature = "lm"))]
#[test]
fn a_program_without_models_says_how_to_build_with_them() {
    for (option, value) in [
        ("--lm", "openai:m"),
        ("--budget", "5sat"),
        ("--no-store", ""),
        ("--refresh", ""),
        ("--estimate", ""),
    ] {
        let said = folder().score_error(&format!("rows.jsonl -m semantic_f1 {option} {value}"));
        let start = format!("{option}: this program was built without language models; ");
        assert!(
            said.starts_with(&start) && said.contains("--features cli,lm"),
            "{said}"
        );
    }
}

#[test]
fn what_is_measured_of_the_offline_judge_is_said_to_be_of_it() {
    let rows = ROWS.replacen("\"id\": 1", "\"good\": true, \"id\": 1", 1);
    let rows = rows.replacen("\"id\": 2", "\"good\": false, \"id\": 2", 1);
    let folder = Folder::with("rows.jsonl", rows);
    for out in ["out.jsonl", "out.csv"] {
        folder.run(&format!(
            "score rows.jsonl -m semantic_f1 --offline --out {out} --quiet"
        ));
        let text = folder.run(&format!("agree {out} --label good")).out;
        let head = "semantic_f1 against good (2 rows with judge: offline-lexical)\n";
        assert!(text.starts_with(head), "{out}: {text}");
        let report = folder.json(&format!("agree {out} --label good --json"));
        assert_eq!(
            report["metrics"]["semantic_f1"]["judged_offline"], 2,
            "{out}"
        );
        assert_eq!(report["metrics"]["semantic_f1"]["compared"], 2, "{out}");
    }
}
