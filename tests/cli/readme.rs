//! Each command of the README runs. The commands of cargo that take minutes are in steps of `.ci/run`.

use std::process::Command;
use std::{env, fs};

use crate::{Folder, Ran};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The lines of the blocks of shell commands, without their comments.
fn commands() -> Vec<String> {
    let page = fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let blocks = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|block| block.split("```").next());
    let lines = blocks
        .flat_map(str::lines)
        .map(|line| line.split(" # ").next().unwrap().trim());
    lines.map(str::to_owned).collect()
}

/// A folder beside the clone, where the README expects a project.
fn project() -> Folder {
    let folder = Folder::new();
    folder.write(
        "project/Cargo.toml",
        "[package]\nname = \"project\"\nedition = \"2024\"\n",
    );
    folder.write("project/src/lib.rs", "");
    std::os::unix::fs::symlink(fs::canonicalize(ROOT).unwrap(), folder.path("dsrs-metrics"))
        .unwrap();
    folder
}

#[test]
fn the_commands_of_the_readme_run() {
    let folder = project();
    let data = Folder::new();
    for name in ["heritage.baseline.jsonl", "heritage.tuned.jsonl"] {
        fs::copy(
            format!("{ROOT}/examples/data/heritage/{name}"),
            data.path(name),
        )
        .unwrap();
    }
    let mut last = Vec::new();
    for command in commands() {
        let words: Vec<&str> = command.split_whitespace().collect();
        let is_ok = match &words[..] {
            ["cargo", "add", ..] => {
                let mut cargo = Command::new(env!("CARGO"));
                cargo
                    .args(&words[1..])
                    .args(["--offline", "--quiet"])
                    .current_dir(folder.path("project"));
                cargo.status().unwrap().success()
            }
            ["cargo", "install", "--path", path, "--features", "cli"] => {
                let steps = fs::read_to_string(format!("{ROOT}/.ci/run")).unwrap();
                let is_step = steps.contains("--path dsrs-metrics --features cli --root");
                is_step
                    && folder
                        .path("project")
                        .join(path)
                        .join("Cargo.toml")
                        .is_file()
            }
            ["cargo", "run", "--example", "quickstart"] | ["cargo", "test", "--workspace"] => {
                let steps = fs::read_to_string(format!("{ROOT}/.ci/run")).unwrap();
                steps.contains(&command.replace("run", "run --quiet"))
            }
            ["cd", path] => {
                let data = folder.path("project").join(path);
                data.is_dir() && data.join("heritage.tuned.jsonl").is_file()
            }
            ["dsrs-metrics", args @ ..] => {
                let ran: Ran = data.run(args);
                last.push(ran.out.clone());
                ran.code == Some(0)
            }
            _ => panic!("a command of the README without a test: {command}; add it here"),
        };
        assert!(is_ok, "{command}");
    }
    let manifest = folder.read("project/Cargo.toml");
    assert!(manifest.contains("dsrs-metrics = { "), "{manifest}");
    assert!(
        last[2].contains("answer_exact_match: B is better by 23.94 percentage points"),
        "{last:?}"
    );
    assert!(data.read("report.html").starts_with("<!DOCTYPE html>"));
}
