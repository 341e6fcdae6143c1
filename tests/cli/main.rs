//! The command line: the program is run, and its output is compared.
//!
//! An expected output is a snapshot: beside the arguments, or in a file of `snapshots` if it has more than some 15 lines. What a test
//! computes, and a number that a comment explains, is an assertion.

mod accept;
mod again;
mod agents;
mod agree;
mod all_rows;
mod bad_csv;
mod bad_input;
mod ci_files;
mod compare;
mod compare_gate;
mod compare_peers;
mod early;
mod export;
mod faults;
mod files;
mod floats;
mod formulas;
mod from;
mod generate;
mod github;
mod groups;
mod heritage;
mod identity;
mod identity_of_data;
mod instances;
mod interrupts;
mod judge;
mod lists;
mod manifests;
mod metrics_table;
mod missing;
mod names;
mod outputs;
mod pairs;
mod proxies;
mod readme;
mod real_rows;
mod report;
mod sandbox;
mod schemas;
mod scores;
mod sparql;
mod streams;
mod terminal;
mod thresholds;
mod trajectories;
mod truth;
mod units;

use std::fmt::{self, Display};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use dsrs_metrics_tests::schema;
use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder in which the scorer is run.
struct Folder(TempDir);

/// The arguments of a command: a list, or one string with a space between them.
trait Words {
    fn words(&self) -> Vec<&str>;
}

impl Words for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<&str> {
        (**self).words()
    }
}

impl Words for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Words for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Words for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// The exit code and the output of the scorer.
#[derive(Debug, PartialEq)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with one file of rows.
    fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(name, content);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, in a folder that may not exist yet.
    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = names
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn command(&self, args: &(impl Words + ?Sized)) -> Command {
        let mut command = scorer();
        command.args(args.words()).current_dir(self.0.path());
        command
    }

    /// Runs `scorer ARGS` in the folder.
    fn run(&self, args: &(impl Words + ?Sized)) -> Ran {
        let ran = Ran::from(self.command(args).output().unwrap());
        schema::validate_written(self.0.path(), &args.words(), ran.code);
        ran
    }

    /// Runs `scorer ARGS`, which must succeed without a message. Returns what it prints.
    #[track_caller]
    fn printed(&self, args: &(impl Words + ?Sized)) -> String {
        let ran = self.run(args);
        assert_eq!(
            (ran.code, &*ran.err),
            (Some(0), ""),
            "{:?}: {}",
            args.words(),
            ran.out
        );
        ran.out
    }

    /// The JSON that `scorer ARGS` prints.
    #[track_caller]
    fn json(&self, args: &(impl Words + ?Sized)) -> Value {
        serde_json::from_str(&self.printed(args)).unwrap()
    }

    /// The error of `scorer COMMAND ARGS`, which is one line, must exit with 2 and leave no file behind.
    #[track_caller]
    fn error(&self, command: &str, args: &(impl Words + ?Sized)) -> String {
        let before = self.files();
        let ran = self.run(&[&[command], &*args.words()].concat());
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{ran:?}");
        assert_eq!(self.files(), before, "no file is left behind");
        ran.error()
    }

    /// The error of `scorer score ARGS`.
    #[track_caller]
    fn score_error(&self, args: &(impl Words + ?Sized)) -> String {
        self.error("score", args)
    }
}

impl Ran {
    /// The message of an error, which is one line.
    #[track_caller]
    fn error(&self) -> String {
        let message = self
            .err
            .strip_prefix("error: ")
            .and_then(|line| line.strip_suffix('\n'));
        let message = message.filter(|message| !message.contains('\n'));
        message
            .unwrap_or_else(|| panic!("no error line: {:?}", self.err))
            .to_owned()
    }
}

/// What a snapshot has of a run. A stream without a last line end differs from one with it.
impl Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(
            !self.out.starts_with('\n'),
            "a snapshot ignores empty lines at its start"
        );
        let code = self.code.expect("no signal ended the run");
        f.write_str(&self.out)?;
        if !self.err.is_empty() {
            write!(f, "-- standard error --\n{}", self.err)?;
        }
        write!(f, "-- exit code {code} --")
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let out = String::from_utf8(output.stdout).unwrap();
        schema::validate_output(&out);
        let err = String::from_utf8(output.stderr).unwrap();
        Self {
            code: output.status.code(),
            out,
            err,
        }
    }
}

/// A value as JSON for a snapshot: indented, with sorted keys in every build.
fn pretty(value: &Value) -> String {
    format!("{:#}", sorted(value))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            fields
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// The program, without the variables and the input that would change its output.
fn scorer() -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_scorer")));
    command
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("COLUMNS")
        .env_remove("DSRS_LM")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null());
    command
}

/// `scorer ARGS` with these rows on standard input.
fn piped(rows: &str, args: &(impl Words + ?Sized)) -> Ran {
    let mut command = scorer();
    command
        .args(args.words())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command line that is wrong is refused before the rows are read.
    let _ = child.stdin.take().unwrap().write_all(rows.as_bytes());
    Ran::from(child.wait_with_output().unwrap())
}
