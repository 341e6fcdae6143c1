//! Whether an output has the form that was asked for.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::de::IgnoredAny;

use crate::metric;
use crate::metrics::check::{Check, Unscored};

/// Whether the output is there, is JSON, and has its fields.
///
/// Passes or fails; the feedback names what is wrong. Reads the text of `pred.answer`, or of the field that `field` names
/// (`*` for the whole prediction as JSON). White space alone is empty. JSON is RFC 8259 to the letter: no comments, no
/// trailing commas, no code fence around it, nesting of any depth.
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
#[metric]
pub fn format(
    #[pred(named_by = field)] text: &str,
    /// Whether empty text fails.
    #[param(default = true)]
    require_non_empty: bool,
    /// Whether text that is no JSON fails.
    #[param(default = false)]
    require_valid_json: bool,
    /// Fields that the output must have; it must be a JSON object then.
    #[param(default)]
    required_fields: &[String],
    /// The field of the prediction that is looked at, or `*` for all of it.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    let empty = text.trim().is_empty();
    if empty && require_non_empty {
        return Ok(Check::fail("the output is empty"));
    }
    let json = require_valid_json.then(|| not_json(text)).flatten();
    Ok(Check::unless(json.or_else(|| missing(text, required_fields))))
}

fn not_json(text: &str) -> Option<String> {
    // What is ignored is read without recursion, so depth is no matter.
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    Some(format!("the output is no valid JSON: {error}"))
}

fn missing(text: &str, fields: &[String]) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let object = match serde_json::from_str::<HashMap<Cow<'_, str>, IgnoredAny>>(text) {
        Ok(object) => object,
        Err(error) => return Some(format!("the output is no JSON object: {error}")),
    };
    let missing: Vec<&str> =
        fields.iter().map(String::as_str).filter(|field| !object.contains_key(*field)).collect();
    (!missing.is_empty()).then(|| format!("the output lacks `{}`", missing.join("`, `")))
}
