//! The `agree` command, which compares the metrics of a result file with labels.
//!
//! `labels.rs` reads the labels, and `agreement/` computes the statistics.

mod labels;

use std::collections::BTreeMap;
use std::process::ExitCode;

use indexmap::IndexMap;
pub(super) use labels::Labels;
use serde::Serialize;
use serde_json::Value;

use super::args::{AgreeArguments, FileArguments, LabelArguments};
use super::files::Files;
use super::from::InputFile;
use super::options::{check_unique, metric_of, set};
use super::output::{Result, err, print_report};
use super::own_scores::OwnScoreArguments;
use crate::agreement::{Agreement, AgreementBuilder, Rating};
use crate::contract::MetricIdentity;
use crate::contract::score::OFFLINE_JUDGE;
use crate::data::Mapping;
use crate::evaluate::{JudgeReplies, JudgedBy, JudgedByTally};
use crate::messages::escape;
use crate::messages::suggest::did_you_mean;
use crate::metrics::Registry;
use crate::results::{FORMAT, ResultRow, ResultScore, Results, ResultsError, RunManifest};

/// The `--json` output.
#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    rows: usize,
    label: &'a str,
    /// The threshold that replaces each metric's own threshold, for the text output.
    #[serde(skip)]
    threshold: Option<f64>,
    /// The number of labels whose ids are not in the results.
    labels_without_row: u64,
    /// `true` if the labels come from a file and were paired with rows by position, because the rows have no ids.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paired_by_position: bool,
    /// What the run measured, if the results have a manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a RunManifest>,
    /// The reason why the identity is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_identity: Option<&'a str>,
    metrics: IndexMap<&'a str, Measured<'a>>,
    /// The ids of the rows to label next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<&'a str>,
}

#[derive(Serialize)]
struct Measured<'a> {
    /// The metric's identity, for the text output. In JSON, this is part of the run.
    #[serde(skip)]
    identity: Option<&'a MetricIdentity>,
    /// `true` if this program's code for the metric differs from the code that computed the scores.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_other_code: bool,
    /// The models that replied to the metric's judges, as reported by their providers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    judged_by: Vec<JudgedBy>,
    #[serde(flatten)]
    agreement: Agreement,
    /// The number of rows that were judged offline, without a model, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_offline: Option<usize>,
}

pub(super) fn run(registry: &Registry, args: &AgreeArguments) -> Result<ExitCode> {
    Files::new()
        .read("RESULTS", [&args.results])
        .read("--labels", &args.labels.file)
        .check()?;
    check_unique(&args.metrics)?;
    let (has_labels, files) = (args.labels.file.is_some(), &args.labels.files);
    let has_rows = !args.scores.is_empty() || has_labels;
    files.check(has_rows, "--labels or --score")?;
    let own = OwnScoreArguments {
        scores: args.scores.clone(),
        mappings: args.id.clone().into_iter().collect(),
        files: match args.scores.is_empty() {
            true => FileArguments::default(),
            false => files.clone(),
        },
    };
    if !has_rows && args.id.is_some() {
        return Err(err!("--map id=.. needs --labels or --score; remove it"));
    }
    let file = InputFile::open_scores(&own, args.from, &args.results, has_labels)?;
    // Labels in the rows can be anywhere in them.
    let is_in_side = |side: &str| !has_labels && args.label.starts_with(side);
    let (in_gold, in_pred) = (is_in_side("gold."), is_in_side("pred."));
    let results = Results::read_shrunk(file.named(), |row| {
        row.drop_texts();
        row.gold = row.gold.take().filter(|_| in_gold);
        row.pred = row.pred.take().filter(|_| in_pred);
    });
    let results = results.map_err(|error| args.from.advise(error.into(), [&args.results]))?;
    args.from
        .check_has_scores(&args.results, results.metrics().len())?;
    if let (true, Some(reason)) = (args.require_identity, results.unknown_identity()) {
        let file = args.results.display().to_string();
        return Err(ResultsError::unknown_identity(&file, reason).into());
    }
    let names: Vec<&str> = match &*args.metrics {
        [] => results.metrics().collect(),
        named => named.iter().map(String::as_str).collect(),
    };
    let labels = labels(&results, &args.label, args.id.as_ref(), &args.labels)?;
    if args.next.is_some() && names.len() > 1 {
        return Err(err!(
            "--next: expected one metric, found {}; name one with -m",
            escape::names(names.into_iter())
        ));
    }
    let (mut metrics, mut next) = (IndexMap::new(), Vec::new());
    let rated_run = RatedRun {
        registry,
        args,
        results: &results,
        labels: &labels,
    };
    for name in names {
        let (agreement, rows) = rated_run.agreement(name)?;
        next.extend(rows.into_iter().map(|row| &*results.rows()[row].id));
        let judged_offline = scores(&results, metric_of(name)).filter(|it| it.is_judged_offline);
        let measured = Measured {
            identity: identity(&results, name),
            has_other_code: rated_run.has_other_code(name)?,
            judged_by: judged_by(&results, name),
            agreement,
            judged_offline: Some(judged_offline.count()).filter(|rows| *rows > 0),
        };
        metrics.insert(name, measured);
    }
    let report = Report {
        format: FORMAT,
        rows: results.rows().len(),
        label: &args.label,
        threshold: args.labels.threshold(),
        labels_without_row: labels.without_row,
        paired_by_position: has_labels && results.index().has_positional(),
        run: results.manifest().map(|manifest| &manifest.run),
        unknown_identity: results.unknown_identity(),
        metrics,
        next,
    };
    print_report(args.json, &report, || report.text())
}

fn identity<'r>(results: &'r Results, metric: &str) -> Option<&'r MetricIdentity> {
    results.manifest()?.run.metrics.get(metric)
}

fn scores<'r>(results: &'r Results, name: &'r str) -> impl Iterator<Item = &'r ResultScore> {
    let rows = results.rows().iter();
    rows.filter_map(move |row| row.scores.get(name))
}

/// Returns the replies to a metric's judges, either from the manifest or summed over the rows.
fn judged_by(results: &Results, metric: &str) -> Vec<JudgedBy> {
    let manifest = results.manifest();
    let in_manifest = manifest.and_then(|manifest| manifest.run.judged_by.get(metric));
    in_manifest.cloned().unwrap_or_else(|| {
        let mut tally = JudgedByTally::default();
        let replies = scores(results, metric).flat_map(ResultScore::replied_by);
        replies.for_each(|replied_by| tally.add(replied_by));
        tally.named()
    })
}

/// Returns the labels from the file if there is one, otherwise those in the results.
pub(super) fn labels(
    results: &Results,
    label: &str,
    id: Option<&Mapping>,
    args: &LabelArguments,
) -> Result<Labels> {
    let Some(file) = &args.file else {
        return Labels::in_results(results, label)?.checked(results.name(), label);
    };
    Labels::in_file(file, &args.files, id, results, label)?
        .checked(&file.display().to_string(), label)
}

struct RatedRun<'a> {
    registry: &'a Registry,
    args: &'a AgreeArguments,
    results: &'a Results,
    labels: &'a Labels,
}

impl RatedRun<'_> {
    /// Returns `true` if the metric's code has changed since it computed the scores.
    fn has_other_code(&self, name: &str) -> Result<bool> {
        let current = self.registry.get(name).map(|entry| entry.spec());
        let current = current.map(|spec| MetricIdentity::of_other_program(&spec, BTreeMap::new()));
        let both = identity(self.results, name).zip(current);
        let is_other = both.is_some_and(|(scored, it)| scored.has_other_code(&it));
        match is_other && self.args.strict_identity {
            true => Err(err!(
                "{}: the code of `{}` changed since these results were written; score the rows again, bump the metric's version if its meaning changed, or leave out --strict-identity",
                self.args.results.display(),
                escape::name(name)
            )),
            false => Ok(is_other),
        }
    }

    /// Returns the agreement for a metric, and the rows to label next.
    fn agreement(&self, name: &str) -> Result<(Agreement, Vec<usize>)> {
        let (registry, results, labels) = (self.registry, self.results, self.labels);
        let args = self.args;
        let direction = match identity(results, name) {
            Some(identity) => Some(identity.direction()),
            None => registry.get(name).map(|entry| entry.spec().direction),
        };
        let mut builder = args.labels.agreement(registry, name, direction)?;
        builder = builder
            .scale(args.scale.clone())
            .label_sample(args.label_sample.unwrap_or_default())
            .seed(args.seed);
        builder = set(builder, args.error_rates, AgreementBuilder::error_rates);
        let rows = results.rows().iter().zip(&labels.labels);
        let pairs = rows.map(|(row, label)| Ok((rating(row, name)?, label.clone())));
        let pairs = pairs.collect::<Result<Vec<_>>>()?;
        let id = |row: usize| results.rows()[row].id.clone();
        let next = args.next.map_or(Ok(Vec::new()), |count| {
            builder.next_labels(&pairs, id, count as usize)
        });
        let measured = builder.of(pairs);
        let measured = measured.and_then(|agreement| Ok((agreement, next?)));
        let (agreement, next) = measured.map_err(|error| {
            let at = error.row().map(|row| {
                let of_label = labels.places.get(row).cloned().flatten();
                of_label
                    .unwrap_or_else(|| results.rows()[row].at())
                    .to_string()
            });
            let at = at.unwrap_or_else(|| args.results.display().to_string());
            err!("{at}: `{name}` against `{}`: {error}", args.label)
        })?;
        if agreement.compared == 0 {
            let labelled = labels.labels.iter().filter(|label| !label.is_missing());
            let (file, label, labelled) = (args.results.display(), &args.label, labelled.count());
            let known = did_you_mean(name, results.metrics()).unwrap_or_default();
            return Err(err!(
                "{file}: no row has both a score for `{name}` and a label `{label}`; rows with a score: {}, rows with a label: {labelled}{known}",
                agreement.without_label
            ));
        }
        Ok((agreement, next))
    }
}

impl Report<'_> {
    fn text(&self) -> String {
        let table = |(name, it): (&&str, &Measured<'_>)| {
            let by = match it.judged_offline {
                None => String::new(),
                Some(rows) => format!(" ({rows} rows with judge: {OFFLINE_JUDGE})"),
            };
            let position = match self.paired_by_position {
                true => ", paired by position",
                false => "",
            };
            let (name, label) = (escape::name(name), escape::name(self.label));
            let threshold = self.threshold.map_or_else(String::new, |threshold| {
                format!(", with a threshold of {threshold}")
            });
            let identity = it.identity.map_or_else(String::new, |it| format!("{it}\n"));
            let code = match it.has_other_code {
                true => format!(
                    "note: the code of `{name}` changed since these results were written; bump its version if its meaning changed\n"
                ),
                false => String::new(),
            };
            let replies = JudgeReplies::of_each(&it.judged_by);
            let replies: String = replies.map(|replies| format!("{replies}\n")).collect();
            let agreement = &it.agreement;
            format!(
                "{name} against {label}{by}{position}{threshold}\n{identity}{code}{replies}{agreement}\n"
            )
        };
        let mut text = Vec::from_iter(self.metrics.iter().map(table)).join("\n");
        if let Some(run) = self.run {
            text.push_str(&format!("\nmeasured: {run}\n"));
        }
        if let Some(reason) = self.unknown_identity {
            text.push_str(&format!("\nidentity unknown: {reason}\n"));
        }
        if !self.next.is_empty() {
            let ids = Vec::from_iter(self.next.iter().map(|id| escape::name(id))).join("\n");
            text.push_str(&format!("\nlabel these rows next:\n{ids}\n"));
        }
        if self.labels_without_row > 0 {
            let labels = self.labels_without_row;
            text.push_str(&format!(
                "\nlabels without a row in the results: {labels}\n"
            ));
        }
        text
    }
}

fn absent() -> Rating {
    Rating::from(None::<bool>)
}

/// Returns a row's rating: the rating by a metric or, after a dot, by one of the metric's parts, components or metadata
/// entries.
fn rating(row: &ResultRow, name: &str) -> Result<Rating> {
    let (metric, part) = match name.split_once('.') {
        Some((metric, part)) => (metric, Some(part)),
        None => (name, None),
    };
    let Some(score) = row.scores.get(metric) else {
        return Ok(absent());
    };
    let Some(part) = part else {
        return Ok(rating_of(score));
    };
    if let Some(value) = score.parts.get(part) {
        return Ok(Rating::Score(*value));
    }
    if let Some(value) = score.metadata.get(part).filter(|value| !value.is_null()) {
        return rating_of_value(value).ok_or_else(|| {
            let scores = if row.is_flat { "" } else { "scores." };
            labels::invalid_field(&row.at(), &format!("{scores}{name}"), value)
        });
    }
    match score.components.get(part) {
        Some(component) => Ok(rating_of(component)),
        None if score.value.is_some() => Ok(absent()),
        None => Ok(rating_of(score)),
    }
}

pub(super) fn rating_of(score: &ResultScore) -> Rating {
    match (score.value, score.passed) {
        (None, _) => Rating::Missing(score.outcome.name().into()),
        (Some(score), Some(passed)) => Rating::Verdict { passed, score },
        (Some(score), None) => Rating::Score(score),
    }
}

fn rating_of_value(value: &Value) -> Option<Rating> {
    match value {
        Value::Bool(passed) => Some(Rating::from(*passed)),
        Value::String(class) => Some(Rating::Class(class.clone())),
        other => other.as_f64().map(Rating::Score),
    }
}
