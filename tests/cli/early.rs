//! `score --stop-when` ends a run once its gates are decided, and `plan` says how many rows that takes.

use crate::Folder;
use insta::assert_snapshot;

/// 1,000 rows, of which one in 50 is wrong.
fn folder() -> Folder {
    let row = |n: u32| {
        let pred = if n % 50 == 7 { "no" } else { "yes" };
        format!(r#"{{"id": "r{n}", "gold": {{"answer": "yes"}}, "pred": {{"answer": "{pred}"}}}}"#)
            + "\n"
    };
    Folder::with("rows.jsonl", &(0..1000).map(row).collect::<String>())
}

#[test]
fn a_run_ends_once_its_gate_is_decided() {
    let folder = folder();
    let run = |args: &[&str]| {
        let mut words = vec!["score", "rows.jsonl", "-m", "em", "--stop-when"];
        words.extend(args);
        let ran = folder.run(&words);
        format!("{:?}\n{}{}", ran.code, ran.out, ran.err)
    };
    assert_snapshot!(run(&["em >= 90%", "--alpha", "0.01"]), @r"");
    assert_snapshot!(run(&["em <= 0.9", "--alpha", "0.01"]), @r"");
    assert_snapshot!(run(&["lower(em) >= 0.9", "--alpha", "0.05"]), @r"");
    assert_snapshot!(run(&["em >= 0.9"]), @r"");
    assert_snapshot!(run(&["em >= 0.9", "--alpha", "0.01", "--seed", "8"]), @r"");
    assert_snapshot!(run(&["em >= 90", "--alpha", "0.01"]), @r"");
    assert_snapshot!(run(&["em >= 0.9", "--alpha", "1"]), @r"");
}

#[test]
fn rows_that_were_not_needed_are_in_every_file() {
    let folder = folder();
    let score = |concurrency: u32, out: &str| {
        let concurrency = concurrency.to_string();
        let words = [
            "score",
            "rows.jsonl",
            "-m",
            "em",
            "--stop-when",
            "em >= 0.9",
            "--alpha",
            "0.01",
            "--out",
            out,
            "--concurrency",
            &concurrency,
            "--markdown",
            "summary.md",
            "--junit",
            "junit.xml",
        ];
        folder.printed(&words);
        folder.read(out)
    };
    let rows = score(1, "a.jsonl");
    assert_eq!(rows, score(64, "b.jsonl"));
    assert_eq!(rows.lines().count(), 1000);
    let not_needed = rows
        .matches(r#""outcome":"not_needed","value":null"#)
        .count();
    assert!(not_needed > 800, "{not_needed}");
    let decided = format!(
        "decided after {} of 1,000 rows; wrong in at most 1%",
        1000 - not_needed
    );
    assert!(folder.read("summary.md").contains(&decided));
    assert_eq!(
        folder.read("junit.xml").matches("<skipped").count(),
        not_needed
    );
    // Compared with a whole run, only rows with both scores count.
    folder.printed("score rows.jsonl -m em --out whole.jsonl");
    let compared = folder.run("compare a.jsonl whole.jsonl");
    assert_snapshot!(compared.out, @r"");
}

#[test]
fn a_plan_says_how_many_rows_a_gate_takes() {
    let folder = folder();
    let run = |args: &[&str]| {
        let ran = folder.run(&[&["plan"], args].concat());
        format!("{:?}\n{}{}", ran.code, ran.out, ran.err)
    };
    let gate = "em >= 0.9";
    assert_snapshot!(run(&[gate, "--rows", "1000", "--at", "0.8,90%,0.97", "--cost", "12 msat"]), @r"");
    folder.printed("score rows.jsonl -m em --out run.jsonl");
    assert_snapshot!(run(&[gate, "--run", "run.jsonl", "--alpha", "0.05"]), @r"");
    folder.printed(&["plan", "failed <= 2%", "--rows", "200", "--json"]);
    let errors = [
        run(&["em > 0.9", "--rows", "10"]),
        run(&["lower(em) >= 0.9", "--rows", "10"]),
        run(&["em >= 1", "--rows", "10"]),
        run(&[gate, "--rows", "10", "--at", "1.5"]),
        run(&[gate, "--rows", "10", "--alpha", "0"]),
        run(&["f1 >= 0.9", "--run", "run.jsonl"]),
        run(&[gate]),
    ];
    assert_snapshot!(errors.concat(), @r"");
}
