//! Scores test results: whether all tests pass, and whether more tests pass than before.

use std::cmp::Ordering;

use super::command::{Command, CommandSettings, command_metric, tail};
use super::stages::StageResults;
use crate::contract::{Example, Explained, FeedbackMetric, MetricScore, Prediction, Unscored};
use crate::metric;
use crate::sandbox::counts::{self, Counts};
use crate::sandbox::{Report, Termination};

/// Passes if the tests pass.
///
/// The test command must exit with 0, at least one test must run, and no test may fail.
///
/// The score is in [0, 1], and 1 is a pass. With `partial_credit`, the score is the fraction of tests that passed. It
/// is 1 only if all tests passed and the exit code is 0.
///
/// The metric reads the number of tests from the output, as described at [`parse`](crate::sandbox::counts::parse). It
/// understands cargo, pytest, unittest, and lines such as `24 passed; 0 failed`.
///
/// An output without a summary scores 0, and the feedback shows its last lines. A test command that is killed or
/// crashes also scores 0.
///
/// The command runs in isolation, without network access; see [`sandbox`](crate::metrics::sandbox()). Everything that
/// the tests need must be in `folder`, `files` or `readable`.
///
/// **One stage does not detect cheating.** Tests that import the tested code run in the same process as this code. The
/// code can score 1 by printing a summary such as `24 passed in 0.12s` and exiting with 0, or by replacing the test
/// framework.
///
/// If code might cheat, set `check` to tests of the program's output; see [`sandbox`](crate::metrics::sandbox()).
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
pub async fn test_pass(
    example: &Example,
    pred: &Prediction,
    /// The command line to run with `/bin/sh`.
    #[param(default = "cargo test")]
    command: &str,
    #[param(flatten)] settings: &CommandSettings,
    /// `true` to score the fraction of tests that passed. Otherwise, the score is 0 unless all tests pass.
    #[param(default = false)]
    partial_credit: bool,
    /// The time limit for each stage, in wall-clock seconds. A command that takes longer is killed.
    #[param(default = 120)]
    timeout_secs: u64,
) -> Result<Explained<FeedbackMetric>, Unscored> {
    let command = Command {
        command,
        timeout_secs,
        settings,
    };
    let results = command.run(example, pred).await?;
    let output = tail(&results.report.stdout);
    let score = score(&results, command.failure(&results, 0), partial_credit);
    let is_shown = output.trim().is_empty() || score.feedback.ends_with(output);
    let details = (!is_shown).then(|| format!("{}\n{output}", score.feedback));
    Ok(Explained { score, details })
}

/// The result of parsing a row's test output.
enum Tests {
    /// The output contains a summary.
    Counted(Counts),
    /// The command did not finish the tests: it was killed, or failed without a summary.
    Crashed,
    /// The command succeeded, but its output contains no summary.
    Unreadable,
}

fn count(report: &Report) -> Tests {
    let was_killed = match report.termination {
        // The shell reports a signal as 128 plus its number.
        Termination::Exited(code) => (129..=192).contains(&code),
        _ => true,
    };
    match counts::parse_streams(&[&report.stdout, &report.stderr]) {
        _ if was_killed => Tests::Crashed,
        Some(counts) => Tests::Counted(counts),
        None if report.termination == Termination::Exited(0) => Tests::Unreadable,
        None => Tests::Crashed,
    }
}

fn score(results: &StageResults, failure: Option<String>, partial_credit: bool) -> FeedbackMetric {
    let counts = match count(&results.report) {
        Tests::Counted(counts) => counts,
        Tests::Crashed => {
            let failure = failure.unwrap_or_default();
            return FeedbackMetric::new(0.0, format!("the tests did not finish; {failure}"));
        }
        Tests::Unreadable => {
            let output = results.output();
            let feedback = format!("no test summary found in the output; exit code 0\n{output}");
            return FeedbackMetric::new(0.0, feedback.trim_end().to_owned());
        }
    };
    let (passed, failed, skipped) = (counts.passed, counts.failed, counts.skipped);
    // If a command failed but no test did, that counts as one failed test.
    let is_failed_alone = failure.is_some() && failed == 0;
    let run = counts.run().saturating_add(is_failed_alone.into());
    let is_counted = partial_credit || passed == run;
    // A float represents test counts exactly.
    let share = passed as f64 / run.max(1) as f64;
    let failure = failure.map_or_else(String::new, |failure| format!("; {failure}"));
    let feedback = format!("{passed} passed, {failed} failed, {skipped} skipped{failure}");
    FeedbackMetric::new(if is_counted { share } else { 0.0 }, feedback)
        .with_metadata("passed", passed)
        .with_metadata("failed", failed)
        .with_metadata("skipped", skipped)
}

/// Scores the change in the number of passing tests.
///
/// The score is 1 if more tests pass than before, 0.5 if the same number of tests pass, and 0 if fewer tests pass.
///
/// The number before the change is `gold.tests_passing`. The number after the change is read from the test command's
/// output, as in [`test_pass`].
///
/// The confidence is 0.9, because the numbers do not show which tests pass.
///
/// A command that is killed, or that fails without a summary, counts as 0 passing tests. The details show the reason.
/// If the command succeeds without a summary, the row fails with the last lines of the output.
///
/// The command runs in isolation, as described at [`sandbox`](crate::metrics::sandbox()).
///
/// **One stage does not detect cheating.** The exit code is not part of the score. The tested code can therefore print
/// a test summary with any number.
///
/// If code might cheat, set `check`; see [`sandbox`](crate::metrics::sandbox()).
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
pub async fn verification_delta(
    example: &Example,
    pred: &Prediction,
    #[gold(default = 0)] tests_passing: u64,
    /// The command line to run with `/bin/sh`.
    #[param(default = "cargo test")]
    command: &str,
    #[param(flatten)] settings: &CommandSettings,
    /// The time limit for each stage, in wall-clock seconds. A command that takes longer is killed.
    #[param(default = 120)]
    timeout_secs: u64,
) -> Result<MetricScore, Unscored> {
    let command = Command {
        command,
        timeout_secs,
        settings,
    };
    let results = command.run(example, pred).await?;
    let (after, crash) = match count(&results.report) {
        Tests::Counted(counts) => (counts.passed, String::new()),
        Tests::Crashed => {
            let failure = command.failure(&results, 0).unwrap_or_default();
            (0, format!("; the tests did not finish: {failure}"))
        }
        Tests::Unreadable => {
            let output = results.output();
            return Err(Unscored::Because(format!(
                "expected a test summary in the output of the test command, found none; its last lines: {output:?}; use a \
                 command that prints one (see `list verification_delta`)"
            )));
        }
    };
    let value = match after.cmp(&tests_passing) {
        Ordering::Greater => 1.0,
        Ordering::Equal => 0.5,
        Ordering::Less => 0.0,
    };
    let delta = i128::from(after) - i128::from(tests_passing);
    let details = format!("Tests before: {tests_passing}, after: {after}, delta: {delta}{crash}");
    let score = MetricScore::new(value).with_confidence(0.9);
    Ok(score.with_details(details).with_cost_msats(500))
}

command_metric!(TestPass, TestPassBuilder, |_| Ok(()));
command_metric!(VerificationDelta, VerificationDeltaBuilder, |_| Ok(()));
