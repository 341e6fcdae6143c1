//! A trajectory from JSON in one of the forms of `read/`.

use std::ops::Deref;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::read::{self, args_error};
use super::steps::Trajectory;
use crate::messages::escape::name;

crate::message_errors! {
    /// The error returned when a value is not a trajectory. The message says what was found and what to write instead.
    pub struct TrajectoryError;
}

impl Trajectory {
    /// Reads a trajectory in one of the forms that the [module](super) lists.
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
    /// let error = Trajectory::from_json(json!([{"role": "human", "content": "Hello"}])).unwrap_err();
    /// assert_eq!(error.to_string(), "message 1: unknown role `human`; write `user`");
    /// # Ok::<(), dsrs_metrics::trajectory::TrajectoryError>(())
    /// ```
    pub fn from_json(value: Value) -> Result<Self, TrajectoryError> {
        read::read(value, false).map_err(TrajectoryError::from)
    }

    /// Describes each call whose arguments the model did not write as a JSON object.
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

/// The trajectory that a gold row expects. This type dereferences to [`Trajectory`].
///
/// An expected trajectory is read more strictly: arguments must be an object, because the row's author wrote them, not
/// a model. A list of strings is accepted as well, and read as tool names.
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
        let trajectory =
            read::read(Value::deserialize(deserializer)?, true).map_err(D::Error::custom)?;
        let malformed = trajectory.malformed_args().next();
        match malformed {
            Some(malformed) => Err(D::Error::custom(format_args!(
                "{malformed}; write an object such as {{\"city\": \"Rome\"}}"
            ))),
            None => Ok(Self(trajectory)),
        }
    }
}
