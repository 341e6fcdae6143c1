//! The arguments of `export`, and the options of a collector.

use std::path::PathBuf;

use clap::Args;

/// What is sent to a collector.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OtlpArguments {
    /// Send scores and calls of models to the OpenTelemetry collector with this base URL, by OTLP over HTTP
    /// (feature `otel`), e.g. http://localhost:4318. The scores do not depend on the collector, and only the
    /// end of the run waits for it, up to 10 s. Keys are in OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, value_name = "URL")]
    pub(super) otlp: Option<String>,
    /// Send explanations, error messages, prompts and replies too, which may contain the data of rows
    #[arg(long, requires = "otlp")]
    pub(super) otlp_texts: bool,
    /// Send an event also where a metric abstained, or a row was gated or skipped
    #[arg(long, requires = "otlp")]
    pub(super) otlp_unscored: bool,
}

/// Send the scores of a result file to an OpenTelemetry collector
///
/// Sends one event `gen_ai.evaluation.result` for each metric and row, as `score --otlp` does during a run.
/// It needs the file only, and sends all events, also those that the run has delivered. It waits for a
/// collector that is slow, and gives up when nothing was accepted for 10 s, or for the milliseconds in
/// OTEL_EXPORTER_OTLP_TIMEOUT.
///
/// Exit code: 0 if the collector accepted all events; 1 if not, with their number; 2 for invalid usage or
/// input.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// A file written by `score --out`: .jsonl, .json or .csv; `-` is standard input
    #[arg(value_name = "RUN")]
    pub(super) run: PathBuf,
    #[command(flatten)]
    pub(super) otlp: OtlpArguments,
}
