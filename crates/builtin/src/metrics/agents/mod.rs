//! Metrics that score a coding agent's steps.
//!
//! The metrics cover plans, subtask results, syntheses, and the utility and outcome of tool calls. Each metric is a
//! weighted mean of a few checks. The feedback gives the reason for each failed check.
//!
//! The metrics check the form of an output, not whether the output is true. Use a judge to decide whether a plan is
//! good.
//!
//! The file is long because each metric has its rules, a reference and an example. The code itself is short.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::contract::Unscored;
use crate::contract::weights::check;
use crate::json::found;
use crate::metric;
use crate::metrics::breakdown::Breakdown;
use crate::text::NormalForm;

pub use outcome_coupled::*;
pub use planning::*;

mod outcome_coupled;
mod planning;

/// Scores a task's plan and synthesis together.
///
/// The score is `0.6 subtask_planning + 0.4 synthesis`, in [0, 1]. A plan without a synthesis scores at most 0.6.
///
/// Execution is scored per subtask, so it is not included.
///
/// The feedback combines the feedback from both components. The component with the lowest score comes first.
///
/// To use other weights or parameters, define your own composite, for example `#[metric(weighted(subtask_planning =
/// 0.5, synthesis(min_summary_chars = 40) = 0.5))]`.
///
/// ```
/// use dsrs_metrics::metrics::Combined;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! {
///     "subtasks" => [json!({ "id": 1, "action": "fly", "target": "src/lib.rs", "instruction": "Add a test" })],
///     "success" => true, "summary" => "Added a test of the parser", "modified_files" => ["src/lib.rs"],
///     "confidence" => 0.9,
/// };
/// // One of the four checks of the plan fails: the action `fly` is unknown.
/// assert_eq!(Combined.score(&example! {}, &pred)?.value, 0.6 * 0.75 + 0.4);
/// # Ok(())
/// # }
/// ```
#[metric(weighted(subtask_planning = 0.6, synthesis = 0.4))]
pub struct Combined;

/// Returns a field's value, parsed if it is a string, or the reason why there is none.
///
/// # Errors
/// Returns an error if the JSON is nested too deep.
fn json_field<'a>(
    field: &str,
    value: Option<&'a Value>,
) -> Result<Result<Cow<'a, Value>, String>, Unscored> {
    let value = match present(field, value) {
        Ok(Value::String(json)) => json,
        other => return Ok(other.map(Cow::Borrowed)),
    };
    match serde_json::from_str(value) {
        Ok(value) => Ok(Ok(Cow::Owned(value))),
        Err(_) if serde_json::from_str::<IgnoredAny>(value).is_ok() => {
            let reason = format!("`pred.{field}` is JSON nested deeper than 127 levels");
            Err(Unscored::Because(reason))
        }
        Err(error) => Ok(Err(format!("`{field}` is not valid JSON: {error}"))),
    }
}

/// Returns the list in a field, parsed if it is a string, or the reason why there is none.
///
/// # Errors
/// Returns an error if the JSON is nested too deep.
fn json_list<'a>(
    field: &str,
    value: Option<&'a Value>,
) -> Result<Result<Cow<'a, [Value]>, String>, Unscored> {
    let value = json_field(field, value)?;
    Ok(value.and_then(|value| match value {
        Cow::Borrowed(Value::Array(items)) => Ok(Cow::Borrowed(&items[..])),
        Cow::Owned(Value::Array(items)) => Ok(Cow::Owned(items)),
        _ => Err(format!("`{field}` is not a list")),
    }))
}

fn present<'a>(field: &str, value: Option<&'a Value>) -> Result<&'a Value, String> {
    value.ok_or_else(|| format!("`{field}` is missing"))
}

fn unexpected(field: &str, expected: &str, value: &Value) -> String {
    format!("`{field}`: expected {expected}, found {}", found(value))
}

/// Returns the reason as an error unless a condition holds.
fn ensure(holds: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    holds.then_some(()).ok_or_else(reason)
}

/// Checks that a value is a boolean, or a string that contains one in any case.
fn boolean(field: &str, value: Option<&Value>) -> Result<(), String> {
    let value = present(field, value)?;
    let text = value.as_str().map(|text| text.trim().to_ascii_lowercase());
    let is_boolean = value.is_boolean() || matches!(text.as_deref(), Some("true" | "false"));
    ensure(is_boolean, || unexpected(field, "true or false", value))
}

/// Checks that a value is a number in a closed interval, or a string that contains one.
fn number_in(field: &str, value: Option<&Value>, [min, max]: [f64; 2]) -> Result<(), String> {
    let value = present(field, value)?;
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    };
    // The string "NaN" parses as a number that isn't in any interval.
    let is_in_range = number.is_some_and(|number| (min..=max).contains(&number));
    ensure(is_in_range, || {
        unexpected(field, &format!("a number in {min}..={max}"), value)
    })
}

/// Checks that a value is a string with a minimum number of characters, at least one of them a letter or digit.
fn substantive(field: &str, value: Option<&Value>, min_chars: u64) -> Result<(), String> {
    let value = present(field, value)?;
    let text = value.as_str();
    let text = text.ok_or_else(|| unexpected(field, "a string", value))?;
    let chars = length(text);
    ensure(chars >= min_chars, || {
        format!("`{field}`: expected at least {min_chars} characters, found {chars}")
    })?;
    ensure(text.chars().any(char::is_alphanumeric), || {
        format!("`{field}` contains no letter or digit")
    })
}

/// Returns the number of characters in NFC, counting a run of whitespace between words as one.
fn length(text: &str) -> u64 {
    let text = NormalForm::Nfc.apply(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().count() as u64
}

/// Returns `true` if a value is a string that is not blank.
fn is_nonblank_string(value: Option<&Value>) -> bool {
    let text = value.and_then(Value::as_str);
    text.is_some_and(|text| !text.trim().is_empty())
}

/// Checks each item. The error shows the number of the first item that fails, starting at 1, and how many others fail.
fn check_each(
    noun: &str,
    items: &[Value],
    check: impl Fn(&Value) -> Result<(), String>,
) -> Result<(), String> {
    let mut failures = (1..).zip(items).filter_map(|(number, item)| {
        let reason = check(item).err()?;
        Some(format!("{noun} {number}: {reason}"))
    });
    match (failures.next(), failures.count()) {
        (None, _) => Ok(()),
        (Some(first), 0) => Err(first),
        (Some(first), more) => Err(format!("{first}, and {more} more")),
    }
}

/// Scores how well-formed a subtask's result is.
///
/// The metric makes three checks, weighted 0.33, 0.33 and 0.34.
///
/// The score is in [0, 1]. A field that is missing or `null` fails its check.
///
/// - `result`: `pred.result` is a JSON value, or a string that contains one.
/// - `edit_or_command`: the result has an `old_string` and a different `new_string`, or it has a non-blank `command`. A
///   non-blank string also passes, because a `read` subtask returns a file's content.
/// - `reasoning`: `pred.reasoning` is a string with a letter or digit and at least `min_reasoning_chars` characters.
///   Characters are counted after NFC normalization, and several whitespace characters between words count as one.
///
/// This metric uses the formula for `subtask_execution_metric` in the `dsrs` document. The code in that document counts
/// bytes instead of characters.
///
/// The row fails if its JSON is nested deeper than 127 levels.
///
/// ```
/// use dsrs_metrics::metrics::SubtaskExecution;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! {
///     "result" => r#"{"old_string": "fn old()", "new_string": "fn new()"}"#, "reasoning" => "A better name.",
/// };
/// // The reasoning has 14 characters.
/// assert_eq!(SubtaskExecution::default().score(&example! {}, &pred)?.value, 0.66);
/// let metric = SubtaskExecution::builder().min_reasoning_chars(10).build();
/// assert_eq!(metric.score(&example! {}, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0)]
pub fn subtask_execution(
    #[pred(missing)] result: Option<&Value>,
    #[pred(missing)] reasoning: Option<&Value>,
    /// The weights of the checks `result`, `edit_or_command` and `reasoning`.
    #[param(default = [0.33, 0.33, 0.34])]
    weights: [f64; 3],
    /// The minimum number of characters in the reasoning.
    #[param(default = 20)]
    min_reasoning_chars: u64,
) -> Result<Breakdown, Unscored> {
    let (result, change) = match json_field("result", result)? {
        Ok(result) => (Ok(()), edit_or_command(&result)),
        Err(reason) => (Err(reason), Err(String::new())),
    };
    let reasoning = substantive("reasoning", reasoning, min_reasoning_chars);
    let checks = [
        ("result", result),
        ("edit_or_command", change),
        ("reasoning", reasoning),
    ];
    Breakdown::of_checks(weights, checks)
}

fn edit_or_command(result: &Value) -> Result<(), String> {
    if is_nonblank_string(Some(result)) || is_nonblank_string(result.get("command")) {
        return Ok(());
    }
    let text = |field| result.get(field).and_then(Value::as_str);
    match (text("old_string"), text("new_string")) {
        (Some(old), Some(new)) if old != new => Ok(()),
        (Some(_), Some(_)) => Err("`old_string` and `new_string` are equal".to_owned()),
        _ => Err("`result` has neither `old_string` and `new_string` nor a `command`".to_owned()),
    }
}

/// Scores how well-formed a task's synthesis is.
///
/// The metric makes four checks, weighted 0.25 each.
///
/// The score is in [0, 1]. A field that is missing or `null` fails its check.
///
/// - `success`: `pred.success` is a boolean, or a string that contains one.
/// - `summary`: `pred.summary` is a string with at least `min_summary_chars` characters. They are counted as in
///   `subtask_execution`.
/// - `modified_files`: `pred.modified_files` is a list of non-blank strings, or a string that contains such a list as
///   JSON. The list can be empty.
/// - `confidence`: `pred.confidence` is a number in [0, 1], or a string that contains one. To measure how well the
///   confidence is calibrated, use the `agree` command.
///
/// This metric uses the formula for `synthesis_metric` in the `dsrs` document. The code in that document counts bytes
/// instead of characters, and accepts any list of files.
///
/// ```
/// use dsrs_metrics::metrics::Synthesis;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! {
///     "success" => "True", "summary" => "Renamed the function", "modified_files" => ["src/lib.rs"],
///     "confidence" => 95,
/// };
/// // 95 is not in [0, 1].
/// assert_eq!(Synthesis::default().score(&example! {}, &pred)?.value, 0.75);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0)]
pub fn synthesis(
    #[pred(missing)] success: Option<&Value>,
    #[pred(missing)] summary: Option<&Value>,
    #[pred(missing)] modified_files: Option<&Value>,
    #[pred(missing)] confidence: Option<&Value>,
    /// The weights of the checks `success`, `summary`, `modified_files` and `confidence`.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// The minimum number of characters in the summary.
    #[param(default = 15)]
    min_summary_chars: u64,
) -> Result<Breakdown, Unscored> {
    let files = json_list("modified_files", modified_files)?;
    let is_name = |file: &Value| {
        ensure(is_nonblank_string(Some(file)), || {
            "expected a non-blank string".to_owned()
        })
    };
    let files = files.and_then(|files| check_each("modified file", &files, is_name));
    let checks = [
        ("success", boolean("success", success)),
        (
            "summary",
            substantive("summary", summary, min_summary_chars),
        ),
        ("modified_files", files),
        (
            "confidence",
            number_in("confidence", confidence, [0.0, 1.0]),
        ),
    ];
    Breakdown::of_checks(weights, checks)
}

/// Scores how well-formed the assessment of a tool call is.
///
/// The metric makes four checks, weighted 0.25 each.
///
/// The score is in [0, 1]. A field that is missing or `null` fails its check.
///
/// - `step_utility`: `pred.step_utility` is a number from `min_utility` to `max_utility`, or a string that contains
///   one.
/// - `should_continue`: `pred.should_continue` is a boolean, or a string that contains one.
/// - `next_action_hint`: `pred.next_action_hint` is a string with at least `min_hint_chars` characters. Characters are
///   counted as in `subtask_execution`.
/// - `confidence`: `pred.confidence` is a number in [0, 1], or a string that contains one.
///
/// This metric uses the formula for `tool_step_utility_metric` in the `dsrs` document.
///
/// By default, the utility is in [0, 1]. If the utility in your rows is in [-1, 1], as in `outcome_coupled`, set
/// `min_utility = -1`.
///
/// ```
/// use dsrs_metrics::metrics::ToolStepUtility;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! {
///     "step_utility" => -0.5, "should_continue" => true, "next_action_hint" => "Read the failing test", "confidence" => 0.7,
/// };
/// assert_eq!(ToolStepUtility::default().score(&example! {}, &pred)?.value, 0.75);
/// let signed = ToolStepUtility::builder().min_utility(-1.0).build();
/// assert_eq!(signed.score(&example! {}, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0)]
#[expect(
    clippy::too_many_arguments,
    reason = "four fields and the parameters of their checks"
)]
pub fn tool_step_utility(
    #[pred(missing)] step_utility: Option<&Value>,
    #[pred(missing)] should_continue: Option<&Value>,
    #[pred(missing)] next_action_hint: Option<&Value>,
    #[pred(missing)] confidence: Option<&Value>,
    /// The weights of the checks `step_utility`, `should_continue`, `next_action_hint` and `confidence`.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// The minimum utility of a step.
    #[param(default = 0.0)]
    min_utility: f64,
    /// The maximum utility of a step.
    #[param(default = 1.0)]
    max_utility: f64,
    /// The minimum number of characters in the hint.
    #[param(default = 6)]
    min_hint_chars: u64,
) -> Result<Breakdown, Unscored> {
    let utility = interval(min_utility, max_utility).map_err(Unscored::Because)?;
    let hint = substantive("next_action_hint", next_action_hint, min_hint_chars);
    let checks = [
        (
            "step_utility",
            number_in("step_utility", step_utility, utility),
        ),
        (
            "should_continue",
            boolean("should_continue", should_continue),
        ),
        ("next_action_hint", hint),
        (
            "confidence",
            number_in("confidence", confidence, [0.0, 1.0]),
        ),
    ];
    Breakdown::of_checks(weights, checks)
}

requires_valid! {
    SubtaskExecution: |metric| check(&metric.weights);
    Synthesis: |metric| check(&metric.weights);
    ToolStepUtility: |metric| check(&metric.weights),
        interval(metric.min_utility, metric.max_utility).map(|_| ());
}

fn interval(min: f64, max: f64) -> Result<[f64; 2], String> {
    // NaN is not a valid bound.
    ensure(min <= max, || {
        format!("expected `min_utility` to be at most `max_utility`, found {min} and {max}")
    })?;
    Ok([min, max])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{length, number_in, substantive};

    #[test]
    fn length_is_in_characters_not_bytes() {
        assert_eq!(
            [length("é"), length("e\u{301}"), length("東京都")],
            [1, 1, 3]
        );
        assert_eq!([length("  a \n b  "), length(" \t"), length("")], [3, 0, 0]);
        // 7 characters, 21 bytes.
        assert!(substantive("reasoning", Some(&json!("東京都港区芝公")), 20).is_err());
    }

    #[test]
    fn the_bounds_are_inclusive_and_other_values_fail() {
        let fits = |value| number_in("x", Some(&value), [0.0, 1.0]) == Ok(());
        assert!(fits(json!(0)) && fits(json!(1.0)) && fits(json!(" 0.5 ")));
        assert!(!fits(json!(-0.001)) && !fits(json!(1.001)) && !fits(json!(true)));
        assert!(!fits(json!("NaN")) && !fits(json!("inf")) && !fits(json!("high")));
    }
}
