//! `agree`: compares the metrics of a result file with labels.
//!
//! `results.rs` reads results, `labels.rs` reads labels. The statistics are in `agreement/`.

mod labels;
mod results;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use indexmap::IndexMap;
use serde::Serialize;

use super::args::{AgreeArguments, FileArguments};
use super::error::{Result, err};
use super::files::Files;
use super::from::InputFile;
use super::own_scores::OwnScoreArguments;
use super::runs::check_unique;
use super::stdio::{print, print_json};
use crate::agreement::{Agreement, Rating};
use crate::contract::score::OFFLINE_JUDGE;
use crate::contract::{Direction, MetricIdentity};
use crate::data::{DataReader, Mapping};
use crate::evaluate::{JudgeReplies, JudgedBy};
use crate::messages::escape;
use crate::messages::suggest::known_names;
use crate::metrics::Registry;
use crate::results::{FORMAT, ResultsError, RunManifest};
use results::Results;

pub(super) use labels::Labels;
pub(super) use results::rating_of;

/// The output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    rows: usize,
    label: &'a str,
    /// The number of labels whose id is not in the results.
    labels_without_row: u64,
    /// `true` if labels from a file and rows without ids were paired by position.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paired_by_position: bool,
    /// What the run measured, if the results have a manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a RunManifest>,
    /// Why the identity is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_identity: Option<&'a str>,
    metrics: IndexMap<&'a str, Measured<'a>>,
    /// The ids of the rows to label next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<&'a str>,
}

#[derive(Serialize)]
struct Measured<'a> {
    /// What the metric is, for the text. In JSON, this is part of the run.
    #[serde(skip)]
    identity: Option<&'a MetricIdentity>,
    /// `true` if this program's code for the metric differs from the code that made the scores.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_other_code: bool,
    /// The models that answered for its judges, as their providers reported them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    judged_by: Vec<JudgedBy>,
    #[serde(flatten)]
    agreement: Agreement,
    /// The number of rows that were judged offline, without a model.
    #[serde(skip_serializing_if = "is_zero")]
    judged_offline: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires this signature"
)]
fn is_zero(rows: &u64) -> bool {
    *rows == 0
}

pub(super) fn run(registry: &Registry, args: &AgreeArguments) -> Result<ExitCode> {
    Files::new()
        .read("RESULTS", [&args.results])
        .read("--labels", &args.labels)
        .check()?;
    check_unique(&args.metrics)?;
    let has_rows = !args.scores.is_empty() || args.labels.is_some();
    args.files.check(has_rows, "--labels or --score")?;
    let own = OwnScoreArguments {
        scores: args.scores.clone(),
        mappings: args.id.clone().into_iter().collect(),
        files: match args.scores.is_empty() {
            true => FileArguments::default(),
            false => args.files.clone(),
        },
    };
    if own.scores.is_empty() && args.labels.is_none() && args.id.is_some() {
        return Err(err!("--map id=.. needs --labels or --score; remove it"));
    }
    let file = InputFile::open_scores(&own, args.from, &args.results, args.labels.is_some())?;
    let results = results::read(file.named(), &args.metrics, &args.label);
    let mut results = results.map_err(|error| args.from.advise(error, [&args.results]))?;
    args.from
        .check_has_scores(&args.results, results.known.len())?;
    if let (true, Err(reason)) = (args.require_identity, &results.manifest) {
        let file = args.results.display().to_string();
        return Err(ResultsError::unknown_identity(&file, reason).into());
    }
    check_metrics(&results, args)?;
    let (file, reader) = (args.labels.as_deref(), args.files.reader());
    let labels = labels_of(&mut results, &args.label, file, args.id.as_ref(), &reader)?;
    if let (Some(_), [first, second, ..]) = (args.next, &*results.metrics().collect::<Vec<_>>()) {
        return Err(err!(
            "--next: expected one metric, found `{}` and `{}`; name one with -m",
            escape::name(first),
            escape::name(second)
        ));
    }
    let (mut metrics, mut next) = (IndexMap::new(), Vec::new());
    for name in results.metrics() {
        let (agreement, rows) = agreement(
            registry,
            name,
            &results.ratings(name),
            &results,
            &labels,
            args,
        )?;
        next.extend(rows.into_iter().map(|row| results.rows.id(row)));
        let measured = Measured {
            identity: results.identity(name),
            has_other_code: has_other_code(registry, name, &results, args)?,
            judged_by: results.judged_by(name),
            agreement,
            judged_offline: results.judged_offline(name),
        };
        metrics.insert(name, measured);
    }
    let report = Report {
        format: FORMAT,
        rows: results.rows.len(),
        label: &args.label,
        labels_without_row: labels.without_row,
        paired_by_position: args.labels.is_some() && results.rows.has_positional(),
        run: results.manifest.as_ref().ok().map(|manifest| &manifest.run),
        unknown_identity: results.manifest.as_ref().err().map(String::as_str),
        metrics,
        next,
    };
    if args.json {
        print_json(&report)?;
    } else {
        print(&report.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns `true` if the metric's code has changed since it made the scores.
fn has_other_code(
    registry: &Registry,
    name: &str,
    results: &Results,
    args: &AgreeArguments,
) -> Result<bool> {
    let current = registry.get(name).map(|entry| entry.spec());
    let current = current.map(|spec| MetricIdentity::of_other_program(&spec, BTreeMap::new()));
    let is_other = results
        .identity(name)
        .zip(current)
        .is_some_and(|(scored, it)| scored.has_other_code(&it));
    match is_other && args.strict_identity {
        true => Err(err!(
            "{}: the code of `{}` changed since these results were written; score the rows again, raise the metric's version if its meaning changed, or leave out --strict-identity",
            args.results.display(),
            escape::name(name)
        )),
        false => Ok(is_other),
    }
}

/// Reads the labels for another command, in the order of the result rows.
pub(super) fn labels(
    results: &Path,
    label: &str,
    labels: Option<&Path>,
    id: Option<&Mapping>,
    reader: &DataReader,
) -> Result<Labels> {
    let mut results = results::read(results.into(), &[], label)?;
    labels_of(&mut results, label, labels, id, reader)
}

/// Returns the labels in the file if there is one, otherwise those in the results.
fn labels_of(
    results: &mut Results,
    label: &str,
    file: Option<&Path>,
    id: Option<&Mapping>,
    reader: &DataReader,
) -> Result<Labels> {
    let labels = match file {
        Some(file) => labels::read((file, reader), label, id, results)?,
        None => std::mem::take(&mut results.labels),
    };
    labels.check(file.unwrap_or(&results.file), label)?;
    Ok(labels)
}

/// Checks that every selected metric has a rating in at least one row.
fn check_metrics(results: &Results, args: &AgreeArguments) -> Result<()> {
    match args.metrics.iter().find(|name| !results.is_rated(name)) {
        None => Ok(()),
        Some(name) => Err(err!(
            "{}: no row has a score for `{name}`{}",
            args.results.display(),
            known_names(name, results.known.iter().map(String::as_str))
        )),
    }
}

/// Returns the agreement of a metric, and the rows to label next.
fn agreement(
    registry: &Registry,
    name: &str,
    ratings: &[Rating],
    results: &Results,
    labels: &Labels,
    args: &AgreeArguments,
) -> Result<(Agreement, Vec<usize>)> {
    let direction = match results.identity(name) {
        Some(identity) => Some(identity.direction()),
        None => registry.get(name).map(|entry| entry.spec().direction),
    };
    let lower_is_better = direction == Some(Direction::LowerIsBetter);
    let mut builder = Agreement::builder()
        .lower_is_better(lower_is_better)
        .positive(args.positive.clone())
        .scale(args.scale.clone())
        .label_sample(args.label_sample.unwrap_or_default())
        .seed(args.seed);
    if let Some(rates) = args.error_rates {
        builder = builder.error_rates(rates);
    }
    if let Some(threshold) = &args.threshold {
        let range = registry.get(name).and_then(|entry| entry.spec().range);
        threshold.check("--threshold ", name, range, range)?;
        builder = builder.threshold(threshold.score);
    }
    let pairs = ratings.iter().cloned().zip(labels.labels.iter().cloned());
    let pairs: Vec<_> = pairs.collect();
    let id = |row| results.rows.id(row).to_owned();
    let next = args.next.map_or(Ok(Vec::new()), |count| {
        builder.next_labels(&pairs, id, count as usize)
    });
    let measured = builder
        .of(pairs)
        .and_then(|agreement| Ok((agreement, next?)));
    let (agreement, next) = measured.map_err(|error| {
        let at = match error.row() {
            Some(row) => {
                let of_label = labels.places.get(row).cloned().flatten();
                of_label.unwrap_or_else(|| results.rows.at(row)).to_string()
            }
            None => args.results.display().to_string(),
        };
        err!("{at}: `{name}` against `{}`: {error}", args.label)
    })?;
    if agreement.compared == 0 {
        let labelled = labels.labels.iter().filter(|label| !label.is_missing());
        return Err(err!(
            "{}: no row has both a score for `{name}` and a label `{}`; rows with a score: {}, rows with a label: {}",
            args.results.display(),
            args.label,
            agreement.without_label,
            labelled.count()
        ));
    }
    Ok((agreement, next))
}

impl Report<'_> {
    fn text(&self) -> String {
        let table = |(name, it): (&&str, &Measured<'_>)| {
            let Measured {
                identity,
                has_other_code,
                judged_by,
                agreement,
                judged_offline,
            } = it;
            let label = self.label;
            let by = match judged_offline {
                0 => String::new(),
                rows => format!(" ({rows} rows with judge: {OFFLINE_JUDGE})"),
            };
            let position = if self.paired_by_position {
                ", paired by position"
            } else {
                ""
            };
            let (name, label) = (escape::name(name), escape::name(label));
            let identity = identity.map_or_else(String::new, |it| format!("{it}\n"));
            let code = match has_other_code {
                true => format!(
                    "note: the code of `{name}` changed since these results were written; raise its version if its meaning changed\n"
                ),
                false => String::new(),
            };
            let replies = JudgeReplies::of_each(judged_by);
            let replies: String = replies.map(|replies| format!("{replies}\n")).collect();
            format!("{name} against {label}{by}{position}\n{identity}{code}{replies}{agreement}\n")
        };
        let mut text = self
            .metrics
            .iter()
            .map(table)
            .collect::<Vec<_>>()
            .join("\n");
        if let Some(run) = self.run {
            text.push_str(&format!("\nmeasured: {run}\n"));
        }
        if let Some(reason) = self.unknown_identity {
            text.push_str(&format!("\nidentity unknown: {reason}\n"));
        }
        if !self.next.is_empty() {
            let ids = self.next.iter().map(|id| escape::name(id));
            let ids = ids.collect::<Vec<_>>().join("\n");
            text.push_str(&format!("\nlabel these rows next:\n{ids}\n"));
        }
        match self.labels_without_row {
            0 => {}
            1 => text.push_str("\n1 label has no row in the results\n"),
            labels => text.push_str(&format!("\n{labels} labels have no row in the results\n")),
        }
        text
    }
}
