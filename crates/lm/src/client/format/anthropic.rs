//! Anthropic's Messages format.

use reqwest::header::HeaderName;
use serde_json::{Value, json};

use super::super::super::{LmError, LmErrorKind, LmReply, Role, Usage};
use super::super::Call;
use super::parts::{Question, insert, list, string, tokens};
use super::schema::{Dialect, adapt};

/// The format requires a limit. This is the largest that all models since Claude Opus 4 accept.
const DEFAULT_MAX_TOKENS: u32 = 32_000;

pub(super) fn call(question: &Question<'_>) -> Result<Call, LmError> {
    let (target, request) = (question.target, question.request);
    if request.logprobs.is_some() {
        let message = "the provider's format has no log probabilities".to_owned();
        let parameter = "logprobs".to_owned();
        let kind = LmErrorKind::ParameterUnsupported { parameter, message };
        return Err(LmError::new(&*target.id, kind));
    }
    let headers = [
        ("x-api-key", target.key()),
        ("anthropic-version", "2023-06-01"),
    ];
    let headers = headers.map(|(name, value)| (HeaderName::from_static(name), value.to_owned()));
    let messages = request.messages.iter();
    let messages = messages.filter(|message| message.role != Role::System);
    let messages = messages.map(|it| json!({ "role": it.role, "content": it.content }));
    let sampling = &request.sampling;
    let mut body = json!({
        "model": target.model,
        "stream": false,
        "messages": messages.collect::<Vec<_>>(),
        "max_tokens": sampling.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
    });
    insert(&mut body, "system", question.system());
    let schema = request.schema.as_ref().filter(|_| !question.json_mode);
    let format = schema.map(|schema| {
        let schema = adapt(&schema.schema, Dialect::Anthropic);
        json!({ "format": { "type": "json_schema", "schema": schema } })
    });
    insert(&mut body, "output_config", format);
    insert(&mut body, "temperature", sampling.temperature);
    insert(&mut body, "top_p", sampling.top_p);
    Ok(Call {
        url: target.url(["messages"])?,
        headers: headers.into(),
        body,
    })
}

pub(super) fn answer(body: &Value) -> (LmReply, Option<String>) {
    let texts = list(body, "/content").iter();
    let texts = texts.filter(|block| block["type"] == "text");
    let read = tokens(body, "/usage/cache_read_input_tokens");
    let created = tokens(body, "/usage/cache_creation_input_tokens");
    let is_cached = read.unwrap_or(0) > 0 || created.unwrap_or(0) > 0;
    let all = [tokens(body, "/usage/input_tokens"), read, created];
    let prompt = all.into_iter().flatten().reduce(u64::saturating_add);
    let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
    let mut reply = LmReply::new(text).with_usage(Usage {
        prompt_tokens: prompt,
        completion_tokens: tokens(body, "/usage/output_tokens"),
        cached_prompt_tokens: read.filter(|_| is_cached),
    });
    reply.model = string(body, "/model").unwrap_or_default();
    (reply, string(body, "/stop_reason"))
}
