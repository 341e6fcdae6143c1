//! The Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.7 and later 1.x.
//!
//! <https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md>. Trajectories of subagents are in
//! `subagents.rs`.

use serde_json::{Map, Value};

use super::fields::{each, list, object, unexpected};
use super::results::{CallResult, Results};
use super::subagents::Subagents;
use super::{call, content, messages, usage};
use crate::json::describe::found;
use crate::messages::escape::name;
use crate::trajectory::message::{Message, Role};
use crate::trajectory::steps::Trajectory;

pub(super) fn read(mut root: Map<String, Value>) -> Result<Trajectory, String> {
    let steps = match root.remove("steps") {
        Some(Value::Array(steps)) => steps,
        Some(other) => return Err(unexpected("steps", "a list", &other)),
        None => return Err("an ATIF object without `steps`".to_owned()),
    };
    let total = root.get("final_metrics").map(usage::read_total).transpose();
    let total = total.map_err(|reason| format!("`final_metrics`: {reason}"))?;
    let mut subagents = Subagents::read(root.remove("subagent_trajectories"))?;
    let mut to = Results::with_capacity(steps.len());
    each("step", steps, |step| {
        read_step(object(step)?, &mut to, &mut subagents)
    })?;
    Ok(Trajectory {
        messages: to.messages,
        total: total.flatten(),
        subagents: subagents.all(),
    })
}

fn read_step(
    mut step: Map<String, Value>,
    to: &mut Results,
    subagents: &mut Subagents,
) -> Result<(), String> {
    let role = match step.get("source") {
        Some(Value::String(source)) => match &**source {
            "system" => Role::System,
            "user" => Role::User,
            "agent" => Role::Assistant,
            other => {
                return Err(format!(
                    "unknown source `{}`; write `system`, `user` or `agent`",
                    name(other)
                ));
            }
        },
        other => {
            return Err(unexpected(
                "source",
                "a string",
                other.unwrap_or(&Value::Null),
            ));
        }
    };
    let text = content::read(step.remove("message").unwrap_or_default())?.text;
    let tool_calls = messages::calls(step.remove("tool_calls"))?;
    let usage = step.get("metrics").map(usage::read).transpose()?.flatten();
    to.push(Message {
        tool_calls,
        usage,
        ..Message::new(role, text)
    });
    let results = match step.remove("observation") {
        Some(Value::Object(mut observation)) => observation.remove("results"),
        None | Some(Value::Null) => None,
        Some(other) => return Err(unexpected("observation", "an object", &other)),
    };
    list("results", results)?
        .into_iter()
        .try_for_each(|result| {
            let Value::Object(mut result) = result else {
                return Err(format!(
                    "a result: expected an object, found {}",
                    found(&result)
                ));
            };
            let failed = call::has_failed(&result);
            let id = call::id(&mut result, "source_call_id")?;
            subagents.refer(result.remove("subagent_trajectory_ref"), id.as_deref())?;
            let content = result.remove("content").unwrap_or_default();
            to.add(CallResult {
                id,
                result: content::as_result(content),
                failed,
            })
        })
}
