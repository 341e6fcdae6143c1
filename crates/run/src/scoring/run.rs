//! Scores many rows: runs the evaluation of a scorer, and returns its rows and their summary.
//!
//! Workers and the evaluation of a row are in `evaluate/`, and sums over rows in `summary.rs`.

use std::fmt;

use futures_util::stream;

use super::combine::of_row;
use super::row::{RowScore, RowStatus, ScorerError};
use super::summary::ScoringSummary;
use super::{Inner, Scorer};
use crate::contract::{Example, IsProgram, Pair, Prediction, Program};
use crate::evaluate::manifest::Manifest;
use crate::evaluate::{Ending, EvaluationResult, MetricSummary, RowOutcomes, StoreUse};
use crate::messages::escape;

/// A row to score, with an example and a program's predictions for it.
///
/// A [`Pair`] converts into a row with a single rollout.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollouts<G = Example, P = Prediction> {
    /// The labelled example.
    pub gold: G,
    /// The predictions.
    pub preds: Vec<P>,
}

impl<G, P> Rollouts<G, P> {
    /// Creates a row from an example and its predictions.
    pub fn new(gold: G, preds: impl IntoIterator<Item = P>) -> Self {
        Self {
            gold,
            preds: preds.into_iter().collect(),
        }
    }
}

impl<G, P> From<Pair<G, P>> for Rollouts<G, P> {
    fn from(pair: Pair<G, P>) -> Self {
        Self::new(pair.gold, [pair.pred])
    }
}

/// The result of scoring many rows.
///
/// `Display` shows the [`summary`](Self::summary). If every row failed, `Display` also shows the first error.
#[derive(Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct ScoringResult {
    /// The summary of all rows.
    pub summary: ScoringSummary,
    /// The rows in input order.
    pub rows: Vec<RowScore>,
    /// The summary of each metric, proxies first.
    ///
    /// Intervals are computed as in [`Evaluate`](crate::Evaluate).
    pub metrics: Vec<MetricSummary>,
    /// The manifest of the run.
    ///
    /// To set the program's label and tags, use [`ScorerBuilder::evaluate`](crate::ScorerBuilder::evaluate).
    pub manifest: Box<Manifest>,
    /// The reason the run ended.
    pub ending: Ending,
    /// How many results the run paid for, and how many it reused from the store.
    ///
    /// This is `None` if the run has no store.
    pub store: Option<StoreUse>,
    /// The panic message of the first observer that panicked, if any.
    pub observer_error: Option<String>,
}

impl fmt::Display for ScoringResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary.fmt(f)?;
        if self.ending != Ending::Complete {
            write!(f, "\nafter {} rows: {}", self.summary.rows, self.ending)?;
        }
        match self.rows.first().map(|row| &row.status) {
            Some(RowStatus::Failed { reason }) if self.summary.failed == self.summary.rows => {
                write!(f, "\nfirst error: row 1: {}", escape::escaped(reason))
            }
            _ => Ok(()),
        }
    }
}

debug_fields!(ScoringResult: |it|
    "summary" => it.summary, "rows" => format_args!("<{} rows>", it.rows.len()));

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Scorer<G, P> {
    /// Scores many rows on all the runtime's threads.
    ///
    /// Up to `concurrency` rows are scored at a time. The rows are read lazily.
    ///
    /// Dropping the future cancels the calls in progress and releases their reservations.
    ///
    /// Without a budget, the same rows give the same result at any concurrency. With a budget, the set of scored rows
    /// depends on the cost of each call and on the order in which calls finish.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{rows::Pair, scoring::Scorer};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::scoring::ScorerError> {
    /// let short = metric_fn("short", |_, pred| pred.get("answer").unwrap() != "");
    /// let correct = metric_fn("correct", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let correct = correct.with_tier(MetricTier::Truth).with_cost_msats(100);
    /// let scorer = Scorer::builder().metric(short).metric(correct).build()?;
    ///
    /// let rows = ["4", "5", ""].into_iter().map(|answer| {
    ///     Pair::new(answer, example! { "answer" => "4" }, prediction! { "answer" => answer })
    /// });
    /// let result = scorer.score_all(rows.collect::<Vec<_>>(), 8).await?;
    /// assert_eq!(
    ///     result.to_string(),
    ///     "0.3333 [0.0123, 0.9526] (mean of 2/3, 0 failed, 1 gated counted as 0; 0.5000 over the 2 scored); \
    ///      2 truth calls made, 1 avoided by the gate, saving 100 msat; spent 200 msat"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if:
    ///
    /// - there are no rows, or the concurrency is 0
    /// - a language model does not [reply](Self::probe)
    /// - the row iterator panics
    /// - there is no tokio runtime
    ///
    /// A row without a score is not an error.
    pub async fn score_all<R: Into<Rollouts<G, P>> + 'static>(
        &self,
        rows: impl IntoIterator<Item = R, IntoIter: Send + 'static>,
        concurrency: usize,
    ) -> Result<ScoringResult, ScorerError> {
        let evaluate = self.inner.evaluate.to_builder();
        let evaluate = evaluate.concurrency(concurrency).build()?;
        let rows = rows.into_iter().map(|row| {
            let Rollouts { gold, preds } = row.into();
            (gold, preds)
        });
        Ok(self.inner.result(evaluate.score_rows(rows).await?))
    }

    /// Runs a program on each example and scores its predictions.
    ///
    /// The program runs [`num_rollouts`](super::ScoringConfig::num_rollouts) times on each example. It is an async
    /// function or a [`Module`](dsrs_metrics_core::Module). You can pass a module by value, as a `&'static` reference
    /// or in an `Arc`.
    ///
    /// The program receives the example's inputs, as declared by the example or by [`ScorerBuilder::inputs`].
    ///
    /// At most `concurrency` rows are in progress at once. The same limit applies to runs of the program.
    ///
    /// If a run of the program fails or panics, its rollout has no score; see [`OnMissing`](crate::OnMissing). If an
    /// example lacks an input, the program is not called, and its rollouts have no score either.
    ///
    /// The budget covers the metrics but not the program.
    ///
    /// [`ScorerBuilder::inputs`]: crate::ScorerBuilder::inputs
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{contract::Settings, runs::{Module, ProgramError, RolloutNumber}, scoring::Scorer};
    ///
    /// struct Guess;
    ///
    /// #[async_trait]
    /// impl Module for Guess {
    ///     async fn forward(&self, _: Example) -> Result<Prediction, ProgramError> {
    ///         let RolloutNumber(number) = *Settings::get().ok_or("not a rollout")?;
    ///         Ok(prediction! { "answer" => ["Lyon", "Paris", "Paris"][number] })
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::scoring::ScorerError> {
    /// let scorer = Scorer::builder().metric(dsrs_metrics::metrics::Em::default()).num_rollouts(3);
    /// let scorer = scorer.inputs(["question"]).build()?;
    /// let examples = vec![example! { "question" => "Capital of France?", "answer" => "Paris" }];
    /// let result = scorer.run(Guess, examples, 8).await?;
    /// assert_eq!((result.summary.rollouts, result.summary.mean), (3, Some(1.0)), "the median of 0, 1 and 1");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`score_all`](Self::score_all). It also returns an error if the inputs of an example
    /// are not declared.
    pub async fn run<Kind: 'static>(
        &self,
        program: impl IsProgram<G, Kind> + Program<G, P, Kind> + 'static,
        examples: impl IntoIterator<Item = G, IntoIter: Send + 'static>,
        concurrency: usize,
    ) -> Result<ScoringResult, ScorerError> {
        let examples = stream::iter(examples);
        let evaluate = self.inner.evaluate.to_builder().devset_stream(examples);
        let run = evaluate.concurrency(concurrency).run(program);
        Ok(self.inner.result(run.await?))
    }

    /// Runs a program on one example and scores its predictions.
    ///
    /// The program runs [`num_rollouts`](super::ScoringConfig::num_rollouts) times concurrently.
    ///
    /// A row without a score is not an error; see [`RowScore::into_score`].
    pub async fn run_row<Kind>(
        &self,
        program: &(impl IsProgram<G, Kind> + Program<G, P, Kind>),
        gold: &G,
    ) -> RowScore {
        let plan = &self.inner.evaluate.plan;
        self.inner.row(plan.run_row(gold, program).await)
    }
}

impl<G, P> Inner<G, P> {
    pub(super) fn row(&self, (outcomes, mut spending): RowOutcomes) -> RowScore {
        let config = &self.tiers.config;
        let outcomes = outcomes.into_iter().map(|(outcomes, _)| outcomes);
        let rollouts: Vec<_> = outcomes.map(|it| self.tiers.rollout(it)).collect();
        spending.add(&self.tiers.saved(&rollouts));
        RowScore {
            status: of_row(&rollouts, config),
            rollouts,
            expected: config.num_rollouts,
            spending,
        }
    }

    fn result(&self, result: EvaluationResult<G, P>) -> ScoringResult {
        let rows = result.results.into_iter().filter_map(|row| row.gated);
        let rows: Vec<RowScore> = rows.map(|scored| self.row(*scored)).collect();
        ScoringResult {
            summary: ScoringSummary::of(&rows, self.gate.budget().limit),
            rows,
            metrics: result.metrics,
            manifest: result.manifest,
            ending: result.ending,
            store: result.store,
            observer_error: result.observer_error,
        }
    }
}
