//! The result of a metric for one row: a score, or the contribution of the row to a score of all rows.

use crate::rows::missing::MissingFields;
use crate::score::Scored;
use crate::score::counted::Counted;
use crate::score::error::{MetricError, MetricErrorKind, Result};
use crate::score::outcome::Outcome;

/// The result of a metric for one row: a score, or the contribution of the row to a score of all rows.
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
    /// ```
    /// use dsrs_metrics::metrics::Accuracy;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let (gold, pred) = (example! { "answer" => "yes" }, prediction! { "answer" => "no" });
    /// let answer = Accuracy::default().answer(MetricCall::new(&gold, &pred)).resolved().await?;
    /// let message = "metric `accuracy` scores all rows together and no single row; \
    ///                run it with `Evaluate` or the command `score`";
    /// assert_eq!(answer.scored().unwrap_err().to_string(), message);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`MetricErrorKind::NoRowScore`] if the metric scores all rows together.
    #[inline]
    pub fn scored(self) -> Result<Scored> {
        match self {
            Self::Scored(scored) => Ok(scored),
            Self::Counted {
                metric,
                cost_msats,
                counted,
            } => Err(no_row_score(metric, cost_msats, counted)),
        }
    }

    /// Returns the cost of the call, in millisatoshis.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let paid = metric_fn("paid", |_, _| true).with_cost_msats(40);
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let answer = paid.answer(MetricCall::new(&gold, &pred)).resolved().await?;
    /// assert_eq!(answer.cost_msats(), 40);
    /// # Ok(())
    /// # }
    /// ```
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

impl<T: Into<RowAnswer>> From<Result<T, MetricError>> for Outcome {
    fn from(result: Result<T, MetricError>) -> Self {
        match result.map(T::into) {
            Ok(RowAnswer::Scored(scored)) => Self::Scored(scored),
            Ok(RowAnswer::Counted { counted, .. }) => Self::Counted(counted),
            Err(error) => error.into(),
        }
    }
}

/// The error of a metric that scores all rows together. It drops the contribution, which callers need no code for.
#[cold]
#[inline(never)]
#[allow(
    clippy::needless_pass_by_value,
    reason = "the contribution is dropped here"
)]
pub(crate) fn no_row_score(metric: String, cost_msats: u64, _counted: Counted) -> MetricError {
    MetricError::new(metric, MetricErrorKind::NoRowScore).with_cost_msats(cost_msats)
}
