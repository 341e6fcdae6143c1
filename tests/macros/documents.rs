//! The README and the guide: their length, their examples, and the messages that they quote.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder with an extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The README and all pages of the documentation.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("dsrs-metrics/docs"), "md");
    pages.push(root().join("README.md"));
    pages
}

/// The lines of the Rust examples of a page.
fn examples(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("```rust").skip(1);
    blocks.flat_map(|block| block.split("\n```").next().unwrap_or_default().lines().skip(1))
}

#[test]
fn readme_and_architecture_are_short() {
    for name in ["README.md", "ARCHITECTURE.md"] {
        let lines = fs::read_to_string(root().join(name)).unwrap().lines().count();
        assert!(lines <= 150, "{name} has {lines} lines");
    }
}

/// A hidden line of an example is visible where the page is not rendered by rustdoc.
#[test]
fn no_example_has_hidden_lines() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let hidden: Vec<&str> =
            examples(&text).filter(|line| *line == "#" || line.starts_with("# ")).collect();
        assert_eq!(hidden, Vec::<&str>::new(), "{}", page.display());
    }
}

#[test]
fn quoted_compile_errors_are_recorded_ones() {
    let recorded = files(&root().join("tests/ui"), "stderr")
        .into_iter()
        .chain(files(&root().join("dsrs-metrics-macros/tests/messages"), "expected"));
    let recorded: Vec<String> = recorded.map(|file| fs::read_to_string(file).unwrap()).collect();
    let mut quoted = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for line in text.lines().filter(|line| line.starts_with("error")) {
            let is_recorded =
                recorded.iter().any(|messages| messages.lines().any(|message| message == line));
            assert!(is_recorded, "{}: no case has this message: {line}", page.display());
            quoted += 1;
        }
    }
    assert!(quoted > 0, "no page quotes a message");
}

/// Every relative link of a page leads to a file.
#[test]
fn links_between_pages_lead_to_files() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let folder = page.parent().unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let is_relative = link.ends_with(".md") && !link.contains("://");
            assert!(!is_relative || folder.join(link).is_file(), "{}: {link}", page.display());
        }
        let definitions = text.lines().filter(|line| line.starts_with('['));
        for (_, link) in definitions.filter_map(|line| line.split_once("]: ")) {
            assert!(folder.join(link).is_file(), "{}: {link}", page.display());
        }
    }
}

/// The page on security names a test for each attack.
#[test]
fn tests_of_the_security_page_exist() {
    let page = fs::read_to_string(root().join("dsrs-metrics/docs/security.md")).unwrap();
    let mut sources = String::new();
    for folder in ["tests", "dsrs-metrics/src"] {
        for file in files(&root().join(folder), "rs") {
            sources.push_str(&fs::read_to_string(file).unwrap());
        }
    }
    let cells = page.lines().filter(|line| line.starts_with('|')).filter_map(|line| {
        let cells: Vec<&str> = line.trim_end_matches('|').split(" | ").collect();
        cells.last().copied()
    });
    // Code in backticks: every second piece.
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let names =
        quoted.filter_map(|path| path.rsplit("::").next()).filter(|name| name.contains('_'));
    // The names of test binaries.
    let binaries = ["ctrl_c", "lm_bombs"];
    let names = names.filter(|name| !binaries.contains(name));
    let missing: Vec<&str> =
        names.filter(|name| !sources.contains(&format!("fn {name}("))).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
