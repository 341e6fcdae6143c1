//! `--otlp` for `score` and `export`: sends events and spans to an OpenTelemetry collector. Without the `otel` feature,
//! the option is an error.

use clap::Args;
#[cfg(feature = "otel")]
use dsrs_metrics_otel::OtelEvents;

use super::output::{Result, err};
use crate::contract::{Example, Prediction};
use crate::evaluate::EvaluateBuilder;
use crate::lm::Ledger;
#[cfg(feature = "otel")]
use crate::output::print_error;
use crate::results::Results;

/// The builder for evaluating rows from files.
type Builder = EvaluateBuilder<Example, Prediction>;

/// Options for what is sent to a collector.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct OtlpArguments {
    /// Send scores and model calls to the OpenTelemetry collector with this base URL, by OTLP over HTTP (feature
    /// `otel`), e.g. http://localhost:4318. The scores do not depend on the collector, and only the end of the run
    /// waits for it, up to 10 s. Put keys in OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, value_name = "URL")]
    pub(super) otlp: Option<String>,
    /// Also send explanations, error messages, prompts and replies, which may contain row data
    #[arg(long, requires = "otlp")]
    otlp_texts: bool,
    /// Also send an event if a metric abstained, or a row was gated or skipped
    #[arg(long, requires = "otlp")]
    otlp_unscored: bool,
}

/// Stands in for a collector if the `otel` feature is disabled.
#[cfg(not(feature = "otel"))]
pub(super) struct Otlp;

#[cfg(not(feature = "otel"))]
#[expect(clippy::unused_self, reason = "the feature has the same signatures")]
impl Otlp {
    pub(super) fn new(args: &OtlpArguments) -> Result<Self> {
        // The other options require this one.
        match &args.otlp {
            Some(_) => Err(err!(
                "--otlp: this program was built without OpenTelemetry; run `cargo install dsrs-metrics --features cli,otel`, or enable `otel` on your `dsrs-metrics` dependency"
            )),
            None => Ok(Self),
        }
    }

    pub(super) fn observe(&self, builder: Builder, _: Option<&Ledger>) -> Builder {
        builder
    }

    pub(super) fn finish(&self) {}

    pub(super) fn send(&self, _: &Results) -> (String, bool) {
        (String::new(), false)
    }
}

/// The command's collector, if it has one.
#[cfg(feature = "otel")]
pub(super) struct Otlp(Option<OtelEvents>);

#[cfg(feature = "otel")]
impl Otlp {
    pub(super) fn new(args: &OtlpArguments) -> Result<Self> {
        let Some(url) = &args.otlp else {
            return Ok(Self(None));
        };
        let builder = OtelEvents::builder().endpoint(url);
        let events = builder
            .texts(args.otlp_texts)
            .unscored(args.otlp_unscored)
            .build();
        let events = events.map_err(|error| match error.is_url() {
            true => err!("--otlp: {error}"),
            false => error.into(),
        });
        Ok(Self(Some(events?)))
    }

    /// Adds an observer for the run, and for the models whose calls the ledger counts.
    pub(super) fn observe(&self, builder: Builder, ledger: Option<&Ledger>) -> Builder {
        let Some(events) = &self.0 else {
            return builder;
        };
        if let Some(ledger) = ledger {
            events.observe_calls(ledger);
        }
        builder.observer(events.clone())
    }

    /// Sends the remaining events, and prints how many were not delivered.
    pub(super) fn finish(&self) {
        let delivery = self.0.as_ref().map(OtelEvents::finish);
        if let Some(delivery) = delivery.filter(|delivery| !delivery.is_complete()) {
            print_error(format_args!(
                "{delivery}; send all events again with `export FILE --otlp {}`, where --out writes FILE",
                delivery.url
            ));
        }
    }

    /// Sends a result file's events. Returns a sentence about the delivery, and `true` if all events were delivered.
    pub(super) fn send(&self, results: &Results) -> (String, bool) {
        let delivery = self.0.as_ref().map(|events| events.send(results));
        let delivery = delivery.unwrap_or_default();
        (delivery.to_string(), delivery.is_complete())
    }
}
