//! The tests and the ports that pages of the documentation name exist.

use std::collections::{BTreeSet, HashSet};
use std::fs;

use super::documents::{cells, files, page, root};

/// The names of all tests.
fn tests() -> HashSet<String> {
    let mut names = HashSet::new();
    for file in [
        "tests",
        "crates",
        "dsrs-metrics/src",
        "integrations/dspy-rs/tests",
    ]
    .map(|folder| files(&root().join(folder), "rs"))
    .concat()
    {
        let source = fs::read_to_string(file).unwrap();
        let mut is_test = false;
        for line in source.lines() {
            is_test |= line.contains("#[test]") || line.contains("#[tokio::test");
            if let Some((_, function)) = line.split_once("fn ").filter(|_| is_test) {
                names.extend(function.split('(').next().map(str::to_owned));
                is_test = false;
            }
        }
    }
    names
}

/// The cells of all rows of a page's tables whose last column is `test`.
fn tested_rows(page: &str) -> Vec<Vec<&str>> {
    let tables = page
        .split("\n\n")
        .filter_map(|block| block.split_once("| test |\n"));
    tables
        .flat_map(|(_, rows)| rows.lines().skip(1))
        .map(cells)
        .collect()
}

/// Test binaries, which a cell may name beside their tests.
const BINARIES: [&str; 2] = ["ctrl_c", "lm_bombs"];

/// The last cell names tests that exist. A row without a test of its own shares the tests of the row above, or states why.
#[track_caller]
fn assert_tests_exist(page: &str) {
    let (tests, rows, mut wrong) = (tests(), tested_rows(page), Vec::new());
    assert!(!rows.is_empty(), "no table has a column of tests");
    for row in rows {
        let cell = *row.last().unwrap();
        // Code in backticks is every second piece. A path ends with the name of a test, or of a module of tests.
        let paths = cell.split('`').skip(1).step_by(2);
        let names = paths.filter_map(|path| path.rsplit("::").next());
        let names = names.filter(|name| name.contains('_') && !BINARIES.contains(name));
        let names: Vec<&str> = names.collect();
        let is_marked = ["none: ", "the same", "same"]
            .iter()
            .any(|mark| cell.starts_with(mark));
        if names.is_empty() && !is_marked {
            wrong.push(format!("no test: {}", row[0]));
        }
        let missing = names.into_iter().filter(|name| !tests.contains(*name));
        wrong.extend(missing.map(|name| format!("no such test: {name}")));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The page on security names a test for each attack.
#[test]
fn tests_of_the_security_page_exist() {
    assert_tests_exist(&page("security.md"));
}

/// So does the threat model.
#[test]
fn tests_of_the_threat_model_exist() {
    assert_tests_exist(&fs::read_to_string(root().join("SECURITY.md")).unwrap());
}

/// Readers of the guide have no use for the names of tests.
#[test]
fn the_guide_names_no_test() {
    let tests = tests();
    let mut found = Vec::new();
    for file in files(&root().join("dsrs-metrics/docs/guide"), "md") {
        let page = fs::read_to_string(&file).unwrap();
        // Code in backticks is every second piece. Short names are also those of functions.
        let code = page.split('`').skip(1).step_by(2);
        let named = code.filter(|code| code.matches('_').count() > 2 && tests.contains(*code));
        found.extend(named.map(|name| format!("{}: {name}", file.display())));
    }
    assert_eq!(found, Vec::<String>::new());
}

/// Each limit that the guide promises has a row with its tests.
#[test]
fn every_limit_on_untrusted_input_has_tests() {
    let (guide, security) = (page("guide/untrusted_input.md"), page("security.md"));
    let (_, limits) = guide.split_once("| beyond it |\n").unwrap();
    let (limits, _) = limits.split_once("\n\n").unwrap();
    let limits: Vec<&str> = limits.lines().skip(1).map(|line| cells(line)[0]).collect();
    let tested: HashSet<&str> = tested_rows(&security).iter().map(|row| row[0]).collect();
    assert!(limits.len() > 20, "{limits:?}");
    let untested: Vec<_> = limits
        .into_iter()
        .filter(|limit| !tested.contains(limit))
        .collect();
    assert_eq!(untested, [""; 0]);
}

/// The capabilities of the page on conformance, document by document.
fn capabilities(page: &str) -> Vec<(&str, Vec<Vec<&str>>)> {
    let sections = page.split("\n## ").skip(1);
    let tables = sections.filter_map(|section| {
        let (_, rows) = section.split_once("| capability | here |\n| --- | --- |\n")?;
        let rows = rows.lines().take_while(|line| line.starts_with("| "));
        Some((section.lines().next()?, rows.map(cells).collect()))
    });
    tables.collect()
}

/// `tests/conformance.txt` names the tests of each capability, in the order of the page.
#[test]
fn each_capability_of_the_conformance_page_has_tests() {
    let (page, tests) = (page("conformance.md"), tests());
    let known = include_str!("../conformance.txt");
    let known = known.lines().filter_map(|line| line.rsplit_once(" = "));
    let (known, names): (Vec<&str>, Vec<&str>) = known.unzip();
    let capabilities = capabilities(&page);
    let rows = capabilities.iter().flat_map(|(_, rows)| rows);
    assert_eq!(rows.map(|row| row[0]).collect::<Vec<_>>(), known);
    let names = names.iter().flat_map(|names| names.split(", "));
    let missing = names.filter(|name| *name != "none" && !tests.contains(*name));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

/// A row for each capability of a document, with one of three states. The first table counts them.
#[test]
fn the_conformance_page_has_every_capability_and_its_state() {
    let page = page("conformance.md");
    let found: Vec<_> = capabilities(&page);
    let found = found
        .iter()
        .map(|(document, rows)| (*document, rows.len()))
        .collect::<Vec<_>>();
    let expected = [
        ("DSPy: metrics and evaluation", 53),
        ("DSPy: answer_exact_match", 10),
        ("dsrs: metrics", 76),
        ("Heritage RAG metrics", 32),
        ("gllm-evals: BaseMetric", 26),
        ("Upstream, beyond the documents", 47),
    ];
    assert_eq!(found, expected);
    let mut all = [0; 4];
    for (document, rows) in capabilities(&page) {
        for row in &rows {
            assert!(
                row.len() == 2 && row.iter().all(|cell| !cell.is_empty()),
                "{row:?}"
            );
        }
        let count = |state: &str| rows.iter().filter(|row| row[1].starts_with(state)).count();
        let [differs, not_built] = ["differs: ", "not built: "].map(count);
        let counts = [
            rows.len() - differs - not_built,
            differs,
            not_built,
            rows.len(),
        ];
        let line = format!(
            "| {document} | {} |",
            counts.map(|count| count.to_string()).join(" | ")
        );
        assert!(page.contains(&line), "expected the line {line}");
        for (sum, count) in all.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    let line = format!(
        "| all | {} |",
        all.map(|count| count.to_string()).join(" | ")
    );
    assert!(page.contains(&line), "expected the line {line}");
}

/// The page of the reference documents' examples lists each port once, and nothing else.
#[test]
fn the_page_of_the_reference_examples_lists_every_port() {
    let folder = root().join("examples/reference");
    let page = fs::read_to_string(folder.join("README.md")).unwrap();
    let listed = page.lines().filter(|line| line.starts_with('|')).map(cells);
    let listed = listed.filter_map(|row| row[1].strip_prefix('`')?.strip_suffix('`'));
    let listed: BTreeSet<&str> = listed
        .map(|path| path.rsplit("::").next().unwrap())
        .collect();

    let mut ports = BTreeSet::new();
    let sources: Vec<String> = files(&folder, "rs")
        .into_iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    for source in &sources {
        // What `run` calls: `name()?;`, `name().await?;`, `name();`.
        let calls = source
            .lines()
            .filter_map(|line| line.trim().split_once("()"));
        let calls = calls.filter(|(_, rest)| [";", "?;", ".await?;", ".await"].contains(rest));
        ports.extend(
            calls
                .map(|(name, _)| name)
                .filter(|name| source.contains(&format!("fn {name}()"))),
        );
    }
    // Files whose `run` is the port itself.
    ports.insert("run");
    // The choice of the programs that need the sandbox.
    ports.insert("programs");
    assert_eq!(listed, ports);
}
