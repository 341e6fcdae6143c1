//! Reads what a span records about a model or a tool, with one function for each convention.

use serde_json::{Map, Value, json};

use super::document::Span;

/// What a span says.
pub(super) enum Said {
    Reply(Reply),
    Tool(Tool),
}

/// A model or an agent replies. Messages have `role` and `parts`, as in OpenTelemetry's convention.
#[derive(Default)]
pub(super) struct Reply {
    pub(super) input: Vec<Value>,
    pub(super) output: Vec<Value>,
    pub(super) tokens: [Option<u64>; 2],
    pub(super) is_agent: bool,
}

/// A tool returns.
pub(super) struct Tool {
    pub(super) name: Option<String>,
    pub(super) id: Option<String>,
    pub(super) args: Value,
    pub(super) result: Value,
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
            let mut input = Vec::new();
            if let Some(parts @ Value::Array(_)) =
                structured(attribute(span, "gen_ai.system_instructions"))
            {
                input.push(json!({ "role": "system", "parts": parts }));
            }
            input.extend(list(structured(attribute(span, "gen_ai.input.messages"))));
            let output = list(structured(attribute(span, "gen_ai.output.messages")));
            let tokens = tokens(
                span,
                ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"],
            );
            Some(Said::Reply(Reply {
                input,
                output,
                tokens,
                is_agent: operation == "invoke_agent",
            }))
        }
        "execute_tool" => Some(Said::Tool(Tool {
            name: owned(span, "gen_ai.tool.name"),
            id: owned(span, "gen_ai.tool.call.id"),
            args: structured(attribute(span, "gen_ai.tool.call.arguments"))
                .unwrap_or_else(|| json!({})),
            result: attribute(span, "gen_ai.tool.call.result")
                .cloned()
                .unwrap_or_default(),
        })),
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
        return Some(Said::Tool(Tool {
            name: owned(span, "traceloop.entity.name"),
            id: None,
            args: as_args(args.cloned().unwrap_or(input)),
            result: attribute(span, "traceloop.entity.output")
                .cloned()
                .unwrap_or_default(),
        }));
    }
    let [input, output] = ["gen_ai.prompt.", "gen_ai.completion."].map(|prefix| {
        list(Some(nested(span, prefix)))
            .iter()
            .map(flat_message)
            .collect::<Vec<_>>()
    });
    let is_reply =
        !input.is_empty() || !output.is_empty() || attribute(span, "llm.request.type").is_some();
    let tokens = tokens(
        span,
        [
            "gen_ai.usage.prompt_tokens",
            "gen_ai.usage.completion_tokens",
        ],
    );
    is_reply.then_some(Said::Reply(Reply {
        input,
        output,
        tokens,
        ..Reply::default()
    }))
}

/// <https://arize-ai.github.io/openinference/spec/>
fn open_inference(span: &Span) -> Option<Said> {
    match text(span, "openinference.span.kind")? {
        "LLM" => {
            let [input, output] = ["llm.input_messages.", "llm.output_messages."].map(|prefix| {
                let messages = list(Some(nested(span, prefix)));
                messages
                    .iter()
                    .map(|it| flat_message(&it["message"]))
                    .collect()
            });
            let tokens = tokens(
                span,
                ["llm.token_count.prompt", "llm.token_count.completion"],
            );
            Some(Said::Reply(Reply {
                input,
                output,
                tokens,
                ..Reply::default()
            }))
        }
        "TOOL" => Some(Said::Tool(Tool {
            name: owned(span, "tool.name"),
            id: owned(span, "tool_call.id").or_else(|| owned(span, "tool.id")),
            args: as_args(structured(attribute(span, "input.value")).unwrap_or_default()),
            result: attribute(span, "output.value").cloned().unwrap_or_default(),
        })),
        _ => None,
    }
}

/// <https://ai-sdk.dev/docs/ai-sdk-core/telemetry>: the span of the whole call contains the spans of its steps.
fn vercel(span: &Span) -> Option<Said> {
    match text(span, "ai.operationId")? {
        "ai.toolCall" => Some(Said::Tool(Tool {
            name: owned(span, "ai.toolCall.name"),
            id: owned(span, "ai.toolCall.id"),
            args: as_args(structured(attribute(span, "ai.toolCall.args")).unwrap_or_default()),
            result: attribute(span, "ai.toolCall.result")
                .cloned()
                .unwrap_or_default(),
        })),
        step if step.ends_with(".doGenerate") || step.ends_with(".doStream") => {
            let input = list(structured(attribute(span, "ai.prompt.messages")));
            let mut reply = list(structured(attribute(span, "ai.response.toolCalls")));
            if let Some(text) =
                text(span, "ai.response.text").or_else(|| text(span, "ai.response.object"))
            {
                reply.insert(0, json!({ "type": "text", "text": text }));
            }
            let output = Some(json!({ "role": "assistant", "content": reply }))
                .filter(|_| !reply.is_empty());
            let tokens = [
                ["ai.usage.promptTokens", "ai.usage.completionTokens"],
                ["ai.usage.inputTokens", "ai.usage.outputTokens"],
            ]
            .map(|keys| tokens(span, keys));
            let tokens = [0, 1].map(|side| tokens[0][side].or(tokens[1][side]));
            let messages = |all: Vec<Value>| all.iter().map(vercel_message).collect();
            Some(Said::Reply(Reply {
                input: messages(input),
                output: messages(list(output.map(|it| json!([it])))),
                tokens,
                ..Reply::default()
            }))
        }
        _ => None,
    }
}

fn vercel_message(message: &Value) -> Value {
    let part = |part: &Value| match part["type"].as_str() {
        Some("text") => json!({ "type": "text", "content": part["text"] }),
        Some("tool-result") => {
            let output = part
                .get("output")
                .or_else(|| part.get("result"))
                .unwrap_or(&Value::Null);
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
        parts.extend(
            texts
                .into_iter()
                .map(|text| json!({ "type": "text", "content": text })),
        );
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

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn text<'s>(span: &'s Span, key: &str) -> Option<&'s str> {
    attribute(span, key).and_then(Value::as_str)
}

fn owned(span: &Span, key: &str) -> Option<String> {
    text(span, key).map(str::to_owned)
}

/// Returns an attribute of the span, or of the event that details its operation.
pub(super) fn attribute<'s>(span: &'s Span, key: &str) -> Option<&'s Value> {
    let details = span
        .events
        .iter()
        .filter(|it| it.name.ends_with(".operation.details"));
    span.attributes
        .get(key)
        .or_else(|| details.flat_map(|it| it.attributes.get(key)).next())
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
