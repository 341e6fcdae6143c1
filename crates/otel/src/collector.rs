//! What both exporters share: an HTTP client that follows no redirects and limits the size of responses, and counts of
//! the events that were observed, sent and accepted.

use std::error::Error as _;
use std::io::Read as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, thread};

use async_trait::async_trait;
use dsrs_metrics_values::messages::escape;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::LogExporter;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogExporter as ExportLogs};
use prost::Message as _;
use reqwest::blocking::{Client, Request as Post};
use reqwest::redirect::Policy;

use super::endpoint::OtelError;

/// The maximum number of bytes read from a response. A response that reports rejected records takes a few hundred.
const MAX_RESPONSE_BYTES: u64 = 64 << 10;

/// The maximum number of bytes that an error message quotes from a response.
const MAX_MESSAGE_BYTES: usize = 200;

/// Sends the requests of both exporters, and counts the events. An exporter retries a request that gets no response, or
/// a status that allows a retry.
#[derive(Debug)]
pub(crate) struct Collector {
    client: Client,
    /// `true` once nothing more will be sent.
    pub(crate) is_closed: AtomicBool,
    error: Mutex<Option<String>>,
    /// The maximum number of events that can wait.
    pub(crate) max_waiting: u64,
    pub(crate) observed: AtomicU64,
    /// The number of events whose batch was accepted or refused.
    settled: AtomicU64,
    pub(crate) delivered: AtomicU64,
    /// How many records of the last batch the collector rejected.
    rejected: AtomicU64,
}

impl Collector {
    pub(crate) fn new(timeout: Duration, max_waiting: usize) -> Result<Arc<Self>, OtelError> {
        // The caller's thread may belong to an asynchronous runtime, where a blocking client must not be built.
        let built = thread::spawn(move || {
            let builder = Client::builder().redirect(Policy::none());
            builder.timeout(timeout).build()
        });
        let panicked = |_| OtelError::exporter("the HTTP client panicked");
        let client = built.join().map_err(panicked)?;
        Ok(Arc::new(Self {
            client: client.map_err(OtelError::exporter)?,
            is_closed: AtomicBool::new(false),
            error: Mutex::default(),
            max_waiting: max_waiting as u64,
            observed: AtomicU64::new(0),
            settled: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
        }))
    }

    pub(crate) fn error(&self) -> MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn waiting(&self) -> u64 {
        let settled = self.settled.load(Relaxed);
        self.observed.load(Relaxed).saturating_sub(settled)
    }

    /// Counts an event before it enters the queue, which drops the event if it is full.
    pub(crate) fn observe(&self) {
        if self.waiting() >= self.max_waiting {
            let full = "the queue was full, because the collector is slower than the run";
            self.error().get_or_insert_with(|| full.to_owned());
        }
        self.observed.fetch_add(1, Relaxed);
    }

    /// Sends a request and reads the response.
    fn send(&self, request: Request<Bytes>) -> Result<(), Failure> {
        let is_of_events = request.uri().path().ends_with("/v1/logs");
        let no_response = |reason| (None, None, reason);
        let sent = Post::try_from(request).and_then(|post| self.client.execute(post));
        let response = sent.map_err(|error| no_response(reason(&error)))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        let read = response.take(MAX_RESPONSE_BYTES).read_to_end(&mut body);
        read.map_err(|error| no_response(error.to_string()))?;
        if !status.is_success() {
            let delay = headers.get(RETRY_AFTER).cloned();
            return Err((Some(status), delay, status_reason(status, &body)));
        }
        let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_text = content_type.is_some_and(|it| it.starts_with("text/") || it.contains("json"));
        // The response for spans has the same fields. Some collectors respond with JSON.
        let response = match is_text {
            _ if body.is_empty() => Some(ExportLogsServiceResponse::default()),
            true => serde_json::from_slice(&body).ok(),
            false => ExportLogsServiceResponse::decode(&*body).ok(),
        };
        let Some(response) = response else {
            let found = text(&body).unwrap_or_else(|| "other bytes".to_owned());
            let reason = format!(
                "expected an OTLP response, found {found}; check that the URL belongs to a collector"
            );
            // Requests with this status aren't retried.
            return Err((Some(StatusCode::BAD_REQUEST), None, reason));
        };
        let partial = response.partial_success.unwrap_or_default();
        let rejected = u64::try_from(partial.rejected_log_records).unwrap_or_default();
        match (rejected, partial.error_message) {
            (0, message) if message.is_empty() => {}
            (0, message) => *self.error() = Some(message),
            (_, message) => {
                let rejected = format!("the collector rejected {rejected} of a batch: {message}");
                *self.error() = Some(rejected);
            }
        }
        if is_of_events {
            self.rejected.store(rejected, Relaxed);
        }
        Ok(())
    }
}

/// The status, if there was a response, the retry delay that the collector asked for, and the reason.
type Failure = (Option<StatusCode>, Option<HeaderValue>, String);

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut answer = Response::<Bytes>::default();
        if self.is_closed.load(Relaxed) {
            *answer.status_mut() = StatusCode::BAD_REQUEST;
            return Ok(answer);
        }
        if let Err((status, delay, reason)) = self.send(request) {
            *self.error() = Some(reason.clone());
            *answer.status_mut() = status.ok_or(reason)?;
            let delay = delay.map(|delay| (RETRY_AFTER, delay));
            answer.headers_mut().extend(delay);
        }
        Ok(answer)
    }
}

/// An event exporter that counts what it sends.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) exporter: LogExporter,
    pub(crate) collector: Arc<Collector>,
}

impl ExportLogs for Counted {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let events = batch.iter().count() as u64;
        let result = self.exporter.export(batch).await;
        let rejected = self.collector.rejected.swap(0, Relaxed);
        if result.is_ok() {
            let delivered = events.saturating_sub(rejected);
            self.collector.delivered.fetch_add(delivered, Relaxed);
        }
        self.collector.settled.fetch_add(events, Relaxed);
        result
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Returns an error's innermost reason; the outer ones are too general.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the collector did not reply in time".to_owned();
    }
    let sources = std::iter::successors(error.source(), |&error| error.source());
    let innermost = sources.last().map(ToString::to_string);
    innermost.unwrap_or_else(|| error.to_string())
}

/// Returns the beginning of a body if it is text.
fn text(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).map(str::trim).unwrap_or_default();
    // Otherwise, the body is protobuf.
    let is_text = !text.contains(|it: char| it.is_control() && !it.is_whitespace());
    let mut text = (is_text && !text.is_empty()).then(|| text.to_owned())?;
    escape::truncate(&mut text, MAX_MESSAGE_BYTES);
    Some(text)
}

/// Returns `status 401: missing token`.
fn status_reason(status: StatusCode, body: &[u8]) -> String {
    let text = text(body).map(|text| format!(": {text}"));
    let text = text.unwrap_or_default();
    let advice = match status.is_redirection() {
        true => "; redirects are not followed, so use the final URL",
        false => "",
    };
    format!("status {}{text}{advice}", status.as_u16())
}

/// Counts the events that [`OtelEvents`](crate::OtelEvents) sent.
///
/// Also counts how many of these events the collector accepted. Spans for model calls are not counted.
///
/// The [`Display`](fmt::Display) implementation writes a sentence such as `12 of 500 events were not delivered to
/// http://localhost:4318: connection refused`, or `500 events were delivered to ..`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// The collector's base URL.
    pub url: String,
    /// The number of score events.
    pub events: u64,
    /// The number of score events that the collector accepted.
    pub delivered_events: u64,
    /// The last error for an event or a span, if any.
    ///
    /// The error is kept even if the batch was delivered later.
    pub error: Option<String>,
}

impl Delivery {
    /// Returns `true` if the collector accepted all events.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::Delivery;
    /// assert!(Delivery::default().is_complete(), "there was nothing to send");
    /// ```
    pub fn is_complete(&self) -> bool {
        self.lost_events() == 0
    }

    /// Returns the number of score events that the collector did not accept.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::Delivery;
    /// assert_eq!(Delivery::default().lost_events(), 0);
    /// ```
    pub fn lost_events(&self) -> u64 {
        self.events.saturating_sub(self.delivered_events)
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = escape::escaped(&self.url);
        let (events, were) = match self.events {
            1 => ("1 event".to_owned(), "was"),
            events => (format!("{events} events"), "were"),
        };
        if self.is_complete() {
            return write!(f, "{events} {were} delivered to {url}");
        }
        let error = self.error.as_deref();
        let error = escape::escaped(error.unwrap_or("the collector did not reply in time"));
        let lost = self.lost_events();
        write!(f, "{lost} of {events} were not delivered to {url}: {error}")
    }
}

#[cfg(test)]
mod tests {
    use super::Delivery;

    #[test]
    fn a_delivery_is_a_sentence() {
        let url = "http://localhost:4318".to_owned();
        let all = Delivery {
            url,
            events: 1,
            delivered_events: 1,
            ..Delivery::default()
        };
        assert_eq!(
            all.to_string(),
            "1 event was delivered to http://localhost:4318"
        );
        let lost = Delivery {
            events: 9,
            error: Some("status\n500".to_owned()),
            ..all
        };
        assert_eq!(
            lost.to_string(),
            "8 of 9 events were not delivered to http://localhost:4318: status\\n500"
        );
    }
}
