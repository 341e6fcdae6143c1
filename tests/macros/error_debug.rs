//! `main` prints the `Debug` of an error that it returns. Of a public error type it is the message.

use std::fs;

use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::InputError;

use super::documents::{files, root};

/// The public types of a source file that are errors, by a derive or an impl.
fn public_errors(source: &str) -> Vec<&str> {
    let lines: Vec<&str> = source.lines().collect();
    let is_error = |line: &&str| line.starts_with("#[derive(") && line.contains("Error)]");
    let derived = lines.iter().enumerate().filter(|(_, line)| is_error(line));
    let derived = derived.filter_map(|(number, _)| {
        let (visibility, item) = lines[number..].iter().find_map(|line| {
            let item = ["enum ", "struct "]
                .iter()
                .find_map(|kind| line.split_once(kind));
            item.filter(|(before, _)| before.is_empty() || before.starts_with("pub"))
        })?;
        (visibility == "pub ").then_some(item)
    });
    let written = lines.iter().filter_map(|line| {
        let (_, item) = line
            .split_once("Error for ")
            .filter(|_| line.starts_with("impl"))?;
        let name = item.split([' ', '<']).next()?;
        let is_public = ["struct", "enum"]
            .iter()
            .any(|kind| source.contains(&format!("\npub {kind} {name}")));
        is_public.then_some(item)
    });
    let name = |item: &'_ str| {
        item.len()
            - item
                .trim_start_matches(|it: char| it.is_alphanumeric())
                .len()
    };
    derived
        .chain(written)
        .map(|item| &item[..name(item)])
        .collect()
}

#[test]
fn debug_of_every_public_error_is_its_message() {
    let (mut found, mut derived) = (0, Vec::new());
    for file in files(&root().join("crates"), "rs") {
        let source = fs::read_to_string(&file).unwrap();
        // A kind is part of an error, and its `Debug` names the variant, as in the attribute `error.type` of OpenTelemetry.
        for error in public_errors(&source)
            .into_iter()
            .filter(|name| !name.ends_with("Kind"))
        {
            found += 1;
            if !source.contains(&format!("debug_as_display!({error});")) {
                derived.push(format!(
                    "{}: write `dsrs_metrics_values::debug_as_display!({error});`",
                    file.display()
                ));
            }
        }
    }
    assert_eq!(derived, Vec::<String>::new());
    assert!(found >= 20, "{found} error types");
}

#[test]
fn the_errors_of_a_source_are_found() {
    let source = "#[derive(Clone, thiserror::Error)]\n#[error(\"x\")]\npub struct One;\n\
        #[derive(Debug, thiserror::Error)]\npub(crate) enum Hidden {\n}\n#[derive(Error)]\npub enum Two<T> {\n}\n\
        pub struct Three(u8);\nimpl std::error::Error for Three {}\n";
    assert_eq!(public_errors(source), ["One", "Two", "Three"]);
}

#[test]
fn an_error_that_main_returns_is_printed_as_its_sentence() {
    let row = example! { "q" => "Why?", "answer" => "Because." };
    let error: InputError = row.with_inputs(["question"]).inputs().unwrap_err();
    assert_eq!(
        format!("Error: {error:?}"),
        "Error: no input `question`; did you mean `q`?"
    );
    let error: Box<dyn std::error::Error> = Box::new(error);
    assert_eq!(
        format!("Error: {error:?}"),
        "Error: no input `question`; did you mean `q`?"
    );
}
