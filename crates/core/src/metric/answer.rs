//! A metric's answer to one call: ready, or a future. [`RowAnswer`](crate::RowAnswer) is its value. If a run uses a
//! metric in several places, the call's memo ensures that it is evaluated once per call.

use std::future::IntoFuture;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use crate::dedup::Key;
#[cfg(feature = "lm")]
use crate::lm::estimate;
use crate::metric::{Metric, MetricCall};
use crate::panic;
use crate::score::{MetricError, MetricScore, Result, RowAnswer, Scored, row_answer};

/// A metric's answer to one call.
///
/// A synchronous metric returns [`Ready`](Self::Ready), so no future is allocated per row. A metric that has to wait,
/// for example for a language model, returns [`Pending`](Self::Pending).
///
/// You can await either variant to get the score. To also get a row's contribution to a score over all rows, call
/// [`resolved`](Self::resolved).
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn is_short(#[pred] answer: &str) -> bool {
///     answer.chars().count() <= 10
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! {}, prediction! { "answer" => "Paris" });
/// let call = MetricCall::new(&gold, &pred);
/// assert_eq!(IsShort.answer(call).await?.passed, Some(true));
/// assert!(IsShort.answer(call).ready().is_some());
/// # Ok(())
/// # }
/// ```
#[must_use = "a pending answer does nothing unless it is awaited"]
pub enum Answer<'a> {
    /// The result of a metric that has finished.
    Ready(Result<RowAnswer>),
    /// The future of a metric that has to wait.
    ///
    /// No work starts until the future is polled.
    Pending(BoxFuture<'a, Result<RowAnswer>>),
}

impl<'a> Answer<'a> {
    /// Creates an answer that must be awaited.
    ///
    /// ```
    /// use dsrs_metrics::{contract::Answer, prelude::*};
    ///
    /// struct Delayed;
    ///
    /// #[async_trait]
    /// impl Metric for Delayed {
    ///     fn name(&self) -> &str {
    ///         "delayed"
    ///     }
    ///
    ///     fn answer<'a>(&'a self, call: MetricCall<'a>) -> Answer<'a> {
    ///         let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    ///         Answer::pending(async move { same.answer(call).await })
    ///     }
    ///
    ///     async fn evaluate(&self, gold: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
    ///         Ok(self.answer(MetricCall::new(gold, pred)).await?.into_score())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let (gold, pred) = (example! { "answer" => 4 }, prediction! { "answer" => 4 });
    /// assert_eq!(Delayed.answer(MetricCall::new(&gold, &pred)).await?.passed, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn pending<F, T>(future: F) -> Self
    where
        // rustc prints the line of the bound.
        F: Future<Output = Result<T>> + Send + 'a, // drop what is not `Send` before `.await`
        T: Into<RowAnswer> + 'a,
    {
        let answer: BoxFuture<'a, Result<RowAnswer>> = Box::pin(future.map(row_answer));
        #[cfg(feature = "lm")]
        if estimate::is_active() {
            return Self::Pending(Box::pin(unless_estimated(answer)));
        }
        Self::Pending(answer)
    }

    /// Returns the score if the metric has finished.
    ///
    /// Returns `None` if the answer must be awaited.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let (gold, pred) = (example! {}, prediction! {});
    /// let call = MetricCall::new(&gold, &pred);
    /// assert_eq!(metric_fn("half", |_, _| 0.5).answer(call).ready().unwrap()?.score.value, 0.5);
    /// assert!(metric_fn("later", |_, _| async { 0.5 }).answer(call).ready().is_none());
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    #[inline]
    pub fn ready(self) -> Option<Result<Scored>> {
        match self {
            Self::Ready(result) => Some(scored(result)),
            Self::Pending(_) => None,
        }
    }

    /// Waits for the metric's result.
    ///
    /// The result is a score, or the row's contribution to a score over all rows.
    ///
    /// ```
    /// use dsrs_metrics::contract::{CorpusCounts, RowAnswer};
    /// # use dsrs_metrics::prelude::*;
    ///
    /// #[metric(corpus)]
    /// fn error_rate(#[pred] wrong: u64, #[pred] words: u64) -> CorpusCounts {
    ///     CorpusCounts::new([wrong, words], |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let (gold, pred) = (example! {}, prediction! { "wrong" => 1, "words" => 4 });
    /// let answer = ErrorRate.answer(MetricCall::new(&gold, &pred)).resolved().await?;
    /// let RowAnswer::Counted { counted, .. } = answer else { panic!("{answer:?}") };
    /// assert_eq!(counted.score(), Ok(0.25));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the row has neither a score nor a contribution.
    pub async fn resolved(self) -> Result<RowAnswer> {
        match self {
            Self::Ready(result) => result,
            Self::Pending(future) => future.await,
        }
    }
}

impl<T: Into<RowAnswer>> From<Result<T>> for Answer<'_> {
    #[inline]
    fn from(result: Result<T>) -> Self {
        Self::Ready(row_answer(result))
    }
}

impl<'a> IntoFuture for Answer<'a> {
    type Output = Result<Scored>;
    type IntoFuture = BoxFuture<'a, Result<Scored>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.resolved().await?.scored() })
    }
}

#[cfg(feature = "lm")]
async fn unless_estimated(answer: BoxFuture<'_, Result<RowAnswer>>) -> Result<RowAnswer> {
    match estimate::observe(answer).await {
        (_, Some(estimated)) => Err(MetricError::caused_by("estimate", estimated)),
        (answer, None) => answer,
    }
}

debug_fields!(Answer<'a>: |answer| "is_ready" => matches!(answer, Self::Ready(_)));

#[inline]
fn scored(result: Result<RowAnswer>) -> Result<Scored> {
    result.and_then(RowAnswer::scored)
}

/// Returns an answer's score.
///
/// # Errors
/// Fails if the metric is asynchronous.
pub fn ready_score(metric: &str, answer: Answer<'_>) -> Result<MetricScore> {
    let is_asynchronous = "the metric is asynchronous; call `evaluate(..).await`";
    match answer.ready() {
        Some(scored) => Ok(scored?.into_score()),
        None => Err(MetricError::failed(metric, is_asynchronous)),
    }
}

/// Scores one pair of rows with a metric that doesn't wait.
pub(crate) fn at_once<G: Sync, P: Sync>(
    metric: &(impl Metric<G, P> + ?Sized),
    gold: &G,
    pred: &P,
) -> Result<MetricScore> {
    ready_score(metric.name(), metric.answer(MetricCall::new(gold, pred)))
}

/// A synchronous metric.
///
/// The parameter `G` delays checking this bound until `score` is called.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may be asynchronous, so it cannot be scored synchronously",
    label = "must be awaited",
    note = "write `.evaluate(&gold, &pred).await` instead of `.score(&gold, &pred)`"
)]
#[doc(hidden)]
pub trait ScoredAtOnce<G> {}

/// Returns the metric's answer to a call.
///
/// If an equal metric already answered this call, its answer is reused. A reused answer costs nothing.
pub fn shared<'a, G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &'a M,
    key: Option<&Key>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    let memo = key.zip(call.memo);
    match memo.and_then(|(key, memo)| memo.cell(key, call.address())) {
        None => metric.answer(call),
        Some(cell) => shared_with(metric, cell, call),
    }
}

#[cold]
fn shared_with<'a, G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &'a M,
    cell: &'a OnceCell<Result<RowAnswer>>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    if let Some(answer) = cell.get() {
        return Answer::Ready(reused(answer));
    }
    let panicked = |panic: panic::Panic| Err(MetricError::panicked(metric.name(), panic.message));
    let future = match panic::catch(false, || metric.answer(call)) {
        Ok(Answer::Pending(future)) => future,
        Ok(Answer::Ready(answer)) => return Answer::Ready(keep(cell, answer)),
        Err(panic) => return Answer::Ready(keep(cell, panicked(panic))),
    };
    Answer::pending(async move {
        let mut is_first = false;
        let evaluate = async {
            is_first = true;
            let answer = panic::catch_async(false, future).await;
            answer.unwrap_or_else(panicked)
        };
        let answer = cell.get_or_init(|| evaluate).await;
        match is_first {
            true => answer.clone(),
            false => reused(answer),
        }
    })
}

/// Stores an answer. If another thread has stored one in the meantime, both evaluations are charged.
fn keep(cell: &OnceCell<Result<RowAnswer>>, answer: Result<RowAnswer>) -> Result<RowAnswer> {
    let _ = cell.set(answer.clone());
    answer
}

fn reused(answer: &Result<RowAnswer>) -> Result<RowAnswer> {
    match answer {
        Ok(answer) => Ok(answer.clone().without_cost()),
        Err(error) => Err(error.clone().with_cost_msats(0)),
    }
}

#[cfg(test)]
mod tests {
    use crate::dedup::Sharing;
    use crate::metric::Metric;
    use crate::metric::call::MetricCall;
    use crate::rows::dynamic::{Example, Prediction};
    use crate::{example, metric, prediction};

    /// Passes if the answers are equal.
    #[metric(explain = |answer, given, _| format!("expected {answer}, found {given}"))]
    fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
        answer == given
    }

    #[test]
    fn an_answer_without_an_explanation_is_not_reused_where_one_is_read() {
        let metric = Same;
        let key = Metric::<Example, Prediction>::key(&metric);
        let keys = vec![key.clone().unwrap(); 2];
        let sharing = Sharing::among(&keys).unwrap();
        let (gold, pred) = (
            example! { "answer" => "Paris" },
            prediction! { "answer" => "Lyon" },
        );
        let call = MetricCall::<Example, Prediction>::new(&gold, &pred);
        let details = |call: MetricCall<'_>| {
            let answer = super::shared(&metric, key.as_ref(), call)
                .ready()
                .unwrap()
                .unwrap();
            answer.score.details.is_some()
        };
        let memo = sharing.memo(call.without_explanation().address());
        let call = call.with_memo(Some(&memo));
        assert!(!details(call.without_explanation()));
        assert!(details(call));
        assert!(!details(call.without_explanation()));
    }
}
