//! JSON in strings.

use serde_json::Value;

use crate::json::size::{MAX_VALUES, is_too_large};
use crate::json::unique_keys::UniqueKeys;
use crate::messages::escape::escaped;

/// Parses JSON, which may come from a row, without duplicate keys.
pub(super) fn parsed(json: &str) -> Result<Value, String> {
    if is_too_large(json, MAX_VALUES) {
        return Err(format!("it has more than {MAX_VALUES} values"));
    }
    match serde_json::from_str(json) {
        Ok(UniqueKeys(value)) => Ok(value),
        Err(error) => Err(escaped(&error.to_string()).into_owned()),
    }
}
