//! `--junit`, `--markdown` and `--summary`: what CI systems and dashboards read.

use dsrs_metrics::metrics::{Breakdown, Check};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::Results;
use dsrs_metrics::{Evaluate, rows::Pair};
use dsrs_metrics_tests::Peer;
use insta::assert_snapshot;
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
    folder.printed(&format!("{metrics} {args} --quiet"));
    folder
}

#[test]
fn junit_has_a_suite_for_each_metric_and_a_case_for_each_row() {
    let xml = scored("--junit r.xml").read("r.xml");
    assert!(xml.contains("name=\"d\u{FFFD}\u{2028}é\""), "{xml}");
    assert_snapshot!(xml);
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
    let expected = json!([
        ["a<1>", []],
        ["b", ["failure"]],
        ["c", ["error"]],
        ["d\u{FFFD}\u{2028}é", []]
    ]);
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
    Breakdown::default()
        .with_check("short", 1.0, None)
        .with_check("cited", 3.0, uncited)
}

#[test]
fn the_explanation_of_every_return_type_is_in_junit_and_csv() {
    let pair = Pair::new("q1", example! {}, prediction! { "answer" => "<x>" });
    let folder = Folder::new();
    let evaluate = Evaluate::builder()
        .metric(Told)
        .metric(Cited)
        .metric(Style)
        .files(|files| files.csv(folder.path("o.csv")))
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let result = runtime.block_on(evaluate.score([pair])).unwrap();
    assert_snapshot!(Results::of(&result).unwrap().junit().unwrap());
    let table = folder.read("o.csv");
    for feedback in ["write more than `<x>`", "cite a source as [1]", "no source"] {
        assert!(table.contains(feedback), "{feedback} is not in {table}");
    }
}

#[test]
fn the_feedback_of_built_in_metrics_is_in_junit() {
    let folder = Folder::with("rows.jsonl", r#"{"gold": {}, "pred": {"answer": "a b c"}}"#);
    let args = "score rows.jsonl -m is_json,length --param length.max_words=2 --junit r.xml -q";
    folder.printed(args);
    let xml = folder.read("r.xml");
    let texts: Vec<_> = xml.split("<failure message=").skip(1).collect();
    assert_eq!(texts.len(), 2, "{xml}");
    let has_text = |it: &&str| {
        it.split_once('>')
            .is_some_and(|(start, _)| !start.ends_with('/'))
    };
    assert!(texts.iter().all(has_text), "a failure has no text: {xml}");
}

#[test]
fn markdown_has_each_row_of_one_line() {
    let rows: Vec<_> = (0..12)
        .map(|n| json!({"pred": {"answer": format!("fail {n}")}}))
        .collect();
    let folder = Folder::with("rows.json", Value::from(rows).to_string());
    let shown = folder.run("score rows.json -m obeys -q --markdown -").out;
    let ids = shown
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | obeys | "));
    let ids: Vec<_> = ids.map(|(id, _)| id.to_owned()).collect();
    assert_eq!(
        ids,
        (1..=12).map(|id| id.to_string()).collect::<Vec<_>>(),
        "{shown}"
    );
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
    folder.printed(args);
    let text = folder.read("s.md");
    // Rows 50 and 60 and 18 of the others, each with both metrics.
    assert_eq!(
        text.lines()
            .filter(|line| line.contains("is\\_json"))
            .count(),
        1 + 20,
        "{text}"
    );
    assert_snapshot!(text);
}

#[test]
fn rows_without_a_score_are_skipped() {
    let folder = Folder::with(
        "rows.jsonl",
        "{\"id\": \"a\", \"pred\": {\"answer\": \"1\"}}\n{\"id\": \"b\", \"pred\": {\"note\": \"1\"}}\n",
    );
    let args = "score rows.jsonl -m short_note --param short_note.limit=3 --junit r.xml --quiet";
    folder.printed(args);
    assert_snapshot!(folder.read("r.xml"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="rows.jsonl">
     <testsuite name="short_note" tests="2" failures="0" errors="0" skipped="1">
      <properties>
       <property name="score" value="1"/>
       <property name="ci95_low" value="0.20654931437723745"/>
       <property name="ci95_high" value="1"/>
      </properties>
      <testcase name="a" classname="short_note">
       <skipped message="abstained"/>
      </testcase>
      <testcase name="b" classname="short_note"/>
     </testsuite>
    </testsuites>
    "#);
}

#[test]
fn markdown_has_the_headlines_and_the_comparison() {
    let folder = scored("--markdown summary.md --out a.jsonl");
    assert_snapshot!(folder.read("summary.md"));
    folder.printed("compare a.jsonl a.jsonl -m same_text --markdown c.md");
    assert_snapshot!(folder.read("c.md"), @r"
    A: a.jsonl, 4 rows of rows.jsonl<br>
    B: a.jsonl, 4 rows of rows.jsonl

    | metric | n | A | B | B - A | 95% interval | p | B better | A better | equal |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | same\_text | 4 | 25.00% | 25.00% | 0.00 | \[-48.99, 48.99\] | 1.000 | 0 | 0 | 4 |

    - same\_text: equal in all 4 rows; a difference of up to 48.99 percentage points is still possible
    ");
}

#[test]
fn summary_has_standard_errors_and_intervals() {
    // The scores of `obeys` are 0.75, 0.25, failed and 1.
    assert_snapshot!(scored("--summary s.csv").read("s.csv"), @"
    metric,kind,score,stderr,ci95_low,ci95_high,mean,mean_scored,scored,failed,gated,skipped,abstained,not_needed,not_sampled,cost_msats
    obeys,number,0.5,0.22821773229381923,-0.2262906789386906,1.2262906789386907,0.5,0.6666666666666666,3,1,0,0,0,0,0,0
    same_text,bool,0.25,0.25,0.04558726080970055,0.6993581574175981,0.25,0.25,4,0,0,0,0,0,0,0
    ");
}

#[test]
fn a_file_that_cannot_be_written_is_found_before_the_first_row() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let error = |file: &str| {
        folder.score_error(&format!(
            "rows.jsonl -m same_text --junit {file} --out o.jsonl"
        ))
    };
    assert_snapshot!(error("rows.jsonl"),
        @"--junit rows.jsonl and DATA rows.jsonl are the same file; choose another file for --junit");
    let message = error("no/such/r.xml");
    assert!(
        message.starts_with("--junit no/such/r.xml: cannot be written: "),
        "{message}"
    );
    assert_eq!(folder.files(), ["rows.jsonl"]);
}
