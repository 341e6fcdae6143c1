//! Whether what an agent replies after acting has its form: the result of a subtask, a synthesis, what a tool call was worth.

use serde_json::Value;

use super::checks::{
    Given, boolean, first_fault, is_said, missing, number_in, one_of, substantive,
};
use crate::core::requirements::{Requirement, Requires};
use crate::core::weights::Weights;
use crate::metric;
use crate::metrics::breakdown::{Breakdown, need_weights};
use crate::metrics::check::Unscored;

/// Whether the result of a subtask has its form: three checks, 33, 33 and 34 hundredths.
///
/// In [0, 1]. A field that is missing or `null` fails its check; a row with neither is an error.
///
/// - `result`: `pred.result` is JSON, as a value or as a text that holds it;
/// - `edit_or_command`: it has the texts `old_string` and `new_string`, which differ, or a `command` that is not blank, or is itself a text, what a
///   reading subtask has read;
/// - `reasoning`: `pred.reasoning` is a text of at least `min_reasoning_chars` characters with a letter or digit among them. Characters
///   are counted in NFC, a run of white space between words as one.
///
/// The formula is that of the `dsrs` document, `subtask_execution_metric`, whose project counts bytes. JSON nested deeper than 127
/// levels is an error.
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
    #[pred] result: Option<&Value>,
    #[pred] reasoning: Option<&Value>,
    /// How much each check counts: result, edit_or_command, reasoning.
    #[param(default = [0.33, 0.33, 0.34])]
    weights: [f64; 3],
    /// Fewest characters of the reasoning.
    #[param(default = 20)]
    min_reasoning_chars: u64,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    one_of([("result", result), ("reasoning", reasoning)])?;
    let reasoning = substantive("reasoning", reasoning, min_reasoning_chars);
    let failed = |reason: Option<String>| (if reason.is_none() { 1.0 } else { 0.0 }, reason);
    let (result, change) = match result.map(|result| Given::read("result", result)).transpose()? {
        None => ((0.0, Some(missing("result"))), (0.0, None)),
        Some(Given::Text(reason)) => ((0.0, Some(reason)), (0.0, None)),
        Some(Given::Json(result)) => ((1.0, None), failed(no_change(&result))),
    };
    let reasoning = failed(reasoning);
    Ok(Breakdown::new(
        weights,
        [("result", result), ("edit_or_command", change), ("reasoning", reasoning)],
    ))
}

impl Requires for SubtaskExecution {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        need_weights(Self::SPEC.name, &self.weights, all);
    }
}

fn no_change(result: &Value) -> Option<String> {
    if is_said(Some(result)) || is_said(result.get("command")) {
        return None;
    }
    let text = |field| result.get(field).and_then(Value::as_str);
    match (text("old_string"), text("new_string")) {
        (Some(old), Some(new)) if old != new => None,
        (Some(_), Some(_)) => Some("`old_string` and `new_string` are the same".to_owned()),
        _ => Some("`result` has neither `old_string` and `new_string` nor a `command`".to_owned()),
    }
}

/// Whether the synthesis of a task has its form: four checks, a quarter each.
///
/// In [0, 1]. A field that is missing or `null` fails its check; a row with none of the four is an error.
///
/// - `success`: `pred.success` is a boolean, or a text that says one;
/// - `summary`: `pred.summary` is a text of at least `min_summary_chars` characters, counted as by `subtask_execution`;
/// - `modified_files`: `pred.modified_files` is a list of names, none of them blank, or a text that holds one as JSON. It may be empty;
/// - `confidence`: `pred.confidence` is a number in [0, 1], or a text that says one. Whether it is calibrated, that is, right as often as
///   it says, no single row can show; `agree` measures that.
///
/// The formula is that of the `dsrs` document, `synthesis_metric`, whose project counts bytes and takes a list of anything for
/// files.
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
/// // 95 is no number in [0, 1].
/// assert_eq!(Synthesis::default().score(&example! {}, &pred)?.value, 0.75);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0)]
pub fn synthesis(
    #[pred] success: Option<&Value>,
    #[pred] summary: Option<&Value>,
    #[pred] modified_files: Option<&Value>,
    #[pred] confidence: Option<&Value>,
    /// How much each check counts: success, summary, modified_files, confidence.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// Fewest characters of the summary.
    #[param(default = 15)]
    min_summary_chars: u64,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    one_of([
        ("success", success),
        ("summary", summary),
        ("modified_files", modified_files),
        ("confidence", confidence),
    ])?;
    Ok(Breakdown::of_checks(
        weights,
        [
            ("success", boolean("success", success)),
            ("summary", substantive("summary", summary, min_summary_chars)),
            ("modified_files", no_files(modified_files)?),
            ("confidence", number_in("confidence", confidence, [0.0, 1.0])),
        ],
    ))
}

impl Requires for Synthesis {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        need_weights(Self::SPEC.name, &self.weights, all);
    }
}

fn no_files(files: Option<&Value>) -> Result<Option<String>, Unscored> {
    let Some(files) = files else {
        return Ok(Some(missing("modified_files")));
    };
    let fault = match Given::read("modified_files", files)? {
        Given::Text(reason) => Some(reason),
        Given::Json(files) => match files.as_array() {
            None => Some("`modified_files` is no list".to_owned()),
            Some(files) => first_fault("modified file", files, |file| {
                (!is_said(Some(file))).then(|| "it is no name".to_owned())
            }),
        },
    };
    Ok(fault)
}

/// Whether what is said of a tool call's use has its form: four checks, a quarter each.
///
/// In [0, 1]. A field that is missing or `null` fails its check; a row with none of the four is an error.
///
/// - `step_utility`: `pred.step_utility` is a number from `min_utility` to `max_utility`, or a text that says one;
/// - `should_continue`: `pred.should_continue` is a boolean, or a text that says one;
/// - `next_action_hint`: `pred.next_action_hint` is a text of at least `min_hint_chars` characters, counted as by `subtask_execution`;
/// - `confidence`: `pred.confidence` is a number in [0, 1], or a text that says one.
///
/// The formula is that of the `dsrs` document, `tool_step_utility_metric`. There a utility lies in [0, 1] here and in [-1, 1] where
/// `outcome_coupled` reads it; rows of that kind take `min_utility = -1`.
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
#[expect(clippy::too_many_arguments, reason = "four fields, and what is expected of them")]
pub fn tool_step_utility(
    #[pred] step_utility: Option<&Value>,
    #[pred] should_continue: Option<&Value>,
    #[pred] next_action_hint: Option<&Value>,
    #[pred] confidence: Option<&Value>,
    /// How much each check counts: step_utility, should_continue, next_action_hint, confidence.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// The least utility that a step may have.
    #[param(default = 0.0)]
    min_utility: f64,
    /// The greatest.
    #[param(default = 1.0)]
    max_utility: f64,
    /// Fewest characters of the hint.
    #[param(default = 6)]
    min_hint_chars: u64,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    one_of([
        ("step_utility", step_utility),
        ("should_continue", should_continue),
        ("next_action_hint", next_action_hint),
        ("confidence", confidence),
    ])?;
    let utility = bounds(min_utility, max_utility).map_err(Unscored::Because)?;
    Ok(Breakdown::of_checks(
        weights,
        [
            ("step_utility", number_in("step_utility", step_utility, utility)),
            ("should_continue", boolean("should_continue", should_continue)),
            ("next_action_hint", substantive("next_action_hint", next_action_hint, min_hint_chars)),
            ("confidence", number_in("confidence", confidence, [0.0, 1.0])),
        ],
    ))
}

impl Requires for ToolStepUtility {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let name = Self::SPEC.name;
        need_weights(name, &self.weights, all);
        let bounds = bounds(self.min_utility, self.max_utility);
        all.extend(bounds.err().map(|reason| Requirement::missing(name, reason)));
    }
}

fn bounds(min: f64, max: f64) -> Result<[f64; 2], String> {
    let is_range = min <= max;
    is_range.then_some([min, max]).ok_or_else(|| format!("no utility lies in {min}..={max}"))
}
