//! The builder of [`Evaluate`](crate::Evaluate), and the validation of a setup before any row is run.

mod devset;
mod early;
mod outputs;
mod statistics;
mod store;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, Stream, StreamExt};

#[cfg(feature = "report")]
pub use self::outputs::TableRows;
use crate::contract::metric::batching;
use crate::contract::{Fallible, Metric};
use crate::evaluate::error::EvaluateError;
use crate::evaluate::files::real_path;
use crate::evaluate::input::{Devset, DevsetRows, RowId};
use crate::evaluate::observer::Observer;
use crate::evaluate::options::Options;
use crate::evaluate::report::ProgressDisplay;
use crate::evaluate::row::{Gate, MetricEntry, Plan, RowOptions, sharing};
use crate::lm::Ledger;

/// The maximum absolute value of a failure score: any mean that includes it, times 100, is finite.
const MAX_FAILURE_SCORE: f64 = 1e300;

/// Builds an [`Evaluate`](crate::Evaluate). Returned by [`Evaluate::builder`](crate::Evaluate::builder) and
/// [`Evaluate::typed`](crate::Evaluate::typed).
#[must_use]
pub struct EvaluateBuilder<G, P> {
    metrics: Vec<MetricEntry<'static, G, P>>,
    /// `true` if the metrics come from another evaluation. The first one you add replaces them.
    pub(super) inherits_metrics: bool,
    pub(super) devset: Devset<G>,
    pub(super) row_id: Option<RowId<G>>,
    pub(super) inputs: Option<Arc<[String]>>,
    gate: Option<Arc<Gate>>,
    pub(super) row_options: RowOptions,
    pub(super) options: Options<G, P>,
}

impl<G, P> Clone for EvaluateBuilder<G, P> {
    fn clone(&self) -> Self {
        Self {
            metrics: self.metrics.clone(),
            inherits_metrics: self.inherits_metrics,
            devset: self.devset.clone(),
            row_id: self.row_id.clone(),
            inputs: self.inputs.clone(),
            gate: self.gate.clone(),
            row_options: self.row_options,
            options: self.options.clone(),
        }
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    pub(crate) fn new() -> Self {
        Self {
            metrics: Vec::new(),
            inherits_metrics: false,
            devset: Devset::None,
            row_id: None,
            inputs: None,
            gate: None,
            row_options: RowOptions::default(),
            options: Options::default(),
        }
    }

    /// Adds a metric. The first one determines the headline score. A metric in a `Box` or an `Arc`, even as
    /// `dyn Metric`, is a metric too.
    pub fn metric(self, metric: impl Metric<G, P> + 'static) -> Self {
        self.metrics([metric])
    }

    /// Replaces the metrics with the metrics of a gate, proxies first.
    pub(crate) fn gated<'m>(
        mut self,
        gate: Arc<Gate>,
        rollouts: u32,
        metrics: impl Iterator<Item = &'m Arc<dyn Metric<G, P>>>,
    ) -> Self {
        self.metrics = metrics
            .map(|metric| MetricEntry::new(Arc::clone(metric) as _))
            .collect();
        self.row_options.repeats = (rollouts > 1).then_some(rollouts);
        self.gate = Some(gate);
        self
    }

    /// Adds a list of metrics.
    pub fn metrics<M: Metric<G, P> + 'static>(
        mut self,
        metrics: impl IntoIterator<Item = M>,
    ) -> Self {
        if std::mem::take(&mut self.inherits_metrics) {
            self.metrics.clear();
        }
        let entry = |metric| MetricEntry::new(batching::batched(Arc::new(metric)));
        self.metrics.extend(metrics.into_iter().map(entry));
        self
    }

    /// Sets the rows that a program is run on. Any number of runs can use them. Before the first row is run, the
    /// [`inputs`](EvaluateBuilder::inputs) of all rows are checked.
    pub fn devset(mut self, rows: impl DevsetRows<G>) -> Self {
        self.devset = Devset::list(rows.rows());
        self
    }

    /// Sets the rows that a program is run on as a stream, which is read lazily and can be used by one run only. A row
    /// is a `G` or a `Result` of one; the first error ends the run. So does a row whose
    /// [`inputs`](EvaluateBuilder::inputs) are not declared. A row that lacks an input fails.
    pub fn devset_stream<R: Fallible<G>>(
        mut self,
        rows: impl Stream<Item = R> + Send + 'static,
    ) -> Self {
        let rows = rows.map(|row| row.into_result().map(Arc::new));
        self.devset = Devset::stream(rows.fuse().boxed());
        self
    }

    setters! {
        /// Sets the function that returns a row's id. By default, this is the id in the file, or the row's position
        /// from 0.
        pub fn row_id(name: impl Fn(&G) -> String + Send + Sync + 'static)
            => row_id = Some(Arc::new(name));

        /// Sets how many rows are evaluated concurrently; the default is 32. The limit is reached if there are
        /// enough rows, and never exceeded. Tasks are spawned on demand, so a high limit costs nothing in itself.
        ///
        /// If predictions are given and all metrics compute immediately, separate threads evaluate the rows: as many as
        /// the runtime has, or one extra thread for a single-threaded runtime.
        pub fn concurrency(rows: usize) => options.concurrency = rows;

        /// Shows the running score, failures, rate and remaining time on standard error: with `true` only if it is a
        /// terminal, with [`ProgressDisplay::Always`] always.
        pub fn display_progress(display: impl Into<ProgressDisplay>)
            => options.progress = display.into();
    }

    /// Adds an observer, which is called at the start of a run, after each row and at the end.
    pub fn observer(mut self, observer: impl Observer<G, P> + 'static) -> Self {
        self.options.observers.push(Arc::new(observer));
        self
    }

    setters! {
        /// Stops taking rows once this many have failed, in the program or in any metric (1 and 0 both stop at the
        /// first). Rows in progress are finished. The result contains all finished rows, and its ending is
        /// [`Ending::MaxErrors`](crate::Ending::MaxErrors).
        pub fn max_errors(rows: u64) => options.max_errors = Some(rows);

        /// Sets whether a row that a metric cannot read ends the run with an error, like a row that is not JSON. A row
        /// is unreadable if a required field is missing, for example. By default, such a row fails. Applies to rows of
        /// files ([`score_files`](crate::Evaluate::score_files)).
        pub fn reject_unreadable_rows(reject: bool) => row_options.rejects_unreadable = reject;

        /// Sets the score that a failed row contributes to [`mean`](crate::MetricSummary::mean), from -1e300 to
        /// 1e300; the default is 0.
        pub fn failure_score(score: f64) => options.failure_score = score;

        /// Records the backtrace of a panic in [`RowResult::traceback`](crate::RowResult::traceback) and in result
        /// files. This installs a panic hook once, which calls the previous hook. Returned errors always include their
        /// causes if their `{:#}` format shows them.
        pub fn provide_traceback(provide: bool) => row_options.traceback = provide;

        /// Sets the time limit for one row, including its program and metrics. Metrics that have not finished by then
        /// fail; those that have keep their score. A synchronous metric cannot be interrupted: it runs to its end, and
        /// if that is too late, it fails and its score is discarded.
        pub fn timeout(each_row: Duration) => row_options.timeout = Some(each_row);

        /// Starts a second attempt at a program or asynchronous metric that has not finished after `delay`, and never a
        /// third. The first attempt to succeed wins and the other is cancelled; if one fails, the other is awaited. Off
        /// by default. A cancelled call may have cost something that no score reports.
        pub fn resubmit_stragglers(delay: Duration) => row_options.resubmit_after = Some(delay);

        /// Sets whether the result contains all rows; the default is `true`. Without them, memory use does not depend
        /// on the number of rows.
        pub fn keep_results(keep: bool) => options.keep_results = keep;

        /// Stops taking rows once `signal` completes, and finishes the rows in progress within the [grace
        /// period](Self::grace_period). The result's ending is [`Ending::Stopped`](crate::Ending::Stopped).
        pub fn stop_when(signal: impl Future<Output = ()> + Send + 'static)
            => options.stop_when = Some(signal.boxed().shared());

        /// Sets how long the rows in progress may take after a stop is requested by [`stop_when`](Self::stop_when) or
        /// by a signal; the default is 30 s. Then they are abandoned: their programs and asynchronous metrics are
        /// cancelled, and the result does not contain them. A row that computes without awaiting anything cannot be
        /// cancelled, so the run waits one more second and ends without it. It can delay the end only if the runtime
        /// has one thread and a program or another metric of the run waits.
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
        ///     .stop_when(tokio::time::sleep(Duration::from_millis(100)))
        ///     .grace_period(Duration::from_millis(100))
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
        pub fn grace_period(rows_in_progress: Duration) => options.grace_period = rows_in_progress;
    }

    /// Like [`stop_when`](Self::stop_when), at the first Ctrl-C, SIGTERM or SIGHUP. A line on standard error says that
    /// rows in progress are being finished, and how long the [grace period](Self::grace_period) is. When it ends, or at
    /// the second signal, the rows in progress are abandoned, even if they compute without awaiting anything. Finished
    /// rows are kept. The third signal ends the process with exit code 130; the next run that writes the same file
    /// removes its temporary files. If the process ignores SIGHUP, as under `nohup`, the signal stays ignored.
    #[cfg(feature = "ctrl-c")]
    pub fn stop_on_ctrl_c(mut self) -> Self {
        self.options.stop_on_ctrl_c = true;
        self
    }

    setters! {
        /// Sets the program's name in the [manifest](crate::results::Manifest), such as `baseline`. It may have at most
        /// 1,000 bytes and no control characters.
        pub fn label(name: impl Into<String>) => options.description.label = Some(name.into());

        /// Sets the ledger of the metrics' language models. The [manifest](crate::results::Manifest) has its totals at
        /// the end of the run. A model records its calls there if it was built with the same ledger.
        pub fn ledger(ledger: Ledger) => options.ledger = Some(ledger);
    }

    /// Adds a tag of the program to the [manifest](crate::results::Manifest), such as its version or that of a prompt.
    /// Name and value may each have at most 1,000 bytes and no control characters. Setting a tag twice is an error of
    /// [`build`](Self::build).
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options
            .description
            .tags
            .push((name.into(), value.into()));
        self
    }

    pub(super) fn check(&self) -> Result<(), EvaluateError> {
        let described = self.options.description.check();
        described.map_err(|reason| EvaluateError::Description { reason })?;
        self.check_metrics()?;
        self.check_limits()?;
        self.devset.check(self.row_id.as_ref())?;
        self.check_outputs()
    }

    pub(super) fn plan(&self) -> Plan<'static, G, P> {
        let options = RowOptions {
            is_explained: self.options.shows_rows(),
            failure_score: self.options.failure_score,
            ..self.row_options
        };
        let sharing = sharing(&self.metrics);
        let (metrics, inputs, gate) =
            (self.metrics.clone(), self.inputs.clone(), self.gate.clone());
        Plan::new(
            metrics,
            options,
            sharing,
            inputs,
            gate,
            self.options.concurrency,
        )
    }

    fn check_metrics(&self) -> Result<(), EvaluateError> {
        if self.metrics.is_empty() {
            return Err(EvaluateError::NoMetric);
        }
        self.metrics.iter().try_for_each(MetricEntry::check_name)?;
        let mut names = HashSet::new();
        let duplicate = self
            .metrics
            .iter()
            .find(|metric| !names.insert(&metric.name));
        duplicate.map_or(Ok(()), |metric| {
            Err(EvaluateError::DuplicateMetric {
                name: metric.name.clone(),
            })
        })
    }

    fn check_limits(&self) -> Result<(), EvaluateError> {
        if self.options.concurrency == 0 {
            return Err(EvaluateError::ZeroConcurrency);
        }
        if self.row_options.repeats == Some(0) {
            return Err(EvaluateError::ZeroRepeats);
        }
        if self.row_options.timeout == Some(Duration::ZERO) {
            return Err(EvaluateError::ZeroTimeout);
        }
        let value = self.options.failure_score;
        if value.is_nan() || value.abs() > MAX_FAILURE_SCORE {
            return Err(EvaluateError::FailureScore { value });
        }
        Ok(())
    }

    fn check_outputs(&self) -> Result<(), EvaluateError> {
        let mut paths = HashSet::new();
        let duplicate = self
            .options
            .outputs
            .iter()
            .find(|(_, path)| !paths.insert(real_path(path)));
        duplicate.map_or(Ok(()), |(_, path)| {
            let path = path.clone();
            Err(EvaluateError::DuplicateOutput { path })
        })
    }
}
