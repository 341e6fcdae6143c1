//! What the formats share: the request they send and the parts of a reply they read.

use serde_json::Value;

use super::super::super::{
    LmError, LmErrorKind, LmReply, LmRequest, Role, StopReason, TokenLogprob, TokenLogprobs,
    reported,
};
use super::super::errors;
use super::super::target::Target;

/// A request, and the settings that its format depends on.
pub(in super::super) struct Question<'a> {
    pub(in super::super) target: &'a Target,
    pub(in super::super) request: &'a LmRequest,
    /// `true` if the model supports no schemas, so the schema is sent as an instruction.
    pub(in super::super) json_mode: bool,
}

impl Question<'_> {
    /// Returns the instruction that replaces a schema in JSON mode.
    pub(super) fn schema_as_text(&self) -> Option<String> {
        let schema = self.request.schema.as_ref().filter(|_| self.json_mode)?;
        let schema = &schema.schema;
        Some(format!(
            "Reply with one JSON object and nothing else. It must match this JSON schema:\n{schema}"
        ))
    }

    /// Joins the system messages.
    pub(super) fn system(&self) -> Option<String> {
        let own = self.request.messages.iter();
        let own = own.filter(|message| message.role == Role::System);
        let own = own.map(|message| message.content.to_string());
        let all: Vec<String> = self.schema_as_text().into_iter().chain(own).collect();
        (!all.is_empty()).then(|| all.join("\n\n"))
    }
}

/// Inserts a value if there is one.
pub(super) fn insert(body: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body[key] = value.into();
    }
}

/// Returns the string at a JSON pointer.
pub(super) fn string(body: &Value, pointer: &str) -> Option<String> {
    Some(body.pointer(pointer)?.as_str()?.to_owned())
}

/// Returns the list at a JSON pointer, or an empty list if there is none.
pub(super) fn list<'b>(body: &'b Value, pointer: &str) -> &'b [Value] {
    let list = body.pointer(pointer).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Returns the number of tokens at a JSON pointer.
pub(super) fn tokens(body: &Value, pointer: &str) -> Option<u64> {
    body.pointer(pointer)?.as_u64()
}

/// A token with the logarithm of its probability. Its bytes may be part of a character.
#[derive(Default)]
pub(super) struct Token {
    bytes: Vec<u8>,
    logprob: f64,
}

impl Token {
    /// Reads a token. Its text is `bytes` if the provider sends them.
    pub(super) fn of(value: &Value, logprob: &str) -> Option<Self> {
        let byte = |byte: &Value| u8::try_from(byte.as_u64()?).ok();
        let bytes = value["bytes"].as_array();
        let bytes = match bytes.and_then(|all| all.iter().map(byte).collect()) {
            Some(bytes) => bytes,
            None => value["token"].as_str()?.as_bytes().to_vec(),
        };
        Some(Self {
            bytes,
            logprob: value[logprob].as_f64()?,
        })
    }
}

/// Converts tokens with their alternatives. Tokens that together form one character become one token without
/// alternatives.
pub(super) fn token_logprobs(all: impl Iterator<Item = (Token, Vec<Token>)>) -> Vec<TokenLogprobs> {
    let mut converted = Vec::new();
    let mut part = Token::default();
    for (Token { bytes, logprob }, top) in all {
        let is_part = !part.bytes.is_empty();
        part.bytes.extend(bytes);
        part.logprob += logprob;
        let token = match str::from_utf8(&part.bytes) {
            Ok(token) => token.to_owned(),
            // The next token ends the character.
            Err(error) if error.error_len().is_none() && part.bytes.len() < 256 => continue,
            Err(_) => String::from_utf8_lossy(&part.bytes).into_owned(),
        };
        let alternative = |Token { bytes, logprob }| {
            let token = String::from_utf8(bytes).ok()?;
            Some(TokenLogprob { token, logprob })
        };
        let top = if is_part { Vec::new() } else { top };
        let top = top.into_iter().filter_map(alternative).collect();
        converted.push(TokenLogprobs {
            token,
            logprob: part.logprob,
            top,
        });
        part = Token::default();
    }
    converted
}

/// Returns the reply with `***` for an API key that the provider repeats, and with shortened names. Messages quote a
/// refusal, so anything in it that looks like a key is replaced too.
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

/// Returns the meaning of a stop reason in any of the formats.
pub(super) fn stop_reason(reason: String, text: &str) -> StopReason {
    let is_in = |reasons: &str| reasons.split(' ').any(|it| it == reason);
    match () {
        () if is_in(END) => StopReason::End,
        () if is_in(LENGTH) => StopReason::Length,
        () if reason == "refusal" => StopReason::Refusal(text.to_owned()),
        () if is_in(FILTERED) => StopReason::Filtered,
        () => StopReason::Other(reason),
    }
}

const END: &str = "stop end_turn stop_sequence STOP STOP_SEQUENCE COMPLETE completed";

const LENGTH: &str =
    "length max_tokens model_length model_context_window_exceeded MAX_TOKENS incomplete";

const FILTERED: &str = "content_filter SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII \
    IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION LANGUAGE ERROR_TOXIC";

pub(super) fn empty(target: &Target) -> LmError {
    let reason = "JSON with neither a text nor a stop reason; check that the base URL is the address of the provider's API";
    LmError::new(&*target.id, LmErrorKind::InvalidReply(reason.to_owned()))
}
