//! Embeddings as a request to a language model: one message per string, and a reply with the vectors as text.

use super::Embeddings;
use crate::{LmError, LmErrorKind, LmRequest, Sampling};

/// The purpose of the calls in the ledger and the store.
const PURPOSE: &str = "embeddings";

/// Returns the request for the vectors of these strings. Its reply has no tokens.
pub(crate) fn request(texts: &[&str]) -> LmRequest {
    let sampling = Sampling {
        max_tokens: Some(0),
        ..Sampling::default()
    };
    let request = LmRequest::new(PURPOSE).with_sampling(sampling);
    texts
        .iter()
        .fold(request, |request, text| request.user(*text))
}

/// Encodes the vectors as the text of a reply.
pub(crate) fn encoded(embeddings: &Embeddings) -> String {
    // Lists of finite numbers are valid JSON.
    serde_json::to_string(embeddings.vectors()).unwrap_or_default()
}

/// Decodes the text of a reply.
pub(crate) fn decoded(id: &str, text: &str) -> Result<Vec<Vec<f32>>, LmError> {
    serde_json::from_str(text).map_err(|error| {
        let reason = format!("expected vectors as JSON ({error})");
        LmError::new(id, LmErrorKind::InvalidReply(reason))
    })
}
