//! Scores many rows, with workers that share one scorer.
//!
//! Scoring one row is in `flow.rs`, sums over rows are in `summary.rs`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::error::ScorerError;
use super::row::RowScore;
use super::row_status::RowStatus;
use super::summary::{ScoringSummary, Tally};
use super::{Inner, Scorer};
use crate::core::panic;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::Pair;
use crate::core::settings::Settings;
use crate::text::shown;

/// A row to score: one example and a program's predictions for it.
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
    /// Returns a row of one example and its predictions.
    pub fn new(gold: G, preds: impl IntoIterator<Item = P>) -> Self {
        Self { gold, preds: preds.into_iter().collect() }
    }
}

impl<G, P> From<Pair<G, P>> for Rollouts<G, P> {
    fn from(pair: Pair<G, P>) -> Self {
        Self::new(pair.gold, [pair.pred])
    }
}

/// The result of scoring many rows. `Display` shows its [`summary`](Self::summary), and the first error if every row
/// failed.
#[derive(Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct ScoringResult {
    /// The summary of all rows.
    pub summary: ScoringSummary,
    /// The rows in input order.
    pub rows: Vec<RowScore>,
}

impl fmt::Display for ScoringResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary.fmt(f)?;
        match self.rows.first().map(|row| &row.status) {
            Some(RowStatus::Failed { reason }) if self.summary.failed == self.summary.rows => {
                write!(f, "\nfirst error: row 1: {}", shown::escaped(reason))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for ScoringResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScoringResult")
            .field("summary", &self.summary)
            .field("rows", &format_args!("<{} rows>", self.rows.len()))
            .finish()
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Scorer<G, P> {
    /// Scores rows, at most `concurrency` at once, on all threads of the runtime. Rows are read lazily.
    /// Dropping the future cancels the calls in progress and releases their reservations.
    ///
    /// Without a budget the same rows give the same result at any concurrency. With a budget, the cost of
    /// calls and the order in which they finish determine which rows are covered.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Pair, Scorer};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::ScorerError> {
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
    ///     "0.3333 [0.0000, 1.0000] (mean of 2/3, 0 failed, 1 gated counted as 0; 0.5000 over the 2 scored); \
    ///      2 truth calls made, 1 avoided by the gate, saving 100 msat; spent 200 msat"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There are no rows, the concurrency is 0, a language model does not [reply](Self::probe), the iterator
    /// over the rows panics, or there is no tokio runtime. A row without a score is not an error.
    pub async fn score_all<R: Into<Rollouts<G, P>> + 'static>(
        &self,
        rows: impl IntoIterator<Item = R, IntoIter: Send + 'static>,
        concurrency: usize,
    ) -> Result<ScoringResult, ScorerError> {
        self.check_run(concurrency).await?;
        let rows = panic::catch(false, || rows.into_iter().map(Into::into))
            .map_err(|panic| ScorerError::Rows { message: panic.message })?;
        self.run_workers(rows.map(Ok), concurrency, |inner, row: Rollouts<G, P>| async move {
            inner.score(&row.gold, &row.preds).await
        })
        .await
    }

    /// Checks what every run needs, before its first row.
    pub(super) async fn check_run(&self, concurrency: usize) -> Result<(), ScorerError> {
        if concurrency == 0 {
            return Err(ScorerError::ZeroConcurrency);
        }
        Handle::try_current().map_err(|_| ScorerError::Runtime)?;
        self.probe().await
    }

    /// Scores rows on workers, each row with `score`. The first error of the rows ends the run.
    pub(super) async fn run_workers<R, Scoring>(
        &self,
        rows: impl Iterator<Item = Result<R, ScorerError>> + Send + 'static,
        concurrency: usize,
        score: impl Fn(Arc<Inner<G, P>>, R) -> Scoring + Clone + Send + 'static,
    ) -> Result<ScoringResult, ScorerError>
    where
        R: Send + 'static,
        Scoring: Future<Output = RowScore> + Send + 'static,
    {
        let (_, most) = rows.size_hint();
        let workers = concurrency.min(most.unwrap_or(usize::MAX).max(1));
        let rows = (0..).zip(rows).map(|(index, row)| Ok((index, row?)));
        let queue = Arc::new(Queue { rows: Mutex::new(Some(rows)) });
        let settings = Settings::current();
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            let (inner, queue, score) =
                (Arc::clone(&self.inner), Arc::clone(&queue), score.clone());
            tasks.spawn(settings.clone().scope(work(inner, queue, score)));
        }
        let mut rows = Vec::new();
        while let Some(worker) = tasks.join_next().await {
            // On an error, dropping the set cancels the other workers.
            rows.extend(worker.map_err(worker_error)??);
        }
        rows.sort_unstable_by_key(|(index, _)| *index);
        self.inner.result(rows)
    }
}

/// The rows that no worker has taken yet; `None` once they are exhausted or failed.
struct Queue<I> {
    rows: Mutex<Option<I>>,
}

impl<T, I: Iterator<Item = Result<T, ScorerError>>> Queue<I> {
    fn pull(&self) -> Result<Option<T>, ScorerError> {
        let mut queue = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rows) = queue.as_mut() else {
            return Ok(None);
        };
        let row = panic::catch(false, || rows.next().transpose());
        let row = row.map_err(|panic| ScorerError::Rows { message: panic.message }).flatten();
        if !matches!(row, Ok(Some(_))) {
            *queue = None;
        }
        row
    }
}

type Numbered = Vec<(usize, RowScore)>;

/// Takes rows and scores them until there are none.
async fn work<G, P, R, I, Scoring>(
    inner: Arc<Inner<G, P>>,
    queue: Arc<Queue<I>>,
    score: impl Fn(Arc<Inner<G, P>>, R) -> Scoring,
) -> Result<Numbered, ScorerError>
where
    I: Iterator<Item = Result<(usize, R), ScorerError>>,
    Scoring: Future<Output = RowScore>,
{
    let mut finished = Vec::new();
    while let Some((index, row)) = queue.pull()? {
        finished.push((index, score(Arc::clone(&inner), row).await));
        // Rows that never wait must yield to timers and other tasks.
        tokio::task::consume_budget().await;
    }
    Ok(finished)
}

impl<G, P> Inner<G, P> {
    fn result(&self, rows: Numbered) -> Result<ScoringResult, ScorerError> {
        if rows.is_empty() {
            return Err(ScorerError::NoRows);
        }
        let mut tally = Tally::default();
        rows.iter().for_each(|(_, row)| tally.record(row));
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        Ok(ScoringResult { summary: tally.summary(self.ledger.report().limit), rows })
    }
}

fn worker_error(error: tokio::task::JoinError) -> ScorerError {
    let message = match error.try_into_panic() {
        Ok(payload) => panic::into_message(payload),
        Err(error) => error.to_string(),
    };
    ScorerError::Worker { message }
}
