//! The files that the documentation of modules and `ARCHITECTURE.md` name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::documents::{files, root};

/// The names of files between backticks, such as `row.rs` and `layers/priced.rs`.
fn named_files(line: &str) -> impl Iterator<Item = &str> {
    let between_backticks = line.split('`').skip(1).step_by(2);
    between_backticks.filter(|name| {
        let is_part_of_path = |letter: char| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_/.".contains(letter)
        };
        name.ends_with(".rs") && name.chars().all(is_part_of_path)
    })
}

/// Returns the path as documentation writes it: without `crates` and `src`, such as `run/data/batch.rs`.
fn short_path(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap();
    let parts = path.iter().map(|part| part.to_str().unwrap());
    let parts: Vec<_> = parts
        .filter(|part| !["crates", "src"].contains(part))
        .collect();
    parts.join("/")
}

/// The folder of a module's child modules.
fn folder_of(module: &Path) -> PathBuf {
    let name = module.file_name().unwrap().to_str().unwrap();
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => module.parent().unwrap().to_path_buf(),
        _ => module.with_extension(""),
    }
}

/// A name without a folder is a file beside the module or a child of the module. Any other name is the path of a file or ends it.
fn exists(name: &str, module: Option<&Path>, sources: &BTreeSet<String>) -> bool {
    let is_near = |module: &Path| {
        module.with_file_name(name).exists() || folder_of(module).join(name).exists()
    };
    let ends_path = |source: &String| *source == name || source.ends_with(&format!("/{name}"));
    root().join(name).exists()
        || module.is_some_and(is_near)
        || ((module.is_none() || name.contains('/')) && sources.iter().any(ends_path))
}

#[test]
fn files_named_in_documentation_of_modules_exist() {
    let sources: Vec<_> = ["crates", "dsrs-metrics", "dsrs-metrics-macros"]
        .into_iter()
        .flat_map(|folder| files(&root().join(folder), "rs"))
        .collect();
    let short: BTreeSet<_> = sources.iter().map(|path| short_path(path)).collect();
    let mut missing = Vec::new();
    let mut check = |path: &Path, module: Option<&Path>, prefix: &str| {
        let text = fs::read_to_string(path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            if line.starts_with(prefix) {
                let unknown = named_files(line).filter(|name| !exists(name, module, &short));
                missing.extend(unknown.map(|name| format!("{}:{number} {name}", path.display())));
            }
        }
    };
    for path in &sources {
        check(path, Some(path), "//!");
    }
    check(&root().join("ARCHITECTURE.md"), None, "");
    assert!(missing.is_empty(), "no such files:\n{}", missing.join("\n"));
}

#[test]
fn a_file_of_another_folder_is_named_with_its_folder() {
    let sources = BTreeSet::from(["lm/layers/budget.rs".to_owned()]);
    let module = root().join("crates/lm/src/store/mod.rs");
    assert!(exists("layers/budget.rs", Some(&module), &sources));
    assert!(!exists("budget.rs", Some(&module), &sources));
    assert!(!exists("layers/price.rs", Some(&module), &sources));
    assert!(exists("budget.rs", None, &sources));
}
