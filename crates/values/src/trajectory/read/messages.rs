//! Messages of OpenAI and Anthropic.

use serde_json::{Map, Value};

use super::fields::{each, list, object, unexpected};
use super::keys::{LISTS, is_empty, position};
use super::results::{CallResult, Results};
use super::{call, content, usage};
use crate::messages::escape::name;
use crate::trajectory::message::{Message, Role, ToolCall};

/// Reads one message.
pub(super) fn read(mut message: Map<String, Value>, to: &mut Results) -> Result<(), String> {
    let role = match message.get("role") {
        Some(Value::String(role)) => role_of(role)?,
        other => {
            return Err(unexpected(
                "role",
                "a string",
                other.unwrap_or(&Value::Null),
            ));
        }
    };
    if message
        .get("function_call")
        .is_some_and(|call| !call.is_null())
    {
        return Err("`function_call` is not supported; write `tool_calls`".to_owned());
    }
    let usage = message.get("usage").map(usage::read).transpose()?.flatten();
    let content = message.remove("parts").filter(|parts| !is_empty(parts));
    let content = content
        .or_else(|| message.remove("content"))
        .unwrap_or_default();
    if role == Role::Tool && !content::has_results(&content) {
        let failed = call::has_failed(&message);
        let id = call::id(&mut message, "tool_call_id call_id tool_use_id")?;
        return to.add(CallResult {
            id,
            result: content::as_result(content),
            failed,
        });
    }
    let content = content::read(content)?;
    let mut tool_calls = Vec::new();
    for keys in LISTS {
        let lists = message
            .iter()
            .filter_map(|(key, list)| Some((position(keys, key)?, list)));
        if let Some((_, list)) = lists
            .filter(|(_, list)| !is_empty(list))
            .min_by_key(|it| it.0)
        {
            tool_calls.extend(calls(Some(list.clone()))?);
        }
    }
    // LangChain has the calls of Anthropic's blocks in `tool_calls` too.
    if tool_calls.is_empty() {
        tool_calls = content.calls;
    }
    if role != Role::Assistant && !tool_calls.is_empty() {
        return Err(
            "tool calls in a message that is not the agent's; write the role `assistant`"
                .to_owned(),
        );
    }
    let is_pushed = content.results.is_empty() || !content.text.is_empty();
    let mut message = Some(Message {
        tool_calls,
        usage,
        ..Message::new(role, content.text)
    });
    // Anthropic has results in messages of the user, before the text.
    if role == Role::Assistant {
        message.take().into_iter().for_each(|first| to.push(first));
    }
    content
        .results
        .into_iter()
        .try_for_each(|result| to.add(result))?;
    if let Some(message) = message.filter(|_| is_pushed) {
        to.push(message);
    }
    Ok(())
}

/// Reads `tool_calls`.
pub(super) fn calls(calls: Option<Value>) -> Result<Vec<ToolCall>, String> {
    each("call", list("tool_calls", calls)?, |call| {
        call::read(object(call)?)
    })
}

fn role_of(role: &str) -> Result<Role, String> {
    let instead = match role {
        "system" | "developer" => return Ok(Role::System),
        "user" => return Ok(Role::User),
        "assistant" => return Ok(Role::Assistant),
        "tool" => return Ok(Role::Tool),
        "human" => "`user`",
        "ai" | "agent" | "model" | "bot" => "`assistant`",
        "function" | "ipython" | "observation" => "`tool`",
        _ => "`system`, `user`, `assistant` or `tool`",
    };
    Err(format!("unknown role `{}`; write {instead}", name(role)))
}
