//! Why a program returned no prediction.

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::lm::LmError;
use crate::module::ProgramError;

/// Why a program returned no prediction: its message, and the budget that did not cover a call of a language model, if that is
/// the reason.
///
/// A run counts a row as skipped, and not as failed, if the budget is the reason. A program returns its error as it is for
/// that, or with it as a source: an [`LmError`](crate::lm::LmError), a [`ProgramError`] that contains one, or this type.
///
/// ```
/// use dsrs_metrics::lm::{LmError, LmErrorKind};
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::runs::{ProgramError, ProgramReturn};
///
/// let spent = LmErrorKind::BudgetExceeded { budget_msats: 50, remaining_msats: 2, needed_msats: 3 };
/// let returned: Result<Prediction, ProgramError> = Err(LmError::new("openai:gpt-6-luna", spent).into());
/// let error = ProgramReturn::<Prediction>::into_output(returned).unwrap_err();
/// assert_eq!(error.budget_msats, Some(50));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramRunError {
    /// The message, with all causes that are known.
    pub message: String,
    /// The budget that did not cover a call, in millisatoshis.
    pub budget_msats: Option<u64>,
}

impl fmt::Display for ProgramRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ProgramRunError {}

dsrs_metrics_values::debug_as_display!(ProgramRunError);

conversions! {
    /// An error without a budget.
    String => ProgramRunError: |message| Self { message, budget_msats: None };
}

impl ProgramRunError {
    /// Returns the error of a program and its causes.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        Self {
            message: with_causes(error),
            budget_msats: budget(error),
        }
    }

    /// As [`of`](Self::of). Of an error in no box, only the causes that its `Display` shows are known.
    pub(crate) fn of_any<E: fmt::Display + 'static>(error: &E) -> Self {
        let any: &dyn Any = error;
        let own = any
            .downcast_ref::<LmError>()
            .map(|it| it as &(dyn Error + 'static));
        let own = own.or_else(|| any.downcast_ref::<Self>().map(|it| it as _));
        match boxed(error).or(own) {
            Some(error) => Self::of(error),
            None => format!("{error:#}").into(),
        }
    }
}

/// Returns the budget that a call exceeded, if a call is the cause of the error.
fn budget(error: &(dyn Error + 'static)) -> Option<u64> {
    let mut next = Some(error);
    while let Some(error) = next {
        let of_run = error
            .downcast_ref::<ProgramRunError>()
            .and_then(|it| it.budget_msats);
        let of_call = error
            .downcast_ref::<LmError>()
            .and_then(LmError::budget_msats);
        if let Some(budget) = of_run.or(of_call) {
            return Some(budget);
        }
        next = error.source();
    }
    None
}

/// Returns the error in a box, whose `Display` would not show its causes. `Box<dyn Error>` does not
/// implement `Error`, so there cannot be one impl for errors and another for boxes.
fn boxed<E: 'static>(error: &E) -> Option<&(dyn Error + 'static)> {
    let error: &dyn Any = error;
    if let Some(error) = error.downcast_ref::<ProgramError>() {
        return Some(&**error);
    }
    if let Some(error) = error.downcast_ref::<Box<dyn Error + Send>>() {
        return Some(&**error);
    }
    error.downcast_ref::<Box<dyn Error>>().map(|error| &**error)
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Many errors already include the message of their cause.
        let cause_text = error.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::LmErrorKind;

    #[derive(Debug, thiserror::Error)]
    #[error("turn 3")]
    struct Turn(#[source] LmError);

    fn spent() -> LmError {
        let kind = LmErrorKind::BudgetExceeded {
            budget_msats: 7,
            remaining_msats: 1,
            needed_msats: 2,
        };
        LmError::new("test:lm", kind)
    }

    #[test]
    fn the_budget_is_found_in_errors_in_boxes_and_in_their_sources() {
        let boxed: ProgramError = Turn(spent()).into();
        let found = ProgramRunError::of_any(&boxed);
        assert_eq!(found.message, format!("turn 3: {}", spent()));
        assert_eq!(found.budget_msats, Some(7));
        assert_eq!(ProgramRunError::of_any(&found), found);
        assert_eq!(ProgramRunError::of_any(&spent()).budget_msats, Some(7));
        let unscripted = LmErrorKind::Other {
            reason: String::new(),
        };
        let other = LmError::new("test:lm", unscripted);
        assert_eq!(ProgramRunError::of_any(&other).budget_msats, None);
        assert_eq!(ProgramRunError::of_any(&"no answer").message, "no answer");
    }
}
