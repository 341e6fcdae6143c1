//! The client: one call to a provider over HTTP.
//!
//! `genai` is the best maintained multi-provider client (frequent releases, forty providers in
//! their native formats), its errors contain status and headers, so that `Retry-After` can be
//! honoured, and it accepts a configured `reqwest` client. The errors of `rig` and `llm` contain
//! neither, and `async-openai` implements one format only. It knows the addresses and the key
//! variables of all providers, and the dialects of JSON schemas.
//!
//! It reads a response whole, though, whatever its size, and `reqwest` has no limit either. So the
//! wire formats that nearly all providers have are in [`format`](self::format), and [`http`] reads
//! their responses up to a limit. Providers with a format of their own are called through `genai`.
//!
//! Neither follows redirects: a redirected request would carry the key and the prompt to an address
//! that is not configured.
//!
//! The rest is what `genai` leaves to its user: the environment variables ([`target`]), the
//! conversion of errors ([`errors`]) and of replies ([`reply`]), and JSON mode for models without
//! support for schemas. Retries, limits, prices and the cache are in [`layers`](super::layers).

mod errors;
mod format;
mod http;
mod limited_json;
mod reply;
mod target;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec, ReasoningEffort,
};
use genai::resolver::{AuthData, Endpoint, ProviderConfig};
use genai::{Headers, ModelIden};
use secrecy::ExposeSecret;
use serde_json::Value;

use self::format::{Format, Question};
use self::http::Http;
pub(super) use self::target::{EndpointHash, Target, Variables};
use super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, Role};

/// Settings of the HTTP connection.
#[derive(Debug, Clone)]
pub(super) struct HttpSettings {
    pub(super) timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) proxy: Proxy,
    /// The largest response in bytes, after decompression.
    pub(super) max_reply_bytes: usize,
}

/// The default of the largest response: a reply of a judge has some KiB.
pub(super) const DEFAULT_MAX_REPLY_BYTES: usize = 8 << 20;

/// The proxy of a connection.
#[derive(Clone, Default)]
pub(super) enum Proxy {
    /// The proxy that the standard variables (`HTTPS_PROXY` and others) name, if they name one.
    #[default]
    Environment,
    None,
    Url(String),
}

/// Hides a password in the URL.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => f.write_str("Environment"),
            Self::None => f.write_str("None"),
            Self::Url(url) => write!(f, "Url({:?})", target::redact_url(url)),
        }
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
            proxy: Proxy::default(),
            max_reply_bytes: DEFAULT_MAX_REPLY_BYTES,
        }
    }
}

/// A model of a provider.
pub(super) struct Client {
    target: Target,
    http: HttpSettings,
    connections: reqwest::Client,
    /// `None` if the provider is called through `genai`.
    format: Option<Format>,
    genai: genai::Client,
    model: ModelIden,
    /// Names of the schemas that the model rejected.
    rejected_schemas: Mutex<HashSet<String>>,
}

impl Client {
    pub(super) fn new(target: Target, http: HttpSettings) -> Result<Self, LmError> {
        let format = Format::of(target.kind);
        let connections = http_client(&target, &http, format.is_some())?;
        let genai = genai::Client::builder()
            .with_reqwest(connections.clone())
            .append_provider_config(target.kind, provider_config(&target))
            .build()
            .map_err(|error| errors::client_error(&error, &target))?;
        let model = ModelIden::new(target.kind, target.model.clone());
        let rejected_schemas = Mutex::default();
        Ok(Self { target, http, connections, format, genai, model, rejected_schemas })
    }

    async fn send(&self, request: &LmRequest, json_mode: bool) -> Result<LmReply, LmError> {
        let Some(format) = self.format else {
            return self.send_with_genai(request, json_mode).await;
        };
        let service = self.genai.resolve_service_target(self.model.clone()).await;
        let service = service.map_err(|error| errors::client_error(&error, &self.target))?;
        let base_url = service.endpoint.base_url();
        let target = &self.target;
        let call = format.call(&Question { target, base_url, request, json_mode })?;
        let http = Http { client: &self.connections, settings: &self.http, target };
        format.reply(http.post(call).await?, target)
    }

    async fn send_with_genai(
        &self,
        request: &LmRequest,
        json_mode: bool,
    ) -> Result<LmReply, LmError> {
        let options = self.options(request, json_mode);
        let chat = ChatRequest::from_messages(messages(request, json_mode));
        match self.genai.exec_chat(self.model.clone(), chat, Some(&options)).await {
            Ok(response) => reply::convert(response, &self.target),
            Err(error) => match reply::blocked(&error) {
                Some(reply) => Ok(reply),
                None => Err(errors::convert(error, &self.target, self.http.timeout)),
            },
        }
    }

    fn options(&self, request: &LmRequest, json_mode: bool) -> ChatOptions {
        let sampling = request.sampling;
        let format = request.schema.as_ref().map(|schema| match json_mode {
            true => ChatResponseFormat::JsonMode,
            false => JsonSpec::new(schema.name.clone(), schema.schema.clone()).into(),
        });
        ChatOptions {
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            max_tokens: sampling.max_tokens,
            seed: sampling.seed,
            response_format: format,
            capture_raw_body: Some(true),
            reasoning_effort: keep_model_name(&self.target.model),
            extra_headers: (!self.target.headers.is_empty())
                .then(|| Headers::from(self.target.headers.clone())),
            ..ChatOptions::default()
        }
    }

    fn rejected_schemas(&self) -> MutexGuard<'_, HashSet<String>> {
        self.rejected_schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
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

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let Some(schema) = &request.schema else { return self.send(request, false).await };
        if self.target.supports_schema && !self.rejected_schemas().contains(&schema.name) {
            let result = self.send(request, false).await;
            let is_rejected = result
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), LmErrorKind::SchemaUnsupported { .. }));
            if !is_rejected {
                return result;
            }
            self.rejected_schemas().insert(schema.name.clone());
        }
        self.send(request, true).await
    }
}

/// Creates the client of one provider. `genai` reads bodies without a limit, so responses to it must not be compressed: a
/// few bytes could expand to gigabytes.
fn http_client(
    target: &Target,
    http: &HttpSettings,
    is_bounded: bool,
) -> Result<reqwest::Client, LmError> {
    let builder = reqwest::Client::builder();
    let builder = match is_bounded {
        true => builder,
        false => builder.no_gzip().no_brotli().no_deflate().no_zstd(),
    };
    let mut builder = builder
        .redirect(reqwest::redirect::Policy::none())
        .timeout(http.timeout)
        .connect_timeout(http.connect_timeout)
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
    builder.build().map_err(|error| {
        let reason = errors::causes(&error);
        LmError::new(&*target.id, LmErrorKind::Other { reason }).with_source(error.without_url())
    })
}

fn invalid_proxy(url: &str, error: reqwest::Error) -> LmError {
    let kind = LmErrorKind::InvalidSetting {
        setting: "proxy".to_owned(),
        found: target::redact_url(url),
        reason: format!("expected a URL such as http://host:3128 ({})", errors::causes(&error)),
    };
    LmError::from(kind).with_source(error.without_url())
}

fn provider_config(target: &Target) -> ProviderConfig {
    let key = target.key.as_ref().map_or("none", ExposeSecret::expose_secret);
    let config = ProviderConfig::from_auth(AuthData::from_single(key));
    match &target.base_url {
        Some(url) => config.with_endpoint(Endpoint::from_owned(url.as_str())),
        None => config,
    }
}

/// A reasoning effort without effect. `genai` parses the suffix `-high` of a model name as a
/// reasoning effort, unless one is given.
fn keep_model_name(model: &str) -> Option<ReasoningEffort> {
    let has_suffix = ReasoningEffort::from_model_name(model).0.is_some();
    has_suffix.then_some(ReasoningEffort::Budget(0))
}

fn messages(request: &LmRequest, json_mode: bool) -> Vec<ChatMessage> {
    let mut messages: Vec<_> = request
        .messages
        .iter()
        .map(|message| {
            let content = message.content.clone();
            match message.role {
                Role::System => ChatMessage::system(content),
                Role::User => ChatMessage::user(content),
                Role::Assistant => ChatMessage::assistant(content),
            }
        })
        .collect();
    if let (true, Some(schema)) = (json_mode, &request.schema) {
        messages.insert(0, ChatMessage::system(json_mode_instruction(&schema.schema)));
    }
    messages
}

/// The instruction for a model without support for schemas.
fn json_mode_instruction(schema: &Value) -> String {
    format!(
        "Reply with one JSON object and nothing else. It must match this JSON schema:\n{schema}"
    )
}
