//! `list`: text that fits any terminal, and JSON with all of each spec.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Ran, Words as _, pretty, scorer};

/// The metrics that the scorer adds to the built-in ones.
pub(crate) const OWN: [&str; 13] = [
    "same_text",
    "distance",
    "any_of",
    "short_note",
    "obeys",
    "sleeps",
    "blocks",
    "number",
    "certain",
    "things",
    "pickiness",
    "word_gap",
    "broken",
];

/// Returns the output without the fingerprints of code, which change with it.
pub(crate) fn list(args: &str, columns: &str) -> String {
    let line = |line: &str| match line.split_once(", code ") {
        Some((version, _)) if version.starts_with("  version ") => format!("{version}, code ..\n"),
        _ => format!("{line}\n"),
    };
    whole_list(args, columns).lines().map(line).collect()
}

fn whole_list(args: &str, columns: &str) -> String {
    let output = scorer()
        .arg("list")
        .args(args.words())
        .env("COLUMNS", columns)
        .output()
        .unwrap();
    let ran = Ran::from(output);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    ran.out
}

#[test]
fn fields_properties_and_parameters_are_listed() {
    assert_snapshot!(list("distance short_note", "79"));
}

#[test]
fn the_fingerprint_of_the_code_is_shown() {
    let json: Value = serde_json::from_str(&whole_list("f1 --json", "80")).unwrap();
    let code = json[0]["code"].as_str().unwrap();
    let shown = whole_list("f1", "80");
    assert!(
        shown.contains(&format!("  version 1, code {code}\n")),
        "{shown}"
    );
}

#[test]
fn a_strict_metric_is_higher_is_better() {
    let shown = list("word_gap", "100");
    let properties = "  proxy, number, higher is better, threshold 0.5, strict, free\n";
    assert!(shown.contains(properties), "{shown}");
}

#[test]
fn defaults_are_shown_as_typed_and_types_are_described() {
    assert_snapshot!(list("word_gap ndcg", "100"));
    assert!(list("f1", "100").contains(" = dspy"));
    assert!(list("numeric_match", "100").contains(" = point"));
    assert!(list("bleu", "100").contains("  param  tokens: BleuTokens = 13a - "));
}

#[test]
fn a_named_metric_has_its_whole_documentation() {
    let rest = "  No character is folded: \"Paris\" is not \"paris\".\n";
    let first = "same_text\n  Passes if the answers are the same string.\n";
    assert!(list("same_text", "80").starts_with(&format!("{first}{rest}")));
    let builtin = list("f1", "80");
    assert!(
        !builtin.contains("```") && !builtin.contains("fn main"),
        "no examples: {builtin}"
    );
}

#[test]
fn an_alias_is_listed_as_one() {
    let alias = "Alias for `answer_exact_match` with `frac = 1`";
    assert!(list("em", "80").starts_with(&format!("em\n  {alias}.\n")));
    let all = list("", "80");
    let line = all.lines().find(|line| line.starts_with("  em ")).unwrap();
    assert!(line.ends_with(alias), "{line}");
}

#[test]
fn every_metric_is_one_line_in_its_group() {
    let text = list("", "80");
    let lines: Vec<&str> = text.lines().collect();
    let metrics = |line: &&&str| line.starts_with("  ");
    let names: Vec<&str> = lines
        .iter()
        .filter(metrics)
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    let specs: Value = serde_json::from_str(&list("--json", "80")).unwrap();
    let all: Vec<&str> = specs
        .as_array()
        .unwrap()
        .iter()
        .map(|spec| spec["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names, all,
        "every metric is listed once, in the order of --json"
    );
    let groups = lines.iter().filter(|line| !metrics(line)).count() - 1;
    assert!((2..=14).contains(&groups) && names.len() > 60, "{text}");
    let builtin = names.len() - OWN.len();
    assert!(
        builtin + groups < 4 * 40,
        "the built-in metrics fit four screens of 40 lines: {text}"
    );
    for (group, first) in [("answers", "answer_exact_match"), ("other", OWN[0])] {
        let place = lines.iter().position(|line| *line == group).unwrap();
        assert_eq!(
            lines[place + 1].split_whitespace().next(),
            Some(first),
            "{text}"
        );
    }
    let same_text = lines
        .iter()
        .find(|line| line.starts_with("  same_text "))
        .unwrap();
    assert!(
        same_text.ends_with("  Passes if the answers are the same string"),
        "{same_text}"
    );
    let hint = format!(
        "{} metrics; `list NAME` shows fields and parameters",
        names.len()
    );
    assert_eq!(*lines.last().unwrap(), hint);
}

#[test]
fn it_fits_terminals_of_60_columns_and_more() {
    for width in [60, 80, 100, 200] {
        for args in ["", &OWN.join(" ")] {
            let text = list(args, &width.to_string());
            let widest = text
                .lines()
                .max_by_key(|line| line.chars().count())
                .unwrap();
            // A name or a type is not wrapped, so it may be longer than the line.
            let words = widest.split_whitespace().count();
            let count = widest.chars().count();
            assert!(count <= width || words == 1, "{width} columns: {widest:?}");
            for name in OWN {
                let is_of = |line: &str| line.split_whitespace().next() == Some(name);
                assert!(text.lines().any(is_of), "{width} columns: no {name}");
            }
        }
    }
    assert_eq!(
        list("obeys", "0").lines().next(),
        Some("obeys"),
        "an invalid width"
    );
}

#[test]
fn json_has_the_specs() {
    let all: Value = serde_json::from_str(&list("--json", "10")).unwrap();
    let names: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|spec| spec["name"].clone())
        .collect();
    assert_eq!(names[0], "answer_exact_match");
    assert_eq!(names[names.len() - OWN.len()..], OWN);

    let one = serde_json::from_str(&list("distance --json", "10")).unwrap();
    assert_snapshot!(pretty(&one));
}

#[test]
fn unknown_names() {
    let ran = Ran::from(scorer().args(["list", "same_txt"]).output().unwrap());
    let message = "error: unknown metric `same_txt`; did you mean `same_text`?\n";
    assert_eq!((ran.code, &*ran.out, &*ran.err), (Some(2), "", message));
}

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let mut child = scorer()
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
}

#[test]
fn a_closed_standard_error_is_not_an_internal_error() {
    let mut command = scorer();
    command
        .args(["list", "zzz"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn every_default_of_a_built_in_metric_is_accepted_as_typed() {
    let specs: Value = serde_json::from_str(&list("--json", "100")).unwrap();
    let mut typed = 0;
    for spec in specs.as_array().unwrap() {
        let name = spec["name"].as_str().unwrap();
        let params = spec["params"].as_array().unwrap();
        let given = params.iter().filter_map(|param| {
            let (key, default) = (param["name"].as_str().unwrap(), param["default"].as_str()?);
            // A user's type without `Serialize`: its default is shown as in the source code.
            let is_typed = (name, key) != ("word_gap", "mode");
            is_typed.then(|| format!("{name}.{key}={default}"))
        });
        let given: Vec<String> = given.collect();
        let required = params.iter().filter(|param| param["default"].is_null());
        let required: Vec<&str> = required
            .map(|param| param["name"].as_str().unwrap())
            .collect();
        if required.iter().any(|name| *name != "command") {
            continue;
        }
        typed += given.len();
        let command = format!("{name}.command=true");
        let mut score = scorer();
        score.args(["score", "-", "-m", name]).stdin(Stdio::null());
        score.args(required.iter().flat_map(|_| ["--param", &command]));
        let ran = Ran::from(
            score
                .args(given.iter().flat_map(|it| ["--param", it]))
                .output()
                .unwrap(),
        );
        assert!(!ran.err.contains("parameter"), "{given:?}: {}", ran.err);
    }
    assert!(typed > 100, "{typed}");
    let intents = list("intent_accuracy_with_fallback", "200");
    assert!(
        intents.contains(r#" = [["statistical","exploration"],"#),
        "{intents}"
    );
    assert!(
        list("ndcg", "100").contains("k: rank or list of ranks = ["),
        "{}",
        list("ndcg", "100")
    );
}
