//! The wire formats of the common providers: OpenAI's chat completions, which most servers
//! implement, Anthropic's messages, Gemini's `generateContent`.
//!
//! Only the parts of the formats that a judge uses are implemented: text, a schema, sampling parameters, usage.

mod answer;
mod anthropic;
pub(super) mod embeddings;
mod gemini;
mod openai;
mod question;
mod schema;

use self::answer::Answer;
pub(super) use self::question::Question;
use super::super::logprobs::from_field;
use super::super::{LmError, LmReply, LmRequest, StopReason, Usage};
use super::errors;
use super::http::{Call, Received};
use super::provider::Format;
use super::target::Target;

impl Format {
    /// The HTTP request.
    pub(super) fn call(self, question: &Question<'_>) -> Result<Call, LmError> {
        match self {
            Self::OpenAi => openai::call(question),
            Self::Anthropic => anthropic::call(question),
            Self::Gemini => gemini::call(question),
        }
    }

    /// Converts the JSON of a response. The error of a response without a reply has the tokens that the response reports.
    pub(super) fn reply(
        self,
        received: Received,
        request: &LmRequest,
        target: &Target,
    ) -> Result<LmReply, LmError> {
        let Received { json, error } = received;
        let answer = match self {
            Self::OpenAi => openai::answer(&json, target),
            Self::Anthropic => anthropic::answer(&json),
            Self::Gemini => gemini::answer(&json),
        };
        let Answer {
            text,
            stop_reason,
            refusal,
            model,
            fingerprint,
            usage,
            logprobs,
        } = answer;
        let failed = |error: LmError| match usage == Usage::default() {
            true => Err(error),
            false => Err(error.with_usage(usage).with_cost_msats(None)),
        };
        if let Some(error) = error.or_else(|| errors::error_in_body(&json, target)) {
            return failed(error);
        }
        let stop_reason = match (stop_reason, refusal) {
            (_, Some(message)) => StopReason::Refusal(message),
            (None, None) if text.is_empty() => return failed(super::reply::empty(target)),
            (None, None) => StopReason::End,
            (Some(reason), None) => super::reply::stop_reason(reason, &text),
        };
        let mut reply = LmReply::new(text)
            .with_stop_reason(stop_reason)
            .with_usage(usage);
        reply.model = model.unwrap_or_default();
        reply.fingerprint = fingerprint;
        if let Some(asked) = &request.logprobs {
            reply.logprobs = from_field(logprobs, &asked.field);
        }
        Ok(super::reply::sanitized(reply, target))
    }
}
