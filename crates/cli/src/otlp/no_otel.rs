//! `--otlp` in a program without OpenTelemetry: an error.

use std::path::Path;

use super::Builder;
use super::args::OtlpArguments;
use crate::error::CliError;
use crate::lm::Ledger;
use crate::results::Results;

/// No collector, with the methods of `Otlp` in `events.rs`.
pub(crate) struct Otlp;

#[expect(clippy::unused_self, reason = "`events.rs` has the same signatures")]
impl Otlp {
    pub(crate) fn new(args: &OtlpArguments) -> Result<Self, CliError> {
        // The others require it.
        if args.otlp.is_some() {
            Err(CliError::NoOtel)
        } else {
            Ok(Self)
        }
    }

    pub(crate) fn observe(&self, builder: Builder, _: Option<&Ledger>) -> Builder {
        builder
    }

    pub(crate) fn finish(&self, _: Option<&Path>) {}

    pub(crate) fn send(&self, _: &Results) -> (String, bool) {
        (String::new(), false)
    }
}
