//! The form of an agent's replies: the result of a subtask, a synthesis, and the utility of a tool
//! call.

use serde_json::Value;

use super::checks::{
    JsonField, boolean, first_failure, is_nonblank_string, missing, number_in, substantive,
};
use crate::core::declared::requirements::{Requirement, Requires};
use crate::core::score::check::Unscored;
use crate::core::weights::{Weights, check};
use crate::metric;
use crate::metrics::breakdown::Breakdown;

/// Whether the result of a subtask is well-formed: three checks, weighted 0.33, 0.33 and 0.34.
///
/// In [0, 1]. A field that is missing or `null` fails its check.
///
/// - `result`: `pred.result` is a JSON value, or a string that contains one;
/// - `edit_or_command`: the result has the different strings `old_string` and `new_string`, or a
///   `command` that is not blank, or is itself a non-blank string (the content that a `read`
///   subtask returns);
/// - `reasoning`: `pred.reasoning` is a string of at least `min_reasoning_chars` characters that
///   contains a letter or digit. Characters are counted in NFC, a run of white space between words
///   as one.
///
/// The formula is `subtask_execution_metric` of the `dsrs` document, whose implementation counts
/// bytes. JSON nested deeper than 127 levels is an error.
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
    /// The weights of the checks: result, edit_or_command, reasoning.
    #[param(default = [0.33, 0.33, 0.34])]
    weights: [f64; 3],
    /// The minimum number of characters of the reasoning.
    #[param(default = 20)]
    min_reasoning_chars: u64,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    let reasoning = substantive("reasoning", reasoning, min_reasoning_chars);
    let score = |reason: Option<String>| (if reason.is_none() { 1.0 } else { 0.0 }, reason);
    let (result, change) = match result
        .map(|result| JsonField::parse("result", result))
        .transpose()?
    {
        None => ((0.0, Some(missing("result"))), (0.0, None)),
        Some(JsonField::Invalid(reason)) => ((0.0, Some(reason)), (0.0, None)),
        Some(JsonField::Valid(result)) => ((1.0, None), score(no_edit_or_command(&result))),
    };
    let reasoning = score(reasoning);
    Ok(Breakdown::new(
        weights,
        [
            ("result", result),
            ("edit_or_command", change),
            ("reasoning", reasoning),
        ],
    ))
}

requires_valid! {
    SubtaskExecution: |metric| check(&metric.weights);
}

fn no_edit_or_command(result: &Value) -> Option<String> {
    if is_nonblank_string(Some(result)) || is_nonblank_string(result.get("command")) {
        return None;
    }
    let text = |field| result.get(field).and_then(Value::as_str);
    match (text("old_string"), text("new_string")) {
        (Some(old), Some(new)) if old != new => None,
        (Some(_), Some(_)) => Some("`old_string` and `new_string` are equal".to_owned()),
        _ => Some("`result` has neither `old_string` and `new_string` nor a `command`".to_owned()),
    }
}

/// Whether the synthesis of a task is well-formed: four checks, weighted 0.25 each.
///
/// In [0, 1]. A field that is missing or `null` fails its check.
///
/// - `success`: `pred.success` is a boolean, or a string with one;
/// - `summary`: `pred.summary` is a string of at least `min_summary_chars` characters, counted as
///   in `subtask_execution`;
/// - `modified_files`: `pred.modified_files` is a list of non-blank strings, or a string that
///   contains one as JSON. It may be empty;
/// - `confidence`: `pred.confidence` is a number in [0, 1], or a string with one. Its calibration
///   cannot be measured on a single row; the command `agree` measures it.
///
/// The formula is `synthesis_metric` of the `dsrs` document, whose implementation counts bytes and
/// accepts any list of files.
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
    /// The weights of the checks: success, summary, modified_files, confidence.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// The minimum number of characters of the summary.
    #[param(default = 15)]
    min_summary_chars: u64,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    Ok(Breakdown::of_checks(
        weights,
        [
            ("success", boolean("success", success)),
            (
                "summary",
                substantive("summary", summary, min_summary_chars),
            ),
            ("modified_files", invalid_files(modified_files)?),
            (
                "confidence",
                number_in("confidence", confidence, [0.0, 1.0]),
            ),
        ],
    ))
}

requires_valid! {
    Synthesis: |metric| check(&metric.weights);
}

fn invalid_files(files: Option<&Value>) -> Result<Option<String>, Unscored> {
    let Some(files) = files else {
        return Ok(Some(missing("modified_files")));
    };
    let failure = match JsonField::parse("modified_files", files)? {
        JsonField::Invalid(reason) => Some(reason),
        JsonField::Valid(files) => match files.as_array() {
            None => Some("`modified_files` is not a list".to_owned()),
            Some(files) => first_failure("modified file", files, |file| {
                (!is_nonblank_string(Some(file))).then(|| "expected a non-blank string".to_owned())
            }),
        },
    };
    Ok(failure)
}

/// Whether the assessment of a tool call is well-formed: four checks, weighted 0.25 each.
///
/// In [0, 1]. A field that is missing or `null` fails its check.
///
/// - `step_utility`: `pred.step_utility` is a number from `min_utility` to `max_utility`, or a
///   string with one;
/// - `should_continue`: `pred.should_continue` is a boolean, or a string with one;
/// - `next_action_hint`: `pred.next_action_hint` is a string of at least `min_hint_chars`
///   characters, counted as in `subtask_execution`;
/// - `confidence`: `pred.confidence` is a number in [0, 1], or a string with one.
///
/// The formula is `tool_step_utility_metric` of the `dsrs` document, in which the utility is in [0,
/// 1]. For rows in which it is in [-1, 1], as `outcome_coupled` reads it, set `min_utility = -1`.
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
    /// The weights of the checks: step_utility, should_continue, next_action_hint, confidence.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// The minimum utility of a step.
    #[param(default = 0.0)]
    min_utility: f64,
    /// The maximum utility of a step.
    #[param(default = 1.0)]
    max_utility: f64,
    /// The minimum number of characters of the hint.
    #[param(default = 6)]
    min_hint_chars: u64,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    let utility = interval(min_utility, max_utility).map_err(Unscored::Because)?;
    Ok(Breakdown::of_checks(
        weights,
        [
            (
                "step_utility",
                number_in("step_utility", step_utility, utility),
            ),
            (
                "should_continue",
                boolean("should_continue", should_continue),
            ),
            (
                "next_action_hint",
                substantive("next_action_hint", next_action_hint, min_hint_chars),
            ),
            (
                "confidence",
                number_in("confidence", confidence, [0.0, 1.0]),
            ),
        ],
    ))
}

impl Requires for ToolStepUtility {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let name = Self::SPEC.name;
        all.extend(Requirement::unless(name, check(&self.weights)));
        let utility = interval(self.min_utility, self.max_utility);
        all.extend(Requirement::unless(name, utility.map(|_| ())));
    }
}

fn interval(min: f64, max: f64) -> Result<[f64; 2], String> {
    // NaN is not a bound.
    let is_interval = min <= max;
    is_interval.then_some([min, max]).ok_or_else(|| {
        format!("`min_utility` must not exceed `max_utility`, found {min} and {max}")
    })
}
