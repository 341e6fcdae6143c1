//! A condition on a trajectory: met, or not met for a reason.

/// Whether a trajectory meets a condition, and the reason if it does not. `Check::all` combines several of them.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let trajectory = Trajectory::of_calls([ToolCall::new("search")]);
/// let ordered = trajectory.tool_calls().in_order(["search", "book"]);
/// assert!(!ordered.is_met());
/// assert_eq!(ordered.reason(), Some("no call of `book`: expected `search`, `book` in this order, found `search`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a condition does nothing unless it is returned or read"]
pub struct Condition {
    unmet: Option<String>,
}

impl Condition {
    /// Returns a condition that is met unless there is a reason.
    ///
    /// ```
    /// use dsrs_metrics::trajectory::Condition;
    ///
    /// let steps = 12;
    /// let short = Condition::unless((steps > 10).then(|| format!("{steps} steps; take at most 10")));
    /// assert!(!short.is_met());
    /// ```
    pub const fn unless(reason: Option<String>) -> Self {
        Self { unmet: reason }
    }

    /// Returns whether the condition is met.
    pub const fn is_met(&self) -> bool {
        self.unmet.is_none()
    }

    /// Returns the reason if the condition is not met.
    pub fn reason(&self) -> Option<&str> {
        self.unmet.as_deref()
    }

    /// Returns the reason if the condition is not met, as a string of its own.
    pub fn into_reason(self) -> Option<String> {
        self.unmet
    }
}
