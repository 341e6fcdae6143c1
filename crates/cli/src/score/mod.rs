//! `score`: reads rows, evaluates metrics on them, and prints a summary of each metric.
//!
//! `metrics.rs` selects and configures the metrics, `models.rs` the language models of judges, `offline.rs` none, `embedder.rs` the
//! embedding model,
//! `rows.rs` opens the files, `result_files.rs` checks those that are results of
//! another run, `report.rs` prints the result, with warnings of `reported_models.rs`, and `limits.rs` checks its limits.
//! `estimate.rs` prints `--estimate` instead of running. `ci_files.rs` writes the files for CI systems, with the rows of
//! `not_passed.rs`. The harness in `evaluate/` does the scoring.

mod ci_files;
mod embedder;
#[cfg(feature = "lm")]
mod estimate;
mod limits;
mod metrics;
#[cfg(feature = "lm")]
mod models;
#[cfg(not(feature = "lm"))]
mod no_models;
mod not_passed;
mod offline;
mod report;
mod reported_models;
mod result_files;
mod rows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::args::ScoreArguments;
use super::error::CliError;
use super::exit::fail_each;
use super::files::Files;
use super::from::InputFile;
use super::otlp::Otlp;
use super::stdio::print_error;
use crate::core::metric::Metric;
use crate::data::{Format, Pairs};
use crate::evaluate::{Ending, Evaluate, EvaluationResult};
use crate::metrics::Registry;
use dsrs_metrics_formats::Epochs;
#[cfg(feature = "lm")]
pub(super) use estimate::run as estimate;
pub(super) use limits::violations;
pub(super) use metrics::configure;
#[cfg(feature = "lm")]
pub(super) use models::RunModels;
#[cfg(not(feature = "lm"))]
pub(super) use no_models::RunModels;
pub(super) use report::INTERRUPTED;

use ci_files::CiFile;
use rows::Builder;

pub(super) fn run(registry: &Registry, args: &ScoreArguments) -> Result<ExitCode, CliError> {
    let files = files(args);
    files.check()?;
    files.check_read_once()?;
    let metrics = metrics::configure(registry, args)?;
    files.check_metrics(&metrics)?;
    let quiet = args.options.quiet;
    let open = args
        .data
        .iter()
        .map(|file| InputFile::open(args.from, Epochs::Rows, file, quiet));
    let inputs = open.collect::<Result<Vec<_>, _>>()?;
    let converted = inputs
        .iter()
        .map(|file| file.named().path.to_owned())
        .collect();
    let args = &ScoreArguments {
        converted,
        ..args.clone()
    };
    #[cfg(feature = "lm")]
    if args.options.lm.estimate {
        return estimate::run(metrics, args);
    }
    result_files::check(args)?
        .iter()
        .filter(|_| !args.options.quiet)
        .for_each(print_error);
    let models = RunModels::new(args)?;
    let warnings = models.unused_warnings(&args.options.lm, &metrics);
    warnings
        .iter()
        .filter(|_| !args.options.quiet)
        .for_each(print_error);
    let rows = rows::open(args, &metrics)?;
    let ci_files = ci_files::create(registry, args)?;
    let otlp = Otlp::new(&args.otlp)?;
    let builder = models
        .kept(Evaluate::builder(), args, &metrics)?
        .metrics(metrics);
    let builder = otlp.observe(models.recorded(builder), models.ledger());
    let evaluate = evaluator(builder, &ci_files, args)?;
    let result = evaluate_rows(&evaluate, rows, &models, args);
    let usage = models
        .usage(result.as_ref().ok())
        .filter(|_| !args.options.quiet);
    let mut written_file = None;
    let code = match result {
        Ok(result) => {
            let is_written = !matches!(result.ending, Ending::OutputFailed(_));
            written_file = args.out.as_ref().filter(|_| is_written);
            let reported = report::report(registry, &result, &models, &ci_files, args);
            // Each file is tried, and what was computed is printed even if none can be written.
            let written = ci_files.iter().map(|file| file.write(args, &result));
            let ended = models.end(&result);
            let failed = fail_each(written.chain([ended]).filter_map(Result::err));
            reported.map(|code| failed.unwrap_or(code))
        }
        Err(error) => {
            ci_files
                .iter()
                .filter_map(CiFile::unchanged)
                .for_each(print_error);
            Err(error)
        }
    };
    if let Some(usage) = usage {
        print_error(usage);
    }
    otlp.finish(written_file.map(PathBuf::as_path));
    code
}

/// Scores the rows for another command, without reporting the result.
pub(super) fn evaluate(
    args: &ScoreArguments,
    metrics: Vec<Arc<dyn Metric>>,
    models: &RunModels,
) -> Result<EvaluationResult, CliError> {
    let rows = rows::open(args, &metrics)?;
    let builder = models
        .kept(Evaluate::builder(), args, &metrics)?
        .metrics(metrics);
    let result = evaluate_rows(
        &evaluator(models.recorded(builder), &[], args)?,
        rows,
        models,
        args,
    )?;
    models.end(&result)?;
    Ok(result)
}

/// The files of the command.
fn files(args: &ScoreArguments) -> Files<'_> {
    Files::new()
        .store(&args.options.lm.store)
        .read("DATA", &args.data)
        .read_params(&args.params)
        .write("--out", args.out.as_ref())
        .write_manifest("--out", args.out.as_ref())
        .write("--junit", args.junit.as_ref())
        .write("--markdown", args.markdown.as_ref())
        .write("--summary", args.summary.as_ref())
        .json_output(args.json)
}

/// Builds the harness with the options of the command.
fn evaluator(
    builder: Builder,
    ci_files: &[CiFile<'_>],
    args: &ScoreArguments,
) -> Result<Evaluate, CliError> {
    let mut builder = of_rows(builder, args)
        .failure_score(args.failure_score)
        .display_progress(!args.options.quiet)
        .keep_results(args.keep_rows)
        .grace_period(args.options.grace);
    for observer in ci_files.iter().filter_map(CiFile::observer) {
        builder = builder.observer(observer);
    }
    if let Some(max_errors) = args.options.max_errors {
        builder = builder.max_errors(max_errors);
    }
    if let Some(field) = &args.group {
        builder = builder.group(field);
    }
    if let Some(samples) = args.bootstrap {
        builder = builder.bootstrap(samples).seed(args.seed);
    }
    if let Some(label) = &args.label {
        builder = builder.label(label);
    }
    for (name, value) in &args.tags {
        builder = builder.tag(name, value);
    }
    if let Some(timeout) = args.options.timeout {
        builder = builder.timeout(timeout);
    }
    if let Some(out) = &args.out {
        builder = save_to(builder, out)?
            .escape_formulas(!args.raw_csv)
            .save_rows(args.with_rows);
    }
    for rows in ci_files.iter().filter_map(CiFile::row_file) {
        builder = builder.save_as_jsonl(rows);
    }
    Ok(builder.build()?)
}

/// Sets the options that determine which rows are evaluated, and how often.
fn of_rows(builder: Builder, args: &ScoreArguments) -> Builder {
    let builder = builder
        .concurrency(usize::try_from(args.options.concurrency).unwrap_or(usize::MAX))
        // With a limit on failed rows, a row that a metric cannot read is a failed row.
        .reject_unreadable_rows(args.options.max_errors.is_none())
        .stop_on_ctrl_c();
    match args.repeats {
        Some(repeats) => builder.repeats(repeats),
        None => builder,
    }
}

/// Adds the result file of `--out`.
fn save_to(builder: Builder, out: &Path) -> Result<Builder, CliError> {
    let reject = |reason| {
        Err(CliError::Out {
            file: out.to_path_buf(),
            reason,
        })
    };
    match Format::of(out) {
        Some(Format::Jsonl) => Ok(builder.save_as_jsonl(out)),
        Some(Format::Json) => Ok(builder.save_as_json(out)),
        Some(Format::Csv) => Ok(builder.save_as_csv(out)),
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => Ok(builder.save_as_parquet(out)),
        None if out.extension().is_none() => reject(format!(
            "missing extension; expected {}",
            Format::EXTENSIONS
        )),
        _ => reject(format!(
            "unknown extension; expected {}",
            Format::EXTENSIONS
        )),
    }
}

fn evaluate_rows(
    evaluate: &Evaluate,
    rows: Pairs,
    models: &RunModels,
    args: &ScoreArguments,
) -> Result<EvaluationResult, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(CliError::Runtime)?;
    let run = models
        .settings()
        .scope(async { evaluate.score_files(rows).await });
    let result = runtime
        .block_on(run)
        .map_err(|error| rows::with_hint(error, args));
    // A thread that is blocked on standard input is not awaited.
    runtime.shutdown_background();
    result
}
