//! Gemini's `generateContent` format.

use reqwest::header::HeaderName;
use serde_json::{Value, json};

use super::super::super::{LmError, LmReply, Role, TokenLogprobs, Usage};
use super::super::http::Call;
use super::parts::{Question, Token, insert, string, token_logprobs, tokens};

pub(super) fn call(question: &Question<'_>) -> Result<Call, LmError> {
    let Question {
        target, request, ..
    } = question;
    let headers = vec![(
        HeaderName::from_static("x-goog-api-key"),
        question.key().to_owned(),
    )];
    let contents = request.messages.iter().filter_map(|message| {
        let role = match message.role {
            Role::System => return None,
            Role::User => "user",
            Role::Assistant => "model",
        };
        Some(json!({ "role": role, "parts": [{ "text": message.content }] }))
    });
    let mut body = json!({ "contents": contents.collect::<Vec<_>>() });
    let system = question
        .system()
        .map(|text| json!({ "parts": [{ "text": text }] }));
    insert(&mut body, "systemInstruction", system);
    let (sampling, mut config) = (&request.sampling, json!({}));
    if let Some(schema) = request.schema.as_ref().filter(|_| !question.json_mode) {
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = schema.schema.clone();
    }
    insert(&mut config, "temperature", sampling.temperature);
    insert(&mut config, "maxOutputTokens", sampling.max_tokens);
    insert(&mut config, "topP", sampling.top_p);
    insert(&mut config, "seed", sampling.seed);
    if let Some(logprobs) = &request.logprobs {
        config["responseLogprobs"] = json!(true);
        config["logprobs"] = json!(logprobs.top);
    }
    body["generationConfig"] = config;
    let method = format!("{}:generateContent", target.model);
    let url = question.url(std::iter::once("models").chain(method.split('/')))?;
    Ok(Call { url, headers, body })
}

pub(super) fn answer(body: &Value) -> (LmReply, Option<String>) {
    let parts = body
        .pointer("/candidates/0/content/parts")
        .and_then(Value::as_array);
    let parts = parts.map_or(&[][..], Vec::as_slice);
    let texts = parts.iter().filter(|part| part["thought"] != true);
    let sum = |names: [&str; 2]| {
        let numbers = names.iter().filter_map(|name| tokens(body, name));
        numbers.reduce(u64::saturating_add)
    };
    // A prompt that the filter blocked has no candidates.
    let is_blocked = body.pointer("/promptFeedback/blockReason").is_some();
    let stop_reason = string(body, "/candidates/0/finishReason");
    let text: String = texts.filter_map(|part| part["text"].as_str()).collect();
    let usage = Usage {
        prompt_tokens: sum([
            "/usageMetadata/promptTokenCount",
            "/usageMetadata/toolUsePromptTokenCount",
        ]),
        completion_tokens: sum([
            "/usageMetadata/candidatesTokenCount",
            "/usageMetadata/thoughtsTokenCount",
        ]),
        cached_prompt_tokens: tokens(body, "/usageMetadata/cachedContentTokenCount"),
    };
    let mut reply = LmReply::new(text)
        .with_usage(usage)
        .with_logprobs(logprobs(body));
    reply.model = string(body, "/modelVersion").unwrap_or_default();
    let stop_reason = stop_reason.or_else(|| is_blocked.then(|| "SAFETY".to_owned()));
    (reply, stop_reason)
}

fn logprobs(body: &Value) -> Vec<TokenLogprobs> {
    let list = |name: &str| {
        let list = body.pointer(&format!("/candidates/0/logprobsResult/{name}"));
        list.and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    };
    let token = |value: &Value| Token::of(value, "logProbability");
    let top = list("topCandidates")
        .iter()
        .map(|top| top["candidates"].as_array());
    let top = top.map(|top| top.into_iter().flatten().filter_map(token).collect());
    let top = top.chain(std::iter::repeat_with(Vec::new));
    token_logprobs(list("chosenCandidates").iter().filter_map(token).zip(top))
}
