//! Reads OpenAI's and Anthropic's messages. Messages from LangChain, Gemini and ShareGPT, and calls to OpenAI's own
//! tools, are first rewritten in this form.

use serde_json::{Map, Value, json};

use super::call::{CallResult, Results};
use super::fields::{
    Block, LISTS, block_of, each, is_empty, list, object, parsed, position, required, role_of,
    unexpected,
};
use super::{call, fields};
use crate::json::found;
use crate::messages::escape::name;
use crate::trajectory::{Message, Role, ToolCall};

/// Reads one message.
pub(super) fn read(mut message: Map<String, Value>, to: &mut Results) -> Result<(), String> {
    let role = required(&message, "role")?;
    let role = role_of(role).ok_or_else(|| {
        let role = name(role);
        format!("unknown role `{role}`; write `system`, `user`, `assistant` or `tool`")
    })?;
    if !message.get("function_call").is_none_or(Value::is_null) {
        return Err("`function_call` is not supported; write `tool_calls`".to_owned());
    }
    let usage = fields::usage(&message, "usage")?;
    let content = message.remove("parts").filter(|parts| !is_empty(parts));
    let content = content.or_else(|| message.remove("content"));
    let content = content.unwrap_or_default();
    if role == Role::Tool && !has_results(&content) {
        let failed = call::has_failed(&message);
        let id = call::id(&message, "tool_call_id call_id tool_use_id")?;
        return to.add(CallResult {
            id,
            result: as_result(content),
            failed,
        });
    }
    let content = read_content(content)?;
    let mut tool_calls = Vec::new();
    for known in LISTS.split(' ') {
        let mut lists = message.iter().filter(|(_, list)| !is_empty(list));
        let list = lists.find(|(key, _)| position(known, key).is_some());
        tool_calls.extend(calls(list.map(|(_, list)| list.clone()))?);
    }
    // LangChain also lists the calls from Anthropic's blocks in `tool_calls`.
    if tool_calls.is_empty() {
        tool_calls = content.calls;
    }
    if role != Role::Assistant && !tool_calls.is_empty() {
        let reason = "tool calls in a message that is not the agent's; write the role `assistant`";
        return Err(reason.to_owned());
    }
    let is_empty = content.text.is_empty() && !content.results.is_empty();
    let message = Message {
        tool_calls,
        usage,
        ..Message::new(role, content.text)
    };
    let mut results = content.results.into_iter();
    if role == Role::Assistant {
        to.push(message);
        return results.try_for_each(|result| to.add(result));
    }
    // Anthropic puts results into user messages, before the text.
    results.try_for_each(|result| to.add(result))?;
    if !is_empty {
        to.push(message);
    }
    Ok(())
}

/// Reads `tool_calls`.
fn calls(calls: Option<Value>) -> Result<Vec<ToolCall>, String> {
    each("call", list("tool_calls", calls)?, |call| {
        call::read(object(call)?)
    })
}

/// The parts of a message's content.
#[derive(Default)]
struct Content {
    /// The text blocks, joined by line breaks.
    text: String,
    calls: Vec<ToolCall>,
    results: Vec<CallResult>,
}

/// Reads the content of a message.
fn read_content(content: Value) -> Result<Content, String> {
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
        let Some(kind) = kind_of(&block).map(str::to_owned) else {
            let reason = "a block without `type`; write `text`, `tool_use` or `tool_result`";
            return Err(reason.to_owned());
        };
        if let Some(Value::Object(inner)) = block.get(&kind) {
            block = inner.clone();
        }
        match block_of(&kind) {
            Some(Block::Text) => match block.remove("text").or_else(|| block.remove("content")) {
                Some(Value::String(text)) => self.add_text(&text),
                other => return Err(unexpected("text", "a string", &other.unwrap_or_default())),
            },
            Some(Block::Call) => self.calls.push(call::read(block)?),
            Some(Block::Result) => self.results.push(result(block, &kind)?),
            Some(Block::Other) => {}
            None => match kind.split_once('-') {
                // Vercel's AI SDK puts the tool's name into the type.
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

/// Returns `true` if content has result blocks, like tool messages in Vercel's AI SDK and Gemini.
fn has_results(content: &Value) -> bool {
    let block = |block: &Value| block_of(kind_of(block.as_object()?)?);
    let mut blocks = content.as_array().into_iter().flatten();
    blocks.any(|it| block(it) == Some(Block::Result))
}

/// Returns the type of a block, or the key that is its type.
fn kind_of(block: &Map<String, Value>) -> Option<&str> {
    let mut keys = block.keys().map(String::as_str);
    let kind = block.get("type").and_then(Value::as_str);
    kind.or_else(|| keys.find(|key| block_of(key).is_some()))
}

/// Reads a `tool_result` block.
fn result(mut block: Map<String, Value>, kind: &str) -> Result<CallResult, String> {
    let mut failed = call::has_failed(&block) || kind.ends_with("error");
    let id = call::id(&block, "tool_use_id tool_call_id call_id id")?;
    // Gemini lists results in the order of the calls.
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

/// Returns the result of a call: text blocks as a string, any other value unchanged.
fn as_result(content: Value) -> Value {
    let is_block = |block: &Value| block.get("type").is_some_and(Value::is_string);
    match content {
        Value::Array(blocks) if !blocks.is_empty() && blocks.iter().all(is_block) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            Value::String(texts.collect::<Vec<_>>().join("\n"))
        }
        other => other,
    }
}

/// How a system other than OpenAI writes a message, and how OpenAI writes items that are not messages.
enum Written<'o> {
    /// `{"from": "human", "value": ".."}`
    ShareGpt,
    /// `{"type": "ai", "content": ".."}`, `{"type": "ai", "data": {..}}`, or `{"lc": 1, "id": [.., "AIMessage"], "kwargs": {..}}`
    LangChain(&'o str),
    /// An item in OpenAI's Responses.
    Item(Block),
    /// The name of a tool that OpenAI runs. Each call is a separate item, such as `web_search_call` or `mcp_call`.
    Hosted(&'o str),
}

/// Items in OpenAI's Responses that are not messages.
const ITEMS: &str =
    "function_call function_call_output custom_tool_call custom_tool_call_output reasoning";

impl<'o> Written<'o> {
    /// Recognizes an object without `role`.
    fn of(object: &'o Map<String, Value>) -> Option<Self> {
        let has = |key: &&str| object.contains_key(*key);
        if ["from", "value"].iter().all(has) {
            return Some(Self::ShareGpt);
        }
        let mut kind = object.get("type").and_then(Value::as_str);
        if let Some(Value::Array(class)) = object.get("lc").and(object.get("id")) {
            kind = class.last().and_then(Value::as_str);
        }
        let kind = kind?;
        if ["content", "data", "lc"].iter().any(has) {
            let class = kind.strip_suffix("Chunk").unwrap_or(kind);
            let class = class.strip_suffix("Message").unwrap_or(class);
            if role_of(class).is_some() {
                return Some(Self::LangChain(class));
            }
        }
        if position(ITEMS, kind).is_some() {
            return block_of(kind).map(Self::Item);
        }
        let tool = kind.strip_suffix("_call")?;
        let name = object.get("name").and_then(Value::as_str);
        block_of(kind)
            .is_none()
            .then(|| Self::Hosted(name.unwrap_or(tool)))
    }
}

/// Returns `true` if an object is a message.
pub(super) fn is_message(object: &Map<String, Value>) -> bool {
    object.contains_key("role") || Written::of(object).is_some()
}

/// Converts a message to one with `role` and the keys of OpenAI's messages. Returns `None` for an item without text,
/// calls or results.
pub(super) fn with_role(
    mut message: Map<String, Value>,
) -> Result<Option<Map<String, Value>>, String> {
    let of = |role: &str, key: &str, value: Value| {
        Map::from_iter([("role".to_owned(), role.into()), (key.to_owned(), value)])
    };
    if message.contains_key("role") {
        return Ok(Some(message));
    }
    Ok(Some(match Written::of(&message) {
        None => message,
        Some(Written::ShareGpt) => {
            let value = message.remove("value").unwrap_or_default();
            match required(&message, "from")? {
                "function_call" => of("assistant", "tool_calls", as_calls(value)?),
                from => of(from, "content", value),
            }
        }
        Some(Written::LangChain(role)) => {
            let role = role.into();
            for key in ["kwargs", "data"] {
                if let Some(Value::Object(inner)) = message.remove(key) {
                    message = inner;
                }
            }
            // Before version 0.2, calls were among the provider's fields.
            if let Some(Value::Object(mut own)) = message.remove("additional_kwargs")
                && message.get("tool_calls").is_none_or(is_empty)
            {
                message.extend(own.remove_entry("tool_calls"));
                message.extend(own.remove_entry("function_call"));
            }
            message.insert("role".to_owned(), role);
            message
        }
        Some(Written::Item(Block::Other)) => return Ok(None),
        Some(Written::Item(block)) => {
            let role = if block == Block::Result {
                "user"
            } else {
                "assistant"
            };
            of(role, "content", json!([message]))
        }
        Some(Written::Hosted(tool)) => {
            let tool = tool.to_owned();
            of(
                "assistant",
                "tool_calls",
                json!([hosted_call(&tool, message)]),
            )
        }
    }))
}

/// Returns the calls of a ShareGPT message: a call or a list of calls, which can also be JSON in a string.
fn as_calls(value: Value) -> Result<Value, String> {
    let calls = match value {
        Value::String(json) => parsed(&json)
            .map_err(|reason| format!("`value` of a function call is not JSON: {reason}"))?,
        calls => calls,
    };
    Ok(if calls.is_array() {
        calls
    } else {
        json!([calls])
    })
}

fn hosted_call(tool: &str, mut item: Map<String, Value>) -> Map<String, Value> {
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
    call
}
