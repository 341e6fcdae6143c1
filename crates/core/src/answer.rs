//! The answer of a metric to one call: ready, or a future. It is a score, or the contribution of a row to a score of all rows.

use std::fmt;
use std::future::{IntoFuture, Ready, ready};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, Map};

use crate::counted::Counted;
use crate::error::{MetricError, MetricErrorKind, Result};
use crate::missing::MissingFields;
use crate::score::Scored;

/// The answer of a metric to one call.
///
/// A synchronous metric returns [`Ready`](Self::Ready), so that no future is allocated per row. A metric that has to
/// wait, for a language model for instance, returns [`Pending`](Self::Pending). Both can be awaited for the score;
/// [`resolved`](Self::resolved) also returns the contribution of a row to a score of all rows.
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
    /// The metric has finished.
    Ready(Result<RowAnswer>),
    /// The metric has to wait. Nothing happens before the future is polled.
    Pending(BoxFuture<'a, Result<RowAnswer>>),
}

impl<'a> Answer<'a> {
    /// Creates an answer that has to be awaited.
    pub fn pending<F, T>(future: F) -> Self
    where
        // Rustc prints the line of the bound.
        F: Future<Output = Result<T>> + Send + 'a, // drop what is not `Send` before `.await`
        T: Into<RowAnswer> + 'a,
    {
        Self::Pending(Box::pin(future.map(row_answer)))
    }

    /// Returns the score of a metric that has finished, or `None` if it has to be awaited.
    #[inline]
    #[must_use]
    pub fn ready(self) -> Option<Result<Scored>> {
        match self {
            // Not `scored`, with which a score is moved once more.
            Self::Ready(Ok(RowAnswer::Scored(scored))) => Some(Ok(scored)),
            Self::Ready(Ok(RowAnswer::Counted { metric, cost_msats, counted })) => {
                Some(Err(no_row_score(metric, cost_msats, counted)))
            }
            Self::Ready(Err(error)) => Some(Err(error)),
            Self::Pending(_) => None,
        }
    }

    /// Returns the result of the metric, which a metric over all rows has as well.
    ///
    /// # Errors
    /// The reason why the row has neither a score nor a contribution.
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
    type IntoFuture = Either<
        Ready<Result<Scored>>,
        Map<BoxFuture<'a, Result<RowAnswer>>, fn(Result<RowAnswer>) -> Result<Scored>>,
    >;

    fn into_future(self) -> Self::IntoFuture {
        match self {
            Self::Ready(result) => Either::Left(ready(scored(result))),
            Self::Pending(future) => Either::Right(future.map(scored)),
        }
    }
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(result) => f.debug_tuple("Ready").field(result).finish(),
            Self::Pending(_) => f.write_str("Pending(..)"),
        }
    }
}

/// What a metric returns for one row: a score, or the contribution of the row to a score of all rows.
///
/// ```
/// use dsrs_metrics::metrics::Accuracy;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::contract::RowAnswer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "yes" }, prediction! { "answer" => "no" });
/// let answer = Accuracy::default().answer(MetricCall::new(&gold, &pred)).resolved().await?;
/// let RowAnswer::Counted { counted, .. } = answer else { panic!("{answer:?}") };
/// assert_eq!(counted.score(), Ok(0.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum RowAnswer {
    /// The score of the row.
    Scored(Scored),
    /// The contribution of the row to the score of a metric over all rows.
    Counted {
        /// The name of the metric.
        metric: String,
        /// The cost of the call, in millisatoshis.
        cost_msats: u64,
        /// The contribution.
        counted: Counted,
    },
}

impl RowAnswer {
    /// Returns the score of the row.
    ///
    /// # Errors
    /// [`MetricErrorKind::NoRowScore`] if the metric scores all rows together.
    #[inline]
    pub fn scored(self) -> Result<Scored> {
        match self {
            Self::Scored(scored) => Ok(scored),
            Self::Counted { metric, cost_msats, counted } => {
                Err(no_row_score(metric, cost_msats, counted))
            }
        }
    }

    /// Returns the cost of the call, in millisatoshis.
    #[must_use]
    pub fn cost_msats(&self) -> u64 {
        match self {
            Self::Scored(scored) => scored.score.cost_msats,
            Self::Counted { cost_msats, .. } => *cost_msats,
        }
    }

    /// Sets the cost to zero, for an answer that is reused.
    pub(crate) fn without_cost(mut self) -> Self {
        match &mut self {
            Self::Scored(scored) => scored.remove_cost(),
            Self::Counted { cost_msats, .. } => *cost_msats = 0,
        }
        self
    }

    /// Records which fields the row lacks that the metric reads.
    #[cold]
    pub(crate) fn with_missing(mut self, missing: Box<MissingFields>) -> Self {
        match &mut self {
            Self::Scored(scored) => scored.set_missing(missing),
            Self::Counted { counted, .. } => counted.missing = Some(missing),
        }
        self
    }
}

impl From<Scored> for RowAnswer {
    #[inline]
    fn from(scored: Scored) -> Self {
        Self::Scored(scored)
    }
}

#[doc(hidden)]
#[inline]
pub fn row_answer<T: Into<RowAnswer>>(result: Result<T>) -> Result<RowAnswer> {
    result.map(T::into)
}

#[inline]
fn scored(result: Result<RowAnswer>) -> Result<Scored> {
    result.and_then(RowAnswer::scored)
}

/// The error of a metric that scores all rows together. It drops the contribution, which callers need no code for.
#[cold]
#[inline(never)]
#[allow(clippy::needless_pass_by_value, reason = "the contribution is dropped here")]
fn no_row_score(metric: String, cost_msats: u64, _counted: Counted) -> MetricError {
    MetricError::new(metric, MetricErrorKind::NoRowScore).with_cost_msats(cost_msats)
}
