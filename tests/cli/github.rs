//! `--github`, and the properties of `--junit`: what a CI system shows of limits.

use std::path::Path;

use dsrs_metrics_tests::Peer;
use insta::assert_snapshot;

use crate::Folder;

const ROWS: &str = r#"{"id": "a", "gold": {"answer": "x"}, "pred": {"answer": "0.75"}, "latency_s": 0.5, "scores": {"em": {"outcome": "abstained"}}}
{"id": "b", "gold": {"answer": "x"}, "pred": {"answer": "0.25"}, "latency_s": 1.25, "scores": {"em": {"outcome": "abstained"}}}
{"id": "c", "gold": {"answer": "1"}, "pred": {"answer": "1"}}
"#;

const SCORE: &str = "score rows.jsonl -m obeys,same_text -q";

#[test]
fn a_limit_that_fails_is_an_annotation_on_standard_error() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let limits = "--fail-under same_text=90% --fail-under obeys=0.5";
    let plain = folder.run(&format!("{SCORE} {limits}"));
    assert_eq!(
        (plain.code, &*plain.err),
        (Some(1), "same_text: 33.33% is below 90%\n")
    );
    let ran = folder.run(&format!("{SCORE} {limits} --github"));
    let line = "::error title=dsrs-metrics score::same_text: 33.33%25 is below 90%25\n";
    assert_eq!((ran.code, &*ran.err), (Some(1), line));
    assert_eq!(ran.out, plain.out, "results are the same");
}

#[test]
fn limits_of_failed_rows_are_annotations() {
    let row = r#"{"id": "a", "gold": {}, "pred": {"answer": "fail\n::error::x"}}"#;
    let folder = Folder::with("rows.jsonl", row);
    let args = "score rows.jsonl -m obeys -q --github";
    let ran = folder.run(args);
    let line = "::error title=dsrs-metrics score::obeys: all rows failed: 1\n";
    assert_eq!((ran.code, &*ran.err), (Some(1), line));
    let ran = folder.run(&format!("{args} --max-errors 1"));
    let stopped = "::error title=dsrs-metrics score::stopped after 1 rows: 1 failed, the --max-errors limit\n";
    assert_eq!((ran.code, ran.err), (Some(1), format!("{line}{stopped}")));
}

/// Two runs; the second is wrong in `wrong` of 12 rows.
fn runs(wrong: usize) -> Folder {
    let folder = Folder::new();
    for (run, wrong) in [("old", 0), ("new", wrong)] {
        let row = |row: usize| {
            let answer = if row < wrong { "no" } else { "yes" };
            format!(
                "{{\"id\": {row}, \"gold\": {{\"answer\": \"yes\"}}, \"pred\": {{\"answer\": \"{answer}\"}}}}\n"
            )
        };
        folder.write("rows.jsonl", (0..12).map(row).collect::<String>());
        let out = format!("{run}.jsonl");
        let ran = folder.run(&format!("score rows.jsonl -m same_text -q --out {out}"));
        assert_eq!(ran.code, Some(0));
    }
    folder
}

#[test]
fn a_metric_that_is_worse_is_an_annotation() {
    let folder = runs(10);
    let args = "compare old.jsonl new.jsonl --fail-if-worse";
    let plain = folder.run(args);
    let ran = folder.run(&format!("{args} --github"));
    assert_eq!((ran.code, &ran.out), (Some(1), &plain.out));
    let line = plain.err.trim_end().replace('%', "%25");
    assert!(line.starts_with("B is worse: same_text"), "{line}");
    assert_eq!(
        ran.err,
        format!("::error title=dsrs-metrics compare::{line}\n")
    );
    let folder = runs(0);
    folder.printed(&format!("{args} --github"));
}

#[test]
fn a_metric_that_is_not_compared_is_an_annotation_and_an_error() {
    let folder = Folder::with("rows.jsonl", ROWS);
    for (out, threshold) in [
        ("old.jsonl", "obeys.threshold=0.5"),
        ("new.jsonl", "obeys.threshold=0.6"),
    ] {
        let args = format!("--param {threshold} --out {out}");
        let ran = folder.run(&format!("score rows.jsonl -m obeys -q {args}"));
        assert_eq!(ran.code, Some(0));
    }
    let ran = folder.run("compare old.jsonl new.jsonl --github");
    let (first, second) = ran.err.split_once('\n').unwrap();
    let message = second.strip_prefix("error: ").unwrap().trim_end();
    assert!(message.contains("threshold"), "{message}");
    assert_eq!(
        first,
        format!("::error title=dsrs-metrics compare::{message}")
    );
    assert_eq!(ran.code, Some(2));
}

#[test]
fn junit_has_score_interval_and_the_times_that_the_program_reported() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let limits = "--fail-under same_text=90% --fail-under obeys=0.5";
    let ran = folder.run(&format!("{SCORE} {limits} --junit r.xml"));
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(folder.read("r.xml"));
}

#[test]
fn the_junit_file_is_valid_by_the_schema_of_its_readers() {
    let Some(peer) = Peer::with(&["lxml"]) else {
        return;
    };
    let row = r#"{"id": "e", "gold": {"answer": "x"}, "pred": {"answer": "fail"}}"#;
    let folder = Folder::with("rows.jsonl", format!("{ROWS}{row}\n"));
    let args = "score rows.jsonl -m obeys,same_text,short_note --param short_note.limit=3 --param \
                obeys.threshold=0.5 --fail-under obeys=0.6 --junit r.xml -q";
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let xml = folder.read("r.xml");
    for element in ["<failure ", "<error ", "<skipped ", "<property "] {
        assert!(xml.contains(element), "no {element} in {xml}");
    }
    let script = "import sys; from lxml import etree\n\
                  schema = etree.XMLSchema(etree.parse(sys.argv[1]))\n\
                  schema.assertValid(etree.parse(sys.argv[2])); print('valid')";
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/data/junit.xsd");
    let file = folder.path("r.xml");
    let args = [
        "-c",
        script,
        schema.to_str().unwrap(),
        file.to_str().unwrap(),
    ];
    assert_eq!(peer.output(&args).as_deref(), Ok("valid"));
}
