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

#[test]
fn tests_of_the_conformance_page_exist() {
    assert_tests_exist(&page("conformance.md"));
}

/// A row for each capability of a document, with one of three states. The first table counts them.
#[test]
fn the_conformance_page_has_every_capability_and_its_state() {
    let page = page("conformance.md");
    assert!(!page.contains("TODO"));
    let mut all = [0; 4];
    for (document, capabilities) in [
        ("DSPy: metrics and evaluation", 53),
        ("DSPy: answer_exact_match", 10),
        ("dsrs: metrics", 76),
        ("Heritage RAG metrics", 32),
        ("gllm-evals: BaseMetric", 26),
        ("Upstream, beyond the documents", 47),
    ] {
        let (_, section) = page.split_once(&format!("\n## {document}\n")).unwrap();
        let rows = tested_rows(section.split("\n## ").next().unwrap());
        assert_eq!(rows.len(), capabilities, "{document}");
        for row in &rows {
            assert!(
                row.len() == 4 && row.iter().all(|cell| !cell.is_empty()),
                "{row:?}"
            );
        }
        let count = |state: &str| rows.iter().filter(|row| row[1].starts_with(state)).count();
        let states = ["as documented", "differs: ", "not built: "].map(count);
        assert_eq!(
            states.iter().sum::<usize>(),
            capabilities,
            "{document}: {states:?}"
        );
        let [as_documented, differs, not_built] = states;
        let line =
            format!("| {document} | {as_documented} | {differs} | {not_built} | {capabilities} |");
        assert!(page.contains(&line), "expected the line {line}");
        for (sum, count) in all
            .iter_mut()
            .zip([as_documented, differs, not_built, capabilities])
        {
            *sum += count;
        }
    }
    let [as_documented, differs, not_built, capabilities] = all;
    let line = format!("| all | {as_documented} | {differs} | {not_built} | {capabilities} |");
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
