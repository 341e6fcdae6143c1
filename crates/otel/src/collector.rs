//! What both exporters share: an HTTP client that follows no redirects and limits the size of responses, and counts of
//! what was observed, sent and accepted.
//!
//! The file is long because requests, retries and replies of a collector are read together.

use std::error::Error as _;
use std::io::Read as _;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use async_trait::async_trait;
use dsrs_metrics_values::messages::escape;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::{LogExporter, SpanExporter};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogExporter as ExportLogs};
use opentelemetry_sdk::trace::{SpanData, SpanExporter as ExportSpans};
use prost::Message as _;
use reqwest::blocking::{Client, Request as Post};
use reqwest::redirect::Policy;
use serde_json::{Map, Value, json};

use super::endpoint::OtelError;

/// How much of a response is read, in bytes. One that reports rejected records has a few hundred.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// The maximum length of the part of a response in an error message, in bytes.
const MAX_MESSAGE_BYTES: usize = 200;

/// A collector: when to stop sending to it, and what it accepted.
#[derive(Debug)]
pub(crate) struct Collector {
    url: String,
    /// How many events or spans of a signal may wait.
    max_waiting: u64,
    closes: OnceLock<Instant>,
    error: Mutex<Option<String>>,
    pub(crate) events: Counts,
    pub(crate) spans: Counts,
}

/// Counts of events or spans.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    observed: AtomicU64,
    /// Events or spans whose batch was accepted or refused.
    settled: AtomicU64,
    delivered: AtomicU64,
}

impl Counts {
    pub(crate) fn settled(&self) -> u64 {
        self.settled.load(Relaxed)
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.observed.load(Relaxed).saturating_sub(self.settled())
    }
}

impl Collector {
    pub(crate) fn new(url: &str, max_waiting: usize) -> Self {
        Self {
            url: url.to_owned(),
            max_waiting: max_waiting as u64,
            closes: OnceLock::new(),
            error: Mutex::default(),
            events: Counts::default(),
            spans: Counts::default(),
        }
    }

    /// Counts an event or a span before it enters the queue. A full queue drops it.
    pub(crate) fn observe(&self, counts: &Counts) {
        if counts.waiting() >= self.max_waiting {
            let mut error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
            let full = "the queue was full, because the collector is slower than the run";
            error.get_or_insert_with(|| full.to_owned());
        }
        counts.observed.fetch_add(1, Relaxed);
    }

    /// Sets the time after which nothing more is sent. Only the first call counts.
    pub(crate) fn close(&self, at: Instant) {
        let _ = self.closes.set(at);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closes.get().is_some_and(|at| *at <= Instant::now())
    }

    fn note(&self, error: String) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    pub(crate) fn delivery(&self) -> Delivery {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        Delivery {
            url: self.url.clone(),
            events: self.events.observed.load(Relaxed),
            delivered_events: self.events.delivered.load(Relaxed),
            spans: self.spans.observed.load(Relaxed),
            delivered_spans: self.spans.delivered.load(Relaxed),
            error: error.clone(),
        }
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

/// The requests of one exporter. An exporter repeats a request that gets no response, or a status that allows it.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(crate) client: Client,
    pub(crate) collector: Arc<Collector>,
    /// How many records of the last batch the collector rejected.
    rejected: AtomicU64,
}

impl Requests {
    pub(crate) fn new(client: Client, collector: Arc<Collector>) -> Arc<Self> {
        Arc::new(Self {
            client,
            collector,
            rejected: AtomicU64::new(0),
        })
    }

    /// Returns a response that keeps a request from being repeated.
    fn refused(&self, reason: String) -> Response<Bytes> {
        self.collector.note(reason);
        let mut response = Response::default();
        *response.status_mut() = StatusCode::BAD_REQUEST;
        response
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
impl HttpClient for Requests {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        if self.collector.is_closed() {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return Ok(response);
        }
        let sent = Post::try_from(request).and_then(|post| self.client.execute(post));
        let response = sent.map_err(|error| {
            self.collector.note(reason(&error));
            "the request failed"
        })?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        let limited = response.take(MAX_RESPONSE_BYTES as u64 + 1);
        if let Err(error) = { limited }.read_to_end(&mut body) {
            self.collector.note(error.to_string());
            return Err(error.into());
        }
        if body.len() > MAX_RESPONSE_BYTES {
            return Ok(self.refused(format!(
                "the response has more than {MAX_RESPONSE_BYTES} bytes; check that the URL belongs to a collector"
            )));
        }
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if status.is_success() {
            let content_type = header(CONTENT_TYPE).unwrap_or_default();
            return Ok(match self.confirm(content_type, &body) {
                Ok(()) => Response::default(),
                Err(reason) => self.refused(reason),
            });
        }
        self.collector.note(status_reason(status, &body));
        let response = Response::builder().status(status);
        let response = match header(RETRY_AFTER) {
            Some(delay) => response.header(RETRY_AFTER, delay),
            None => response,
        };
        Ok(response.body(Bytes::new())?)
    }
}

/// An exporter whose batches are counted.
#[derive(Debug)]
pub(crate) struct Counted<E> {
    pub(crate) exporter: E,
    pub(crate) requests: Arc<Requests>,
}

impl<E> Counted<E> {
    fn settle(&self, counts: &Counts, records: usize, result: OTelSdkResult) -> OTelSdkResult {
        let rejected = self.requests.rejected.swap(0, Relaxed);
        if result.is_ok() {
            let delivered = (records as u64).saturating_sub(rejected);
            counts.delivered.fetch_add(delivered, Relaxed);
        }
        counts.settled.fetch_add(records as u64, Relaxed);
        result
    }
}

impl ExportLogs for Counted<LogExporter> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let records = batch.iter().count();
        let result = self.exporter.export(batch).await;
        self.settle(&self.requests.collector.events, records, result)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl ExportSpans for Counted<SpanExporter> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        self.settle(&self.requests.collector.spans, spans, result)
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
    sources
        .last()
        .map_or_else(|| error.to_string(), ToString::to_string)
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
        message.push_str("; redirects are not followed, so use the final URL");
    }
    message
}

/// A count of the events and spans that [`OtelEvents`](crate::OtelEvents) sent.
///
/// It also counts the events and spans that the collector accepted.
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
    /// The number of model call spans.
    pub spans: u64,
    /// The number of model call spans that the collector accepted.
    pub delivered_spans: u64,
    /// The last error, if any.
    ///
    /// The error is kept even if the batch was delivered later.
    pub error: Option<String>,
}

impl Delivery {
    /// Returns `true` if the collector accepted all events and spans.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::Delivery;
    /// assert!(Delivery::default().is_complete(), "there was nothing to send");
    /// ```
    pub fn is_complete(&self) -> bool {
        self.lost_events() == 0 && self.lost_spans() == 0
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

    /// Returns the number of model call spans that the collector did not accept.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::Delivery;
    /// assert_eq!(Delivery::default().lost_spans(), 0);
    /// ```
    pub fn lost_spans(&self) -> u64 {
        self.spans.saturating_sub(self.delivered_spans)
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = escape::escaped(&self.url);
        if self.is_complete() {
            f.write_str(&counted(self.events, "event"))?;
            if self.spans > 0 {
                write!(f, " and {}", counted(self.spans, "span"))?;
            }
            let were = if self.events == 1 && self.spans == 0 {
                "was"
            } else {
                "were"
            };
            return write!(f, " {were} delivered to {url}");
        }
        let lost = [
            (self.lost_events(), counted(self.events, "event")),
            (self.lost_spans(), counted(self.spans, "span")),
        ];
        let lost = lost.into_iter().filter(|(lost, _)| *lost > 0);
        let lost: Vec<_> = lost.map(|(lost, all)| format!("{lost} of {all}")).collect();
        write!(f, "{} were not delivered to {url}", lost.join(" and "))?;
        let error = self
            .error
            .as_deref()
            .unwrap_or("the collector did not reply in time");
        write!(f, ": {}", escape::escaped(error))
    }
}

/// Returns `1 event` or `2 events`.
fn counted(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
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
        let both = Delivery {
            spans: 2,
            delivered_spans: 2,
            ..all.clone()
        };
        assert_eq!(
            both.to_string(),
            "1 event and 2 spans were delivered to http://localhost:4318"
        );
        let lost = Delivery {
            events: 9,
            spans: 3,
            error: Some("status\n500".to_owned()),
            ..all
        };
        assert_eq!(
            lost.to_string(),
            "8 of 9 events and 3 of 3 spans were not delivered to http://localhost:4318: status\\n500"
        );
    }
}
