//! `export`: converts a result file to another program's format, or sends it to a collector as events.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use dsrs_metrics_formats::{Export, ExportFormat};

use super::files::{Files, unwritable};
use super::from::{FromArgument, InputFile};
use super::options::{one_of, set, tag};
use super::otlp::{Otlp, OtlpArguments};
use super::output::{CliError, Result, err, print, print_error};
use super::own_scores::OwnScoreArguments;
use crate::evaluate::report::OutputFile;
use crate::results::Results;

/// Convert a result file to another program's format, or send it to an OpenTelemetry collector
///
/// `--to` writes the file's rows and scores in another program's format. Nothing is sent: the guide's `formats` page
/// has a curl command for each service.
///
/// `--otlp` sends one `gen_ai.evaluation.result` event for each metric and row, as `score --otlp` does during a run. It
/// needs only the file, and sends all events, even those that the run already delivered. It waits for a slow collector,
/// but gives up if nothing is accepted for 10 s, or for the number of milliseconds in OTEL_EXPORTER_OTLP_TIMEOUT.
///
/// Exit code: 0 if everything was written, or the collector accepted all events; 1 if the collector rejected some
/// events, whose number is printed; 2 for invalid usage or input.
#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    /// A file written by `score --out`: .jsonl, .json or .csv; with --otlp, `-` is standard input
    #[arg(value_name = "RUN")]
    run: PathBuf,
    #[command(flatten)]
    own: OwnScoreArguments,
    /// The other program's format
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&ExportFormat::ALL), requires = "out", conflicts_with = "otlp")]
    to: Option<ExportFormat>,
    /// The file to write, or the folder for eee
    #[arg(long, value_name = "PATH", requires = "to")]
    out: Option<PathBuf>,
    /// A fact that the run does not state, such as model=acme/small; it replaces the run's tag
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag, requires = "to")]
    tags: Vec<(String, String)>,
    /// The field that contains the program's input; by default, gold.input or gold.question, or
    /// else the gold row
    #[arg(long, value_name = "FIELD", requires = "to")]
    input: Option<String>,
    /// The field that contains the expected answer; by default, gold.target or gold.answer
    #[arg(long, value_name = "FIELD", requires = "to")]
    target: Option<String>,
    /// The field that contains the program's answer; by default, pred.answer, or else the
    /// prediction
    #[arg(long, value_name = "FIELD", requires = "to")]
    output: Option<String>,
    #[command(flatten)]
    otlp: OtlpArguments,
}

pub(super) fn run(args: &ExportArguments) -> Result<ExitCode> {
    let input = InputFile::open_scores(&args.own, FromArgument::default(), &args.run, false)?;
    let run = input.named().path;
    let done = match (args.to, &args.out, &args.otlp.otlp) {
        (Some(format), Some(out), _) => convert(args, run, format, out),
        (_, _, Some(_)) => send(args, run),
        _ => Err(err!(
            "export: missing destination; pass --to FORMAT --out PATH, or --otlp URL, as in --otlp http://localhost:4318"
        )),
    };
    done.map_err(|error| input.with_name(&error))
}

/// Writes the result file in another program's format.
fn convert(
    args: &ExportArguments,
    run: &Path,
    format: ExportFormat,
    out: &PathBuf,
) -> Result<ExitCode> {
    let mut export = Export::to(format);
    for (name, value) in &args.tags {
        export = export.tag(name, value);
    }
    export = set(export, args.input.as_ref(), Export::input);
    export = set(export, args.target.as_ref(), Export::target);
    export = set(export, args.output.as_ref(), Export::output);
    let read = Files::new().read("RUN", [&args.run]);
    let (files, notes) = if format == ExportFormat::EveryEvalEver {
        read.check()?;
        export.write_folder(run, out)?
    } else {
        read.write("--out", Some(out)).check()?;
        (vec![out.clone()], write_file(&export, run, out)?)
    };
    for note in notes {
        print_error(format_args!("note: {}: {note}", args.run.display()));
    }
    for file in files {
        print(&format!("{}\n", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a single file, which gets its name when it is complete.
fn write_file(export: &Export, run: &Path, out: &Path) -> Result<Vec<String>> {
    let unwritable = |reason: io::Error| unwritable("--out", out, &reason);
    let file = OutputFile::create(out).map_err(unwritable)?;
    let written = file.write(|out| export.write(run, out));
    written.map_err(|error| error.into_output().map_or_else(CliError::from, unwritable))
}

/// Sends the file's events.
fn send(args: &ExportArguments, run: &Path) -> Result<ExitCode> {
    let otlp = Otlp::new(&args.otlp)?;
    Files::new().read("RUN", [&args.run]).check()?;
    let (sentence, is_complete) = otlp.send(&Results::read(run)?);
    if !is_complete {
        print_error(format_args!("{sentence}; run the same command again later"));
        return Ok(ExitCode::FAILURE);
    }
    print(&format!("{sentence}\n"))?;
    Ok(ExitCode::SUCCESS)
}
