//! `--group`, `--bootstrap` and `--seed`.

use super::Folder;

/// Two rows for each of 20 documents, with the same prediction.
fn rows() -> String {
    let row = |n: usize| {
        let (document, answer) = (n / 2, if n / 2 % 4 == 0 { "no" } else { "yes" });
        let source = if n < 4 { "" } else { r#","source":"a""# };
        format!(
            r#"{{"id":"{n}","gold":{{"answer":"yes","document":{document}}},"pred":{{"answer":"{answer}"}}{source}}}"#
        )
    };
    (0..40).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_group_makes_the_interval_wider() {
    let folder = Folder::with("rows.jsonl", &rows());
    let plain = folder.run(&["score", "rows.jsonl", "-m", "same_text"]);
    assert_eq!(plain.out, "same_text  75.00% [59.81, 85.81] (30/40, 0 failed)\n");
    let grouped = ["score", "rows.jsonl", "-m", "same_text", "--group", "gold.document"];
    let ran = folder.run(&grouped);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    assert_eq!(ran.out, "same_text  75.00% [54.21, 95.79; 20 groups] (30/40, 0 failed)\n");
    let json = folder.run(&[&grouped[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["metrics"]["same_text"]["groups"], 20);
}

#[test]
fn a_seed_gives_the_same_bootstrap() {
    let folder = Folder::with("rows.jsonl", &rows());
    let run = |seed: &str| {
        let options = ["--bootstrap", "500", "--seed", seed];
        let ran = folder.run(&[&["score", "rows.jsonl", "-m", "same_text"], &options[..]].concat());
        assert_eq!((ran.code, &*ran.err), (Some(0), ""));
        ran.out
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
    let ran = folder.run(&["score", "rows.jsonl", "-m", "same_text", "--seed", "1"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--bootstrap <N>"), "{}", ran.err);
}

#[test]
fn a_field_that_rows_lack_is_named() {
    let folder = Folder::with("rows.jsonl", &rows());
    let run = |field| folder.run(&["score", "rows.jsonl", "-m", "same_text", "--group", field]);
    let some = run("source");
    assert_eq!(some.code, Some(0));
    assert_eq!(
        some.err,
        "warning: --group source: 4 of 40 rows lack this field; each is a group of its own\n"
    );
    let none = run("document");
    assert_eq!(none.code, Some(2));
    assert_eq!(
        none.err,
        "--group document: no row has this attribute; write gold.document or pred.document for a field of the gold row or the prediction\n"
    );
    let none = run("gold.documnt");
    assert_eq!((none.code, &*none.err), (Some(2), "--group gold.documnt: no row has this field\n"));
}
