//! The error of a value that is not a trajectory.

/// The error of a value that is not a trajectory.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrajectoryError {
    /// The value has none of the forms of a trajectory.
    #[error(
        "expected messages with `role`, calls with `name`, an ATIF object with `schema_version`, or steps with `predictor`; found \
         {found}"
    )]
    Form {
        /// The value.
        found: String,
    },
    /// A string is not JSON.
    #[error("the string is not JSON: {reason}")]
    NotJson {
        /// The error of the parser.
        reason: String,
    },
    /// A part of the whole value is invalid.
    #[error("{reason}")]
    Whole {
        /// What is wrong, and what to write.
        reason: String,
    },
    /// A message, step, call or name is invalid.
    #[error("{item} {number}: {reason}")]
    Item {
        /// `message`, `step`, `call` or `name`.
        item: &'static str,
        /// Its number, from 1.
        number: usize,
        /// What is wrong, and what to write.
        reason: String,
    },
}

crate::debug_as_display!(TrajectoryError);

/// Returns the error of a part of the whole value.
pub(super) fn whole<T>(reason: String) -> Result<T, TrajectoryError> {
    Err(TrajectoryError::Whole { reason })
}
