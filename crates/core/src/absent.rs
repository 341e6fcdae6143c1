//! Calls with predictions that lack fields: the fields whose place a value takes, and the score without a call.

use crate::answer::{RowAnswer, row_answer};
use crate::error::Result;
use crate::field_error::FieldError;
use crate::missing::MissingFields;
use crate::score::Scored;
use crate::spec::{FieldSpec, MetricSpec, Side};

/// Collects the fields of one call whose place a value takes: `#[pred(missing = value)]`.
#[derive(Debug, Default)]
pub struct Absent(Option<Box<MissingFields>>);

impl Absent {
    /// Adds a field, as [`MissingFields::add`].
    #[cold]
    pub(crate) fn add(
        &mut self,
        field: &FieldSpec<'static>,
        present: Option<Vec<String>>,
        is_visible: bool,
    ) {
        self.0.get_or_insert_default().add(field.name, present, is_visible);
    }

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
        return Err(error.of(spec.name, side));
    };
    match MissingFields::of_error(*error, spec) {
        Ok(missing) => Ok(Scored::without_fields(score, missing, spec)?.into()),
        Err(error) => Err(error.of(spec.name, side)),
    }
}

/// Returns whether a metric that scores predictions without the field can score the row.
#[doc(hidden)]
pub fn is_scored<T>(read: &Result<T, Box<FieldError>>) -> bool {
    match read {
        Ok(_) => true,
        Err(error) => matches!(**error, FieldError::Missing { .. } | FieldError::Null { .. }),
    }
}
