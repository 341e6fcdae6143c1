//! Messages of LangChain, Gemini and ShareGPT, and calls of OpenAI's own tools, as messages with `role`.

use serde_json::{Map, Value, json};

use super::fields::{is_empty, parsed, unexpected};
use crate::messages::escape::name;

/// Returns `true` if an object without `role` is a message of one of these systems.
pub(super) fn is_other(object: &Map<String, Value>) -> bool {
    is_sharegpt(object) || langchain_role(object).is_some() || hosted_tool(object).is_some()
}

/// Returns a message with `role` and the keys of OpenAI's messages.
pub(super) fn with_role(mut message: Map<String, Value>) -> Result<Map<String, Value>, String> {
    if message.contains_key("parts") && message.get("role").is_some_and(|role| role == "model") {
        message.insert("role".to_owned(), "assistant".into());
    }
    if message.contains_key("role") {
        return Ok(message);
    }
    if is_sharegpt(&message) {
        return of_sharegpt(message);
    }
    if let Some(role) = langchain_role(&message) {
        // `{"lc": 1, "id": [.., "AIMessage"], "kwargs": {..}}` and `{"type": "ai", "data": {..}}`
        for key in ["kwargs", "data"] {
            if let Some(Value::Object(inner)) = message.remove(key) {
                message = inner;
            }
        }
        // Before version 0.2, calls were among the fields of the provider.
        if let Some(Value::Object(mut own)) = message.remove("additional_kwargs")
            && message.get("tool_calls").is_none_or(is_empty)
        {
            message.extend(own.remove_entry("tool_calls"));
            message.extend(own.remove_entry("function_call"));
        }
        message.insert("role".to_owned(), role.into());
        return Ok(message);
    }
    match hosted_tool(&message) {
        Some(tool) => Ok(of_hosted_tool(tool.to_owned(), message)),
        None => Ok(message),
    }
}

/// `{"from": "human", "value": ".."}`
fn is_sharegpt(object: &Map<String, Value>) -> bool {
    object.contains_key("from") && object.contains_key("value")
}

fn of_sharegpt(mut message: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let value = message.remove("value").unwrap_or_default();
    let from = message.remove("from").unwrap_or_default();
    let Value::String(from) = from else {
        return Err(unexpected("from", "a string", &from));
    };
    let role = match &*from {
        "human" | "user" => "user",
        "gpt" | "chatgpt" | "assistant" | "function_call" => "assistant",
        "observation" | "tool" | "tool_response" | "function_response" => "tool",
        "system" => "system",
        other => {
            return Err(format!(
                "unknown author `{}`; write `human`, `gpt`, `system`, `function_call` or `observation`",
                name(other)
            ));
        }
    };
    message.insert("role".to_owned(), role.into());
    let (key, value) = match (&*from, value) {
        ("function_call", Value::String(call)) => {
            let call = parsed(&call)
                .map_err(|reason| format!("`value` of a function call is not JSON: {reason}"))?;
            let calls = if call.is_array() { call } else { json!([call]) };
            ("tool_calls", calls)
        }
        ("function_call", call) => ("tool_calls", json!([call])),
        (_, text) => ("content", text),
    };
    message.insert(key.to_owned(), value);
    Ok(message)
}

/// Returns the role of a message of LangChain: of its `type`, or of its class.
fn langchain_role(object: &Map<String, Value>) -> Option<&'static str> {
    let mut keys = ["content", "data", "lc"].iter();
    if !keys.any(|key| object.contains_key(*key)) {
        return None;
    }
    let kind = match object.get("lc").and(object.get("id")) {
        Some(Value::Array(class)) => class.last()?.as_str()?,
        _ => object.get("type")?.as_str()?,
    };
    let kind = kind.strip_suffix("Chunk").unwrap_or(kind);
    match kind.strip_suffix("Message").unwrap_or(kind) {
        "human" | "Human" => Some("user"),
        "ai" | "AI" => Some("assistant"),
        "system" | "System" => Some("system"),
        "tool" | "Tool" | "function" | "Function" => Some("tool"),
        _ => None,
    }
}

/// Returns the name of a tool that OpenAI runs, whose call is an item of its own: `web_search_call`, `mcp_call`.
fn hosted_tool(object: &Map<String, Value>) -> Option<&str> {
    let kind = object.get("type")?.as_str()?;
    let tool = kind.strip_suffix("_call")?;
    let is_own = !["function", "custom_tool", "tool", "invalid_tool"].contains(&tool);
    let name = object.get("name").and_then(Value::as_str);
    is_own.then(|| name.unwrap_or(tool))
}

fn of_hosted_tool(tool: String, mut item: Map<String, Value>) -> Map<String, Value> {
    let mut call = Map::from_iter([("name".to_owned(), tool.into())]);
    for key in ["id", "status", "error"] {
        call.extend(item.remove_entry(key));
    }
    let mut keys = ["output", "outputs", "results", "result"].iter();
    let result = keys.find_map(|key| item.remove(*key));
    call.extend(result.map(|result| ("result".to_owned(), result)));
    item.retain(|key, _| !["type", "name", "server_label"].contains(&&**key));
    let args = item.remove("arguments").or_else(|| item.remove("action"));
    call.insert("args".to_owned(), args.unwrap_or(Value::Object(item)));
    Map::from_iter([
        ("role".to_owned(), "assistant".into()),
        ("tool_calls".to_owned(), json!([call])),
    ])
}
