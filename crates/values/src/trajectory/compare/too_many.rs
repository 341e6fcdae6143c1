//! The error of trajectories that are too long to be compared.

/// Two trajectories have too many different calls to be compared.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("too many {what} to compare: {called} called, {expected} expected; {instead}")]
pub struct TooManyCalls {
    pub(super) what: String,
    pub(super) called: usize,
    pub(super) expected: usize,
    pub(super) instead: &'static str,
}

crate::debug_as_display!(TooManyCalls);
