//! Commands without isolation, for trusted code.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use async_trait::async_trait;

use super::accounting::Meter;
use super::supervise::Prepared;
use super::{Job, Report, SandboxError, SandboxProvider, process_tree, supervise, work_dir};

/// A provider that runs commands without isolation.
///
/// The commands have all the permissions of the current process.
///
/// This provider limits only time, output and memory. It checks memory use at intervals.
///
/// When a command ends, its process group is killed. A process that has left the group survives.
#[derive(Debug, Clone)]
pub struct Unconfined(());

impl Unconfined {
    /// Creates a provider without isolation.
    ///
    /// Use it only for code that you wrote yourself or have reviewed.
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
        if job.keep.is_some() || job.program.is_some() {
            let why = "a check stage requires isolation; use the isolation `bubblewrap`";
            return Err(SandboxError::NoIsolation(why.to_owned()));
        }
        let job = job.clone();
        let prepare = move || {
            let created = tempfile::tempdir();
            let folder =
                created.map_err(|error| SandboxError::io("creating the work directory", error))?;
            let staged = work_dir::prepare(&job, None)?;
            let mut command = Command::new("/bin/sh");
            // The work directory is a copy that the command may change.
            command.args([
                "-c",
                "cp -R \"$0\"/files/. \"$0\"/read_only/. . && exec /bin/sh -c \"$1\"",
            ]);
            command.arg(staged.path()).arg(&job.command);
            command.current_dir(folder.path()).process_group(0);
            Ok(Prepared {
                command,
                limits: job.limits,
                kill: process_tree::kill_group,
                meter: Meter::Resident,
                ready: "",
                trailer: 0,
                _dirs: vec![folder, staged],
            })
        };
        supervise::supervise(prepare).await
    }
}
