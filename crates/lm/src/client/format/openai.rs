//! OpenAI's chat completions format.

use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::super::super::{LmError, LmReply, StopReason, TokenLogprobs, Usage};
use super::super::Call;
use super::super::target::Target;
use super::parts::{Question, Token, insert, list, string, token_logprobs, tokens};
use super::schema::{Dialect, adapt};

pub(super) fn call(question: &Question<'_>) -> Result<Call, LmError> {
    let (target, request) = (question.target, question.request);
    let mut headers = vec![(AUTHORIZATION, format!("Bearer {}", target.key()))];
    headers.extend(target.headers.iter().cloned());
    let mut body = json!({
        "model": target.model,
        "stream": false,
        "messages": messages(question),
    });
    insert(&mut body, "response_format", response_format(question));
    let sampling = &request.sampling;
    insert(&mut body, "temperature", sampling.temperature);
    let max_tokens = sampling.max_tokens.or_else(|| default_max_tokens(target));
    insert(&mut body, max_tokens_key(&target.model), max_tokens);
    insert(&mut body, "top_p", sampling.top_p);
    let is_mistral = target.provider == "mistral";
    let seed = if is_mistral { "random_seed" } else { "seed" };
    insert(&mut body, seed, sampling.seed);
    if let Some(logprobs) = &request.logprobs {
        body["logprobs"] = json!(true);
        body["top_logprobs"] = json!(logprobs.top.min(max_top_logprobs(target)));
    }
    Ok(Call {
        url: target.url(["chat", "completions"])?,
        headers,
        body,
    })
}

fn messages(question: &Question<'_>) -> Vec<Value> {
    let instruction = question.schema_as_text();
    let instruction = instruction.map(|text| json!({ "role": "system", "content": text }));
    let own = question.request.messages.iter();
    let own = own.map(|it| json!({ "role": it.role, "content": it.content }));
    instruction.into_iter().chain(own).collect()
}

fn response_format(question: &Question<'_>) -> Option<Value> {
    let schema = question.request.schema.as_ref()?;
    if question.json_mode {
        return Some(json!({ "type": "json_object" }));
    }
    let strict = adapt(&schema.schema, Dialect::OpenAi);
    let schema = json!({ "name": schema.name, "strict": true, "schema": strict });
    Some(json!({ "type": "json_schema", "json_schema": schema }))
}

/// Returns the name of the token limit parameter. OpenAI's reasoning models reject the old name, and other servers
/// reject the new one.
fn max_tokens_key(model: &str) -> &'static str {
    const NEWER: [&str; 5] = ["gpt-5", "gpt-6", "o1", "o3", "o4"];
    match NEWER.iter().any(|prefix| model.starts_with(prefix)) {
        true => "max_completion_tokens",
        false => "max_tokens",
    }
}

/// Returns the default token limit. Fireworks cuts replies at 2,048 tokens by default, and lowers a higher limit to the
/// model's own (one model rejects it instead).
fn default_max_tokens(target: &Target) -> Option<u32> {
    let is_strict = target.model.contains("muse-glimmer-30b");
    (target.provider == "fireworks").then_some(if is_strict { 68_000 } else { 512_000 })
}

pub(super) fn answer(body: &Value, target: &Target) -> (LmReply, Option<String>) {
    let message = body.pointer("/choices/0/message").unwrap_or(&Value::Null);
    let text = message.get("content").map(text).unwrap_or_default();
    let refusal = string(message, "/refusal").filter(|refusal| !refusal.is_empty());
    let mut usage = Usage {
        prompt_tokens: tokens(body, "/usage/prompt_tokens"),
        completion_tokens: tokens(body, "/usage/completion_tokens"),
        cached_prompt_tokens: tokens(body, "/usage/prompt_tokens_details/cached_tokens"),
    };
    if target.provider == "xai" {
        // For that provider, the completion tokens do not include these.
        let reasoning = tokens(body, "/usage/completion_tokens_details/reasoning_tokens");
        let sum = |tokens: u64| tokens.saturating_add(reasoning.unwrap_or(0));
        usage.completion_tokens = usage.completion_tokens.map(sum);
    }
    let mut reply = LmReply::new(text.trim())
        .with_usage(usage)
        .with_logprobs(logprobs(body));
    reply.model = string(body, "/model").unwrap_or_default();
    reply.fingerprint = string(body, "/system_fingerprint");
    if let Some(refusal) = refusal {
        reply.stop_reason = StopReason::Refusal(refusal);
    }
    (reply, string(body, "/choices/0/finish_reason"))
}

/// Returns the maximum number of alternatives per token that a provider accepts.
fn max_top_logprobs(target: &Target) -> u8 {
    match target.provider {
        "fireworks" => 5,
        "xai" => 8,
        _ => 20,
    }
}

fn logprobs(body: &Value) -> Vec<TokenLogprobs> {
    let token = |value: &Value| Token::of(value, "logprob");
    let content = list(body, "/choices/0/logprobs/content").iter();
    token_logprobs(content.filter_map(|value| {
        let top = list(value, "/top_logprobs").iter().filter_map(token);
        Some((token(value)?, top.collect()))
    }))
}

/// Returns the text of a message. Mistral's reasoning models send a list of thoughts and texts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => {
            let texts = pieces.iter().filter(|piece| piece["type"] == "text");
            texts.filter_map(|piece| piece["text"].as_str()).collect()
        }
        _ => String::new(),
    }
}
