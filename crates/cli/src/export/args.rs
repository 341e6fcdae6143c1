//! The arguments of `export`.

use std::path::PathBuf;

use clap::Args;
use dsrs_metrics_formats::ExportFormat;

use crate::otlp::OtlpArguments;
use crate::value_parsers::{one_of, tag};

/// Convert a result file to the format of another program, or send it to an OpenTelemetry collector
///
/// `--to` writes the rows and scores of the file in the format of another program. Nothing is sent: the
/// guide page `formats` has a command with curl for each service.
///
/// `--otlp` sends one event `gen_ai.evaluation.result` for each metric and row, as `score --otlp` does
/// during a run. It needs the file only, and sends all events, also those that the run has delivered. It
/// waits for a collector that is slow, and gives up when nothing was accepted for 10 s, or for the
/// milliseconds in OTEL_EXPORTER_OTLP_TIMEOUT.
///
/// Exit code: 0 if all was written, or the collector accepted all events; 1 if not all events, with their
/// number; 2 for invalid usage or input.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// A file written by `score --out`: .jsonl, .json or .csv; with --otlp, `-` is standard input
    #[arg(value_name = "RUN")]
    pub(super) run: PathBuf,
    /// The format of another program
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&ExportFormat::ALL), requires = "out", conflicts_with = "otlp")]
    pub(super) to: Option<ExportFormat>,
    /// The file that is written, or for eee the folder
    #[arg(long, value_name = "PATH", requires = "to")]
    pub(super) out: Option<PathBuf>,
    /// A fact that the run does not state, such as model=acme/small; it replaces the tag of the run
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag, requires = "to")]
    pub(super) tags: Vec<(String, String)>,
    /// The field with the input of the program; by default gold.input or gold.question, or else the gold row
    #[arg(long, value_name = "FIELD", requires = "to")]
    pub(super) input: Option<String>,
    /// The field with the right answer; by default gold.target or gold.answer
    #[arg(long, value_name = "FIELD", requires = "to")]
    pub(super) target: Option<String>,
    /// The field with the answer of the program; by default pred.answer, or else the prediction
    #[arg(long, value_name = "FIELD", requires = "to")]
    pub(super) output: Option<String>,
    #[command(flatten)]
    pub(super) otlp: OtlpArguments,
}
