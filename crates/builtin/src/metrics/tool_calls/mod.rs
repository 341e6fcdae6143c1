//! Metrics for tool calls.
//!
//! The metrics check that a call's parameters match a JSON Schema, and that the call is not a repetition.

#[cfg(feature = "schema")]
mod tool_params_schema;

use serde_json::Value;

use crate::contract::Check;
use crate::json::same_value;
use crate::metric;

#[cfg(feature = "schema")]
pub use tool_params_schema::{InvalidSchema, ToolParamsSchema, ToolSchemas, tool_params_schema};

/// Passes if the tool call is new.
///
/// A call is new if no call in the history has the same tool and the same parameters.
///
/// The score is 1 if the call is new, and 0 otherwise. The metric compares `pred.tool` and `pred.params` with the
/// `tool` and `params` of each call in `gold.execution_history`. If a row has no history, its call is always new.
///
/// Parameters are compared as JSON values. The order of keys doesn't matter, and numbers are compared by value, so `1`
/// equals `1.0` and `1e0`. A missing `params` or `tool` equals `null`.
///
/// ```
/// use dsrs_metrics::metrics::WasRepeated;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "execution_history" => [json!({ "tool": "read", "params": { "path": "a.rs", "line": 1 } })] };
/// let again = prediction! { "tool" => "read", "params" => json!({ "line": 1.0, "path": "a.rs" }) };
/// assert_eq!(WasRepeated.score(&gold, &again)?.value, 0.0);
/// let other = prediction! { "tool" => "read", "params" => json!({ "line": 2, "path": "a.rs" }) };
/// assert_eq!(WasRepeated.score(&gold, &other)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(explain = |_, _, _, score| format!("Was repeated: {}", score == 0.0))]
pub fn was_repeated(
    #[gold(default = &[])] execution_history: &[Value],
    #[pred(missing)] tool: Option<&Value>,
    #[pred] params: Option<&Value>,
) -> Check {
    let (tool, params) = (tool.unwrap_or(&Value::Null), params.unwrap_or(&Value::Null));
    let is_same = |call: &Value| {
        let field = |name| call.get(name).unwrap_or(&Value::Null);
        same_value(field("tool"), tool) && same_value(field("params"), params)
    };
    let earlier = execution_history.iter().position(is_same);
    Check::unless(earlier.map(|at| format!("the same call was made before, as call {}", at + 1)))
}
