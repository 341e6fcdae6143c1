//! Reads the fields of a call: the part of a metric's expansion that depends on the form of a field only.

use crate::metric::call::MetricCall;
use crate::rows::fields::{ReadAs, ReadField};
use crate::score::error::Result;
use crate::score::missing::unreadable_field;
use crate::score::row_answer::RowAnswer;
use crate::spec::{FieldSpec, MetricSpec, Side};

/// A field of a row, or the answer of the metric if the field cannot be read.
type FieldOr<T> = std::result::Result<T, Result<RowAnswer>>;

/// Reads the field `N` of the gold row in the form `W`.
///
/// # Errors
/// The answer of the metric, if the field is missing or has another type.
#[inline]
pub fn gold<'r, N, W: ReadAs<'r>, G: ReadField<'r, N, W>, P>(
    call: &MetricCall<'r, G, P>,
    field: &FieldSpec<'static>,
    spec: &MetricSpec<'_>,
) -> FieldOr<W::Output> {
    call.gold
        .read_field(field)
        .map_err(|error| unreadable_field(error, spec, Side::Gold))
}

/// Reads the field `N` of the prediction in the form `W`.
///
/// # Errors
/// The answer of the metric, if the field is missing or has another type.
#[inline]
pub fn pred<'r, N, W: ReadAs<'r>, G, P: ReadField<'r, N, W>>(
    call: &MetricCall<'r, G, P>,
    field: &FieldSpec<'static>,
    spec: &MetricSpec<'_>,
) -> FieldOr<W::Output> {
    call.pred
        .read_field(field)
        .map_err(|error| unreadable_field(error, spec, Side::Pred))
}
