//! Reads calls and the steps of a trace.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use serde_json::{Map, Value};

use super::fields::{IDS, Part, is_empty, parsed, part_of, plain, position, required, unexpected};
use crate::json::found;
use crate::messages::escape::name;
use crate::trajectory::{Message, Role, ToolCall};

/// The parts of a call, each with the key that it was read from.
#[derive(Default)]
struct Parts {
    name: Option<(String, Value)>,
    args: Option<(String, Value)>,
    result: Option<(String, Value)>,
    id: Option<String>,
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
    let mut call = ToolCall {
        id: parts.id,
        failed: parts.failed,
        result: parts.result.map(|(_, result)| result),
        ..ToolCall::new(tool)
    };
    let args = parts.args.map(|(_, args)| as_args(args));
    if let Some(args) = parts.args_error.or(args) {
        call.args = args;
    }
    Ok(call)
}

impl Parts {
    fn add(&mut self, object: Map<String, Value>) -> Result<(), String> {
        self.failed |= has_failed(&object);
        self.id = self.id.take().or(id(&object, IDS)?);
        let mut keys: Vec<(String, Value)> = object.into_iter().collect();
        // The first mistake does not depend on the order of keys.
        keys.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        for (key, value) in keys {
            match part_of(&key) {
                Some(Part::Result) if !value.is_null() => set(&mut self.result, key, value)?,
                Some(Part::Name) if !value.is_null() => set(&mut self.name, key, value)?,
                _ if is_empty(&value) => {}
                Some(Part::Inner) => match value {
                    Value::Object(inner) => self.add(inner)?,
                    value => set(&mut self.name, key, value)?,
                },
                Some(Part::Args) => set(&mut self.args, key, value)?,
                Some(Part::ArgsError) => self.args_error = Some(value),
                Some(Part::Name | Part::Result | Part::Ignored) => {}
                None => drop(self.unknown.get_or_insert((key, value))),
            }
        }
        Ok(())
    }
}

/// Sets a part of a call, or returns an error if a different key has already set it to a different value.
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

/// Returns arguments, which a format may write as a JSON string. Anything that is not an object is left as the model
/// wrote it, and equals no arguments.
fn as_args(args: Value) -> Value {
    match args {
        Value::String(json) => parsed(&json)
            .ok()
            .filter(Value::is_object)
            .unwrap_or(Value::String(json)),
        args => args,
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

/// Reads the id under the first of these keys that has one.
pub(super) fn id(object: &Map<String, Value>, keys: &str) -> Result<Option<String>, String> {
    let present = object.iter().filter(|(_, id)| !is_empty(id));
    let present = present.filter_map(|(key, id)| Some((position(keys, key)?, key, id)));
    match present.min_by_key(|it| it.0) {
        None => Ok(None),
        Some((_, _, Value::String(id))) => Ok(Some(id.clone())),
        // Some programs use numbers as ids.
        Some((_, _, Value::Number(id))) => Ok(Some(id.to_string())),
        Some((_, key, other)) => Err(unexpected(key, "a string", other)),
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

/// Messages, and their calls that have no result yet.
#[derive(Default)]
pub(super) struct Results {
    pub(super) messages: Vec<Message>,
    /// The place of the last call with each id. Some providers reuse an id in a later message.
    by_id: HashMap<String, (usize, usize), RandomState>,
    /// The last message with calls, and the places of its calls without a result.
    last: (usize, BTreeSet<usize>),
}

/// A result as it appears in a message.
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
        if !message.tool_calls.is_empty() {
            self.last = (number, (0..message.tool_calls.len()).collect());
        }
        for (at, call) in message.tool_calls.iter().enumerate() {
            let id = call.id.iter().cloned();
            self.by_id.extend(id.map(|id| (id, (number, at))));
        }
        self.messages.push(message);
    }

    /// Adds a result to its call, and adds a tool message with the result's text.
    pub(super) fn add(&mut self, result: CallResult) -> Result<(), String> {
        let CallResult { id, result, failed } = result;
        let place = match &id {
            Some(id) => Some(self.by_id.remove(id).ok_or_else(|| {
                let id = name(id);
                format!("no earlier call without a result has the id `{id}`; write the id of such a call")
            })?),
            None => self.last.1.pop_first().map(|at| (self.last.0, at)),
        };
        let text = match &result {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        if let Some((message, at)) = place {
            if message == self.last.0 {
                self.last.1.remove(&at);
            }
            let call = &mut self.messages[message].tool_calls[at];
            // A result in the call itself is not replaced by the text of a message.
            call.result.get_or_insert(result);
            call.failed |= failed;
        }
        self.push(Message {
            tool_call_id: id,
            ..Message::new(Role::Tool, text)
        });
        Ok(())
    }
}
