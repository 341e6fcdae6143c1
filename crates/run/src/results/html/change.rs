//! How the scores of two runs differ: the figures of [`Comparison`], prepared for the page.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde_json::{Value, json};

use super::labels::{NOTHING, count};
use super::report::HtmlReport;
use super::run::ReportRun;
use crate::contract::ScoreKind;
use crate::messages::escape;
use crate::results::compare::{Places, check_allowed, check_rows};
use crate::results::{
    Comparison, IdentityComparison, MetricComparison, ResultsError, ResultsErrorKind, Verdict,
};
use crate::stats::decimals::decimals;

/// The comparison of the metrics that both runs have, over the rows in both.
#[derive(Debug, Default)]
pub(super) struct Changes {
    comparison: Option<Comparison>,
    pub(super) identity: IdentityComparison,
    /// Why each metric that cannot be compared cannot be.
    reasons: HashMap<String, String>,
}

impl Changes {
    /// # Errors
    /// Returns a [`ResultsError`] if the runs have no row in common, different gold rows, or different groups.
    pub(super) fn new(
        report: &HtmlReport<'_>,
        runs: &[&ReportRun<'_>],
    ) -> Result<Self, ResultsError> {
        let mut changes = Self::default();
        let [ReportRun { scores: a, .. }, ReportRun { scores: b, .. }] = runs else {
            return Ok(changes);
        };
        // `Comparison` treats a name with a dot as a part of a metric.
        let is_compared = |name: &&str| !name.contains('.') && b.metrics().any(|it| it == *name);
        let mut names: IndexSet<String> =
            a.metrics().filter(is_compared).map(str::to_owned).collect();
        check_allowed(&a.run, &b.run, &report.allow_different)?;
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
            check_rows(a, b)?;
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
            match error.name() {
                Some(metric) if error.kind() == ResultsErrorKind::Metric => {
                    names.shift_remove(metric);
                    changes.reasons.insert(metric.to_owned(), error.to_string());
                }
                _ => return Err(error),
            }
        }
        Ok(changes)
    }

    fn metric(&self, name: &str) -> Option<&MetricComparison> {
        self.comparison.as_ref()?.metric(name)
    }

    /// Returns the difference in a metric, or why there is none.
    pub(super) fn of(&self, name: &str) -> Option<Value> {
        let different = self.identity.different.get(name);
        let different = different.map(|it| it.differences.join("; "));
        let not_compared =
            |reason: &str| json!({"text": format!("not compared: {reason}"), "class": ""});
        match (self.metric(name), different) {
            (Some(metric), different) => Some(change_of(metric, different)),
            (None, Some(different)) => Some(not_compared(&different)),
            (None, None) => self.reasons.get(name).map(|it| not_compared(it)),
        }
    }

    /// Returns the difference in a metric within a group.
    pub(super) fn of_group(&self, name: &str, group: &str) -> Option<Value> {
        let metric = self.metric(name)?;
        let of_group = metric.groups.get(group)?;
        let (kind, of) = (metric.kind, &of_group.difference);
        let ci95 = of.ci95;
        let ci95 = ci95.map(|it| format!("{} to {}", change(kind, it.low), change(kind, it.high)));
        Some(json!({
            "difference": shown(kind, of.difference),
            "interval": ci95.unwrap_or_default(),
            "class": class(of_group.verdict),
        }))
    }
}

/// Returns the difference between A and B in one metric. `different` says how its identities differ if it is compared
/// nevertheless. The details list failed rows and rows that are not compared.
fn change_of(metric: &MetricComparison, different: Option<String>) -> Value {
    let sentence = metric.sentence();
    let name = format!("{}: ", escape::name(&metric.name));
    let sentence = sentence.strip_prefix(&name).unwrap_or(&sentence);
    let (text, details) = sentence.split_once("; ").unwrap_or((sentence, ""));
    let different = different.map(|it| format!("compared although {it}"));
    let details = different.iter().map(String::as_str).chain([details]);
    let details: Vec<_> = details.filter(|it| !it.is_empty()).collect();
    let it = &metric.overall;
    let same = count(it.ties, "same");
    let counts = match metric.kind {
        ScoreKind::Corpus => vec![same],
        ScoreKind::Bool | ScoreKind::Number => vec![
            count(it.wins, "better in B"),
            count(it.losses, "worse"),
            same,
        ],
    };
    json!({
        "difference": shown(metric.kind, it.difference),
        "text": text,
        "details": details.join("; "),
        "class": class(metric.verdict),
        "counts": counts,
    })
}

/// Returns the CSS class of a verdict.
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
