//! Embeddings in OpenAI's format, which most servers implement.

use std::collections::BTreeMap;

use reqwest::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::super::{Embeddings, LmError, LmErrorKind, LmReply, LmRequest, Usage};
use super::super::provider::Format;
use super::super::target::Target;
use super::super::{Call, Received, errors};
use super::parts::{sanitized, string, tokens};

/// The maximum length of a vector. Common models return at most a few thousand numbers.
pub(in super::super) const MAX_DIMENSIONS: usize = 1 << 14;

pub(in super::super) fn call(target: &Target, request: &LmRequest) -> Result<Call, LmError> {
    let path: &[&str] = match target.format {
        Format::OpenAi => &["embeddings"],
        // The provider's own format reports no token usage.
        Format::Gemini => &["openai", "embeddings"],
        Format::Anthropic => {
            let reason = "the provider has no embeddings; use another one, such as openai:text-embedding-3-small";
            return Err(LmError::setting("embedding model", &target.id, reason));
        }
    };
    let mut headers = vec![(AUTHORIZATION, format!("Bearer {}", target.key()))];
    headers.extend(target.headers.iter().cloned());
    let input = request.messages.iter().map(|message| &message.content);
    let input: Vec<_> = input.collect();
    let body = json!({ "model": target.model, "input": input });
    let url = target.url(path.iter().copied())?;
    Ok(Call { url, headers, body })
}

/// Reads the vectors for `texts` strings. The reply's text holds them in the order of the strings.
pub(in super::super) fn reply(
    (json, error): Received,
    texts: usize,
    target: &Target,
) -> Result<LmReply, LmError> {
    let prompt =
        tokens(&json, "/usage/prompt_tokens").or_else(|| tokens(&json, "/usage/total_tokens"));
    let usage = prompt.map_or_else(Usage::default, |prompt| Usage::new(prompt, 0));
    let failed = |error: LmError| match prompt {
        None => error,
        Some(_) => error.with_usage(usage).with_cost_msats(None),
    };
    if let Some(error) = error.or_else(|| errors::error_in_body(&json, target)) {
        return Err(failed(error));
    }
    let invalid = |reason| LmError::new(&*target.id, LmErrorKind::InvalidReply(reason));
    let vectors = vectors(&json).map_err(|reason| failed(invalid(reason)))?;
    let embeddings = Embeddings::new(&target.id, texts, vectors).map_err(failed)?;
    // Lists of finite numbers are valid JSON.
    let text = serde_json::to_string(embeddings.vectors()).unwrap_or_default();
    let mut reply = LmReply::new(text).with_usage(usage);
    reply.model = string(&json, "/model").unwrap_or_default();
    Ok(sanitized(reply, target))
}

/// An item of the list `data`.
#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Returns the vectors in the order of their indexes, which some servers leave out.
fn vectors(json: &Value) -> Result<Vec<Vec<f32>>, String> {
    let none =
        "expected a list `data`; check that the base URL is the address of the provider's API";
    let data = json.get("data").and_then(Value::as_array).ok_or(none)?;
    let item = |(position, item): (usize, &Value)| {
        let item = Item::deserialize(item);
        let item = item.map_err(|error| format!("vector {}: {error}", position + 1))?;
        match item.embedding.len() {
            0..=MAX_DIMENSIONS => Ok((item.index.unwrap_or(position), item.embedding)),
            found => Err(format!(
                "expected a vector of at most {MAX_DIMENSIONS} numbers, found {found}"
            )),
        }
    };
    let vectors = data.iter().enumerate().map(item);
    let vectors = vectors.collect::<Result<BTreeMap<usize, Vec<f32>>, String>>()?;
    match vectors.keys().copied().eq(0..data.len()) {
        true => Ok(vectors.into_values().collect()),
        false => Err("expected one vector for each index from 0".to_owned()),
    }
}
