//! The exit code of a command.

use super::command::{Command, CommandSettings, command_metric};
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::check::{Check, Explained, Unscored, within};
use crate::metric;

/// Whether a command over the row's files exits with the expected code, isolated from the host.
///
/// A pass or a failure. A command that exceeds a limit fails; the feedback ends with the last part
/// of its output. The fields that `files` names become files of the work directory, in which
/// `/bin/sh` runs the command; files without a field of the prediction are read-only. The command
/// has no network, no environment of the host, and of the host's files only its programs and
/// libraries in `/usr`, and the installation of the command that the host's `PATH` finds; time, memory, processes, files and output are limited, and no process survives the
/// row. See [`Bubblewrap`](crate::sandbox::Bubblewrap). If this isolation is not available, or the
/// command does not exist, no row is scored and an error names the program to install.
///
/// **One stage does not detect cheating.** Where the tested code runs in the same process or
/// sandbox as its checks, it can exit with the expected code before they run, return objects that
/// are equal to everything, or replace the test framework, and score 1. For code that may cheat, set
/// `check`: the program runs first, all its processes are killed, and the check then runs in a new
/// sandbox over the files that the program left. The check must treat these files as data: compare
/// or parse them, and never execute, import or unpickle them.
///
/// ```no_run
/// use dsrs_metrics::metrics::{FileSource, Sandbox};
/// use dsrs_metrics::prelude::*;
///
/// # async fn run() -> dsrs_metrics::Result<()> {
/// let metric = Sandbox::builder()
///     .command("python3 check.py")
///     .file("check.py", FileSource::pred("program"))
///     .expected_exit_code(0)
///     .timeout_secs(10)
///     .build();
/// let pred = prediction! { "program" => "assert 1 + 1 == 2" };
/// assert_eq!(metric.evaluate(&example! {}, &pred).await?.value, 1.0);
/// # Ok(())
/// # }
/// ```
///
/// The same program in two stages, which compare its output with a field of the gold row:
///
/// ```no_run
/// # use dsrs_metrics::metrics::{FileSource, Sandbox};
/// # use dsrs_metrics::prelude::*;
/// let metric = Sandbox::builder()
///     .command("python3 main.py")
///     .file("main.py", FileSource::pred("program"))
///     .check("cmp /program/stdout expected")
///     .check_file("expected", FileSource::gold("stdout"))
///     .build();
/// ```
///
/// On the command line:
/// `--param 'sandbox.command=python3 main.py' --param 'sandbox.files={"main.py":"program"}'
/// --param 'sandbox.check=cmp /program/stdout expected'
/// --param 'sandbox.check_files={"expected":"gold.stdout"}'`.
#[metric(tier = truth, cost = "500 msat")]
pub async fn sandbox(
    example: &Example,
    pred: &Prediction,
    /// The command line for `/bin/sh`.
    #[param]
    command: &str,
    #[param(flatten)] settings: &CommandSettings,
    /// The exit code that counts as a pass, of the check stage if there is one.
    #[param(default = 0)]
    expected_exit_code: i32,
    /// Wall-clock seconds after which the command is killed, for each stage.
    #[param(default = 30)]
    timeout_secs: u64,
) -> Result<Explained<Check>, Unscored> {
    let command = Command {
        command,
        timeout_secs,
        settings,
    };
    let results = command.run(example, pred).await?;
    let score = Check::unless(command.failure(&results, expected_exit_code));
    let passed = || format!("exit code {expected_exit_code}\n{}", results.output());
    let details = score.passed.then(|| passed().trim_end().to_owned());
    Ok(Explained { score, details })
}

command_metric!(Sandbox, SandboxBuilder<C>, |metric| {
    within("expected_exit_code", metric.expected_exit_code, [0, 255])
});
