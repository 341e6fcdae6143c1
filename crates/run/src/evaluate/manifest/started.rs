//! The manifest of a run in progress. The working folder's commit, as printed by `git`, and the program's hash are read
//! while the run evaluates rows.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Once, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::content::{FORMAT, GitCommit, Manifest, ProcessManifest, RunCosts, RunManifest};
use super::file::Hashing;
use crate::lm::Ledger;

/// The commit of the working folder, read for the first run in this process that writes files. The running program was
/// built from these files or from earlier ones.
static COMMIT: OnceLock<Option<GitCommit>> = OnceLock::new();

/// The hash of this process's program, computed by the first run that writes files.
static PROGRAM: OnceLock<Option<String>> = OnceLock::new();

/// How long a finished run waits for git, and how long it waits between two checks.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);

/// The maximum size of a program that is hashed, in bytes.
const MAX_LENGTH: u64 = 1 << 30;

/// `true` if hashing is fast. Without optimizations, hashing 100 MB takes two seconds, which is too long to wait.
const IS_FAST: bool = !cfg!(debug_assertions);

/// The manifest of a run in progress, with the values available before its first row.
pub(crate) struct StartedManifest {
    pub(crate) run: RunManifest,
    started: SystemTime,
    has_files: bool,
    ledger: Option<Ledger>,
}

impl StartedManifest {
    /// Creates the manifest. `run` has everything except the results; `has_files` is `true` if the run writes files.
    pub(crate) fn new(run: RunManifest, has_files: bool, ledger: Option<Ledger>) -> Self {
        static START: Once = Once::new();
        if has_files {
            START.call_once(|| {
                let start = |name: &str| thread::Builder::new().name(name.to_owned());
                // If the thread can't be started, no commit is recorded, and the program is hashed at the end of the
                // run.
                let _ = start("dsrs-git").spawn(|| COMMIT.get_or_init(commit));
                if IS_FAST {
                    let _ = start("dsrs-program").spawn(|| PROGRAM.get_or_init(program));
                }
            });
        }
        Self {
            run,
            started: SystemTime::now(),
            has_files,
            ledger,
        }
    }

    pub(crate) fn finish(&self, run: RunManifest, costs: &RunCosts, elapsed: Duration) -> Manifest {
        let calls = self.ledger.as_ref().map(Ledger::total);
        let has_program = self.has_files && IS_FAST;
        let process = ProcessManifest {
            started: humantime::format_rfc3339_seconds(self.started).to_string(),
            duration_s: elapsed.as_secs_f64(),
            git: self.has_files.then(known_commit).flatten(),
            program: has_program.then(executable).flatten(),
            totals: RunCosts {
                language_models: calls.filter(|it| it.calls + it.refused > 0),
                ..costs.clone()
            },
        };
        Manifest {
            format: FORMAT,
            run,
            process: Some(process),
            file: None,
        }
    }
}

/// Returns the 128-bit XXH3 hash of this process's executable, in hexadecimal, even if computing it takes seconds.
/// Returns `None` if the executable cannot be read or is too large.
pub(crate) fn executable() -> Option<String> {
    PROGRAM.get_or_init(program).clone()
}

fn program() -> Option<String> {
    let file = File::open(std::env::current_exe().ok()?).ok()?;
    if file.metadata().ok()?.len() > MAX_LENGTH {
        return None;
    }
    let mut hashing = Hashing::new(io::sink());
    io::copy(&mut BufReader::with_capacity(1 << 16, file), &mut hashing).ok()?;
    Some(hashing.described().xxh3)
}

/// Waits for git and returns the commit.
fn known_commit() -> Option<GitCommit> {
    let asked = Instant::now();
    while COMMIT.get().is_none() && asked.elapsed() < PATIENCE {
        thread::sleep(PAUSE);
    }
    let seconds = PATIENCE.as_secs();
    let no_answer = || unreadable(format!("git did not finish within {seconds} s"));
    COMMIT.get().cloned().unwrap_or_else(no_answer)
}

fn unreadable(error: String) -> Option<GitCommit> {
    Some(GitCommit {
        error: Some(error),
        ..GitCommit::default()
    })
}

/// Returns the commit, or `None` if git is missing or the folder is not in a repository.
fn commit() -> Option<GitCommit> {
    let folder = std::env::current_dir().unwrap_or_default();
    let is_repository = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
    if !folder.ancestors().any(is_repository) {
        return None;
    }
    // Git runs no hooks and no file system monitor.
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false"])
        .args(["-c", "core.hooksPath=/dev/null"])
        .args(["status", "--porcelain=v2", "--branch"])
        .arg("--untracked-files=no")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        // Git is not installed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return unreadable(format!("cannot run git: {error}")),
    };
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        let first_line = error.lines().next().unwrap_or_default();
        return unreadable(first_line.chars().take(200).collect());
    }
    let status = String::from_utf8_lossy(&output.stdout);
    let (headers, changes): (Vec<&str>, Vec<&str>) =
        status.lines().partition(|line| line.starts_with('#'));
    let mut headers = headers.into_iter();
    let commit = headers.find_map(|line| line.strip_prefix("# branch.oid "));
    Some(GitCommit {
        // A new repository has no commit.
        commit: commit.filter(|it| *it != "(initial)").map(str::to_owned),
        is_changed: Some(!changes.is_empty()),
        error: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_hashed_as_a_file_is() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let expected = twox_hash::XxHash3_128::oneshot(&bytes);
        assert_eq!(program().unwrap(), format!("{expected:032x}"));
    }
}
