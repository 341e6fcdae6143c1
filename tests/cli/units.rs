//! A score is in the range of its metric in every output; a percentage is text for people. The files in `data/percent_*` are
//! the results of the last version whose summaries had percentages for metrics that return `bool`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;

const ROWS: &str = include_str!("data/rows.jsonl");

fn scored(args: &str) -> (Folder, String) {
    let folder = Folder::with("rows.jsonl", ROWS);
    let ran = folder.run(&format!("score rows.jsonl -m em,f1 {args}"));
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    (folder, ran.out)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_score_has_one_unit_in_every_output() {
    let (_, text) = scored("");
    assert!(
        text.starts_with("em  50.00% [15.00, 85.00] (2/4, 0 failed)\n"),
        "{text}"
    );

    let (folder, report) = scored("--json --summary s.csv --out r.jsonl --junit r.xml");
    let em = json(&report)["metrics"]["em"].clone();
    let (stderr, low, high) = (0.28867513459481287, 0.15003898915214947, 0.8499610108478506);
    assert_eq!(
        json!([
            em["score"],
            em["mean"],
            em["mean_scored"],
            em["stderr"],
            em["ci95"]
        ]),
        json!([0.5, 0.5, 0.5, stderr, [low, high]])
    );
    let summary = folder.read("s.csv");
    let line = format!("em,bool,0.5,{stderr},{low},{high},0.5,0.5,4,0,0,0,0,0,0,0");
    assert_eq!(summary.lines().nth(1), Some(&*line));
    assert!(
        folder
            .read("r.xml")
            .contains("<failure message=\"score 0\">")
    );

    let rows = folder.read("r.jsonl");
    let values: Vec<_> = rows
        .lines()
        .map(|row| json(row)["scores"]["em"]["value"].clone())
        .collect();
    assert_eq!(values, [1.0, 1.0, 0.0, 0.0]);
    let compared = json(&folder.run("compare r.jsonl r.jsonl --json").out);
    assert_eq!(compared["metrics"]["em"]["a"], 0.5);
}

#[test]
fn the_threshold_of_agree_has_the_unit_of_the_scores() {
    let (folder, _) = scored("--out r.jsonl");
    let labels = "{\"id\":\"a\",\"right\":true}\n{\"id\":\"c\",\"right\":false}\n";
    folder.write("labels.jsonl", labels);
    let agree = |threshold| {
        let args = "agree r.jsonl --labels labels.jsonl --label right -m f1 --json --threshold";
        folder.run(&format!("{args} {threshold}"))
    };
    // The scores of the labelled rows are 1 and 2/3.
    for (threshold, accuracy) in [("0.7", 1.0), ("70%", 1.0), ("0.6", 0.5), ("60%", 0.5)] {
        let ran = agree(threshold);
        assert_eq!(
            json(&ran.out)["metrics"]["f1"]["accuracy"]["value"],
            accuracy,
            "{ran:?}"
        );
    }
    let error = |threshold| {
        let ran = agree(threshold);
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{ran:?}");
        ran.error()
    };
    assert_snapshot!(error("60"),
        @"--threshold 60: expected a score from 0 to 1, the range of `f1`; pass --threshold 0.6 or --threshold 60%");
    assert_snapshot!(error("1.5"),
        @"--threshold 1.5: expected a score from 0 to 1, the range of `f1`");
}

#[test]
fn result_files_of_the_version_with_percentages_are_read() {
    let (folder, _) = scored("--out new.jsonl");
    for (name, old) in [
        ("old.jsonl", include_str!("data/percent_results.jsonl")),
        ("old.csv", include_str!("data/percent_results.csv")),
    ] {
        folder.write(name, old);
        let ran = folder.run(&format!("compare {name} new.jsonl --json"));
        let metrics = json(&ran.out)["metrics"].clone();
        let figures = |metric: &str| {
            let metric = &metrics[metric];
            json!([metric["kind"], metric["a"], metric["b"], metric["ties"]])
        };
        assert_eq!(figures("em"), json!(["bool", 0.5, 0.5, 4]), "{ran:?}");
        assert_eq!(figures("f1"), json!(["number", 2.0 / 3.0, 2.0 / 3.0, 4]));
    }
}

/// The rows of a result file never had percentages. The summaries had, and no command reads a summary.
#[test]
fn summaries_of_the_version_with_percentages_are_refused() {
    let (folder, _) = scored("--out new.jsonl");
    folder.write("old.json", include_str!("data/percent_report.json"));
    folder.write("old.jsonl", include_str!("data/percent_report.json"));
    folder.write("old.csv", include_str!("data/percent_summary.csv"));
    let error = |file: &str| {
        let commands = [
            format!("compare {file} new.jsonl"),
            format!("agree {file} --label right"),
            format!("report {file} --out page.html"),
        ];
        let errors = commands.map(|command| {
            let ran = folder.run(&command);
            assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{ran:?}");
            ran.error()
        });
        assert_eq!((&errors[0], &errors[0]), (&errors[1], &errors[2]));
        errors[0].clone()
    };
    assert_snapshot!(error("old.json"),
        @"old.json: expected an array of rows, found an object; write it with `score --out`, because the output of `score --json` has no rows; if each line is a row, rename it to .jsonl");
    assert_snapshot!(error("old.jsonl"),
        @"old.jsonl:1: expected a row with `scores`, as written by `score --out`, found none, only `rows`, `metrics`, `ending`, `elapsed_s`");
    let csv = error("old.csv");
    assert!(
        csv.starts_with("old.csv:2: expected a row with `scores`"),
        "{csv}"
    );
}
