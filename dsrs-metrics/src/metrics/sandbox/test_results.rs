//! Test results: whether all tests pass, and whether more pass than before.

use super::command::{CommandSettings, command_metric, tail};
use super::files::SandboxFiles;
use super::isolation::Isolation;
use crate::core::requirements::{Requirement, Requires};
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::{FeedbackMetric, MetricScore};
use crate::metric;
use crate::metrics::check::Unscored;
use crate::sandbox::counts::{self, Counts};
use crate::sandbox::{Limits, Report};

/// Whether the tests pass: the test command exits with 0, at least one test ran, and none failed.
///
/// In [0, 1]; 1 is a pass. With `partial_credit` the score is the share of tests that passed, and 1
/// only if all passed and the exit code is 0. The counts are parsed from the output
/// ([`parse`](crate::sandbox::counts::parse): cargo, pytest, unittest, jest, go test, TAP, JUnit
/// XML); an output without a summary scores 0, so a program that exits early with code 0 gains
/// nothing. The command runs isolated as described at [`sandbox`](crate::metrics::sandbox()),
/// without network: whatever the tests need must be in `folder`, `files` or `readable`.
///
/// ```no_run
/// use dsrs_metrics::metrics::{FileSource, TestPass};
/// use dsrs_metrics::prelude::*;
///
/// # async fn run() -> dsrs_metrics::Result<()> {
/// let metric = TestPass::builder()
///     .command("python3 -m unittest test_it")
///     .file("it.py", FileSource::pred("code"))
///     .folder("tests/it")
///     .build();
/// let pred = prediction! { "code" => "def it(): return 1" };
/// let score = metric.evaluate(&example! {}, &pred).await?;
/// # Ok(())
/// # }
/// ```
#[metric(tier = truth, cost = "500 msat", range = 0.0..=1.0, threshold = 1.0)]
#[expect(clippy::too_many_arguments, reason = "one parameter per setting")]
pub async fn test_pass(
    example: &Example,
    pred: &Prediction,
    /// The command line for `/bin/sh`.
    #[param(default = "cargo test")]
    command: &str,
    /// The files of the work directory: a JSON object from path to field (`"program"`,
    /// `"gold.test"`), list of fields, or `{"text": ".."}`.
    #[param(default)]
    files: &SandboxFiles,
    /// Whether to score the share of tests that pass instead of all or nothing.
    #[param(default = false)]
    partial_credit: bool,
    /// Wall-clock seconds after which the command is killed.
    #[param(default = 120)]
    timeout_secs: u64,
    /// Further limits, as JSON: `cpu_secs`, `memory_mb`, `processes`, `file_mb`, `disk_mb`,
    /// `output_kb`.
    #[param(default)]
    limits: &Limits,
    /// A host directory whose content is copied into the work directory.
    #[param(default = "")]
    folder: &str,
    /// Further host paths that the command may read.
    #[param(default)]
    readable: &[String],
    /// The isolation provider: `bubblewrap`.
    #[param(default)]
    isolation: &Isolation,
) -> Result<FeedbackMetric, Unscored> {
    let settings =
        CommandSettings { command, files, folder, readable, timeout_secs, limits, isolation };
    let report = settings.run(example, pred).await?;
    let failure = settings.failure(&report, 0);
    Ok(score(parse_counts(&report), failure, partial_credit, &report))
}

fn parse_counts(report: &Report) -> Option<Counts> {
    counts::parse(&report.stdout).or_else(|| counts::parse(&report.stderr))
}

fn score(
    counts: Option<Counts>,
    failure: Option<String>,
    partial_credit: bool,
    report: &Report,
) -> FeedbackMetric {
    let Some(counts) = counts else {
        let output = failure.unwrap_or_else(|| format!("exit code 0\n{}", tail(&report.stdout)));
        return FeedbackMetric::new(0.0, format!("no test summary found in the output; {output}"));
    };
    let Counts { passed, failed, skipped } = counts;
    let summary = format!("{passed} passed, {failed} failed, {skipped} skipped");
    let all_passed = failed == 0 && passed > 0 && failure.is_none();
    let value = match (all_passed, partial_credit) {
        (true, _) => 1.0,
        (false, true) => share(counts, failure.is_none()),
        (false, false) => 0.0,
    };
    let feedback = match failure {
        Some(failure) => format!("{summary}; {failure}"),
        None => summary,
    };
    FeedbackMetric::new(value, feedback)
        .with_metadata("passed", passed)
        .with_metadata("failed", failed)
        .with_metadata("skipped", skipped)
}

/// The share of tests that passed; below 1 if the command failed for another reason.
#[expect(clippy::cast_precision_loss, reason = "counts of tests are exact in a float")]
fn share(counts: Counts, is_success: bool) -> f64 {
    match counts.run() {
        0 => 0.0,
        run if is_success => counts.passed as f64 / run as f64,
        // The command failed although no test did; this counts as one failed test.
        run => counts.passed as f64 / (run + u64::from(counts.failed == 0)) as f64,
    }
}

/// Whether more tests pass than before: 1 for more, 0.5 for as many, 0 for fewer.
///
/// The confidence is 0.9, because the number of passing tests does not tell which tests pass. The
/// number before is `gold.tests_passing`; the number after is parsed from the output of the test
/// command as for [`test_pass`], and is 0 if the output has no summary. The command runs isolated
/// as described at [`sandbox`](crate::metrics::sandbox()).
///
/// ```no_run
/// use dsrs_metrics::metrics::{FileSource, VerificationDelta};
/// use dsrs_metrics::prelude::*;
///
/// # async fn run() -> dsrs_metrics::Result<()> {
/// let metric = VerificationDelta::builder()
///     .command("python3 -m unittest")
///     .file("test_it.py", FileSource::pred("tests"))
///     .build();
/// let (gold, pred) = (example! { "tests_passing" => 3 }, prediction! { "tests" => "..." });
/// let score = metric.evaluate(&gold, &pred).await?;
/// # Ok(())
/// # }
/// ```
#[metric(tier = truth, cost = "500 msat", range = 0.0..=1.0)]
#[expect(clippy::too_many_arguments, reason = "one parameter per setting")]
pub async fn verification_delta(
    example: &Example,
    pred: &Prediction,
    #[gold] tests_passing: u64,
    /// The command line for `/bin/sh`.
    #[param(default = "cargo test")]
    command: &str,
    /// The files of the work directory: a JSON object from path to field (`"program"`,
    /// `"gold.test"`), list of fields, or `{"text": ".."}`.
    #[param(default)]
    files: &SandboxFiles,
    /// Wall-clock seconds after which the command is killed.
    #[param(default = 120)]
    timeout_secs: u64,
    /// Further limits, as JSON: `cpu_secs`, `memory_mb`, `processes`, `file_mb`, `disk_mb`,
    /// `output_kb`.
    #[param(default)]
    limits: &Limits,
    /// A host directory whose content is copied into the work directory.
    #[param(default = "")]
    folder: &str,
    /// Further host paths that the command may read.
    #[param(default)]
    readable: &[String],
    /// The isolation provider: `bubblewrap`.
    #[param(default)]
    isolation: &Isolation,
) -> Result<MetricScore, Unscored> {
    let before = tests_passing;
    let settings =
        CommandSettings { command, files, folder, readable, timeout_secs, limits, isolation };
    let report = settings.run(example, pred).await?;
    let after = parse_counts(&report).map_or(0, |counts| counts.passed);
    let value = match after.cmp(&before) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let delta = i128::from(after) - i128::from(before);
    let details = format!("tests passing before: {before}, after: {after}, delta: {delta:+}");
    Ok(MetricScore::new(value).with_confidence(0.9).with_details(details).with_cost_msats(500))
}

command_metric!(TestPass, TestPassBuilder);
command_metric!(VerificationDelta, VerificationDeltaBuilder);

impl Requires for TestPass {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(Self::SPEC.name, self.settings().validate()));
    }
}

impl Requires for VerificationDelta {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(Self::SPEC.name, self.settings().validate()));
    }
}
