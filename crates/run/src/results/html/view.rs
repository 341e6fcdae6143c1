//! The sections of the page above the table of rows, as JSON for the template.

use std::path::Path;

use serde_json::{Value, json};

use super::change::Changes;
use super::chart::{self, Range, scored_values};
use super::facts::{about, metric_settings, usage};
use super::groups::{Groups, MAX_PARTS, part_entries, parts};
use super::labels::{LABELS, Metric, count, plural};
use super::report::HtmlReport;
use super::run::ReportRun;
use super::table_rows::TableRows;
use crate::contract::ScoreKind;
use crate::contract::score::OFFLINE_JUDGE;
use crate::results::figures::{Counts, Figures, figures_of};
use crate::results::{ResultsError, thousands};

/// The report with its runs, groups and changes.
pub(super) struct View<'a> {
    pub(super) runs: &'a [&'a ReportRun<'a>],
    pub(super) metrics: Vec<Metric<'a>>,
    pub(super) groups: Option<Groups<'a>>,
    pub(super) changes: Changes,
    pub(super) table: TableRows,
}

impl<'a> View<'a> {
    pub(super) fn new(
        report: &HtmlReport<'_>,
        runs: &'a [&'a ReportRun<'a>],
    ) -> Result<Self, ResultsError> {
        report.check_directions(runs)?;
        let groups = report.group.as_deref();
        let groups = groups.map(|field| Groups::of(field, runs)).transpose()?;
        let changes = Changes::new(report, runs)?;
        let metric = |(name, kind)| Metric {
            name,
            kind,
            is_compared: changes.identity.is_compared(name),
            is_lower_better: report.is_lower_better(name, runs),
        };
        let metrics: Vec<_> = kinds(runs).into_iter().map(metric).collect();
        let table = TableRows::of(runs, &metrics);
        Ok(Self {
            runs,
            metrics,
            groups,
            changes,
            table,
        })
    }

    /// Returns the variables of the template.
    pub(super) fn page(&self, report: &HtmlReport<'_>) -> Value {
        let Self { runs, .. } = self;
        let field = report.group.as_deref();
        let has_more = |metric: &Metric<'_>| parts(metric.name, runs).len() > MAX_PARTS;
        let parts_note = format!("Only the first {MAX_PARTS} parts of each metric are shown.");
        let notes = [
            Some(method(field)),
            self.metrics.iter().any(has_more).then_some(parts_note),
            self.groups.as_ref().and_then(Groups::note),
        ];
        let of_run = |(place, run): (usize, &&ReportRun<'_>)| {
            let (label, class) = LABELS[place];
            let name = Path::new(run.name())
                .file_name()
                .map(|name| name.to_string_lossy());
            let name = name.unwrap_or_else(|| run.name().into());
            json!({"label": label, "class": class, "name": name, "rows": plural(run.len() as u64, "row")})
        };
        json!({
            "title": report.title.clone().unwrap_or_else(|| title(runs)),
            "is_comparison": runs.len() == 2,
            "runs": runs.iter().enumerate().map(of_run).collect::<Vec<_>>(),
            "pairing": pairing(runs),
            "about": about(runs),
            "differences": self.changes.identity.notes,
            "metrics": self.metrics.iter().map(|it| self.metric(it)).collect::<Vec<_>>(),
            "notes": notes.into_iter().flatten().collect::<Vec<_>>(),
            "group": field,
            "usage": usage(runs),
            "rule": self.table.rule(runs.len() == 2),
        })
    }

    fn metric(&self, metric: &Metric<'_>) -> Value {
        let Metric { name, kind, .. } = *metric;
        let figures = self.runs.iter().map(|run| {
            let scores = run.scores.column(name).enumerate();
            let scores = scores.map(|(row, score)| (score, run.scores.group_number(row)));
            let has_groups = self.groups.is_some();
            let (mut counts, figures) = figures_of(scores, (&run.scores, name), kind, has_groups);
            let figures = figures.of_part(&run.scores, name);
            if let Some(totals) = run.totals.metrics.get(name) {
                counts.missing = totals.missing;
                counts.judged_offline = totals.judged_offline;
            }
            (counts, figures)
        });
        let figures: Vec<(Counts, Figures)> = figures.collect();
        let overall: Vec<_> = figures.iter().map(|(_, figures)| figures.mean).collect();
        let scored: Vec<Vec<f64>> = self
            .runs
            .iter()
            .map(|run| scored_values(run, name))
            .collect();
        let range = Range::of(scored.iter().flatten().copied());
        let of_run = |(run, (counts, of_run)): (usize, &(Counts, Figures))| {
            let offline = plural(counts.judged_offline, "row");
            let offline = format!("{offline} judged by {OFFLINE_JUDGE}");
            let mut shown = run_figures(run, of_run, &range, None);
            shown["is_missing"] = of_run.mean.is_none().into();
            shown["has_interval"] = of_run.ci95().is_some().into();
            shown["counts"] = counts_of(counts, of_run, kind).into();
            shown["notes"] = json!(Vec::from_iter(
                (counts.judged_offline > 0).then_some(offline)
            ));
            shown
        };
        let groups = self.groups.as_ref();
        let groups = groups.map(|groups| groups.entries(metric, self, &overall, range));
        json!({
            "name": name,
            "lower_is_better": metric.is_lower_better,
            "runs": figures.iter().enumerate().map(of_run).collect::<Vec<_>>(),
            "change": self.changes.of(name),
            "settings": metric_settings(name, self.runs),
            "chart": chart::histogram(name, kind, &scored),
            "parts": part_entries(name, self),
            "groups": groups.unwrap_or_default(),
        })
    }
}

/// Returns the figures of a run; `reference` is the mean over all groups.
pub(super) fn run_figures(
    run: usize,
    figures: &Figures,
    range: &Range,
    reference: Option<f64>,
) -> Value {
    let (label, class) = LABELS[run];
    json!({
        "label": label,
        "class": class,
        "value": figures.value(),
        "interval": figures.interval(),
        "scale": range.track(figures, reference),
    })
}

/// Returns the metrics of all runs. One that returns bools in one run and numbers in the other is shown as numbers.
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

/// Returns the file name of each run, without folder and extension.
fn title(runs: &[&ReportRun<'_>]) -> String {
    let stem = |run: &&ReportRun<'_>| {
        let stem = Path::new(run.name()).file_stem();
        stem.map_or(run.name().to_owned(), |stem| {
            stem.to_string_lossy().into_owned()
        })
    };
    runs.iter().map(stem).collect::<Vec<_>>().join(" and ")
}

/// `1,188 rows in both, 2 only in A`
fn pairing(runs: &[&ReportRun<'_>]) -> Option<String> {
    let [a, b] = runs else { return None };
    let paired = (0..a.len())
        .filter(|row| b.find(a.id(*row)).is_some())
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
        Some(field) => format!("cluster-robust by {field}; for a single group, {of}"),
        None => of.to_owned(),
    };
    format!(
        "95% intervals: {interval}. Failed rows count as the failure score in the mean; gated, skipped and abstained rows are excluded from every mean."
    )
}

/// Returns the denominators: rows in the mean, failed rows, and rows in no mean.
fn counts_of(counts: &Counts, figures: &Figures, kind: ScoreKind) -> Vec<Value> {
    let in_mean = match kind {
        ScoreKind::Bool => {
            let (passed, of) = (figures.passed.successes, thousands(figures.passed.trials));
            count(passed, format!("of {of} true"))
        }
        ScoreKind::Number | ScoreKind::Corpus => {
            let of = thousands(counts.rows());
            count(counts.scored, format!("of {of} scored"))
        }
    };
    let mut failed = count(counts.failed, "failed");
    failed["is_alarm"] = (counts.failed > 0).into();
    let others = [
        (counts.gated, "gated"),
        (counts.skipped, "skipped"),
        (counts.abstained, "abstained"),
        (counts.not_needed, "not needed"),
        (counts.not_sampled, "not sampled"),
        (counts.absent, "without a result"),
        (counts.missing, "with a missing field"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(number, text)| count(number, text));
    [in_mean, failed].into_iter().chain(others).collect()
}
