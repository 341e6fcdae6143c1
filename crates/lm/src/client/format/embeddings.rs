//! Embeddings in OpenAI's format, which most servers implement.

use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::super::super::{Embeddings, LmError, LmErrorKind, LmReply, LmRequest, Usage};
use super::super::errors;
use super::super::http::{Call, Received};
use super::super::provider::Format;
use super::super::target::Target;
use super::parts::{sanitized, string, tokens};

/// The longest vector accepted. Common models have at most a few thousand numbers.
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

/// Reads the vectors of `texts` strings. The reply's text holds them in the order of the strings.
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

/// Reads the vectors by index, or in order if they have none.
fn vectors(json: &Value) -> Result<Vec<Vec<f32>>, String> {
    let none =
        "expected a list `data`; check that the base URL is the address of the provider's API";
    let data = json.get("data").and_then(Value::as_array).ok_or(none)?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; data.len()];
    for (position, item) in data.iter().enumerate() {
        let index = match item.get("index") {
            None | Some(Value::Null) => position,
            Some(found) => {
                let index = found.as_u64().and_then(|index| usize::try_from(index).ok());
                let index = index.filter(|index| *index < data.len());
                index.ok_or_else(|| {
                    format!("expected an index below {}, found {found}", data.len())
                })?
            }
        };
        if vectors[index].is_some() {
            return Err(format!(
                "expected one vector for each index, found two for index {index}"
            ));
        }
        vectors[index] = Some(vector(item.get("embedding"), index + 1)?);
    }
    // Each index is below the length and occurs once.
    Ok(vectors.into_iter().flatten().collect())
}

fn vector(numbers: Option<&Value>, number: usize) -> Result<Vec<f32>, String> {
    let Some(numbers) = numbers.and_then(Value::as_array) else {
        return Err(format!("expected a list of numbers as vector {number}"));
    };
    if numbers.len() > MAX_DIMENSIONS {
        let found = numbers.len();
        return Err(format!(
            "expected a vector of at most {MAX_DIMENSIONS} numbers, found {found}"
        ));
    }
    let number = |(position, value): (usize, &Value)| match value.as_f64() {
        Some(value) if (value as f32).is_finite() => Ok(value as f32),
        _ => {
            let shown: String = value.to_string().chars().take(40).collect();
            let position = position + 1;
            Err(format!(
                "expected a 32-bit number at position {position} of vector {number}, found {shown}"
            ))
        }
    };
    numbers.iter().enumerate().map(number).collect()
}
