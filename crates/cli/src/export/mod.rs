//! `export`: a result file in the format of another program, or as events for a collector.

mod args;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dsrs_metrics_formats::{Export, ExportFormat};

use super::error::CliError;
use super::files::Files;
use super::otlp::Otlp;
use super::stdio::{print, print_error};
use crate::evaluate::report::OutputFile;
use crate::results::Results;

pub(super) use args::ExportArguments;

pub(super) fn run(args: &ExportArguments) -> Result<ExitCode, CliError> {
    match (args.to, &args.out, &args.otlp.otlp) {
        (Some(format), Some(out), _) => convert(args, format, out),
        (_, _, Some(_)) => send(args),
        _ => Err(CliError::NoDestination),
    }
}

/// Writes the file in the format of another program.
fn convert(
    args: &ExportArguments,
    format: ExportFormat,
    out: &PathBuf,
) -> Result<ExitCode, CliError> {
    let mut export = Export::to(format);
    for (name, value) in &args.tags {
        export = export.tag(name, value);
    }
    if let Some(field) = &args.input {
        export = export.input(field);
    }
    if let Some(field) = &args.target {
        export = export.target(field);
    }
    if let Some(field) = &args.output {
        export = export.output(field);
    }
    let read = Files::new().read("RUN", [&args.run]);
    let (files, notes) = if format == ExportFormat::EveryEvalEver {
        read.check()?;
        export.write_folder(&args.run, out)?
    } else {
        read.write("--out", Some(out)).check()?;
        (vec![out.clone()], write_file(&export, &args.run, out)?)
    };
    for note in notes {
        print_error(format_args!("note: {}: {note}", args.run.display()));
    }
    for file in files {
        print(&format!("{}\n", file.display())).map_err(CliError::StandardOutput)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes one file, which gets its name when it is complete.
fn write_file(export: &Export, run: &Path, out: &Path) -> Result<Vec<String>, CliError> {
    let unwritable = |reason| CliError::Unwritable {
        option: "--out",
        file: out.to_owned(),
        reason,
    };
    let file = OutputFile::create(out).map_err(unwritable)?;
    let mut exported = Ok(Vec::new());
    let written = file.write(|out| {
        exported = export.write(run, out);
        exported
            .as_ref()
            .map_or_else(|_| Err(io::ErrorKind::Other.into()), |_| Ok(()))
    });
    match exported {
        Err(error) => Err(error
            .into_output()
            .map_or_else(CliError::Format, unwritable)),
        Ok(notes) => {
            written.map_err(unwritable)?;
            Ok(notes)
        }
    }
}

/// Sends the events of the file.
fn send(args: &ExportArguments) -> Result<ExitCode, CliError> {
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
