//! What a provider's response says as a reply.

use genai::chat::{ChatResponse, StopReason as Stop};
use serde_json::Value;

use super::super::{LmError, LmReply, StopReason, Usage};
use super::failure;
use super::provider::Target;

pub(super) fn answer(response: ChatResponse, target: &Target) -> Result<LmReply, LmError> {
    let body = response.captured_raw_body.as_ref();
    if let Some(error) = body.and_then(|body| failure::reported(body, target)) {
        return Err(error);
    }
    let refusal = body.and_then(refusal);
    let text = response.content.texts().concat();
    let stop = match (&response.stop_reason, refusal) {
        (_, Some(said)) => StopReason::Refusal(said),
        (None, None) if text.is_empty() => return Err(empty(target)),
        (stop, None) => stop_reason(stop.as_ref(), &text),
    };
    let usage = response.usage;
    let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens);
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    Ok(LmReply::new(text)
        .with_stop(stop)
        .with_model(response.provider_model_iden.model_name.to_string())
        .with_usage(Usage {
            prompt_tokens: count(usage.prompt_tokens),
            completion_tokens: count(usage.completion_tokens),
            cached_prompt_tokens: count(cached),
        }))
}

/// Gemini withholds a prompt by answering without candidates, which `genai` takes for an error.
pub(super) fn blocked(error: &genai::Error) -> Option<LmReply> {
    let genai::Error::ChatResponseGeneration { response_body, .. } = error else { return None };
    response_body.pointer("/promptFeedback/blockReason")?;
    Some(LmReply::new("").with_stop(StopReason::Filtered))
}

fn stop_reason(stop: Option<&Stop>, text: &str) -> StopReason {
    match stop {
        None | Some(Stop::Completed(_) | Stop::StopSequence(_)) => StopReason::End,
        Some(Stop::MaxTokens(_)) => StopReason::Length,
        Some(Stop::ContentFilter(raw)) if raw == "refusal" => StopReason::Refusal(text.to_owned()),
        Some(Stop::ContentFilter(_)) => StopReason::Filtered,
        Some(Stop::ToolCall(raw) | Stop::Other(raw)) => StopReason::Other(raw.clone()),
    }
}

/// OpenAI puts a refusal beside the content.
fn refusal(body: &Value) -> Option<String> {
    let said = body.pointer("/choices/0/message/refusal")?.as_str()?;
    (!said.is_empty()).then(|| said.to_owned())
}

fn empty(target: &Target) -> LmError {
    LmError::BadReply {
        lm: target.id.clone(),
        reason: "JSON that holds neither a text nor a reason for its end; is this address that of the provider's interface?".to_owned(),
        cost_msats: None,
    }
}
