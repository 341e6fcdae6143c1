//! The `rejudge` command, which judges a run's rows again with a different model.
//!
//! The command compares both judges with each other and with labels.
//!
//! `judges.rs` finds the judges of the run, `score/` calls the model, and `results/` contains the comparisons.

mod judges;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indexmap::IndexMap;
use serde::Serialize;

use super::agree::{self, Labels};
use super::args::{LabelArguments, Param, RunOptions};
use super::files::Files;
use super::options::{check_unique, id_path, set};
use super::output::{Result, err, print_error, print_report};
use super::score::{self, Run};
use crate::agreement::{Closeness, Rating};
use crate::contract::MetricIdentity;
use crate::data::{Mapping, NamedFile};
use crate::messages::escape;
use crate::metrics::Registry;
use crate::results::{Comparison, ComparisonBuilder, FORMAT, MetricComparison, Results};

/// Let a different model judge the rows of a run, and compare both judges
///
/// Runs the run's judges again on the same rows, with the model in --lm. The judges are the metrics that call a model;
/// their parameters come from the run's manifest. The run must contain its rows: write it with `score --out FILE
/// --with-rows`. Prints a paired comparison between the run (A) and the new judge (B), as `compare` does.
///
/// With --label, it also prints which judge is closer to the labels. If the labels are verdicts, as defined for
/// `agree`, it compares the number of rows in which each judge is right (McNemar's exact test). If they are other
/// numbers, it compares the mean absolute difference between score and label (permutation test). Rows that lack a
/// label, or a score from one of the judges, are left out.
///
/// Exit code: 0 on success; 1 if all rows failed, --max-errors was reached, or --budget did not cover all rows; 2 for
/// invalid usage or input; 130 after Ctrl-C, SIGTERM or SIGHUP.
#[derive(Debug, Args)]
pub(super) struct RejudgeArguments {
    /// A file written by `score --out FILE --with-rows`, with its manifest
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Rejudge only with these judges, separated by commas
    #[arg(short, long = "metric", value_name = "NAME", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Set a judge's parameter that is not in the manifest
    #[arg(long = "param", value_name = "NAME.KEY=VALUE")]
    params: Vec<Param>,
    /// Write the new run with its rows to a file: .jsonl, .json, .csv or (feature `parquet`) .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The attribute that contains the label, or a dotted path to it, such as gold.correct
    #[arg(long, value_name = "FIELD")]
    label: Option<String>,
    /// The column that contains the labels' ids, or a dotted path to it; by default `id`
    #[arg(long = "map", value_name = "id=PATH", requires = "file", value_parser = id_path)]
    id: Option<Mapping>,
    #[command(flatten)]
    labels: LabelArguments,
    /// The seed for the permutation test
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: RunOptions,
}

pub(super) fn run(registry: &Registry, args: &RejudgeArguments) -> Result<ExitCode> {
    let files = Files::new()
        .store(&args.options.lm)
        .read("RUN", [&args.run])
        .read("--labels", &args.labels.file)
        .read_params(&args.params)
        .write("--out", args.out.as_ref())
        .write_manifest("--out", args.out.as_ref())
        .json_output(args.json);
    files.check()?;
    check_unique(&args.metrics)?;
    let has_file = args.labels.file.is_some();
    args.labels.files.check(has_file, "--labels")?;
    let old = Results::read(&args.run)?;
    let score = judges::arguments(registry, &old, args)?;
    let labels = |field| agree::labels(&old, field, args.id.as_ref(), &args.labels);
    let labels = args.label.as_deref().map(labels).transpose()?;
    let metrics = score::configure(registry, &score)?;
    files.check_metrics(&metrics)?;
    let inputs = [NamedFile::from(&*args.run)];
    #[cfg(feature = "lm")]
    if args.options.lm.estimate {
        return Run::new(registry, &score, &inputs, metrics)?.estimate();
    }
    let rejudged = Rejudged {
        registry,
        args,
        old: &old,
        metrics: &score.metrics,
        labels: labels.as_ref(),
    };
    rejudged.check()?;
    let run = Run::new(registry, &score, &inputs, metrics)?;
    run.settings()
        .scope_sync(|| judges::check(&old, &run.metrics, &score.metrics))?;
    args.options.warn(run.unused_warnings());
    let result = run.evaluate()?;
    #[cfg(feature = "lm")]
    args.options.warn(run.usage(Some(&result)));
    if let Some(exit) = run.unfinished(&result)? {
        print_error("the judges are not compared");
        return Ok(exit);
    }
    let violations = run.violations(&result);
    let name = args.out.as_deref().unwrap_or(Path::new("the new judge"));
    let new = Results::of(&result)?.with_name(name.to_string_lossy());
    let report = rejudged.report(&new)?;
    let printed = print_report(args.json, &report, || report.text())?;
    violations.iter().for_each(print_error);
    Ok(match violations.is_empty() {
        true => printed,
        false => ExitCode::FAILURE,
    })
}

/// The `--json` output.
#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    /// Compares the run with the old judge (A) and the run with the new judge (B).
    comparison: Comparison,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    labels: Option<Closer<'a>>,
}

/// Says which judge is closer to the labels.
#[derive(Serialize)]
struct Closer<'a> {
    label: &'a str,
    /// The number of rows without a label.
    without_label: usize,
    /// The number of labels whose ids are not in the run.
    labels_without_row: u64,
    closer: IndexMap<String, CloserJudge>,
}

#[derive(Serialize)]
struct CloserJudge {
    /// `right`, the share of rows whose verdict equals the label, or `absolute_difference`, the difference from the
    /// label.
    measure: &'static str,
    /// The models used by the run and by the new judge.
    judges: [String; 2],
    #[serde(flatten)]
    comparison: MetricComparison,
}

impl Report<'_> {
    fn text(&self) -> String {
        let mut text = self.comparison.to_string();
        let Some(labels) = &self.labels else {
            return text;
        };
        text.push_str(&format!("\nagainst {}", escape::name(labels.label)));
        if labels.without_label > 0 {
            text.push_str(&format!("; {} rows have no label", labels.without_label));
        }
        if labels.labels_without_row > 0 {
            let without = labels.labels_without_row;
            text.push_str(&format!("; {without} labels have no row"));
        }
        text.push('\n');
        for (name, judges) in &labels.closer {
            let [a, b] = &judges.judges;
            let sentence = judges.comparison.closer_sentence([a, b]);
            text.push_str(&format!("{}: {sentence}\n", escape::name(name)));
        }
        text
    }
}

/// A run whose judges are replaced, and the settings used to compare the old judges with the new ones.
struct Rejudged<'a> {
    registry: &'a Registry,
    args: &'a RejudgeArguments,
    old: &'a Results,
    metrics: &'a [String],
    labels: Option<&'a Labels>,
}

impl<'a> Rejudged<'a> {
    /// Checks before the first call that the new scores can be compared with the run's scores, and both with the
    /// labels.
    fn check(&self) -> Result<()> {
        let builder = self.comparison().metrics(self.metrics);
        builder.of(self.old, self.old)?;
        let closer = self.labels.map(|labels| self.closer(labels, self.old));
        closer.transpose().map(drop)
    }

    fn report(&self, new: &Results) -> Result<Report<'a>> {
        let builder = self.comparison().metrics(self.metrics);
        let comparison = builder.allow_different(self.metrics).of(self.old, new)?;
        let labels = self.labels.map(|labels| self.closer(labels, new));
        Ok(Report {
            format: FORMAT,
            comparison,
            labels: labels.transpose()?,
        })
    }

    /// Returns the settings for comparing the run with a different judge.
    fn comparison(&self) -> ComparisonBuilder {
        let builder = Comparison::builder().seed(self.args.seed);
        let group = self.old.manifest().and_then(|it| it.run.group.as_ref());
        set(builder, group, ComparisonBuilder::group)
    }

    /// Says which judge is closer to the labels.
    fn closer(&self, labels: &Labels, new: &Results) -> Result<Closer<'a>> {
        let runs = [self.old, new];
        let metrics = self.metrics.iter();
        let measured = metrics.map(|name| Ok((name.clone(), self.closeness(name, labels, new)?)));
        let measured = measured.collect::<Result<IndexMap<_, _>>>()?;
        let closer = |comparison: MetricComparison| {
            let name = comparison.name.clone();
            let closer = CloserJudge {
                measure: match measured.get(&name).is_some_and(|it| it.is_right) {
                    true => "right",
                    false => "absolute_difference",
                },
                judges: judge_names(runs, &name),
                comparison,
            };
            (name, closer)
        };
        let compared = self.comparison().closer(runs, &measured)?.into_iter();
        let without = labels.labels.iter().filter(|label| label.is_missing());
        Ok(Closer {
            label: self.args.label.as_deref().unwrap_or_default(),
            without_label: without.count(),
            labels_without_row: labels.without_row,
            closer: compared.map(closer).collect(),
        })
    }

    /// Returns how close both judges are to the labels on the old run's rows. If there is no new run yet, a score
    /// without a verdict counts as different, because it could be any number.
    fn closeness(&self, name: &str, labels: &Labels, new: &Results) -> Result<Closeness> {
        let (old, args) = (self.old, self.args);
        let against = |reason: &dyn Display| {
            let label = escape::name(args.label.as_deref().unwrap_or_default());
            err!("`{}` against `{label}`: {reason}", escape::name(name))
        };
        let mut rows = Vec::with_capacity(2 * old.rows().len());
        for run in [old, new] {
            for (row, label) in old.rows().iter().zip(&labels.labels) {
                let row = run.row(&row.id);
                let score = row.and_then(|row| row.scores.get(name));
                let rating = match score.map_or(Rating::from(None::<bool>), agree::rating_of) {
                    Rating::Score(_) if std::ptr::eq(old, new) => Rating::Score(0.5),
                    rating => rating,
                };
                rows.push((rating, label.clone()));
            }
        }
        let identity = old.manifest().and_then(|it| it.run.metrics.get(name));
        let direction = identity.map(MetricIdentity::direction);
        let builder = args.labels.agreement(self.registry, name, direction)?;
        let closeness = builder.closeness(&rows).map_err(|error| against(&error))?;
        closeness.ok_or_else(|| {
            against(&"the labels are verdicts, but the scores have none; pass --threshold X")
        })
    }
}

/// Returns a metric's models in both runs, without their endpoints.
fn judge_names(runs: [&Results; 2], metric: &str) -> [String; 2] {
    let names = runs.map(|run| {
        let identity = run.manifest().and_then(|it| it.run.metrics.get(metric));
        let models = identity.map_or(&[][..], MetricIdentity::models).iter();
        let ids = models.map(|model| model.split_once(" at ").map_or(&**model, |(id, _)| id));
        escape::name(&Vec::from_iter(ids).join(" and ")).into_owned()
    });
    match &names {
        [a, b] if a == b => [format!("{a} (A)"), format!("{b} (B)")],
        _ => names,
    }
}
