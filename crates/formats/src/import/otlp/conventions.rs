//! Reads what a span records about a model or a tool, with one function for each convention.

use serde_json::{Map, Value, json};

use super::document::{Span, items};

/// What a span says.
pub(super) enum Said {
    Reply(Reply),
    Tool(Tool),
}

/// A model or an agent replies. Messages have `role` and `parts`, as in OpenTelemetry's convention.
pub(super) struct Reply {
    pub(super) input: Vec<Value>,
    pub(super) output: Vec<Value>,
    pub(super) tokens: [Option<u64>; 2],
    pub(super) is_agent: bool,
}

impl Reply {
    fn said(input: Vec<Value>, output: Vec<Value>, tokens: [Option<u64>; 2]) -> Said {
        Said::Reply(Self {
            input,
            output,
            tokens,
            is_agent: false,
        })
    }
}

/// A tool returns.
pub(super) struct Tool {
    pub(super) name: Option<String>,
    pub(super) id: Option<String>,
    pub(super) args: Value,
    pub(super) result: Value,
}

/// Returns what the span of a tool says, whose name, id and result have these keys.
fn tool(span: &Span, [name, id]: [&str; 2], args: Value, result: &str) -> Said {
    let owned = |key| text(span, key).map(str::to_owned);
    Said::Tool(Tool {
        name: owned(name),
        id: owned(id),
        args,
        result: attribute(span, result).cloned().unwrap_or_default(),
    })
}

impl Said {
    pub(super) fn has_messages(&self) -> bool {
        !matches!(self, Self::Reply(reply) if reply.input.is_empty() && reply.output.is_empty())
    }
}

/// The name of a convention, the attribute that reveals it, and its reader.
pub(super) type Convention = (&'static str, &'static str, fn(&Span) -> Option<Said>);

pub(super) const CONVENTIONS: [Convention; 4] = [
    ("OpenTelemetry", "gen_ai.operation.name", open_telemetry),
    ("OpenLLMetry", "traceloop.span.kind", open_llmetry),
    ("OpenInference", "openinference.span.kind", open_inference),
    ("Vercel's AI SDK", "ai.operationId", vercel),
];

/// Returns the convention of a span, and what the span says. Some programs follow two conventions, but write messages in only one.
pub(super) fn read(span: &Span) -> Option<(&'static str, Said)> {
    let mut said = CONVENTIONS
        .iter()
        .filter_map(|(name, _, read)| Some((*name, read(span)?)));
    let first = said.next()?;
    match first.1.has_messages() {
        true => Some(first),
        false => Some(said.find(|(_, said)| said.has_messages()).unwrap_or(first)),
    }
}

/// <https://github.com/open-telemetry/semantic-conventions-genai>
fn open_telemetry(span: &Span) -> Option<Said> {
    match text(span, "gen_ai.operation.name")? {
        operation @ ("chat" | "generate_content" | "text_completion" | "invoke_agent") => {
            let instructions = structured(attribute(span, "gen_ai.system_instructions"));
            let instructions = instructions.filter(Value::is_array);
            let system = instructions.map(|parts| json!({ "role": "system", "parts": parts }));
            let messages = list(span, "gen_ai.input.messages");
            let keys = ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"];
            Some(Said::Reply(Reply {
                input: system.into_iter().chain(messages).collect(),
                output: list(span, "gen_ai.output.messages"),
                tokens: tokens(span, keys),
                is_agent: operation == "invoke_agent",
            }))
        }
        "execute_tool" => {
            let args = structured(attribute(span, "gen_ai.tool.call.arguments"));
            let keys = ["gen_ai.tool.name", "gen_ai.tool.call.id"];
            let args = args.unwrap_or_else(|| json!({}));
            Some(tool(span, keys, args, "gen_ai.tool.call.result"))
        }
        _ => None,
    }
}

/// <https://github.com/traceloop/openllmetry>: the attributes of messages are numbered.
fn open_llmetry(span: &Span) -> Option<Said> {
    if text(span, "traceloop.span.kind") == Some("tool") {
        let input = structured(attribute(span, "traceloop.entity.input")).unwrap_or_default();
        let args = ["kwargs", "inputs"]
            .iter()
            .find_map(|key| input.get(key).filter(|it| it.is_object()));
        let args = as_args(args.cloned().unwrap_or(input));
        let keys = ["traceloop.entity.name", ""];
        return Some(tool(span, keys, args, "traceloop.entity.output"));
    }
    let [input, output] = flat_messages(span, ["gen_ai.prompt.", "gen_ai.completion."]);
    let is_reply =
        !input.is_empty() || !output.is_empty() || attribute(span, "llm.request.type").is_some();
    let keys = [
        "gen_ai.usage.prompt_tokens",
        "gen_ai.usage.completion_tokens",
    ];
    is_reply.then(|| Reply::said(input, output, tokens(span, keys)))
}

/// <https://arize-ai.github.io/openinference/spec/>
fn open_inference(span: &Span) -> Option<Said> {
    match text(span, "openinference.span.kind")? {
        "LLM" => {
            let prefixes = ["llm.input_messages.", "llm.output_messages."];
            let [input, output] = flat_messages(span, prefixes);
            let keys = ["llm.token_count.prompt", "llm.token_count.completion"];
            Some(Reply::said(input, output, tokens(span, keys)))
        }
        "TOOL" => {
            let id = ["tool_call.id", "tool.id"];
            let id = id.into_iter().find(|key| attribute(span, key).is_some());
            let args = as_args(structured(attribute(span, "input.value")).unwrap_or_default());
            let keys = ["tool.name", id.unwrap_or_default()];
            Some(tool(span, keys, args, "output.value"))
        }
        _ => None,
    }
}

/// <https://ai-sdk.dev/docs/ai-sdk-core/telemetry>: the span of the whole call contains the spans of its steps.
fn vercel(span: &Span) -> Option<Said> {
    match text(span, "ai.operationId")? {
        "ai.toolCall" => {
            let args = structured(attribute(span, "ai.toolCall.args")).unwrap_or_default();
            let keys = ["ai.toolCall.name", "ai.toolCall.id"];
            Some(tool(span, keys, as_args(args), "ai.toolCall.result"))
        }
        step if step.ends_with(".doGenerate") || step.ends_with(".doStream") => {
            let input = list(span, "ai.prompt.messages");
            let text = text(span, "ai.response.text").or(text(span, "ai.response.object"));
            let text = text.map(|text| json!({ "type": "text", "text": text }));
            let calls = list(span, "ai.response.toolCalls");
            let reply: Vec<Value> = text.into_iter().chain(calls).collect();
            let output = (!reply.is_empty())
                .then(|| vercel_message(&json!({ "role": "assistant", "content": reply })));
            let before = tokens(span, ["ai.usage.promptTokens", "ai.usage.completionTokens"]);
            let since = tokens(span, ["ai.usage.inputTokens", "ai.usage.outputTokens"]);
            let input = input.iter().map(vercel_message).collect();
            let tokens = [0, 1].map(|side| before[side].or(since[side]));
            Some(Reply::said(input, output.into_iter().collect(), tokens))
        }
        _ => None,
    }
}

fn vercel_message(message: &Value) -> Value {
    let part = |part: &Value| match part["type"].as_str() {
        Some("text") => json!({ "type": "text", "content": part["text"] }),
        Some("tool-result") => {
            let output = part.get("output").unwrap_or(&part["result"]);
            let value = output.get("value").unwrap_or(output);
            json!({ "type": "tool_call_response", "id": part["toolCallId"], "response": value })
        }
        _ if part.get("toolName").is_some() => {
            let args = part.get("args").or_else(|| part.get("input"));
            json!({ "type": "tool_call", "id": part["toolCallId"], "name": part["toolName"], "arguments": args })
        }
        _ => part.clone(),
    };
    match &message["content"] {
        Value::Array(parts) => {
            json!({ "role": message["role"], "parts": parts.iter().map(part).collect::<Vec<_>>() })
        }
        _ => message.clone(),
    }
}

/// Returns the messages below each prefix.
fn flat_messages(span: &Span, prefixes: [&str; 2]) -> [Vec<Value>; 2] {
    prefixes.map(|prefix| {
        let messages = items(nested(span, prefix)).into_iter();
        messages
            .map(|it| flat_message(it.get("message").unwrap_or(&it)))
            .collect()
    })
}

/// Converts a message from flat attributes to the parts of OpenTelemetry's convention.
fn flat_message(message: &Value) -> Value {
    let mut texts = vec![message["content"].clone()];
    for item in message["contents"].as_array().into_iter().flatten() {
        texts.push(item["message_content"]["text"].clone());
    }
    texts.retain(Value::is_string);
    let mut parts = Vec::new();
    if message["role"] == "tool" {
        let response = texts.into_iter().next().unwrap_or_default();
        parts.push(json!({ "type": "tool_call_response", "id": message["tool_call_id"], "response": response }));
    } else {
        let part = |text| json!({ "type": "text", "content": text });
        parts.extend(texts.into_iter().map(part));
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let call = call.get("tool_call").unwrap_or(call);
        let function = call.get("function").unwrap_or(call);
        parts.push(json!({
            "type": "tool_call", "id": call["id"], "name": function["name"], "arguments": function["arguments"],
        }));
    }
    json!({ "role": message["role"], "parts": parts })
}

/// Nests the attributes below a prefix: `0.role` and `0.content` become `[{"role": .., "content": ..}]`.
fn nested(span: &Span, prefix: &str) -> Value {
    let mut root = Value::Null;
    for (key, value) in &span.attributes {
        let Some(path) = key.strip_prefix(prefix) else {
            continue;
        };
        let mut at = &mut root;
        for key in path.split('.') {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[key];
        }
        *at = value.clone();
    }
    listed(root)
}

/// Turns objects with numbers as keys into lists.
fn listed(value: Value) -> Value {
    let Value::Object(fields) = value else {
        return value;
    };
    let fields = fields.into_iter().map(|(key, value)| (key, listed(value)));
    let mut fields: Vec<(String, Value)> = fields.collect();
    let numbers: Option<Vec<u64>> = fields.iter().map(|(key, _)| key.parse().ok()).collect();
    if numbers.is_none() {
        return Value::Object(fields.into_iter().collect());
    }
    fields.sort_by_key(|(key, _)| key.parse().unwrap_or(u64::MAX));
    fields.into_iter().map(|(_, value)| value).collect()
}

/// Returns a tool's arguments. If its input is not an object, it becomes the argument `input`.
fn as_args(input: Value) -> Value {
    match input {
        Value::Null => json!({}),
        Value::Object(_) => input,
        one => json!({ "input": one }),
    }
}

fn tokens(span: &Span, keys: [&str; 2]) -> [Option<u64>; 2] {
    keys.map(|key| attribute(span, key).and_then(Value::as_u64))
}

/// Returns the items of a list, which may be written as a string of JSON.
fn list(span: &Span, key: &str) -> Vec<Value> {
    items(structured(attribute(span, key)).unwrap_or_default())
}

fn text<'s>(span: &'s Span, key: &str) -> Option<&'s str> {
    attribute(span, key).and_then(Value::as_str)
}

/// Returns an attribute of the span, or of the event that details its operation.
pub(super) fn attribute<'s>(span: &'s Span, key: &str) -> Option<&'s Value> {
    let events = span.events.iter();
    let mut details = events.filter(|it| it.name.ends_with(".operation.details"));
    let of_span = span.attributes.get(key);
    of_span.or_else(|| details.find_map(|it| it.attributes.get(key)))
}

/// Returns a structured value, which may be written as a string of JSON.
pub(super) fn structured(value: Option<&Value>) -> Option<Value> {
    match value? {
        Value::Null => None,
        Value::String(json) => {
            Some(serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.clone())))
        }
        other => Some(other.clone()),
    }
}
