//! The sections of the page above the table of rows, as the template prints them.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use super::about::{MetricSettings, about, metric_settings};
use super::change::{Change, Changes};
use super::chart::{Chart, Range, Track, scored_values};
use super::entry::Entry;
use super::error::HtmlError;
use super::facts::Fact;
use super::groups::{self, Groups};
use super::labels::{CountView, LABELS, plural};
use super::parts;
use super::report::HtmlReport;
use super::run::ReportRun;
use super::source::Source;
use super::table_rows::TableRows;
use super::usage::Usage;
use crate::core::spec::ScoreKind;
use crate::results::figures::{Counts, Figures, figures_of};
use crate::results::thousands;

#[derive(Debug, Serialize)]
pub(super) struct View<'a> {
    title: String,
    is_comparison: bool,
    runs: Vec<RunView>,
    /// How the rows of two runs are paired.
    pairing: Option<String>,
    /// What was measured, by the manifests.
    about: Vec<Fact>,
    /// How the manifests of two runs differ, apart from their metrics.
    differences: Vec<String>,
    metrics: Vec<MetricView>,
    /// How the intervals were computed, and what is not shown.
    notes: Vec<String>,
    /// The field of the groups.
    group: Option<String>,
    usage: Option<Usage>,
    /// Which rows the table has, if it does not have all.
    rule: Option<String>,
    #[serde(skip)]
    pub(super) table: TableRows,
    #[serde(skip)]
    pub(super) kinds: Vec<(&'a str, ScoreKind)>,
    /// The metrics that are not compared, since they differ.
    #[serde(skip)]
    pub(super) different: HashSet<String>,
}

/// The label of a run: letter and style; both empty if there is only one.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RunView {
    label: &'static str,
    class: &'static str,
    name: String,
    rows: String,
}

#[derive(Debug, Serialize)]
struct MetricView {
    name: String,
    lower_is_better: bool,
    runs: Vec<FiguresView>,
    change: Option<Change>,
    settings: Vec<MetricSettings>,
    chart: Option<Chart>,
    parts: Vec<Entry>,
    groups: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct FiguresView {
    label: &'static str,
    class: &'static str,
    value: String,
    is_missing: bool,
    interval: String,
    has_interval: bool,
    scale: Track,
    counts: Vec<CountView>,
    notes: Vec<String>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        report: &HtmlReport<'_>,
        runs: &'a [&'a ReportRun<'_>],
    ) -> Result<Self, HtmlError> {
        let kinds = kinds(runs);
        report.check_directions(runs)?;
        let groups = match &report.group {
            Some(field) => Some(Groups::of(field, runs)?),
            None => None,
        };
        let source = Source {
            report,
            runs,
            groups,
            changes: Changes::new(report, runs)?,
        };
        let notes = [
            Some(method(report.group.as_deref())),
            parts::note(&kinds, &source),
            source.groups.as_ref().and_then(Groups::note),
        ];
        let metrics = kinds
            .iter()
            .map(|(name, kind)| MetricView::new(name, *kind, &source));
        let identity = &source.changes.identity;
        let different: HashSet<_> = identity
            .not_compared()
            .map(|(name, _)| name.to_owned())
            .collect();
        let table = TableRows::of(&source, &kinds, &different);
        Ok(Self {
            title: report.title.clone().unwrap_or_else(|| title(runs)),
            is_comparison: runs.len() == 2,
            runs: runs
                .iter()
                .enumerate()
                .map(|(place, run)| RunView::new(place, run))
                .collect(),
            pairing: pairing(runs),
            about: about(runs),
            differences: identity.notes.clone(),
            metrics: metrics.collect(),
            notes: notes.into_iter().flatten().collect(),
            group: report.group.clone(),
            usage: Usage::new(runs),
            rule: table.rule(runs.len() == 2),
            table,
            different,
            kinds,
        })
    }
}

/// The metrics of all runs. One that returns bools in one run and numbers in the other is shown as numbers.
fn kinds<'a>(runs: &[&'a ReportRun<'_>]) -> Vec<(&'a str, ScoreKind)> {
    let mut kinds: Vec<(&str, Option<ScoreKind>)> = Vec::new();
    for run in runs {
        for name in run.metrics() {
            let kind = run.scores.run.kind(name);
            match kinds.iter_mut().find(|(known, _)| *known == name) {
                None => kinds.push((name, kind)),
                Some((_, known)) if kind == Some(ScoreKind::Number) => *known = kind,
                Some((_, known)) => *known = known.or(kind),
            }
        }
    }
    let number = |kind: Option<ScoreKind>| kind.unwrap_or(ScoreKind::Number);
    kinds
        .into_iter()
        .map(|(name, kind)| (name, number(kind)))
        .collect()
}

/// The file without folder and extension, of each run.
fn title(runs: &[&ReportRun<'_>]) -> String {
    let stem = |run: &&ReportRun<'_>| {
        let stem = Path::new(run.name())
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| run.name().to_owned())
    };
    runs.iter().map(stem).collect::<Vec<_>>().join(" and ")
}

/// `1,188 rows in both, 2 only in A`
fn pairing(runs: &[&ReportRun<'_>]) -> Option<String> {
    let [a, b] = runs else { return None };
    let paired = (0..a.len())
        .filter(|row| b.find(a.id(*row), *row).is_some())
        .count();
    let mut text = format!("{} rows in both", thousands(paired as u64));
    if a.has_positional() || b.has_positional() {
        text.push_str(", paired by position");
    }
    for (run, (label, _)) in runs.iter().zip(LABELS) {
        let single = run.len() - paired;
        if single > 0 {
            text.push_str(&format!(", {} only in {label}", thousands(single as u64)));
        }
    }
    Some(text)
}

fn method(group: Option<&str>) -> String {
    let of = "Wilson's for true or false, Student's t for numbers";
    let interval = match group {
        Some(field) => format!("cluster-robust by {field}; of a single group, {of}"),
        None => of.to_owned(),
    };
    format!(
        "95% intervals: {interval}. A failed row counts as the failure score in the mean; gated, skipped and abstained rows are in no mean."
    )
}

impl RunView {
    fn new(place: usize, run: &ReportRun<'_>) -> Self {
        let (label, class) = LABELS[place];
        let name = Path::new(run.name())
            .file_name()
            .map(|name| name.to_string_lossy());
        let name = name.unwrap_or_else(|| run.name().into()).into_owned();
        let rows = run.len() as u64;
        Self {
            label,
            class,
            name,
            rows: plural(rows, "row"),
        }
    }
}

impl MetricView {
    fn new(name: &str, kind: ScoreKind, source: &Source<'_, '_>) -> Self {
        let Source {
            runs,
            groups,
            changes,
            ..
        } = source;
        let figures = runs.iter().map(|run| {
            let scores = run.scores.column(name).enumerate();
            let scores = scores.map(|(row, score)| (score, run.scores.group_number(row)));
            let (mut counts, figures) =
                figures_of(scores, (&run.scores, name), kind, groups.is_some());
            if let Some(totals) = run.totals.metrics.get(name) {
                counts.missing = totals.missing;
                counts.judged_offline = totals.judged_offline;
            }
            (counts, figures)
        });
        let figures: Vec<(Counts, Figures)> = figures.collect();
        let overall: Vec<_> = figures.iter().map(|(_, figures)| figures.mean).collect();
        let scored: Vec<Vec<f64>> = runs.iter().map(|run| scored_values(run, name)).collect();
        let range = Range::of(scored.iter().flatten().copied());
        let views = figures.iter().enumerate();
        let views = views.map(|(run, of)| FiguresView::new(run, of, kind, &range));
        Self {
            name: name.to_owned(),
            lower_is_better: source.is_lower_better(name),
            runs: views.collect(),
            change: changes.of(name),
            settings: metric_settings(name, runs),
            chart: Chart::new(name, kind, &scored),
            parts: parts::entries(name, source),
            groups: groups::entries((name, kind), source, &overall, range),
        }
    }
}

impl FiguresView {
    fn new(run: usize, of: &(Counts, Figures), kind: ScoreKind, range: &Range) -> Self {
        let (counts, figures) = of;
        let (label, class) = LABELS[run];
        let mut notes = Vec::new();
        if counts.judged_offline > 0 {
            let rows = plural(counts.judged_offline, "row");
            notes.push(format!(
                "{rows} judged by {}",
                crate::core::score::OFFLINE_JUDGE
            ));
        }
        Self {
            label,
            class,
            value: figures.value(),
            is_missing: figures.mean.is_none(),
            interval: figures.interval(),
            has_interval: figures.ci95().is_some(),
            scale: range.track(figures, None),
            counts: counts_view(counts, figures, kind),
            notes,
        }
    }
}

/// The denominators: the rows in the mean, failed rows, and rows that are in no mean.
fn counts_view(counts: &Counts, figures: &Figures, kind: ScoreKind) -> Vec<CountView> {
    let mut views = match kind {
        ScoreKind::Bool => {
            let (passed, of) = (figures.passed.successes, thousands(figures.passed.trials));
            vec![CountView::new(passed, format!("of {of} true"))]
        }
        ScoreKind::Number | ScoreKind::Corpus => {
            vec![CountView::new(
                counts.scored,
                format!("of {} scored", thousands(counts.rows())),
            )]
        }
    };
    views.push(CountView {
        is_alarm: counts.failed > 0,
        ..CountView::new(counts.failed, "failed")
    });
    let others = [
        (counts.gated, "gated"),
        (counts.skipped, "skipped"),
        (counts.abstained, "abstained"),
        (counts.absent, "without a result"),
        (counts.missing, "with a missing field"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    views.extend(others.map(|(count, text)| CountView::new(count, text)));
    views
}
