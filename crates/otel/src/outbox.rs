//! The queue of what is to be sent, with its counts. Adding to it never waits; a queue that is full loses what is added, and
//! counts it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::InstrumentationScope;
use opentelemetry::logs::AnyValue;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogProcessor, SdkLogRecord};
use opentelemetry_sdk::trace::SpanData;
use tokio::sync::{mpsc, watch};

use crate::delivery::Delivery;

/// The memory that waiting events and spans may take, in bytes. An event without texts takes about one KiB.
const MAX_BYTES: usize = 128 << 20;

/// About what a record or a span takes, without its strings.
const RECORD_BYTES: usize = 1024;

/// How long to wait beyond a deadline for the thread that observes it.
const GRACE: Duration = Duration::from_millis(500);

pub(crate) type Event = (SdkLogRecord, InstrumentationScope);

/// What is sent, with its size.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) content: Content,
    pub(crate) bytes: usize,
}

#[derive(Debug)]
pub(crate) enum Content {
    Event(Box<Event>),
    Span(Box<SpanData>),
}

impl Item {
    fn event(record: &SdkLogRecord, scope: &InstrumentationScope) -> Self {
        let length = |value: &AnyValue| match value {
            AnyValue::String(text) => text.as_str().len(),
            _ => 0,
        };
        let strings = record
            .attributes_iter()
            .map(|(_, value)| length(value))
            .sum::<usize>();
        let strings = strings + record.body().map_or(0, length);
        let content = Content::Event(Box::new((record.clone(), scope.clone())));
        Self {
            content,
            bytes: RECORD_BYTES + strings,
        }
    }

    fn span(span: SpanData) -> Self {
        let strings = span
            .attributes
            .iter()
            .map(|it| it.value.as_str().len())
            .sum::<usize>();
        Self {
            content: Content::Span(Box::new(span)),
            bytes: RECORD_BYTES + strings,
        }
    }

    fn is_event(&self) -> bool {
        matches!(self.content, Content::Event(_))
    }
}

/// The counts of the queue, which the thread that sends shares.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Counts {
    delivery: Delivery,
    /// What is neither accepted nor lost.
    waiting: u64,
    waiting_bytes: usize,
    /// Whether nothing more is sent.
    has_ended: bool,
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts items that the collector accepted or refused.
    pub(crate) fn settle(&self, items: Settled) {
        let mut counts = self.lock();
        match items.signal {
            Signal::Events => counts.delivery.delivered_events += items.delivered,
            Signal::Spans => counts.delivery.delivered_spans += items.delivered,
        }
        counts.waiting = counts.waiting.saturating_sub(items.items);
        counts.waiting_bytes = counts.waiting_bytes.saturating_sub(items.bytes);
        if let Some(error) = items.error {
            counts.delivery.error = Some(error);
        }
        self.changed.notify_all();
    }

    /// Notes an error of a batch that is sent again.
    pub(crate) fn note(&self, error: String) {
        self.lock().delivery.error = Some(error);
    }

    pub(crate) fn end(&self) {
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Waits until `is_done`, or until nothing has changed for this time. Returns whether it is done.
    fn wait(&self, time: Duration, restarts: bool, is_done: impl Fn(&Counts) -> bool) -> bool {
        let mut counts = self.lock();
        let mut deadline = Instant::now() + time;
        loop {
            if is_done(&counts) || counts.has_ended {
                return is_done(&counts);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let before = counts.waiting;
            let waited = self.changed.wait_timeout(counts, left);
            counts = waited.unwrap_or_else(PoisonError::into_inner).0;
            if restarts && counts.waiting < before {
                deadline = Instant::now() + time;
            }
        }
    }
}

/// The kinds of items, which are sent to two addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Signal {
    Events,
    Spans,
}

/// The answer of a collector to a batch.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The number of rejected records, or `None` for all of them.
    pub(crate) rejected: Option<u64>,
    pub(crate) error: Option<String>,
}

impl Answer {
    pub(crate) fn refused(reason: String) -> Self {
        Self {
            rejected: None,
            error: Some(reason),
        }
    }
}

/// Items with their final result.
#[derive(Debug)]
pub(crate) struct Settled {
    signal: Signal,
    items: u64,
    bytes: usize,
    delivered: u64,
    error: Option<String>,
}

impl Settled {
    pub(crate) fn new(
        signal: Signal,
        sizes: impl ExactSizeIterator<Item = usize>,
        answer: Answer,
    ) -> Self {
        let (items, bytes) = (sizes.len() as u64, sizes.sum());
        let rejected = answer.rejected.unwrap_or(items).min(items);
        Self {
            signal,
            items,
            bytes,
            delivered: items - rejected,
            error: answer.error,
        }
    }
}

/// The queue, and the deadline after which nothing more is sent.
#[derive(Debug)]
pub(crate) struct Outbox {
    items: mpsc::UnboundedSender<Item>,
    progress: Arc<Progress>,
    closing: watch::Sender<Option<Instant>>,
    max_bytes: usize,
}

/// The end of the queue that is read.
pub(crate) struct Waiting {
    pub(crate) items: mpsc::UnboundedReceiver<Item>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) closing: watch::Receiver<Option<Instant>>,
}

impl Outbox {
    pub(crate) fn new(url: &str, max_bytes: Option<usize>) -> (Self, Waiting) {
        let (sender, items) = mpsc::unbounded_channel();
        let (closing, closes) = watch::channel(None);
        let progress = Arc::new(Progress::default());
        progress.lock().delivery.url = url.to_owned();
        let waiting = Waiting {
            items,
            progress: Arc::clone(&progress),
            closing: closes,
        };
        let max_bytes = max_bytes.unwrap_or(MAX_BYTES);
        (
            Self {
                items: sender,
                progress,
                closing,
                max_bytes,
            },
            waiting,
        )
    }

    pub(crate) fn add_span(&self, span: SpanData) {
        self.add(Item::span(span));
    }

    fn add(&self, item: Item) {
        let mut counts = self.progress.lock();
        let delivery = &mut counts.delivery;
        let count = if item.is_event() {
            &mut delivery.events
        } else {
            &mut delivery.spans
        };
        *count += 1;
        if counts.has_ended {
            return;
        }
        if counts.waiting_bytes + item.bytes > self.max_bytes {
            let error = "the queue was full, since the collector is slower than the run";
            counts
                .delivery
                .error
                .get_or_insert_with(|| error.to_owned());
            return;
        }
        counts.waiting += 1;
        counts.waiting_bytes += item.bytes;
        // It fails only after the end.
        let _ = self.items.send(item);
    }

    /// Waits until half of the queue is free. Returns whether it is, or false if nothing was sent for this time.
    pub(crate) fn wait_for_space(&self, time: Duration) -> bool {
        self.progress.wait(time, true, |counts| {
            counts.waiting_bytes <= self.max_bytes / 2
        })
    }

    /// Waits until everything is sent, or nothing was sent for this time.
    pub(crate) fn wait_while_sending(&self, time: Duration) {
        self.progress.wait(time, true, |counts| counts.waiting == 0);
    }

    /// Sends what is waiting for this time at most. What is added later is lost.
    pub(crate) fn finish(&self, time: Duration) -> Delivery {
        self.closing.send_if_modified(|deadline| {
            let is_first = deadline.is_none();
            deadline.get_or_insert_with(|| Instant::now() + time);
            is_first
        });
        self.progress
            .wait(time + GRACE, false, |counts| counts.has_ended);
        self.progress.end();
        self.progress.lock().delivery.clone()
    }
}

/// The records of a logger enter the queue here.
#[derive(Debug)]
pub(crate) struct Enqueue(pub(crate) Arc<Outbox>);

impl LogProcessor for Enqueue {
    fn emit(&self, record: &mut SdkLogRecord, scope: &InstrumentationScope) {
        self.0.add(Item::event(record, scope));
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    /// [`OtelEvents`](crate::OtelEvents) ends the queue.
    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}
