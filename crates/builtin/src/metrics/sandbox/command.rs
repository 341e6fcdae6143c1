//! The settings that all metrics in this module share, and their validation.

use std::path::Path;
use std::sync::Arc;

use super::stages::StageResults;
use super::{Isolation, SandboxFiles};
use crate::ParamGroup;
use crate::contract::{Requirement, at_least};
use crate::sandbox::{Limits, Termination};

/// Settings for running a metric's command.
///
/// The settings cover the command's files, limits, check stage and isolation.
#[derive(Debug, Clone, ParamGroup)]
pub struct CommandSettings {
    /// The files to create in the work directory, as a JSON object from path to content.
    ///
    /// The content of a file is a field (`"program"`, `"gold.test"`), a list of fields, or constant text (`{"text":
    /// ".."}`).
    #[param(default)]
    pub files: SandboxFiles,
    /// The command line of the check, which is an optional second stage.
    ///
    /// The check decides the result. It runs in a new sandbox after all processes of `command` have ended.
    ///
    /// The check can read the results of `command` in the directory `/program`. The directory contains `stdout`,
    /// `stderr`, `exit_code`, and the work directory's regular files in `files`.
    #[param(default = "")]
    pub check: String,
    /// The files of the check stage, in the same format as `files`.
    ///
    /// The files cannot contain fields of the prediction. The program never sees these files.
    #[param(default)]
    pub check_files: SandboxFiles,
    /// Additional resource limits, as a JSON object.
    ///
    /// The keys are `cpu_secs`, `memory_mb`, `processes`, `file_mb`, `disk_mb` and `output_kb`.
    #[param(default)]
    pub limits: Limits,
    /// A host directory whose contents are copied into the work directory.
    #[param(default = "")]
    pub folder: String,
    /// Additional host paths that the command can read.
    #[param(default)]
    pub readable: Vec<String>,
    /// The isolation provider, which is `bubblewrap` by default.
    #[param(default)]
    pub isolation: Isolation,
}

/// A metric's command, with its settings.
#[derive(Clone, Copy)]
pub(super) struct Command<'a> {
    pub(super) command: &'a str,
    pub(super) timeout_secs: u64,
    pub(super) settings: &'a CommandSettings,
}

impl Command<'_> {
    /// Validates the settings before the first row, because an invalid setting would make every row fail.
    ///
    /// # Errors
    /// Returns an error for the first invalid setting.
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.command.trim().is_empty() {
            return Err("`command` is empty; set it to the command line to run".to_owned());
        }
        let limits = &self.settings.limits;
        at_least("timeout_secs", self.timeout_secs, 1)?;
        at_least("limits.cpu_secs", limits.cpu_secs.unwrap_or(1), 1)?;
        at_least("limits.memory_mb", limits.memory_mb, 1)?;
        at_least("limits.processes", limits.processes, 1)?;
        at_least("limits.disk_mb", limits.disk_mb, 1)?;
        let folder = &self.settings.folder;
        if !folder.is_empty() && !Path::new(folder).is_dir() {
            return Err(format!("`folder`: the directory `{folder}` does not exist"));
        }
        self.validate_check()?;
        let mut readable = self.settings.readable.iter();
        readable.try_for_each(|path| match Path::new(path) {
            relative if !relative.is_absolute() => Err(format!(
                "`readable`: expected an absolute path, found `{path}`"
            )),
            missing if !missing.exists() => {
                Err(format!("`readable`: the path `{path}` does not exist"))
            }
            _ => Ok(()),
        })
    }

    /// Returns the check stage's command, if there are two stages.
    pub(super) fn check_command(&self) -> Option<&str> {
        Some(&*self.settings.check).filter(|check| !check.trim().is_empty())
    }

    /// Validates the check's files.
    ///
    /// # Errors
    /// Returns an error if a file contains a field of the prediction, or if there are files but no command.
    pub(super) fn validate_check(&self) -> Result<(), String> {
        match self.settings.check_files.field_of_prediction() {
            Some((path, field)) => Err(format!(
                "`check_files`: expected constants and fields of the gold row, found `pred.{field}` in \
                 `{path}`; add that file to `files`, and read it from `/program/files`"
            )),
            None if self.check_command().is_none() && !self.settings.check_files.is_empty() => Err(
                "`check_files` is set without `check`; set `check` to the command that reads them"
                    .to_owned(),
            ),
            None => Ok(()),
        }
    }

    /// Adds the checks made before the first row: the settings must be valid, and the commands must exist in the
    /// sandbox.
    pub(super) fn requirements(
        &self,
        metric: &str,
        others: Result<(), String>,
        all: &mut Vec<Requirement>,
    ) {
        if let Some(invalid) = Requirement::unless(metric, self.validate().and(others)) {
            return all.push(invalid);
        }
        let isolation = self.settings.isolation.clone();
        let job = Arc::new(self.preflight_job());
        all.push(Requirement::check(metric, move || {
            let (isolation, job) = (isolation.clone(), Arc::clone(&job));
            async move {
                let checked = isolation.0.preflight(&job).await;
                checked.map_err(|error| error.to_string())
            }
        }));
    }

    /// Describes why the command did not terminate with the expected exit code, or returns `None` if it did. To be
    /// reproducible, the description contains neither times nor paths.
    pub(super) fn failure(&self, results: &StageResults, expected: i32) -> Option<String> {
        let limits = &self.settings.limits;
        let report = &results.report;
        let reason = match report.termination {
            Termination::Exited(code) if code == expected => return None,
            Termination::Exited(code) => format!("exit code {code}, expected {expected}"),
            Termination::TimedOut => format!("stopped after {} s", self.timeout_secs),
            Termination::OutputLimit => format!("stopped after {} KiB of output", limits.output_kb),
            Termination::MemoryLimit => format!("stopped at {} MiB of memory", limits.memory_mb),
            Termination::FilesLimit => format!(
                "left more than {} MiB of files, or too many files",
                limits.file_mb
            ),
        };
        let stage = results.stage.map(|stage| format!("{stage}: "));
        let stage = stage.unwrap_or_default();
        let failure = format!("{stage}{reason}\n{}", results.output());
        let program = results.program_failure.as_deref().unwrap_or_default();
        let failure = format!("{}\n{program}", failure.trim_end());
        Some(failure.trim_end().to_owned())
    }
}

/// Implements what all metrics in this module share: `Requires`, where `validate` checks the metric's own parameters,
/// and `file` on the builder.
macro_rules! command_metric {
    ($metric:ident, $builder:ident $(<$state:ident>)?, $validate:expr) => {
        impl $crate::contract::declared::requirements::Requires for $metric {
            fn requirements(&self, all: &mut Vec<$crate::Requirement>) {
                let Self { command, timeout_secs, settings, .. } = self;
                let validate: fn(&Self) -> Result<(), String> = $validate;
                Command { command, timeout_secs: *timeout_secs, settings }
                    .requirements(Self::SPEC.name, validate(self), all);
            }

            fn files(&self, all: &mut Vec<$crate::contract::MetricFile>) {
                let folder = &self.settings.folder;
                let parameter = concat!(stringify!($metric), ".folder");
                all.extend((!folder.is_empty()).then(|| $crate::contract::MetricFile::new(parameter, folder)));
            }
        }

        impl $(<$state>)? $builder $(<$state>)? {
            /// Adds a file to the work directory.
            pub fn file(
                mut self,
                path: impl Into<String>,
                source: $crate::metrics::sandbox::FileSource,
            ) -> Self {
                self.settings.get_or_insert_default().files.push(path, source);
                self
            }

            /// Adds a file to the check stage's work directory.
            ///
            /// The source must not contain a field of the prediction.
            pub fn check_file(
                mut self,
                path: impl Into<String>,
                source: $crate::metrics::sandbox::FileSource,
            ) -> Self {
                self.settings.get_or_insert_default().check_files.push(path, source);
                self
            }
        }
    };
}
pub(super) use command_metric;

/// Returns the end of an output, where errors usually are.
pub(super) fn tail(output: &str) -> &str {
    const MAX_CHARS: usize = 2000;
    let output = output.trim_end();
    let start = output.char_indices().rev().nth(MAX_CHARS - 1);
    &output[start.map_or(0, |(at, _)| at)..]
}
