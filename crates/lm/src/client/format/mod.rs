//! The wire formats of the common providers.
//!
//! The formats are OpenAI's chat completions, which most servers implement, Anthropic's messages, and Gemini's
//! `generateContent`.
//!
//! The client supports only what a judge needs: text, schemas, sampling parameters and usage.

mod anthropic;
pub(super) mod embeddings;
mod gemini;
mod openai;
mod parts;
mod schema;

pub(super) use self::parts::Question;
use self::parts::{empty, sanitized, stop_reason};
use super::super::reply::from_field;
use super::super::{LmError, LmReply, LmRequest, StopReason, Usage};
use super::provider::Format;
use super::target::Target;
use super::{Call, Received, errors};

impl Format {
    /// Returns the HTTP request for a question.
    pub(super) fn call(self, question: &Question<'_>) -> Result<Call, LmError> {
        match self {
            Self::OpenAi => openai::call(question),
            Self::Anthropic => anthropic::call(question),
            Self::Gemini => gemini::call(question),
        }
    }

    /// Converts a response's JSON to a reply. If the response contains no reply, the error contains the tokens that the
    /// response reports.
    pub(super) fn reply(
        self,
        (json, error): Received,
        request: &LmRequest,
        target: &Target,
    ) -> Result<LmReply, LmError> {
        let (mut reply, reason) = match self {
            Self::OpenAi => openai::answer(&json, target),
            Self::Anthropic => anthropic::answer(&json),
            Self::Gemini => gemini::answer(&json),
        };
        let usage = reply.usage;
        let failed = |error: LmError| match usage == Usage::default() {
            true => Err(error),
            false => Err(error.with_usage(usage).with_cost_msats(None)),
        };
        if let Some(error) = error.or_else(|| errors::error_in_body(&json, target)) {
            return failed(error);
        }
        match reason {
            _ if matches!(reply.stop_reason, StopReason::Refusal(_)) => {}
            Some(reason) => reply.stop_reason = stop_reason(reason, &reply.text),
            None if reply.text.is_empty() => return failed(empty(target)),
            None => {}
        }
        let all = std::mem::take(&mut reply.logprobs);
        if let Some(asked) = &request.logprobs {
            reply.logprobs = from_field(all, &asked.field);
        }
        Ok(sanitized(reply, target))
    }
}
