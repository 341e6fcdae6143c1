//! Builds a trajectory from the messages of the spans below a root.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use super::conventions::{self, Reply, Said, Tool, structured};
use super::document::Span;
use crate::import::table::{at, list};

/// A row's messages, in OpenAI's format.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) messages: Vec<Value>,
    /// How often each message occurs.
    counts: HashMap<String, usize>,
    /// The ids of the calls so far, each with `true` if the call has its result.
    calls: HashMap<String, bool>,
    /// The ids of calls that may still lack a result, grouped by tool.
    open: HashMap<String, VecDeque<String>>,
    /// The token counts over all model calls.
    pub(super) tokens: Option<[u64; 2]>,
}

impl Conversation {
    /// Builds a conversation from spans, sorted by their start time.
    pub(super) fn of(spans: &[Span]) -> Self {
        let mut conversation = Self::default();
        let mut said = Vec::new();
        for span in spans {
            let Some(of_span) = conventions::read(span) else {
                continue;
            };
            // Tools overlap, so a result is ordered by its span's end, and a reply by its span's start.
            let is_reply = matches!(of_span, Said::Reply(_));
            said.push((if is_reply { span.start } else { span.end }, span, of_span));
        }
        // An agent's span repeats the messages of the model calls below it.
        let is_model = |said: &Said| matches!(said, Said::Reply(reply) if !reply.is_agent);
        let has_replies = said.iter().any(|(_, _, said)| is_model(said));
        said.sort_by_key(|(time, ..)| *time);
        for (_, span, said) in said {
            match said {
                Said::Reply(reply) if reply.is_agent && has_replies => {}
                Said::Reply(reply) => conversation.add_replies(&reply),
                Said::Tool(tool) => conversation.add_tool(span, tool),
            }
        }
        conversation
    }

    /// Returns the text of the last reply.
    pub(super) fn answer(&self) -> Option<&str> {
        self.texts("assistant").last()
    }

    /// Returns the text of the user's first message.
    pub(super) fn question(&self) -> Option<&str> {
        self.texts("user").next()
    }

    fn texts(&self, role: &str) -> impl Iterator<Item = &str> {
        let of_role = self.messages.iter().filter(move |it| it["role"] == role);
        of_role
            .filter_map(|it| it["content"].as_str())
            .filter(|text| !text.is_empty())
    }

    fn add_replies(&mut self, reply: &Reply) {
        if reply.tokens.iter().any(Option::is_some) {
            let sum = self.tokens.get_or_insert_default();
            for (sum, more) in sum.iter_mut().zip(reply.tokens) {
                *sum = sum.saturating_add(more.unwrap_or(0));
            }
        }
        // The input of a call repeats the messages from earlier calls.
        let mut seen = HashMap::<String, usize>::new();
        for message in reply.input.iter().flat_map(read) {
            let key = message.to_string();
            let count = seen.entry(key.clone()).or_default();
            *count += 1;
            if *count > self.counts.get(&key).copied().unwrap_or(0) {
                self.push(message);
            }
        }
        let output = reply.output.iter().flat_map(read);
        output.for_each(|message| self.push(message));
    }

    fn add_tool(&mut self, span: &Span, tool: Tool) {
        let name = tool.name.as_deref().unwrap_or(&span.name);
        let (id, args, result) = (tool.id.as_deref(), tool.args, tool.result);
        let known = match id {
            Some(id) => self.calls.contains_key(id).then(|| id.to_owned()),
            None => self.open_call(name),
        };
        let id = match known {
            Some(known) if self.calls[&known] => return,
            Some(known) => known,
            None => {
                let id = id.unwrap_or(&span.id).to_owned();
                let call = json!({ "id": id, "name": name, "args": args });
                self.push(json!({ "role": "assistant", "content": "", "tool_calls": [call] }));
                id
            }
        };
        if !result.is_null() || span.error.is_some() {
            let mut message = tool_message(&id, Some(result));
            if span.error.is_some() {
                message["is_error"] = true.into();
            }
            self.push(message);
        }
    }

    /// Returns the id of the tool's first call that has no result.
    fn open_call(&mut self, name: &str) -> Option<String> {
        let open = self.open.get_mut(name)?;
        while open.front().is_some_and(|id| self.calls[id]) {
            open.pop_front();
        }
        open.front().cloned()
    }

    /// Adds a message, unless the call already has a result.
    fn push(&mut self, mut message: Value) {
        *self.counts.entry(message.to_string()).or_default() += 1;
        if let Some(id) = message["tool_call_id"].as_str() {
            match self.calls.get_mut(id) {
                Some(true) => return,
                Some(has_result) => *has_result = true,
                // The call is not in the spans.
                None => _ = message.as_object_mut().map(|it| it.remove("tool_call_id")),
            }
        }
        for call in list(&message["tool_calls"]) {
            let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
            self.calls.insert(text("id"), false);
            let open = self.open.entry(text("name")).or_default();
            open.push_back(text("id"));
        }
        self.messages.push(message);
    }
}

/// Converts a message from any convention to OpenAI's format, with each tool result as its own message.
fn read(message: &Value) -> Vec<Value> {
    let role = match message["role"].as_str() {
        Some(role @ ("system" | "user" | "tool")) => role,
        Some("developer") => "system",
        _ => "assistant",
    };
    let mut text = Vec::from_iter(message["content"].as_str());
    let contents = list(&message["contents"]);
    text.extend(contents.filter_map(|it| it["message_content"]["text"].as_str()));
    let mut calls: Vec<Value> = list(&message["tool_calls"]).map(call).collect();
    let (mut results, mut unknown) = (Vec::new(), Vec::new());
    for part in list(&message["parts"]).chain(list(&message["content"])) {
        match part["type"].as_str() {
            Some("text") => text.extend(at(part, "/content /text").and_then(Value::as_str)),
            Some("tool_call_response" | "tool-result") => {
                let result = at(part, "/output/value /output /response /result");
                let id = at(part, "/id /toolCallId").and_then(Value::as_str);
                results.push(tool_message(id.unwrap_or_default(), result.cloned()));
            }
            Some("reasoning" | "blob" | "file" | "uri") => {}
            Some("tool_call" | "tool-call") => calls.push(call(part)),
            _ => unknown.push(part.clone()),
        }
    }
    if let ("tool", Some(id)) = (role, message["tool_call_id"].as_str()) {
        results.push(tool_message(id, Some(text.join("\n").into())));
        text.clear();
    }
    if !unknown.is_empty() {
        // The trajectory reader's error names the type.
        return vec![json!({ "role": role, "content": unknown })];
    }
    let mut messages = Vec::new();
    if results.is_empty() || !text.is_empty() {
        let mut message = json!({ "role": role, "content": text.join("\n") });
        // Calls are the agent's.
        if !calls.is_empty() {
            message["role"] = "assistant".into();
            message["tool_calls"] = calls.into();
        }
        messages.push(message);
    }
    messages.extend(results);
    messages
}

/// Converts a call from any convention.
fn call(call: &Value) -> Value {
    let call = call.get("tool_call").unwrap_or(call);
    let function = call.get("function").unwrap_or(call);
    let name = at(function, "/name /toolName").and_then(Value::as_str);
    let args = structured(at(function, "/arguments /args /input"));
    json!({
        "id": at(call, "/id /toolCallId"),
        "name": name.unwrap_or("unknown"),
        "args": args.unwrap_or_else(|| json!({})),
    })
}

fn tool_message(id: &str, result: Option<Value>) -> Value {
    let content = match result.unwrap_or_default() {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    json!({ "role": "tool", "tool_call_id": id, "content": content })
}
