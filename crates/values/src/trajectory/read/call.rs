//! Calls, and the steps of a trace.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use serde_json::{Map, Value};

use super::fields::{Part, is_empty, parsed, part_of, plain, position, required, unexpected};
use crate::json::found;
use crate::messages::escape::name;
use crate::trajectory::{Message, Role, ToolCall};

/// The parts of a call, each with the key that it was read from.
#[derive(Default)]
struct Parts {
    name: Option<(String, Value)>,
    args: Option<(String, Value)>,
    result: Option<(String, Value)>,
    /// The position of the key comes first.
    id: Option<(usize, String, Value)>,
    args_error: Option<Value>,
    failed: bool,
    unknown: Option<(String, Value)>,
}

/// Reads one call.
pub(super) fn read(object: Map<String, Value>) -> Result<ToolCall, String> {
    let mut parts = Parts::default();
    parts.add(object)?;
    let tool = match parts.name {
        Some((_, Value::String(tool))) => tool,
        Some((key, other)) => return Err(unexpected(&key, "a string", &other)),
        None => return Err("a call without `name`; add the name of the tool".to_owned()),
    };
    if let Some((key, value)) = parts.unknown {
        return Err(format!(
            "call of `{}`: expected `name`, `args`, `id`, `result`, `failed` or another system's name for one of them, found `{}` \
             with {}; write arguments as `args`, and remove anything that is not part of the call",
            name(&tool),
            name(&key),
            found(&value)
        ));
    }
    let id = parts.id.map(|(_, key, id)| id_of(&key, id));
    let mut call = ToolCall {
        id: id.transpose()?.flatten(),
        failed: parts.failed,
        ..ToolCall::new(tool)
    };
    call.result = parts.result.map(|(_, result)| result);
    match (parts.args_error, parts.args) {
        (Some(error), _) => call.args = error,
        (None, Some((key, args))) => {
            let too_large = |limit| format!("call of `{}`: `{key}`: {limit}", name(&call.name));
            call.args = as_args(args).map_err(too_large)?;
        }
        (None, None) => {}
    }
    Ok(call)
}

impl Parts {
    fn add(&mut self, object: Map<String, Value>) -> Result<(), String> {
        self.failed |= has_failed(&object);
        let mut keys: Vec<(String, Value)> = object.into_iter().collect();
        // The first mistake does not depend on the order of keys.
        keys.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        for (key, value) in keys {
            match part_of(&key) {
                Some((Part::Result, _)) if !value.is_null() => set(&mut self.result, key, value)?,
                Some((Part::Name, _)) if !value.is_null() => set(&mut self.name, key, value)?,
                _ if is_empty(&value) => {}
                Some((Part::Inner, _)) => match value {
                    Value::Object(inner) => self.add(inner)?,
                    value => set(&mut self.name, key, value)?,
                },
                Some((Part::Args, _)) => set(&mut self.args, key, value)?,
                Some((Part::Id, position)) => {
                    if self.id.as_ref().is_none_or(|(first, ..)| position < *first) {
                        self.id = Some((position, key, value));
                    }
                }
                Some((Part::ArgsError, _)) => self.args_error = Some(value),
                Some((Part::Name | Part::Result | Part::Ignored, _)) => {}
                None => drop(self.unknown.get_or_insert((key, value))),
            }
        }
        Ok(())
    }
}

/// Sets a part of a call, unless it has another value under another key.
fn set(part: &mut Option<(String, Value)>, key: String, value: Value) -> Result<(), String> {
    match part {
        Some((first, other)) if *other != value => {
            let (first, key) = (name(first), name(&key));
            Err(format!(
                "expected one value, found different ones in `{first}` and `{key}`; remove one"
            ))
        }
        Some(_) => Ok(()),
        None => {
            *part = Some((key, value));
            Ok(())
        }
    }
}

/// Returns arguments that a format may have as a string of JSON. What is not an object remains as it is: the model wrote it, and it
/// equals no arguments.
///
/// # Errors
/// The string exceeds a limit of this library, which is not the model's fault.
fn as_args(args: Value) -> Result<Value, String> {
    match args {
        Value::String(json) => match parsed(&json) {
            Ok(args @ Value::Object(_)) => Ok(args),
            Err(limit)
                if ["it has more", "recursion limit"]
                    .iter()
                    .any(|it| limit.starts_with(it)) =>
            {
                Err(limit)
            }
            _ => Ok(Value::String(json)),
        },
        args => Ok(args),
    }
}

/// Returns why arguments are not an object.
pub(in crate::trajectory) fn args_error(args: &Value) -> Option<String> {
    match args {
        Value::Object(_) => None,
        Value::String(json) => match parsed(json) {
            Ok(other) => Some(format!("not an object: found {}", found(&other))),
            Err(reason) => Some(format!("not JSON: {reason}")),
        },
        other => Some(format!("not an object: found {}", found(other))),
    }
}

/// Reads a step of a trace as a call of its predictor.
pub(super) fn of_step(mut step: Map<String, Value>) -> Result<ToolCall, String> {
    let call = ToolCall::new(required(&step, "predictor")?);
    let mut part = |key: &str| match step.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(fields @ Value::Object(_)) => Ok(Some(fields)),
        Some(other) => Err(unexpected(key, "an object", &other)),
    };
    let (inputs, outputs) = (part("inputs")?, part("outputs")?);
    Ok(ToolCall {
        args: inputs.unwrap_or_else(|| call.args.clone()),
        result: outputs,
        ..call
    })
}

/// Removes an id, under the first of these keys that is present. An empty id is none.
pub(super) fn id(object: &mut Map<String, Value>, keys: &str) -> Result<Option<String>, String> {
    let present = object.keys();
    let present = present.filter_map(|key| Some((position(keys, key)?, key.clone())));
    let Some((_, key)) = present.min() else {
        return Ok(None);
    };
    let id = object.remove(&key).unwrap_or_default();
    id_of(&key, id)
}

fn id_of(key: &str, id: Value) -> Result<Option<String>, String> {
    match id {
        Value::Null => Ok(None),
        Value::String(id) => Ok(Some(id).filter(|id| !id.is_empty())),
        // Some programs count their calls.
        Value::Number(id) => Ok(Some(id.to_string())),
        other => Err(unexpected(key, "a string", &other)),
    }
}

/// Returns `true` if an object says that its call failed.
pub(super) fn has_failed(object: &Map<String, Value>) -> bool {
    object.iter().any(|(key, value)| match &*plain(key) {
        "iserror" | "failed" => *value == Value::Bool(true),
        "success" => *value == Value::Bool(false),
        "status" => value == "error",
        "error" | "errortext" => !is_empty(value) && *value != Value::Bool(false),
        _ => false,
    })
}

/// Messages, and their calls by id.
#[derive(Default)]
pub(super) struct Results {
    pub(super) messages: Vec<Message>,
    /// The last message with calls of an id, or with calls at all, and those of its calls that have no result yet. Some
    /// providers use an id again in a later message.
    open: HashMap<Option<String>, (usize, BTreeSet<usize>), RandomState>,
}

/// A result as a message has it.
pub(super) struct CallResult {
    /// The id of the call, unless the format has none.
    pub(super) id: Option<String>,
    pub(super) result: Value,
    pub(super) failed: bool,
}

impl Results {
    pub(super) fn with_capacity(messages: usize) -> Self {
        Self {
            messages: Vec::with_capacity(messages),
            ..Self::default()
        }
    }

    /// Adds a message and its calls.
    pub(super) fn push(&mut self, message: Message) {
        let number = self.messages.len();
        for (at, call) in message.tool_calls.iter().enumerate() {
            for id in [None, call.id.clone()] {
                let open = self.open.entry(id).or_default();
                if open.0 != number {
                    *open = (number, BTreeSet::new());
                }
                open.1.insert(at);
            }
        }
        self.messages.push(message);
    }

    /// Adds a result to its call, and a message of the tool with the text of the result.
    pub(super) fn add(&mut self, result: CallResult) -> Result<(), String> {
        let CallResult { id, result, failed } = result;
        let open = self.open.get_mut(&id);
        let is_known = open.is_some();
        let place = open.and_then(|(message, open)| Some((*message, open.pop_first()?)));
        if let (Some(id), None) = (&id, place) {
            let id = name(id);
            return Err(match is_known {
                true => format!("duplicate result for the id `{id}`; write the id of another call"),
                false => {
                    format!("no earlier call has the id `{id}`; write the id of an earlier call")
                }
            });
        }
        let text = match &result {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        if let Some((message, at)) = place {
            if let Some((last, open)) = self.open.get_mut(&None)
                && *last == message
            {
                open.remove(&at);
            }
            if let Some(call) = self.messages[message].tool_calls.get_mut(at) {
                // A result in the call itself is not replaced by the text of a message.
                call.result.get_or_insert(result);
                call.failed |= failed;
            }
        }
        self.push(Message {
            tool_call_id: id,
            ..Message::new(Role::Tool, text)
        });
        Ok(())
    }
}
