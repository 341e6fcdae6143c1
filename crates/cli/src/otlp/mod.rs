//! `--otlp` of `score`, and `export`: events and spans for an OpenTelemetry collector.
//!
//! `args.rs` has the options, `events.rs` sends what they select, with the feature `otel`; without it, `no_otel.rs` rejects them.

mod args;
#[cfg(feature = "otel")]
mod events;
#[cfg(not(feature = "otel"))]
mod no_otel;

use std::process::ExitCode;

use super::error::CliError;
use super::files::Files;
use super::stdio::{print, print_error};
use crate::core::rows::dynamic::{Example, Prediction};
use crate::evaluate::EvaluateBuilder;
use crate::results::Results;

pub(super) use args::{ExportArguments, OtlpArguments};

#[cfg(feature = "otel")]
pub(super) use events::Otlp;
#[cfg(not(feature = "otel"))]
pub(super) use no_otel::Otlp;

/// The builder of an evaluation of the rows of files.
type Builder = EvaluateBuilder<Example, Prediction>;

/// Sends the events of a result file.
pub(super) fn export(args: &ExportArguments) -> Result<ExitCode, CliError> {
    if args.otlp.otlp.is_none() {
        return Err(CliError::NoDestination);
    }
    let otlp = Otlp::new(&args.otlp)?;
    Files::new().read("RUN", [&args.run]).check()?;
    let (sentence, is_complete) = otlp.send(&Results::read(&args.run)?);
    if !is_complete {
        print_error(sentence);
        return Ok(ExitCode::FAILURE);
    }
    print(&format!("{sentence}\n")).map_err(CliError::StandardOutput)?;
    Ok(ExitCode::SUCCESS)
}
