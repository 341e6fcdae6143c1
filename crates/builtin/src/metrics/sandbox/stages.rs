//! Runs a row's command, in one stage or in two: the program, then the check.

use std::fs;
use std::path::{Path, PathBuf};

use super::command::{Command, tail};
use crate::contract::{Example, Prediction, Unscored};
use crate::sandbox::{Job, Limits, Report, SandboxError, Termination, reserve_temp_space};

/// The subdirectory of `/program` that contains the files the program left.
const FILES: &str = "files";

/// Directories where a command's program may appear only while a row runs.
const WRITABLE: [&str; 6] = ["/box/", "/tmp/", "/in/", "/dev/", "/proc/", "/program/"];

/// The results of the stages that ran. The last stage's report decides the score.
pub(super) struct StageResults {
    pub(super) report: Report,
    /// The name of the stage, if there are two stages.
    pub(super) stage: Option<&'static str>,
    /// The program's failure, if the report comes from the check.
    pub(super) program_failure: Option<String>,
}

impl StageResults {
    fn new(report: Report, stage: Option<&'static str>) -> Self {
        Self {
            report,
            stage,
            program_failure: None,
        }
    }

    /// Returns the last part of the output, where errors usually are.
    pub(super) fn output(&self) -> &str {
        let Report { stdout, stderr, .. } = &self.report;
        let is_silent = stderr.trim().is_empty();
        tail(if is_silent { stdout } else { stderr })
    }
}

impl Command<'_> {
    /// Runs the command on the row's files and, if there are two stages, the check on the program's results. If the
    /// program exceeds a limit, the check does not run.
    pub(super) async fn run(
        &self,
        example: &Example,
        pred: &Prediction,
    ) -> Result<StageResults, Unscored> {
        // If there was a preflight check, it has already reported this.
        self.validate_check().map_err(Unscored::Because)?;
        let (read_only, files) = self.settings.files.of_row(example, pred)?;
        let job = Job {
            files,
            read_only,
            folder: self.folder(),
            ..self.job(self.command)
        };
        match self.check_command() {
            Some(check) => {
                let (read_only, _) = self.settings.check_files.of_row(example, pred)?;
                self.run_stages(job, check, read_only).await
            }
            None => Ok(StageResults::new(self.run_job(&job).await?, None)),
        }
    }

    async fn run_job(&self, job: &Job) -> Result<Report, Unscored> {
        let report = self.settings.isolation.0.run(job).await;
        report.map_err(Unscored::because)
    }

    async fn run_stages(
        &self,
        program: Job,
        check: &str,
        read_only: Vec<(String, String)>,
    ) -> Result<StageResults, Unscored> {
        let _space = reserve_temp_space(&program.limits).await;
        let dir = tempfile::Builder::new().prefix("dsrs-sandbox-").tempdir();
        let dir = dir.map_err(|error| io("creating a directory", &error))?;
        let files = dir.path().join(FILES);
        fs::create_dir(&files).map_err(|error| io("creating a directory", &error))?;
        let program = Job {
            keep: Some(files),
            ..program
        };
        let results = StageResults::new(self.run_job(&program).await?, Some("program"));
        let Termination::Exited(code) = results.report.termination else {
            return Ok(results);
        };
        write_result(dir.path(), code, &results.report)
            .map_err(|error| io("writing the output", &error))?;
        let job = Job {
            read_only,
            program: Some(dir.path().to_owned()),
            ..self.job(check)
        };
        Ok(StageResults {
            program_failure: self.failure(&results, 0),
            ..StageResults::new(self.run_job(&job).await?, Some("check"))
        })
    }

    fn folder(&self) -> Option<PathBuf> {
        let folder = &self.settings.folder;
        (!folder.is_empty()).then(|| folder.into())
    }

    /// Returns a stage's job without its files.
    fn job(&self, command: &str) -> Job {
        Job {
            command: command.to_owned(),
            requires: requires([command]),
            readable: self.settings.readable.iter().map(Into::into).collect(),
            limits: Limits {
                time_secs: self.timeout_secs,
                ..self.settings.limits.clone()
            },
            ..Job::default()
        }
    }

    /// Returns a row's job without its files, with the programs of both stages.
    pub(super) fn preflight_job(&self) -> Job {
        let commands = [Some(self.command), self.check_command()];
        Job {
            requires: requires(commands.into_iter().flatten()),
            // The folder may name a toolchain.
            folder: self.folder(),
            // The preflight check writes no files to this directory.
            keep: self.check_command().map(|_| Path::new(FILES).to_owned()),
            ..self.job(self.command)
        }
    }
}

/// Writes the output streams and the exit code next to the files.
fn write_result(dir: &Path, code: i32, report: &Report) -> std::io::Result<()> {
    fs::write(dir.join("stdout"), &report.stdout)?;
    fs::write(dir.join("stderr"), &report.stderr)?;
    fs::write(dir.join("exit_code"), format!("{code}\n"))
}

fn io(action: &str, error: &std::io::Error) -> Unscored {
    let (action, reason) = (action.to_owned(), error.to_string());
    Unscored::because(SandboxError::Io { action, reason })
}

/// Returns the programs that the commands start with.
fn requires<'c>(commands: impl IntoIterator<Item = &'c str>) -> Vec<String> {
    let programs = commands.into_iter().filter_map(program_of);
    programs.map(str::to_owned).collect()
}

/// Returns the program that a command line starts with. Returns `None` unless the command line starts with the plain
/// name or path of a program that exists before the row runs.
fn program_of(command: &str) -> Option<&str> {
    let word = command.split_whitespace().next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-/@".contains(&byte);
    let is_ours = word.starts_with('/') && !WRITABLE.iter().any(|dir| word.starts_with(dir));
    let is_known = !word.contains('/') || is_ours;
    (word.bytes().all(is_plain) && !word.starts_with('-') && is_known).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::program_of;

    #[test]
    fn the_program_of_a_command_line_is_its_first_word_if_that_is_plain() {
        for (command, program) in [
            ("python3 check.py", Some("python3")),
            ("  g++-12\tmain.cc", Some("g++-12")),
            ("/usr/bin/env true", Some("/usr/bin/env")),
            ("./main", None),
            ("build/main", None),
            ("/box/work/main", None),
            ("A=1 make", None),
            ("(cd a; make)", None),
            ("\"my program\"", None),
            ("$CC main.c", None),
            ("make;", None),
            ("-x", None),
            ("", None),
        ] {
            assert_eq!(program_of(command), program, "{command}");
        }
    }
}
