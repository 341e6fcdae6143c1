//! Reads trajectories from JSON: detects the form of a value, and reads its items one after another.

mod atif;
mod call;
mod content;
mod error;
mod json_string;
mod keys;
mod messages;
mod results;
mod subagents;
mod usage;

use serde_json::{Map, Value};

use super::message::{Message, TokenUsage, ToolCall};
use super::subagent::Subagent;
use crate::json::describe::found;
use crate::messages::escape::names;

pub(super) use call::args_error;
pub use error::TrajectoryError;
use error::whole;
use json_string::parsed;
use keys::{Block, Part, block_of, is_empty, part_of, position};
use results::Results;

/// The messages of a trajectory, the tokens of all of them if the format has them, and the subagents.
pub(super) type Parts = (Vec<Message>, Option<TokenUsage>, Vec<Subagent>);

/// Reads a trajectory in any form. A list of strings has the names of tools if `has_names` says so.
pub(super) fn read(value: Value, has_names: bool) -> Result<Parts, TrajectoryError> {
    match value {
        Value::String(json) => match parsed(&json) {
            Ok(Value::String(_)) => Err(TrajectoryError::Form {
                found: "a string".to_owned(),
            }),
            Ok(value) => read(value, has_names),
            Err(reason) => Err(TrajectoryError::NotJson { reason }),
        },
        Value::Array(items) => read_list(items, has_names),
        Value::Object(object) => read_object(object),
        other => Err(TrajectoryError::Form {
            found: found(&other),
        }),
    }
}

/// The lists of an object.
const LISTS: [&str; 3] = ["messages", "steps", "tool_calls"];

fn read_object(mut object: Map<String, Value>) -> Result<Parts, TrajectoryError> {
    if let Some(version) = object.get("schema_version") {
        let is_known = version
            .as_str()
            .is_some_and(|version| version.starts_with("ATIF-v1."));
        return match is_known {
            true => atif::read(object),
            false => whole(format!(
                "`schema_version`: expected `ATIF-v1.0` or a later 1.x, found {}",
                found(version)
            )),
        };
    }
    let total = match object.get("usage").map(usage::read).transpose() {
        Ok(total) => total.flatten(),
        Err(reason) => return whole(reason),
    };
    for list in LISTS {
        match object.remove(list) {
            _ if object.contains_key("role") => break,
            Some(Value::Array(items)) => {
                let is_list = |key: &&&str| {
                    object
                        .get(**key)
                        .is_some_and(|it| it.is_array() && !is_empty(it))
                };
                if let Some(other) = LISTS.iter().find(is_list) {
                    return whole(format!(
                        "expected one list, found `{list}` and `{other}`; remove one"
                    ));
                }
                let subagents = object
                    .remove("subagents")
                    .map(subagents::read_written)
                    .transpose();
                let subagents =
                    subagents.or_else(|reason| whole(format!("`subagents`: {reason}")))?;
                let (messages, ..) = read_list(items, list == "tool_calls")?;
                return Ok((messages, total, subagents.unwrap_or_default()));
            }
            Some(other) => {
                return whole(format!(
                    "`{list}`: expected a list, found {}",
                    found(&other)
                ));
            }
            None => {}
        }
    }
    match Form::of_object(&object) {
        Some(_) => read_list(vec![Value::Object(object)], false),
        None => Err(TrajectoryError::Form {
            found: with_keys("an object", &object),
        }),
    }
}

/// The form of the items of a list.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Names,
    Messages,
    Steps,
    Calls,
}

impl Form {
    fn of(item: &Value) -> Option<Self> {
        match item {
            Value::String(_) => Some(Self::Names),
            Value::Object(object) => Self::of_object(object),
            _ => None,
        }
    }

    fn of_object(object: &Map<String, Value>) -> Option<Self> {
        let has = |key: &str| object.contains_key(key);
        match () {
            () if has("role") => Some(Self::Messages),
            () if has("predictor") => Some(Self::Steps),
            () if item_of_response(object).is_some() => Some(Self::Messages),
            () if object
                .keys()
                .any(|key| matches!(part_of(key), Some((Part::Name | Part::Inner, _)))) =>
            {
                Some(Self::Calls)
            }
            () => None,
        }
    }

    /// The noun of an item, and the description of a valid one.
    const fn item(self) -> (&'static str, &'static str) {
        match self {
            Self::Names => ("name", "the name of a tool"),
            Self::Messages => ("message", "an object with `role`"),
            Self::Steps => ("step", "an object with `predictor`"),
            Self::Calls => ("call", "an object with `name`"),
        }
    }
}

/// The content of an item of OpenAI's Responses that is no message.
fn item_of_response(object: &Map<String, Value>) -> Option<Block> {
    let kind = object
        .get("type")
        .and_then(Value::as_str)
        .filter(|_| !object.contains_key("role"))?;
    let kinds =
        "function_call function_call_output custom_tool_call custom_tool_call_output reasoning";
    position(kinds, kind).and_then(|_| block_of(kind))
}

/// Reads a list, whose first item decides about its form.
fn read_list(items: Vec<Value>, has_names: bool) -> Result<Parts, TrajectoryError> {
    let Some(first) = items.first() else {
        return Ok(Parts::default());
    };
    if first.is_string() && !has_names {
        let found =
            "a list of strings; write `{\"tool_calls\": [..]}` if they are the names of tools";
        return Err(TrajectoryError::Form {
            found: found.to_owned(),
        });
    }
    let Some(form) = Form::of(first) else {
        let found = match first {
            Value::Object(object) => with_keys("a list of objects", object),
            other => format!("a list whose first item is {}", found(other)),
        };
        return Err(TrajectoryError::Form { found });
    };
    let (item, expected) = form.item();
    let mut to = Results::with_capacity(items.len());
    for (at, value) in items.into_iter().enumerate() {
        read_item(form, value, expected, &mut to).map_err(|reason| TrajectoryError::Item {
            item,
            number: at + 1,
            reason,
        })?;
    }
    Ok((to.messages, None, Vec::new()))
}

fn read_item(form: Form, value: Value, expected: &str, to: &mut Results) -> Result<(), String> {
    if Form::of(&value) != Some(form) {
        let found = match &value {
            Value::Object(object) => with_keys("an object", object),
            other => found(other),
        };
        return Err(format!("expected {expected}, found {found}"));
    }
    let call = match (form, value) {
        (Form::Messages, Value::Object(mut message)) => {
            if let Some(kind) = item_of_response(&message) {
                let role = match kind {
                    Block::Other => return Ok(()),
                    Block::Result => "user",
                    Block::Text | Block::Call => "assistant",
                };
                let content = Value::from(vec![Value::Object(message)]);
                message = Map::from_iter([
                    ("role".to_owned(), role.into()),
                    ("content".to_owned(), content),
                ]);
            }
            return messages::read(message, to);
        }
        (Form::Steps, Value::Object(step)) => call::of_step(step)?,
        (_, Value::Object(object)) => call::read(object)?,
        (_, Value::String(name)) => ToolCall::new(name),
        (_, other) => return Err(format!("expected {expected}, found {}", found(&other))),
    };
    to.push(Message::calling([call]));
    Ok(())
}

/// Describes an object by its keys.
fn with_keys(noun: &str, object: &Map<String, Value>) -> String {
    if object.is_empty() {
        return format!("{noun} without keys");
    }
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    format!("{noun} with {}", names(keys.into_iter()))
}
