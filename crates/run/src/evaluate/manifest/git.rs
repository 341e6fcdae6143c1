//! The commit of the working folder, as printed by `git`.

use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use super::content::GitCommit;
use crate::evaluate::lock::lock;

/// The commit of the working folder, as git printed it for the first run in this process that writes files. A running
/// program was built from these files or from earlier ones.
static COMMIT: OnceLock<Option<GitCommit>> = OnceLock::new();

/// How long a finished run waits for git.
const PATIENCE: Duration = Duration::from_secs(5);

/// The commit of the working folder. A thread runs git while the run evaluates rows.
pub(crate) struct Commit(Mutex<Receiver<()>>);

impl Commit {
    /// Starts git. Without git, or outside a repository, there is no commit.
    pub(crate) fn start() -> Self {
        let (sender, receiver) = mpsc::sync_channel(1);
        if COMMIT.get().is_none() {
            let thread = std::thread::Builder::new().name("dsrs-git".to_owned());
            // Without a thread, the sender is dropped.
            let _ = thread.spawn(move || {
                COMMIT.get_or_init(commit);
                sender.send(())
            });
        }
        Self(Mutex::new(receiver))
    }

    /// Waits for git.
    pub(crate) fn finish(&self) -> Option<GitCommit> {
        if COMMIT.get().is_none() {
            let _ = lock(&self.0).recv_timeout(PATIENCE);
        }
        let no_answer = || {
            let error = Some(format!(
                "git did not finish within {} s",
                PATIENCE.as_secs()
            ));
            Some(GitCommit {
                error,
                ..GitCommit::default()
            })
        };
        COMMIT.get().cloned().unwrap_or_else(no_answer)
    }
}

fn commit() -> Option<GitCommit> {
    if !is_in_repository() {
        return None;
    }
    let unreadable = |error: String| {
        Some(GitCommit {
            error: Some(error),
            ..Default::default()
        })
    };
    let commit = match git(&["rev-parse", "--verify", "HEAD"]) {
        Ok(commit) => commit,
        // Git is not installed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return unreadable(error.to_string()),
    };
    let (is_changed, error) = match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Ok(changes) => (Some(!changes.is_empty()), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Some(GitCommit {
        commit: Some(commit),
        is_changed,
        error,
    })
}

/// Returns `true` if the working folder or one of its parents has a git folder.
fn is_in_repository() -> bool {
    let folder = std::env::current_dir().unwrap_or_default();
    folder
        .ancestors()
        .any(|folder| folder.join(".git").symlink_metadata().is_ok())
}

/// Runs git without hooks or a file system monitor, and returns the first line of its output.
fn git(arguments: &[&str]) -> io::Result<String> {
    let output = Command::new("git")
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(arguments)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("cannot run git: {error}")))?;
    let first_line = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect::<String>()
    };
    match output.status.success() {
        true => Ok(first_line(&output.stdout)),
        false => Err(io::Error::other(first_line(&output.stderr))),
    }
}
