//! Reads trajectories from JSON: detects the form of a value, and reads its items one after another.

mod atif;
mod call;
mod fields;
mod messages;
mod other_messages;

use serde_json::{Map, Value};

use super::message::{Message, ToolCall};
use super::steps::Trajectory;
use crate::json::describe::found;
use crate::messages::escape::names;

use call::Results;
pub(super) use call::args_error;
use fields::{Block, Part, block_of, is_empty, part_of, position};
use fields::{each, parsed, unexpected};

/// Reads a trajectory in any form. A list of strings has the names of tools if `has_names` says so.
pub(super) fn read(value: Value, has_names: bool) -> Result<Trajectory, String> {
    match value {
        Value::String(json) => match parsed(&json) {
            Ok(Value::String(_)) => Err(no_form("a string")),
            Ok(value) => read(value, has_names),
            Err(reason) => Err(format!("the string is not JSON: {reason}")),
        },
        Value::Array(items) => read_list(items, has_names),
        Value::Object(object) => read_object(object),
        other => Err(no_form(&found(&other))),
    }
}

/// Returns the message that a value has none of the forms of a trajectory.
fn no_form(found: &str) -> String {
    format!(
        "expected messages with `role`, calls with `name`, an ATIF object with `schema_version`, or steps with `predictor`; found \
         {found}"
    )
}

/// The lists of an object.
const LISTS: [&str; 5] = [
    "messages",
    "steps",
    "tool_calls",
    "contents",
    "conversations",
];

fn read_object(mut object: Map<String, Value>) -> Result<Trajectory, String> {
    if let Some(version) = object.get("schema_version") {
        let is_known = version
            .as_str()
            .is_some_and(|version| version.starts_with("ATIF-v1."));
        return match is_known {
            true => atif::read(object),
            false => Err(unexpected(
                "schema_version",
                "`ATIF-v1.0` or a later 1.x",
                version,
            )),
        };
    }
    // A response of OpenAI, with its items.
    if object.get("object").is_some_and(|kind| kind == "response")
        && let Some(items) = object.remove("output")
    {
        object.insert("messages".to_owned(), items);
    }
    let total = object
        .get("usage")
        .map(fields::usage)
        .transpose()?
        .flatten();
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
                    return Err(format!(
                        "expected one list, found `{list}` and `{other}`; remove one"
                    ));
                }
                let subagents = object
                    .remove("subagents")
                    .map(atif::read_written)
                    .transpose()
                    .map_err(|reason| format!("`subagents`: {reason}"))?;
                return Ok(Trajectory {
                    total,
                    subagents: subagents.unwrap_or_default(),
                    ..read_list(items, list == "tool_calls")?
                });
            }
            Some(other) => return Err(unexpected(list, "a list", &other)),
            None => {}
        }
    }
    match Form::of_object(&object) {
        Some(_) => read_list(vec![Value::Object(object)], false),
        None => Err(no_form(&with_keys("an object", &object))),
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
            () if other_messages::is_other(object) => Some(Self::Messages),
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
fn read_list(items: Vec<Value>, has_names: bool) -> Result<Trajectory, String> {
    let Some(first) = items.first() else {
        return Ok(Trajectory::default());
    };
    if first.is_string() && !has_names {
        let found =
            "a list of strings; write `{\"tool_calls\": [..]}` if they are the names of tools";
        return Err(no_form(found));
    }
    let Some(form) = Form::of(first) else {
        let found = match first {
            Value::Object(object) => with_keys("a list of objects", object),
            other => format!("a list whose first item is {}", found(other)),
        };
        return Err(no_form(&found));
    };
    let (item, expected) = form.item();
    let mut to = Results::with_capacity(items.len());
    each(item, items, |value| {
        read_item(form, value, expected, &mut to)
    })?;
    Ok(Trajectory::new(to.messages))
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
        (Form::Messages, Value::Object(message)) => {
            let mut message = other_messages::with_role(message)?;
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
