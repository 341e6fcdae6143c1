//! Tests that pass, and whether there are more of them than before.

use super::job::{Asked, Isolation, SandboxFiles, Source, complaint, tail};
use crate::core::requirements::{Requirement, Requires};
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::{FeedbackMetric, MetricScore};
use crate::metric;
use crate::metrics::check::Unscored;
use crate::sandbox::counts::{self, Counts};
use crate::sandbox::{Limits, Report};

/// Whether the tests pass: the test command ends with 0, at least one test ran, and none failed.
///
/// In [0, 1], 1 is a pass. With `partial_credit` the share of the tests that passed, 1 only if all did and the exit code is
/// 0. The counts are read from the output ([`parse`](crate::sandbox::counts::parse): cargo, pytest, unittest, jest, go test, TAP, JUnit XML); an output without them
/// is 0, so that a program that ends early with 0 gains nothing. The command runs isolated, as [`sandbox`](crate::metrics::sandbox()) says,
/// without network: what the tests need is in `folder`, `files` or `readable`.
///
/// ```no_run
/// use dsrs_metrics::metrics::{TestPass, field};
/// use dsrs_metrics::prelude::*;
///
/// # async fn run() -> dsrs_metrics::Result<()> {
/// let metric = TestPass::builder().command("python3 -m unittest test_it").file("it.py", field("code")).folder("tests/it").build();
/// let score = metric.evaluate(&example! {}, &prediction! { "code" => "def it(): return 1" }).await?;
/// # Ok(())
/// # }
/// ```
#[metric(tier = truth, cost = "500 msat", range = 0.0..=1.0, threshold = 1.0)]
#[expect(clippy::too_many_arguments, reason = "a parameter for each thing that may be set")]
pub async fn test_pass(
    example: &Example,
    pred: &Prediction,
    /// The command line for `/bin/sh`.
    #[param(default = "cargo test")]
    command: &str,
    /// The files of the work folder: a JSON object from path to field (`"program"`, `"gold.test"`), list of fields, or
    /// `{"text": ".."}`.
    #[param(default)]
    files: &SandboxFiles,
    /// Whether some passing tests are worth their share.
    #[param(default = false)]
    partial_credit: bool,
    /// Seconds by the clock, after which the command is stopped.
    #[param(default = 120)]
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
) -> Result<FeedbackMetric, Unscored> {
    let asked = Asked { command, files, folder, readable, timeout_secs, limits, isolation };
    let report = asked.run(example, pred).await?;
    let complaint = complaint(&report, 0, limits, timeout_secs);
    Ok(judge(counted(&report), complaint, partial_credit, &report))
}

fn counted(report: &Report) -> Option<Counts> {
    counts::parse(&report.stdout).or_else(|| counts::parse(&report.stderr))
}

fn judge(
    counts: Option<Counts>,
    complaint: Option<String>,
    partial_credit: bool,
    report: &Report,
) -> FeedbackMetric {
    let Some(counts) = counts else {
        let said = complaint.unwrap_or_else(|| format!("exit code 0\n{}", tail(&report.stdout)));
        return FeedbackMetric::new(0.0, format!("no summary of tests in the output; {said}"));
    };
    let Counts { passed, failed, skipped } = counts;
    let summary = format!("{passed} passed, {failed} failed, {skipped} skipped");
    let all = failed == 0 && passed > 0 && complaint.is_none();
    let value = match (all, partial_credit) {
        (true, _) => 1.0,
        (false, true) => share(counts, complaint.is_none()),
        (false, false) => 0.0,
    };
    let feedback = match complaint {
        Some(complaint) => format!("{summary}; {complaint}"),
        None => summary,
    };
    FeedbackMetric::new(value, feedback)
        .with_metadata("passed", passed)
        .with_metadata("failed", failed)
        .with_metadata("skipped", skipped)
}

/// The share of the tests that passed; below 1 where the command says that something else is wrong.
#[expect(clippy::cast_precision_loss, reason = "counts of tests are exact in a float")]
fn share(counts: Counts, exited_well: bool) -> f64 {
    match counts.run() {
        0 => 0.0,
        run if exited_well => counts.passed as f64 / run as f64,
        // Something failed that is not among the tests; it counts as one more.
        run => counts.passed as f64 / (run + u64::from(counts.failed == 0)) as f64,
    }
}

/// Whether more tests pass than before: 1 for more, 0.5 for as many, 0 for fewer.
///
/// One of these three, with a confidence of 0.9, because a count of passing tests says little of which they are. The number before
/// is `gold.tests_passing`; the number after is read from the output of the test command, as [`test_pass`] does, and is 0 where the
/// output has none. The command runs isolated, as [`sandbox`](crate::metrics::sandbox()) says.
///
/// ```no_run
/// use dsrs_metrics::metrics::{VerificationDelta, field};
/// use dsrs_metrics::prelude::*;
///
/// # async fn run() -> dsrs_metrics::Result<()> {
/// let metric = VerificationDelta::builder().command("python3 -m unittest").file("test_it.py", field("tests")).build();
/// let (gold, pred) = (example! { "tests_passing" => 3 }, prediction! { "tests" => "..." });
/// let score = metric.evaluate(&gold, &pred).await?;
/// # Ok(())
/// # }
/// ```
#[metric(tier = truth, cost = "500 msat", range = 0.0..=1.0)]
#[expect(clippy::too_many_arguments, reason = "a parameter for each thing that may be set")]
pub async fn verification_delta(
    example: &Example,
    pred: &Prediction,
    #[gold] tests_passing: u64,
    /// The command line for `/bin/sh`.
    #[param(default = "cargo test")]
    command: &str,
    /// The files of the work folder: a JSON object from path to field (`"program"`, `"gold.test"`), list of fields, or
    /// `{"text": ".."}`.
    #[param(default)]
    files: &SandboxFiles,
    /// Seconds by the clock, after which the command is stopped.
    #[param(default = 120)]
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
) -> Result<MetricScore, Unscored> {
    let before = tests_passing;
    let asked = Asked { command, files, folder, readable, timeout_secs, limits, isolation };
    let report = asked.run(example, pred).await?;
    let after = counted(&report).map_or(0, |counts| counts.passed);
    let value = match after.cmp(&before) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let delta = i128::from(after) - i128::from(before);
    let details = format!("tests passing before: {before}, after: {after}, delta: {delta:+}");
    Ok(MetricScore::new(value).with_confidence(0.9).with_details(details).with_cost_msats(500))
}

impl Requires for TestPass {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let Self { command, files, folder, readable, limits, isolation, timeout_secs, .. } = self;
        let timeout_secs = *timeout_secs;
        let asked = Asked { command, files, folder, readable, timeout_secs, limits, isolation };
        all.extend(Requirement::unless(Self::SPEC.name, asked.check()));
    }
}

impl TestPassBuilder {
    /// Adds a file to the work folder.
    pub fn file(mut self, path: impl Into<String>, source: Source) -> Self {
        self.files.get_or_insert_default().push(path, source);
        self
    }
}

impl Requires for VerificationDelta {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let Self { command, files, folder, readable, limits, isolation, timeout_secs, .. } = self;
        let timeout_secs = *timeout_secs;
        let asked = Asked { command, files, folder, readable, timeout_secs, limits, isolation };
        all.extend(Requirement::unless(Self::SPEC.name, asked.check()));
    }
}

impl VerificationDeltaBuilder {
    /// Adds a file to the work folder.
    pub fn file(mut self, path: impl Into<String>, source: Source) -> Self {
        self.files.get_or_insert_default().push(path, source);
        self
    }
}
