//! Reads what a span records about a model or a tool, based on each convention's attributes.

use serde_json::{Map, Value, json};

use super::document::{Span, items};

/// What a span records.
pub(super) enum Said {
    Reply(Reply),
    Tool(Tool),
}

/// A reply from a model or an agent. The messages are in their convention's format.
pub(super) struct Reply {
    pub(super) input: Vec<Value>,
    pub(super) output: Vec<Value>,
    pub(super) tokens: [Option<u64>; 2],
    pub(super) is_agent: bool,
}

/// A tool's execution.
pub(super) struct Tool {
    pub(super) name: Option<String>,
    pub(super) id: Option<String>,
    pub(super) args: Value,
    pub(super) result: Value,
}

/// The attributes that programs use for messages and calls. Alternatives are separated by spaces.
struct Convention {
    /// The attribute that contains a span's kind.
    kind: &'static str,
    /// The suffixes of the kinds that a model's spans have. If empty, any span with messages is a model's span.
    replies: &'static str,
    /// The kind that a tool's span has.
    tool: &'static str,
    /// Lists of messages, attributes below a prefix that ends with a dot, or the text of a reply.
    input: &'static str,
    output: &'static str,
    /// The calls in a reply whose text has its own attribute.
    calls: &'static str,
    tokens: [&'static str; 2],
    /// The name, id and result of a call, and its arguments. The arguments are the whole attribute or one of its
    /// fields.
    tool_name: &'static str,
    tool_id: &'static str,
    tool_result: &'static str,
    tool_args: &'static str,
}

const CONVENTIONS: [Convention; 4] = [
    // OpenTelemetry.
    Convention {
        kind: "gen_ai.operation.name",
        replies: "chat generate_content text_completion invoke_agent",
        tool: "execute_tool",
        input: "gen_ai.system_instructions gen_ai.input.messages",
        output: "gen_ai.output.messages",
        calls: "",
        tokens: ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"],
        tool_name: "gen_ai.tool.name",
        tool_id: "gen_ai.tool.call.id",
        tool_result: "gen_ai.tool.call.result",
        tool_args: "gen_ai.tool.call.arguments",
    },
    // OpenLLMetry.
    Convention {
        kind: "traceloop.span.kind",
        replies: "",
        tool: "tool",
        input: "gen_ai.prompt.",
        output: "gen_ai.completion.",
        calls: "",
        tokens: [
            "gen_ai.usage.prompt_tokens",
            "gen_ai.usage.completion_tokens",
        ],
        tool_name: "traceloop.entity.name",
        tool_id: "",
        tool_result: "traceloop.entity.output",
        tool_args: "traceloop.entity.input/kwargs traceloop.entity.input/inputs traceloop.entity.input",
    },
    // OpenInference.
    Convention {
        kind: "openinference.span.kind",
        replies: "LLM",
        tool: "TOOL",
        input: "llm.input_messages.",
        output: "llm.output_messages.",
        calls: "",
        tokens: ["llm.token_count.prompt", "llm.token_count.completion"],
        tool_name: "tool.name",
        tool_id: "tool_call.id tool.id",
        tool_result: "output.value",
        tool_args: "input.value",
    },
    // Vercel's AI SDK.
    Convention {
        kind: "ai.operationId",
        replies: ".doGenerate .doStream",
        tool: "ai.toolCall",
        input: "ai.prompt.messages",
        output: "ai.response.text ai.response.object",
        calls: "ai.response.toolCalls",
        tokens: [
            "ai.usage.promptTokens ai.usage.inputTokens",
            "ai.usage.completionTokens ai.usage.outputTokens",
        ],
        tool_name: "ai.toolCall.name",
        tool_id: "ai.toolCall.id",
        tool_result: "ai.toolCall.result",
        tool_args: "ai.toolCall.args",
    },
];

/// Returns what the span records. Some programs follow several conventions, but write the messages only in one of them.
pub(super) fn read(span: &Span) -> Option<Said> {
    let has_messages = |said: &Said| match said {
        Said::Reply(reply) => !reply.input.is_empty() || !reply.output.is_empty(),
        Said::Tool(_) => true,
    };
    let mut said = CONVENTIONS.iter().filter_map(|it| it.read(span));
    let first = said.next()?;
    match has_messages(&first) {
        true => Some(first),
        false => Some(said.find(has_messages).unwrap_or(first)),
    }
}

impl Convention {
    fn read(&self, span: &Span) -> Option<Said> {
        let text = |keys| attribute(span, keys)?.as_str().map(str::to_owned);
        let kind = text(self.kind).unwrap_or_default();
        if kind == self.tool {
            return Some(Said::Tool(Tool {
                name: text(self.tool_name),
                id: text(self.tool_id),
                args: self.args(span),
                result: attribute(span, self.tool_result)
                    .cloned()
                    .unwrap_or_default(),
            }));
        }
        let [input, mut output] = [self.input, self.output].map(|keys| {
            let keys = keys.split(' ');
            keys.flat_map(|key| messages(span, key)).collect::<Vec<_>>()
        });
        if let Some(calls) = structured(attribute(span, self.calls)) {
            let text = output.pop().map(|mut reply| reply["content"].take());
            output.push(json!({ "role": "assistant", "content": text, "tool_calls": calls }));
        }
        let is_reply = match self.replies {
            "" => {
                let has_messages = !input.is_empty() || !output.is_empty();
                has_messages || attribute(span, "llm.request.type").is_some()
            }
            kinds => kinds.split(' ').any(|end| kind.ends_with(end)),
        };
        is_reply.then(|| {
            Said::Reply(Reply {
                input,
                output,
                tokens: self.tokens.map(|keys| attribute(span, keys)?.as_u64()),
                is_agent: kind == "invoke_agent",
            })
        })
    }

    /// Returns a tool's arguments. Only OpenTelemetry has an attribute just for arguments. In the other conventions, an
    /// input that is not an object becomes the argument `input`.
    fn args(&self, span: &Span) -> Value {
        let args = self.tool_args.split(' ').find_map(|key| {
            let (key, field) = key.split_once('/').unwrap_or((key, ""));
            let input = structured(attribute(span, key))?;
            match field {
                "" => Some(input),
                field => input.get(field).filter(|it| it.is_object()).cloned(),
            }
        });
        match args {
            None => json!({}),
            Some(args) if args.is_object() || self.tool == "execute_tool" => args,
            Some(one) => json!({ "input": one }),
        }
    }
}

/// Returns the messages in an attribute, or in the attributes below a prefix.
fn messages(span: &Span, key: &str) -> Vec<Value> {
    if key.ends_with('.') {
        let messages = items(nested(span, key)).into_iter();
        let message = |mut it: Value| match it.get_mut("message") {
            Some(message) => message.take(),
            None => it,
        };
        return messages.map(message).collect();
    }
    let value = attribute(span, key);
    if key.starts_with("ai.response.") {
        let reply = value.map(|text| json!({ "role": "assistant", "content": text }));
        return reply.into_iter().collect();
    }
    match structured(value) {
        // Instructions are parts of a single message.
        Some(Value::Array(parts)) if key.ends_with("_instructions") => {
            vec![json!({ "role": "system", "parts": parts })]
        }
        messages => items(messages.unwrap_or_default()),
    }
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

/// Turns objects whose keys are numbers into lists.
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

/// Returns the first of these attributes found on the span, or on the event that details its operation.
pub(super) fn attribute<'s>(span: &'s Span, keys: &str) -> Option<&'s Value> {
    let events = span.events.iter();
    let details = events.filter(|it| it.name.ends_with(".operation.details"));
    let mut places = std::iter::once(&span.attributes).chain(details.map(|it| &it.attributes));
    places.find_map(|place| keys.split(' ').find_map(|key| place.get(key)))
}

/// Returns a structured value, which can also be written as a JSON string.
pub(super) fn structured(value: Option<&Value>) -> Option<Value> {
    match value? {
        Value::Null => None,
        Value::String(json) => {
            Some(serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.clone())))
        }
        other => Some(other.clone()),
    }
}
