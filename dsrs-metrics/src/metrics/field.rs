//! The field that a metric with a parameter `field` reads, as text.

use std::borrow::Cow;

use serde_json::Value;

use super::check::Unscored;
use crate::row::Fields;
use crate::spec::Side;

/// What stands for the whole row instead of one of its fields.
pub(super) const WHOLE: &str = "*";

/// The field as it is.
pub(super) fn value<'r>(row: &'r Fields, side: Side, field: &str) -> Result<&'r Value, Unscored> {
    row.get(field).ok_or_else(|| Unscored::NoField {
        side,
        field: field.to_owned(),
        present: row.keys().map(str::to_owned).collect(),
    })
}

/// The field as text: text as it is, `null` as nothing, anything else as the JSON that it is.
pub(super) fn text<'r>(row: &'r Fields, side: Side, field: &str) -> Result<Cow<'r, str>, Unscored> {
    if field == WHOLE && !row.contains_key(field) {
        return Ok(json(row));
    }
    value(row, side, field).map(written)
}

/// A value as text.
pub(super) fn written(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => json(other),
    }
}

fn json(value: &impl serde::Serialize) -> Cow<'static, str> {
    // Values and rows hold only what JSON can say.
    Cow::Owned(serde_json::to_string(value).unwrap_or_default())
}
