//! `report`: writes result files as an HTML page; every kind of invalid input.

use insta::assert_snapshot;
use std::fs;

use crate::Folder;

const ROW: &str =
    r#"{"id":"a","attributes":{"topic":"x"},"scores":{"f1":{"outcome":"scored","value":0.5}}}"#;

impl Folder {
    /// The error of `report ARGS`, which must exit with 2 and leave no file behind.
    #[track_caller]
    fn report_error(&self, args: &str) -> String {
        self.error("report", args)
    }
}

#[test]
fn invalid_input_is_one_sentence() {
    let folder = Folder::with("a.jsonl", ROW);
    folder.write("b.jsonl", ROW.replace(r#""id":"a""#, r#""id":"b""#));
    folder.write("rows.jsonl", r#"{"id":"a","gold":{"x":1},"pred":{"x":1}}"#);
    folder.write("empty.jsonl", "");
    let error = |args: &str| folder.report_error(args);

    assert!(error("none.jsonl --out r.html").starts_with("none.jsonl: "));
    assert_snapshot!(error("rows.jsonl --out r.html"),
        @"rows.jsonl:1: expected a row with `scores`, as written by `score --out`, found none");
    assert_snapshot!(error("a.jsonl a.jsonl a.jsonl --out r.html"),
        @"expected one or two result files, found 3; name two to compare them");
    assert_snapshot!(error("a.jsonl b.jsonl --out r.html"),
        @"b.jsonl:1: `id`: expected ids from a.jsonl such as `a`, found `b`, and no row has a matching id; compare runs over the same rows");
    assert_snapshot!(error("a.jsonl --group tpic --out r.html"),
        @"--group: no row has the field `tpic`; did you mean `topic`?");
    assert_snapshot!(error("a.jsonl --out nowhere/r.html"),
        @"--out nowhere/r.html: cannot be written: No such file or directory (os error 2)");
    assert_eq!(
        error("a.jsonl --out a.jsonl"),
        "--out a.jsonl: unknown extension; expected .html"
    );
    assert_snapshot!(error("a.jsonl"),
        @"the following required arguments were not provided: --out <FILE>");
    assert_snapshot!(error("empty.jsonl --out r.html"),
        @"empty.jsonl: expected at least one row, found none; add rows");
}

#[test]
fn scores_with_rows_become_one_file_without_requests() {
    let rows = r#"{"id":"a","gold":{"answer":"Paris","question":"Q & A"},"pred":{"answer":"<b>Paris</b>"},"topic":"x"}
{"id":"b","gold":{"question":"B","answer":"Rome"},"pred":{"answer":"Rome"},"topic":"y"}"#;
    let folder = Folder::with("rows.jsonl", rows);
    let score = "score rows.jsonl -m answer_exact_match --quiet --with-rows --out run.jsonl";
    folder.printed(score);
    let ran = folder.run("report run.jsonl --group topic --out report.html");
    assert_eq!((ran.code, &*ran.out, &*ran.err), (Some(0), "", ""));
    assert_eq!(
        folder.files(),
        [
            "report.html",
            "rows.jsonl",
            "run.jsonl",
            "run.jsonl.manifest.json"
        ]
    );

    let html = folder.read("report.html");
    for part in [
        "<title>run</title>",
        r#""mean":0.5,"#,
        r#""passed":[1,2]"#,
        r#""question":"Q \u0026 A""#,
        r#""pred":{"answer":"\u003cb\u003eParis\u003c/b\u003e"}"#,
    ] {
        assert!(html.contains(part), "{part}");
    }
    let addresses: Vec<_> = ["http://", "https://", "src=", "url(", "@import"]
        .into_iter()
        .flat_map(|address| {
            html.match_indices(address)
                .map(|(at, _)| &html[at..at + 30])
        })
        .collect();
    assert_eq!(
        addresses,
        ["http://www.w3.org/2000/svg' vi"],
        "the name space of the icon"
    );
}

#[test]
fn the_report_replaces_a_file_only_when_it_is_complete() {
    let folder = Folder::with("a.jsonl", ROW);
    folder.write("report.html", "the last report");
    folder.report_error("a.jsonl --group none --out report.html");
    assert_eq!(folder.read("report.html"), "the last report");
    folder.printed("report a.jsonl --out report.html");
    assert!(folder.read("report.html").starts_with("<!DOCTYPE html>"));

    fs::create_dir(folder.path("folder.html")).unwrap();
    assert_snapshot!(folder.report_error("a.jsonl --out folder.html"),
        @"--out folder.html: cannot be written: it is a directory");
}

#[test]
fn two_runs_are_compared_on_the_rows_that_both_have() {
    let row = |id: &str, value: f64| {
        format!(r#"{{"id":"{id}","scores":{{"wer":{{"outcome":"scored","value":{value}}}}}}}"#)
    };
    let folder = Folder::with(
        "a.jsonl",
        [row("1", 0.5), row("2", 0.5), row("3", 0.5)].join("\n"),
    );
    folder.write(
        "b.jsonl",
        [row("1", 0.25), row("2", 0.75), row("4", 0.5)].join("\n"),
    );
    folder.printed("report a.jsonl b.jsonl --title T --out r.html");
    let html = folder.read("r.html");
    for part in [
        "<title>T</title>",
        r#""pairing":{"is_positional":false,"rows":2}"#,
        r#""lower_is_better":true"#,
        "not enough rows: found 2 rows, a test at 5% needs at least 6 rows",
        r#""losses":1,"#,
        r#""wins":1}"#,
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn a_metric_that_cannot_be_compared_is_shown_with_the_reason() {
    let row = |id: u32, wer: &str| {
        format!(
            r#"{{"id":"{id}","scores":{{"wer":{{{wer}}},"f1":{{"outcome":"scored","value":0.{id}}}}}}}"#
        )
    };
    let scored = r#""outcome":"scored","value":0.5"#;
    let failed = r#""outcome":"metric_failed","error":"no reference""#;
    let folder = Folder::with("a.jsonl", [row(1, scored), row(2, scored)].join("\n"));
    folder.write("b.jsonl", [row(1, scored), row(2, failed)].join("\n"));
    folder.printed("report a.jsonl b.jsonl --out r.html");
    let html = folder.read("r.html");
    // A failure that counts as 0 errors would be the best row.
    let reason = r#""not_compared":"`wer`: 1 rows failed and would count as 0, which is better than the score 0.5; set --failure-score"#;
    assert!(html.contains(reason), "{html}");
    assert!(html.contains(r#""ties":2,"#), "f1 is compared");
    folder.printed("report a.jsonl b.jsonl --failure-score 1 --out r.html");
    assert!(!folder.read("r.html").contains("\"not_compared\""));
}

#[test]
fn a_metric_that_differs_is_compared_only_if_that_is_allowed() {
    let row = |id: u32| {
        format!(r#"{{"id":"{id}","gold":{{"answer":"a {id}"}},"pred":{{"answer":"a"}}}}"#)
    };
    let folder = Folder::with("rows.jsonl", (0..3).map(row).collect::<Vec<_>>().join("\n"));
    for (out, profile) in [
        ("a.jsonl", "f1.profile=dspy"),
        ("b.jsonl", "f1.profile=folded"),
    ] {
        let score = format!("score rows.jsonl -m f1 --param {profile} -q --out {out}");
        folder.printed(&score);
    }
    let report = "report a.jsonl b.jsonl --out r.html";
    folder.printed(report);
    let reason = r#"":"parameter `F1.profile` is \"dspy\" in A, \"folded\" in B"#;
    let html = folder.read("r.html");
    assert!(html.contains(&format!("not_compared{reason}")), "{html}");
    assert!(html.contains("F1.profile = folded"), "{html}");

    folder.printed(&format!("{report} --allow-different f1"));
    let html = folder.read("r.html");
    assert!(
        html.contains(&format!("compared_although{reason}")),
        "{html}"
    );
    assert!(!html.contains("\"not_compared\""), "{html}");
    fs::remove_file(folder.path("r.html")).unwrap();
    assert_snapshot!(folder.report_error("a.jsonl --allow-different f1 --out r.html"),
        @"--allow-different and --strict-identity need two result files to compare, found one");
}

#[test]
fn runs_over_different_data_are_not_compared() {
    let row = |gold: u32| {
        format!(
            r#"{{"id":"1","gold":{{"x":{gold}}},"scores":{{"f1":{{"outcome":"scored","value":1}}}}}}"#
        )
    };
    let folder = Folder::with("a.jsonl", row(1));
    folder.write("b.jsonl", row(2));
    let error = folder.report_error("a.jsonl b.jsonl --out r.html");
    assert!(
        error.contains("a.jsonl:1") && error.contains("b.jsonl:1"),
        "{error}"
    );
}
