//! The data of the sections above the table of rows, and how the scores of two runs differ. The script turns it into text, charts and tables.
//!
//! The file is long because the data of each section of the page is built here.

use std::cmp::Reverse;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use super::HtmlReport;
use super::histogram::histogram;
use super::run::{Part, PartScore, ReportRun};
use super::table_rows::{Metric, TableRows};
use crate::contract::{MetricIdentity, ScoreKind};
use crate::evaluate::JudgeReplies;
use crate::evaluate::manifest::EarlyResult;
use crate::messages::escape;
use crate::results::figures::{Bounds, MetricFigures};
use crate::results::run::is_lower_better;
use crate::results::run_scores::{RunScores, Usage};
use crate::results::{Comparison, Manifest, MetricComparison, ResultsError};

/// The maximum number of groups shown; larger groups come first.
const MAX_GROUPS: usize = 100;

/// The maximum number of parts of a metric shown, in order of first occurrence.
const MAX_PARTS: usize = 100;

/// The rows of each run in a group, which has no name if the rows lack the field.
type Group<'a> = (Option<&'a str>, Vec<Vec<usize>>);

/// The report with its runs, groups and changes.
pub(super) struct View<'a> {
    pub(super) runs: &'a [&'a ReportRun<'a>],
    pub(super) metrics: Vec<Metric<'a>>,
    pub(super) table: TableRows,
    groups: Vec<Group<'a>>,
    group: Option<&'a str>,
    /// The comparison of two runs, over the rows in both.
    comparison: Option<Comparison>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        report: &'a HtmlReport<'_>,
        runs: &'a [&'a ReportRun<'a>],
    ) -> Result<Self, ResultsError> {
        let known = runs.iter().flat_map(|run| run.metrics()).collect();
        report
            .comparison
            .check_directions(&known, "no run has it")?;
        let group = report.comparison.group.as_deref();
        if let Some(field) = group {
            RunScores::check_group(runs.iter().map(|run| &run.scores), field)?;
        }
        let comparison = match runs {
            [a, b] => Some(report.comparison.of_scores(&a.scores, &b.scores)?),
            _ => None,
        };
        let identity = comparison.as_ref().map(|it| &it.identity);
        let all: Vec<_> = runs.iter().map(|run| &run.scores.run).collect();
        let is_declared = |name| report.comparison.lower_is_better.contains(name);
        let metric = |(name, kind)| Metric {
            name,
            kind,
            is_compared: identity.is_none_or(|it| it.is_compared(name)),
            is_lower_better: is_declared(name) || is_lower_better(name, &all),
        };
        let metrics: Vec<_> = kinds(runs).into_iter().map(metric).collect();
        let table = TableRows::of(runs, &metrics);
        Ok(Self {
            runs,
            metrics,
            table,
            groups: group.map(|_| largest_groups(runs)).unwrap_or_default(),
            group,
            comparison,
        })
    }

    /// Returns the data of all sections.
    pub(super) fn data(&self) -> Value {
        json!({
            "runs": self.runs.iter().map(|run| run_data(run)).collect::<Vec<_>>(),
            "pairing": self.pairing(),
            "differences": self.comparison.as_ref().map_or(&[][..], |it| &it.identity.notes),
            "group": self.group,
            "hidden_groups": self.groups.len().saturating_sub(MAX_GROUPS),
            "metrics": self.metrics.iter().map(|it| self.metric(it)).collect::<Vec<_>>(),
            "table": self.table.rule(),
        })
    }

    /// Returns how many rows both runs have.
    fn pairing(&self) -> Option<Value> {
        let is_positional = self.runs.iter().any(|run| run.scores.rows.has_positional());
        let pairing = json!({"rows": self.table.paired, "is_positional": is_positional});
        (self.runs.len() == 2).then_some(pairing)
    }

    /// Returns the difference in a metric, or why there is none.
    fn change(&self, name: &str) -> Option<Value> {
        let comparison = self.comparison.as_ref()?;
        let different = comparison.identity.different.get(name);
        let different = different.map(|it| it.differences.join("; "));
        match comparison.metric(name) {
            Some(metric) => Some(change_of(metric, different.as_deref())),
            None => {
                let reason = different.or_else(|| comparison.reasons.get(name).cloned())?;
                Some(json!({ "not_compared": reason }))
            }
        }
    }

    /// Returns the difference in a metric within a group.
    fn group_change(&self, name: &str, group: &str) -> Option<Value> {
        let metric = self.comparison.as_ref()?.metric(name)?;
        let of_group = metric.groups.get(group)?;
        Some(json!({
            "difference": of_group.difference.difference,
            "ci95": of_group.difference.ci95,
            "verdict": of_group.verdict,
        }))
    }

    fn metric(&self, metric: &Metric<'_>) -> Value {
        let Metric { name, kind, .. } = *metric;
        let of_run = |run: &&ReportRun<'_>| {
            let figures = run.scores.figures_of(name, kind, self.group.is_some());
            let mut run_data = figures.data();
            run_data["counts"] = json!(figures.counts);
            let totals = run.totals.get(name);
            run_data["counts"]["missing"] = json!(totals.map_or(0, |it| it.missing));
            run_data["counts"]["judged_offline"] = json!(totals.map_or(0, |it| it.judged_offline));
            let identity = run.scores.run.identity(name).map(ToString::to_string);
            run_data["settings"] = json!(identity);
            run_data
        };
        let scored: Vec<_> = self.runs.iter().map(|run| scored(run, name)).collect();
        let parts = parts(name, self.runs);
        let shown = parts.iter().take(MAX_PARTS);
        let groups = self.groups.iter().take(MAX_GROUPS);
        json!({
            "name": name,
            "kind": kind,
            "lower_is_better": metric.is_lower_better,
            "is_compared": metric.is_compared,
            "runs": self.runs.iter().map(of_run).collect::<Vec<_>>(),
            "change": self.change(name),
            "histogram": histogram(kind, &scored),
            "parts": shown.map(|part| self.part(part, name)).collect::<Vec<_>>(),
            "part_count": parts.len(),
            "groups": groups.map(|group| self.group(metric, group)).collect::<Vec<_>>(),
        })
    }

    fn group(&self, Metric { name, kind, .. }: &Metric<'_>, (group, rows): &Group<'_>) -> Value {
        let of_run = |(run, rows): (&&ReportRun<'_>, &Vec<usize>)| {
            let scores = run.scores.scores_of(name);
            let rows = rows.iter().map(|row| (scores(*row), None));
            let bounds = Bounds::of_metric(&run.scores, name);
            MetricFigures::of(*kind, rows, run.scores.run.failure_score, false, bounds).data()
        };
        json!({
            "name": group,
            "runs": self.runs.iter().zip(rows).map(of_run).collect::<Vec<_>>(),
            "change": group.and_then(|group| self.group_change(name, group)),
        })
    }

    fn part(&self, part: &Part, metric: &str) -> Value {
        let kind = match is_bool(part, metric, self.runs) {
            true => ScoreKind::Bool,
            false => ScoreKind::Number,
        };
        let of_run = |run: &&ReportRun<'_>| {
            let failure_score = run.scores.run.failure_score;
            let scores = part_scores(part, metric, run).iter();
            let scores = scores.filter(|it| it.score.counted(failure_score).is_some());
            let scores = scores.map(|it| (it.score, run.scores.group_number(it.row)));
            // A named score has the range of its metric.
            let bounds = match part.is_component {
                true => Bounds::UNKNOWN,
                false => Bounds::of(&run.scores, metric),
            };
            MetricFigures::of(kind, scores, failure_score, self.group.is_some(), bounds).data()
        };
        let runs: Vec<_> = self.runs.iter().map(of_run).collect();
        json!({"name": part.name, "runs": runs})
    }
}

/// Returns what a run measured, and its cost and time.
fn run_data(run: &ReportRun<'_>) -> Value {
    json!({
        "name": run.scores.run.name(),
        "rows": run.scores.rows.len(),
        "unknown_identity": run.scores.run.unknown_identity(),
        "manifest": run.scores.manifest().map(manifest_data),
        "usage": usage(run),
    })
}

/// Returns a manifest with the names of its metrics instead of their identities. Judges and endings are sentences.
fn manifest_data(Manifest { run, process, .. }: &Manifest) -> Value {
    let models: IndexSet<&String> = run
        .metrics
        .values()
        .flat_map(MetricIdentity::models)
        .collect();
    let replies = run.judged_by.iter().flat_map(|(metric, replies)| {
        JudgeReplies::of_each(replies).map(move |replies| format!("{metric}: {replies}"))
    });
    let decided = run.early.as_ref().filter(|_| run.ending == "decided");
    let mut data = json!(run);
    data["metrics"] = json!(run.metrics.keys().collect::<Vec<_>>());
    data["models"] = json!(models);
    data["judged_by"] = json!(replies.collect::<Vec<_>>());
    data["early"] = json!(decided.map(EarlyResult::sentence));
    // JavaScript would round the seed.
    data["seed"] = json!(run.seed.to_string());
    if let Some(process) = process {
        data["process"] = json!(process);
        let calls = process.totals.language_models.map(|it| it.to_string());
        data["process"]["totals"]["language_models"] = json!(calls);
    }
    data
}

/// Returns the sums over the rows of a run, each with the number of rows that have the value.
fn usage(run: &ReportRun<'_>) -> Value {
    let rows = || (0..run.scores.rows.len()).map(|row| run.scores.usage(row));
    let sum = |of: fn(Usage) -> Option<u64>| {
        let values = rows().filter_map(of);
        let (sum, count) = values.fold((0_u64, 0_u64), |(sum, count), value| {
            (sum.saturating_add(value), count + 1)
        });
        (count > 0).then_some([sum, count])
    };
    let mut seconds: Vec<f64> = rows().filter_map(|row| row.latency_s).collect();
    seconds.sort_by(f64::total_cmp);
    // The nearest rank: the lowest latency that at least this share of rows does not exceed.
    let quantile = |percent: usize| {
        let rank = (seconds.len() * percent).div_ceil(100);
        seconds.get(rank.saturating_sub(1))
    };
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    let costs = run.totals.iter().filter(|(_, it)| it.cost_msats > 0);
    json!({
        "cost_msats": sum(|row| row.cost_msats),
        "input_tokens": sum(|row| row.input_tokens),
        "output_tokens": sum(|row| row.output_tokens),
        "latency_s": (!seconds.is_empty()).then(|| json!([mean, quantile(50), quantile(95)])),
        "costs": costs.map(|(name, it)| (name, it.cost_msats)).collect::<Vec<_>>(),
    })
}

/// Returns the metrics of all runs, with the kind of their scores. A metric that returns bools in one run and numbers
/// in the other is shown as numbers.
fn kinds<'a>(runs: &[&'a ReportRun<'_>]) -> IndexMap<&'a str, ScoreKind> {
    let names: IndexSet<&str> = runs.iter().flat_map(|run| run.metrics()).collect();
    let kind = |name: &str| {
        let kinds = runs.iter().filter_map(|run| run.scores.run.kind(name));
        let kinds = Vec::from_iter(kinds);
        match !kinds.is_empty() && kinds.iter().all(|kind| *kind == ScoreKind::Bool) {
            true => ScoreKind::Bool,
            false => ScoreKind::Number,
        }
    };
    names.into_iter().map(|name| (name, kind(name))).collect()
}

/// Returns the groups with their rows, largest groups first.
fn largest_groups<'a>(runs: &[&'a ReportRun<'_>]) -> Vec<Group<'a>> {
    let mut groups: IndexMap<Option<&str>, Vec<Vec<usize>>> = IndexMap::new();
    for (place, run) in runs.iter().enumerate() {
        for row in 0..run.scores.rows.len() {
            let rows = groups.entry(run.scores.group(row));
            rows.or_insert_with(|| vec![Vec::new(); runs.len()])[place].push(row);
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, runs)| Reverse(runs.iter().map(Vec::len).sum::<usize>()));
    groups
}

fn scored(run: &ReportRun<'_>, metric: &str) -> Vec<f64> {
    let scores = run.scores.column(metric);
    scores.filter_map(|score| score.value()).collect()
}

/// Returns the parts of a metric, in order of first occurrence.
fn parts<'r>(metric: &str, runs: &[&'r ReportRun<'_>]) -> IndexSet<&'r Part> {
    let metrics = runs.iter().filter_map(|run| run.totals.get(metric));
    metrics.flat_map(|metric| metric.parts.keys()).collect()
}

/// Returns the part's results in a run.
fn part_scores<'s>(part: &Part, metric: &str, run: &'s ReportRun<'_>) -> &'s [PartScore] {
    let metric = run.totals.get(metric);
    let scores = metric.and_then(|metric| metric.parts.get(part));
    scores.map(Vec::as_slice).unwrap_or_default()
}

/// Returns `true` if the part is pass or fail in all rows. A named score has no verdict, so it counts as pass or fail
/// if it is always 0 or 1 and its metric's range is [0, 1].
fn is_bool(part: &Part, metric: &str, runs: &[&ReportRun<'_>]) -> bool {
    let scores = runs.iter().flat_map(|run| part_scores(part, metric, run));
    let mut scores = scores.filter(|it| it.score.value().is_some());
    if part.is_component {
        return scores.all(|it| it.score.is_verdict());
    }
    let mut of_metric = runs.iter().flat_map(|run| scored(run, metric));
    of_metric.all(|it| (0.0..=1.0).contains(&it))
        && scores.all(|it| [0.0, 1.0].contains(&it.score.value))
}

/// Returns the difference between A and B in one metric. If the metric is compared although its identities differ,
/// `different` says how.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judges_are_the_models_of_all_metrics_and_what_replied_to_them() {
        let judge = |model: &str| json!({"models": [model], "parameters": {}});
        let by = |judge: &str, model: &str, replies: u64| json!({"judge": judge, "model": model, "replies": replies});
        let run = json!({
            "metrics": {"a": judge("openai:x"), "b": judge("openai:y"), "c": judge("openai:x")},
            "judged_by": {"a": [by("openai:x", "x-1", 2), by("openai:x", "x-2", 1), by("openai:y", "", 1)]},
            "rows": 1, "failed_rows": 0, "ending": "complete", "failure_score": 0.0, "seed": u64::MAX,
            "library": {"version": "0.1.0", "features": []},
        });
        let manifest = serde_json::from_value(json!({"format": 1, "run": run})).unwrap();
        let data = manifest_data(&manifest);
        assert_eq!(data["models"], json!(["openai:x", "openai:y"]));
        assert_eq!(data["metrics"], json!(["a", "b", "c"]));
        let replied = [
            "a: openai:x replied as x-1 (2 replies), x-2 (1 reply)",
            "a: openai:y replied as an unknown model",
        ];
        assert_eq!(data["judged_by"], json!(replied));
        assert_eq!(data["seed"], "18446744073709551615");
    }
}
