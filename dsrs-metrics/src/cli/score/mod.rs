//! `score`: rows in, a headline for each metric out.
//!
//! Which metrics, with which parameters, is in `metrics.rs`; which rows are refused in `rows.rs`; which
//! language models judges ask in `models.rs`; what is good enough in `limits.rs`. The scoring is the harness's: `evaluate/`.

mod limits;
mod metrics;
mod models;
mod rows;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::args::ScoreArguments;
use super::error::CliError;
use super::output::{print, say};
use super::registry::Registry;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::data::{DataReader, Pairs};
use crate::evaluate::{Ending, Evaluate, EvaluateBuilder, EvaluationResult};
use models::RunModels;
use rows::{CheckedRows, UnusedMappings};

/// What the shell says of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

pub(super) fn run(registry: &Registry, args: &ScoreArguments) -> Result<ExitCode, CliError> {
    if args.concurrency == 0 {
        return Err(CliError::NoConcurrency);
    }
    let metrics = metrics::configured(registry, args)?;
    limits::check(args)?;
    let models = RunModels::new(&args.lm)?;
    if let Some(warning) = models.unasked(&args.lm, &metrics).filter(|_| !args.quiet) {
        say(warning);
    }
    let pairs = open(args)?;
    let mut builder = Evaluate::builder()
        .metrics(metrics.iter().cloned())
        .concurrency(args.concurrency)
        .failure_score(args.failure_score)
        .display_progress(!args.quiet)
        .keep_results(false)
        .stop_on_ctrl_c();
    if let Some(max_errors) = args.max_errors {
        builder = builder.max_errors(max_errors);
    }
    if let Some(timeout) = args.timeout {
        builder = builder.timeout(timeout);
    }
    if let Some(out) = &args.out {
        builder = save(builder, out, &args.data)?;
    }
    // Without a bound on failed rows, a row that cannot be scored is bad input.
    let checked = if args.max_errors.is_none() { metrics } else { Vec::new() };
    let unused = UnusedMappings::default();
    let rows = CheckedRows::new(pairs, checked, args.mappings.clone(), Arc::clone(&unused));
    let result = score(&builder.build()?, rows, &models, args);
    let taken = models.taken(result.as_ref().ok()).filter(|_| !args.quiet);
    let code = result.and_then(|result| report(registry, &result, &unused, &models, args));
    if let Some(taken) = taken {
        say(taken);
    }
    code
}

fn open(args: &ScoreArguments) -> Result<Pairs, CliError> {
    if args.data.iter().filter(|file| is_standard_input(file)).count() > 1 {
        return Err(CliError::StandardInputTwice);
    }
    let mut reader = DataReader::new();
    if let Some(format) = args.format {
        reader = reader.with_format(format);
    }
    for (position, mapping) in args.mappings.iter().enumerate() {
        if args.mappings[..position].iter().any(|other| other.field() == mapping.field()) {
            return Err(CliError::MappedTwice { field: mapping.field() });
        }
        reader = reader.with_mapping(mapping.clone());
    }
    Ok(reader.read(&args.data)?)
}

fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

type Builder = EvaluateBuilder<Example, Prediction>;

fn save(builder: Builder, out: &Path, data: &[PathBuf]) -> Result<Builder, CliError> {
    let refuse =
        |reason: &str| Err(CliError::Out { file: out.to_path_buf(), reason: reason.to_owned() });
    let same = |file: &PathBuf| match (fs::canonicalize(file), fs::canonicalize(out)) {
        (Ok(file), Ok(out)) => file == out,
        _ => false,
    };
    if data.iter().any(same) {
        return refuse("is one of the files that are read");
    }
    let extension = out.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("jsonl" | "ndjson") => Ok(builder.save_as_jsonl(out)),
        Some("json") => Ok(builder.save_as_json(out)),
        Some("csv") => Ok(builder.save_as_csv(out)),
        Some(_) => refuse("unknown extension; it should be .jsonl, .json or .csv"),
        None => refuse("has no extension; it should be .jsonl, .json or .csv"),
    }
}

fn score(
    evaluate: &Evaluate,
    rows: CheckedRows,
    models: &RunModels,
    args: &ScoreArguments,
) -> Result<EvaluationResult, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(CliError::Runtime)?;
    let result = runtime.block_on(models.settings().scope(async {
        // A pipe may keep its reader waiting, and Ctrl-C must not wait with it.
        if args.data.iter().all(|file| is_regular(file)) {
            evaluate.score(rows).await
        } else {
            let rows = rows::on_a_thread(rows).map_err(CliError::Runtime)?;
            evaluate.score_stream(rows).await
        }
        .map_err(CliError::from)
    }));
    // A thread that waits for standard input is left behind.
    runtime.shutdown_background();
    result
}

fn is_regular(file: &Path) -> bool {
    !is_standard_input(file) && fs::metadata(file).is_ok_and(|found| found.is_file())
}

fn report(
    registry: &Registry,
    result: &EvaluationResult,
    unused: &UnusedMappings,
    models: &RunModels,
    args: &ScoreArguments,
) -> Result<ExitCode, CliError> {
    if args.json {
        let json = serde_json::to_string(&result)
            .map_err(|error| CliError::StandardOutput(io::Error::other(error)))?;
        print(&format!("{json}\n"))?;
    } else {
        print(&format!("{result}\n"))?;
    }
    if let Ending::OutputFailed(error) = &result.ending {
        return Err(error.clone().into());
    }
    if !args.quiet {
        warn(result, unused);
        limits::warn(result, args);
    }
    let mut worse = limits::worse(registry, result, args);
    worse.extend(limits::unpaid(result, args, models.uncovered()));
    for line in &worse {
        say(line);
    }
    Ok(match &result.ending {
        Ending::Stopped => {
            let kept = args.out.as_ref().map(|out| format!(" and written to {}", out.display()));
            let kept = kept.unwrap_or_default();
            say(format_args!("stopped after {} rows; their scores are counted{kept}", result.rows));
            ExitCode::from(INTERRUPTED)
        }
        Ending::MaxErrors => {
            say(format_args!(
                "stopped after {} rows: {} failed, as many as --max-errors allows",
                result.rows, result.failed_rows
            ));
            ExitCode::FAILURE
        }
        _ if worse.is_empty() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn warn(result: &EvaluationResult, unused: &UnusedMappings) {
    if let Some(error) = &result.first_error {
        let rows = if result.failed_rows == 1 { "row" } else { "rows" };
        say(format_args!("warning: {} {rows} failed, the first: {error}", result.failed_rows));
    }
    for mapping in rows::unused(unused) {
        let path = mapping.path();
        say(format_args!("warning: --map {mapping}: no row has `{path}`"));
    }
}
