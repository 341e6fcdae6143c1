//! `--junit`, `--markdown` and `--summary`: what CI systems and dashboards read.

use dsrs_metrics::metrics::{Breakdown, Check};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::Results;
use dsrs_metrics::{Evaluate, rows::Pair};
use dsrs_metrics_tests::Peer;
use serde_json::{Value, json};

use crate::Folder;

/// A row that passes, one that fails the threshold, one with an error, and one with characters that XML cannot contain.
const ROWS: &str = r#"{"id": "a<1>", "gold": {"answer": "x"}, "pred": {"answer": "0.75"}}
{"id": "b", "gold": {"answer": "x"}, "pred": {"answer": "0.25"}}
{"id": "c", "gold": {"answer": "x"}, "pred": {"answer": "fail & \"]]>\u0000<b>"}}
{"id": "d\u0001\u2028é", "gold": {"answer": "1"}, "pred": {"answer": "1"}}
"#;

fn scored(args: &str) -> Folder {
    let folder = Folder::with("rows.jsonl", ROWS);
    let metrics = "score rows.jsonl -m obeys,same_text --param obeys.threshold=0.5";
    let ran = folder.run(&format!("{metrics} {args} --quiet"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

#[test]
fn junit_has_a_suite_for_each_metric_and_a_case_for_each_row() {
    let xml = scored("--junit r.xml").read("r.xml");
    let (first, second) = xml.split_once("</testsuite>").unwrap();
    assert!(
        first.starts_with(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rows.jsonl\">\n"
        ),
        "{xml}"
    );
    assert!(
        first.contains(r#"<testsuite name="obeys" tests="4" failures="1" errors="1" skipped="0">"#),
        "{xml}"
    );
    assert!(first.contains(r#"<testcase name="a&lt;1&gt;" classname="obeys"/>"#), "{xml}");
    assert!(
        first.contains(
            "<testcase name=\"b\" classname=\"obeys\">\n   <failure message=\"score 0.25\""
        ),
        "{xml}"
    );
    assert!(
        first.contains(
            "<testcase name=\"c\" classname=\"obeys\">\n   <error message=\"metric `obeys`: "
        ),
        "{xml}"
    );
    assert!(first.contains("name=\"d\u{FFFD}\u{2028}é\""), "{xml}");
    assert!(
        second.contains(
            r#"<testsuite name="same_text" tests="4" failures="3" errors="0" skipped="0">"#
        ),
        "{xml}"
    );
}

#[test]
fn the_xml_parser_of_python_reads_the_junit_file() {
    let Some(peer) = Peer::with(&[]) else { return };
    let folder = scored("--junit r.xml");
    let script = "import json, sys, xml.etree.ElementTree as tree\n\
                  suites = tree.parse(sys.argv[1]).getroot()\n\
                  print(json.dumps([[case.get('name'), [child.tag for child in case]] for case in suites[0].iter('testcase')]))";
    let file = folder.path("r.xml");
    let read = peer
        .output(&["-c", script, file.to_str().unwrap()])
        .unwrap_or_else(|error| panic!("{error}"));
    let read: Value = serde_json::from_str(&read).unwrap();
    let expected =
        json!([["a<1>", []], ["b", ["failure"]], ["c", ["error"]], ["d\u{FFFD}\u{2028}é", []]]);
    assert_eq!(read, expected);
}

#[metric(threshold = 0.5)]
fn told(#[pred] answer: &str) -> FeedbackMetric {
    FeedbackMetric::new(0.25, format!("write more than `{answer}`"))
}

#[metric]
fn cited(#[pred] answer: &str) -> Check {
    Check::unless((!answer.contains('[')).then(|| "cite a source as [1]".to_owned()))
}

#[metric(range = 0.0..=1.0, threshold = 0.75)]
fn style(#[pred] answer: &str) -> Breakdown {
    let uncited = (!answer.contains('[')).then(|| "no source".to_owned());
    Breakdown::default().with_check("short", 1.0, None).with_check("cited", 3.0, uncited)
}

#[test]
fn the_explanation_of_every_return_type_is_in_junit_and_csv() {
    let pair = Pair::new("q1", example! {}, prediction! { "answer" => "<x>" });
    let folder = Folder::new();
    let evaluate = Evaluate::builder()
        .metric(Told)
        .metric(Cited)
        .metric(Style)
        .save_as_csv(folder.path("o.csv"))
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let result = runtime.block_on(evaluate.score([pair])).unwrap();
    let xml = Results::of(&result).unwrap().junit().unwrap();
    for failure in [
        r#"<failure message="score 0.25">write more than `&lt;x&gt;`</failure>"#,
        r#"<failure message="score 0">cite a source as [1]</failure>"#,
        r#"<failure message="score 0.25">short 1, weight 1; cited 0, weight 3: no source</failure>"#,
    ] {
        assert!(xml.contains(failure), "{failure} is not in {xml}");
    }
    let table = folder.read("o.csv");
    for feedback in ["write more than `<x>`", "cite a source as [1]", "no source"] {
        assert!(table.contains(feedback), "{feedback} is not in {table}");
    }
}

#[test]
fn the_feedback_of_built_in_metrics_is_in_junit() {
    let folder = Folder::with("rows.jsonl", r#"{"gold": {}, "pred": {"answer": "a b c"}}"#);
    let args = "score rows.jsonl -m is_json,length --param length.max_words=2 --junit r.xml -q";
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let xml = folder.read("r.xml");
    let texts: Vec<_> = xml.split("<failure message=").skip(1).collect();
    assert_eq!(texts.len(), 2, "{xml}");
    let has_text = |it: &&str| it.split_once('>').is_some_and(|(start, _)| !start.ends_with('/'));
    assert!(texts.iter().all(has_text), "a failure has no text: {xml}");
}

#[test]
fn markdown_has_the_first_rows_that_do_not_pass_with_what_the_metric_wrote() {
    let row = |id: usize, answer: &str| {
        format!("{{\"id\": {id}, \"gold\": {{}}, \"pred\": {{\"answer\": \"{answer}\"}}}}\n")
    };
    let rows: String = (1..=100)
        .map(|id| match id {
            50 => row(id, "x | <b>"),
            60 => row(id, "fail"),
            id if id > 70 => row(id, "no"),
            id => row(id, "5"),
        })
        .collect();
    let folder = Folder::with("rows.jsonl", rows);
    let args = "score rows.jsonl -m is_json,obeys --param obeys.threshold=1 -q --markdown s.md";
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = folder.read("s.md");
    let (_, table) = text.split_once("\nThe first 20 rows that do not pass:\n\n").unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[..2], ["| row | metric | score | explanation |", "| --- | --- | --- | --- |"]);
    // Rows 50 and 60 and 18 of the others, each with both metrics.
    assert_eq!(lines.len(), 2 + 2 * 20, "{text}");
    assert!(lines[2].starts_with("| 50 | is\\_json | false | "), "{text}");
    assert!(lines[2].len() > "| 50 | is\\_json | false |  |".len(), "no explanation: {text}");
    assert!(lines[3].starts_with(r"| 50 | obeys | metric failed | metric \`obeys\`: "), "{text}");
    assert!(lines[3].contains(r#"unknown order "x \| &lt;b\>""#), "{text}");
    assert!(lines[5].starts_with("| 60 | obeys | metric failed | "), "{text}");
    assert!(lines[41].starts_with("| 88 | obeys | "), "{text}");
}

#[test]
fn rows_without_a_score_are_skipped() {
    let folder = Folder::with(
        "rows.jsonl",
        "{\"id\": \"a\", \"pred\": {\"answer\": \"1\"}}\n{\"id\": \"b\", \"pred\": {\"note\": \"1\"}}\n",
    );
    let args = "score rows.jsonl -m short_note --param short_note.limit=3 --junit r.xml --quiet";
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let xml = folder.read("r.xml");
    assert!(xml.contains(r#"tests="2" failures="0" errors="0" skipped="1""#), "{xml}");
    assert!(
        xml.contains(
            "<testcase name=\"a\" classname=\"short_note\">\n   <skipped message=\"abstained\"/>"
        ),
        "{xml}"
    );
}

#[test]
fn markdown_has_the_headlines_and_the_comparison() {
    let folder = scored("--markdown summary.md --out a.jsonl");
    let summary = folder.read("summary.md");
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(lines[..2], ["| metric | score |", "| --- | --- |"]);
    assert!(lines[2].starts_with("| obeys | "), "{summary}");
    assert!(
        lines[3].starts_with(r"| same\_text | 25.00% \[4.56, 69.94\] (1/4, 0 failed"),
        "{summary}"
    );

    let ran = folder.run("compare a.jsonl a.jsonl -m same_text --markdown c.md");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        folder.read("c.md"),
        "A: a.jsonl, 4 rows of rows.jsonl<br>\nB: a.jsonl, 4 rows of rows.jsonl\n\n\
         | metric | n | A | B | B - A | 95% interval | p | B better | A better | equal |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n\
         | same\\_text | 4 | 25.00% | 25.00% | 0.00 | - | 1.000 | 0 | 0 | 4 |\n\n\
         - same\\_text: not enough rows: found 4 rows, a test at 5% needs at least 6 rows\n"
    );
}

#[test]
fn summary_has_standard_errors_and_intervals() {
    let folder = scored("--summary s.csv");
    let table = folder.read("s.csv");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let header = rows.headers().unwrap().iter().collect::<Vec<_>>().join(" ");
    assert_eq!(
        header,
        "metric kind score stderr ci95_low ci95_high mean mean_scored scored failed gated skipped abstained cost_msats"
    );
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let cells = |row: usize| rows[row].iter().collect::<Vec<_>>();
    // 0.75, 0.25, failed, 1.
    assert_eq!(cells(0)[..3], ["obeys", "number", "0.5"]);
    assert_eq!(cells(0)[6..10], ["0.5", "0.6666666666666666", "3", "1"]);
    assert_eq!(cells(1)[..4], ["same_text", "bool", "0.25", "0.25"]);
    let high: f64 = cells(1)[5].parse().unwrap();
    assert!((high - 0.6994).abs() < 0.0001, "{high}");
}

#[test]
fn a_file_that_cannot_be_written_is_found_before_the_first_row() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let error = |file: &str| {
        let ran = folder.run(&[
            "score",
            "rows.jsonl",
            "-m",
            "same_text",
            "--junit",
            file,
            "--out",
            "o.jsonl",
        ]);
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{ran:?}");
        ran.err
    };
    assert_eq!(
        error("rows.jsonl"),
        "error: --junit rows.jsonl and DATA rows.jsonl are the same file; choose another file for --junit\n"
    );
    let message = error("no/such/r.xml");
    assert!(message.starts_with("error: --junit no/such/r.xml: cannot be written: "), "{message}");
    assert_eq!(folder.files(), ["rows.jsonl"]);
}
