//! `agree`: compares the metrics of a result file with labels; every kind of invalid results and
//! labels.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{Folder, pretty};

/// Twelve rows: nine labelled and scored, one without label, one whose metric failed, one
/// abstained.
fn judged() -> String {
    let scored = |id: &str, passed: bool, label: &str| {
        let value = f64::from(passed);
        format!(
            r#"{{"id":"{id}","attributes":{{"ok":{label}}},"scores":{{"judge":{{"outcome":"scored","value":{value},"passed":{passed}}}}}}}"#
        )
    };
    let missing = |id: &str, outcome: &str| {
        format!(
            r#"{{"id":"{id}","attributes":{{"ok":true}},"scores":{{"judge":{{"outcome":"{outcome}","value":null,"passed":null}}}}}}"#
        )
    };
    let rows = [
        scored("a", true, "true"),
        scored("b", true, "true"),
        scored("c", true, "true"),
        scored("d", true, "true"),
        scored("e", false, "true"),
        scored("f", false, "false"),
        scored("g", false, "false"),
        scored("h", false, "false"),
        scored("i", true, "false"),
        scored("j", true, "null"),
        missing("k", "metric_failed"),
        missing("l", "abstained"),
    ];
    rows.join("\n")
}

impl Folder {
    /// The error of `agree ARGS`.
    #[track_caller]
    fn agree_error(&self, args: &str) -> String {
        self.error("agree", args)
    }

    /// The report of `agree ARGS --json`.
    #[track_caller]
    fn agree_json(&self, args: &str) -> Value {
        self.json(&format!("agree {args} --json"))
    }
}

#[test]
fn cells_of_the_scored_rows_are_labels_and_an_empty_one_is_none() {
    let rows = "id,gold.answer,pred.answer,human,number\n\
                a,x,x,1,1.0\nb,x,y,0,0.0\nc,x,x,0,0.0\nd,x,y,,\n";
    let folder = Folder::with("rows.csv", rows);
    folder.run("score rows.csv -m em -q --out r.jsonl");
    for options in ["human", "number", "human --positive 1"] {
        let report = folder.agree_json(&format!("r.jsonl --label {options}"));
        let figures = &report["metrics"]["em"];
        assert_eq!(figures["without_label"], 1, "{options}: {report}");
        assert_eq!(figures["compared"], 3, "{options}");
        assert_eq!(figures["accuracy"]["successes"], 2, "{options}");
    }
}

#[test]
fn every_row_is_compared_or_counted_as_excluded() {
    let folder = Folder::with("r.jsonl", judged());
    assert_snapshot!(folder.run("agree r.jsonl --label ok"));
}

#[test]
fn the_guide_shows_the_output_of_its_commands() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let page = format!("{root}/dsrs-metrics/docs/guide/agreement.md");
    let page = std::fs::read_to_string(page).unwrap();
    let folder = Folder::new();
    let mut printed = String::new();
    for command in [
        "score examples/data/heritage/heritage.tuned.jsonl -m answer_exact_match --out scores.jsonl",
        "agree scores.jsonl --label correct",
    ] {
        assert!(
            page.contains(&format!("dsrs-metrics {command}\n")),
            "{command}"
        );
        let command = command.replace("examples/", &format!("{root}/examples/"));
        let ran = folder.run(&command);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        printed = ran.out;
    }
    let (figures, _) = printed.split_once("label  given").unwrap();
    assert!(page.contains(figures), "{figures}");
}

#[test]
fn json_has_every_figure_with_its_denominator() {
    let folder = Folder::with("r.jsonl", judged());
    assert_snapshot!(pretty(&folder.agree_json("r.jsonl --label ok -m judge")));
}

#[test]
fn what_score_writes_is_what_agree_reads_in_every_format() {
    let rows: String = (0..30)
        .map(|row| {
            let (guess, right) = (row % 3, row % 3 == 1 || row % 7 == 0);
            format!(
                "{{\"id\": {row}, \"gold\": {{\"answer\": \"1\"}}, \"pred\": {{\"answer\": \"{guess}\"}}, \
                 \"right\": {right}}}\n"
            )
        })
        .collect();
    let folder = Folder::with("rows.jsonl", rows);
    let mut reports = Vec::new();
    for out in ["s.jsonl", "s.json", "s.csv"] {
        folder.printed(&format!(
            "score rows.jsonl -m same_text --out {out} --quiet"
        ));
        reports.push(folder.agree_json(&format!("{out} --label right")));
    }
    assert_eq!(
        reports[0]["metrics"]["same_text"]["accuracy"]["successes"],
        27
    );
    assert_eq!(reports[0], reports[1]);
    assert_eq!(reports[0], reports[2]);
    // The same labels, joined by id.
    let joined = folder.agree_json("s.jsonl --label right --labels rows.jsonl");
    assert_eq!(joined, reports[0]);
    assert_eq!(
        folder.agree_json("s.csv --label right --seed 0"),
        reports[0]
    );
    let table = folder.run("agree s.csv --label right --seed 7").out;
    assert!(
        table.contains("bootstrap for Spearman (2000 resamples, seed 7)"),
        "{table}"
    );
}

#[test]
fn labels_of_a_separate_file_are_joined_by_id() {
    let folder = Folder::with("r.jsonl", judged());
    folder.write("l.csv", "id,grade\na,good\nb,good\nf,bad\nx,good\n");
    let report = folder.agree_json("r.jsonl --label grade --labels l.csv");
    assert_eq!(report["labels_without_row"], 1);
    let judge = &report["metrics"]["judge"];
    assert_eq!(
        (&judge["compared"], &judge["without_label"]),
        (&json!(3), &json!(7))
    );
    assert_eq!(judge["accuracy"]["successes"], 3);
    let ran = folder.run("agree r.jsonl --label grade --labels l.csv");
    assert!(
        ran.out
            .ends_with("\nlabels without a row in the results: 1\n"),
        "{}",
        ran.out
    );
}

#[test]
fn parts_and_metadata_are_compared_with_labels_too() {
    let row = |id: u32, recall: f64, verdict: &str, label: &str, right: bool| {
        format!(
            r#"{{"id":{id},"attributes":{{"class":"{label}","right":{right}}},"scores":{{"j":{{"outcome":"scored","value":1.0,"passed":null,"parts":{{"recall":{recall}}},"metadata":{{"verdict":"{verdict}"}}}}}}}}"#
        )
    };
    let rows = [
        row(1, 0.9, "a", "a", true),
        row(2, 0.2, "b", "b", false),
        row(3, 0.7, "c", "b", true),
        row(4, 0.6, "a", "a", false),
    ];
    let folder = Folder::with("r.jsonl", rows.join("\n"));
    let report = folder.agree_json("r.jsonl --label class -m j.verdict");
    let found = &report["metrics"]["j.verdict"];
    assert_eq!(
        (&found["accuracy"]["successes"], &found["classes"]),
        (&json!(3), &json!(["a", "b", "c"]))
    );
    let args = "r.jsonl --label right -m j.recall --threshold 0.65";
    assert_eq!(
        folder.agree_json(args)["metrics"]["j.recall"]["accuracy"]["successes"],
        4
    );
    let text = folder.run(&format!("agree {args}")).out;
    let heading = "j.recall against right, with a threshold of 0.65\n";
    assert_eq!(text.get(..heading.len()), Some(heading), "{text}");
}

#[test]
fn lower_is_better_where_the_metric_says_so() {
    let row = |id: u32, value: f64, right: bool| {
        format!(
            r#"{{"id":{id},"attributes":{{"right":{right}}},"scores":{{"distance":{{"outcome":"scored","value":{value},"passed":null}}}}}}"#
        )
    };
    let rows = [row(1, 0.0, true), row(2, 1.0, true), row(3, 7.0, false)].join("\n");
    let folder = Folder::with("r.jsonl", rows);
    let report = folder.agree_json("r.jsonl --label right --threshold 1");
    assert_eq!(report["metrics"]["distance"]["accuracy"]["successes"], 3);
}

#[test]
fn missing_labels() {
    let folder = Folder::with("r.jsonl", judged());
    assert_snapshot!(folder.agree_error("r.jsonl --label okay"),
        @"r.jsonl: no row has a label `okay`; did you mean `ok`?");
    assert_snapshot!(folder.agree_error("r.jsonl --label zzz"),
        @"r.jsonl: no row has a label `zzz`, only `ok`");
    folder.write("l.jsonl", "{\"id\": \"x\", \"ok\": true}\n");
    assert_snapshot!(folder.agree_error("r.jsonl --label ok --labels l.jsonl"),
        @"l.jsonl:1: `id`: expected ids from r.jsonl such as `a`, found `x`, and no label has a matching id; pass --map id=COLUMN, with a column that identifies the row in both files");
    folder.write("l.jsonl", "{\"id\": \"k\", \"ok\": true}\n");
    assert_snapshot!(folder.agree_error("r.jsonl --label ok --labels l.jsonl"),
        @"r.jsonl: no row has both a score for `judge` and a label `ok`; rows with a score: 10, rows with a label: 1");
    folder.write(
        "l.jsonl",
        "{\"id\": \"a\", \"ok\": true}\n{\"id\": \"a\", \"ok\": false}\n",
    );
    assert_snapshot!(folder.agree_error("r.jsonl --label ok --labels l.jsonl"),
        @"l.jsonl:2: duplicate id `a`, first on line 1; ids must be unique within a file");
}

#[test]
fn labels_of_one_class_leave_figures_undefined_with_their_reason() {
    let folder = Folder::with("r.jsonl", judged());
    folder.write(
        "l.jsonl",
        "{\"id\": \"a\", \"ok\": true}\n{\"id\": \"f\", \"ok\": true}\n",
    );
    assert_snapshot!(folder.run("agree r.jsonl --label ok --labels l.jsonl"), @"
    judge against ok
    12 rows: 2 compared, 8 without a label, 2 without a score (1 metric_failed, 1 abstained)
    accuracy            50.00% (1/2)          95% interval 9.45% to 90.55%
    Cohen's kappa       0.0000 (2 rows)       not enough rows for an interval: needs 10
    sensitivity         50.00% (1/2)          95% interval 9.45% to 90.55%
    passed              60.00% (6/10)         95% interval 31.27% to 83.18%
    passed, corrected   100.00% (10 rows)     95% interval 42.78% to 100.00%
    label  given
           fail  pass
    fail      0     0
    pass      1     1
    labels: 2 of 10 rows, chosen in an unknown way. Unless they are a random sample, accuracy, kappa, Spearman, sensitivity and specificity describe only these rows; `passed, corrected` describes all rows if the labelled rows of each verdict are a random sample
    intervals: Wilson for shares; MOVER for the correction (post-stratification)
    Spearman (2 rows): not enough rows: needs 3
    specificity (0 rows): not enough rows: needs 1

    identity unknown: it has no manifest
    -- exit code 0 --
    ");
}

/// 60 rows, 40 of them passed, with labels for 12 passed and 18 failed rows.
#[test]
fn the_pass_rate_of_all_rows_is_estimated_from_the_labels_of_each_verdict() {
    let row = |at: usize| {
        let passed = at < 40;
        let label = (!(12..42).contains(&at)).then_some(passed != at.is_multiple_of(6));
        json!({ "id": at.to_string(), "attributes": { "ok": label }, "scores": {
            "judge": { "outcome": "scored", "value": f64::from(passed), "passed": passed }
        } })
    };
    let rows: Vec<String> = (0..60).map(|at| row(at).to_string()).collect();
    let folder = Folder::with("r.jsonl", rows.join("\n"));
    assert_snapshot!(folder.run("agree r.jsonl --label ok"));
    let found = folder.agree_json("r.jsonl --label ok");
    let judge = &found["metrics"]["judge"];
    // 10 of 12 passed and 3 of 18 failed rows should pass.
    let rate = judge["corrected"]["value"].as_f64().unwrap();
    assert!(
        (rate - (40.0 * 10.0 / 12.0 + 20.0 * 3.0 / 18.0) / 60.0).abs() < 1e-12,
        "{rate}"
    );
    assert_eq!(judge["labelled"]["sample"], "by_verdict");
    assert_eq!(
        judge["labelled"]["passed"],
        json!({ "successes": 12, "trials": 30 })
    );
    let args = "r.jsonl --label ok --error-rates specificity=18/20,sensitivity=45/50";
    let judge = &folder.agree_json(args)["metrics"]["judge"];
    let rate = judge["corrected"]["value"].as_f64().unwrap();
    assert!((rate - (40.0 / 60.0 - 0.1) / 0.8).abs() < 1e-12, "{rate}");
    assert_eq!(
        judge["error_rates"]["specificity"],
        json!({ "successes": 18, "trials": 20 })
    );
}

#[test]
fn invalid_error_rates() {
    let folder = Folder::with("r.jsonl", judged());
    for rates in [
        "0.9",
        "sensitivity=45/50",
        "sensitivity=51/50,specificity=1/2",
        "sensitivity=0/0,specificity=1/2",
    ] {
        let error = folder.run(&format!("agree r.jsonl --label ok --error-rates {rates}"));
        assert_eq!(error.code, Some(2), "{rates}");
        assert!(
            error
                .err
                .contains("expected counts of rows, as in sensitivity=45/50,specificity=38/40"),
            "{error:?}"
        );
    }
}

#[test]
fn invalid_labels() {
    let folder = Folder::with("r.jsonl", judged());
    let error = |content: &str| {
        folder.write("l.jsonl", content);
        folder.agree_error("r.jsonl --label ok --labels l.jsonl")
    };
    assert_snapshot!(error("{\"id\": \"a\", \"ok\": true}\n{\"id\": \"b\", \"ok\": [1]}\n"),
        @"l.jsonl:2: `ok`: expected a bool, a number or a string, found a list");
    assert_snapshot!(error("{\"id\": \"a\", \"ok\": true}\n{\"id\": \"b\", \"ok\": 3}\n"),
        @"l.jsonl:2: `judge` against `ok`: expected a bool like the earlier labels, found `3`, a number; omit the label if it is unknown");
    assert_snapshot!(error("{\"id\": \"a\", \"ok\": \"meh\"}\n{\"id\": \"b\", \"ok\": \"wow\"}\n"),
        @"l.jsonl:1: `judge` against `ok`: cannot compare scores with labels such as `meh`; pass the passing labels to `positive` (--positive), or the order of all labels to `scale` (--scale)");
    assert_snapshot!(error("{\"id\": \"a\", \"ok\": NaN}\n"),
        @"l.jsonl: expected a label `ok` in at least one row, found only null or NaN; add the labels");
    folder.write("l.csv", "id,ok\na,1\nb,NaN\n");
    assert_snapshot!(folder.agree_error("r.jsonl --label ok --labels l.csv"),
        @"l.csv:3: `judge` against `ok`: expected a number like the earlier labels, found `NaN`, a string; omit the label if it is unknown");
}

#[test]
fn invalid_results() {
    let folder = Folder::new();
    let error = |name: &str, content: &str| {
        folder.write(name, content);
        folder.agree_error(&format!("{name} --label ok"))
    };
    assert_snapshot!(error("r.jsonl", r#"{"id": "a", "gold": {}, "ok": true}"#),
        @"r.jsonl:1: expected a row with `scores`, as written by `score --out`, found none, only `ok`");
    assert_eq!(
        error("r.jsonl", ""),
        "r.jsonl: expected at least one row, found none; add rows"
    );
    assert_snapshot!(error("r.jsonl", r#"{"id":"a","scores":{"j":{"outcome":"scored","value":"high"}}}"#),
        @r#"r.jsonl:1: `scores.j.value`: expected a finite number, found the string "high""#);
    assert_snapshot!(error("r.csv", "id,attributes.ok,j,j.outcome,j.passed\na,true,inf,scored,true\n"),
        @r#"r.csv:2: `j`: expected a finite number, found the string "inf""#);
    assert_snapshot!(error("r.jsonl", r#"{"id":"a","scores":{"j":{"outcome":"scored","value":1,"passed":"yes"}}}"#),
        @r#"r.jsonl:1: `scores.j.passed`: expected true, false or null, found the string "yes""#);
    let folder = Folder::with("r.jsonl", format!("{}\n{}", judged(), judged()));
    assert_snapshot!(folder.agree_error("r.jsonl --label ok"),
        @"r.jsonl:13: duplicate id `a`, first on line 1; ids must be unique within a file");
    assert_snapshot!(folder.agree_error("r.jsonl --label ok -m jugde"),
        @"r.jsonl:13: duplicate id `a`, first on line 1; ids must be unique within a file");
    let folder = Folder::with("r.jsonl", judged());
    assert_snapshot!(folder.agree_error("r.jsonl --label ok -m jugde"),
        @"r.jsonl: no row has both a score for `jugde` and a label `ok`; rows with a score: 0, rows with a label: 11; did you mean `judge`?");
    let missing = folder.agree_error("none.jsonl --label ok");
    assert!(
        missing.starts_with("none.jsonl: cannot be read: "),
        "{missing}"
    );
}

/// 1,000 rows. The judge passed 800 of them, and is right about half of the rows it failed. 60 rows have a label.
#[test]
fn the_next_labels_are_those_that_narrow_the_interval_most() {
    let row = |n: u32| {
        let (passed, should_pass) = (
            !n.is_multiple_of(5),
            if n.is_multiple_of(5) {
                n.is_multiple_of(2)
            } else {
                n % 50 != 1
            },
        );
        let value = u32::from(passed);
        let label = if n < 60 {
            format!(r#","attributes":{{"ok":{should_pass}}}"#)
        } else {
            String::new()
        };
        format!(
            r#"{{"id":"r{n}"{label},"scores":{{"judge":{{"outcome":"scored","value":{value},"passed":{passed}}},"other":{{"outcome":"scored","value":1.0,"passed":true}}}}}}"#
        ) + "\n"
    };
    let folder = Folder::with("r.jsonl", (0..1000).map(row).collect::<String>());
    let next = |args: &str| {
        let report = folder.agree_json(&format!("r.jsonl --label ok -m judge {args}"));
        let ids = report["next"].as_array().unwrap().iter();
        ids.map(|id| id.as_str().unwrap()[1..].parse::<u32>().unwrap())
            .collect::<Vec<_>>()
    };
    let ids = next("--next 50");
    assert!(ids.iter().all(|n| *n >= 60));
    // 200 rows failed: 12 of them have a label, and half of those pass.
    let failed = ids.iter().filter(|n| n.is_multiple_of(5)).count();
    assert!((25..40).contains(&failed), "{failed}");
    assert_eq!(ids[..20], next("--next 20"));
    assert_ne!(ids, next("--next 50 --seed 1"));
    let text = folder.run("agree r.jsonl --label ok -m judge --next 2").out;
    let (_, named) = text.split_once("\nlabel these rows next:\n").unwrap();
    assert_eq!(named, "r675\nr955\n");
    assert_snapshot!(folder.agree_error("r.jsonl --label ok --next 2"), @"--next: expected one metric, found `judge`, `other`; name one with -m");
}
