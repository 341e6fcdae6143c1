//! OpenTelemetry: events and spans, as a collector on the loopback interface receives them.
#![forbid(unsafe_code)]

mod collectors;
mod command;
#[cfg(feature = "lm")]
mod judged;
mod outcomes;
mod parity;
mod protobuf;
mod receiver;
mod spans;
