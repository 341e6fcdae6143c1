//! The format of an output.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::de::IgnoredAny;

use crate::core::score::check::{Check, Unscored};
use crate::metric;
use crate::metrics::explained::proxies as explained;

/// Whether the output is not empty, is valid JSON, and has the required fields.
///
/// A pass or a failure; the feedback names the violation. Reads `pred.answer` as a string, or the
/// field that `field` names (`*` for the whole prediction as JSON). White space alone counts as
/// empty. JSON is defined by RFC 8259: no comments, no trailing commas, no surrounding code fence, any
/// nesting depth.
///
/// ```
/// use dsrs_metrics::metrics::Format;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Format::builder().require_non_empty(true).require_valid_json(true).field("answer").build();
/// assert_eq!(metric.score(&example! {}, &prediction! { "answer" => "{\"a\": [1, 2]}" })?.value, 1.0);
/// assert_eq!(metric.score(&example! {}, &prediction! { "answer" => "{\"a\": [1, 2}" })?.value, 0.0);
///
/// let metric = Format::builder().required_fields(["name", "age"]).build();
/// assert_eq!(metric.score(&example! {}, &prediction! { "answer" => "{\"name\": \"Ada\"}" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::format)]
pub fn format(
    #[pred(named_by = field)] text: &str,
    /// Whether an empty output fails.
    #[param(default = true)]
    require_non_empty: bool,
    /// Whether an output that is not valid JSON fails.
    #[param(default = false)]
    require_valid_json: bool,
    /// Fields that the output must have, which must then be a JSON object.
    #[param(default)]
    required_fields: &[String],
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    let empty = text.trim().is_empty();
    if empty && require_non_empty {
        return Ok(Check::fail("the output is empty"));
    }
    let json = require_valid_json.then(|| json_error(text)).flatten();
    Ok(Check::unless(
        json.or_else(|| missing_fields(text, required_fields)),
    ))
}

fn json_error(text: &str) -> Option<String> {
    // Ignored values are parsed without recursion, so any nesting depth is supported.
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    Some(format!("the output is not valid JSON: {error}"))
}

fn missing_fields(text: &str, fields: &[String]) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let object = match serde_json::from_str::<HashMap<Cow<'_, str>, IgnoredAny>>(text) {
        Ok(object) => object,
        Err(error) => return Some(format!("the output is not a JSON object: {error}")),
    };
    let missing: Vec<&str> = fields
        .iter()
        .map(String::as_str)
        .filter(|field| !object.contains_key(*field))
        .collect();
    (!missing.is_empty()).then(|| format!("the output lacks the fields `{}`", missing.join("`, `")))
}
