//! A command's exit code.

use super::job::{Asked, Isolation, SandboxFiles, Source, complaint};
use crate::core::requirements::{Requirement, Requires};
use crate::core::rows::dynamic::{Example, Prediction};
use crate::metric;
use crate::metrics::check::{Check, Unscored, within};
use crate::sandbox::Limits;

/// Whether a command over the row's files ends with the expected exit code, isolated from everything else.
///
/// Passes or fails; a command that is stopped at a limit fails, and the feedback has the end of what it said. The fields that
/// `files` names become files of the work folder, in which `/bin/sh` runs the command: no network, nothing of the host
/// but its programs, no environment, limits on time, memory, processes, files and output, and nothing survives the row; see
/// [`Bubblewrap`](crate::sandbox::Bubblewrap). Where that isolation cannot be made no row is run, and each fails with what to install.
///
/// ```no_run
/// use dsrs_metrics::metrics::{Sandbox, field};
/// use dsrs_metrics::prelude::*;
///
/// # async fn run() -> dsrs_metrics::Result<()> {
/// let metric = Sandbox::builder()
///     .command("python3 check.py")
///     .file("check.py", field("program"))
///     .expected_exit_code(0)
///     .timeout_secs(10)
///     .build();
/// let pred = prediction! { "program" => "assert 1 + 1 == 2" };
/// assert_eq!(metric.evaluate(&example! {}, &pred).await?.value, 1.0);
/// # Ok(())
/// # }
/// ```
///
/// On the command line: `--param 'sandbox.command=python3 check.py' --param 'sandbox.files={"check.py":"program"}'`.
#[metric(tier = truth, cost = "500 msat")]
#[expect(clippy::too_many_arguments, reason = "a parameter for each thing that may be set")]
pub async fn sandbox(
    example: &Example,
    pred: &Prediction,
    /// The command line for `/bin/sh`.
    #[param]
    command: &str,
    /// The files of the work folder: a JSON object from path to field (`"program"`, `"gold.test"`), list of fields, or
    /// `{"text": ".."}`.
    #[param(default)]
    files: &SandboxFiles,
    /// The exit code of a pass.
    #[param(default = 0)]
    expected_exit_code: i32,
    /// Seconds by the clock, after which the command is stopped.
    #[param(default = 30)]
    timeout_secs: u64,
    /// Further limits, as JSON: `cpu_secs`, `memory_mb`, `processes`, `file_mb`, `disk_mb`, `output_kb`.
    #[param(default)]
    limits: &Limits,
    /// A folder whose content is copied into the work folder.
    #[param(default = "")]
    folder: &str,
    /// Further paths of the host that the command may read.
    #[param(default)]
    readable: &[String],
    /// Who isolates: `bubblewrap`.
    #[param(default)]
    isolation: &Isolation,
) -> Result<Check, Unscored> {
    let asked = Asked { command, files, folder, readable, timeout_secs, limits, isolation };
    let report = asked.run(example, pred).await?;
    Ok(Check::unless(complaint(&report, expected_exit_code, limits, timeout_secs)))
}

impl Requires for Sandbox {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let Self { command, files, folder, readable, limits, isolation, timeout_secs, .. } = self;
        let timeout_secs = *timeout_secs;
        let asked = Asked { command, files, folder, readable, timeout_secs, limits, isolation };
        let code = within("expected_exit_code", self.expected_exit_code, [0, 255]);
        all.extend(Requirement::unless(Self::SPEC.name, asked.check().and(code)));
    }
}

impl<C> SandboxBuilder<C> {
    /// Adds a file to the work folder.
    pub fn file(mut self, path: impl Into<String>, source: Source) -> Self {
        self.files.get_or_insert_default().push(path, source);
        self
    }
}
