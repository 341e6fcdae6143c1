//! Runs a program and metrics over rows concurrently, and summarizes the outcomes.
//!
//! Each folder imports only from those before it: `files.rs`, `input/`, `row/`, `manifest/`, `summary/`, `early/`,
//! `truth/`, `report/`, `workers/`. `builder/` and `options.rs` hold the settings of a run, and `run.rs` starts and
//! ends it.

mod builder;
mod early;
mod error;
mod evaluator;
pub(crate) mod files;
mod input;
pub(crate) mod manifest;
mod options;
#[doc(hidden)]
pub mod report;
mod row;
mod run;
mod score_files;
pub(crate) mod summary;
mod truth;
mod workers;

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};

#[cfg(feature = "report")]
pub use self::builder::TableRows;
#[doc(hidden)]
pub use self::builder::{ByList, ByName, missing_features};
pub use self::builder::{
    DevsetRows, EvaluateBuilder, FailureSettings, FileSettings, InputNames, MetricList,
    ModelSettings, StatisticsSettings, StopSettings,
};
pub(crate) use self::early::EarlyOptions;
#[doc(hidden)]
pub use self::early::{Bound, EarlyGate, End, Figure, parse_limit};
pub use self::error::{EvaluateError, EvaluateErrorKind};
pub use self::evaluator::Evaluator;
pub(crate) use self::input::hash_order;
pub use self::manifest::{
    DecidedGate, EarlyResult, JudgeReplies, JudgedBy, JudgedByTally, TruthMethod, TruthResult,
    TruthStratum,
};
pub use self::options::{Observer, RunStart};
pub use self::row::{BudgetReport, Repeat, RolloutNumber, RowResult, Sample, Spending, StoreUse};
pub(crate) use self::row::{Gate, RowOutcomes, reduced, requirements};
pub use self::summary::{
    Ending, EvaluationResult, MetricSummary, ProgramTotals, RepeatSummary, UnknownField,
};

use self::input::{Chunk, Given, Input, Source, changed, listed};
use self::row::{Plan, Predicted};
use crate::contract::{Example, Fallible, IsProgram, Pair, Prediction, Program};

/// An evaluation of a program or of existing predictions.
///
/// Every row is scored with one or more metrics, as in DSPy's `Evaluate`. If you pass a program, the evaluation first
/// runs it on each row of a devset.
///
/// If a program or metric fails, panics or times out, only its own row fails. No row is dropped, and no failure
/// silently becomes a score. Every headline reports the failures.
///
/// The same rows give the same report at any concurrency, unless `max_errors`, a stop or a timeout ends the run early.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::Evaluate;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let devset = [
///     example! { "question" => "1 + 1?", "answer" => "2" },
///     example! { "question" => "Why?", "answer" => "42" },
/// ];
/// let evaluate = Evaluate::builder()
///     .devset(devset)
///     .inputs(["question"]) // The program receives nothing else.
///     .metric(metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer")))
///     .build()?;
///
/// let result = evaluate.run(|_: Example| async { prediction! { "answer" => "42" } }).await?;
/// assert_eq!(result.score, Some(0.5));
/// assert_eq!(result.to_string(), "same  50.00% [9.45, 90.55] (1/2, 0 failed)");
/// assert_eq!(result.results[0].score(), Some(0.0));
/// # Ok(())
/// # }
/// ```
pub struct Evaluate<G = Example, P = Prediction> {
    pub(crate) plan: Arc<Plan<'static, G, P>>,
    settings: EvaluateBuilder<G, P>,
}

/// The future that runs an evaluation.
///
/// Dropping the future ends the run.
pub type Running<'a, G, P> =
    Pin<Box<dyn Future<Output = Result<EvaluationResult<G, P>, EvaluateError>> + Send + 'a>>;

impl Evaluate {
    /// Returns a builder for an evaluation over dynamic rows.
    pub fn builder() -> EvaluateBuilder<Example, Prediction> {
        EvaluateBuilder::new()
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Evaluate<G, P> {
    /// Returns a builder for an evaluation over rows of any type.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// async fn program(x: f64) -> Result<f64, std::num::ParseFloatError> {
    ///     format!("{x:.1}").parse()
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let near = typed_metric_fn("error", |gold: &f64, pred: &f64| (gold - pred).abs());
    /// let evaluate = Evaluate::<f64, f64>::typed().devset([0.25, 1.0]).metric(near).build()?;
    /// let result = evaluate.run(program).await?;
    /// assert_eq!(result.metrics[0].to_string(), "0.0250 [-0.2927, 0.3427; few rows] (mean of 2/2, 0 failed)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn typed() -> EvaluateBuilder<G, P> {
        EvaluateBuilder::new()
    }

    /// Returns a builder with the same settings.
    ///
    /// You can change some settings for a single run, such as the devset, the metrics or the concurrency.
    ///
    /// The first call to [`metric`](EvaluateBuilder::metric) or [`metrics`](EvaluateBuilder::metrics) replaces the
    /// existing metrics.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let some = metric_fn("some", |_, pred| pred.get("answer").is_some());
    /// let program = |_: Example| async { prediction! { "answer" => "42" } };
    /// let row = |answer: &str| example! { "question" => "6 * 7?", "answer" => answer };
    ///
    /// let evaluate = Evaluate::builder().devset([row("6")]).inputs(["question"]).metric(same).build()?;
    /// assert_eq!(evaluate.run(program).await?.score, Some(0.0));
    ///
    /// let result = evaluate.to_builder().devset([row("42")]).concurrency(4).run(program).await?;
    /// assert_eq!(result.to_string(), "same  100.00% [20.65, 100.00] (1/1, 0 failed)");
    ///
    /// let result = evaluate.to_builder().metric(some).run(program).await?;
    /// assert_eq!(result.to_string(), "some  100.00% [20.65, 100.00] (1/1, 0 failed)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_builder(&self) -> EvaluateBuilder<G, P> {
        let mut settings = self.settings.clone();
        settings.inherits_metrics = true;
        settings
    }

    /// Runs a program over the devset.
    ///
    /// The program is an async function, an async closure or a [`Module`](dsrs_metrics_core::Module). You can pass a
    /// module by value, as a `&'static` reference or in an `Arc`.
    ///
    /// # Errors
    /// Returns an [`EvaluateError`] if the run has no result. A failed row is not an error.
    pub fn run<Kind: 'static>(
        &self,
        // rustc shows the next line.
        program: impl IsProgram<G, Kind> + Program<G, P, Kind> + 'static, // called for each row: clone what it moves
    ) -> Running<'_, G, P> {
        let it = &self.settings;
        let source = it.devset.source(it.row_id.clone(), it.inputs.clone());
        Box::pin(async move { self.start(source?, program).await })
    }

    /// Scores rows that already have predictions.
    ///
    /// The items are [`Pair`]s or `Result`s of pairs, and the first error ends the run. The rows are read lazily.
    ///
    /// Waiting for a row, for example on a slow pipe, blocks the iterator's thread. If your iterator may block for long
    /// periods, use [`score_stream`](Self::score_stream) instead.
    ///
    /// # Errors
    /// Returns an [`EvaluateError`] if the run has no result. A failed row is not an error.
    pub fn score<R: Fallible<Pair<G, P>>>(
        &self,
        rows: impl IntoIterator<Item = R, IntoIter: Send + 'static>,
    ) -> Running<'_, G, P> {
        let rows = rows.into_iter().map(|row| to_input(row));
        let source = Source::iterator(rows);
        Box::pin(self.start(source, Predicted))
    }

    /// Scores rows in chunks that are decoded on several threads.
    ///
    /// This is like [`score`](Self::score), but each chunk is a function that returns rows. Your iterator should only
    /// read bytes, and the function should decode them.
    ///
    /// The function runs on the thread that scores the chunk. Rows keep their order.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, rows::Pair};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let lines = ["4 4\n5 4", "6 6"];
    /// let chunks = lines.into_iter().map(|lines| move || {
    ///     let pair = |line: &str| {
    ///         let (gold, pred) = line.split_once(' ').ok_or("expected two numbers")?;
    ///         Ok::<_, &str>(Pair::new(gold, example! { "x" => gold }, prediction! { "x" => pred }))
    ///     };
    ///     lines.lines().map(pair).collect::<Vec<_>>()
    /// });
    /// let same = metric_fn("same", |gold, pred| gold.get("x") == pred.get("x"));
    /// let result = Evaluate::builder().metric(same).build()?.score_chunks(chunks).await?;
    /// assert_eq!((result.rows, result.results[1].score()), (3, Some(0.0)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an [`EvaluateError`] if the run has no result. A failed row is not an error.
    pub fn score_chunks<R: Fallible<Pair<G, P>>, C: IntoIterator<Item = R>>(
        &self,
        chunks: impl IntoIterator<Item: FnOnce() -> C + Send + 'static, IntoIter: Send + 'static>,
    ) -> Running<'_, G, P> {
        let chunks = chunks.into_iter().fuse().map(|decode| {
            let decode = move || decode().into_iter().map(to_input).collect();
            Box::new(decode) as Chunk<'_, G, P>
        });
        let source = Source::chunks(Box::new(chunks));
        Box::pin(self.start(source, Predicted))
    }

    /// Scores a stream of rows that already have predictions.
    ///
    /// This is like [`score`](Self::score), but takes a stream instead of an iterator.
    ///
    /// # Errors
    /// Returns an [`EvaluateError`] if the run has no result. A failed row is not an error.
    pub fn score_stream<R: Fallible<Pair<G, P>>>(
        &self,
        rows: impl Stream<Item = R> + Send + 'static,
    ) -> Running<'_, G, P> {
        let rows = rows.map(|row| to_input(row));
        let source = Source::stream(rows.boxed());
        Box::pin(self.start(source, Predicted))
    }

    /// Scores rows with several predictions each.
    pub(crate) fn score_rows(
        &self,
        rows: impl Iterator<Item = (G, Vec<P>)> + Send + 'static,
    ) -> Running<'_, G, P> {
        let rows = rows.map(|(gold, preds)| Ok(listed(Arc::new(gold), Given::Rollouts(preds))));
        let source = Source::iterator(rows);
        Box::pin(self.start(source, Predicted))
    }

    async fn start<Kind: 'static>(
        &self,
        source: Source<'static, G, P>,
        program: impl Program<G, P, Kind> + 'static,
    ) -> Result<EvaluationResult<G, P>, EvaluateError> {
        let plan = Arc::clone(&self.plan);
        run::run(plan, source, program, &self.settings.options).await
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Validates the setup and runs a program over the devset once.
    ///
    /// This is equivalent to [`build`](Self::build) followed by [`run`](Evaluate::run).
    ///
    /// # Errors
    /// Returns an [`EvaluateError`] if the run has no result. A failed row is not an error.
    pub fn run<Kind: 'static>(
        self,
        // rustc shows the next line.
        program: impl IsProgram<G, Kind> + Program<G, P, Kind> + 'static, // called for each row: clone what it moves
    ) -> Running<'static, G, P> {
        Box::pin(async move { self.build()?.run(program).await })
    }

    /// Validates the setup and scores rows that already have predictions.
    ///
    /// This is equivalent to [`build`](Self::build) followed by [`score`](Evaluate::score).
    ///
    /// # Errors
    /// Returns an [`EvaluateError`] if the run has no result. A failed row is not an error.
    pub fn score<R: Fallible<Pair<G, P>>>(
        self,
        rows: impl IntoIterator<Item = R, IntoIter: Send + 'static>,
    ) -> Running<'static, G, P> {
        let rows = rows.into_iter();
        Box::pin(async move { self.build()?.score(rows).await })
    }

    /// Validates the setup and builds the evaluation.
    ///
    /// You can still change any setting for a single run with [`to_builder`](Evaluate::to_builder).
    ///
    /// # Errors
    /// Returns an error if:
    /// - there is no metric, or two metrics have the same name
    /// - a metric's name is reserved by result files, or contains a dot, comma, white space or control character
    /// - the devset is empty or cannot be read, or two of its rows have the same id
    /// - the concurrency or timeout is zero, or the failure score is out of range
    /// - two outputs have the same path
    /// - a gate passed to [`when_decided`](StopSettings::when_decided) cannot be decided before all rows are evaluated
    /// - a metric added with [`truth`](EvaluateBuilder::truth) cannot judge a sample
    pub fn build(self) -> Result<Evaluate<G, P>, EvaluateError> {
        self.check()?;
        let plan = self.plan();
        if let Some(early) = &self.options.early {
            early.check(&plan, self.options.group.is_some())?;
        }
        truth::check(&plan, self.needs_all_rows())?;
        Ok(Evaluate {
            plan: Arc::new(plan),
            settings: self,
        })
    }
}

fn to_input<G, P>(row: impl Fallible<Pair<G, P>>) -> Result<Input<G, P>, EvaluateError> {
    let row = row.into_result().map_err(EvaluateError::input)?;
    Ok(changed(row, Arc::new, Given::Prediction))
}

debug_fields!(Evaluate<G, P>: |evaluate|
    "metrics" => Vec::from_iter(evaluate.plan.metrics.iter().map(|metric| &metric.name)));
debug_fields!(EvaluateBuilder<G, P>: |_builder|);
