//! Runs a program on examples, several times on each, and scores its predictions.
//!
//! Scoring the rollouts of one row is in `flow.rs`, the workers are in `run.rs`.

use std::sync::Arc;

use futures_util::future::join_all;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::error::ScorerError;
use super::row::RowScore;
use super::run::ScoringResult;
use super::{Inner, Scorer};
use crate::core::panic;
use crate::core::settings::Settings;
use crate::evaluate::inputs;
use crate::evaluate::program::Program;

/// The number of the current rollout, from 0, which [`Scorer::run`] sets for the program: `Settings::get::<RolloutNumber>()`.
/// A program with a cache or a seed uses it as part of the key or as the seed, so that its rollouts differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutNumber(pub usize);

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Scorer<G, P> {
    /// Runs a program [`num_rollouts`](super::ScoringConfig::num_rollouts) times on each example and scores its
    /// predictions. A program is a [`Module`](crate::Module) (by value, reference to a static one, or `Arc`), or an async
    /// function; it receives the inputs of an example, which the example or [`ScorerBuilder::inputs`] declares. It runs at
    /// most `concurrency` times at once, and as many rows are scored at once.
    ///
    /// A run that fails or panics is a rollout without a score, see [`OnMissing`](crate::OnMissing). So is a run on an
    /// example that lacks an input: the program is not called. The budget covers the metrics, not the program.
    ///
    /// [`ScorerBuilder::inputs`]: crate::ScorerBuilder::inputs
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Module, ProgramError, RolloutNumber, Scorer, Settings};
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
    /// # async fn main() -> Result<(), dsrs_metrics::ScorerError> {
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
    /// As [`score_all`](Self::score_all); and the inputs of an example are not declared.
    pub async fn run<Kind: 'static>(
        &self,
        program: impl Program<G, P, Kind> + 'static,
        examples: impl IntoIterator<Item = G, IntoIter: Send + 'static>,
        concurrency: usize,
    ) -> Result<ScoringResult, ScorerError> {
        self.check_run(concurrency).await?;
        let examples = panic::catch(false, || examples.into_iter())
            .map_err(|panic| ScorerError::Rows { message: panic.message })?;
        let inputs = self.inner.inputs.clone();
        let examples = (1..).zip(examples).map(move |(row, example)| {
            let declared = inputs::check_declared(&example, inputs.as_deref());
            declared.map(|()| example).map_err(|error| ScorerError::Inputs { row, error })
        });
        let permits = Semaphore::new(concurrency.min(Semaphore::MAX_PERMITS));
        let shared = Arc::new((program, permits));
        self.run_workers(examples, concurrency, move |inner: Arc<Inner<G, P>>, gold: G| {
            let shared = Arc::clone(&shared);
            async move { inner.run_row(&shared.0, &shared.1, &gold).await }
        })
        .await
    }

    /// Runs a program [`num_rollouts`](super::ScoringConfig::num_rollouts) times on one example, concurrently, and scores
    /// its predictions. A row without a score is not an error; see [`RowScore::into_score`].
    pub async fn run_row<Kind>(&self, program: &impl Program<G, P, Kind>, gold: &G) -> RowScore {
        self.inner.run_row(program, &Semaphore::new(Semaphore::MAX_PERMITS), gold).await
    }
}

impl<G: Send + Sync, P: Send + Sync> Inner<G, P> {
    /// Runs a program on one example, each run with a permit, and scores its predictions.
    async fn run_row<Kind>(
        &self,
        program: &impl Program<G, P, Kind>,
        permits: &Semaphore,
        gold: &G,
    ) -> RowScore {
        let inputs = self.inputs.as_deref();
        let run = |number| async move {
            // The semaphore is never closed, so there is always a permit.
            let _permit = permits.acquire().await;
            // The call is made in an async block because it may panic before its first await.
            let output = async {
                let started = Instant::now();
                let (prediction, run) = program.output(gold, inputs).await?.into_parts();
                Ok((prediction, run.measured(started.elapsed())))
            };
            let output = Settings::new().with(RolloutNumber(number)).scope(output);
            let result = panic::catch_async(false, output).await;
            result.unwrap_or_else(|panic| Err(format!("it panicked: {}", panic.message)))
        };
        let runs = join_all((0..self.config.num_rollouts).map(run)).await;
        self.score_runs(gold, &runs).await
    }
}
