//! Messages of OpenAI and Anthropic. Messages of LangChain, Gemini and ShareGPT, and calls of OpenAI's own tools, are first
//! rewritten in this form.

use serde_json::{Map, Value, json};

use super::call::{CallResult, Results};
use super::fields::{
    Block, LISTS, block_of, each, is_empty, list, object, parsed, position, required, unexpected,
};
use super::{call, fields};
use crate::json::found;
use crate::messages::escape::name;
use crate::trajectory::{Message, Role, ToolCall};

/// Reads one message.
pub(super) fn read(mut message: Map<String, Value>, to: &mut Results) -> Result<(), String> {
    let role = role_of(required(&message, "role")?)?;
    if !message.get("function_call").is_none_or(Value::is_null) {
        return Err("`function_call` is not supported; write `tool_calls`".to_owned());
    }
    let usage = fields::usage(&message, "usage")?;
    let content = message.remove("parts").filter(|parts| !is_empty(parts));
    let content = content.or_else(|| message.remove("content"));
    let content = content.unwrap_or_default();
    if role == Role::Tool && !has_results(&content) {
        let failed = call::has_failed(&message);
        let id = call::id(&mut message, "tool_call_id call_id tool_use_id")?;
        return to.add(CallResult {
            id,
            result: as_result(content),
            failed,
        });
    }
    let content = read_content(content)?;
    let mut tool_calls = Vec::new();
    for keys in LISTS {
        let lists = message.iter().filter(|(_, list)| !is_empty(list));
        let lists = lists.filter_map(|(key, list)| Some((position(keys, key)?, list)));
        if let Some((_, list)) = lists.min_by_key(|it| it.0) {
            tool_calls.extend(calls(Some(list.clone()))?);
        }
    }
    // LangChain has the calls of Anthropic's blocks in `tool_calls` too.
    if tool_calls.is_empty() {
        tool_calls = content.calls;
    }
    if role != Role::Assistant && !tool_calls.is_empty() {
        let reason = "tool calls in a message that is not the agent's; write the role `assistant`";
        return Err(reason.to_owned());
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
    for result in content.results {
        to.add(result)?;
    }
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

/// The parts of a message's content.
#[derive(Default)]
pub(super) struct Content {
    /// The blocks of text, one line after another.
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) results: Vec<CallResult>,
}

/// Reads the content of a message.
pub(super) fn read_content(content: Value) -> Result<Content, String> {
    let mut parts = Content::default();
    match content {
        Value::Null => {}
        Value::String(text) => parts.text = text,
        Value::Array(blocks) => drop(each("block", blocks, |block| parts.add(block))?),
        other => {
            let expected = "a string or a list of blocks";
            return Err(unexpected("content", expected, &other));
        }
    }
    Ok(parts)
}

impl Content {
    fn add(&mut self, block: Value) -> Result<(), String> {
        let mut block = match block {
            Value::String(text) => {
                self.add_text(&text);
                return Ok(());
            }
            Value::Object(block) => block,
            other => {
                let found = found(&other);
                return Err(format!("expected an object with `type`, found {found}"));
            }
        };
        let kind = match block.remove("type") {
            Some(Value::String(kind)) => kind,
            // Bedrock and Gemini have the type as the only key, in which the block is.
            _ => match key_of_block(&block).cloned() {
                Some(kind) => {
                    if let Some(Value::Object(inner)) = block.get(&kind) {
                        block = inner.clone();
                    }
                    kind
                }
                None => {
                    let reason =
                        "a block without `type`; write `text`, `tool_use` or `tool_result`";
                    return Err(reason.to_owned());
                }
            },
        };
        match block_of(&kind) {
            Some(Block::Text) => match block.remove("text").or_else(|| block.remove("content")) {
                Some(Value::String(text)) => self.add_text(&text),
                other => return Err(unexpected("text", "a string", &other.unwrap_or_default())),
            },
            Some(Block::Call) => self.calls.push(call::read(block)?),
            Some(Block::Result) => self.results.push(result(block, &kind)?),
            Some(Block::Other) => {}
            None => match kind.split_once('-') {
                // Vercel's AI SDK has the name of the tool in the type.
                Some(("tool", tool)) => {
                    block.insert("name".to_owned(), tool.into());
                    self.calls.push(call::read(block)?);
                }
                Some(("data", _)) => {}
                _ => {
                    return Err(format!(
                        "expected a block of the type `text`, `tool_use`, `tool_result` or another system's name for one of them, \
                         found `{}`; write one of these, and remove anything that is not part of the message",
                        name(&kind)
                    ));
                }
            },
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

/// Returns `true` if content has blocks of results, as messages of tools have in Vercel's AI SDK and Gemini.
pub(super) fn has_results(content: &Value) -> bool {
    let is_result = |block: &Value| {
        let key = block.as_object().and_then(key_of_block);
        let kind = block["type"].as_str().or(key.map(String::as_str));
        kind.and_then(block_of) == Some(Block::Result)
    };
    let blocks = content.as_array();
    blocks.is_some_and(|blocks| blocks.iter().any(is_result))
}

/// Returns the key that is the type of a block without `type`.
fn key_of_block(block: &Map<String, Value>) -> Option<&String> {
    block.keys().find(|key| block_of(key).is_some())
}

/// Reads a block `tool_result`.
fn result(mut block: Map<String, Value>, kind: &str) -> Result<CallResult, String> {
    let mut failed = call::has_failed(&block) || kind.ends_with("error");
    let id = call::id(&mut block, "tool_use_id tool_call_id call_id id")?;
    // Gemini has results in the order of the calls.
    if id.is_none() && position("function_response", kind).is_none() {
        return Err("a result without `tool_use_id`; add the id of its call".to_owned());
    }
    let keys = ["content", "result", "output", "response"];
    let content = keys.iter().find_map(|key| block.remove(*key));
    let mut content = content.unwrap_or_default();
    // Vercel's AI SDK: `{"type": "error-text", "value": ".."}`
    if let (Some(kind), Some(value)) = (content["type"].as_str(), content.get("value")) {
        failed |= kind.starts_with("error");
        content = value.clone();
    }
    Ok(CallResult {
        id,
        result: as_result(content),
        failed,
    })
}

/// Returns the result of a call: blocks of text as a string, any other value as it is.
pub(super) fn as_result(content: Value) -> Value {
    let is_block = |block: &Value| block.get("type").is_some_and(Value::is_string);
    match content {
        Value::Array(blocks) if !blocks.is_empty() && blocks.iter().all(is_block) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            Value::String(texts.collect::<Vec<_>>().join("\n"))
        }
        other => other,
    }
}

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
