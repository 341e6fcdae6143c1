//! The answer of a metric to one call: ready, or a future.

use std::fmt;
use std::future::{IntoFuture, Ready, ready};

use futures_util::future::{BoxFuture, Either};

use crate::core::error::Result;
use crate::core::score::Scored;

/// The answer of a metric to one call.
///
/// A synchronous metric returns [`Ready`](Self::Ready), so that no future is allocated per row. A metric that has to
/// wait, for a language model for instance, returns [`Pending`](Self::Pending). Both can be awaited.
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
    Ready(Result<Scored>),
    /// The metric has to wait. Nothing happens before the future is polled.
    Pending(BoxFuture<'a, Result<Scored>>),
}

impl<'a> Answer<'a> {
    /// Creates an answer that has to be awaited.
    pub fn pending<F>(future: F) -> Self
    where
        // Rustc prints the line of the bound.
        F: Future<Output = Result<Scored>> + Send + 'a, // drop what is not `Send` before `.await`
    {
        Self::Pending(Box::pin(future))
    }

    /// Returns the result of a metric that has finished, or `None` if it has to be awaited.
    #[must_use]
    pub fn ready(self) -> Option<Result<Scored>> {
        match self {
            Self::Ready(result) => Some(result),
            Self::Pending(_) => None,
        }
    }
}

impl<'a> IntoFuture for Answer<'a> {
    type Output = Result<Scored>;
    type IntoFuture = Either<Ready<Result<Scored>>, BoxFuture<'a, Result<Scored>>>;

    fn into_future(self) -> Self::IntoFuture {
        match self {
            Self::Ready(result) => Either::Left(ready(result)),
            Self::Pending(future) => Either::Right(future),
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
