//! Scores of predictions that lack fields: with a value in place of a field, or without a call.

use crate::rows::absent::Absent;
use crate::rows::field_error::FieldError;
use crate::rows::missing::MissingFields;
use crate::score::Scored;
use crate::score::error::{MetricError, Result};
use crate::score::row_answer::{RowAnswer, row_answer};
use crate::spec::{MetricSpec, Side};

impl Absent {
    /// Marks the result of the call.
    ///
    /// # Errors
    /// The error of the call.
    #[inline]
    pub fn mark<T: Into<RowAnswer>>(self, result: Result<T>) -> Result<RowAnswer> {
        match self.0 {
            None => row_answer(result),
            Some(missing) => row_answer(result).map(|result| result.with_missing(missing)),
        }
    }
}

/// Returns a field error as the error of the metric, with the side of the row. A metric that scores predictions without
/// the field returns that score instead.
///
/// # Errors
/// The error, unless the metric scores predictions without the field.
#[cold]
#[doc(hidden)]
#[expect(clippy::boxed_local, reason = "reading a field returns a boxed error")]
pub fn unreadable_field(
    error: Box<FieldError>,
    spec: &MetricSpec<'_>,
    side: Side,
) -> Result<RowAnswer> {
    let Some(score) = spec.missing.filter(|_| side == Side::Pred) else {
        return Err(MetricError::field(spec.name, side, *error));
    };
    match MissingFields::of_error(*error, spec) {
        Ok(missing) => Ok(Scored::without_fields(score, missing, spec)?.into()),
        Err(error) => Err(MetricError::field(spec.name, side, error)),
    }
}
