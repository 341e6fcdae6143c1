//! The client, which makes one call to a provider over HTTP.
//!
//! [`provider`] lists the providers and their addresses. [`target`] reads the environment variables that configure a
//! provider. [`format`](self::format) writes a request in the provider's wire format and reads its reply. [`errors`]
//! converts errors.
//!
//! [`http`] sends the request, and limits the size of the response. It follows no redirects, because they would send
//! the key and the prompt to an address you did not configure.
//!
//! Retries, limits, prices and the store are in [`layers`](super::layers).

mod errors;
mod format;
mod http;
mod provider;
mod target;

use std::collections::HashSet;
use std::sync::Mutex;

use async_trait::async_trait;

use self::format::{Question, embeddings};
pub(super) use self::http::{HttpSettings, Proxy};
use self::http::{MAX_VALUES, http_client};
pub(super) use self::provider::canonical_id;
pub(super) use self::target::{EndpointHash, Target, Variables};
use super::model::probe_request;
use super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, embedding, lock};

/// What a client requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// A reply to a conversation.
    Replies,
    /// Vectors for strings. Each message in the request is one string.
    Embeddings,
}

/// A model of a provider.
pub(super) struct Client {
    target: Target,
    api: Api,
    http: HttpSettings,
    connections: reqwest::Client,
    /// The names of schemas that the model rejected.
    rejected_schemas: Mutex<HashSet<String>>,
}

impl Client {
    pub(super) fn new(target: Target, api: Api, http: HttpSettings) -> Result<Self, LmError> {
        let connections = http_client(&target, &http)?;
        Ok(Self {
            target,
            api,
            http,
            connections,
            rejected_schemas: Mutex::default(),
        })
    }

    /// Sends a request. In JSON mode the schema goes into an instruction, because the model supports no schemas.
    async fn send(&self, request: &LmRequest, json_mode: bool) -> Result<LmReply, LmError> {
        let target = &self.target;
        let call = target.format.call(&Question {
            target,
            request,
            json_mode,
        })?;
        // With 20 alternatives, a token has about 200 values.
        let max_values = MAX_VALUES * if request.logprobs.is_some() { 20 } else { 1 };
        let received = self.post(call, max_values).await?;
        target.format.reply(received, request, target)
    }

    /// Requests the vectors of the messages.
    async fn embed(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let (target, texts) = (&self.target, request.messages.len());
        let call = embeddings::call(target, request)?;
        let numbers = texts.saturating_mul(embeddings::MAX_DIMENSIONS);
        let received = self.post(call, numbers.saturating_add(MAX_VALUES)).await?;
        embeddings::reply(received, texts, target)
    }
}

#[async_trait]
impl LanguageModel for Client {
    fn id(&self) -> &str {
        &self.target.id
    }

    fn endpoint(&self) -> Option<&str> {
        self.target.redacted_base_url.as_deref()
    }

    fn is_remote(&self) -> bool {
        true
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        if self.api == Api::Embeddings {
            return self.embed(request).await;
        }
        let Some(schema) = &request.schema else {
            return self.send(request, false).await;
        };
        if self.target.supports_schema && !lock(&self.rejected_schemas).contains(&schema.name) {
            let result = self.send(request, false).await;
            match &result {
                Err(error) if matches!(error.kind(), LmErrorKind::SchemaUnsupported(_)) => {}
                _ => return result,
            }
            lock(&self.rejected_schemas).insert(schema.name.clone());
        }
        self.send(request, true).await
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        let request = match self.api {
            Api::Replies => probe_request(),
            Api::Embeddings => embedding::request(&[embedding::PROBE]),
        };
        self.complete(&request).await.map(Some)
    }
}
