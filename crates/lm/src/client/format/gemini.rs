//! Gemini's `generateContent` format.

use reqwest::header::HeaderName;
use serde_json::{Value, json};

use super::super::super::{LmError, LmReply, Role, TokenLogprobs, Usage};
use super::super::Call;
use super::parts::{Question, Token, insert, list, string, token_logprobs, tokens};

pub(super) fn call(question: &Question<'_>) -> Result<Call, LmError> {
    let (target, request) = (question.target, question.request);
    let header = HeaderName::from_static("x-goog-api-key");
    let headers = vec![(header, target.key().to_owned())];
    let contents = request.messages.iter();
    let contents = contents.filter(|message| message.role != Role::System);
    let contents = contents.map(|message| {
        let is_user = message.role == Role::User;
        let role = if is_user { "user" } else { "model" };
        json!({ "role": role, "parts": [{ "text": message.content }] })
    });
    let mut body = json!({ "contents": contents.collect::<Vec<_>>() });
    let parts = |text| json!({ "parts": [{ "text": text }] });
    insert(&mut body, "systemInstruction", question.system().map(parts));
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
    let url = target.url(std::iter::once("models").chain(method.split('/')))?;
    Ok(Call { url, headers, body })
}

pub(super) fn answer(body: &Value) -> (LmReply, Option<String>) {
    let texts = list(body, "/candidates/0/content/parts").iter();
    let texts = texts.filter(|part| part["thought"] != true);
    let count = |name: &str| tokens(body, &format!("/usageMetadata/{name}TokenCount"));
    let sum = |names: [&str; 2]| {
        names
            .into_iter()
            .filter_map(count)
            .reduce(u64::saturating_add)
    };
    // A prompt that the filter blocked has no candidates.
    let is_blocked = body.pointer("/promptFeedback/blockReason").is_some();
    let stop_reason = string(body, "/candidates/0/finishReason");
    let text: String = texts.filter_map(|part| part["text"].as_str()).collect();
    let usage = Usage {
        prompt_tokens: sum(["prompt", "toolUsePrompt"]),
        completion_tokens: sum(["candidates", "thoughts"]),
        cached_prompt_tokens: count("cachedContent"),
    };
    let mut reply = LmReply::new(text)
        .with_usage(usage)
        .with_logprobs(logprobs(body));
    reply.model = string(body, "/modelVersion").unwrap_or_default();
    let stop_reason = stop_reason.or_else(|| is_blocked.then(|| "SAFETY".to_owned()));
    (reply, stop_reason)
}

fn logprobs(body: &Value) -> Vec<TokenLogprobs> {
    let result = &body["candidates"][0]["logprobsResult"];
    let token = |value: &Value| Token::of(value, "logProbability");
    let top = list(result, "/topCandidates").iter();
    let top = top.map(|top| list(top, "/candidates").iter().filter_map(token).collect());
    let top = top.chain(std::iter::repeat_with(Vec::new));
    let chosen = list(result, "/chosenCandidates").iter().filter_map(token);
    token_logprobs(chosen.zip(top))
}
