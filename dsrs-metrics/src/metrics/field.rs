//! The field that a metric is told to read in a way of its own; most say `#[pred(named_by = ..)]` instead.

use std::borrow::Cow;

use serde_json::Value;

use super::check::Unscored;
use crate::core::error::FieldError;
use crate::core::rows::by_name;
use crate::core::rows::dynamic::Fields;
use crate::core::spec::Side;
use crate::json::depth::{self, TooDeep};

/// The field as it is, not nested deeper than can be written.
pub(super) fn value<'r>(row: &'r Fields, side: Side, field: &str) -> Result<&'r Value, Unscored> {
    let missing = || {
        let present = row.keys().map(str::to_owned).collect();
        Unscored::Field {
            side,
            error: FieldError::Missing { field: field.to_owned().into(), present },
        }
    };
    let value = row.get(field).ok_or_else(missing)?;
    match depth::is_too_deep(value) {
        true => Err(Unscored::Because(format!("field `{side}.{field}` holds {TooDeep}"))),
        false => Ok(value),
    }
}

/// The field as text: text as it is, `null` as nothing, anything else as the JSON that it is; `*` is all fields.
pub(super) fn text<'r>(row: &'r Fields, side: Side, field: &str) -> Result<Cow<'r, str>, Unscored> {
    by_name::in_fields(row, field).map_err(|error| Unscored::Field { side, error: *error })
}

/// A value that [`value`] gave, or a part of it, as text.
pub(super) fn written(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => by_name::json(other),
    }
}
