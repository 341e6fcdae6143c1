//! A value of both runs.

use serde::Serialize;

/// A value of both runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sides<T> {
    /// Of the first run.
    pub a: T,
    /// Of the second run.
    pub b: T,
}

impl<T> From<[T; 2]> for Sides<T> {
    fn from([a, b]: [T; 2]) -> Self {
        Self { a, b }
    }
}
