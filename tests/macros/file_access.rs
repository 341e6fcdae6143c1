//! Which modules open files. A metric that opened a file which a row names would read the host's files.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules that work on values of rows, and on replies of models and endpoints.
const ON_VALUES: [&str; 11] = [
    "crates/builtin/src",
    "crates/code/src",
    "crates/core/src",
    "crates/formats/src",
    "crates/lm/src",
    "crates/run/src/agreement",
    "crates/run/src/data",
    "crates/run/src/results",
    "crates/run/src/scoring",
    "crates/values/src",
    "dsrs-metrics/src",
];

/// The files of these modules that open files, and whose path that is.
const OPEN_FILES: [(&str, &str); 19] = [
    (
        "crates/builtin/src/metrics/sandbox/stages.rs",
        "new files of constant names in a new temporary directory",
    ),
    (
        "crates/code/src/sparql/store.rs",
        "the RDF files that a parameter of the metric names",
    ),
    (
        "crates/formats/src/export/every_eval_ever/mod.rs",
        "folders below the caller's, whose names are checked tags of the run",
    ),
    (
        "crates/formats/src/export/run.rs",
        "when the caller's result file was written",
    ),
    (
        "crates/formats/src/import/inspect/mod.rs",
        "the caller's file of another program",
    ),
    (
        "crates/formats/src/import/mod.rs",
        "the names in the caller's folder of files of another program",
    ),
    (
        "crates/formats/src/lib.rs",
        "the caller's file of another program, and lm-eval's results beside it",
    ),
    (
        "crates/lm/src/embedding/static_vectors.rs",
        "the folder of static vectors that an option or a parameter names",
    ),
    ("crates/lm/src/lib.rs", "the folder of the store"),
    (
        "crates/lm/src/price.rs",
        "the price table that a variable names",
    ),
    (
        "crates/lm/src/replay/file.rs",
        "the recorded calls that the caller names",
    ),
    (
        "crates/lm/src/store/database.rs",
        "the store, in the user's directory",
    ),
    ("crates/lm/src/store/mod.rs", "the same"),
    (
        "crates/run/src/data/data_file.rs",
        "the length of the caller's input files",
    ),
    (
        "crates/run/src/data/gold.rs",
        "a new temporary file, which has no name",
    ),
    (
        "crates/run/src/data/row_file.rs",
        "the caller's input files",
    ),
    (
        "crates/run/src/results/html/run.rs",
        "whether the caller's result file can be read twice",
    ),
    (
        "crates/values/src/files.rs",
        "files that a parameter of a metric names, which its identity has",
    ),
    (
        "crates/values/src/named_files.rs",
        "files of runs and evals that the caller names",
    ),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_path_buf()];
    }
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.flat_map(|path| sources(&path)).collect()
}

/// Whether the code, without comments and tests, opens, lists or executes a file.
fn opens_files(source: &str) -> bool {
    let code = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let opens = |line: &str| {
        let in_fs = line.match_indices("fs::").any(|(at, _)| {
            !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
        });
        // Not `OutputFile::create`, a file that the caller names.
        let calls = [
            "File::open",
            "File::create",
            "File::options",
            "OpenOptions",
            "Command::new",
        ];
        in_fs
            || calls
                .iter()
                .any(|call| line.replace("OutputFile", "").contains(call))
    };
    lines.into_iter().any(opens)
}

#[test]
fn no_path_from_a_row_is_opened_outside_the_sandbox() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for module in ON_VALUES {
        for file in sources(&root.join(module)) {
            let is_test = file.ends_with("tests.rs");
            if !is_test && opens_files(&fs::read_to_string(&file).unwrap()) {
                found.push(
                    file.strip_prefix(&root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found.sort();
    // A new module that opens files is added here after a check that no row decides which.
    assert_eq!(found, OPEN_FILES.map(|(file, _)| file));
}
