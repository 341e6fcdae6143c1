//! The content of a response, which each format reads from its JSON.

use serde_json::Value;

use super::super::super::{TokenLogprob, TokenLogprobs, Usage};

/// The content of a response.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) stop_reason: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) model: Option<String>,
    pub(super) fingerprint: Option<String>,
    pub(super) usage: Usage,
    /// With log probabilities, if they were requested and the provider returns them.
    pub(super) logprobs: Vec<TokenLogprobs>,
}

/// The string at a JSON pointer.
pub(super) fn string(body: &Value, pointer: &str) -> Option<String> {
    Some(body.pointer(pointer)?.as_str()?.to_owned())
}

/// The number of tokens at a JSON pointer.
pub(super) fn tokens(body: &Value, pointer: &str) -> Option<u64> {
    body.pointer(pointer)?.as_u64()
}

/// A token with the logarithm of its probability. Its bytes may be a part of a character.
pub(super) struct Token {
    bytes: Vec<u8>,
    logprob: f64,
}

impl Token {
    /// Reads a token, whose `bytes` are its text where the provider sends them.
    pub(super) fn of(value: &Value, logprob: &str) -> Option<Self> {
        let byte = |byte: &Value| u8::try_from(byte.as_u64()?).ok();
        let bytes = value["bytes"]
            .as_array()
            .and_then(|all| all.iter().map(byte).collect());
        let bytes = match bytes {
            Some(bytes) => bytes,
            None => value["token"].as_str()?.as_bytes().to_vec(),
        };
        Some(Self {
            bytes,
            logprob: value[logprob].as_f64()?,
        })
    }
}

/// Converts tokens with their alternatives. Tokens that are parts of one character become one without alternatives.
pub(super) fn token_logprobs(all: impl Iterator<Item = (Token, Vec<Token>)>) -> Vec<TokenLogprobs> {
    let mut converted = Vec::new();
    let mut part = Token {
        bytes: Vec::new(),
        logprob: 0.0,
    };
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
            Some(TokenLogprob {
                token: String::from_utf8(bytes).ok()?,
                logprob,
            })
        };
        let top = if is_part { Vec::new() } else { top };
        let top = top.into_iter().filter_map(alternative).collect();
        converted.push(TokenLogprobs {
            token,
            logprob: part.logprob,
            top,
        });
        part = Token {
            bytes: Vec::new(),
            logprob: 0.0,
        };
    }
    converted
}
