//! Follows a page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What cargo prints about its work, in the first word of a line on standard error.
const PROGRESS: [&str; 12] = [
    "Adding",
    "Blocking",
    "Checking",
    "Compiling",
    "Creating",
    "Downloaded",
    "Downloading",
    "Features:",
    "Finished",
    "Locking",
    "Running",
    "Updating",
];

/// A block of code of a page.
struct Block<'a> {
    language: &'a str,
    /// The file that the line before the block names.
    file: Option<&'a str>,
    text: &'a str,
}

/// The blocks of a page in their order. A file is named at the end of the paragraph before its block: "`src/lib.rs`:".
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut pieces = page.split("\n```");
    let mut before = pieces.next().unwrap();
    let mut blocks = Vec::new();
    while let (Some(block), Some(after)) = (pieces.next(), pieces.next()) {
        let (language, text) = block.split_once('\n').unwrap_or((block, ""));
        let last = before.trim_end().lines().last().unwrap_or_default();
        let file = last
            .strip_suffix("`:")
            .and_then(|line| line.rsplit('`').next());
        blocks.push(Block {
            language,
            file,
            text,
        });
        before = after;
    }
    blocks
}

/// The lines that a reader sees beside cargo's progress, with the times of tests as 0 and the folder as one of the reader.
fn shown(output: &str, folder: &Path, target: &Path) -> String {
    let is_progress = |line: &&str| {
        line.starts_with(' ') && PROGRESS.iter().any(|word| line.trim_start().starts_with(word))
            // The features that `cargo add` lists.
            || line.trim_start().starts_with(['+', '-']) && line.starts_with("             ")
    };
    let mut shown = String::new();
    for line in output.lines().filter(|line| !is_progress(line)) {
        let line = line.replace(&*target.to_string_lossy(), "target");
        let line = line.replace(&*folder.to_string_lossy(), "/home/me");
        match line.split_once("finished in ") {
            Some((before, _)) => shown += &format!("{before}finished in 0.00s"),
            None => shown += &line,
        }
        shown.push('\n');
    }
    shown.trim_matches('\n').to_owned()
}

/// The target folder of the crate. The target folder of the repository may have baselines that wait for `accept` too.
fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let tests = program
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())
        .unwrap();
    tests.join("guide")
}

/// The registry with the archives, in place of the clone.
fn packaged() -> Option<PathBuf> {
    std::env::var_os("DSRS_METRICS_PACKAGED").map(PathBuf::from)
}

fn run(script: &str, folder: &Path, target: &Path) -> (bool, String) {
    let mut shell = Command::new("/bin/sh");
    if packaged().is_some() {
        // Settings of CI, with which a build takes less time than a user's.
        shell
            .env_remove("CARGO_INCREMENTAL")
            .env_remove("CARGO_PROFILE_DEV_DEBUG");
    }
    let output = shell
        .args(["-e", "-c", &format!("exec 2>&1\n{script}")])
        .current_dir(folder)
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", target)
        .env("RUST_BACKTRACE", "0")
        .env_remove("CI")
        .env_remove("COLUMNS")
        .env_remove("DSRS_LM")
        .env_remove("DSRS_UPDATE")
        .env_remove("GITHUB_ACTIONS")
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

/// Locks the versions of the repository, which are compiled already: `cargo add` may have chosen a later one.
fn lock(package: &Path) {
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let lines = text
        .lines()
        .map(|line| match line.split_once("{ version = \"") {
            Some((before, after)) => {
                let (version, rest) = after.split_once('"').unwrap();
                let major = version.split('.').next().unwrap();
                format!("{before}{{ version = \"{major}\"{rest}\n")
            }
            None => format!("{line}\n"),
        });
    fs::write(&manifest, lines.collect::<String>()).unwrap();
    fs::copy(format!("{ROOT}/Cargo.lock"), package.join("Cargo.lock")).unwrap();
}

/// Follows `docs/guide/PAGE.md`, which makes the crate `name`, in an empty folder. Prints the time at which the block with the
/// command of each milestone ends.
pub(crate) fn follow(page: &str, name: &str, milestones: &[(&str, &str)]) {
    let path = Path::new(ROOT).join(format!("dsrs-metrics/docs/guide/{page}.md"));
    let page = fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join(name);
    let target = if let Some(registry) = packaged() {
        let config = folder.path().join(".cargo/config.toml");
        fs::create_dir(config.parent().unwrap()).unwrap();
        let sources = "[source.crates-io]\nreplace-with = \"packaged\"\n[source.packaged]\n";
        fs::write(config, format!("{sources}directory = {registry:?}\n")).unwrap();
        package.join("target")
    } else {
        target()
    };
    let _ = fs::remove_dir_all(target.join("dsrs-metrics"));
    let (started, mut milestones) = (Instant::now(), milestones.iter().peekable());
    let (mut followed, mut printed, mut wrong) = (page.clone(), None, Vec::new());
    for block in blocks(&page) {
        match (block.language, block.file) {
            ("sh", _) => {
                let script = if packaged().is_some() {
                    block
                        .text
                        .replace("--path ../dsrs-metrics/dsrs-metrics", "dsrs-metrics")
                } else {
                    block.text.replace("../dsrs-metrics/", &format!("{ROOT}/"))
                };
                let current = if package.exists() {
                    &*package
                } else {
                    folder.path()
                };
                let (is_success, output) = run(&script, current, &target);
                assert!(is_success, "{script}\n{output}");
                if packaged().is_none() && !package.join("Cargo.lock").exists() {
                    lock(&package);
                }
                let is_reached = |(_, command): &&(&str, &str)| block.text.contains(command);
                if let Some((milestone, _)) = milestones.next_if(is_reached) {
                    println!("{milestone}: {:.1} s", started.elapsed().as_secs_f64());
                }
                printed = Some((block.text, shown(&output, folder.path(), &target)));
                continue;
            }
            ("text", _) => {
                let (command, output) = printed.take().expect("a command before its output");
                if block.text != output {
                    let with_output =
                        |text| format!("{command}\n```\n\n```text\n{}", with_line_end(text));
                    followed = followed.replace(&with_output(block.text), &with_output(&output));
                    wrong.push(format!(
                        "{command}\nprints\n{output}\nand not\n{}",
                        block.text
                    ));
                }
            }
            (_, Some(file)) => {
                let file = package.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, format!("{}\n", block.text)).unwrap();
            }
            (language, None) => {
                panic!(
                    "a block of {language} without the name of its file: {}",
                    block.text
                )
            }
        }
    }
    assert_eq!(
        milestones.next(),
        None,
        "the page lacks the command of this milestone"
    );
    if let Some(registry) = packaged() {
        run_readme(&registry, &package, &target);
    }
    run(&format!("cargo clean -p {name}"), &package, &target);
    if std::env::var_os("DSRS_METRICS_RECORD").is_some_and(|value| value == "1") {
        fs::write(&path, followed).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}

/// Runs the programs of the README of the archive in a crate that depends on the archive.
fn run_readme(registry: &Path, package: &Path, target: &Path) {
    let archive = format!("dsrs-metrics-{}", env!("CARGO_PKG_VERSION"));
    let page = fs::read_to_string(registry.join(archive).join("README.md")).unwrap();
    let mut programs = blocks(&page);
    programs.retain(|block| block.language == "rust" && block.text.contains("fn main("));
    assert!(
        !programs.is_empty(),
        "expected a metric as a program in the README"
    );
    for program in programs {
        fs::write(package.join("src/bin/readme.rs"), program.text).unwrap();
        let script = "cargo add tokio --features rt-multi-thread\ncargo run --bin readme";
        let (is_success, output) = run(script, package, target);
        assert!(is_success, "{}\n{output}", program.text);
    }
}

/// An empty block has no line.
fn with_line_end(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{text}\n")
    }
}
