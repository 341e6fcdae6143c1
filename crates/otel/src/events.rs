//! [`OtelEvents`]: an observer of runs and of models.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use dsrs_metrics_core::score::outcome::Outcome;
use dsrs_metrics_lm::{CallObserver, Ledger, ObservedCall};
use dsrs_metrics_run::results::{Manifest, ResultScore, Results};
use dsrs_metrics_run::{Observer, RowResult, RunStart};
use opentelemetry::InstrumentationScope;
use opentelemetry::logs::{Logger as _, LoggerProvider as _};
use opentelemetry_sdk::logs::{SdkLogger, SdkLoggerProvider};

use crate::builder::OtelEventsBuilder;
use crate::chat_span;
use crate::delivery::Delivery;
use crate::endpoint::{Endpoint, OtelError, check_variables, timeout};
use crate::evaluation_event::{Detail, EvaluatedRow, EvaluatedSpan, EvaluationEvent, error_type};
use crate::outbox::{Enqueue, Outbox};
use crate::run_attributes::RunAttributes;
use crate::sender::Sender;

/// Sends the results of a run to an OpenTelemetry collector, by OTLP over HTTP: an event `gen_ai.evaluation.result` for each
/// metric and row, and with [`observe_calls`](Self::observe_calls) a span for each call of a model. Clones are the same.
///
/// The run never waits for the collector. [`finish`](Self::finish) sends what remains, and counts what was not delivered;
/// [`send`](Self::send) sends the events of a result file again. The guide page `tracing` lists the attributes.
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

#[derive(Debug)]
struct Inner {
    logger: SdkLogger,
    scope: InstrumentationScope,
    outbox: Arc<Outbox>,
    detail: Detail,
    timeout: Duration,
    /// The attributes of the current run.
    run: Mutex<Arc<RunAttributes>>,
}

impl OtelEvents {
    /// Returns a builder.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let events = OtelEvents::builder().texts(true).build()?;
    /// # Ok::<(), dsrs_metrics::runs::otel::OtelError>(())
    /// ```
    pub fn builder() -> OtelEventsBuilder {
        OtelEventsBuilder::default()
    }

    pub(crate) fn start(
        url: Option<&str>,
        limit: Option<Duration>,
        queue_bytes: Option<usize>,
        detail: Detail,
    ) -> Result<Self, OtelError> {
        let endpoint = Endpoint::new(url)?;
        let timeout = limit.map_or_else(timeout, Ok)?;
        check_variables()?;
        let (outbox, waiting) = Outbox::new(endpoint.base(), queue_bytes);
        Sender::new(waiting, &endpoint, timeout)?.start()?;
        let outbox = Arc::new(outbox);
        let scope = InstrumentationScope::builder("dsrs-metrics");
        let scope = scope.with_version(env!("CARGO_PKG_VERSION")).build();
        let provider = SdkLoggerProvider::builder();
        let provider = provider
            .with_log_processor(Enqueue(Arc::clone(&outbox)))
            .build();
        let logger = provider.logger_with_scope(scope.clone());
        Ok(Self(Arc::new(Inner {
            logger,
            scope,
            outbox,
            detail,
            timeout,
            run: Mutex::default(),
        })))
    }

    /// Sends a span for each call of the models of a ledger, apart from calls that the store or the budget answers.
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
    /// assert_eq!(events.finish_within(std::time::Duration::ZERO).spans, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn observe_calls(&self, ledger: &Ledger) {
        ledger.observe(Arc::new(self.clone()));
    }

    /// Sends what waits, for the time of [`timeout`](OtelEventsBuilder::timeout) at most, and blocks the thread until then.
    /// Whatever is observed later is not sent. Dropping the last clone does the same.
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

    /// As [`finish`](Self::finish), with another time.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// assert!(OtelEvents::builder().build()?.finish_within(Duration::ZERO).is_complete());
    /// # Ok::<(), dsrs_metrics::runs::otel::OtelError>(())
    /// ```
    pub fn finish_within(&self, time: Duration) -> Delivery {
        self.0.outbox.finish(time)
    }

    /// Sends the events of a result file, also if the run sent some of them before. Blocks the thread until all are sent, or
    /// the collector has accepted nothing for the time of [`timeout`](OtelEventsBuilder::timeout).
    ///
    /// The events have the attributes of the run's own events. Their time is the end of the run, and `error.type` is
    /// `metric_failed` or `program_failed`, since a file contains neither the times of rows nor the kinds of errors.
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
        let (outbox, timeout) = (&self.0.outbox, self.0.timeout);
        let manifest = results.manifest();
        let run = manifest
            .map(|manifest| RunAttributes::new(&manifest.run))
            .unwrap_or_default();
        let time = manifest.and_then(end_of);
        let mut is_moving = true;
        for row in results.rows() {
            // Once the collector is lost, the remaining events are only counted.
            is_moving = is_moving && outbox.wait_for_space(timeout);
            let span = EvaluatedSpan::of(|name| row.attributes.get(name));
            let row_of_event = EvaluatedRow {
                id: &row.id,
                span,
                time,
            };
            for (metric, score) in &row.scores {
                self.emit(&run, &row_of_event, (metric, score), None);
            }
        }
        if is_moving {
            outbox.wait_while_sending(timeout);
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
        let mut record = self.0.logger.create_log_record();
        event.write(&mut record, run.of(metric));
        self.0.logger.emit(record);
    }

    fn run(&self) -> Arc<RunAttributes> {
        Arc::clone(&self.0.run.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns when a run ended.
fn end_of(manifest: &Manifest) -> Option<SystemTime> {
    let process = manifest.process.as_ref()?;
    let started = humantime::parse_rfc3339(&process.started).ok()?;
    started.checked_add(Duration::try_from_secs_f64(process.duration_s).ok()?)
}

/// One run at a time.
impl<G, P> Observer<G, P> for OtelEvents {
    fn on_start(&self, run: &RunStart<'_>) {
        let attributes = RunAttributes::new(run.manifest).named(run.metrics);
        *self.0.run.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(attributes);
    }

    fn on_row(&self, row: &RowResult<G, P>) {
        let (run, time) = (self.run(), Some(SystemTime::now()));
        let span = EvaluatedSpan::of(|name| row.attributes.get(name));
        let row_of_event = EvaluatedRow {
            id: &row.id,
            span,
            time,
        };
        for (metric, outcome) in run.metrics().zip(&row.outcomes) {
            let error_type = match outcome {
                Outcome::MetricFailed { error } => Some(error_type(error)),
                _ => None,
            };
            let score = &ResultScore::of(outcome);
            self.emit(&run, &row_of_event, (metric, score), error_type);
        }
    }
}

impl CallObserver for OtelEvents {
    fn on_call(&self, call: &ObservedCall<'_>) {
        if let Some(span) = chat_span::span(call, self.0.detail.texts, &self.0.scope) {
            self.0.outbox.add_span(span);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.outbox.finish(self.timeout);
    }
}
