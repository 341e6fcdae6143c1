//! Rows are paired by identity, or by position only if they are known to be the same rows. `tests/parity/check_pairs.py` compares
//! generated files with a join in Python.

use insta::assert_snapshot;
use serde_json::json;

use crate::Folder;

const MAP: &str = "--map gold.answer=answer --map pred.answer=prediction -m em";

impl Folder {
    /// Runs `score`, which must succeed.
    #[track_caller]
    fn scored(&self, args: &str) {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

/// The answers of two programs to four questions.
fn questions() -> Folder {
    let folder = Folder::with(
        "a.csv",
        "question,answer,prediction\nq1,a,a\n\"q\n2\",b,x\nq3,c,c\nq4,d,x\n",
    );
    folder.write(
        "b.jsonl",
        "{\"question\":\"q1\",\"answer\":\"a\",\"prediction\":\"a\"}\n\n{\"question\":\"q\\n2\",\"answer\":\"b\",\"prediction\":\"b\"}\n{\"question\":\"q3\",\"answer\":\"c\",\"prediction\":\"x\"}\n{\"question\":\"q4\",\"answer\":\"d\",\"prediction\":\"d\"}\n",
    );
    folder
}

#[test]
fn rows_without_ids_are_numbered_alike_in_every_format() {
    let folder = questions();
    folder.scored(&format!("score a.csv {MAP} --out a.out.jsonl"));
    folder.scored(&format!("score b.jsonl {MAP} --out b.out.csv"));
    let row = folder
        .read("a.out.jsonl")
        .lines()
        .nth(1)
        .unwrap()
        .to_owned();
    let row: serde_json::Value = serde_json::from_str(&row).unwrap();
    assert_eq!(
        (&row["id"], &row["positional"]),
        (&json!("2"), &json!(true))
    );
    assert_eq!(row["gold_hash"], json!("6765ec9bc251c8a2"));
    let report = folder.compare_json("a.out.jsonl b.out.csv");
    assert_eq!(
        (&report["paired"], &report["paired_by_position"]),
        (&json!(4), &json!(true))
    );
    let em = &report["metrics"]["em"];
    assert_eq!(
        (&em["wins"], &em["losses"], &em["ties"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let text = folder.run("compare a.out.jsonl b.out.csv").out;
    assert_eq!(
        text.lines().nth(2),
        Some("4 rows in both, paired by position")
    );
    let manifest: serde_json::Value =
        serde_json::from_str(&folder.read("a.out.jsonl.manifest.json")).unwrap();
    assert_eq!(manifest["run"]["positional_ids"], json!(true));
    // A run over the result file keeps the mark.
    folder.scored(&format!("score a.csv {MAP} --with-rows --out rows.jsonl"));
    folder.scored("score rows.jsonl -m f1 --out again.jsonl");
    assert!(
        folder
            .read("again.jsonl")
            .lines()
            .all(|line| line.contains("\"positional\":true"))
    );
}

#[test]
fn positions_of_other_rows_are_refused_without_an_option_that_pairs_them() {
    let folder = questions();
    folder.scored(&format!("score a.csv {MAP} --out a.jsonl"));
    folder.write(
        "other.csv",
        "question,answer,prediction\nq3,c,c\nq1,a,a\nq2,b,x\nq4,d,x\n",
    );
    folder.scored(&format!("score other.csv {MAP} --out other.jsonl"));
    assert_snapshot!(folder.compare_error("a.jsonl other.jsonl"), @"the gold rows of `1`, `2`, `3` differ: the first is at a.jsonl:1 and other.jsonl:1; the rows have no ids and are paired by position: score both runs with --map id=COLUMN, using a column whose value is different in each row");
    folder.write("short.csv", "question,answer,prediction\nq1,a,a\nq2,b,x\n");
    folder.scored(&format!("score short.csv {MAP} --out short.jsonl"));
    assert_snapshot!(folder.compare_error("a.jsonl short.jsonl"), @"expected the same number of rows in both runs, which have no ids and are paired by position, found 2 only in a.jsonl (`3`, `4`) and 0 only in short.jsonl; score both with --map id=COLUMN, using a column whose value is different in each row");
    // A file of an earlier version does not show its gold rows.
    let rows = folder.read("a.jsonl").replace("\"gold_hash\"", "\"x\"");
    folder.write("old.jsonl", rows);
    assert_snapshot!(folder.compare_error("a.jsonl old.jsonl"), @"expected a `gold_hash` in a.jsonl:1 and old.jsonl:1, which have no ids and are paired by position, found none; score both runs again, with --map id=COLUMN if a column identifies the rows");
    // With ids, the order is of no importance.
    for name in ["a", "other"] {
        folder.write(
            "q.csv",
            folder
                .read(&format!("{name}.csv"))
                .replace("\"q\n2\"", "q2"),
        );
        folder.scored(&format!(
            "score q.csv {MAP} --map id=question --out {name}.named.jsonl"
        ));
    }
    let report = folder.compare_json("a.named.jsonl other.named.jsonl");
    assert_eq!(
        (&report["paired"], report.get("paired_by_position")),
        (&json!(4), None)
    );
    assert_eq!(report["metrics"]["em"]["ties"], 4);
}

#[test]
fn labels_need_ids() {
    let folder = questions();
    folder.write(
        "labels.csv",
        "name,correct\nq1,true\nq3,true\nq4,false\nq2,false\n",
    );
    folder.scored(&format!("score a.csv {MAP} --out a.jsonl"));
    let agree = |results: &str, more: &str| {
        folder.run(&format!(
            "agree {results} --label correct --labels labels.csv {more}"
        ))
    };
    assert_snapshot!(agree("a.jsonl", "").error(), @"labels.csv:2: expected an id at `id`, found a row with `name`, `correct`; pass --map id=COLUMN, with a column that identifies the row in both files");
    folder.write("q.csv", folder.read("a.csv").replace("\"q\n2\"", "q2"));
    folder.scored(&format!(
        "score q.csv {MAP} --map id=question --out named.jsonl"
    ));
    assert_snapshot!(agree("named.jsonl", "").error(), @"labels.csv:2: expected an id at `id`, found a row with `name`, `correct`; pass --map id=COLUMN, with a column that identifies the row in both files");
    let agreed = agree("named.jsonl", "--map id=name");
    assert_eq!(
        agreed.out.lines().nth(3).map(|it| &it[..29]),
        Some("accuracy            100.00% (")
    );
    assert_snapshot!(agree("named.jsonl", "--map id=nam").error(), @"labels.csv:2: expected an id at `nam`, found a row with `name`, `correct`; pass --map id=COLUMN, with a column that identifies the row in both files");
    assert_snapshot!(agree("a.jsonl", "--map id=name").error(), @"labels.csv:2: `name`: expected ids from a.jsonl such as `1`, found `q1`, and no label has a matching id; the results have no ids either, so score again with --map id=COLUMN, and pass it here too");
    assert_snapshot!(agree("named.jsonl", "--map name=id").error(), @"invalid value 'name=id' for '--map <id=PATH>': expected id=PATH, as in id=question or id=task,trial");
    folder.write("labels.csv", "row,correct\n1,true\n");
    assert_snapshot!(agree("named.jsonl", "").error(), @"labels.csv:2: expected an id at `id`, found a row with `row`, `correct`; pass --map id=COLUMN, with a column that identifies the row in both files");
}
