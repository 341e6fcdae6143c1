//! The steps of a program: a [`Trace`] as the named values of dspy-rs's `ExecutionTrace`, and back.

use dsrs_metrics::{
    Example, Prediction,
    rows::{Trace, TraceStep},
};
use serde_json::{Map, Value};

const INPUTS: &str = "inputs";
const OUTPUTS: &str = "outputs";
/// The field that has the value of a step without inputs.
const OUTPUT: &str = "output";

/// Returns the steps of dspy-rs's `ExecutionTrace::intermediate_steps` as a trace.
///
/// An object `{"inputs": {..}, "outputs": {..}}` is a step with both. Any other value is a step without inputs, whose only
/// output is the field `output`. [`trace_into_steps`] returns the same steps again.
///
/// ```
/// use dsrs_metrics_dspy_rs::{trace_from_steps, trace_into_steps};
/// use serde_json::json;
///
/// let search = json!({ "inputs": { "query": "capital of France" }, "outputs": { "passages": ["Paris"] } });
/// let steps = vec![("search".to_owned(), search), ("count".to_owned(), json!(1))];
/// let trace = trace_from_steps(steps.clone());
/// assert_eq!(trace.steps[0].inputs.get("query").unwrap(), "capital of France");
/// assert_eq!(trace.steps[1].outputs.get("output").unwrap(), 1);
/// assert_eq!(trace_into_steps(trace), steps);
/// ```
#[must_use]
pub fn trace_from_steps(steps: Vec<(String, Value)>) -> Trace {
    let step = |(predictor, value)| step_from_value(predictor, value);
    Trace {
        steps: steps.into_iter().map(step).collect(),
    }
}

/// Returns a trace as the steps of dspy-rs's `ExecutionTrace::intermediate_steps`: the inverse of [`trace_from_steps`].
#[must_use]
pub fn trace_into_steps(trace: Trace) -> Vec<(String, Value)> {
    trace.steps.into_iter().map(step_into_value).collect()
}

/// Returns one step of a trace; see [`trace_from_steps`].
#[must_use]
pub fn step_from_value(predictor: String, value: Value) -> TraceStep {
    let fields = |value: Value| match value {
        Value::Object(fields) => fields.into_iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    match value {
        Value::Object(mut parts) if has_both_parts(&parts) => {
            let inputs: Example = fields(parts[INPUTS].take()).into_iter().collect();
            let outputs: Prediction = fields(parts[OUTPUTS].take()).into_iter().collect();
            TraceStep {
                predictor,
                inputs,
                outputs,
            }
        }
        value => {
            let outputs = Prediction::from_iter([(OUTPUT, value)]);
            TraceStep {
                predictor,
                inputs: Example::default(),
                outputs,
            }
        }
    }
}

/// Returns one step as a named value; see [`trace_into_steps`].
#[must_use]
pub fn step_into_value(step: TraceStep) -> (String, Value) {
    let TraceStep {
        predictor,
        inputs,
        mut outputs,
    } = step;
    let is_plain = inputs.data.is_empty() && outputs.data.len() == 1;
    let plain = is_plain.then(|| outputs.get(OUTPUT)).flatten();
    if plain.is_some_and(|value| !is_whole_step(value)) {
        return (predictor, outputs.data.remove(OUTPUT).unwrap_or_default());
    }
    let inputs: Map<_, _> = inputs.data.into_iter().collect();
    let outputs: Map<_, _> = outputs.data.into_iter().collect();
    let parts = [
        (INPUTS.to_owned(), inputs.into()),
        (OUTPUTS.to_owned(), outputs.into()),
    ];
    (predictor, Value::Object(parts.into_iter().collect()))
}

fn is_whole_step(value: &Value) -> bool {
    value.as_object().is_some_and(has_both_parts)
}

/// Returns `true` if an object is a step with inputs and outputs.
///
/// A step that could be written as a plain value is not, so that each step has one form and each value is one step.
fn has_both_parts(parts: &Map<String, Value>) -> bool {
    let [Some(inputs), Some(outputs)] = [INPUTS, OUTPUTS].map(|part| parts.get(part)?.as_object())
    else {
        return false;
    };
    if parts.len() != 2 {
        return false;
    }
    match outputs
        .get(OUTPUT)
        .filter(|_| inputs.is_empty() && outputs.len() == 1)
    {
        Some(plain) => is_whole_step(plain),
        None => true,
    }
}
