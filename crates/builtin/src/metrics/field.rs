//! Reads a field named by a metric's configuration, for metrics that cannot use `#[pred(named_by = ..)]`.

use std::borrow::Cow;

use serde_json::Value;

use crate::contract::rows::by_name;
use crate::contract::{FieldError, Fields, Side, Unscored};
use crate::json::depth::{self, TooDeep};

/// Returns the field's value, unless it is nested too deep to be written.
pub(super) fn value<'r>(row: &'r Fields, side: Side, field: &str) -> Result<&'r Value, Unscored> {
    let missing = || {
        let error = *FieldError::missing(field.to_owned(), row.keys());
        Unscored::Field { side, error }
    };
    let value = row.get(field).ok_or_else(missing)?;
    match depth::is_too_deep(value) {
        true => Err(Unscored::Because(format!(
            "field `{side}.{field}` contains {TooDeep}"
        ))),
        false => Ok(value),
    }
}

/// Returns the field as a string: strings unchanged, `null` as an empty string, anything else as
/// JSON. `*` selects all fields.
pub(super) fn text<'r>(row: &'r Fields, side: Side, field: &str) -> Result<Cow<'r, str>, Unscored> {
    by_name::in_fields(row, field).map_err(|error| Unscored::Field {
        side,
        error: *error,
    })
}

/// Returns a value as a string, in the same way as [`text`].
pub(super) fn written(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => by_name::json(other),
    }
}
