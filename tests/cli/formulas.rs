//! Strings in CSV that a spreadsheet would evaluate: escaped when they are written, and unescaped when they are read.

use serde_json::{Value, json};

use crate::Folder;

#[test]
fn formulas_are_escaped_and_read_back() {
    let rows = [("=1+1", "-2"), ("'@x", "=A1"), ("'a", "b")]
        .map(|(id, label)| json!({"id": id, "label": label, "pred": {"answer": "1"}}).to_string());
    let folder = Folder::with("rows.jsonl", rows.join("\n"));
    let args = "score rows.jsonl -m obeys --with-rows --out scores.csv";
    folder.run(args);
    let lines = |folder: &Folder| {
        folder
            .read("scores.csv")
            .lines()
            .skip(1)
            .map(|line| line[..5].to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&folder), ["'=1+1", "''@x,", "'a,1,"]);
    // The rows equal the rows of the input: in a comparison, as labels, and as data.
    folder.run("score rows.jsonl -m obeys --with-rows --out scores.jsonl");
    let ran = folder.run("compare scores.csv scores.jsonl");
    assert!(ran.out.contains("\n3 rows in both\n"), "{ran:?}");
    folder.write("labels.csv", "id,yes\n=1+1,1\n'@x,0\n'a,0\n");
    let agree = "agree scores.csv --labels labels.csv --label yes --json";
    let ran = folder.run(agree);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(
        (&report["rows"], &report["labels_without_row"]),
        (&json!(3), &json!(1)),
        "`'@x` is escaped"
    );
    folder.write("labels.csv", "id,yes\n=1+1,1\n''@x,0\n'a,0\n");
    assert!(folder.run(agree).out.contains("\"labels_without_row\":0"));
    folder.printed("score scores.csv -m obeys --out again.jsonl");
    let ids = |text: String| {
        let ids = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(folder.read("again.jsonl")), ["=1+1", "'@x", "'a"]);
    folder.run(&format!("{args} --raw-csv"));
    assert_eq!(lines(&folder), ["=1+1,", "'@x,1", "'a,1,"]);
}
