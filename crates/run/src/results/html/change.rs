//! How the scores of two runs differ: the figures of [`Comparison`], as the page shows them.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde::Serialize;

use super::error::HtmlError;
use super::labels::{CountView, NOTHING};
use super::report::HtmlReport;
use super::run::ReportRun;
use crate::core::spec::ScoreKind;
use crate::messages::escape;
use crate::results::compare::{Places, check_allowed, check_rows};
use crate::results::{
    CompareError, Comparison, IdentityComparison, MetricComparison, PairedDifference, Verdict,
};
use crate::stats::decimals::decimals;

/// The comparison of the metrics that both runs have, over the rows that both have.
#[derive(Debug, Default)]
pub(super) struct Changes {
    comparison: Option<Comparison>,
    pub(super) identity: IdentityComparison,
    /// Why a metric cannot be compared.
    reasons: HashMap<String, String>,
}

impl Changes {
    /// # Errors
    /// [`HtmlError::Compare`] if the runs have no row in common, different gold rows, or different groups.
    pub(super) fn new(report: &HtmlReport<'_>, runs: &[&ReportRun<'_>]) -> Result<Self, HtmlError> {
        let mut changes = Self::default();
        let [ReportRun { scores: a, .. }, ReportRun { scores: b, .. }] = runs else {
            return Ok(changes);
        };
        // To `Comparison`, a name with a dot is a part of a metric.
        let is_compared = |name: &&str| !name.contains('.') && b.metrics().any(|it| it == *name);
        let mut names: IndexSet<String> =
            a.metrics().filter(is_compared).map(str::to_owned).collect();
        check_allowed(&a.run, &b.run, &report.allow_different).map_err(Box::new)?;
        changes.identity = IdentityComparison::of(
            &a.run,
            &b.run,
            &names,
            &report.allow_different,
            report.strict_identity,
            Places::default(),
        );
        names.retain(|name| changes.identity.is_compared(name));
        if names.is_empty() {
            check_rows(a, b).map_err(Box::new)?;
        }
        let allowed = report.allow_different.iter().map(String::as_str);
        let builder = Comparison::builder().only_paired(true).listed_rows(0);
        let builder = builder.strict_identity(report.strict_identity);
        let mut builder = builder.allow_different(allowed);
        if let Some(field) = &report.group {
            builder = builder.group(field);
        }
        while !names.is_empty() {
            let all = names.iter().map(String::as_str);
            let lower = all
                .clone()
                .filter(|name| report.is_lower_better(name, runs));
            let selected = builder.clone().metrics(all.clone()).lower_is_better(lower);
            let error = match selected.of_scores(a, b) {
                Ok(comparison) => {
                    changes.comparison = Some(comparison);
                    break;
                }
                Err(error) => error,
            };
            let reason = error.to_string();
            match error {
                CompareError::FailureScore { metric, .. }
                | CompareError::DifferentFormulas { metric, .. }
                | CompareError::DifferentKinds { metric, .. } => {
                    names.retain(|name| *name != metric);
                    changes.reasons.insert(metric, reason);
                }
                error => return Err(HtmlError::Compare(Box::new(error))),
            }
        }
        Ok(changes)
    }

    fn metric(&self, name: &str) -> Option<&MetricComparison> {
        self.comparison.as_ref()?.metric(name)
    }

    /// The difference of a metric, or the reason for a missing one.
    pub(super) fn of(&self, name: &str) -> Option<Change> {
        let different = self
            .identity
            .different
            .get(name)
            .map(|it| it.differences.join("; "));
        match (self.metric(name), different) {
            (Some(metric), None) => Some(Change::new(metric)),
            (Some(metric), Some(different)) => {
                let mut change = Change::new(metric);
                let end = if change.details.is_empty() { "" } else { "; " };
                change
                    .details
                    .insert_str(0, &format!("compared although {different}{end}"));
                Some(change)
            }
            (None, Some(different)) => Some(Change::not_compared(&different)),
            (None, None) => self
                .reasons
                .get(name)
                .map(|reason| Change::not_compared(reason)),
        }
    }

    /// The difference of a metric within a group.
    pub(super) fn of_group(&self, name: &str, group: &str) -> Option<GroupChange> {
        let metric = self.metric(name)?;
        let of_group = metric.groups.get(group)?;
        Some(GroupChange::new(
            metric.kind,
            &of_group.difference,
            of_group.verdict,
        ))
    }
}

/// The difference of B and A by one metric.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Change {
    /// B minus A. `None` if the metric is not compared.
    difference: Option<String>,
    text: String,
    /// Failed rows, rows that are not compared, and how many rows would be needed.
    details: String,
    class: &'static str,
    counts: Vec<CountView>,
}

impl Change {
    fn not_compared(reason: &str) -> Self {
        Self {
            difference: None,
            text: format!("not compared: {reason}"),
            details: String::new(),
            class: "",
            counts: Vec::new(),
        }
    }

    fn new(metric: &MetricComparison) -> Self {
        let sentence = metric.sentence();
        let name = format!("{}: ", escape::name(&metric.name));
        let sentence = sentence.strip_prefix(&name).unwrap_or(&sentence);
        let (text, details) = sentence.split_once("; ").unwrap_or((sentence, ""));
        let PairedDifference {
            wins, losses, ties, ..
        } = metric.overall;
        Self {
            difference: Some(shown(metric.kind, metric.overall.difference)),
            text: text.to_owned(),
            details: details.to_owned(),
            class: class(metric.verdict),
            counts: match metric.kind {
                ScoreKind::Corpus => vec![CountView::new(ties, "same")],
                ScoreKind::Bool | ScoreKind::Number => vec![
                    CountView::new(wins, "better in B"),
                    CountView::new(losses, "worse"),
                    CountView::new(ties, "same"),
                ],
            },
        }
    }
}

/// The difference of B and A within a group.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct GroupChange {
    difference: String,
    interval: String,
    class: &'static str,
}

impl GroupChange {
    fn new(kind: ScoreKind, of: &PairedDifference, verdict: Verdict) -> Self {
        let ci95 = of
            .ci95
            .map(|it| format!("{} to {}", change(kind, it.low), change(kind, it.high)));
        Self {
            difference: shown(kind, of.difference),
            interval: ci95.unwrap_or_default(),
            class: class(verdict),
        }
    }
}

/// The style of a verdict.
fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Unchanged
        | Verdict::NoDifference
        | Verdict::NotEnoughRows { .. }
        | Verdict::NotTested => "",
    }
}

fn shown(kind: ScoreKind, difference: Option<f64>) -> String {
    difference.map_or_else(|| NOTHING.to_owned(), |it| change(kind, it))
}

/// `−2.10` percentage points, `+0.0215`
fn change(kind: ScoreKind, value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    let size = match kind {
        ScoreKind::Bool => decimals(100.0 * value, 2),
        ScoreKind::Number | ScoreKind::Corpus => decimals(value, 4),
    };
    format!("{sign}{}", size.replace('-', "−"))
}
