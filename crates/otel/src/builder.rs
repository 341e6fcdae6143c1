//! The settings of [`OtelEvents`].

use std::time::Duration;

use crate::endpoint::OtelError;
use crate::evaluation_event::Detail;
use crate::events::OtelEvents;

/// The settings of [`OtelEvents`], which [`OtelEvents::builder`] returns.
///
/// ```
/// use dsrs_metrics::runs::otel::OtelEvents;
///
/// let events = OtelEvents::builder().endpoint("http://localhost:4318").build()?;
/// assert!(events.finish().is_complete(), "no run was observed");
///
/// let error = OtelEvents::builder().endpoint("localhost").build().unwrap_err();
/// assert!(error.to_string().ends_with("write it as in http://localhost:4318"));
/// # Ok::<(), dsrs_metrics::runs::otel::OtelError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OtelEventsBuilder {
    pub(crate) endpoint: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) queue: Option<usize>,
    pub(crate) detail: Detail,
}

impl OtelEventsBuilder {
    /// Sets the base URL of the collector, without `/v1/logs`. By default it is that in `OTEL_EXPORTER_OTLP_ENDPOINT`, or else
    /// `http://localhost:4318`. Keys of a collector are in `OTEL_EXPORTER_OTLP_HEADERS`.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let builder = OtelEvents::builder().endpoint("https://otel.example/team");
    /// # drop(builder);
    /// ```
    pub fn endpoint(self, url: impl Into<String>) -> Self {
        Self {
            endpoint: Some(url.into()),
            ..self
        }
    }

    /// Sets the time limit of a request, and of sending what remains at the end of a run. By default it is that in
    /// `OTEL_EXPORTER_OTLP_TIMEOUT`, in milliseconds, or else 10 seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let builder = OtelEvents::builder().timeout(Duration::from_secs(2));
    /// # drop(builder);
    /// ```
    pub fn timeout(self, timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            ..self
        }
    }

    /// Sends texts: explanations of scores, messages of errors, prompts and replies of judges. They may contain the data of
    /// rows, and are not sent by default.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let builder = OtelEvents::builder().texts(true);
    /// # drop(builder);
    /// ```
    pub fn texts(self, texts: bool) -> Self {
        Self {
            detail: Detail {
                texts,
                ..self.detail
            },
            ..self
        }
    }

    /// Sends an event also where a metric abstained, or a row was gated or skipped: without a value, and with the label
    /// `abstained`, `gated` or `skipped`.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let builder = OtelEvents::builder().unscored(true);
    /// # drop(builder);
    /// ```
    pub fn unscored(self, unscored: bool) -> Self {
        Self {
            detail: Detail {
                unscored,
                ..self.detail
            },
            ..self
        }
    }

    /// Sets how many events, and how many spans, may wait to be sent; 65,536 and 8,192 by default. What exceeds the number is
    /// lost and counted.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::OtelEvents;
    /// let builder = OtelEvents::builder().queue(10_000);
    /// # drop(builder);
    /// ```
    pub fn queue(self, records: usize) -> Self {
        Self {
            queue: Some(records),
            ..self
        }
    }

    /// Starts the threads that send events and spans. No connection is made before the first event.
    ///
    /// # Errors
    /// [`OtelError`] if the URL or a variable is invalid, or the thread cannot be started.
    pub fn build(self) -> Result<OtelEvents, OtelError> {
        OtelEvents::start(self)
    }
}
