//! How the scores of two runs differ: the figures of [`Comparison`], prepared for the page.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde_json::{Value, json};

use super::report::HtmlReport;
use super::run::ReportRun;
use crate::contract::ScoreKind;
use crate::messages::escape;
use crate::results::compare::{Places, check_allowed, check_rows};
use crate::results::{
    Comparison, IdentityComparison, MetricComparison, ResultsError, ResultsErrorKind,
};

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
        match self.metric(name) {
            Some(metric) => Some(change_of(metric, different.as_deref())),
            None => {
                let reason = different.or_else(|| self.reasons.get(name).cloned())?;
                Some(json!({ "not_compared": reason }))
            }
        }
    }

    /// Returns the difference in a metric within a group.
    pub(super) fn of_group(&self, name: &str, group: &str) -> Option<Value> {
        let metric = self.metric(name)?;
        let of_group = metric.groups.get(group)?;
        Some(json!({
            "difference": of_group.difference.difference,
            "ci95": of_group.difference.ci95,
            "verdict": of_group.verdict,
        }))
    }
}

/// Returns the difference between A and B in one metric. `different` says how its identities differ if it is compared
/// nevertheless.
fn change_of(metric: &MetricComparison, different: Option<&str>) -> Value {
    let sentence = metric.sentence();
    let name = format!("{}: ", escape::name(&metric.name));
    let it = &metric.overall;
    json!({
        "difference": it.difference,
        "wins": it.wins,
        "losses": it.losses,
        "ties": it.ties,
        "verdict": metric.verdict,
        "is_corpus": metric.kind == ScoreKind::Corpus,
        "sentence": sentence.strip_prefix(&name).unwrap_or(&sentence),
        "compared_although": different,
    })
}
