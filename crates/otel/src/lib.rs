//! Sends results and model calls to a collector as OpenTelemetry events and spans, over OTLP/HTTP.
//!
//! [`OtelEvents`] is an [`Observer`](dsrs_metrics_run::Observer) of runs that can also observe the calls in a
//! [`Ledger`](dsrs_metrics_lm::Ledger). [`Delivery`] counts the events that the collector accepted.
//!
//! A run never waits for the collector, and its results do not depend on the collector.
//!
//! `evaluation_event.rs` and `chat_span.rs` define the attributes. The OpenTelemetry SDK's batch processors send them
//! through `collector.rs`.

#[macro_use]
extern crate dsrs_metrics_values;

mod chat_span;
mod collector;
mod endpoint;
mod evaluation_event;
mod events;

pub use collector::Delivery;
pub use endpoint::OtelError;
pub use events::{OtelEvents, OtelEventsBuilder};
