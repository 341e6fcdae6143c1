//! The content of a message: a string, or blocks of text, calls and results.

use serde_json::{Map, Value};

use super::call;
use super::fields::{each, unexpected};
use super::keys::{Block, block_of, position};
use super::results::CallResult;
use crate::json::describe::found;
use crate::messages::escape::name;
use crate::trajectory::message::ToolCall;

/// The parts of a message's content.
#[derive(Default)]
pub(super) struct Content {
    /// The blocks of text, one line after another.
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) results: Vec<CallResult>,
}

/// Reads the content of a message.
pub(super) fn read(content: Value) -> Result<Content, String> {
    let mut parts = Content::default();
    match content {
        Value::Null => {}
        Value::String(text) => parts.text = text,
        Value::Array(blocks) => drop(each("block", blocks, |block| parts.add(block))?),
        other => {
            return Err(unexpected(
                "content",
                "a string or a list of blocks",
                &other,
            ));
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
                return Err(format!(
                    "expected an object with `type`, found {}",
                    found(&other)
                ));
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
                    return Err(
                        "a block without `type`; write `text`, `tool_use` or `tool_result`"
                            .to_owned(),
                    );
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
                         found `{}`; write one of these, and remove what is no part of the message",
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

/// Returns `true` if content has blocks of results, as messages of tools have in Vercel's AI SDK.
pub(super) fn has_results(content: &Value) -> bool {
    let is_result =
        |block: &Value| block_of(block["type"].as_str()?).filter(|it| *it == Block::Result);
    content
        .as_array()
        .is_some_and(|blocks| blocks.iter().any(|block| is_result(block).is_some()))
}

/// Reads a block `tool_result`.
fn result(mut block: Map<String, Value>, kind: &str) -> Result<CallResult, String> {
    let mut failed = call::has_failed(&block) || kind.ends_with("error");
    let id = call::id(&mut block, "tool_use_id tool_call_id call_id id")?;
    // Gemini has results in the order of the calls.
    if id.is_none() && position("function_response", kind).is_none() {
        return Err("a result without `tool_use_id`; write the id of its call".to_owned());
    }
    let key = ["content", "result", "output", "response"]
        .iter()
        .find(|key| block.contains_key(**key));
    let mut content = key.and_then(|key| block.remove(*key)).unwrap_or_default();
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
            let texts = blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str());
            Value::String(texts.collect::<Vec<_>>().join("\n"))
        }
        other => other,
    }
}
