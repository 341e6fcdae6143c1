//! [`EvaluateBuilder`], and the validation of a setup before any row is run.
//!
//! The file is long because each setting is documented with an example.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use futures_util::{Stream, StreamExt};

use super::devset::{DevsetRows, InputNames};
use crate::contract::metric::batching;
use crate::contract::{Example, Fallible, Metric};
use crate::evaluate::error::EvaluateError;
use crate::evaluate::files::real_path;
use crate::evaluate::input::{Devset, RowId};
use crate::evaluate::options::{Observer, Options};
use crate::evaluate::report::ProgressDisplay;
use crate::evaluate::row::{Gate, MetricEntry, Plan, RowOptions, Sample};
use crate::messages::escape;

/// The maximum absolute value of a failure score. Any mean that includes it stays finite when it is multiplied by 100.
const MAX_FAILURE_SCORE: f64 = 1e300;

/// A builder for an [`Evaluate`](crate::Evaluate).
///
/// This builder is created by [`Evaluate::builder`](crate::Evaluate::builder) and
/// [`Evaluate::typed`](crate::Evaluate::typed).
#[derive_where(Clone)]
#[must_use]
pub struct EvaluateBuilder<G, P> {
    pub(super) metrics: Vec<MetricEntry<'static, G, P>>,
    /// `true` if the metrics come from another evaluation. The first one you add replaces them.
    pub(in crate::evaluate) inherits_metrics: bool,
    pub(in crate::evaluate) devset: Devset<G>,
    pub(in crate::evaluate) row_id: Option<RowId<G>>,
    pub(in crate::evaluate) inputs: Option<Arc<[String]>>,
    gate: Option<Arc<Gate>>,
    pub(in crate::evaluate) row_options: RowOptions,
    pub(in crate::evaluate) options: Options<G, P>,
}

/// Settings for rows with dynamic fields.
impl<P: Send + Sync + 'static> EvaluateBuilder<Example, P> {
    /// Sets which fields of a row the program receives.
    ///
    /// All other fields are labels for the metrics.
    ///
    /// Rows that declare their own inputs with [`with_inputs`](Example::with_inputs) are not affected.
    ///
    /// To run a program, you must declare the inputs in one of these two ways. Otherwise, the run returns an error,
    /// because the program would receive the expected answer.
    ///
    /// An input that is missing from every row of the devset is also an error. The message suggests the most similar
    /// field name.
    ///
    /// If only some rows lack an input, these rows fail and the program is not called for them. To make an input
    /// optional, declare it with `with_inputs` on the rows that have it.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let devset = [example! { "question" => "1 + 1?", "answer" => "2" }];
    /// let evaluate = Evaluate::builder().devset(devset).metric(same).build()?;
    /// let copy = |row: Example| async move { prediction! { "answer" => row.get("answer") } };
    ///
    /// let error = evaluate.run(copy).await.unwrap_err().to_string();
    /// assert!(error.starts_with("row 1: the inputs are not declared"));
    ///
    /// let error = evaluate.to_builder().inputs(["quesion"]).run(copy).await.unwrap_err().to_string();
    /// assert_eq!(error, "no row has the input `quesion`; did you mean `question`?");
    ///
    /// let result = evaluate.to_builder().inputs(["question"]).run(copy).await?;
    /// assert_eq!(result.score, Some(0.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn inputs<Kind>(mut self, fields: impl InputNames<Kind>) -> Self {
        self.inputs = Some(fields.input_names().into());
        self
    }
}

/// A list of metrics of a single type.
///
/// This trait is implemented for every [`IntoIterator`].
#[diagnostic::on_unimplemented(
    message = "expected a list of metrics of one type, found `{Self}`",
    label = "expected a list",
    note = "write `.metric(..)` once for each metric; a list of different metrics is a `Vec<Box<dyn Metric>>`"
)]
pub trait MetricList<M>: IntoIterator<Item = M> {}

#[diagnostic::do_not_recommend]
impl<M, I: IntoIterator<Item = M>> MetricList<M> for I {}

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
            options: Options::new(),
        }
    }

    /// Adds a metric to the evaluation.
    ///
    /// The first metric determines the headline score.
    ///
    /// You can also pass a `Box` or `Arc` of a metric, including `dyn Metric`.
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

    /// Adds an expensive metric that evaluates only a sample of the rows.
    ///
    /// For example, use this method for a judge. The metric's mean over all rows is then estimated from the sample. If
    /// you stratify the sample by a cheap metric, called the proxy, the estimate also uses the proxy's scores.
    ///
    /// All other metrics evaluate every row first. The rows stay in memory until the sample is drawn.
    ///
    /// The sample depends only on the rows' ids and the [seed](crate::StatisticsSettings::seed), so the result is the
    /// same at any concurrency.
    ///
    /// Rows outside the sample have the outcome [`NotSampled`](crate::contract::Outcome::NotSampled).
    ///
    /// | scores of the metric | estimate |
    /// | --- | --- |
    /// | pass or fail | [post-stratified](crate::stats::sampled_share) |
    /// | numbers | [prediction-powered](crate::stats::prediction_powered) |
    ///
    /// The proxy is ignored if it gives nearly all rows the same score, or if the metric has no score for a sampled
    /// row. A note in the headline then explains why.
    ///
    /// If the sample size is at least the number of rows, the metric judges every row.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, rows::Pair, runs::Sample};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let polite = metric_fn("polite", |_, pred| pred.get("polite").is_some_and(|it| *it == true));
    /// let row = |n: u32| {
    ///     let (answer, is_polite) = (n % 10 != 0, n % 10 != 0 && n % 30 != 1);
    ///     Pair::new(n.to_string(), example! { "answer" => true }, prediction! { "answer" => answer, "polite" => is_polite })
    /// };
    /// let evaluate = Evaluate::builder().metric(same).truth(polite, Sample::rows(100).stratified_by("same"));
    /// let result = evaluate.score((0..1000).map(row)).await?;
    /// assert_eq!(result.metrics[1].to_string(), "85.00% [79.28, 88.78] (100 of 1,000 judged, worth 178, 0 failed)");
    /// assert_eq!(result.metrics[1].not_sampled, 900);
    /// # Ok(())
    /// # }
    /// ```
    pub fn truth(self, metric: impl Metric<G, P> + 'static, sample: Sample) -> Self {
        let mut builder = self.metric(metric);
        if let Some(entry) = builder.metrics.last_mut() {
            entry.sample = Some(sample);
        }
        builder
    }

    /// Returns the reason why no metric can judge a sample of the rows, if there is one.
    pub(in crate::evaluate) fn needs_all_rows(&self) -> Option<&'static str> {
        if self.options.early.is_some() {
            return Some(
                "a run that ends once its gates are decided takes rows in another order; remove the gates, or judge all rows",
            );
        }
        let has_repeats = self.row_options.repeats.is_some();
        has_repeats.then_some("it judges a row once; remove the repeats, or judge all rows")
    }

    /// Adds a list of metrics.
    pub fn metrics<M: Metric<G, P> + 'static>(mut self, metrics: impl MetricList<M>) -> Self {
        if std::mem::take(&mut self.inherits_metrics) {
            self.metrics.clear();
        }
        let entry = |metric| MetricEntry::new(batching::batched(Arc::new(metric)));
        self.metrics.extend(metrics.into_iter().map(entry));
        self
    }

    /// Sets the rows to run the program on.
    ///
    /// You can pass a list or the path of a file. Each run checks the [`inputs`](EvaluateBuilder::inputs) of all rows
    /// before it runs the first one.
    ///
    /// You can use the same devset for any number of runs.
    ///
    /// A file's extension selects its format: JSONL, JSON, CSV or Parquet, if the format's feature is enabled.
    ///
    /// The whole file is read at once. If the file cannot be read, [`build`](Self::build) returns an error that names
    /// the line.
    ///
    /// Each row is either `{"id": .., "gold": {..}}` or an object with the example's fields at its top level. Rows of
    /// your own type are deserialized.
    ///
    /// The run uses the ids in the file, so you can compare it with other runs. A row without an id is identified by
    /// its number.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = std::env::temp_dir().join(format!("dsrs-metrics-devset-{}.jsonl", std::process::id()));
    /// std::fs::write(&file, r#"{"id": "q1", "question": "1 + 1?", "answer": "2"}"#)?;
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let evaluate = Evaluate::builder().devset(&file).inputs("question").metric(same);
    /// let result = evaluate.run(|_: Example| async { prediction! { "answer" => "2" } }).await?;
    /// assert_eq!((&*result.results[0].id, result.score), ("q1", Some(1.0)));
    /// # std::fs::remove_file(file)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn devset<Kind>(mut self, rows: impl DevsetRows<G, Kind>) -> Self {
        rows.set(&mut self);
        self
    }

    /// Sets a stream of rows to run the program on.
    ///
    /// The stream is read lazily, and only one run can use it. Its items are `G` or `Result<G, _>`, and the first error
    /// ends the run.
    ///
    /// The run also ends if a row's [`inputs`](EvaluateBuilder::inputs) are not declared. If a row merely lacks a
    /// declared input, only that row fails.
    pub fn devset_stream<R: Fallible<G>>(
        mut self,
        rows: impl Stream<Item = R> + Send + 'static,
    ) -> Self {
        let rows = rows.map(|row| row.into_result().map(Arc::new));
        self.devset = Devset::stream(rows.fuse().boxed());
        self
    }

    /// Adds an observer of the run.
    ///
    /// The observer is called at the start of the run, after each row, and at the end of the run.
    pub fn observer(mut self, observer: impl Observer<G, P> + 'static) -> Self {
        self.options.observers.push(Arc::new(observer));
        self
    }

    setters! {
        /// Sets the function that returns a row's id.
        ///
        /// By default, a row's id comes from the file. Without one, the id is the row's position, counted from 1 in a
        /// file and from 0 in memory.
        pub fn row_id(name: impl Fn(&G) -> String + Send + Sync + 'static)
            => row_id = Some(Arc::new(name));

        /// Sets the maximum number of rows to evaluate concurrently.
        ///
        /// The default is 32. Tasks are spawned on demand, so a high limit costs nothing by itself.
        ///
        /// If you pass predictions and all metrics are synchronous, rows are evaluated on separate threads, at most as
        /// many as the runtime has.
        pub fn concurrency(rows: usize) => options.concurrency = rows;

        /// Sets whether the run shows its progress on standard error.
        ///
        /// The display shows the running score, failures, rate and remaining time. With `true`, progress appears only
        /// on a terminal. [`ProgressDisplay::Always`] shows it everywhere.
        pub fn display_progress(display: impl Into<ProgressDisplay>)
            => options.progress = display.into();

        /// Stops the run once this many rows have failed.
        ///
        /// A row fails if the program or any metric fails. The values 0 and 1 both stop the run at the first failed
        /// row.
        ///
        /// No more rows are started, but rows in progress can finish.
        ///
        /// The result contains all finished rows, and its ending is [`Ending::MaxErrors`](crate::Ending::MaxErrors).
        pub fn max_errors(rows: u64) => options.max_errors = Some(rows);

        /// Sets how many times each row is evaluated.
        ///
        /// Use repeats if your program or judges can answer differently each time. Each repeat runs the program, if
        /// there is one, and every metric. The repeats of a row run one after another.
        ///
        /// A row's score is the mean over its repeats. A failed repeat counts as the failure score.
        ///
        /// A metric's mean, standard error and interval are computed over rows.
        ///
        /// [`RepeatSummary`](crate::RepeatSummary) reports pass@k, pass^k, consistency and variances.
        ///
        /// Your program can read the number of the current repeat from [`RepeatNumber`](crate::RepeatNumber).
        ///
        /// The timeout applies to each repeat separately.
        ///
        /// ```
        /// use dsrs_metrics::prelude::*;
        /// use dsrs_metrics::{Evaluate, contract::RepeatNumber};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
        /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
        /// let devset = ["a", "b"].map(|answer| example! { "question" => "Which?", "answer" => answer });
        /// // Returns "a" three times in four.
        /// let program = |_: Example| async {
        ///     prediction! { "answer" => if RepeatNumber::current().0 == 3 { "b" } else { "a" } }
        /// };
        /// let evaluate = Evaluate::builder().devset(devset).inputs(["question"]).metric(same).repeats(4);
        /// let result = evaluate.run(program).await?;
        /// let repeats = result.metrics[0].repeats.as_ref().unwrap();
        /// assert_eq!((repeats.pass_at[&1], repeats.pass_at[&4], repeats.pass_hat[&4]), (0.5, 1.0, 0.0));
        /// assert_eq!((repeats.consistency, repeats.variance_within), (Some(0.5), Some(0.25)));
        /// assert_eq!(result.results[0].outcomes[0].value(), Some(0.75));
        /// # Ok(())
        /// # }
        /// ```
        pub fn repeats(repeats: u32) => row_options.repeats = Some(repeats);

        /// Sets the time limit for one row, including its program and metrics.
        ///
        /// Metrics that exceed the limit fail. Metrics that finished earlier keep their scores.
        ///
        /// A synchronous metric cannot be interrupted. If it finishes too late, it fails and its score is discarded.
        pub fn timeout(each_row: Duration) => row_options.timeout = Some(each_row);

        /// Sets whether the result contains all rows.
        ///
        /// The default is `true`. With `false`, memory use does not depend on the number of rows.
        pub fn keep_results(keep: bool) => options.keep_results = keep;

        /// Sets the program's name in the [manifest](crate::results::Manifest), such as `baseline`.
        ///
        /// The name can have at most 1,000 bytes and no control characters.
        pub fn label(name: impl Into<String>) => options.run.label = Some(name.into());

    }

    /// Adds a tag to the [manifest](crate::results::Manifest).
    ///
    /// For example, a tag can be the version of the program or of a prompt.
    ///
    /// The name and the value can each have at most 1,000 bytes and no control characters. [`build`](Self::build)
    /// returns an error if you set a tag twice.
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        let first = self.options.run.tags.insert(name.clone(), value.clone());
        let duplicate = first.map(|first| {
            let name = escape::name(&name);
            format!("duplicate tag `{name}`: expected one value, found {first:?} and {value:?}")
        });
        self.options.mistake = self.options.mistake.or(duplicate);
        self
    }

    /// Adds a setting to the manifest.
    pub(crate) fn described(mut self, name: &str, value: String) -> Self {
        self.options.run.settings.insert(name.to_owned(), value);
        self
    }

    pub(in crate::evaluate) fn check(&self) -> Result<(), EvaluateError> {
        let mistake = self.options.mistake.clone().map_or(Ok(()), Err);
        let checked = mistake.and_then(|()| self.options.run.check());
        let checked = checked.and_then(|()| self.check_settings());
        checked.map_err(EvaluateError::setting)?;
        self.devset.check(self.row_id.as_ref())
    }

    pub(in crate::evaluate) fn plan(&self) -> Plan<'static, G, P> {
        let options = RowOptions {
            is_explained: self.options.shows_rows(),
            failure_score: self.options.run.failure_score,
            ..self.row_options
        };
        let (mut metrics, inputs, gate) =
            (self.metrics.clone(), self.inputs.clone(), self.gate.clone());
        metrics.sort_by_key(|entry| entry.sample.is_some());
        Plan::new(metrics, options, inputs, gate, self.options.concurrency)
    }

    fn check_settings(&self) -> Result<(), String> {
        if self.metrics.is_empty() {
            return Err(
                "expected at least one metric, found none; add one with `.metric(..)`".to_owned(),
            );
        }
        self.metrics.iter().try_for_each(MetricEntry::check_name)?;
        if let Some(metric) = first_duplicate(&self.metrics, |metric| metric.name.clone()) {
            return Err(format!(
                "duplicate metric name `{}`; rename one with `#[metric(name = \"..\")]`, or wrap one in a composite",
                metric.name
            ));
        }
        if self.options.concurrency == 0 {
            return Err("expected `concurrency` to be at least 1, found 0".to_owned());
        }
        if self.row_options.repeats == Some(0) {
            return Err("expected `repeats` to be at least 1, found 0".to_owned());
        }
        if self.row_options.timeout == Some(Duration::ZERO) {
            let expected =
                "expected `timeout` to be above 0 s, found 0 s; use a longer timeout, or none";
            return Err(expected.to_owned());
        }
        let value = self.options.run.failure_score;
        if value.is_nan() || value.abs() > MAX_FAILURE_SCORE {
            return Err(format!(
                "expected `failure_score` between -1e300 and 1e300, found {value:?}"
            ));
        }
        match first_duplicate(&self.options.outputs, |(_, path)| real_path(path)) {
            None => Ok(()),
            Some((_, path)) => {
                let path = path.display();
                Err(format!(
                    "duplicate output file `{path}`; write each format to a separate file"
                ))
            }
        }
    }
}

/// Returns the first item that has the same key as an earlier one.
fn first_duplicate<T, K: Eq + Hash>(items: &[T], key: impl Fn(&T) -> K) -> Option<&T> {
    let mut seen = HashSet::new();
    items.iter().find(|item| !seen.insert(key(item)))
}
