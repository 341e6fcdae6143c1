//! The README and the guide: their length, their examples, and the messages that they quote.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder with an extension, sorted.
pub(super) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
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
    pages.extend(
        [
            "CHANGELOG.md",
            "COMPARE.md",
            "CONTRIBUTING.md",
            "README.md",
            "SECURITY.md",
        ]
        .map(|name| root().join(name)),
    );
    pages
}

/// The text of a page in `docs`.
pub(super) fn page(name: &str) -> String {
    fs::read_to_string(root().join("dsrs-metrics/docs").join(name)).unwrap()
}

/// The lines of the Rust examples of a page.
fn examples(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("```rust").skip(1);
    blocks.flat_map(|block| {
        block
            .split("\n```")
            .next()
            .unwrap_or_default()
            .lines()
            .skip(1)
    })
}

#[test]
fn readme_and_architecture_are_short() {
    for (name, limit) in [("README.md", 120), ("ARCHITECTURE.md", 120)] {
        let lines = fs::read_to_string(root().join(name))
            .unwrap()
            .lines()
            .count();
        assert!(lines <= limit, "{name} has {lines} lines");
    }
}

/// The eval of the README is that of the tutorial, which is followed. ` ..` stands for the rest of a line of its output.
#[test]
fn the_readme_has_the_eval_of_the_tutorial() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let tutorial = page("guide/tutorial.md");
    let block = |language: &str| {
        let (_, block) = readme.split_once(&format!("\n```{language}\n")).unwrap();
        block.split_once("```").unwrap().0
    };
    assert!(tutorial.contains(block("rs")));
    for line in block("text").lines() {
        let start = line.strip_suffix(" ..").unwrap_or(line);
        assert!(tutorial.lines().any(|it| it.starts_with(start)), "{line}");
    }
}

/// Phrases that native writers do not use: "instead of", "otherwise", "regardless of" and "if" say the same.
const PHRASES: [&str; 6] = [
    "Returns whether",
    "in place of",
    "or else",
    "whatever the",
    "as far as",
    "| Whether",
];

#[test]
fn pages_for_users_have_no_translated_phrase() {
    let mut pages = files(&root().join("dsrs-metrics/docs/guide"), "md");
    pages.extend(["README.md", "COMPARE.md", "SECURITY.md"].map(|name| root().join(name)));
    let mut found = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let phrases = PHRASES.iter().filter(|phrase| text.contains(**phrase));
        found.extend(phrases.map(|phrase| format!("{}: {phrase}", page.display())));
    }
    assert_eq!(found, Vec::<String>::new());
}

/// A hidden line of an example is visible where the page is not rendered by rustdoc.
#[test]
fn no_example_has_hidden_lines() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let hidden: Vec<&str> = examples(&text)
            .filter(|line| *line == "#" || line.starts_with("# "))
            .collect();
        assert_eq!(hidden, Vec::<&str>::new(), "{}", page.display());
    }
}

#[test]
fn quoted_compile_errors_are_recorded_ones() {
    let recorded = files(&root().join("tests/ui"), "stderr")
        .into_iter()
        .chain(files(
            &root().join("dsrs-metrics-macros/tests/messages"),
            "expected",
        ));
    let recorded: Vec<String> = recorded
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let mut quoted = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        // Cargo's own message, after a test of the tutorial has failed.
        let is_quoted = |line: &&str| {
            line.starts_with("error") && !line.starts_with("error: test failed, to rerun pass")
        };
        for line in text.lines().filter(is_quoted) {
            let is_recorded = recorded
                .iter()
                .any(|messages| messages.lines().any(|message| message == line));
            assert!(
                is_recorded,
                "{}: no case has this message: {line}",
                page.display()
            );
            quoted += 1;
        }
    }
    assert!(quoted > 0, "no page quotes a message");
}

/// The anchors of the headings of a page, as GitHub names them.
fn anchors(page: &str) -> HashSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let headings = headings.map(|heading| heading.trim_start_matches('#').trim().to_lowercase());
    let is_kept = |it: &char| it.is_alphanumeric() || " -_".contains(*it);
    headings
        .map(|heading| {
            heading
                .chars()
                .filter(is_kept)
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

/// The names and targets of the links that a page defines below its text. Footnotes are not links.
fn definitions(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = page.lines().filter_map(|line| line.strip_prefix('['));
    let links = lines.filter(|line| !line.starts_with('^'));
    links.filter_map(|line| line.split_once("]: "))
}

/// Every relative link of a page leads to a file, and to a heading if it names one.
#[test]
fn links_between_pages_lead_to_files() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let inline = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let inline = inline.filter(|link| link.contains(".md"));
        let links = inline.chain(definitions(&text).map(|(_, link)| link));
        for link in links.filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = page.parent().unwrap().join(file);
            let has_anchor = || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor);
            let is_found = target.exists() && (anchor.is_empty() || has_anchor());
            assert!(is_found, "{}: {link}", page.display());
        }
    }
}

/// The crate's documentation has every page of the guide.
#[test]
fn every_page_of_the_guide_is_in_the_crate() {
    let docs = root().join("dsrs-metrics/docs");
    let pages = fs::read_to_string(root().join("dsrs-metrics/src/guide.rs")).unwrap();
    for file in files(&docs.join("guide"), "md") {
        let file = file.strip_prefix(&docs).unwrap().to_str().unwrap();
        let is_shown = pages.contains(&format!("\"../docs/{file}\""));
        assert!(is_shown, "`pages!` in guide.rs lacks {file}");
    }
}

/// No page begins with what it will have said at its end.
#[test]
fn no_page_announces_itself() {
    for file in files(&root().join("dsrs-metrics/docs"), "md") {
        let text = fs::read_to_string(&file).unwrap();
        let file = file.display();
        assert!(
            !text.contains("At the end of this page"),
            "{file}: begin with code, or with what to do"
        );
    }
}

/// The cells of a row of a table.
pub(super) fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// The rows of the tables of a page, without the rows of headings.
fn table_rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = page.lines().collect::<Vec<&str>>();
    let is_heading = |next: Option<&&str>| next.is_some_and(|line| line.starts_with("| ---"));
    let rows = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.starts_with("| ") && !row.starts_with("| ---"));
    let all: Vec<_> = rows
        .map(|(at, row)| (page.lines().nth(at + 1), *row))
        .collect();
    all.into_iter()
        .filter(move |(next, _)| !is_heading(next.as_ref()))
        .map(|(_, row)| cells(row))
}

/// Each term once, with one sentence that links to its page.
#[test]
fn the_glossary_has_each_term_once_in_one_sentence() {
    let (page, mut terms) = (page("guide/glossary.md"), HashSet::new());
    for row in table_rows(&page) {
        let [term, meaning] = row[..] else {
            panic!("{row:?}")
        };
        assert!(terms.insert(term), "{term} is defined twice");
        let sentence = meaning
            .strip_suffix(").")
            .and_then(|text| text.rsplit_once(" (["));
        assert!(
            sentence.is_some_and(|(text, _)| !text.contains(". ")),
            "{term}: {meaning}"
        );
    }
    assert!(terms.len() > 30);
}

/// What readers who come from other libraries are told to write exists: public items, their members, metrics, options and attributes.
#[test]
fn names_for_readers_of_other_libraries_exist() {
    let known = [
        "tests/public_api.txt",
        "dsrs-metrics/docs/metrics.md",
        "dsrs-metrics/docs/composition.md",
    ];
    let known = known
        .map(|file| fs::read_to_string(root().join(file)).unwrap())
        .concat();
    let known = known + &page("eval.md") + &page("metric.md") + &page("guide/command_line.md");
    let known: HashSet<&str> = known
        .split(|it: char| !it.is_alphanumeric() && it != '_')
        .collect();
    let (page, mut checked) = (page("guide/coming_from.md"), 0);
    for row in table_rows(&page) {
        for code in row[1].split('`').skip(1).step_by(2) {
            // Strings are examples, and what follows a space is an argument of a command.
            let code = code.split('"').step_by(2).collect::<Vec<&str>>().concat();
            let names = code.split(|it: char| !it.is_alphanumeric() && it != '_');
            for name in names.filter(|name| name.len() > 2 && !name.starts_with(char::is_numeric)) {
                let is_file = ["jsonl", "html"].contains(&name);
                assert!(is_file || known.contains(name), "no {name}: {row:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "{checked}");
}

/// Each table of the comparison has all libraries, each fact a link to its source, and each source a fact.
#[test]
fn each_fact_of_the_comparison_has_a_source() {
    let libraries = [
        "**dsrs-metrics**",
        "DSPy",
        "dspy-rs",
        "inspect_ai",
        "deepeval",
        "ragas",
        "pydantic-evals",
        "promptfoo",
        "mira",
    ];
    let page = fs::read_to_string(root().join("COMPARE.md")).unwrap();
    let tables: Vec<&str> = page
        .split("\n\n")
        .filter(|block| block.starts_with("| | "))
        .collect();
    assert_eq!(tables.len(), 4);
    for table in tables {
        let rows = table
            .lines()
            .map(|row| row.split('|').map(str::trim).collect::<Vec<&str>>());
        let rows: Vec<Vec<&str>> = rows.collect();
        let names: Vec<&str> = rows.iter().skip(2).map(|row| row[1]).collect();
        assert_eq!(names, libraries);
        for row in &rows {
            assert_eq!(row.len(), rows[0].len(), "{row:?}");
        }
        let facts = rows
            .iter()
            .skip(2)
            .flat_map(|row| &row[2..])
            .filter(|fact| !fact.is_empty());
        let without_source: Vec<_> = facts.filter(|fact| !fact.contains('[')).collect();
        assert_eq!(without_source, Vec::<&&str>::new());
    }
    let named = page
        .split("][")
        .skip(1)
        .filter_map(|rest| rest.split(']').next());
    let named: BTreeSet<&str> = named.collect();
    let sources: BTreeSet<&str> = definitions(&page).map(|(name, _)| name).collect();
    assert_eq!(named, sources);
    for (name, source) in definitions(&page).filter(|(_, source)| source.contains("://")) {
        let at_commit = source
            .split_once("/blob/")
            .map(|(_, path)| path.split('/').next().unwrap());
        let is_at_commit = at_commit.is_some_and(|commit| commit.len() == 40);
        assert!(is_at_commit, "{name}: {source}");
    }
}
