//! The tool calls of a trajectory, and conditions on them for building metrics.

use super::ToolCall;
use crate::messages::escape::{name, names};

/// The tool calls of a trajectory, in order.
///
/// These are either all calls in the trajectory or only the calls to one tool.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let trajectory = Trajectory::of_calls(["search", "book", "search"].map(ToolCall::new));
/// let calls = trajectory.tool_calls();
/// assert_eq!((calls.len(), calls.named("search").len()), (3, 2));
/// assert!(calls.in_order(["search", "book"]).is_met());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCalls<'t> {
    calls: Vec<&'t ToolCall>,
    /// The only tool whose calls are included, or `None` for all calls.
    tool: Option<String>,
}

impl<'t> ToolCalls<'t> {
    /// Returns an iterator over the calls.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'t ToolCall> + Clone {
        self.calls.iter().copied()
    }

    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns `true` if there are no calls.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the names of the tools that were called, including duplicates.
    pub fn names(&self) -> Vec<&'t str> {
        self.iter().map(|call| &*call.name).collect()
    }

    /// Returns the calls to the given tool.
    pub fn named(&self, tool: &str) -> Self {
        let calls = self.iter().filter(|call| call.name == tool).collect();
        Self {
            calls,
            tool: Some(tool.to_owned()),
        }
    }

    /// Returns the number of calls for which the closure returns `true`.
    pub fn count(&self, mut is_counted: impl FnMut(&ToolCall) -> bool) -> usize {
        self.iter().filter(|call| is_counted(call)).count()
    }

    /// Checks that the closure returns `true` for at least one call.
    pub fn any(&self, is_right: impl FnMut(&ToolCall) -> bool) -> Condition {
        let reason = || match self.len() {
            0 => format!("no call{}", self.of_tool()),
            _ => format!("none of {} meets the condition", self.counted(self.len())),
        };
        Condition::unless((!self.iter().any(is_right)).then(reason))
    }

    /// Checks that the closure returns `true` for every call.
    ///
    /// The condition is also met if there are no calls.
    pub fn all(&self, mut is_right: impl FnMut(&ToolCall) -> bool) -> Condition {
        let wrong = self.iter().enumerate().find(|(_, call)| !is_right(call));
        Condition::unless(wrong.map(|(at, call)| {
            let (number, tool, of) = (at + 1, name(&call.name), self.len());
            format!("call {number} of {of}, of `{tool}`, does not meet the condition")
        }))
    }

    /// Checks that no call failed.
    ///
    /// Only some formats record failures; see [`ToolCall::failed`].
    pub fn none_failed(&self) -> Condition {
        let failed = self.iter().filter(|call| call.failed);
        let failed: Vec<&str> = failed.map(|call| &*call.name).collect();
        Condition::unless((!failed.is_empty()).then(|| {
            let (count, of) = (failed.len(), self.counted(self.len()));
            format!("{count} of {of} failed: {}", names(failed.into_iter()))
        }))
    }

    /// Checks that the given tools are called in the given order.
    ///
    /// Other calls are allowed before, between and after them.
    pub fn in_order<N: AsRef<str>>(&self, tools: impl IntoIterator<Item = N>) -> Condition {
        let tools: Vec<N> = tools.into_iter().collect();
        let mut calls = self.iter();
        let mut is_called = |tool: &N| calls.any(|call| call.name == tool.as_ref());
        let missing = tools.iter().position(|tool| !is_called(tool));
        Condition::unless(missing.map(|at| self.disorder(&tools, at)))
    }

    /// Explains that the tool at `at` is not called after the tools before it.
    fn disorder<N: AsRef<str>>(&self, tools: &[N], at: usize) -> String {
        let tool = tools[at].as_ref();
        let needed = tools[..=at].iter().filter(|it| it.as_ref() == tool).count();
        let called = self.count(|call| call.name == tool);
        let tool = name(tool);
        let what = match at.checked_sub(1).map(|before| name(tools[before].as_ref())) {
            _ if called == 0 => format!("no call of `{tool}`"),
            Some(before) if called >= needed => format!("called `{tool}` before `{before}`"),
            _ => format!("{called} of {needed} calls of `{tool}`"),
        };
        let expected = names(tools.iter().map(AsRef::as_ref));
        let found = match self.is_empty() {
            true => "no call".to_owned(),
            false => names(self.names().into_iter()),
        };
        format!("{what}: expected {expected} in this order, found {found}")
    }

    /// Returns a number of calls with its noun: ``2 calls of `search` ``.
    fn counted(&self, count: usize) -> String {
        let calls = if count == 1 { "call" } else { "calls" };
        format!("{count} {calls}{}", self.of_tool())
    }

    fn of_tool(&self) -> String {
        let tool = self.tool.as_ref();
        tool.map_or_else(String::new, |tool| format!(" of `{}`", name(tool)))
    }
}

impl<'t> FromIterator<&'t ToolCall> for ToolCalls<'t> {
    fn from_iter<I: IntoIterator<Item = &'t ToolCall>>(calls: I) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            tool: None,
        }
    }
}

/// The result of checking a condition on a trajectory.
///
/// If the condition is not met, the result contains the reason. Use `Check::all` to combine several conditions.
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
    /// Creates a condition that is met if `reason` is `None`.
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

    /// Returns `true` if the condition is met.
    pub const fn is_met(&self) -> bool {
        self.unmet.is_none()
    }

    /// Returns why the condition is not met, or `None` if it is met.
    pub fn reason(&self) -> Option<&str> {
        self.unmet.as_deref()
    }

    /// Consumes the condition and returns the reason why it is not met.
    ///
    /// Returns `None` if the condition is met.
    pub fn into_reason(self) -> Option<String> {
        self.unmet
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::trajectory::{Condition, ToolCall, Trajectory};

    fn reason(condition: Condition) -> String {
        condition.into_reason().unwrap_or_default()
    }

    #[test]
    fn an_order_that_is_not_kept_is_described() {
        let trajectory = Trajectory::of_calls(["b", "a", "c", "a"].map(ToolCall::new));
        let calls = trajectory.tool_calls();
        let found = "found `b`, `a`, `c`, `a`";
        for (tools, expected) in [
            (&["b", "a", "a"][..], String::new()),
            (&[], String::new()),
            (
                &["a", "b"],
                format!("called `b` before `a`: expected `a`, `b` in this order, {found}"),
            ),
            (
                &["x"],
                format!("no call of `x`: expected `x` in this order, {found}"),
            ),
            (
                &["c", "c"],
                format!("1 of 2 calls of `c`: expected `c`, `c` in this order, {found}"),
            ),
        ] {
            assert_eq!(reason(calls.in_order(tools)), expected);
        }
        let none = Trajectory::default();
        let message = "no call of `x`: expected `x` in this order, found no call";
        assert_eq!(reason(none.tool_calls().in_order(["x"])), message);
    }

    #[test]
    fn conditions_on_calls_name_what_is_wrong() {
        let pay = |euros: u32| ToolCall::new("pay").with_args(json!({ "euros": euros }));
        let failed = ToolCall {
            failed: true,
            ..ToolCall::new("log")
        };
        let trajectory = Trajectory::of_calls([pay(40), failed, pay(45)]);
        let calls = trajectory.tool_calls();
        assert_eq!(reason(calls.none_failed()), "1 of 3 calls failed: `log`");
        let paid = calls.named("pay");
        assert!(paid.none_failed().is_met() && paid.any(|call| call.args["euros"] == 45).is_met());
        let small = |call: &ToolCall| call.args["euros"].as_u64() < Some(45);
        assert_eq!(
            reason(paid.all(small)),
            "call 2 of 2, of `pay`, does not meet the condition"
        );
        assert_eq!(paid.count(small), 1);
        assert_eq!(
            reason(paid.any(|call| call.args["euros"] == 1)),
            "none of 2 calls of `pay` meets the condition"
        );
        assert_eq!(reason(calls.named("x").any(|_| true)), "no call of `x`");
        assert!(calls.named("x").all(|_| false).is_met());
    }
}
