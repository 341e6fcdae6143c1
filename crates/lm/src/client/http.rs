//! Sends one HTTP request without following redirects, and reads the response up to a limit.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use serde::Deserialize as _;
use serde_json::Value;

use super::super::{LmError, LmErrorKind};
use super::target::{Target, redact_url};
use super::{Client, errors};
use dsrs_metrics_values::json::has_more_values;
use dsrs_metrics_values::json::read::UniqueKeys;

/// How much of an error response is read. Messages are far shorter.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// The maximum number of JSON values in a response. A reply has a few dozen; each takes up to a hundred bytes of memory
/// but only two bytes of the response.
pub(super) const MAX_VALUES: usize = 100_000;

/// The byte order mark that some servers send.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The time limit of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The default time limit of one attempt.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The default size limit. A judge's reply takes a few KiB.
const DEFAULT_MAX_REPLY_BYTES: usize = 8 << 20;

/// Settings of the HTTP connection.
#[derive(Clone, Default)]
pub(in super::super) struct HttpSettings {
    pub(in super::super) timeout: Option<Duration>,
    pub(in super::super) proxy: Proxy,
    /// The largest response in bytes, after decompression.
    pub(in super::super) max_reply_bytes: Option<usize>,
}

/// The proxy of a connection.
#[derive(Clone, Default)]
pub(in super::super) enum Proxy {
    /// The proxy named by the standard variables (`HTTPS_PROXY` and others), if any.
    #[default]
    Environment,
    None,
    Url(String),
}

/// A request to a provider.
pub(super) struct Call {
    pub(super) url: reqwest::Url,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) body: Value,
}

/// The JSON of a response, and the error if something follows it. The response is then no reply, but it may report
/// tokens.
pub(super) type Received = (Value, Option<LmError>);

impl Client {
    /// Sends a request and returns the JSON of its response, with up to `max_values` values. The content type is
    /// ignored because servers also send JSON as `text/plain` or without a type.
    pub(super) async fn post(&self, call: Call, max_values: usize) -> Result<Received, LmError> {
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
            let (status, body) = (status.as_u16(), beginning(&mut response).await);
            let error = errors::status_error(status, &body, &headers, &self.target);
            return Err(error);
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
pub(super) fn http_client(
    target: &Target,
    http: &HttpSettings,
) -> Result<reqwest::Client, LmError> {
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

/// Returns the beginning of a body, for an error message. It ends where the connection fails.
async fn beginning(response: &mut Response) -> String {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk[..chunk.len().min(MAX_ERROR_BYTES - body.len())]);
    }
    String::from_utf8_lossy(&body).into_owned()
}
