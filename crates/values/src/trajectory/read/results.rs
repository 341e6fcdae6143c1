//! The messages that have been read, and the calls that may still get a result.

use std::collections::{BTreeSet, HashMap, VecDeque};

use foldhash::fast::RandomState;
use serde_json::Value;

use crate::messages::escape::name;
use crate::trajectory::message::{Message, Role};

/// Messages, and their calls by id.
#[derive(Default)]
pub(super) struct Results {
    pub(super) messages: Vec<Message>,
    /// The message with the last calls of an id, and those of its calls with this id that have no result yet. Some providers use
    /// an id again in a later message.
    by_id: HashMap<String, (usize, VecDeque<usize>), RandomState>,
    /// The last message with calls, and its calls without a result so far.
    last: (usize, BTreeSet<usize>),
}

/// A result as a message has it.
pub(super) struct CallResult {
    /// The id of the call, unless the format has none.
    pub(super) id: Option<String>,
    pub(super) result: Value,
    pub(super) failed: bool,
}

impl Results {
    pub(super) fn with_capacity(messages: usize) -> Self {
        Self {
            messages: Vec::with_capacity(messages),
            ..Self::default()
        }
    }

    /// Adds a message and its calls.
    pub(super) fn push(&mut self, message: Message) {
        let number = self.messages.len();
        for (at, call) in message.tool_calls.iter().enumerate() {
            let Some(id) = &call.id else { continue };
            let open = self.by_id.entry(id.clone()).or_default();
            if open.0 != number {
                *open = (number, VecDeque::new());
            }
            open.1.push_back(at);
        }
        if !message.tool_calls.is_empty() {
            self.last = (number, (0..message.tool_calls.len()).collect());
        }
        self.messages.push(message);
    }

    /// Adds a result to its call, and a message of the tool with the text of the result.
    pub(super) fn add(&mut self, result: CallResult) -> Result<(), String> {
        let CallResult { id, result, failed } = result;
        let place = match &id {
            Some(id) => Some(self.call_of(id)?),
            None => self.last.1.first().map(|at| (self.last.0, *at)),
        };
        let text = match &result {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        if let Some((message, at)) = place {
            if message == self.last.0 {
                self.last.1.remove(&at);
            }
            if let Some(call) = self.messages[message].tool_calls.get_mut(at) {
                // A result in the call itself is not replaced by the text of a message.
                call.result.get_or_insert(result);
                call.failed |= failed;
            }
        }
        self.push(Message {
            tool_call_id: id,
            ..Message::new(Role::Tool, text)
        });
        Ok(())
    }

    /// Returns the place of the first call of this id that has no result.
    fn call_of(&mut self, id: &str) -> Result<(usize, usize), String> {
        match self.by_id.get_mut(id) {
            None => Err(format!(
                "no earlier call has the id `{}`; write the id of a call",
                name(id)
            )),
            Some((message, open)) => match open.pop_front() {
                Some(at) => Ok((*message, at)),
                None => Err(format!(
                    "a second result for the id `{}`; write the id of another call",
                    name(id)
                )),
            },
        }
    }
}
