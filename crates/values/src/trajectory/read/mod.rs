//! Reads trajectories from JSON.
//!
//! The reader first detects the form of a value and then reads its items one by one.

mod atif;
mod call;
mod fields;
mod messages;

pub(super) use call::args_error;

use std::ops::Deref;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{Message, ToolCall, Trajectory};
use crate::json::found;
use crate::messages::escape::{name, names};
use call::Results;
use fields::{Part, each, is_empty, parsed, part_of, unexpected};

/// Reads a trajectory in any form. If `has_names` is `true`, a list of strings is read as tool names.
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

/// Returns the message for a value that has none of a trajectory's forms.
fn no_form(found: &str) -> String {
    format!(
        "expected messages with `role`, calls with `name`, an ATIF object with `schema_version`, or steps with `predictor`; found \
         {found}"
    )
}

/// The keys of an object's lists.
const LISTS: [&str; 5] = [
    "messages",
    "steps",
    "tool_calls",
    "contents",
    "conversations",
];

fn read_object(mut object: Map<String, Value>) -> Result<Trajectory, String> {
    if let Some(version) = object.get("schema_version") {
        let known = version.as_str().filter(|it| it.starts_with("ATIF-v1."));
        let expected = "`ATIF-v1.0` or a later 1.x";
        known.ok_or_else(|| unexpected("schema_version", expected, version))?;
        return atif::read(object);
    }
    // An OpenAI response, with its items.
    if object.get("object").is_some_and(|kind| kind == "response")
        && let Some(items) = object.remove("output")
    {
        object.insert("messages".to_owned(), items);
    }
    let total = fields::usage(&object, "usage")?;
    let mut lists = LISTS.iter().filter(|key| object.contains_key(**key));
    let Some(list) = lists.next().filter(|_| !object.contains_key("role")) else {
        return match Form::of_object(&object) {
            Some(_) => read_list(vec![Value::Object(object)], false),
            None => Err(no_form(&with_keys("an object", &object))),
        };
    };
    if let Some(other) = lists.find(|key| object[**key].is_array() && !is_empty(&object[**key])) {
        return Err(format!(
            "expected one list, found `{list}` and `{other}`; remove one"
        ));
    }
    let subagents = object.remove("subagents").map(serde_json::from_value);
    let subagents = subagents.transpose();
    let subagents = subagents.map_err(|reason| format!("`subagents`: {reason}"))?;
    let items = fields::list(list, object.remove(*list))?;
    Ok(Trajectory {
        total,
        subagents: subagents.unwrap_or_default(),
        ..read_list(items, *list == "tool_calls")?
    })
}

/// The form of the items in a list.
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
        let is_of_call = |key| matches!(part_of(key), Some(Part::Name | Part::Inner));
        match () {
            () if messages::is_message(object) => Some(Self::Messages),
            () if object.contains_key("predictor") => Some(Self::Steps),
            () if object.keys().any(|key| is_of_call(key)) => Some(Self::Calls),
            () => None,
        }
    }

    /// Returns the noun for an item, and the description of a valid one.
    const fn item(self) -> (&'static str, &'static str) {
        match self {
            Self::Names => ("name", "the name of a tool"),
            Self::Messages => ("message", "an object with `role`"),
            Self::Steps => ("step", "an object with `predictor`"),
            Self::Calls => ("call", "an object with `name`"),
        }
    }
}

/// Reads a list. The first item determines the list's form.
fn read_list(items: Vec<Value>, has_names: bool) -> Result<Trajectory, String> {
    let Some(first) = items.first() else {
        return Ok(Trajectory::default());
    };
    if first.is_string() && !has_names {
        return Err(no_form(
            "a list of strings; write `{\"tool_calls\": [..]}` if they are the names of tools",
        ));
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
            let message = messages::with_role(message)?;
            return message.map_or(Ok(()), |message| messages::read(message, to));
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

crate::message_errors! {
    /// The error returned when a value is not a trajectory.
    ///
    /// The message says what was found and what to write instead.
    pub struct TrajectoryError;
}

impl Trajectory {
    /// Reads a trajectory from a JSON value.
    ///
    /// The value can have any of the forms that the [module](super) lists.
    ///
    /// # Errors
    /// Returns [`TrajectoryError`] if the value has none of these forms, or if a message is invalid.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use serde_json::json;
    ///
    /// let trajectory = Trajectory::from_json(json!([{"name": "search"}, {"name": "book"}]))?;
    /// assert_eq!(trajectory.tool_calls().names(), ["search", "book"]);
    ///
    /// let error = Trajectory::from_json(json!([{"role": "critic", "content": "Hello"}])).unwrap_err();
    /// assert_eq!(error.to_string(), "message 1: unknown role `critic`; write `system`, `user`, `assistant` or `tool`");
    /// # Ok::<(), dsrs_metrics::trajectory::TrajectoryError>(())
    /// ```
    pub fn from_json(value: Value) -> Result<Self, TrajectoryError> {
        read(value, false).map_err(TrajectoryError::from)
    }

    /// Returns a description of each call whose arguments are not a JSON object.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use serde_json::json;
    ///
    /// let calls = json!([{"name": "now"}, {"name": "search", "args": "{\"city\": \"Ro"}]);
    /// assert_eq!(
    ///     Trajectory::from_json(calls)?.malformed_args().collect::<Vec<_>>(),
    ///     ["the arguments of call 2 to `search` are not JSON: EOF while parsing a string at line 1 column 12"]
    /// );
    /// # Ok::<(), dsrs_metrics::trajectory::TrajectoryError>(())
    /// ```
    pub fn malformed_args(&self) -> impl Iterator<Item = String> {
        let calls = self.messages.iter().flat_map(|message| &message.tool_calls);
        calls.zip(1_usize..).filter_map(|(call, number)| {
            let (tool, error) = (name(&call.name), args_error(&call.args)?);
            Some(format!(
                "the arguments of call {number} to `{tool}` are {error}"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Trajectory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// An expected trajectory, read from a gold row.
///
/// This type dereferences to [`Trajectory`].
///
/// An expected trajectory is written by a person, not a model, so its arguments must be objects. A list of strings is
/// also accepted and is read as tool names.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::trajectory::ExpectedTrajectory;
/// use serde_json::json;
///
/// let expected: ExpectedTrajectory = serde_json::from_value(json!(["search", "book"]))?;
/// assert_eq!(expected.tool_calls().names(), ["search", "book"]);
///
/// let cut_off = json!([{"name": "search", "args": "{\"city\": \"Ro"}]);
/// assert_eq!(
///     serde_json::from_value::<ExpectedTrajectory>(cut_off).unwrap_err().to_string(),
///     "the arguments of call 1 to `search` are not JSON: EOF while parsing a string at line 1 column 12; write an object such as \
///      {\"city\": \"Rome\"}"
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectedTrajectory(Trajectory);

impl Deref for ExpectedTrajectory {
    type Target = Trajectory;

    fn deref(&self) -> &Trajectory {
        &self.0
    }
}

conversions! {
    Trajectory => ExpectedTrajectory: |trajectory| Self(trajectory);
}

impl<'de> Deserialize<'de> for ExpectedTrajectory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let trajectory = read(Value::deserialize(deserializer)?, true).map_err(D::Error::custom)?;
        let malformed = trajectory.malformed_args().next();
        match malformed {
            Some(malformed) => Err(D::Error::custom(format_args!(
                "{malformed}; write an object such as {{\"city\": \"Rome\"}}"
            ))),
            None => Ok(Self(trajectory)),
        }
    }
}
