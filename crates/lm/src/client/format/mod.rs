//! The wire formats of the common providers: OpenAI's chat completions, which most servers
//! implement, Anthropic's messages, Gemini's `generateContent`.
//!
//! The formats here are what a judge uses of them: text, a schema, sampling parameters, usage.

mod anthropic;
mod gemini;
mod openai;
mod schema;

use reqwest::Url;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::super::{LmError, LmErrorKind, LmReply, LmRequest, Role, StopReason, Usage};
use super::errors;
use super::http::{Call, Received};
use super::target::Target;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    OpenAi,
    Anthropic,
    Gemini,
}

/// A request with what its format depends on.
pub(super) struct Question<'a> {
    pub(super) target: &'a Target,
    pub(super) request: &'a LmRequest,
    /// Whether the schema is sent as an instruction, because the model supports no schemas.
    pub(super) json_mode: bool,
}

/// What a response contains.
struct Answer {
    text: String,
    stop_reason: Option<String>,
    refusal: Option<String>,
    model: Option<String>,
    usage: Usage,
}

impl Format {
    /// The HTTP request.
    pub(super) fn call(self, question: &Question<'_>) -> Result<Call, LmError> {
        match self {
            Self::OpenAi => openai::call(question),
            Self::Anthropic => anthropic::call(question),
            Self::Gemini => gemini::call(question),
        }
    }

    /// Converts the JSON of a response. The error of one that is not a reply carries the tokens that it reports.
    pub(super) fn reply(self, received: Received, target: &Target) -> Result<LmReply, LmError> {
        let Received { json, error } = received;
        let answer = match self {
            Self::OpenAi => openai::answer(&json, target),
            Self::Anthropic => anthropic::answer(&json),
            Self::Gemini => gemini::answer(&json),
        };
        let Answer { text, stop_reason, refusal, model, usage } = answer;
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
        let model = model.unwrap_or_else(|| target.model.clone());
        let reply = LmReply::new(text).with_stop_reason(stop_reason);
        Ok(super::reply::without_keys(reply.with_model(model).with_usage(usage), target))
    }
}

impl Question<'_> {
    /// The key; servers at a configured address may need none.
    fn key(&self) -> &str {
        self.target.key.as_ref().map_or("none", |key| key.expose_secret())
    }

    /// The base URL with these segments appended to its path.
    fn url<'s>(&self, segments: impl IntoIterator<Item = &'s str>) -> Result<Url, LmError> {
        let invalid = |reason: String| {
            LmError::new(
                &*self.target.id,
                LmErrorKind::Other { reason: format!("invalid base URL: {reason}") },
            )
        };
        let mut url =
            Url::parse(&self.target.base_url).map_err(|error| invalid(error.to_string()))?;
        match url.path_segments_mut() {
            Ok(mut path) => path.pop_if_empty().extend(segments),
            Err(()) => return Err(invalid("it has no path".to_owned())),
        };
        Ok(url)
    }

    /// The instruction that replaces a schema in JSON mode.
    fn schema_as_text(&self) -> Option<String> {
        let schema = &self.request.schema.as_ref().filter(|_| self.json_mode)?.schema;
        Some(format!(
            "Reply with one JSON object and nothing else. It must match this JSON schema:\n{schema}"
        ))
    }

    /// The system messages, in one.
    fn system(&self) -> Option<String> {
        let own = self.request.messages.iter();
        let own = own.filter(|message| message.role == Role::System);
        let own = own.map(|message| message.content.clone());
        let all: Vec<String> = self.schema_as_text().into_iter().chain(own).collect();
        (!all.is_empty()).then(|| all.join("\n\n"))
    }
}

/// Inserts a value if there is one.
fn insert(body: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body[key] = value.into();
    }
}

/// The string at a JSON pointer.
fn string(body: &Value, pointer: &str) -> Option<String> {
    Some(body.pointer(pointer)?.as_str()?.to_owned())
}

/// The number of tokens at a JSON pointer.
fn tokens(body: &Value, pointer: &str) -> Option<u64> {
    body.pointer(pointer)?.as_u64()
}
