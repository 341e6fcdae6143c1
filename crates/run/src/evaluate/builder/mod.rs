//! The builder of [`Evaluate`](crate::Evaluate).
//!
//! The settings for stopping a run early and for failed rows are below, and the other groups of settings have their own
//! files.

mod devset;
mod evaluate_builder;
mod files;
#[doc(hidden)]
pub mod missing_features;
mod settings;

#[doc(hidden)]
pub use self::devset::{ByList, ByName};
pub use self::devset::{DevsetRows, InputNames};
pub use self::evaluate_builder::{EvaluateBuilder, MetricList};
pub use self::files::FileSettings;
#[cfg(feature = "report")]
pub use self::files::TableRows;
pub use self::settings::{ModelSettings, StatisticsSettings};

use std::time::Duration;

use futures_util::FutureExt;

use crate::evaluate::early::{EarlyGate, EarlyOptions};

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Sets the conditions that stop the run early.
    ///
    /// These conditions apply in addition to [`max_errors`](Self::max_errors). See [`StopSettings`].
    pub fn stop(self, set: impl FnOnce(StopSettings<G, P>) -> StopSettings<G, P>) -> Self {
        set(StopSettings(self)).0
    }

    /// Sets how failed rows are scored and recorded.
    ///
    /// See [`FailureSettings`].
    ///
    /// ```
    /// use dsrs_metrics::{Evaluate, metrics};
    ///
    /// let evaluate = Evaluate::builder()
    ///     .metric(metrics::Em::default())
    ///     .failures(|failures| failures.score(0.25).provide_traceback(true));
    /// ```
    pub fn failures(
        self,
        set: impl FnOnce(FailureSettings<G, P>) -> FailureSettings<G, P>,
    ) -> Self {
        set(FailureSettings(self)).0
    }

    /// Ends the run as soon as its gates are decided.
    pub(crate) fn early(mut self, options: EarlyOptions) -> Self {
        self.options.early = Some(options);
        self
    }
}

/// Settings for stopping a run early.
///
/// See [`EvaluateBuilder::stop`].
#[must_use]
pub struct StopSettings<G, P>(EvaluateBuilder<G, P>);

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> StopSettings<G, P> {
    setters! {
        /// Stops the run once `signal` completes.
        ///
        /// No more rows are started, and rows in progress can finish within the [grace period](Self::grace_period). The
        /// result's ending is [`Ending::Stopped`](crate::Ending::Stopped).
        pub fn when(signal: impl Future<Output = ()> + Send + 'static)
            => 0.options.stop_when = Some(signal.boxed().shared());

        /// Sets how long rows in progress can keep running after a stop.
        ///
        /// The period starts when [`when`](Self::when) or a signal requests the stop. The default is 30 s.
        ///
        /// Rows that take longer are abandoned. The run cancels their programs and asynchronous metrics, and leaves
        /// these rows out of the result.
        ///
        /// A row cannot be cancelled while it computes without awaiting anything. The run waits for one more second and
        /// then ends without the row. On a single-threaded runtime, the row can hold up the run for longer.
        ///
        /// ```
        /// use std::time::Duration;
        ///
        /// use dsrs_metrics::prelude::*;
        /// use dsrs_metrics::{Evaluate, runs::Ending};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
        /// let result = Evaluate::builder()
        ///     .devset([example! { "hangs" => false }, example! { "hangs" => true }])
        ///     .inputs(["hangs"])
        ///     .metric(metric_fn("any", |_, _| true))
        ///     .stop(|stop| {
        ///         let limit = Duration::from_millis(100);
        ///         stop.when(tokio::time::sleep(limit)).grace_period(limit)
        ///     })
        ///     .run(|inputs: Example| async move {
        ///         if inputs.get("hangs").is_some_and(|hangs| *hangs == true) {
        ///             std::future::pending::<()>().await;
        ///         }
        ///         prediction! {}
        ///     })
        ///     .await?;
        /// assert_eq!((result.rows, result.ending), (1, Ending::Stopped));
        /// # Ok(())
        /// # }
        /// ```
        pub fn grace_period(rows_in_progress: Duration) => 0.options.grace_period = rows_in_progress;

        /// Stops the run at the first Ctrl-C, SIGTERM or SIGHUP, like [`when`](Self::when).
        ///
        /// A message on standard error shows how much time rows in progress have left. See [grace
        /// period](Self::grace_period).
        ///
        /// After this time, or at the second signal, unfinished rows are abandoned. Finished rows are kept.
        ///
        /// The third signal ends the process with exit code 130. It can leave temporary files behind. The next run that
        /// writes the same result file removes them.
        ///
        /// If SIGHUP is already ignored, as under `nohup`, it stays ignored.
        #[cfg(feature = "ctrl-c")]
        pub fn on_ctrl_c() => 0.options.stop_on_ctrl_c = true;
    }

    /// Ends the run as soon as every gate is decided.
    ///
    /// `alpha` is the maximum probability that a verdict would be different if all rows were evaluated. With `None`,
    /// the run continues until the remaining rows cannot change any verdict.
    ///
    /// Rows are evaluated in a random order that depends only on their ids and the
    /// [seed](crate::StatisticsSettings::seed). The result is therefore the same at any concurrency.
    ///
    /// The gates are checked after each row. The tests stay valid despite these repeated checks.
    ///
    /// All rows are read into memory before the first one is evaluated. Rows that are not needed have the outcome
    /// [`NotNeeded`](crate::contract::Outcome::NotNeeded).
    ///
    /// | gate | decided by |
    /// | --- | --- |
    /// | `polite >= 0.9`, `wer <= 20%`, `failed <= 0.02` | the mean of all rows, with a [test by betting](crate::stats::BettingTest::of_rows) |
    /// | `lower(polite) >= 0.9`, `upper(wer) <= 0.2` | the mean of the population that the rows are a sample of, [likewise](crate::stats::BettingTest::of_population) |
    ///
    /// A metric's mean excludes the rows on which the metric abstains, as in any run.
    ///
    /// If the budget does not cover a row, the gates ignore all later rows, because the order of the rows determines
    /// which ones the budget covers.
    ///
    /// If there are several gates, each verdict is wrong with a probability of at most `alpha` divided by the number of
    /// gates.
    ///
    /// If all rows are evaluated, any undecided gates are decided as in an ordinary run.
    ///
    /// If the run ends early, the interval of a mean is a [confidence sequence](crate::stats::confidence_sequence).
    ///
    /// If you repeat the run with a store, the result is the same. The second run may evaluate and pay for a few rows
    /// that the first run did not start, at most twice the concurrency.
    ///
    /// [`build`](EvaluateBuilder::build) returns an error if a gate uses a metric without a range or a metric that
    /// scores all rows together. With these metrics, a single row could change the verdict.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, rows::Pair, runs::Ending};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let row = |n: u32| {
    ///     let answer = if n % 40 == 0 { "no" } else { "yes" };
    ///     Pair::new(n.to_string(), example! { "answer" => "yes" }, prediction! { "answer" => answer })
    /// };
    /// let evaluate = Evaluate::builder().metric(same).stop(|stop| stop.when_decided(["same >= 0.9"], 0.01)).build()?;
    /// let result = evaluate.score((0..1000).map(row)).await?;
    /// assert_eq!(result.ending, Ending::Decided);
    /// assert_eq!(result.early.as_ref().unwrap().gates[0].passed, Some(true));
    /// assert_eq!(
    ///     result.to_string(),
    ///     "same  98.81% [91.61, 99.90] (83/84, 0 failed, 916 not needed)\n\
    ///      decided after 84 of 1,000 rows; wrong in at most 1%",
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn when_decided<S: AsRef<str>>(
        self,
        gates: impl IntoIterator<Item = S>,
        alpha: impl Into<Option<f64>>,
    ) -> Self {
        let gates = gates.into_iter().map(|gate| gate.as_ref().parse());
        let gates: Result<Vec<EarlyGate>, String> = gates.collect();
        let mistake = gates.as_ref().err().cloned();
        let mut builder = self.0.early(EarlyOptions {
            gates: gates.unwrap_or_default(),
            alpha: alpha.into(),
        });
        builder.options.mistake = builder.options.mistake.or(mistake);
        Self(builder)
    }
}

/// Settings for failed rows.
///
/// See [`EvaluateBuilder::failures`].
#[must_use]
pub struct FailureSettings<G, P>(EvaluateBuilder<G, P>);

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> FailureSettings<G, P> {
    setters! {
        /// Sets the score that a failed row contributes to the [`mean`](crate::MetricSummary::mean).
        ///
        /// The score must be between -1e300 and 1e300. The default is 0.
        pub fn score(score: f64) => 0.options.run.failure_score = score;

        /// Sets whether to record the backtraces of panics.
        ///
        /// Backtraces are recorded in [`RowResult::traceback`](crate::RowResult::traceback) and in result files.
        ///
        /// This setting installs a panic hook once. The hook also calls the previous hook.
        ///
        /// This setting does not affect returned errors. Their causes are always recorded if the error's `{:#}` format
        /// shows them.
        pub fn provide_traceback(provide: bool) => 0.row_options.traceback = provide;

        /// Sets whether the run ends with an error if a metric cannot read a row.
        ///
        /// For example, a required field may be missing. By default, only that row fails.
        ///
        /// This setting applies only to rows read from files with [`score_files`](crate::Evaluate::score_files).
        ///
        /// A row that is not valid JSON always ends the run.
        pub fn reject_unreadable_rows(reject: bool) => 0.row_options.rejects_unreadable = reject;

        /// Starts a second attempt if a program or asynchronous metric takes too long.
        ///
        /// The second attempt starts if the first has not finished after `delay`. There is never a third attempt.
        ///
        /// The run uses the first attempt to succeed and cancels the other. If one attempt fails, the run waits for the
        /// other.
        ///
        /// This is off by default.
        ///
        /// A cancelled call can incur a cost that no score reports.
        pub fn resubmit_stragglers(delay: Duration) => 0.row_options.resubmit_after = Some(delay);
    }
}
