//! The parts of a reply that all formats have in common: the stop reason, names that are limited, and the API key that a
//! reply may repeat.

use super::super::{LmError, LmErrorKind, LmReply, StopReason, reported};
use super::errors;
use super::target::Target;

/// The reply with `***` for an API key that the provider repeats, and with names of limited length. A refusal is shown in
/// messages, so everything in it that looks like a key is replaced.
pub(super) fn sanitized(mut reply: LmReply, target: &Target) -> LmReply {
    let name = |name: String| reported(&errors::without_key(name, target)).into_owned();
    reply.text = errors::without_key(reply.text, target);
    reply.model = name(reply.model);
    reply.fingerprint = reply.fingerprint.map(name).filter(|it| !it.is_empty());
    reply.stop_reason = match reply.stop_reason {
        StopReason::Refusal(message) => StopReason::Refusal(errors::sanitize(&message, target)),
        StopReason::Other(reason) => StopReason::Other(errors::without_key(reason, target)),
        other => other,
    };
    reply
}

/// The meaning of a stop reason as any of the formats writes it.
pub(super) fn stop_reason(reason: String, text: &str) -> StopReason {
    match reason.as_str() {
        "stop" | "end_turn" | "stop_sequence" | "STOP" | "STOP_SEQUENCE" | "COMPLETE"
        | "completed" => StopReason::End,
        "length"
        | "max_tokens"
        | "model_length"
        | "model_context_window_exceeded"
        | "MAX_TOKENS"
        | "incomplete" => StopReason::Length,
        "refusal" => StopReason::Refusal(text.to_owned()),
        "content_filter"
        | "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "LANGUAGE"
        | "ERROR_TOXIC" => StopReason::Filtered,
        _ => StopReason::Other(reason),
    }
}

pub(super) fn empty(target: &Target) -> LmError {
    let reason = "JSON with neither a text nor a stop reason; check that the base URL is the address of the provider's API";
    LmError::new(
        &*target.id,
        LmErrorKind::InvalidReply {
            reason: reason.to_owned(),
        },
    )
}
