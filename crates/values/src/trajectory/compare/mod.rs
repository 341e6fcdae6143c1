//! Compares two trajectories: match modes, scores, differences, and rules for when the arguments of two calls count as
//! equal.

mod correctness;
mod keys;
mod modes;

pub use correctness::{CallOrder, ToolCorrectnessOptions};
pub use keys::{CallCounts, CallLoop, LoopLimits};
pub use modes::{MatchMode, TrajectoryDifference, UnmatchedCalls};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::json::{path, same_value};
use crate::trajectory::ToolCall;
use crate::trajectory::calls::ToolCalls;

crate::message_errors! {
    /// The error returned when two trajectories have too many distinct calls to compare.
    pub struct TooManyCalls;
}

impl TooManyCalls {
    fn new(what: &str, called: usize, expected: usize, instead: &str) -> Self {
        format!("too many {what} to compare: {called} called, {expected} expected; {instead}")
            .into()
    }

    /// Returns an error if comparing the calls in order takes more than `limit` pairs.
    fn check(called: &ToolCalls<'_>, expected: &ToolCalls<'_>, limit: u64) -> Result<(), Self> {
        let (ours, theirs) = (called.len(), expected.len());
        let instead = "compare them in any order";
        match (ours as u64).saturating_mul(theirs as u64) > limit {
            true => Err(Self::new("calls", ours, theirs, instead)),
            false => Ok(()),
        }
    }
}

/// The key of the rule for all other tools.
const OTHERS: &str = "*";

/// A rule for comparing a call's arguments with those of an expected call.
///
/// Both calls are to the same tool.
///
/// Arguments are compared as JSON values. The order of keys does not matter, and 1 equals 1.0. However, `true` equals
/// neither 1 nor "true".
///
/// ```
/// use dsrs_metrics::trajectory::ArgsRule;
/// use serde_json::json;
///
/// let (called, expected) = (json!({ "city": "Rome", "days": 3 }), json!({ "city": "Rome" }));
/// assert!(ArgsRule::Superset.matches(&called, &expected));
/// assert!(!ArgsRule::Exact.matches(&called, &expected));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ArgsRule {
    /// All arguments must be equal.
    Exact,
    /// Arguments are not compared.
    Ignore,
    /// Every argument of the call must be expected.
    ///
    /// The call can lack some of the expected arguments.
    Subset,
    /// The call must have every expected argument.
    ///
    /// The call can have other arguments as well.
    Superset,
    /// The values at these paths must be equal.
    ///
    /// For example, a path can be `city` or `filter.days`. A missing value equals `null`.
    #[serde(untagged)]
    Paths(Vec<String>),
    /// A function that you provide decides whether the arguments match.
    ///
    /// If the call's arguments are not an object, they do not match, and the function is not called.
    #[serde(untagged, skip_deserializing)]
    Function(ArgsFunction),
}

type Compare = dyn Fn(&Value, &Value) -> bool + Send + Sync;

/// A function that compares a call's arguments with those of an expected call.
///
/// The function's name is part of a metric's identity.
#[derive(Clone)]
pub struct ArgsFunction {
    name: String,
    function: Arc<Compare>,
}

impl ArgsFunction {
    /// Returns the function's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for ArgsFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ArgsFunction").field(&self.name).finish()
    }
}

impl Serialize for ArgsFunction {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("function {}", self.name))
    }
}

impl PartialEq for ArgsFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}

impl ArgsRule {
    /// Creates a rule that compares arguments by calling a function.
    ///
    /// The function receives the call's arguments and the expected arguments.
    ///
    /// ```
    /// use dsrs_metrics::trajectory::ArgsRule;
    /// use serde_json::json;
    ///
    /// let same_city = ArgsRule::function("same_city", |called, expected| {
    ///     let city = |args: &serde_json::Value| args["city"].as_str().map(str::to_lowercase);
    ///     city(called) == city(expected)
    /// });
    /// assert!(same_city.matches(&json!({ "city": "ROME" }), &json!({ "city": "Rome" })));
    /// ```
    pub fn function(
        name: impl Into<String>,
        function: impl Fn(&Value, &Value) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::Function(ArgsFunction {
            name: name.into(),
            function: Arc::new(function),
        })
    }

    /// Returns `true` if a call's arguments match the expected ones.
    pub fn matches(&self, called: &Value, expected: &Value) -> bool {
        match self {
            Self::Exact => same_value(called, expected),
            Self::Ignore => true,
            Self::Subset => has_all(expected, called),
            Self::Superset => has_all(called, expected),
            Self::Paths(_) if !called.is_object() || !expected.is_object() => {
                same_value(called, expected)
            }
            Self::Paths(paths) => {
                let is_same = |path: &String| same_value(at(called, path), at(expected, path));
                paths.iter().all(is_same)
            }
            Self::Function(ArgsFunction { function, .. }) => {
                called.is_object() && function(called, expected)
            }
        }
    }
}

/// Returns `true` if an object has every entry of another one. Other values are compared as a whole.
fn has_all(larger: &Value, smaller: &Value) -> bool {
    match (larger, smaller) {
        (Value::Object(larger), Value::Object(smaller)) => smaller.iter().all(|(key, value)| {
            let other = larger.get(key);
            other.is_some_and(|other| same_value(value, other))
        }),
        (larger, smaller) => same_value(larger, smaller),
    }
}

/// Returns the value at a path, or `null` if there is none.
fn at<'a>(args: &'a Value, path: &str) -> &'a Value {
    path::below(args, path).unwrap_or(&Value::Null)
}

/// The rules for comparing arguments, keyed by tool.
///
/// To set a parameter of this type, write the name of a rule, a list of paths, or an object that maps tool names to
/// either of these. In an object, `*` stands for all other tools. Without `*`, their rule is `exact`.
///
/// ```
/// use dsrs_metrics::trajectory::{ArgsRule, ArgsRules};
///
/// let rules: ArgsRules = serde_json::from_str(r#"{"search": "ignore", "book": ["city", "filter.days"], "*": "superset"}"#)?;
/// assert_eq!(rules, ArgsRules::from(ArgsRule::Superset)
///     .with_tool("search", ArgsRule::Ignore)
///     .with_tool("book", ArgsRule::Paths(vec!["city".to_owned(), "filter.days".to_owned()])));
///
/// let error = serde_json::from_str::<ArgsRules>(r#""same""#).unwrap_err().to_string();
/// assert_eq!(error, "expected `exact`, `ignore`, `subset`, `superset`, a list of paths, or an object from tool to one of these");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "WrittenRules")]
pub struct ArgsRules {
    /// The rule for each tool, and the rule for all other tools under [`OTHERS`].
    tools: BTreeMap<String, ArgsRule>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected `exact`, `ignore`, `subset`, `superset`, a list of paths, or an object from tool to one of these"
)]
enum WrittenRules {
    One(ArgsRule),
    ByTool(BTreeMap<String, ArgsRule>),
}

/// Requires all arguments of all tools to be equal.
impl Default for ArgsRules {
    fn default() -> Self {
        ArgsRule::Exact.into()
    }
}

conversions! {
    ArgsRule => ArgsRules: |others| Self { tools: BTreeMap::from([(OTHERS.to_owned(), others)]) };
    WrittenRules => ArgsRules: |written| match written {
        WrittenRules::One(rule) => rule.into(),
        WrittenRules::ByTool(mut tools) => {
            tools.entry(OTHERS.to_owned()).or_insert(ArgsRule::Exact);
            Self { tools }
        }
    };
}

impl ArgsRules {
    /// Sets the rule for one tool.
    pub fn with_tool(mut self, tool: impl Into<String>, rule: ArgsRule) -> Self {
        self.tools.insert(tool.into(), rule);
        self
    }

    /// Returns the rule for a tool.
    pub fn of(&self, tool: &str) -> &ArgsRule {
        let rule = self.tools.get(tool).or_else(|| self.tools.get(OTHERS));
        rule.unwrap_or(&ArgsRule::Exact)
    }

    /// Returns `true` if a call matches an expected call.
    ///
    /// Both must call the same tool, and the arguments must match under that tool's rule.
    pub fn matches(&self, called: &ToolCall, expected: &ToolCall) -> bool {
        called.name == expected.name && self.of(&called.name).matches(&called.args, &expected.args)
    }
}

impl Serialize for ArgsRules {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.tools.len() {
            1 => self.tools.values().next().serialize(to),
            _ => self.tools.serialize(to),
        }
    }
}
