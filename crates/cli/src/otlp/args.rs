//! The options of a collector.

use clap::Args;

/// What is sent to a collector.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OtlpArguments {
    /// Send scores and calls of models to the OpenTelemetry collector with this base URL, by OTLP over HTTP
    /// (feature `otel`), e.g. http://localhost:4318. The scores do not depend on the collector, and only the
    /// end of the run waits for it, up to 10 s. Keys are in OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Send explanations, error messages, prompts and replies too, which may contain the data of rows
    #[arg(long, requires = "otlp")]
    pub(super) otlp_texts: bool,
    /// Send an event also where a metric abstained, or a row was gated or skipped
    #[arg(long, requires = "otlp")]
    pub(super) otlp_unscored: bool,
}
