//! Commands that run as they are, for code that is trusted.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use async_trait::async_trait;

use super::{Job, Report, SandboxError, SandboxProvider, stage, supervise, tree};

/// Runs commands without isolation: they can do whatever the harness can do.
///
/// Only time, output and (looked at now and then) memory are limited. The command's process group is killed at the end;
/// a process that left the group survives.
#[derive(Debug, Clone)]
pub struct Unconfined(());

impl Unconfined {
    /// A provider that isolates nothing, for code that you wrote yourself or have read.
    #[must_use]
    pub fn run_without_isolation_because_i_trust_the_code() -> Self {
        Self(())
    }
}

#[async_trait]
impl SandboxProvider for Unconfined {
    fn name(&self) -> &'static str {
        "unconfined"
    }

    async fn run(&self, job: &Job) -> Result<Report, SandboxError> {
        let folder = tempfile::tempdir().map_err(|error| SandboxError::io("no folder", error))?;
        let staged = stage::stage(job)?;
        let mut command = Command::new("/bin/sh");
        // The work folder is a copy, owned by whoever runs the command.
        command.args(["-c", "cp -R \"$0\"/. . && exec /bin/sh -c \"$1\""]);
        command.arg(staged.path()).arg(&job.command).current_dir(folder.path()).process_group(0);
        supervise::supervise(command, job.limits.clone(), tree::end_group).await
    }
}
