//! `compare`: the output, the exit codes, and every kind of invalid input.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{Folder, pretty};

/// A result file over rows `r0`, `r1` and so on: `f1` with these scores, and `ok`, whether the score is 1.
fn results(scores: &[f64]) -> String {
    let row = |(row, score): (usize, &f64)| {
        let is_one = *score == 1.0;
        let ok = u8::from(is_one);
        format!(
            r#"{{"id":"r{row}","attributes":{{"topic":"t{}"}},"latency_s":0.5,"input_tokens":10,"output_tokens":2,"cost_msats":3,"scores":{{"ok":{{"outcome":"scored","value":{ok},"passed":{is_one}}},"f1":{{"outcome":"scored","value":{score},"passed":null,"cost_msats":1}}}}}}"#,
            row % 8
        )
    };
    scores
        .iter()
        .enumerate()
        .map(row)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Sixteen rows. In the second run ten scores are better and two are worse.
fn two_runs() -> Folder {
    let old = [
        0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.0, 0.0, 0.75, 0.75, 1.0, 1.0, 0.5, 0.5,
    ];
    let new = [
        1.0, 1.0, 0.75, 0.75, 0.5, 1.0, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5,
    ];
    let folder = Folder::with("old.jsonl", results(&old));
    folder.write("new.jsonl", results(&new));
    folder
}

impl Folder {
    /// The error of `compare ARGS`.
    #[track_caller]
    pub(crate) fn compare_error(&self, args: &str) -> String {
        let ran = self.run(&format!("compare {args}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        ran.error()
    }

    /// The report of `compare ARGS --json`.
    #[track_caller]
    pub(crate) fn compare_json(&self, args: &str) -> Value {
        let ran = self.run(&format!("compare {args} --json"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        serde_json::from_str(&ran.out).unwrap()
    }
}

#[test]
fn the_text_has_a_table_and_a_sentence_for_each_metric() {
    assert_snapshot!(two_runs().run("compare old.jsonl new.jsonl"));
}

#[test]
fn json_has_every_figure() {
    let folder = two_runs();
    assert_snapshot!(pretty(&folder.compare_json("old.jsonl new.jsonl")));
    let grouped = folder.compare_json("old.jsonl new.jsonl --group topic");
    let f1 = &grouped["metrics"]["f1"];
    assert_eq!((&f1["n"], &f1["clusters"]), (&json!(16), &json!(8)));
    assert_eq!(f1["groups"].as_object().unwrap().len(), 8);
    assert_eq!(f1["groups"]["t0"]["n"], 2);
}

#[test]
fn every_format_gives_the_same_figures() {
    let rows: String = (0..30)
        .map(|row| {
            let guess = row % 3;
            format!("{{\"id\": {row}, \"gold\": {{\"answer\": \"1\"}}, \"pred\": {{\"answer\": \"{guess}\"}}, \"t\": {}}}\n", row % 7)
        })
        .collect();
    let folder = Folder::with("old.jsonl", &rows);
    folder.write(
        "new.jsonl",
        rows.replace(
            "\"pred\": {\"answer\": \"2\"}",
            "\"pred\": {\"answer\": \"1\"}",
        ),
    );
    let mut reports = Vec::new();
    for format in ["jsonl", "json", "csv"] {
        let mut files = Vec::new();
        for run in ["old", "new"] {
            let out = format!("{run}-scores.{format}");
            folder.printed(&format!(
                "score {run}.jsonl -m same_text --out {out} --quiet"
            ));
            files.push(out);
        }
        let mut report = folder.compare_json(&format!("{} --group t", files.join(" ")));
        for run in ["a", "b"] {
            report[run]["name"] = Value::Null;
        }
        reports.push(report);
    }
    assert_eq!(reports[0]["metrics"]["same_text"]["wins"], 10);
    assert_eq!(
        reports[0]["metrics"]["same_text"]["groups"]
            .as_object()
            .unwrap()
            .len(),
        7
    );
    assert_eq!(reports[0], reports[1]);
    assert_eq!(reports[0], reports[2]);
}

#[test]
fn fail_if_worse_is_an_exit_code() {
    let folder = two_runs();
    for run in ["old.jsonl", "new.jsonl"] {
        folder.write_run(run, &folder.read(run));
    }
    let code = |args: &str| {
        let ran = folder.run(&format!("compare {args} --fail-if-worse"));
        (ran.code, ran.err)
    };
    assert_eq!(code("old.jsonl new.jsonl -m f1"), (Some(0), String::new()));
    let worse = "B is worse: f1: A is better by 0.2500 [0.0765, 0.4088] (p = 0.013, 16 rows)\n";
    assert_eq!(
        code("new.jsonl old.jsonl -m f1"),
        (Some(1), worse.to_owned())
    );
    let lower = "-m f1 --lower-is-better f1";
    assert_eq!(
        code(&format!("new.jsonl old.jsonl {lower}")),
        (Some(0), String::new())
    );
    assert_eq!(code(&format!("old.jsonl new.jsonl {lower}")).0, Some(1));
}

#[test]
fn fail_if_worse_never_passes_without_a_test() {
    let folder = Folder::new();
    folder.write_run("old.jsonl", &results(&[1.0; 5]));
    folder.write_run("new.jsonl", &results(&[0.0; 5]));
    assert_snapshot!(folder.compare_error("old.jsonl new.jsonl -m f1 --fail-if-worse"),
        @"--fail-if-worse: f1: not enough rows: found 5 rows, a test at 5% needs at least 6 rows");
    // Of ten rows, three have no score in the second run.
    folder.write_run("old.jsonl", &results(&[1.0; 10]));
    let new = results(&[1.0; 10]);
    let lines = new.lines().enumerate().map(|(row, line)| match row {
        0..3 => line.replace(
            r#""f1":{"outcome":"scored","value":1"#,
            r#""f1":{"outcome":"abstained","value":null"#,
        ),
        _ => line.to_owned(),
    });
    folder.write_run("new.jsonl", &lines.collect::<Vec<_>>().join("\n"));
    assert_snapshot!(folder.compare_error("old.jsonl new.jsonl -m f1 --fail-if-worse"),
        @"--fail-if-worse: `f1`: 3 rows have a score in only one of the runs; score them, or leave them out with --only-paired");
    let ran = folder.run("compare old.jsonl new.jsonl -m f1 --fail-if-worse --only-paired");
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    assert!(
        ran.out
            .contains("not compared: 3 rows without a score (B: 3 abstained)"),
        "{}",
        ran.out
    );
}

#[test]
fn the_direction_comes_from_the_registry() {
    let rows = |guess: &str| {
        let row = |row: usize| {
            format!(
                "{{\"id\": {row}, \"gold\": {{\"answer\": \"right\"}}, \"pred\": {{\"answer\": \"{guess}\"}}}}\n"
            )
        };
        (0..8).map(row).collect::<String>()
    };
    let folder = Folder::with("old.jsonl", rows("right"));
    folder.write("new.jsonl", rows("wrong"));
    for run in ["old", "new"] {
        let out = format!("{run}.csv");
        let ran = folder.run(&[
            "score",
            &format!("{run}.jsonl"),
            "-m",
            "wer",
            "--out",
            &out,
            "--quiet",
        ]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let ran = folder.run("compare old.csv new.csv --fail-if-worse");
    let worse = "B is worse: wer: A is better by 1.0000 (adjusted p = 0.016, 8 rows) (lower is better)\n\
                 B is worse: wer.corpus: A is better by 1.0000 (adjusted p = 0.016, 8 rows) (lower is better)\n";
    assert_eq!((ran.code, &*ran.err), (Some(1), worse));
}

#[test]
fn invalid_runs_are_one_line_and_exit_code_2() {
    let folder = two_runs();
    let full = folder.read("new.jsonl");
    let new = |content: &str| {
        folder.write("b.jsonl", content);
        folder.compare_error("old.jsonl b.jsonl")
    };
    let cut_off = &full[..full.len() - 30];
    assert_snapshot!(new(cut_off),
        @"b.jsonl:16: the row is cut off, after 15 complete rows; write the file again, or remove the row");
    assert_eq!(
        new(""),
        "b.jsonl: expected at least one row, found none; add rows"
    );
    assert_snapshot!(new(&full.replace("r15", "r0")),
        @"b.jsonl:16: duplicate id `r0`, first on line 1; ids must be unique within a file");
    assert_snapshot!(new(&full.replace(r#""id":"r15","#, "")),
        @"b.jsonl:16: no `id` in the row; write the file again with `score --out`, or add the ids");
    assert_snapshot!(new(&full.replace("r15", "x")),
        @"expected the same rows in both runs, found 1 only in old.jsonl (`r15`) and 1 only in b.jsonl (`x`); to compare the 15 common rows, pass --only-paired (in code, `only_paired(true)`)");
    assert_snapshot!(new(&full.replace("\"f1\"", "\"f1s\"")),
        @"b.jsonl: no row has a score for `f1`, which old.jsonl has; to compare only some metrics, select them with -m; did you mean `f1s`?");
    assert_snapshot!(folder.compare_error("old.jsonl new.jsonl -m f11"),
        @"old.jsonl: no row has a score for `f11`; did you mean `f1`?");
    assert_snapshot!(new(r#"{"id": "r0", "gold": {"answer": "1"}, "pred": {"answer": "1"}}"#),
        @"b.jsonl:1: expected a row with `scores`, as written by `score --out`, found none");
    assert_snapshot!(new(&full.replace("scored", "judged")),
        @r#"b.jsonl:1: `scores.ok.outcome`: expected scored, counted, gated, skipped, abstained, not_needed, not_sampled, metric_failed or program_failed, found the string "judged""#);
    assert_snapshot!(folder.compare_error("- -"),
        @"standard input (`-`) is named twice, but can be read only once; name it once");
    assert_snapshot!(folder.compare_error("old.jsonl new.jsonl --failure-score nan"),
        @"invalid value 'nan' for '--failure-score <X>': expected a finite number, found `nan`");
}

#[test]
fn the_guide_shows_the_output_of_its_commands() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let page =
        std::fs::read_to_string(format!("{root}/dsrs-metrics/docs/guide/results.md")).unwrap();
    let folder = Folder::new();
    let mut printed = String::new();
    for command in [
        "score examples/data/heritage/heritage.baseline.jsonl -m answer_exact_match,f1 --out old.jsonl",
        "score examples/data/heritage/heritage.tuned.jsonl -m answer_exact_match,f1 --out new.jsonl",
        "compare old.jsonl new.jsonl",
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
    assert!(page.contains(&printed), "{printed}");
}
