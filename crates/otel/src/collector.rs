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
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Request, Response, StatusCode};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::LogExporter;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogExporter as ExportLogs};
use prost::Message as _;
use reqwest::blocking::{Client, Request as Post};
use reqwest::redirect::Policy;
use serde_json::{Map, Value, json};

use super::endpoint::OtelError;

/// How much of a response is read, in bytes. One that reports rejected records has a few hundred.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// The maximum length of the part of a response in an error message, in bytes.
const MAX_MESSAGE_BYTES: usize = 200;

/// What both signals share: whether anything more is sent, and the last error.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) is_closed: AtomicBool,
    error: Mutex<Option<String>>,
}

impl Collector {
    pub(crate) fn error(&self) -> MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, error: String) {
        *self.error() = Some(error);
    }
}

/// Creates a client. It blocks, as the threads of the SDK's batch processors require.
pub(crate) fn client(timeout: Duration) -> Result<Client, OtelError> {
    // The caller's thread may belong to an asynchronous runtime, where a blocking client must not be built.
    let built = thread::spawn(move || {
        let builder = Client::builder().redirect(Policy::none());
        builder.timeout(timeout).build()
    });
    match built.join() {
        Ok(client) => client.map_err(OtelError::exporter),
        Err(_) => Err(OtelError::exporter("the HTTP client panicked")),
    }
}

/// The requests of one exporter, and counts of its events. An exporter repeats a request that gets no response, or a
/// status that allows it.
#[derive(Debug)]
pub(crate) struct Signal {
    client: Client,
    collector: Arc<Collector>,
    /// How many events may wait.
    pub(crate) max_waiting: u64,
    pub(crate) observed: AtomicU64,
    /// Events whose batch was accepted or refused.
    pub(crate) settled: AtomicU64,
    pub(crate) delivered: AtomicU64,
    /// How many of the last batch the collector rejected.
    rejected: AtomicU64,
}

impl Signal {
    pub(crate) fn new(client: Client, collector: Arc<Collector>, max_waiting: usize) -> Arc<Self> {
        Arc::new(Self {
            client,
            collector,
            max_waiting: max_waiting as u64,
            observed: AtomicU64::new(0),
            settled: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
        })
    }

    pub(crate) fn waiting(&self) -> u64 {
        let settled = self.settled.load(Relaxed);
        self.observed.load(Relaxed).saturating_sub(settled)
    }

    /// Counts an event before it enters the queue. A full queue drops it.
    pub(crate) fn observe(&self) {
        if self.waiting() >= self.max_waiting {
            let full = "the queue was full, because the collector is slower than the run";
            let mut error = self.collector.error();
            error.get_or_insert_with(|| full.to_owned());
        }
        self.observed.fetch_add(1, Relaxed);
    }

    /// Sends a request, and returns the beginning of its response.
    fn response(
        &self,
        request: Request<Bytes>,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), String> {
        let sent = Post::try_from(request).and_then(|post| self.client.execute(post));
        let response = sent.map_err(|error| reason(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let (mut body, limit) = (Vec::new(), MAX_RESPONSE_BYTES as u64 + 1);
        let read = response.take(limit).read_to_end(&mut body);
        read.map_err(|error| error.to_string())?;
        Ok((status, headers, body))
    }

    /// Reads the response to a successful request. Returns the reason if it does not confirm the batch.
    fn confirm(&self, content_type: &str, body: &[u8]) -> Result<(), String> {
        if body.is_empty() || accepts_all(body) {
            return Ok(());
        }
        let is_text = content_type.starts_with("text/") || content_type.contains("json");
        // The response for spans has the same fields.
        let partial = match ExportLogsServiceResponse::decode(body) {
            Ok(response) if !is_text => response.partial_success.unwrap_or_default(),
            _ => {
                let found = text(body).unwrap_or_else(|| "other bytes".to_owned());
                return Err(format!(
                    "expected an OTLP response, found {found}; check that the URL belongs to a collector"
                ));
            }
        };
        let rejected = u64::try_from(partial.rejected_log_records).unwrap_or_default();
        self.rejected.store(rejected, Relaxed);
        match (rejected, partial.error_message) {
            (0, message) if message.is_empty() => {}
            (0, message) => self.collector.note(message),
            (_, message) => self.collector.note(format!(
                "the collector rejected {rejected} of a batch: {message}"
            )),
        }
        Ok(())
    }
}

#[async_trait]
impl HttpClient for Signal {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut answer = Response::<Bytes>::default();
        // A request with this status is not repeated.
        let refused = StatusCode::BAD_REQUEST;
        if self.collector.is_closed.load(Relaxed) {
            *answer.status_mut() = refused;
            return Ok(answer);
        }
        let (status, headers, body) = self.response(request).inspect_err(|reason| {
            self.collector.note(reason.clone());
        })?;
        let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let failed = match status.is_success() {
            _ if body.len() > MAX_RESPONSE_BYTES => Err((
                refused,
                format!(
                    "the response has more than {MAX_RESPONSE_BYTES} bytes; check that the URL belongs to a collector"
                ),
            )),
            true => {
                let confirmed = self.confirm(content_type.unwrap_or_default(), &body);
                confirmed.map_err(|reason| (refused, reason))
            }
            false => Err((status, status_reason(status, &body))),
        };
        if let Err((status, reason)) = failed {
            self.collector.note(reason);
            *answer.status_mut() = status;
            let delay = headers.get(RETRY_AFTER).cloned();
            let delay = delay.map(|delay| (RETRY_AFTER, delay));
            answer.headers_mut().extend(delay);
        }
        Ok(answer)
    }
}

/// An exporter of events that counts them.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) exporter: LogExporter,
    pub(crate) signal: Arc<Signal>,
}

impl ExportLogs for Counted {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let events = batch.iter().count() as u64;
        let result = self.exporter.export(batch).await;
        let rejected = self.signal.rejected.swap(0, Relaxed);
        if result.is_ok() {
            let delivered = events.saturating_sub(rejected);
            self.signal.delivered.fetch_add(delivered, Relaxed);
        }
        self.signal.settled.fetch_add(events, Relaxed);
        result
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Returns the innermost reason of an error; the outer ones are too general.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the collector did not reply in time".to_owned();
    }
    let sources = std::iter::successors(error.source(), |&error| error.source());
    let innermost = sources.last().map(ToString::to_string);
    innermost.unwrap_or_else(|| error.to_string())
}

/// Returns `true` if a response is JSON, which some collectors send, and rejects no record.
fn accepts_all(body: &[u8]) -> bool {
    serde_json::from_slice(body).is_ok_and(|body: Map<String, Value>| {
        body.get("partialSuccess")
            .is_none_or(|partial| *partial == json!({}))
    })
}

/// Returns the beginning of a body, if it is text.
fn text(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).map(str::trim).unwrap_or_default();
    // Otherwise it is protobuf.
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

/// A count of the events that [`OtelEvents`](crate::OtelEvents) sent.
///
/// It also counts the events that the collector accepted. Spans of model calls are not counted.
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
    /// The last error, if any, of events or spans.
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
