//! One request to a collector: redirects are not followed, and a response is read up to a limit.

use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use dsrs_metrics_values::messages::escape;
use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use reqwest::redirect::Policy;
use serde_json::{Map, Value, json};

use crate::endpoint::OtelError;

/// The bytes that are read of a response; one that reports rejected records has a few hundred.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// The longest part of a response in an error message, in bytes.
const MAX_MESSAGE_BYTES: usize = 200;

/// The longest delay that a collector may request.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// The HTTP client of a collector, with what its last response was. The exporters of the crate `opentelemetry-otlp` do not return it.
#[derive(Debug)]
pub(crate) struct Collector {
    client: reqwest::Client,
    last: Mutex<Option<Exchange>>,
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Exchange {
    /// The collector accepted the batch, with this response, which may reject some of its records.
    Accepted(Bytes),
    /// The request may be repeated, after a delay if the collector requested one.
    Unavailable {
        reason: String,
        retry_after: Option<Duration>,
    },
    /// The same request would be refused again.
    Refused(String),
}

impl Collector {
    pub(crate) fn new(timeout: Duration) -> Result<Self, OtelError> {
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .timeout(timeout)
            .build();
        Ok(Self {
            client: client.map_err(OtelError::exporter)?,
            last: Mutex::default(),
        })
    }

    /// Returns and removes the result of the last request.
    pub(crate) fn take_last(&self) -> Option<Exchange> {
        self.last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    async fn send(&self, request: Request<Bytes>) -> Result<(StatusCode, Bytes), Exchange> {
        let (parts, body) = request.into_parts();
        let request = self
            .client
            .post(parts.uri.to_string())
            .headers(parts.headers)
            .body(body);
        let unavailable = |error: &_| Exchange::Unavailable {
            reason: reason(error),
            retry_after: None,
        };
        let mut response = request
            .send()
            .await
            .map_err(|error| unavailable(&error.without_url()))?;
        let mut body = Vec::new();
        while let Some(part) = response
            .chunk()
            .await
            .map_err(|error| unavailable(&error.without_url()))?
        {
            body.extend_from_slice(&part);
            if body.len() > MAX_RESPONSE_BYTES {
                return Err(Exchange::Refused(format!(
                    "the response has more than {MAX_RESPONSE_BYTES} bytes; check that the URL is a collector's"
                )));
            }
        }
        let status = response.status();
        if status.is_success() {
            let content_type = response
                .headers()
                .get(CONTENT_TYPE)
                .and_then(|it| it.to_str().ok());
            return match content_type {
                _ if body.is_empty() || accepts_all(&body) => Ok((status, Bytes::new())),
                Some(other) if other.starts_with("text/") || other.contains("json") => {
                    Err(Exchange::Refused(unreadable(&body)))
                }
                _ => Ok((status, body.into())),
            };
        }
        let reason = status_reason(status, &body);
        // The statuses that the protocol allows to repeat.
        Err(match status.as_u16() {
            429 | 502 | 503 | 504 => {
                let header = response
                    .headers()
                    .get("retry-after")
                    .and_then(|it| it.to_str().ok());
                let seconds = header.and_then(|seconds| seconds.trim().parse().ok());
                let delay =
                    seconds.map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_AFTER));
                Exchange::Unavailable {
                    reason,
                    retry_after: delay,
                }
            }
            _ => Exchange::Refused(reason),
        })
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let result = self.send(request).await;
        let (response, exchange) = match result {
            Ok((status, body)) => {
                let mut response = Response::new(body.clone());
                *response.status_mut() = status;
                (Ok(response), Exchange::Accepted(body))
            }
            Err(exchange) => (Err("the batch was not accepted".into()), exchange),
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(exchange);
        response
    }
}

/// Returns the innermost reason of an error, which is the only one without general words.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the collector did not reply in time".to_owned();
    }
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Returns `true` if a response is JSON, as some collectors send it, and rejects no record.
fn accepts_all(body: &[u8]) -> bool {
    serde_json::from_slice(body).is_ok_and(|body: Map<String, Value>| {
        body.get("partialSuccess")
            .is_none_or(|partial| *partial == json!({}))
    })
}

/// Returns the reason why a response with a success status does not confirm a batch.
pub(crate) fn unreadable(body: &[u8]) -> String {
    let found = text(body).unwrap_or_else(|| "other bytes".to_owned());
    format!("expected a response of OTLP, found {found}; check that the URL is a collector's")
}

/// Returns the beginning of a body, if it is text.
fn text(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).map(str::trim).unwrap_or_default();
    // Otherwise it is protobuf.
    let is_text = !text.contains(|it: char| it.is_control() && !it.is_whitespace());
    (is_text && !text.is_empty()).then(|| {
        let mut text = text.to_owned();
        escape::truncate(&mut text, MAX_MESSAGE_BYTES);
        text
    })
}

/// Returns `status 401: missing token`.
fn status_reason(status: StatusCode, body: &[u8]) -> String {
    let mut message = format!("status {}", status.as_u16());
    if let Some(text) = text(body) {
        message.push_str(": ");
        message.push_str(&text);
    }
    if status.is_redirection() {
        message.push_str("; redirects are not followed, give the final URL");
    }
    message
}
