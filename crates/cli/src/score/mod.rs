//! The `score` command, which evaluates metrics on rows and prints a summary of each metric.
//!
//! `plan.rs` turns the arguments into a run: the metrics, the files and the settings. `models.rs` sets up the language
//! and embedding models. `report.rs` prints the result, and `limits.rs` checks the limits on it. `estimate.rs` handles
//! `--estimate`, which estimates instead of running. `ci_files.rs` writes the files for CI systems. The harness in the
//! package `run` does the scoring.

mod ci_files;
#[cfg(feature = "lm")]
mod estimate;
mod limits;
mod models;
mod plan;
mod report;

use std::path::Path;
use std::process::ExitCode;

use ci_files::{CiFile, Content, row_file};
use dsrs_metrics_formats::Epochs;
pub(super) use models::Run;
use plan::Builder;
pub(super) use plan::configure;

use super::args::ScoreArguments;
use super::files::Files;
use super::from::{InputFile, print_scores};
use super::options::set;
use super::otlp::Otlp;
use super::output::{Result, err, fail_each};
use crate::data::{Format, NamedFile, Pairs, Samples};
use crate::evaluate::{Evaluate, EvaluationResult, Sample, StopSettings};
use crate::metrics::Registry;
use crate::results::{ResultsError, manifest_of};

/// Checks the names on the command line, and then runs the command.
pub(super) fn run(registry: &Registry, args: &ScoreArguments) -> Result<ExitCode> {
    let args = &with_files(args)?;
    let files = files(args);
    files.check()?;
    files.check_read_once()?;
    let metrics = configure(registry, args)?;
    files.check_metrics(&metrics)?;
    if metrics.is_empty() {
        return print_scores(args);
    }
    let files = InputFile::open_all(args.from, Epochs::Rows, &args.data, args.options.quiet)?;
    let inputs: Vec<NamedFile<'_>> = files.iter().map(InputFile::named).collect();
    #[cfg(feature = "lm")]
    if args.options.lm.estimate {
        return Run::new(registry, args, &inputs, metrics)?.estimate();
    }
    args.options.warn(report::unknown_identities(args)?);
    let scored = Run::new(registry, args, &inputs, metrics).and_then(|run| run.score());
    match args.mappings.is_empty() {
        true => scored.map_err(|error| args.from.advise(error, &args.data)),
        false => scored,
    }
}

/// Returns the arguments after expanding `--lines`, folders and repeats.
fn with_files(args: &ScoreArguments) -> Result<ScoreArguments> {
    let mut args = args.clone();
    if let [gold, pred] = &*args.lines {
        (args.gold, args.data) = (Some(gold.clone()), vec![pred.clone()]);
        args.files.format = Some(Format::Text);
    }
    if args.from.from.is_none() {
        let files = args.data.iter().map(|path| match Format::files_in(path) {
            Ok(files) if files.is_empty() => Err(err!(
                "{}: expected row files in the folder, found none with the extension {}; pass a file",
                path.display(),
                Format::EXTENSIONS
            )),
            Ok(files) => Ok(files),
            Err(reason) => Err(err!("{}: cannot be read: {reason}", path.display())),
        });
        args.data = files.collect::<Result<Vec<_>>>()?.concat();
    }
    if let (Some(more), Some(out)) = (args.more_repeats, &args.out) {
        let earlier = match manifest_of(out, None).map_err(ResultsError::from)? {
            Some(Ok(manifest)) => manifest.run.repeats.unwrap_or(1),
            _ => {
                return Err(err!(
                    "--more-repeats: expected an earlier run's result in {}, found none with a manifest; pass --repeats instead",
                    out.display()
                ));
            }
        };
        args.repeats = Some(earlier.saturating_add(more));
    }
    Ok(args)
}

impl Run<'_> {
    /// Scores the rows and reports the result.
    fn score(&self) -> Result<ExitCode> {
        let args = self.args;
        args.options.warn(self.unused_warnings());
        let rows = self.open()?;
        let rows = match plan::maps(args, "repeat") {
            true => Rows::Samples(self.samples(rows)?),
            false => Rows::Pairs(rows),
        };
        let ci_files = ci_files::create(args)?;
        let otlp = Otlp::new(&args.otlp)?;
        let mut builder = otlp.observe(self.builder(&ci_files)?, self.ledger());
        if let Rows::Samples(samples) = &rows {
            builder = builder.repeats(samples.repeats());
        }
        let result = self.evaluate_rows(&builder.build()?, rows);
        #[cfg(feature = "lm")]
        let usage = self.usage(result.as_ref().ok());
        let code = result.and_then(|result| {
            let code = self.report(&result, &ci_files);
            let failed = fail_each(ci_files.iter().map(|file| file.write(self, &result)));
            #[cfg(feature = "lm")]
            let failed = fail_each([self.end(&result)]).or(failed);
            code.map(|code| failed.unwrap_or(code))
        });
        #[cfg(feature = "lm")]
        args.options.warn(usage);
        otlp.finish();
        code
    }

    /// Scores the rows for another command, without reporting the result.
    pub(super) fn evaluate(&self) -> Result<EvaluationResult> {
        let rows = self.open()?;
        let evaluate = self.builder(&[])?.keep_results(true).build()?;
        let result = self.evaluate_rows(&evaluate, Rows::Pairs(rows))?;
        #[cfg(feature = "lm")]
        self.end(&result)?;
        Ok(result)
    }

    /// Builds the harness with the command's options.
    fn builder(&self, ci_files: &[CiFile]) -> Result<Builder> {
        let args = self.args;
        let builder = self.with_metrics(Evaluate::builder());
        #[cfg(feature = "lm")]
        let builder = self.observed(builder)?;
        let mut builder = of_rows(builder, args)
            .failures(|failures| failures.score(args.failure_score))
            .display_progress(!args.options.quiet)
            .keep_results(false)
            .stop(|stop| stop.grace_period(args.options.grace));
        if let Some(field) = &args.group {
            builder = builder.statistics(|statistics| statistics.group(field));
        }
        if let Some(samples) = args.bootstrap {
            builder = builder.statistics(|statistics| statistics.bootstrap(samples));
        }
        if !args.stop_when.is_empty() {
            builder = builder.stop(|stop| stop.when_decided(&args.stop_when, args.alpha));
        }
        builder = set(builder, args.options.max_errors, Builder::max_errors);
        builder = set(builder, args.label.as_ref(), Builder::label);
        builder = set(builder, args.options.timeout, Builder::timeout);
        for (name, value) in &args.tags {
            builder = builder.tag(name, value);
        }
        if let Some(out) = &args.out {
            builder = save_to(builder, out)?.files(|files| {
                files
                    .escape_formulas(!args.raw_csv)
                    .save_rows(args.with_rows)
            });
        }
        for file in ci_files {
            builder = match &file.content {
                Content::JUnit(rows) => builder.files(|files| files.jsonl(row_file(rows))),
                Content::Markdown(rows) => builder.observer(rows.clone()),
                Content::Summary => builder,
            };
        }
        Ok(builder)
    }

    /// Adds the metrics. If `--truth` is set, its metric comes last and judges a sample.
    fn with_metrics(&self, builder: Builder) -> Builder {
        let mut metrics = self.metrics.clone();
        let truth = self.args.sample.and_then(|rows| {
            let by = self.args.by.as_deref().map(str::trim);
            let sample = set(Sample::rows(rows), by, Sample::stratified_by);
            Some((metrics.pop()?, sample))
        });
        let builder = builder.metrics(metrics);
        set(builder, truth, |builder, (metric, sample)| {
            builder.truth(metric, sample)
        })
    }

    fn evaluate_rows(&self, evaluate: &Evaluate, rows: Rows) -> Result<EvaluationResult> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.enable_all().build();
        let runtime =
            runtime.map_err(|error| err!("cannot start the threads for the run: {error}"))?;
        let run = self.settings().scope(async {
            match rows {
                Rows::Pairs(rows) => evaluate.score_files(rows).await,
                Rows::Samples(samples) => evaluate.score_samples(samples).await,
            }
        });
        let result = runtime.block_on(run).map_err(|error| self.with_hint(error));
        // Don't wait for a thread that is blocked on standard input.
        runtime.shutdown_background();
        result
    }
}

/// Returns the command's files.
fn files(args: &ScoreArguments) -> Files {
    Files::new()
        .store(&args.options.lm)
        .read("DATA", &args.data)
        .read("--gold", &args.gold)
        .read_params(&args.params)
        .write("--out", args.out.as_ref())
        .write_manifest("--out", args.out.as_ref())
        .write("--junit", args.junit.as_ref())
        .write("--markdown", args.markdown.as_ref())
        .write("--summary", args.summary.as_ref())
        .json_output(args.json)
}

/// Sets the options that determine which rows are evaluated, and how often.
fn of_rows(builder: Builder, args: &ScoreArguments) -> Builder {
    let builder = builder
        .concurrency(usize::try_from(args.options.concurrency).unwrap_or(usize::MAX))
        // If there is a limit on failed rows, a row that a metric cannot read counts as failed.
        .failures(|failures| failures.reject_unreadable_rows(args.options.max_errors.is_none()))
        .statistics(|statistics| statistics.seed(args.seed))
        .stop(StopSettings::on_ctrl_c);
    set(builder, args.repeats, Builder::repeats)
}

/// Adds the `--out` result file.
fn save_to(builder: Builder, out: &Path) -> Result<Builder> {
    match Format::of(out) {
        Some(Format::Jsonl) => Ok(builder.files(|files| files.jsonl(out))),
        Some(Format::Json) => Ok(builder.files(|files| files.json(out))),
        Some(Format::Csv) => Ok(builder.files(|files| files.csv(out))),
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => Ok(builder.files(|files| files.parquet(out))),
        _ => Err(err!(
            "--out {}: unknown extension; expected {}",
            out.display(),
            Format::EXTENSIONS
        )),
    }
}

/// The rows in the files, each with one prediction or with all of its samples.
enum Rows {
    Pairs(Pairs),
    Samples(Samples),
}
