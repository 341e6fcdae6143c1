//! Calls in the forms of OpenAI, Anthropic, ATIF, ragas and deepeval, and the steps of a trace.

use serde_json::{Map, Value};

use super::json_string::parsed;
use crate::json::describe::found;
use crate::messages::escape::name;
use crate::trajectory::message::ToolCall;

/// The keys that the formats have for arguments.
const ARGS: [&str; 4] = ["args", "arguments", "input_parameters", "input"];

/// Keys that are not one of [`ARGS`], although they name arguments.
const MISNAMED: [&str; 5] = ["params", "parameters", "kwargs", "tool_args", "tool_input"];

/// Reads one call, with `function` inside or not.
pub(super) fn read(mut object: Map<String, Value>) -> Result<ToolCall, String> {
    let id = id(&mut object, &["id", "tool_call_id"])?;
    let failed = has_failed(&object);
    let result = ["result", "output"].iter().find_map(|key| object.remove(*key));
    let mut named = match object.remove("function") {
        None => object,
        Some(Value::Object(function)) => function,
        Some(other) => {
            return Err(format!("`function`: expected an object, found {}", found(&other)));
        }
    };
    let tool = match named.remove("name").or_else(|| named.remove("function_name")) {
        Some(Value::String(tool)) => tool,
        Some(other) => return Err(format!("`name`: expected a string, found {}", found(&other))),
        None => return Err("a call without `name`; write the name of the tool".to_owned()),
    };
    let args = args(&mut named).map_err(|reason| format!("call of `{}`: {reason}", name(&tool)))?;
    Ok(ToolCall {
        id,
        args,
        result: result.filter(|it| !it.is_null()),
        failed,
        ..ToolCall::new(tool)
    })
}

/// Reads a step of a trace as a call of its predictor.
pub(super) fn of_step(mut step: Map<String, Value>) -> Result<ToolCall, String> {
    let predictor = match step.remove("predictor") {
        Some(Value::String(predictor)) => predictor,
        other => {
            let found = found(&other.unwrap_or_default());
            return Err(format!("`predictor`: expected a string, found {found}"));
        }
    };
    let mut part = |key: &str| match step.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(fields @ Value::Object(_)) => Ok(Some(fields)),
        Some(other) => Err(format!("`{key}`: expected an object, found {}", found(&other))),
    };
    let (inputs, outputs) = (part("inputs")?, part("outputs")?);
    let call = ToolCall::new(predictor);
    Ok(ToolCall { args: inputs.unwrap_or_else(|| call.args.clone()), result: outputs, ..call })
}

/// Removes the arguments; `{}` if there are none. A string contains JSON.
fn args(object: &mut Map<String, Value>) -> Result<Value, String> {
    let mut keys = ARGS.into_iter().filter(|key| object.contains_key(*key));
    let (first, second) = (keys.next(), keys.next());
    let misnamed = MISNAMED.into_iter().find(|key| object.contains_key(*key));
    let Some(key) = first else {
        return match misnamed {
            Some(key) => Err(format!("unknown key `{key}`; write `args`")),
            None => Ok(Value::Object(Map::new())),
        };
    };
    if let Some(second) = second {
        return Err(format!("both `{key}` and `{second}`; remove one"));
    }
    match object.remove(key) {
        None | Some(Value::Null) => Ok(Value::Object(Map::new())),
        // Models write no arguments as an empty string.
        Some(Value::String(json)) if json.trim().is_empty() => Ok(Value::Object(Map::new())),
        Some(Value::String(json)) => parsed(&json).map_err(|reason| {
            format!("`{key}` is not JSON: {reason}; write an object such as {{\"city\": \"Rome\"}}")
        }),
        Some(value) => Ok(value),
    }
}

/// Removes an id, under the first of these keys that is present. An empty id is none.
pub(super) fn id(object: &mut Map<String, Value>, keys: &[&str]) -> Result<Option<String>, String> {
    let present = keys.iter().find_map(|key| object.remove(*key).map(|value| (key, value)));
    match present {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(id))) => Ok(Some(id).filter(|id| !id.is_empty())),
        // Some programs count their calls.
        Some((_, Value::Number(id))) => Ok(Some(id.to_string())),
        Some((key, other)) => Err(format!("`{key}`: expected a string, found {}", found(&other))),
    }
}

/// Returns whether an object says that its call failed.
pub(super) fn has_failed(object: &Map<String, Value>) -> bool {
    let is = |key: &str, failed: fn(&Value) -> bool| object.get(key).is_some_and(failed);
    let is_true = |value: &Value| *value == Value::Bool(true);
    is("is_error", is_true)
        || is("failed", is_true)
        || is("status", |status| status == "error")
        || is("error", |error| !matches!(error, Value::Null | Value::Bool(false)) && error != "")
}
