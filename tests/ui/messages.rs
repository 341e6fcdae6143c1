//! Reads every recorded message and holds it against what all of them promise: said at the guilty
//! token, in the user's words, without a name that only the expansion knows.

use std::fs;
use std::path::{Path, PathBuf};

/// Messages that only rustc reports: the end of a case's path, and words of the line.
const OF_RUSTC: [(&str, &str); 3] = [
    // The second `#[metric]` or `#[judge]` is the error.
    ("item/metric_twice.expected", "#[metric]"),
    ("judge/judge_twice.expected", "#[judge]"),
    // The macro is `main!`, which the user wrote.
    (
        "uses/main_without_its_feature.stderr",
        "originates in the macro `dsrs_metrics::main`",
    ),
];

/// The folders of recorded messages: messages of rustc, and messages of the macros alone.
const FOLDERS: [(&str, &str); 2] = [
    ("fail", "stderr"),
    ("../../dsrs-metrics-macros/tests/messages", "expected"),
];

fn paths(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    read.map(|entry| entry.unwrap().path()).collect()
}

fn recorded() -> Vec<(PathBuf, String)> {
    let mut messages = Vec::new();
    for (folder, extension) in FOLDERS {
        let topics = paths(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        let files = topics.iter().flat_map(|topic| paths(topic));
        let files = files.filter(|file| file.extension().is_some_and(|found| found == extension));
        messages.extend(files.map(|file| (file.clone(), fs::read_to_string(file).unwrap())));
    }
    messages.sort();
    messages
}

fn is_of_rustc(file: &Path, line: &str) -> bool {
    OF_RUSTC
        .iter()
        .any(|(case, words)| file.ends_with(case) && line.contains(words))
}

/// The lines that name something the user never wrote.
fn lines_with(found: impl Fn(&str) -> bool) -> Vec<String> {
    let messages = recorded();
    let lines = messages
        .iter()
        .flat_map(|(file, text)| text.lines().map(move |line| (file, line)));
    lines
        .filter(|(file, line)| found(line) && !is_of_rustc(file, line))
        .map(|(file, line)| format!("{}: {line}", file.display()))
        .collect()
}

#[test]
fn every_recorded_message_has_its_case() {
    for (file, text) in recorded() {
        assert!(
            file.with_extension("rs").is_file(),
            "{} has no case",
            file.display()
        );
        assert!(
            text.starts_with("error"),
            "{} begins with something else",
            file.display()
        );
    }
}

#[test]
fn no_message_names_what_only_the_expansion_knows() {
    let private = lines_with(|line| line.contains("__private") || line.contains("originates in"));
    assert_eq!(private, Vec::<String>::new());
    let generated =
        |line: &str| line.contains("'__") || line.contains("__Gold") || line.contains("__Pred");
    assert_eq!(lines_with(generated), Vec::<String>::new());
}

#[test]
fn no_message_points_at_the_whole_attribute() {
    let mut found = Vec::new();
    for (file, text) in recorded() {
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            let Some(caret) = pair[1].find('^') else {
                continue;
            };
            let pointed_at = pair[0].get(caret..).unwrap_or_default();
            let is_attribute = ["#[metric", "#[judge", "#[derive(Record"]
                .iter()
                .any(|attribute| pointed_at.starts_with(attribute));
            if is_attribute && !is_of_rustc(&file, pair[0]) {
                found.push(format!("{}: {}", file.display(), pair[0]));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

/// Messages of a judge's macro name the correction, or the error in the source.
#[test]
fn a_judges_messages_stand_alone_and_say_it_once() {
    for (file, text) in recorded() {
        // rustc reports an unknown type a second time where it could be a type parameter.
        let is_of_rustc = file.ends_with("input_of_unknown_type.stderr");
        if !file.parent().unwrap().ends_with("judge") || is_of_rustc {
            continue;
        }
        let errors: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("error"))
            .collect();
        let mut once = errors.clone();
        once.dedup();
        assert_eq!(errors, once, "{} says something twice", file.display());
        for error in errors.iter().filter(|error| error.starts_with("error: ")) {
            assert!(!error.contains("#[metric("), "{}: {error}", file.display());
            assert!(error.len() > 20, "{}: {error}", file.display());
        }
    }
}

/// Returns the notes of the traits' diagnostics, with their line breaks as spaces.
fn notes_of_traits(folder: &Path, notes: &mut Vec<String>) {
    for path in paths(folder) {
        if path.is_dir() {
            notes_of_traits(&path, notes);
        } else if path.extension().is_some_and(|found| found == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let attributes = text.split("on_unimplemented(").skip(1);
            let attributes = attributes.filter_map(|after| after.split("trait ").next());
            let found = attributes.filter_map(|attribute| attribute.split_once("note = \""));
            notes.extend(found.map(|(_, note)| as_shown(note)));
        }
    }
}

/// Returns a string literal's content, from after its first quote, as rustc prints it.
fn as_shown(literal: &str) -> String {
    let literal = literal.replace("\\\"", "\u{1}");
    let content = literal.split('"').next().unwrap_or_default();
    let content = content.replace("\\n", " ").replace('\u{1}', "\"");
    let content = content.replace("{{", "{").replace("}}", "}");
    content.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The features that methods of the builder ask for exist.
#[test]
fn missing_features_are_features_of_the_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let methods = root.join("crates/run/src/evaluate/builder/missing_features.rs");
    let methods = fs::read_to_string(methods).unwrap();
    let manifest = fs::read_to_string(root.join("dsrs-metrics/Cargo.toml")).unwrap();
    let named = methods.split("add `features = [\\\"").skip(1);
    let named: Vec<_> = named.filter_map(|after| after.split('\\').next()).collect();
    assert!(named.contains(&"parquet"), "{named:?}");
    for feature in named {
        assert!(manifest.contains(&format!("\n{feature} = [")), "{feature}");
    }
}

/// `pass/advice.rs` does what each note says.
#[test]
fn the_advice_of_each_trait_compiles() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut notes = Vec::new();
    notes_of_traits(&here.join("../../crates"), &mut notes);
    assert!(notes.len() > 30, "the notes were not found");
    notes.sort();
    notes.dedup();
    let program = fs::read_to_string(here.join("pass/advice.rs")).unwrap();
    let applied = program.split("// note: ").skip(1).map(|block| {
        let lines = block.lines().enumerate();
        let lines = lines.map_while(|(index, line)| match index {
            0 => Some(line),
            _ => line.strip_prefix("// "),
        });
        lines.collect::<Vec<_>>().join(" ")
    });
    let mut applied: Vec<String> = applied.collect();
    applied.sort();
    assert_eq!(applied, notes);
}
