//! Documentation, examples and tests name models that a reader can call. Their names are here, so that the next ones are
//! found in one place.

use std::fs;
use std::path::Path;

use super::documents::root;

/// The model that pages, examples and tests name, and the others that they need beside it.
const CURRENT: [&str; 6] = [
    "gpt-6-luna",
    "gpt-6-sol",
    "claude-haiku-5-5",
    "claude-sonnet-5-5",
    "gemini-3.8-flash",
    "gemini-embedding-001",
];

/// Names of no model.
const INVENTED: [&str; 2] = ["gpt-55", "gpt-5.1.5"];

/// Files and folders that know models by name, or contain what others have recorded.
const DATA: [&str; 5] = [
    "crates/lm/src/prices.json",
    "crates/lm/src/client/format",
    "tests/parity",
    "CHANGELOG.md",
    "tests/macros/model_names.rs",
];

const FOLDERS: [&str; 8] = [
    "benches",
    "crates",
    "dsrs-metrics",
    "dsrs-metrics-macros",
    "examples",
    "fuzz",
    "integrations",
    "tests",
];

const TEXT: [&str; 9] = [
    "rs", "md", "py", "toml", "json", "jsonl", "sh", "stderr", "expected",
];

/// The names of a line that are those of models of OpenAI, Anthropic and Google.
fn names(line: &str) -> impl Iterator<Item = &str> {
    ["gpt-", "claude-", "gemini-"]
        .into_iter()
        .flat_map(move |family| {
            line.match_indices(family).filter_map(move |(start, _)| {
                let is_part = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
                let is_start = !line[..start].ends_with(is_part);
                let name = &line[start..];
                let end = name.find(|it| !is_part(it)).unwrap_or(name.len());
                let name = name[..end].trim_end_matches(['.', '-']);
                let has_version =
                    name.len() > family.len() && name.contains(|it: char| it.is_ascii_digit());
                (is_start && has_version).then_some(name)
            })
        })
}

/// Returns `true` if the name is a current one, or one of its dated versions.
fn is_current(name: &str) -> bool {
    CURRENT.iter().chain(&INVENTED).any(|current| {
        let rest = name.strip_prefix(current);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-20"))
    })
}

fn other_models(path: &Path, found: &mut Vec<String>) {
    let relative = path
        .strip_prefix(root())
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let is_text = path
        .extension()
        .is_some_and(|it| TEXT.iter().any(|text| it == *text));
    if DATA.contains(&relative.as_str()) || relative.ends_with("/target") {
        return;
    }
    if path.is_dir() {
        let entries = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        return entries.for_each(|entry| other_models(&entry, found));
    }
    let text = if is_text {
        fs::read_to_string(path).unwrap_or_default()
    } else {
        String::new()
    };
    for (line, text) in (1..).zip(text.lines()) {
        let others = names(text).filter(|name| !is_current(name));
        found.extend(others.map(|name| format!("{relative}:{line}: {name}; write {}", CURRENT[0])));
    }
}

#[test]
fn pages_examples_and_tests_name_current_models() {
    let mut found = Vec::new();
    for folder in FOLDERS {
        other_models(&root().join(folder), &mut found);
    }
    for page in [
        "ARCHITECTURE.md",
        "COMPARE.md",
        "CONTRIBUTING.md",
        "README.md",
        "SECURITY.md",
    ] {
        other_models(&root().join(page), &mut found);
    }
    assert!(
        found.is_empty(),
        "models that may have ended:\n{}",
        found.join("\n")
    );
    let prices = fs::read_to_string(root().join("crates/lm/src/prices.json")).unwrap();
    assert!(
        prices.contains(&format!("\"openai:{}\"", CURRENT[0])),
        "it has a price"
    );
}

#[test]
fn a_model_that_is_not_current_is_found() {
    let found = |line| {
        names(line)
            .filter(|name| !is_current(name))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found("`openai:gpt-5-mini`, gpt-4o."),
        ["gpt-5-mini", "gpt-4o"]
    );
    assert_eq!(
        found("anthropic:claude-3-haiku-20240307"),
        ["claude-3-haiku-20240307"]
    );
    assert_eq!(
        found("openai:gpt-6-luna-2026-09-22 and claude-code"),
        Vec::<&str>::new()
    );
    assert_eq!(found("gpt-6-luna-mini"), ["gpt-6-luna-mini"]);
}
