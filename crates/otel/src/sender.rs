//! The thread that sends the queue in batches. A batch that the collector cannot accept now is sent again until it is accepted,
//! or the run has ended and its last seconds are over.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_otlp::{
    LogExporter, RetryPolicy, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogExporter as _};
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use prost::Message as _;
use tokio::time::{sleep, sleep_until};

use crate::collector::{Collector, Exchange, unreadable};
use crate::endpoint::{Endpoint, OtelError};
use crate::outbox::{Answer, Content, Event, Item, Settled, Signal, Waiting};

/// The largest number of records of a request, as in the SDKs of OpenTelemetry.
const MAX_BATCH: usize = 512;

/// The size at which a batch is sent; collectors accept 20 MiB by default.
const MAX_BATCH_BYTES: usize = 4 << 20;

/// How long an incomplete batch waits for more.
const LINGER: Duration = Duration::from_millis(200);

/// The delay before a batch is sent again: the first, and the longest, which they double up to.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Sends the queue.
pub(crate) struct Sender {
    waiting: Waiting,
    collector: Arc<Collector>,
    logs: LogExporter,
    spans: SpanExporter,
}

/// The result of one request.
enum Sent {
    Answered(Answer),
    /// With the reason, and the delay that the collector requested.
    Unavailable(String, Option<Duration>),
}

impl Sender {
    pub(crate) fn new(
        waiting: Waiting,
        endpoint: &Endpoint,
        timeout: Duration,
    ) -> Result<Self, OtelError> {
        let collector = Arc::new(Collector::new(timeout)?);
        let (shared, resource) = (Arc::clone(&collector), resource());
        let logs = LogExporter::builder()
            .with_http()
            .with_shared_http_client(shared.clone())
            .with_endpoint(endpoint.signal("logs"))
            .with_retry_policy(RetryPolicy::disabled());
        let spans = SpanExporter::builder()
            .with_http()
            .with_shared_http_client(shared)
            .with_endpoint(endpoint.signal("traces"))
            .with_retry_policy(RetryPolicy::disabled());
        let mut logs = logs.build().map_err(OtelError::exporter)?;
        let mut spans = spans.build().map_err(OtelError::exporter)?;
        logs.set_resource(&resource);
        spans.set_resource(&resource);
        Ok(Self {
            waiting,
            collector,
            logs,
            spans,
        })
    }

    /// Starts the thread.
    pub(crate) fn start(mut self) -> Result<(), OtelError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(OtelError::exporter)?;
        let run = move || {
            runtime.block_on(self.run());
            self.waiting.progress.end();
        };
        let thread = thread::Builder::new().name("otlp".to_owned()).spawn(run);
        thread.map(drop).map_err(OtelError::exporter)
    }

    async fn run(&mut self) {
        while let Some(batch) = self.next_batch().await {
            let (mut events, mut spans) = (Vec::new(), Vec::new());
            for item in batch {
                match item.content {
                    Content::Event(event) => events.push((event, item.bytes)),
                    Content::Span(span) => spans.push((*span, item.bytes)),
                }
            }
            // Without an answer before the deadline, what is left is lost.
            if self.send_events(&events).await.is_none() || self.send_spans(&spans).await.is_none()
            {
                return;
            }
        }
    }

    /// Returns the next batch, or `None` at the end.
    async fn next_batch(&mut self) -> Option<Vec<Item>> {
        let mut batch = vec![self.next().await?];
        let linger = sleep(LINGER);
        tokio::pin!(linger);
        let mut bytes = batch[0].bytes;
        while batch.len() < MAX_BATCH && bytes < MAX_BATCH_BYTES {
            let item = tokio::select! {
                biased;
                item = self.next() => item,
                () = &mut linger => None,
            };
            let Some(item) = item else { break };
            bytes += item.bytes;
            batch.push(item);
        }
        Some(batch)
    }

    /// Returns the next item, or `None` if there is none and the run has ended.
    async fn next(&mut self) -> Option<Item> {
        let Waiting { items, closing, .. } = &mut self.waiting;
        loop {
            if let Ok(item) = items.try_recv() {
                return Some(item);
            }
            if closing.borrow().is_some() {
                return None;
            }
            tokio::select! {
                item = items.recv() => return item,
                _ = closing.changed() => {}
            }
        }
    }

    async fn send_events(&self, events: &[(Box<Event>, usize)]) -> Option<()> {
        if events.is_empty() {
            return Some(());
        }
        let records: Vec<_> = events
            .iter()
            .map(|(event, _)| (&event.0, &event.1))
            .collect();
        let request = async |it: &Self| {
            let result = it.logs.export(LogBatch::new(&records)).await;
            it.sent(&result, |body| {
                let partial = ExportLogsServiceResponse::decode(body)
                    .ok()?
                    .partial_success;
                let partial = partial.unwrap_or_default();
                Some((partial.rejected_log_records, partial.error_message))
            })
        };
        let result = self.send(request).await?;
        let sizes = events.iter().map(|(_, bytes)| *bytes);
        self.waiting
            .progress
            .settle(Settled::new(Signal::Events, sizes, result));
        Some(())
    }

    async fn send_spans(&self, spans: &[(SpanData, usize)]) -> Option<()> {
        if spans.is_empty() {
            return Some(());
        }
        let batch: Vec<SpanData> = spans.iter().map(|(span, _)| span.clone()).collect();
        let request = async |it: &Self| {
            let result = it.spans.export(batch.clone()).await;
            it.sent(&result, |body| {
                let partial = ExportTraceServiceResponse::decode(body)
                    .ok()?
                    .partial_success;
                let partial = partial.unwrap_or_default();
                Some((partial.rejected_spans, partial.error_message))
            })
        };
        let result = self.send(request).await?;
        let sizes = spans.iter().map(|(_, bytes)| *bytes);
        self.waiting
            .progress
            .settle(Settled::new(Signal::Spans, sizes, result));
        Some(())
    }

    /// Sends a batch until it is accepted or refused. Returns `None` after the deadline.
    async fn send(&self, request: impl AsyncFn(&Self) -> Sent) -> Option<Answer> {
        let (mut delay, longest) = RETRY_DELAYS;
        loop {
            match self.before_deadline(request(self)).await? {
                Sent::Answered(answer) => return Some(answer),
                Sent::Unavailable(reason, retry_after) => {
                    self.waiting.progress.note(reason);
                    self.before_deadline(sleep(retry_after.unwrap_or(delay)))
                        .await?;
                    delay = (2 * delay).min(longest);
                }
            }
        }
    }

    /// Awaits a future until the deadline, which is set at the end of the run.
    async fn before_deadline<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut closing = self.waiting.closing.clone();
        let deadline = async {
            loop {
                let deadline: Option<Instant> = *closing.borrow_and_update();
                match deadline {
                    Some(deadline) => return sleep_until(deadline.into()).await,
                    // It fails if the queue is dropped, which sets a deadline before.
                    None => {
                        if closing.changed().await.is_err() {
                            return;
                        }
                    }
                }
            }
        };
        tokio::select! {
            biased;
            result = future => Some(result),
            () = deadline => None,
        }
    }

    /// Returns the result of an export. `partial` reads the number of rejected records of a response, and its message.
    fn sent(
        &self,
        result: &OTelSdkResult,
        partial: impl FnOnce(&[u8]) -> Option<(i64, String)>,
    ) -> Sent {
        match (self.collector.take_last(), result) {
            (Some(Exchange::Accepted(body)), Ok(())) => {
                let Some((rejected, message)) = partial(&body) else {
                    return Sent::Answered(Answer::refused(unreadable(&body)));
                };
                let rejected = u64::try_from(rejected).unwrap_or_default();
                let error = match (rejected, message.is_empty()) {
                    (0, true) => None,
                    (0, false) => Some(message),
                    _ => Some(format!(
                        "the collector rejected {rejected} of a batch: {message}"
                    )),
                };
                Sent::Answered(Answer {
                    rejected: Some(rejected),
                    error,
                })
            }
            (
                Some(Exchange::Unavailable {
                    reason,
                    retry_after,
                }),
                _,
            ) => Sent::Unavailable(reason, retry_after),
            (Some(Exchange::Refused(reason)), _) => Sent::Answered(Answer::refused(reason)),
            // The exporter did not send the batch.
            (_, Err(error)) => Sent::Answered(Answer::refused(error.to_string())),
            (None, Ok(())) => {
                Sent::Answered(Answer::refused("the exporter made no request".to_owned()))
            }
        }
    }
}

/// The resource of `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`; the service is `dsrs-metrics` otherwise.
fn resource() -> Resource {
    let resource = Resource::builder().build();
    let name = resource.get(&"service.name".into());
    match name.is_none_or(|name| name.as_str().starts_with("unknown_service")) {
        true => Resource::builder()
            .with_service_name("dsrs-metrics")
            .build(),
        false => resource,
    }
}
