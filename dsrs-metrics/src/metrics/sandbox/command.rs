//! The command that a metric runs for a row, and the settings that all metrics of this module
//! share.

use std::path::Path;

use super::files::SandboxFiles;
use super::isolation::Isolation;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::metrics::check::{Unscored, at_least};
use crate::sandbox::{Job, Limits, Report, Termination};

/// The parameters that all metrics of this module have in common.
#[derive(Clone, Copy)]
pub(super) struct CommandSettings<'a> {
    pub(super) command: &'a str,
    pub(super) files: &'a SandboxFiles,
    pub(super) folder: &'a str,
    pub(super) readable: &'a [String],
    pub(super) timeout_secs: u64,
    pub(super) limits: &'a Limits,
    pub(super) isolation: &'a Isolation,
}

impl CommandSettings<'_> {
    /// Validates the settings before the first row, since an invalid setting would fail every row.
    ///
    /// # Errors
    /// The first invalid setting.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.command.trim().is_empty() {
            return Err("`command` is empty; set it to the command line to run".to_owned());
        }
        let Limits { cpu_secs, memory_mb, processes, disk_mb, .. } = *self.limits;
        at_least("timeout_secs", self.timeout_secs, 1)?;
        at_least("limits.cpu_secs", cpu_secs.unwrap_or(1), 1)?;
        at_least("limits.memory_mb", memory_mb, 1)?;
        at_least("limits.processes", processes, 1)?;
        at_least("limits.disk_mb", disk_mb, 1)?;
        if !self.folder.is_empty() && !Path::new(self.folder).is_dir() {
            return Err(format!("`folder`: the directory `{}` does not exist", self.folder));
        }
        self.readable.iter().try_for_each(|path| match Path::new(path) {
            relative if !relative.is_absolute() => {
                Err(format!("`readable`: expected an absolute path, found `{path}`"))
            }
            missing if !missing.exists() => {
                Err(format!("`readable`: the path `{path}` does not exist"))
            }
            _ => Ok(()),
        })
    }

    /// Runs the command over the row's files.
    pub(super) async fn run(
        &self,
        example: &Example,
        pred: &Prediction,
    ) -> Result<Report, Unscored> {
        let job = Job {
            command: self.command.to_owned(),
            files: self.files.of_row(example, pred)?,
            folder: (!self.folder.is_empty()).then(|| self.folder.into()),
            readable: self.readable.iter().map(Into::into).collect(),
            limits: Limits { time_secs: self.timeout_secs, ..self.limits.clone() },
        };
        let report = self.isolation.run(&job).await.map_err(Unscored::because)?;
        match self.missing_command(&report) {
            Some(reason) => Err(Unscored::Because(reason)),
            None => Ok(report),
        }
    }

    /// Detects that the shell did not find the command. That is an error of the configuration, not
    /// of the row, but only if the shell's message is all that was written.
    fn missing_command(&self, report: &Report) -> Option<String> {
        let name = self.command.split_whitespace().next()?;
        let message = report.stderr.trim().strip_suffix("not found")?.trim_end();
        let message = message.strip_suffix("command").map_or(message, str::trim_end);
        let is_only_output =
            report.termination == Termination::Exited(127) && report.stdout.is_empty();
        let names_command = message.lines().count() == 1 && message.ends_with(&format!(" {name}:"));
        (is_only_output && names_command).then(|| {
            format!(
                "command `{name}` not found in the sandbox, which contains the host's programs in /usr and /bin, and the \
                 paths listed in `readable`"
            )
        })
    }

    /// Describes why the command did not terminate with the expected exit code, or returns `None`
    /// if it did. The text contains neither times nor paths, so that it is reproducible.
    pub(super) fn failure(&self, report: &Report, expected: i32) -> Option<String> {
        let Limits { output_kb, memory_mb, .. } = self.limits;
        let reason = match report.termination {
            Termination::Exited(code) if code == expected => return None,
            Termination::Exited(code) => format!("exit code {code}, expected {expected}"),
            Termination::TimedOut => format!("stopped after {} s", self.timeout_secs),
            Termination::OutputLimit => format!("stopped after {output_kb} KiB of output"),
            Termination::MemoryLimit => format!("stopped at {memory_mb} MiB of memory"),
        };
        let output = if report.stderr.trim().is_empty() { &report.stdout } else { &report.stderr };
        Some(format!("{reason}\n{}", tail(output)).trim_end().to_owned())
    }
}

/// Implements what the metrics of this module have in common: access to the shared settings, and
/// `file` on the builder.
macro_rules! command_metric {
    ($metric:ident, $builder:ident $(<$state:ident>)?) => {
        impl $metric {
            fn settings(&self) -> $crate::metrics::sandbox::command::CommandSettings<'_> {
                $crate::metrics::sandbox::command::CommandSettings {
                    command: &self.command,
                    files: &self.files,
                    folder: &self.folder,
                    readable: &self.readable,
                    timeout_secs: self.timeout_secs,
                    limits: &self.limits,
                    isolation: &self.isolation,
                }
            }
        }

        impl $(<$state>)? $builder $(<$state>)? {
            /// Adds a file to the work directory.
            pub fn file(
                mut self,
                path: impl Into<String>,
                source: $crate::metrics::sandbox::FileSource,
            ) -> Self {
                self.files.get_or_insert_default().push(path, source);
                self
            }
        }
    };
}
pub(super) use command_metric;

/// The end of an output, where errors usually are.
pub(super) fn tail(output: &str) -> &str {
    const MAX_CHARS: usize = 2000;
    let output = output.trim_end();
    let start = output.char_indices().rev().nth(MAX_CHARS - 1).map_or(0, |(at, _)| at);
    &output[start..]
}
