//! The number of a repeat, for everything that must not return the same reply in each.

use super::settings::Settings;

/// The number of a row's repeat, from 0, which applies while a program and metrics run in
/// `Evaluate` with `repeats`.
///
/// Judges include it in their requests, so that a stored reply to one repeat does not answer another. A program that
/// keeps replies itself does the same, as with [`LmRequest::with_draw`](crate::lm::LmRequest::with_draw).
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, contract::RepeatNumber};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let devset = [example! { "question" => "Which repeat?", "answer" => 1 }];
/// let evaluate = Evaluate::builder().devset(devset).inputs(["question"]).metric(same).repeats(4).build()?;
/// let result = evaluate.run(|_: Example| async { prediction! { "answer" => RepeatNumber::current().0 } }).await?;
/// assert_eq!(result.metrics[0].mean, Some(0.25));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepeatNumber(pub u32);

impl RepeatNumber {
    /// Returns the number of the current repeat; 0 outside of repeats.
    ///
    /// ```
    /// # use dsrs_metrics::contract::{RepeatNumber, Settings};
    /// assert_eq!(RepeatNumber::current(), RepeatNumber(0));
    /// let third = Settings::new().with(RepeatNumber(2));
    /// assert_eq!(third.scope_sync(RepeatNumber::current), RepeatNumber(2));
    /// ```
    pub fn current() -> Self {
        Settings::get::<Self>()
            .map(|number| *number)
            .unwrap_or_default()
    }
}
