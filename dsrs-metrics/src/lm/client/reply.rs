//! Conversion of a provider's response to a reply.

use genai::chat::{ChatResponse, StopReason as GenaiStopReason};
use serde_json::Value;

use super::super::{LmError, LmErrorKind, LmReply, StopReason, Usage};
use super::errors;
use super::target::Target;

pub(super) fn convert(response: ChatResponse, target: &Target) -> Result<LmReply, LmError> {
    let body = response.captured_raw_body.as_ref();
    if let Some(error) = body.and_then(|body| errors::error_in_body(body, target)) {
        return Err(error);
    }
    let refusal = body.and_then(refusal);
    let text = response.content.texts().concat();
    let stop_reason = match (&response.stop_reason, refusal) {
        (_, Some(message)) => StopReason::Refusal(message),
        (None, None) if text.is_empty() => return Err(empty(target)),
        (None, None) => StopReason::End,
        (Some(reason), None) => self::stop_reason(reason, &text),
    };
    let usage = response.usage;
    let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens);
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let reply = LmReply::new(text)
        .with_stop_reason(stop_reason)
        .with_model(response.provider_model_iden.model_name.to_string())
        .with_usage(Usage {
            prompt_tokens: count(usage.prompt_tokens),
            completion_tokens: count(usage.completion_tokens),
            cached_prompt_tokens: count(cached),
        });
    Ok(without_keys(reply, target))
}

/// The reply with `***` for an API key that the provider repeats. A refusal is shown in messages, so everything in it
/// that looks like a key is replaced.
pub(super) fn without_keys(mut reply: LmReply, target: &Target) -> LmReply {
    reply.text = errors::without_key(reply.text, target);
    reply.model = errors::without_key(reply.model, target);
    reply.stop_reason = match reply.stop_reason {
        StopReason::Refusal(message) => StopReason::Refusal(errors::sanitize(&message, target)),
        StopReason::Other(reason) => StopReason::Other(errors::without_key(reason, target)),
        other => other,
    };
    reply
}

/// The reply to a prompt that Gemini's filter blocked: a response without candidates, which is an
/// error in `genai`.
pub(super) fn blocked(error: &genai::Error) -> Option<LmReply> {
    let genai::Error::ChatResponseGeneration { response_body, .. } = error else { return None };
    response_body.pointer("/promptFeedback/blockReason")?;
    Some(LmReply::new("").with_stop_reason(StopReason::Filtered))
}

pub(super) fn stop_reason(reason: &GenaiStopReason, text: &str) -> StopReason {
    match reason {
        GenaiStopReason::Completed(_) | GenaiStopReason::StopSequence(_) => StopReason::End,
        GenaiStopReason::MaxTokens(_) => StopReason::Length,
        GenaiStopReason::ContentFilter(raw) if raw == "refusal" => {
            StopReason::Refusal(text.to_owned())
        }
        GenaiStopReason::ContentFilter(_) => StopReason::Filtered,
        GenaiStopReason::ToolCall(raw) | GenaiStopReason::Other(raw) => {
            StopReason::Other(raw.clone())
        }
    }
}

/// The refusal message, which OpenAI returns beside the content.
fn refusal(body: &Value) -> Option<String> {
    let message = body.pointer("/choices/0/message/refusal")?.as_str()?;
    (!message.is_empty()).then(|| message.to_owned())
}

pub(super) fn empty(target: &Target) -> LmError {
    let reason = "JSON with neither a text nor a stop reason; check that the base URL is that of the provider's API";
    LmError::new(&*target.id, LmErrorKind::InvalidReply { reason: reason.to_owned() })
}
