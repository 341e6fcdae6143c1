//! `--group`, `--bootstrap`, `--seed` and `--repeats`, and the histogram on a terminal.

use std::process::Command;

use insta::assert_snapshot;

use super::Folder;

/// Two rows for each of 20 documents, with the same prediction.
fn rows() -> String {
    let row = |n: usize| {
        let (document, answer) = (
            n / 2,
            if (n / 2).is_multiple_of(4) {
                "no"
            } else {
                "yes"
            },
        );
        let source = if n < 4 { "" } else { r#","source":"a""# };
        format!(
            r#"{{"id":"{n}","gold":{{"answer":"yes","document":{document}}},"pred":{{"answer":"{answer}"}}{source}}}"#
        )
    };
    (0..40).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_group_makes_the_interval_wider() {
    let folder = Folder::with("rows.jsonl", rows());
    let plain = folder.printed("score rows.jsonl -m same_text");
    assert_eq!(
        plain,
        "same_text  75.00% [59.81, 85.81] (30/40, 0 failed)\n"
    );
    let grouped = "score rows.jsonl -m same_text --group gold.document";
    let clustered = folder.printed(grouped);
    assert_eq!(
        clustered,
        "same_text  75.00% [51.50, 89.45; 20 groups] (30/40, 0 failed)\n"
    );
    let json = folder.json(&format!("{grouped} --json"));
    assert_eq!(json["metrics"]["same_text"]["groups"], 20);
}

#[test]
fn a_seed_gives_the_same_bootstrap() {
    let folder = Folder::with("rows.jsonl", rows());
    let run = |seed: &str| {
        folder.printed(&format!(
            "score rows.jsonl -m same_text --bootstrap 500 --seed {seed}"
        ))
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
    let ran = folder.run("score rows.jsonl -m same_text --seed 1");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--bootstrap <N>"), "{}", ran.err);
}

#[test]
fn a_field_without_a_value_is_named() {
    let row = r#"{"pred": {"answer": "a"}, "gold": {"answer": "a", "x": null}, "x": null}"#;
    let folder = Folder::with("rows.jsonl", format!("{row}\n"));
    for field in ["x", "gold.x"] {
        let ran = folder.run(&format!("score rows.jsonl -m same_text --group {field}"));
        let err = format!("--group {field}: no row has a value for it\n");
        assert_eq!((ran.code, ran.err), (Some(2), err));
    }
}

#[test]
fn a_field_that_rows_lack_is_named() {
    let folder = Folder::with("rows.jsonl", rows());
    let run = |field| folder.run(&format!("score rows.jsonl -m same_text --group {field}"));
    assert_snapshot!(run("source"), @"
    same_text  75.00% [11.48, 98.58; 5 groups] (30/40, 0 failed)
    -- standard error --
    warning: --group source: 4 of 40 rows lack this field; each is a group of its own
    -- exit code 0 --
    ");
    assert_snapshot!(run("document"), @"
    same_text  75.00% [59.25, 86.09; 40 groups] (30/40, 0 failed)
    -- standard error --
    --group document: no row has a value for it; did you mean `gold.document`?
    -- exit code 2 --
    ");
    assert_snapshot!(run("x"), @"
    same_text  75.00% [59.25, 86.09; 40 groups] (30/40, 0 failed)
    -- standard error --
    --group x: no row has a value for it
    -- exit code 2 --
    ");
    assert_snapshot!(run("gold.documnt"), @"
    same_text  75.00% [59.25, 86.09; 40 groups] (30/40, 0 failed)
    -- standard error --
    --group gold.documnt: no row has a value for it; did you mean `gold.document`?
    -- exit code 2 --
    ");
    assert_snapshot!(run("gold.x"), @"
    same_text  75.00% [59.25, 86.09; 40 groups] (30/40, 0 failed)
    -- standard error --
    --group gold.x: no row has a value for it
    -- exit code 2 --
    ");
}

#[test]
fn repeats_are_reduced_and_in_json() {
    let folder = Folder::with("rows.jsonl", rows());
    let repeated = "score rows.jsonl -m same_text --repeats 3";
    assert_eq!(
        folder.printed(repeated),
        "same_text  75.00% [59.08, 86.18; few rows differ] (mean of 40/40, 0 failed; 3 repeats, consistency 1.00, pass@3 75.00%, pass^3 75.00%)\n"
    );
    let json = folder.json(&format!("{repeated} --json"));
    let repeats = &json["metrics"]["same_text"]["repeats"];
    assert_eq!(
        (&repeats["evaluations"], &repeats["pass_at"]["1"]),
        (&120.into(), &0.75.into())
    );
}

#[test]
fn a_terminal_shows_a_histogram() {
    if Command::new("script").arg("--version").output().is_err() {
        return dsrs_metrics_tests::skip("no `script` in the path");
    }
    let folder = Folder::with("rows.jsonl", rows());
    let command = format!(
        "'{}' score rows.jsonl -m f1 --quiet",
        env!("CARGO_BIN_EXE_scorer")
    );
    // `script` runs the command on a pseudo-terminal.
    let ran = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let shown = String::from_utf8(ran.stdout).unwrap().replace('\r', "");
    assert_eq!(
        shown,
        format!(
            "f1  0.7500 [0.5908, 0.8618; few rows differ] (mean of 40/40, 0 failed)\n    0 ▃{}█ 1\n",
            " ".repeat(18)
        )
    );
    let piped = folder.run("score rows.jsonl -m f1 --quiet");
    assert_eq!(
        piped.out,
        "f1  0.7500 [0.5908, 0.8618; few rows differ] (mean of 40/40, 0 failed)\n"
    );
}
