//! A trajectory from JSON in one of the forms of `read/`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::read::{self, TrajectoryError};
use super::steps::Trajectory;

impl Trajectory {
    /// Reads a trajectory in one of the forms that the [module](super) lists.
    ///
    /// # Errors
    /// [`TrajectoryError`] if the value has none of these forms, or a message is invalid.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use serde_json::json;
    ///
    /// let trajectory = Trajectory::from_json(json!(["search", "book"]))?;
    /// assert_eq!(trajectory.tool_calls().names(), ["search", "book"]);
    ///
    /// let error = Trajectory::from_json(json!([{"role": "human", "content": "Hello"}])).unwrap_err();
    /// assert_eq!(error.to_string(), "message 1: unknown role `human`; write `user`");
    /// # Ok::<(), dsrs_metrics::trajectory::TrajectoryError>(())
    /// ```
    pub fn from_json(value: Value) -> Result<Self, TrajectoryError> {
        let (messages, total, subagents) = read::read(value)?;
        Ok(Self { messages, total, subagents })
    }
}

impl<'de> Deserialize<'de> for Trajectory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
