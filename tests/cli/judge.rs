//! Judges on the command line.

use std::process::Output;

use serde_json::Value;

use crate::scorer;

const ROWS: &str = concat!(
    r#"{"id": 1, "gold": {"question": "Where is the Louvre?", "response": "in Paris"}, "#,
    r#""pred": {"response": "in Paris"}}"#,
    "\n",
    r#"{"id": 2, "gold": {"question": "Where is Kew?", "response": "in London"}, "#,
    r#""pred": {"response": "somewhere else"}}"#,
    "\n",
);

fn score(arguments: &[&str], variables: &[(&str, &str)]) -> (Output, String) {
    let folder = tempfile::tempdir().unwrap();
    let (rows, out) = (folder.path().join("rows.jsonl"), folder.path().join("out.jsonl"));
    std::fs::write(&rows, ROWS).unwrap();
    let mut command = scorer();
    command.envs(variables.iter().copied());
    command.arg("score").arg(rows).args(arguments).arg("--out").arg(&out);
    let output = command.output().unwrap();
    (output, std::fs::read_to_string(&out).unwrap_or_default())
}

#[test]
fn with_no_model_configured_every_output_says_that_none_judged() {
    let (output, lines) = score(&["-m", "semantic_f1", "--quiet"], &[]);
    let headline = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        headline,
        "semantic_f1  0.5000 [0.0000, 1.0000; few rows] (mean of 2/2, 0 failed; judge: offline-lexical)\n"
    );
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let details = line["scores"]["semantic_f1"]["details"].as_str().unwrap();
        assert!(details.starts_with("judge: offline-lexical. "), "{details}");
    }
    assert_eq!(lines.lines().count(), 2);
    let (output, _) = score(&["-m", "semantic_f1", "--json", "--quiet"], &[]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["metrics"]["semantic_f1"]["judged_offline"], 2);
}

#[cfg(not(feature = "lm"))]
#[test]
fn a_program_without_models_says_how_to_build_with_them() {
    for option in
        [&["--lm", "openai:m"][..], &["--budget", "5 sat"], &["--no-cache"], &["--refresh"]]
    {
        let (output, lines) = score(&[&["-m", "semantic_f1"], option].concat(), &[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), lines.as_str()), (Some(2), ""), "{said}");
        let start =
            format!("error: {}: this program was built without language models; ", option[0]);
        assert!(said.starts_with(&start) && said.contains("--features cli,lm"), "{said}");
    }
}

#[test]
fn what_is_measured_of_the_offline_judge_is_said_to_be_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let rows = ROWS.replacen("\"id\": 1", "\"good\": true, \"id\": 1", 1);
    let rows = rows.replacen("\"id\": 2", "\"good\": false, \"id\": 2", 1);
    std::fs::write(folder.path().join("rows.jsonl"), rows).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = scorer();
        let output = command.current_dir(&folder).args(arguments).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for out in ["out.jsonl", "out.csv"] {
        run(&["score", "rows.jsonl", "-m", "semantic_f1", "--out", out, "--quiet"]);
        let text = run(&["agree", out, "--label", "good"]);
        let head = "semantic_f1 against good (2 rows with judge: offline-lexical)\n";
        assert!(text.starts_with(head), "{out}: {text}");
        let json = run(&["agree", out, "--label", "good", "--json"]);
        let report: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(report["metrics"]["semantic_f1"]["judged_offline"], 2, "{out}");
        assert_eq!(report["metrics"]["semantic_f1"]["compared"], 2, "{out}");
    }
}
