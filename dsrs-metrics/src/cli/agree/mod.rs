//! `agree`: the metrics of a result file against labels.
//!
//! Results are read in `results.rs`, labels in `labels.rs`, what is wrong with them is said in
//! `error.rs`. The figures are those of `agreement/`.

mod error;
mod labels;
mod results;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use indexmap::IndexMap;
use serde::Serialize;

use super::args::AgreeArguments;
use super::error::CliError;
use super::output::print;
use super::registry::Registry;
use crate::agreement::{Agreement, Label, Rating};
use crate::core::score::OFFLINE_JUDGE;
use crate::core::spec::Direction;
use crate::text::suggest::nearest;
pub(super) use error::AgreeError;
use error::Place;
use labels::Labels;
use results::Results;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    rows: usize,
    label: &'a str,
    /// Labels of rows that the results do not have.
    labels_without_row: u64,
    metrics: IndexMap<&'a str, Measured>,
}

#[derive(Serialize)]
struct Measured {
    #[serde(flatten)]
    agreement: Agreement,
    /// Rows that no model judged.
    #[serde(skip_serializing_if = "is_zero")]
    judged_offline: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this form")]
fn is_zero(rows: &u64) -> bool {
    *rows == 0
}

pub(super) fn run(registry: &Registry, args: &AgreeArguments) -> Result<ExitCode, CliError> {
    let both = [Some(&args.results), args.labels.as_ref()];
    if both.iter().flatten().filter(|file| file.as_os_str() == "-").count() > 1 {
        return Err(CliError::StandardInputTwice);
    }
    let mut results = results::read(&args.results, &args.metrics, &args.label)?;
    check_metrics(&results, args)?;
    let labels = match &args.labels {
        Some(file) => labels::read(file, &args.label, &args.results, &results.ids)?,
        None => std::mem::take(&mut results.labels),
    };
    labels.check(label_file(args), &args.label)?;
    let mut metrics = IndexMap::new();
    for (name, ratings) in &results.ratings {
        let agreement = agreement(registry, name, ratings, &results, &labels, args)?;
        let judged_offline = results.judged_offline.get(name).copied().unwrap_or(0);
        metrics.insert(name.as_str(), Measured { agreement, judged_offline });
    }
    let report = Report {
        rows: results.ids.len(),
        label: &args.label,
        labels_without_row: labels.without_row,
        metrics,
    };
    print(&if args.json { report.json()? } else { report.text() })?;
    Ok(ExitCode::SUCCESS)
}

/// Where the labels stand.
fn label_file(args: &AgreeArguments) -> &Path {
    args.labels.as_ref().unwrap_or(&args.results)
}

/// That every metric that was asked for has a rating somewhere.
fn check_metrics(results: &Results, args: &AgreeArguments) -> Result<(), AgreeError> {
    let absent = Rating::from(None::<bool>);
    let missing = |name: &&String| results.ratings[*name].iter().all(|rating| *rating == absent);
    match args.metrics.iter().find(missing) {
        None => Ok(()),
        Some(name) => Err(AgreeError::NoMetric {
            file: args.results.clone(),
            name: name.clone(),
            nearest: nearest(name, results.known.iter().map(String::as_str))
                .filter(|nearest| nearest != name)
                .map(str::to_owned),
            known: results.known.clone(),
        }),
    }
}

fn agreement(
    registry: &Registry,
    name: &str,
    ratings: &[Rating],
    results: &Results,
    labels: &Labels,
    args: &AgreeArguments,
) -> Result<Agreement, AgreeError> {
    let lower_is_better =
        registry.get(name).is_some_and(|entry| entry.spec().direction == Direction::LowerIsBetter);
    let mut builder = Agreement::builder()
        .lower_is_better(lower_is_better)
        .positive(args.positive.clone())
        .scale(args.scale.clone())
        .seed(args.seed);
    if let Some(threshold) = args.threshold {
        builder = builder.threshold(threshold);
    }
    let pairs = ratings.iter().cloned().zip(labels.labels.iter().cloned());
    let agreement = builder.of(pairs).map_err(|error| {
        let at = error.row().map_or_else(
            || Place::File(args.results.clone()),
            |row| {
                let of_label = labels.places.get(row).cloned().flatten();
                Place::Line(of_label.unwrap_or_else(|| results.places[row].clone()))
            },
        );
        let (metric, field, error) = (name.to_owned(), args.label.clone(), Box::new(error));
        AgreeError::NotComparable { at, metric, field, error }
    })?;
    check_compared(&agreement, name, ratings, labels, args)?;
    Ok(agreement)
}

/// That there is something to agree on.
fn check_compared(
    agreement: &Agreement,
    name: &str,
    ratings: &[Rating],
    labels: &Labels,
    args: &AgreeArguments,
) -> Result<(), AgreeError> {
    let (metric, field) = (name.to_owned(), args.label.clone());
    let pairs = ratings.iter().zip(&labels.labels);
    let mut compared = pairs
        .filter(|(rating, label)| !rating.is_missing() && **label != Label::Missing)
        .map(|(_, label)| label);
    let Some(first) = compared.next() else {
        let labelled = labels.labels.iter().filter(|label| **label != Label::Missing).count();
        let scored = agreement.compared + agreement.without_label;
        let (file, labelled) = (args.results.clone(), labelled as u64);
        return Err(AgreeError::NothingInCommon { file, metric, field, scored, labelled });
    };
    if agreement.compared > 1 && compared.all(|label| label == first) {
        let (file, rows) = (label_file(args).to_path_buf(), agreement.compared);
        let label = first.to_string();
        return Err(AgreeError::OneClass { file, metric, field, rows, label });
    }
    Ok(())
}

impl Report<'_> {
    fn json(&self) -> Result<String, CliError> {
        let json = serde_json::to_string(self)
            .map_err(|error| CliError::StandardOutput(io::Error::other(error)))?;
        Ok(format!("{json}\n"))
    }

    fn text(&self) -> String {
        let table = |(name, Measured { agreement, judged_offline }): (&&str, &Measured)| {
            let label = self.label;
            let by = match judged_offline {
                0 => String::new(),
                rows => format!(" ({rows} rows with judge: {OFFLINE_JUDGE})"),
            };
            format!("{name} against {label}{by}\n{agreement}\n")
        };
        let mut text = self.metrics.iter().map(table).collect::<Vec<_>>().join("\n");
        if self.labels_without_row > 0 {
            let labels = if self.labels_without_row == 1 { "label has" } else { "labels have" };
            text.push_str(&format!(
                "\n{} {labels} no row in the results\n",
                self.labels_without_row
            ));
        }
        text
    }
}
