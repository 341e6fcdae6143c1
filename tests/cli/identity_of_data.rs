//! Changes of the data between two runs, or between a run and labels, when the result files have no rows: none is silent.

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Folder, Ran};

/// Returns rows whose first `wrong` predictions are wrong. Every third row is labelled as passing.
fn rows(wrong: usize) -> String {
    let row = |row: usize| {
        let (answer, ok) = (
            if row < wrong { "no" } else { "yes" },
            row.is_multiple_of(3),
        );
        format!(
            "{{\"id\": \"q{row}\", \"gold\": {{\"answer\": \"yes\"}}, \"pred\": {{\"answer\": \"{answer}\"}}, \"ok\": {ok}}}\n"
        )
    };
    (0..12).map(row).collect()
}

impl Folder {
    /// Scores rows in a file of this name; the result file has no rows.
    fn score_rows(&self, data: &str, rows: &str, out: &str) {
        self.write(data, rows);
        self.printed(&format!("score {data} -q -m em --out {out}"));
    }
}

/// The runs `a.jsonl` and `b.jsonl`, of data files with these names and rows.
fn runs(a: (&str, &str), b: (&str, &str)) -> Folder {
    let folder = Folder::new();
    folder.score_rows(a.0, a.1, "a.jsonl");
    folder.score_rows(b.0, b.1, "b.jsonl");
    folder
}

const COMPARE: &str = "compare a.jsonl b.jsonl";

fn compared(folder: &Folder, args: &str) -> Ran {
    folder.run(&format!("{COMPARE} {args}"))
}

#[test]
fn other_gold_under_the_same_ids_is_an_error_whatever_the_name_of_the_data_file() {
    let gold = rows(0).replacen(
        "\"answer\": \"yes\"}, \"pred\"",
        "\"answer\": \"maybe\"}, \"pred\"",
        1,
    );
    for name in ["rows.jsonl", "later.jsonl"] {
        let folder = runs(("rows.jsonl", &rows(0)), (name, &gold));
        assert!(!folder.read("a.jsonl").contains("\"gold\""));
        assert_eq!(
            folder.compare_error("a.jsonl b.jsonl"),
            "the gold rows of `q0` differ: the first is at a.jsonl:1 and b.jsonl:1; compare runs over the same data"
        );
    }
    // Another file, whose rows have the ids of this one.
    let other = rows(0).replace("\"yes\"", "\"oui\"");
    let folder = runs(("rows.jsonl", &rows(0)), ("other.jsonl", &other));
    assert_snapshot!(folder.compare_error("a.jsonl b.jsonl"), @"the gold rows of `q0`, `q1`, `q2` and 9 more differ: the first is at a.jsonl:1 and b.jsonl:1; compare runs over the same data");
    for command in [
        "report a.jsonl b.jsonl --out r.html",
        "compare a.jsonl b.jsonl --fail-if-worse",
    ] {
        assert_eq!(folder.run(command).code, Some(2), "{command}");
    }
    // The ids of other rows.
    let reused = rows(0)
        .replace("\"q0\"", "\"x\"")
        .replace("\"q1\"", "\"q0\"")
        .replace("\"x\"", "\"q1\"");
    let reused = reused.replacen(
        "\"answer\": \"yes\"}, \"pred\"",
        "\"answer\": \"no\"}, \"pred\"",
        1,
    );
    let folder = runs(("rows.jsonl", &rows(0)), ("rows.jsonl", &reused));
    assert_snapshot!(folder.compare_error("a.jsonl b.jsonl"), @"the gold rows of `q1` differ: the first is at a.jsonl:2 and b.jsonl:1; compare runs over the same data");
}

#[test]
fn other_predictions_and_another_order_are_compared_with_a_note() {
    let folder = runs(("rows.jsonl", &rows(0)), ("rows.jsonl", &rows(5)));
    let ran = compared(&folder, "");
    assert!(
        ran.out.contains("note: the data file `rows.jsonl` changed"),
        "{}",
        ran.out
    );
    assert_eq!(ran.code, Some(0));
    let reversed: Vec<_> = rows(0)
        .lines()
        .rev()
        .map(|line| line.to_owned() + "\n")
        .collect();
    let folder = runs(("rows.jsonl", &rows(0)), ("rows.jsonl", &reversed.concat()));
    let ran = compared(&folder, "--fail-if-worse");
    assert!(
        ran.out.contains("note: the data file `rows.jsonl` changed"),
        "{}",
        ran.out
    );
    assert_eq!(ran.code, Some(0));
}

#[test]
fn labels_of_other_predictions_are_an_error_with_and_without_rows() {
    let folder = Folder::with("rows.jsonl", rows(0));
    folder.write("labels.jsonl", rows(2));
    for with_rows in ["", "--with-rows"] {
        for out in ["a.jsonl", "a.csv"] {
            folder.printed(&format!(
                "score rows.jsonl -q -m em {with_rows} --out {out}"
            ));
            assert_eq!(
                folder.error("agree", &format!("{out} --label ok --labels labels.jsonl")),
                format!(
                    "labels.jsonl:1: the label of `q0` is for a different prediction than the one at {out}:{}; \
                     label the predictions in these results, or, if the label applies to both, remove `pred` and `pred_hash` from \
                     the labels",
                    if out == "a.csv" { 2 } else { 1 }
                )
            );
        }
        // Labels in a result file that has the hashes of the other predictions.
        folder.printed(&format!(
            "score labels.jsonl -q -m em {with_rows} --out labelled.jsonl"
        ));
        let error = folder.error(
            "agree",
            "a.jsonl --label attributes.ok --labels labelled.jsonl",
        );
        assert!(
            error.starts_with("labelled.jsonl:1: the label of `q0` is for a different prediction"),
            "{error}"
        );
    }
    // Of the same predictions, of no predictions, and of rows without a label.
    let agree = "agree a.jsonl --label ok --labels";
    for labels in ["rows.jsonl", "ids.csv", "few.jsonl"] {
        folder.write("ids.csv", "id,ok\nq0,true\nq1,false\nq5,true\n");
        let few = rows(2)
            .lines()
            .skip(2)
            .map(|line| line.to_owned() + "\n")
            .collect::<String>();
        let unlabelled = rows(2)
            .lines()
            .take(2)
            .map(|line| line.replace("true", "null").replace("false", "null") + "\n")
            .collect::<String>();
        folder.write("few.jsonl", unlabelled + &few);
        assert_eq!(
            folder.run(&format!("{agree} {labels}")).code,
            Some(0),
            "{labels}"
        );
    }
}

#[test]
fn the_hash_of_a_prediction_is_of_all_its_fields_in_every_format_with_and_without_rows() {
    let row =
        r#"{"id": "q0", "gold": {"answer": "yes"}, "pred": {"answer": "no", "reason": ["a", 1]}}"#;
    let folder = Folder::with("rows.jsonl", row);
    folder.write(
        "rows.csv",
        "id,gold.answer,pred.answer,pred.reason\nq0,yes,no,\"[\"\"a\"\",1]\"\n",
    );
    let hash = |data: &str, args: &str| {
        folder.printed(&format!("score {data} -q -m em {args} --out a.jsonl"));
        let row: Value = serde_json::from_str(&folder.read("a.jsonl")).unwrap();
        row["pred_hash"].as_str().unwrap().to_owned()
    };
    folder.printed("score rows.jsonl -q -m em --with-rows --out rows.parquet");
    let expected = hash("rows.jsonl", "");
    for data in ["rows.jsonl", "rows.csv", "rows.parquet"] {
        assert_eq!(hash(data, ""), expected, "{data}");
        assert_eq!(hash(data, "--with-rows"), expected, "{data}");
    }
    folder.write("rows.jsonl", row.replace("[\"a\", 1]", "[\"a\", 2]"));
    assert_ne!(hash("rows.jsonl", ""), expected);
}

#[test]
fn results_of_the_version_before_are_read() {
    let folder = Folder::with("rows.jsonl", rows(0));
    folder.printed("score rows.jsonl -q -m em --with-rows --out a.jsonl");
    let line = |line: &str| line.split(",\"pred_hash\"").next().unwrap().to_owned() + "}\n";
    folder.write(
        "before.jsonl",
        folder.read("a.jsonl").lines().map(line).collect::<String>(),
    );
    folder.write("labels.jsonl", rows(2));
    assert_eq!(folder.run("compare before.jsonl a.jsonl").code, Some(0));
    assert_eq!(
        folder
            .run("agree before.jsonl --label ok --labels labels.jsonl")
            .code,
        Some(0)
    );
}

#[test]
fn a_required_identity_is_that_of_the_manifest() {
    let folder = runs(("rows.jsonl", &rows(0)), ("rows.jsonl", &rows(3)));
    let report = "report b.jsonl --out r.html --require-identity";
    let agree = "agree b.jsonl --label ok --require-identity";
    let required = [
        &*format!("{COMPARE} --require-identity"),
        &*format!("{COMPARE} --fail-if-worse"),
        report,
        agree,
    ];
    for command in required {
        assert!(folder.run(command).code != Some(2), "{command}");
    }
    // The manifest is gone: its reference is in the last row.
    let manifest = folder.read("b.jsonl.manifest.json");
    std::fs::remove_file(folder.path("b.jsonl.manifest.json")).unwrap();
    let unknown = "b.jsonl: --require-identity and --fail-if-worse need to know what was measured, but its manifest \
                   `b.jsonl.manifest.json` is missing; restore the manifest, or score the rows again with --out (in code, \
                   `require_identity`)";
    for command in required {
        let ran = folder.run(command);
        assert_eq!(
            (ran.code, &*ran.out, ran.error().as_str()),
            (Some(2), "", unknown),
            "{command}"
        );
    }
    assert!(
        compared(&folder, "")
            .out
            .contains("identity unknown: B: its manifest")
    );
    // Scores and manifest are edited together with the last row, so nothing shows it.
    let edited = folder
        .read("b.jsonl")
        .replace("\"value\":0.0", "\"value\":1.0");
    let (rows, _) = edited.trim_end().rsplit_once('\n').unwrap();
    folder.write("b.jsonl", rows);
    for command in &required[2..] {
        let error = folder.run(*command).error();
        assert!(
            error.contains("measured, but it has no manifest; restore"),
            "{error}"
        );
    }
    // A file or a manifest that was edited is an error with and without the option.
    folder.write("b.jsonl", &edited);
    folder.write("b.jsonl.manifest.json", &manifest);
    for command in [COMPARE, required[0]] {
        let error = folder.run(command).error();
        assert!(
            error.starts_with("`b.jsonl` was changed after it was written"),
            "{error}"
        );
    }
    folder.write(
        "b.jsonl.manifest.json",
        manifest.replace("\"em\"", "\"f1\""),
    );
    for command in [COMPARE, required[0]] {
        let error = folder.run(command).error();
        assert!(
            error.starts_with("the manifest `b.jsonl.manifest.json` was changed after"),
            "{error}"
        );
    }
}
