//! How the scores of two runs differ.

use serde_json::{Value, json};

use super::report::HtmlReport;
use super::run::ReportRun;
use crate::contract::ScoreKind;
use crate::messages::escape;
use crate::results::{Comparison, MetricComparison, ResultsError};

/// The comparison of two runs, over the rows in both.
#[derive(Debug)]
pub(super) struct Changes(Option<Comparison>);

impl Changes {
    /// # Errors
    /// Returns a [`ResultsError`] if the runs have no row in common, different gold rows, or different groups.
    pub(super) fn new(
        report: &HtmlReport<'_>,
        runs: &[&ReportRun<'_>],
    ) -> Result<Self, ResultsError> {
        let [a, b] = runs else {
            return Ok(Self(None));
        };
        let builder = Comparison::builder().partial();
        let mut builder = builder
            .strict_identity(report.strict_identity)
            .allow_different(&report.allow_different)
            .lower_is_better(&report.lower_is_better);
        if let Some(field) = &report.group {
            builder = builder.group(field);
        }
        builder
            .of_scores(&a.scores, &b.scores)
            .map(|it| Self(Some(it)))
    }

    /// Returns what else differs between the runs.
    pub(super) fn notes(&self) -> &[String] {
        let comparison = self.0.as_ref();
        comparison.map_or(&[], |it| &it.identity.notes)
    }

    /// Returns `true` if the metric is the same in both runs.
    pub(super) fn is_compared(&self, name: &str) -> bool {
        let comparison = self.0.as_ref();
        comparison.is_none_or(|it| it.identity.is_compared(name))
    }

    fn metric(&self, name: &str) -> Option<&MetricComparison> {
        self.0.as_ref()?.metric(name)
    }

    /// Returns the difference in a metric, or why there is none.
    pub(super) fn of(&self, name: &str) -> Option<Value> {
        let comparison = self.0.as_ref()?;
        let different = comparison.identity.different.get(name);
        let different = different.map(|it| it.differences.join("; "));
        match self.metric(name) {
            Some(metric) => Some(change_of(metric, different.as_deref())),
            None => {
                let reason = different.or_else(|| comparison.reasons.get(name).cloned())?;
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
