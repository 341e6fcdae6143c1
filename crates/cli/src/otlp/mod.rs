//! `--otlp` of `score` and `export`: events and spans for an OpenTelemetry collector.
//!
//! `args.rs` has the options, `events.rs` sends what they select, with the feature `otel`; without it, `no_otel.rs` rejects them.

mod args;
#[cfg(feature = "otel")]
mod events;
#[cfg(not(feature = "otel"))]
mod no_otel;

use crate::core::rows::dynamic::{Example, Prediction};
use crate::evaluate::EvaluateBuilder;

pub(super) use args::OtlpArguments;

#[cfg(feature = "otel")]
pub(super) use events::Otlp;
#[cfg(not(feature = "otel"))]
pub(super) use no_otel::Otlp;

/// The builder of an evaluation of the rows of files.
type Builder = EvaluateBuilder<Example, Prediction>;
