//! The content of a message: a string, or blocks of text, calls and results.

use serde_json::{Map, Value};

use super::call;
use super::results::CallResult;
use crate::json::describe::found;
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
        Value::Array(blocks) => {
            for (at, block) in blocks.into_iter().enumerate() {
                parts.add(block).map_err(|reason| format!("block {}: {reason}", at + 1))?;
            }
        }
        other => {
            return Err(format!(
                "`content`: expected a string or a list of blocks, found {}",
                found(&other)
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
                return Err(format!("expected an object with `type`, found {}", found(&other)));
            }
        };
        let Some(Value::String(kind)) = block.remove("type") else {
            return Err(
                "a block without `type`; write `text`, `tool_use` or `tool_result`".to_owned()
            );
        };
        match &*kind {
            "text" | "input_text" | "output_text" => match block.remove("text") {
                Some(Value::String(text)) => self.add_text(&text),
                other => {
                    let found = found(&other.unwrap_or_default());
                    return Err(format!("`text`: expected a string, found {found}"));
                }
            },
            // Tools that the provider runs have kinds of their own, such as `server_tool_use`.
            kind if kind.ends_with("tool_use") => self.calls.push(call::read(block)?),
            kind if kind.ends_with("tool_result") => self.results.push(result(block)?),
            // Images, files, reasoning.
            _ => {}
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

/// Reads a block `tool_result`.
fn result(mut block: Map<String, Value>) -> Result<CallResult, String> {
    let failed = call::has_failed(&block);
    let Some(id) = call::id(&mut block, &["tool_use_id"])? else {
        return Err("a result without `tool_use_id`; write the id of its call".to_owned());
    };
    let content = block.remove("content").unwrap_or_default();
    Ok(CallResult { id: Some(id), result: as_result(content), failed })
}

/// Returns the result of a call: blocks of text as a string, any other value as it is.
pub(super) fn as_result(content: Value) -> Value {
    let is_block = |block: &Value| block.get("type").is_some_and(Value::is_string);
    match content {
        Value::Array(blocks) if !blocks.is_empty() && blocks.iter().all(is_block) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            Value::String(texts.collect::<Vec<_>>().join("\n"))
        }
        other => other,
    }
}
