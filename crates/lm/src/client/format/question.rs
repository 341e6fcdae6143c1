//! A request, and its parts that all formats have in common.

use reqwest::Url;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::super::super::{LmError, LmErrorKind, LmRequest, Role};
use super::super::target::Target;

/// A request, and the settings that its format depends on.
pub(in super::super) struct Question<'a> {
    pub(in super::super) target: &'a Target,
    pub(in super::super) request: &'a LmRequest,
    /// Whether the schema is sent as an instruction, because the model supports no schemas.
    pub(in super::super) json_mode: bool,
}

impl Question<'_> {
    /// The key; servers at a configured address may need none.
    pub(super) fn key(&self) -> &str {
        self.target
            .key
            .as_ref()
            .map_or("none", |key| key.expose_secret())
    }

    /// The base URL with these segments appended to its path.
    pub(super) fn url<'s>(
        &self,
        segments: impl IntoIterator<Item = &'s str>,
    ) -> Result<Url, LmError> {
        let invalid = |reason: String| {
            LmError::new(
                &*self.target.id,
                LmErrorKind::Other {
                    reason: format!("invalid base URL: {reason}"),
                },
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
    pub(super) fn schema_as_text(&self) -> Option<String> {
        let schema = &self
            .request
            .schema
            .as_ref()
            .filter(|_| self.json_mode)?
            .schema;
        Some(format!(
            "Reply with one JSON object and nothing else. It must match this JSON schema:\n{schema}"
        ))
    }

    /// The system messages, in one.
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
