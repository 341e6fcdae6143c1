//! The client: one call to a provider over HTTP.
//!
//! [`provider`] lists the providers with their addresses, [`target`] reads the environment variables that configure
//! one. [`format`](self::format) writes a request in the provider's wire format and reads its reply. [`http`] sends it:
//! redirects are not followed, since they would carry the key and the prompt to an address that is not configured, and
//! a response is read up to a limit. [`errors`] converts what fails. Retries, limits, prices and the cache are in
//! [`layers`](super::layers).

mod errors;
mod format;
mod http;
mod provider;
mod reply;
mod target;

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;

use self::format::Question;
use self::http::Http;
pub(super) use self::target::{EndpointHash, Target, Variables};
use super::lock::lock;
use super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest};

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
    /// Names of the schemas that the model rejected.
    rejected_schemas: Mutex<HashSet<String>>,
}

impl Client {
    pub(super) fn new(target: Target, http: HttpSettings) -> Result<Self, LmError> {
        let connections = http_client(&target, &http)?;
        Ok(Self { target, http, connections, rejected_schemas: Mutex::default() })
    }

    /// Sends a request. In JSON mode its schema is an instruction, since the model supports no schemas.
    async fn send(&self, request: &LmRequest, json_mode: bool) -> Result<LmReply, LmError> {
        let target = &self.target;
        let call = target.format.call(&Question { target, request, json_mode })?;
        let http = Http { client: &self.connections, settings: &self.http, target };
        target.format.reply(http.post(call).await?, target)
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
        if self.target.supports_schema && !lock(&self.rejected_schemas).contains(&schema.name) {
            let result = self.send(request, false).await;
            let is_rejected = result
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), LmErrorKind::SchemaUnsupported { .. }));
            if !is_rejected {
                return result;
            }
            lock(&self.rejected_schemas).insert(schema.name.clone());
        }
        self.send(request, true).await
    }
}

/// Creates the HTTP client of one provider.
fn http_client(target: &Target, http: &HttpSettings) -> Result<reqwest::Client, LmError> {
    let mut builder = reqwest::Client::builder()
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
