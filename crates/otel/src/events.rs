//! [`OtelEvents`], which observes runs and models.
//!
//! The file is long because each setting is documented with an example.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use dsrs_metrics_core::Outcome;
use dsrs_metrics_lm::Ledger;
use dsrs_metrics_run::results::{Manifest, ResultScore, Results};
use dsrs_metrics_run::{Observer, RowResult, RunStart};
use opentelemetry::InstrumentationScope;
use opentelemetry::logs::{Logger as _, LoggerProvider as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    LogExporter, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::{
    BatchConfigBuilder as LogBatches, BatchLogProcessor, SdkLogger, SdkLoggerProvider,
};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder as SpanBatches, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider,
};

use crate::chat_span;
use crate::collector::{Collector, Counted, Delivery};
use crate::endpoint::{OtelError, base_url, timeout};
use crate::evaluation_event::{Detail, EvaluatedRow, EvaluationEvent, RunAttributes, error_type};

/// An observer that sends a run's results to an OpenTelemetry collector.
///
/// The results are sent over OTLP/HTTP. Each metric's result for a row becomes a `gen_ai.evaluation.result` event. If
/// you call [`observe_calls`](Self::observe_calls), each model call becomes a span.
///
/// Clones share all state.
///
/// The run never waits for the collector. Call [`finish`](Self::finish) to send the remaining events and to count those
/// that were not delivered. Call [`send`](Self::send) to resend a result file's events.
///
/// The guide's `tracing` page lists the attributes.
///
/// ```
/// use std::time::Duration;
///
/// use dsrs_metrics::runs::otel::OtelEvents;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let events = OtelEvents::builder().endpoint("http://127.0.0.1:9").timeout(Duration::from_millis(50)).build()?;
/// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let evaluate = Evaluate::builder().metric(same).observer(events.clone()).build()?;
/// let row = Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "4" });
/// let result = evaluate.score([row]).await?;
/// assert_eq!(result.score, Some(1.0));
///
/// let delivery = events.finish();
/// assert_eq!((delivery.events, delivery.delivered_events), (1, 0), "nothing listens there");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OtelEvents(Arc<Inner>);

/// A builder for [`OtelEvents`].
///
/// Call [`OtelEvents::builder`] to create one.
///
/// ```
/// use dsrs_metrics::runs::otel::OtelEvents;
///
/// let events = OtelEvents::builder().endpoint("http://localhost:4318").build()?;
/// assert!(events.finish().is_complete(), "no run was observed");
///
/// let error = OtelEvents::builder().endpoint("localhost").build().unwrap_err();
/// assert!(error.to_string().ends_with("use a URL like http://localhost:4318"));
/// # Ok::<(), dsrs_metrics::runs::otel::OtelError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OtelEventsBuilder {
    endpoint: Option<String>,
    timeout: Option<Duration>,
    queue: Option<usize>,
    detail: Detail,
}

impl OtelEventsBuilder {
    setters! {
        /// Sets the collector's base URL, without `/v1/logs`.
        ///
        /// The default is the URL in `OTEL_EXPORTER_OTLP_ENDPOINT`, or `http://localhost:4318` if it is not set. Put
        /// the collector's keys in `OTEL_EXPORTER_OTLP_HEADERS`.
        ///
        /// ```
        /// # use dsrs_metrics::runs::otel::OtelEvents;
        /// let builder = OtelEvents::builder().endpoint("https://otel.example/team");
        /// # drop(builder);
        /// ```
        pub fn endpoint(url: impl Into<String>) => endpoint = Some(url.into());
        /// Sets the time limit for each request and for the final flush.
        ///
        /// The default is `OTEL_EXPORTER_OTLP_TIMEOUT` (in milliseconds), or 10 seconds if it is not set.
        ///
        /// ```
        /// # use std::time::Duration;
        /// # use dsrs_metrics::runs::otel::OtelEvents;
        /// let builder = OtelEvents::builder().timeout(Duration::from_secs(2));
        /// # drop(builder);
        /// ```
        pub fn timeout(timeout: Duration) => timeout = Some(timeout);
        /// Sets whether to send texts from scores, errors and model calls.
        ///
        /// These texts are the explanations of scores, error messages, and judges' prompts and replies. By default,
        /// they are not sent, because they may contain row data.
        ///
        /// ```
        /// # use dsrs_metrics::runs::otel::OtelEvents;
        /// let builder = OtelEvents::builder().texts(true);
        /// # drop(builder);
        /// ```
        pub fn texts(texts: bool) => detail.texts = texts;
        /// Sets whether to send an event for rows without a score.
        ///
        /// A row has no score if a metric abstained, or if the row was gated or skipped. Its event has the label
        /// `abstained`, `gated` or `skipped` instead of a value.
        ///
        /// ```
        /// # use dsrs_metrics::runs::otel::OtelEvents;
        /// let builder = OtelEvents::builder().unscored(true);
        /// # drop(builder);
        /// ```
        pub fn unscored(unscored: bool) => detail.unscored = unscored;
        /// Sets the size of the queues for events and spans.
        ///
        /// The defaults are 65,536 events and 8,192 spans. If a queue is full, new events or spans are dropped.
        /// Dropped events are counted.
        ///
        /// ```
        /// # use dsrs_metrics::runs::otel::OtelEvents;
        /// let builder = OtelEvents::builder().queue(10_000);
        /// # drop(builder);
        /// ```
        pub fn queue(records: usize) => queue = Some(records);
    }

    /// Builds the `OtelEvents` and starts its threads.
    ///
    /// The threads send events and spans. They connect to the collector when the first event is sent.
    ///
    /// # Errors
    /// Returns [`OtelError`] if the URL or an environment variable is invalid, or if a thread cannot be started.
    pub fn build(self) -> Result<OtelEvents, OtelError> {
        let detail = self.detail;
        let url = base_url(self.endpoint.as_deref())?;
        let timeout = self.timeout.map_or_else(timeout, Ok)?;
        let (max_events, max_spans) = self.queue.map_or(QUEUES, |queue| (queue, queue));
        let collector = Collector::new(timeout, max_events)?;
        let logs = LogExporter::builder().with_http();
        let spans = SpanExporter::builder().with_http();
        let logs = over_http(logs, &collector, format!("{url}/v1/logs")).build();
        let spans = over_http(spans, &collector, format!("{url}/v1/traces")).build();
        let logs = Counted {
            exporter: logs.map_err(OtelError::exporter)?,
            collector: Arc::clone(&collector),
        };
        let spans = spans.map_err(OtelError::exporter)?;
        let batch = if detail.texts { BATCHES.1 } else { BATCHES.0 };
        let log_batches = LogBatches::default()
            .with_max_queue_size(max_events)
            .with_max_export_batch_size(batch)
            .with_scheduled_delay(LINGER)
            .build();
        let span_batches = SpanBatches::default()
            .with_max_queue_size(max_spans)
            .with_max_export_batch_size(batch)
            .with_scheduled_delay(LINGER)
            .build();
        let logs = BatchLogProcessor::builder(logs).with_batch_config(log_batches);
        let spans = BatchSpanProcessor::builder(spans).with_batch_config(span_batches);
        let (resource, scope) = (resource(), InstrumentationScope::builder("dsrs-metrics"));
        let scope = scope.with_version(env!("CARGO_PKG_VERSION")).build();
        let logs = SdkLoggerProvider::builder()
            .with_resource(resource.clone())
            .with_log_processor(logs.build())
            .build();
        let spans = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_sampler(Sampler::AlwaysOn)
            .with_span_processor(spans.build())
            .build();
        Ok(OtelEvents(Arc::new(Inner {
            logger: logs.logger_with_scope(scope.clone()),
            logs,
            tracer: spans.tracer_with_scope(scope),
            spans,
            url,
            collector,
            detail,
            timeout,
            run: Mutex::default(),
        })))
    }
}

#[derive(Debug)]
struct Inner {
    logs: SdkLoggerProvider,
    logger: SdkLogger,
    spans: SdkTracerProvider,
    tracer: SdkTracer,
    url: String,
    collector: Arc<Collector>,
    detail: Detail,
    timeout: Duration,
    /// The current run, and its metrics' names in the order of the outcomes.
    run: Mutex<Arc<(RunAttributes, Vec<String>)>>,
}

/// How many events and spans can wait by default.
const QUEUES: (usize, usize) = (65_536, 8_192);

/// The number of records per batch, without and with texts. By default, collectors accept 20 MiB.
const BATCHES: (usize, usize) = (512, 64);

/// How long an incomplete batch waits for more records.
const LINGER: Duration = Duration::from_millis(200);

impl OtelEvents {
    /// Creates a builder with the default settings.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let events = OtelEvents::builder().texts(true).build()?;
    /// # Ok::<(), dsrs_metrics::runs::otel::OtelError>(())
    /// ```
    pub fn builder() -> OtelEventsBuilder {
        OtelEventsBuilder::default()
    }

    /// Sends a span for each model call that a ledger records.
    ///
    /// No span is sent for a call that is answered from the store or rejected by the budget.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, Ledger, LmRequest, Metered, ScriptedLm};
    /// use dsrs_metrics::runs::otel::OtelEvents;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (ledger, events) = (Ledger::new(), OtelEvents::builder().endpoint("http://127.0.0.1:9").build()?);
    /// events.observe_calls(&ledger);
    /// let lm = Metered::new(ScriptedLm::new().otherwise("yes"), ledger);
    /// lm.complete(&LmRequest::new("example").user("?")).await?;
    /// let delivery = events.finish_within(std::time::Duration::ZERO);
    /// assert!(delivery.is_complete(), "spans are not counted");
    /// # Ok(())
    /// # }
    /// ```
    pub fn observe_calls(&self, ledger: &Ledger) {
        let events = self.clone();
        ledger.observe(move |call| {
            if chat_span::is_made(call) {
                chat_span::emit(call, events.0.detail.texts, &events.0.tracer);
            }
        });
    }

    /// Sends all pending events and spans, and returns the counts.
    ///
    /// This method blocks the thread until everything is sent or [`timeout`](OtelEventsBuilder::timeout) has elapsed.
    /// Events and calls observed later are not sent.
    ///
    /// Dropping the last clone has the same effect.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let delivery = OtelEvents::builder().build()?.finish();
    /// assert_eq!(delivery.to_string(), "0 events were delivered to http://localhost:4318");
    /// # Ok::<(), dsrs_metrics::runs::otel::OtelError>(())
    /// ```
    pub fn finish(&self) -> Delivery {
        self.finish_within(self.0.timeout)
    }

    /// Sends all pending events and spans, but waits no longer than the given time.
    ///
    /// See [`finish`](Self::finish).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// assert!(OtelEvents::builder().build()?.finish_within(Duration::ZERO).is_complete());
    /// # Ok::<(), dsrs_metrics::runs::otel::OtelError>(())
    /// ```
    pub fn finish_within(&self, time: Duration) -> Delivery {
        self.0.finish(time)
    }

    /// Sends the events for a result file, even those that the run already sent.
    ///
    /// This method blocks the thread until all events are sent. It gives up if the collector accepts nothing for
    /// [`timeout`](OtelEventsBuilder::timeout).
    ///
    /// The events have the same attributes as the run's own events, with two exceptions. Each event has the run's end
    /// time, because a result file doesn't contain times for its rows. `error.type` is `metric_failed` or
    /// `program_failed`, because a result file doesn't contain error kinds.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use dsrs_metrics::runs::otel::OtelEvents;
    /// use dsrs_metrics::results::Results;
    ///
    /// # let file = std::env::temp_dir().join(format!("dsrs-doc-otel-{}.jsonl", std::process::id()));
    /// std::fs::write(&file, r#"{"id": "q1", "scores": {"f1": {"outcome": "scored", "value": 0.8}}}"#)?;
    /// let events = OtelEvents::builder().endpoint("http://127.0.0.1:9").timeout(Duration::from_millis(50)).build()?;
    /// let delivery = events.send(&Results::read(&file)?);
    /// assert_eq!((delivery.events, delivery.lost_events()), (1, 1), "nothing listens there");
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send(&self, results: &Results) -> Delivery {
        let manifest = results.manifest();
        let run = manifest
            .map(|manifest| RunAttributes::new(&manifest.run))
            .unwrap_or_default();
        let time = manifest.and_then(end_of);
        let (mut is_moving, max_waiting) = (true, self.0.collector.max_waiting / 2);
        for row in results.rows() {
            // Once the connection to the collector is lost, the remaining events are only counted.
            is_moving = is_moving && self.0.waits_for_at_most(max_waiting);
            let row_of_event = EvaluatedRow::new(&row.id, time, |name| row.attributes.get(name));
            for (metric, score) in &row.scores {
                self.emit(&run, &row_of_event, (metric, score), None);
            }
        }
        if is_moving {
            self.0.waits_for_at_most(0);
        }
        self.finish_within(Duration::ZERO)
    }

    fn emit(
        &self,
        run: &RunAttributes,
        row: &EvaluatedRow<'_>,
        (metric, score): (&str, &ResultScore),
        error_type: Option<String>,
    ) {
        let event = EvaluationEvent {
            row,
            metric,
            score,
            error_type,
            detail: self.0.detail,
        };
        if !event.is_emitted() {
            return;
        }
        self.0.collector.observe();
        let mut record = self.0.logger.create_log_record();
        event.write(&mut record, run.of(metric));
        self.0.logger.emit(record);
    }
}

/// Returns the time when a run ended.
fn end_of(manifest: &Manifest) -> Option<SystemTime> {
    let process = manifest.process.as_ref()?;
    let started = humantime::parse_rfc3339(&process.started).ok()?;
    started.checked_add(Duration::try_from_secs_f64(process.duration_s).ok()?)
}

/// Observes one run at a time.
impl<G, P> Observer<G, P> for OtelEvents {
    fn on_start(&self, run: &RunStart<'_>) {
        let run = (RunAttributes::new(run.manifest), run.metrics.to_vec());
        *self.0.run() = Arc::new(run);
    }

    fn on_row(&self, row: &RowResult<G, P>) {
        let (run, time) = (Arc::clone(&self.0.run()), Some(SystemTime::now()));
        let row_of_event = EvaluatedRow::new(&row.id, time, |name| row.attributes.get(name));
        for (metric, outcome) in run.1.iter().zip(&row.outcomes) {
            let error_type = match outcome {
                Outcome::MetricFailed { error } => Some(error_type(error)),
                _ => None,
            };
            let score = &ResultScore::of(outcome);
            self.emit(&run.0, &row_of_event, (metric, score), error_type);
        }
    }
}

impl Inner {
    /// Waits until at most this many events are waiting. Returns `false` if nothing is sent within the time limit.
    fn waits_for_at_most(&self, events: u64) -> bool {
        let (mut waiting, mut since) = (self.collector.waiting(), Instant::now());
        while waiting > events {
            if since.elapsed() >= self.timeout {
                return false;
            }
            thread::sleep(Duration::from_millis(10));
            let now = self.collector.waiting();
            if now != waiting {
                (waiting, since) = (now, Instant::now());
            }
        }
        true
    }

    fn run(&self) -> MutexGuard<'_, Arc<(RunAttributes, Vec<String>)>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends whatever is waiting, for at most this long. Anything added later is lost.
    fn finish(&self, time: Duration) -> Delivery {
        let end = Instant::now() + time;
        // Their errors are counted elsewhere.
        let _ = self.logs.shutdown_with_timeout(time);
        let time = end.saturating_duration_since(Instant::now());
        let _ = self.spans.shutdown_with_timeout(time);
        self.collector.is_closed.store(true, Relaxed);
        Delivery {
            url: self.url.clone(),
            events: self.collector.observed.load(Relaxed),
            delivered_events: self.collector.delivered.load(Relaxed),
            error: self.collector.error().clone(),
        }
    }
}

fn over_http<B: WithExportConfig + WithHttpConfig>(
    exporter: B,
    collector: &Arc<Collector>,
    url: String,
) -> B {
    // A batch that the collector cannot accept now is resent until it is accepted or the run's last seconds are over.
    let retries = RetryPolicy::recommended()
        .with_max_retries(usize::MAX)
        .with_max_delay(Duration::from_secs(2));
    exporter
        .with_shared_http_client(collector.clone())
        .with_endpoint(url)
        .with_timeout(Duration::MAX)
        .with_retry_policy(retries)
}

/// Returns the resource described by `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. The default service name is
/// `dsrs-metrics`.
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

impl Drop for Inner {
    fn drop(&mut self) {
        self.finish(self.timeout);
    }
}
