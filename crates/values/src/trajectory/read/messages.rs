//! Messages of OpenAI and Anthropic.

use serde_json::{Map, Value};

use super::call::{CallResult, Results};
use super::fields::{Block, LISTS, block_of, is_empty, position};
use super::fields::{each, list, object, required, unexpected};
use super::{call, fields};
use crate::json::describe::found;
use crate::messages::escape::name;
use crate::trajectory::steps::{Message, Role, ToolCall};

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
            _ => match block.keys().find(|key| block_of(key).is_some()).cloned() {
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
    let is_kind = |kind: &str| block_of(kind) == Some(Block::Result);
    // Gemini has the type as the only key.
    let is_result = |block: &Value| match (block["type"].as_str(), block.as_object()) {
        (None, Some(block)) => block.keys().any(|key| is_kind(key)),
        (kind, _) => kind.is_some_and(is_kind),
    };
    let blocks = content.as_array();
    blocks.is_some_and(|blocks| blocks.iter().any(is_result))
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
