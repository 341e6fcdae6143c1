//! The content of a response, which each format reads from its JSON.

use serde_json::Value;

use super::super::super::Usage;

/// The content of a response.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) stop_reason: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) model: Option<String>,
    pub(super) fingerprint: Option<String>,
    pub(super) usage: Usage,
}

/// The string at a JSON pointer.
pub(super) fn string(body: &Value, pointer: &str) -> Option<String> {
    Some(body.pointer(pointer)?.as_str()?.to_owned())
}

/// The number of tokens at a JSON pointer.
pub(super) fn tokens(body: &Value, pointer: &str) -> Option<u64> {
    body.pointer(pointer)?.as_u64()
}
