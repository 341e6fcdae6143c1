//! The client, which makes one call to a provider over HTTP.
//!
//! [`provider`] lists the providers and their addresses. [`target`] reads the environment variables that configure a
//! provider. [`format`](self::format) writes a request in the provider's wire format and reads its reply. [`errors`]
//! converts errors.
//!
//! A response is read up to a limit. Redirects are not followed, because they would send the key and the prompt to an
//! address you did not configure.
//!
//! Retries, limits, prices and the store are in [`layers`](super::layers).

mod errors;
mod format;
mod provider;
mod target;

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use dsrs_metrics_values::json::has_more_values;
use dsrs_metrics_values::json::read::UniqueKeys;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use serde::Deserialize as _;
use serde_json::Value;

use self::format::{Question, embeddings};
pub(super) use self::provider::canonical_id;
use self::target::redact_url;
pub(super) use self::target::{EndpointHash, Target, Variables};
use super::model::probe_request;
use super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, embedding, lock};

/// A provider's model.
pub(super) struct Client {
    target: Target,
    /// `true` if each message of a request is a string to embed.
    is_embedder: bool,
    http: HttpSettings,
    connections: reqwest::Client,
    /// The names of schemas that the model rejected.
    rejected_schemas: Mutex<HashSet<String>>,
}

impl Client {
    pub(super) fn new(
        target: Target,
        is_embedder: bool,
        http: HttpSettings,
    ) -> Result<Self, LmError> {
        let connections = http_client(&target, &http)?;
        Ok(Self {
            target,
            is_embedder,
            http,
            connections,
            rejected_schemas: Mutex::default(),
        })
    }

    /// Sends a request. In JSON mode, the schema goes into an instruction, because the model supports no schemas.
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

    /// Requests the vectors for the messages.
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
        if self.is_embedder {
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
        let request = match self.is_embedder {
            false => probe_request(),
            true => embedding::request(&[embedding::PROBE]),
        };
        self.complete(&request).await.map(Some)
    }
}

/// The maximum number of JSON values in a response. A reply has a few dozen; each takes up to a hundred bytes of memory
/// but only two bytes of the response.
const MAX_VALUES: usize = 100_000;

/// The byte order mark that some servers send.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The default time limit for one attempt.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The default size limit. A judge's reply takes a few KiB.
const DEFAULT_MAX_REPLY_BYTES: usize = 8 << 20;

/// Settings of the HTTP connection.
#[derive(Clone, Default)]
pub(super) struct HttpSettings {
    pub(super) timeout: Option<Duration>,
    pub(super) proxy: Proxy,
    /// The largest response in bytes, after decompression.
    pub(super) max_reply_bytes: Option<usize>,
}

/// The proxy for a connection.
#[derive(Clone, Default)]
pub(super) enum Proxy {
    /// The proxy named by the standard variables (`HTTPS_PROXY` and others), if any.
    #[default]
    Environment,
    None,
    Url(String),
}

/// A request to a provider.
struct Call {
    url: reqwest::Url,
    headers: Vec<(HeaderName, String)>,
    body: Value,
}

/// A response's JSON, and an error if anything follows it. In that case, the response is not a reply, but it may report
/// tokens.
type Received = (Value, Option<LmError>);

impl Client {
    /// Sends a request and returns the JSON of its response, with up to `max_values` values. The content type is
    /// ignored because servers also send JSON as `text/plain` or without a type.
    async fn post(&self, call: Call, max_values: usize) -> Result<Received, LmError> {
        let request = self.connections.post(call.url);
        let mut request = request.header(CONTENT_TYPE, "application/json");
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        let sent = request.body(call.body.to_string()).send().await;
        let mut response = sent.map_err(|error| self.transport_error(error, false))?;
        let status = response.status();
        let headers = std::mem::take(response.headers_mut());
        if !status.is_success() {
            // A body that is too long or cut off has no message.
            let body = self.body(response).await.unwrap_or_default();
            let body = String::from_utf8_lossy(&body);
            let status = status.as_u16();
            return Err(errors::status_error(status, &body, &headers, &self.target));
        }
        let body = self.body(response).await?;
        let body = body.strip_prefix(BOM).unwrap_or(&body);
        let unreadable = |error: &_| errors::unreadable(&headers, body, error, &self.target);
        let is_json = body.trim_ascii_start().starts_with(b"{");
        if is_json && has_more_values(&String::from_utf8_lossy(body), max_values) {
            return Err(self.too_large(max_values, "JSON values"));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        let json = UniqueKeys::deserialize(&mut deserializer);
        let UniqueKeys(json) = json.map_err(|error| unreadable(&error))?;
        let rest = deserializer.end().err();
        Ok((json, rest.map(|error| unreadable(&error))))
    }

    /// Returns the whole body, decompressed.
    async fn body(&self, mut response: Response) -> Result<Vec<u8>, LmError> {
        let limit = self.http.max_reply_bytes;
        let limit = limit.unwrap_or(DEFAULT_MAX_REPLY_BYTES);
        let mut body = Vec::new();
        loop {
            let chunk = response.chunk().await;
            let chunk = chunk.map_err(|error| self.transport_error(error, true))?;
            let Some(chunk) = chunk else { return Ok(body) };
            if chunk.len() > limit - body.len() {
                return Err(self.too_large(limit, "bytes"));
            }
            body.extend_from_slice(&chunk);
        }
    }

    fn transport_error(&self, error: reqwest::Error, of_body: bool) -> LmError {
        let timeout = self.http.timeout.unwrap_or(DEFAULT_TIMEOUT);
        errors::convert_transport(error, of_body, &self.target, timeout)
    }

    fn too_large(&self, limit: usize, unit: &'static str) -> LmError {
        let kind = LmErrorKind::ReplyTooLarge {
            limit: limit as u64,
            unit,
        };
        LmError::new(&*self.target.id, kind)
    }
}

/// Creates the HTTP client of one provider.
fn http_client(target: &Target, http: &HttpSettings) -> Result<reqwest::Client, LmError> {
    let timeout = http.timeout.unwrap_or(DEFAULT_TIMEOUT);
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(timeout)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10))
        .http2_adaptive_window(true);
    match &http.proxy {
        Proxy::Environment => {}
        Proxy::None => builder = builder.no_proxy(),
        Proxy::Url(url) => {
            let proxy = reqwest::Proxy::all(url).map_err(|error| invalid_proxy(url, error))?;
            builder = builder.proxy(proxy);
        }
    }
    let built = builder.build();
    built.map_err(|error| errors::convert_transport(error, false, target, timeout))
}

fn invalid_proxy(url: &str, error: reqwest::Error) -> LmError {
    let causes = errors::causes(&error);
    let expected = format_args!("expected a URL such as http://host:3128 ({causes})");
    LmError::setting("proxy", &redact_url(url), expected).with_source(error.without_url())
}
