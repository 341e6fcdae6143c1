//! Terminal output: strings from rows, files and arguments cannot send escape sequences or forge
//! lines, on standard output and standard error.

use serde_json::{Value, json};

use crate::{Folder, Ran};

/// A string that clears the line, writes a headline, and reverses the order of the following characters.
const HOSTILE: &str = "x\u{1b}[2K\r\nem  100% (9/9, 0 failed)\u{7}\u{9b}1A\u{202e}\u{2066}\u{200b}";

/// Checks that no character of the output is obeyed by a terminal, and returns the output.
#[track_caller]
fn checked(ran: Ran) -> Ran {
    for text in [&ran.out, &ran.err] {
        let is_unsafe =
            |c: char| (c.is_control() && c != '\n') || ('\u{200b}'..='\u{206f}').contains(&c);
        assert!(!text.contains(is_unsafe), "{text:?}");
        let is_forged = |line: &str| line.starts_with("em ");
        assert!(!text.lines().any(is_forged), "{text}");
    }
    ran
}

/// The only line of standard error, of a command that fails.
#[track_caller]
fn error(rows: &[Value], args: &[&str]) -> String {
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let folder = Folder::with("rows.jsonl", rows);
    let ran = checked(folder.run(&[&["score", "rows.jsonl"], args].concat()));
    assert_eq!(
        (ran.code, &*ran.out, ran.err.lines().count()),
        (Some(2), "", 1),
        "{ran:?}"
    );
    ran.err
}

#[test]
fn errors_quote_rows_escaped() {
    let good = json!({"id": HOSTILE, "gold": {"answer": "x"}, "pred": {"answer": "x"}});
    let duplicate = error(&[good.clone(), good], &["-m", "same_text"]);
    assert!(
        duplicate.starts_with("error: duplicate row id `x\\u{1b}[2K"),
        "{duplicate}"
    );
    let keys = error(&[json!({HOSTILE: 1})], &["-m", "same_text"]);
    assert!(keys.contains("found only `x\\u{1b}[2K\\r\\nem"), "{keys}");
    let fields = error(
        &[json!({"gold": {"answer": "x"}, "pred": {HOSTILE: 1}})],
        &["-m", "same_text"],
    );
    assert!(fields.contains("found `x\\u{1b}[2K\\r\\nem"), "{fields}");
    error(
        &[json!({"gold": {}, "pred": {"answer": HOSTILE}})],
        &["-m", "distance"],
    );
    error(
        &[json!({"gold": {"answer": HOSTILE}, "pred": {"answer": 1}})],
        &["-m", "distance"],
    );
}

#[test]
fn errors_quote_files_and_arguments_escaped() {
    let quoted = HOSTILE.replace('"', "\"\"");
    for csv in [
        format!("pred.a,\"{quoted}\",\"{quoted}\"\nx,x,x\n"),
        format!("pred.a\n\"{quoted}\n"),
    ] {
        let ran = checked(Folder::with("rows.csv", csv).run("score rows.csv -m same_text"));
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{ran:?}");
    }
    let row = json!({"gold": {}, "pred": {}});
    for args in [
        ["-m", HOSTILE],
        ["--param", HOSTILE],
        ["--map", HOSTILE],
        ["--fail-under", HOSTILE],
        ["--out", HOSTILE],
        ["--format", HOSTILE],
        [HOSTILE, HOSTILE],
    ] {
        error(
            std::slice::from_ref(&row),
            &[&["-m", "same_text"][..], &args].concat(),
        );
    }
}

#[test]
fn names_of_scores_cannot_forge_a_headline() {
    let row = json!({"gold": {"answer": {HOSTILE: 1}}, "pred": {"answer": {HOSTILE: 1}}});
    let folder = Folder::with("rows.jsonl", row.to_string());
    let args = ["score", "rows.jsonl", "-m", "json_field_accuracy"];
    let ran = checked(folder.run(&args));
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 5), "{ran:?}");
    assert!(
        ran.out
            .contains("\njson_field_accuracy./x\\u{1b}[2K\\r\\nem  100"),
        "{}",
        ran.out
    );
    let ran = checked(folder.run(&[&args[..], &["--json"]].concat()));
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let name = format!("json_field_accuracy./{}", HOSTILE.replace('/', "~1"));
    assert_eq!(
        result["metrics"][name]["score"], 1.0,
        "the value is unchanged"
    );
}

#[test]
fn labels_and_metrics_of_a_result_file_are_escaped() {
    let score = json!({"outcome": "scored", "value": 1.0, "passed": null});
    let row = |id: usize, outcome: &str, label: &str| {
        let mut score = score.clone();
        score["outcome"] = outcome.into();
        json!({"id": id, "attributes": {HOSTILE: label}, "scores": {HOSTILE: score}}).to_string()
    };
    let rows = [
        row(1, "scored", "yes"),
        row(2, "scored", "no"),
        row(3, HOSTILE, "no"),
    ];
    let folder = Folder::with("results.jsonl", rows.join("\n"));
    let ran = checked(folder.run(&["agree", "results.jsonl", "--label", HOSTILE]));
    assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{ran:?}");
    assert!(
        ran.err.contains("found the string \"x\\u{1b}[2K"),
        "{ran:?}"
    );
    let folder = Folder::with("results.jsonl", rows[..2].join("\n"));
    let agree = |args: &[&str]| checked(folder.run(&[&["agree", "results.jsonl"], args].concat()));
    let ran = agree(&["--label", HOSTILE]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.out.starts_with("x\\u{1b}[2K\\r\\nem  100"),
        "{}",
        ran.out
    );
    for args in [
        vec!["--label", "other"],
        vec!["--label", HOSTILE, "-m", "other"],
        vec!["--label", HOSTILE, "--positive", HOSTILE],
        vec!["--label", HOSTILE, "--scale", HOSTILE],
        vec!["--label", HOSTILE, "--labels", HOSTILE],
    ] {
        let ran = agree(&args);
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{ran:?}");
    }
    let classes: Vec<_> = (0..4)
        .map(|id| {
            let class = format!("{HOSTILE}{}", id % 2);
            let score = json!({"outcome": "scored", "value": 1.0, "metadata": {"class": class}});
            json!({"id": id, "attributes": {"label": class}, "scores": {"m": score}}).to_string()
        })
        .collect();
    let folder = Folder::with("results.jsonl", classes.join("\n"));
    let ran = checked(folder.run("agree results.jsonl --label label -m m.class"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn usage_errors_are_one_line() {
    let folder = Folder::with("rows.jsonl", r#"{"pred": {"answer": "1"}}"#);
    for args in [
        &["score"][..],
        &["scor"],
        &["score", "rows.jsonl"],
        &[
            "score",
            "rows.jsonl",
            "-m",
            "obeys",
            "--fail-umder",
            "obeys=3",
        ],
        &["score", "rows.jsonl", "-m", "obeys", "--format", "xml"],
        &["score", "rows.jsonl", "-m", "obeys", "--concurrency", "0"],
        &[
            "score",
            "rows.jsonl",
            "-m",
            "obeys",
            "--refresh",
            "--no-store",
        ],
        &["score", "rows.jsonl", "-m", "obeys", "--json", "--json"],
        &["list", "--jsom"],
        &["agree", "rows.jsonl"],
    ] {
        let ran = checked(folder.run(args));
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{args:?}");
        assert!(
            ran.err.starts_with("error: ") && ran.err.lines().count() == 1,
            "{}",
            ran.err
        );
    }
}

/// All strings of a row that reach a message or a headline.
fn hostile_row(id: usize) -> Value {
    let id = format!("{HOSTILE}{id}");
    json!({
        "id": id,
        "gold": {"answer": {HOSTILE: 1, "n": HOSTILE}, HOSTILE: 1},
        "pred": {"answer": {HOSTILE: id.len() % 2}, "word": HOSTILE, HOSTILE: HOSTILE},
        "topic": HOSTILE,
        HOSTILE: HOSTILE,
    })
}

#[test]
fn no_channel_of_score_passes_control_characters() {
    let rows: String = (0..8).map(|id| format!("{}\n", hostile_row(id))).collect();
    let name = format!("rows{}.jsonl", HOSTILE.replace('/', ""));
    let folder = Folder::with(&name, &rows);
    for args in [
        &["-m", "json_field_accuracy,obeys", "--max-errors", "100"][..],
        &["-m", "json_field_accuracy,obeys", "--max-errors", "1"],
        &["-m", "json_field_accuracy", "--json"],
        &["-m", "json_field_accuracy", "--group", "topic"],
        &["-m", "json_field_accuracy", "--group", HOSTILE],
        &["-m", "json_field_accuracy", "--group", "gold.other"],
        &[
            "-m",
            "obeys",
            "--map",
            &format!("pred.answer={HOSTILE}"),
            "--max-errors",
            "100",
        ],
        &["-m", "obeys", "--map", "pred.answer=topic"],
        &["-m", "json_field_accuracy", "--map", "id=pred.word"],
        &["-m", "pickiness,certain"],
        &["-m", "certain", "--repeats", "2", "--max-errors", "100"],
        &[
            "-m",
            "json_field_accuracy",
            "--out",
            "r.jsonl",
            "--with-rows",
            "--junit",
            "j.xml",
        ],
        &[
            "-m",
            "json_field_accuracy",
            "--out",
            "r.csv",
            "--markdown",
            "m.md",
            "--summary",
            "s.csv",
        ],
    ] {
        let ran = checked(folder.run(&[&["score", &name], args].concat()));
        assert!(matches!(ran.code, Some(0..=2)), "{args:?}: {ran:?}");
    }
    assert_eq!(folder.read("r.jsonl").lines().count(), 8);
    for file in ["m.md", "j.xml"] {
        let text = folder.read(file);
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{file}: {text}");
    }
}

/// A result file whose every string is hostile.
fn hostile_results(rows: usize, value: f64, broken: bool) -> String {
    let row = |id: usize| {
        let score = |value: f64| {
            json!({
                "outcome": "scored", "value": value, "details": HOSTILE, "feedback": HOSTILE,
                "parts": {HOSTILE: value}, "metadata": {HOSTILE: HOSTILE},
                "components": {HOSTILE: {"outcome": "scored", "value": value}},
            })
        };
        let failed = json!({"outcome": "metric_failed", "error": HOSTILE, "missing": [HOSTILE]});
        let mut row = json!({
            "id": format!("{HOSTILE}{id}"),
            "attributes": {HOSTILE: format!("{HOSTILE}{}", id % 2), "topic": HOSTILE},
            "scores": {HOSTILE: score(value * (id % 3) as f64), "other": if id == 0 { failed } else { score(1.0) }},
        });
        if broken && id == 1 {
            row["scores"][HOSTILE]["parts"] = json!({HOSTILE: HOSTILE});
        }
        row.to_string()
    };
    (0..rows).map(|id| format!("{}\n", row(id))).collect()
}

#[test]
fn no_channel_of_result_files_passes_control_characters() {
    let name = format!("a{}.jsonl", HOSTILE.replace('/', ""));
    let folder = Folder::with(&name, hostile_results(30, 1.0, false));
    folder.write("b.jsonl", hostile_results(30, 2.0, false));
    folder.write("fewer.jsonl", hostile_results(7, 2.0, false));
    folder.write("broken.jsonl", hostile_results(3, 1.0, true));
    folder.write("cut.jsonl", &hostile_results(3, 1.0, false)[..300]);
    let part = format!("{HOSTILE}.{HOSTILE}");
    for args in [
        &["compare", &name, "b.jsonl"][..],
        &["compare", &name, "b.jsonl", "--json"],
        &["compare", &name, "b.jsonl", "--group", HOSTILE],
        &["compare", &name, "b.jsonl", "--group", "topic"],
        &["compare", &name, "b.jsonl", "--group", "other"],
        &["compare", &name, "b.jsonl", "-m", &part],
        &[
            "compare",
            &name,
            "b.jsonl",
            "-m",
            "other",
            "--markdown",
            "m.md",
        ],
        &["compare", &name, "b.jsonl", "--failure-score", "9"],
        &["compare", &name, "fewer.jsonl"],
        &["compare", &name, "fewer.jsonl", "--only-paired"],
        &["compare", &name, "broken.jsonl"],
        &["compare", &name, "cut.jsonl"],
        &["report", &name, "b.jsonl", "--out", "r.html"],
        &["report", &name, "--out", "r.html", "--group", HOSTILE],
        &["report", &name, "--out", "r.html", "--group", "other"],
        &["report", &name, "--out", HOSTILE],
        &["report", "broken.jsonl", "--out", "r.html"],
        &["agree", &name, "--label", HOSTILE],
        &["agree", &name, "--label", HOSTILE, "--json"],
        &["agree", &name, "--label", "topic"],
        &["agree", &name, "--label", HOSTILE, "-m", &part],
        &["agree", "broken.jsonl", "--label", HOSTILE],
        &["agree", "cut.jsonl", "--label", HOSTILE],
    ] {
        let ran = checked(folder.run(args));
        assert!(matches!(ran.code, Some(0..=2)), "{args:?}: {ran:?}");
        assert!(
            ran.code != Some(2) || ran.err.lines().count() == 1,
            "{args:?}: {ran:?}"
        );
    }
    assert!(folder.read("r.html").contains("</html>"));
}
