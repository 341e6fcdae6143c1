//! The verdicts of the gates of an eval.
//!
//! A gate against the baseline is a test on the differences between rows: non-inferiority for `no_worse`, superiority for
//! `better`. Their p-values are adjusted together (Holm), since one gate that fails is enough for the eval to fail. A gate
//! passes by its own interval, since all gates must pass.

use std::collections::HashSet;

use super::baseline::Baseline;
use super::condition::{Bound, End, Kind};
use super::eval::Gate;
use super::figures::{Figures, Finished};
use crate::core::spec::Direction;
use crate::evaluate::MetricSummary;
use crate::messages::escape;
use crate::results::{Comparison, MetricComparison, Results, Unit, about};
use crate::stats::{Interval, detectable_difference, holm, rows_for_power};

/// The level of the tests.
const LEVEL: f64 = 0.05;

/// The largest number of groups in the sentence of a gate.
const SHOWN_GROUPS: usize = 10;

/// The verdict of a gate, the best one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GateVerdict {
    Passed,
    /// These rows cannot tell.
    Undecided,
    Failed,
}

impl GateVerdict {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Undecided => "undecided",
            Self::Failed => "failed",
        }
    }
}

/// A gate and its verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GateResult {
    pub(super) text: &'static str,
    pub(super) verdict: GateVerdict,
    /// The figure, and why it does not pass.
    pub(super) sentence: String,
    /// The metric whose rows show the reason.
    pub(super) metric: Option<&'static str>,
    /// Whether the gate compares with the baseline.
    pub(super) is_relative: bool,
}

/// A verdict with its reason.
struct Finding(GateVerdict, String);

/// A condition on some rows, before p-values are adjusted.
enum Part {
    Decided(Finding),
    Compared { by: Option<f64>, comparison: Box<MetricComparison> },
}

/// The parts of a gate: one, or one for each group.
struct Parts {
    parts: Vec<(Option<String>, Part)>,
    note: String,
}

/// Decides the gates of a run. `baseline` is the earlier run, or why there is none.
pub(super) fn decide(
    gates: &[Gate],
    run: &Finished<'_>,
    baseline: &Result<Baseline, String>,
    seed: u64,
) -> Vec<GateResult> {
    let decider = Decider { run, baseline, seed };
    let parts: Vec<Parts> = gates.iter().map(|gate| decider.parts(&gate.condition.0)).collect();
    let p_values: Vec<f64> = parts.iter().flat_map(Parts::p_values).collect();
    let (tests, mut adjusted) = (p_values.len(), holm(&p_values).into_iter());
    let result = |(gate, parts): (&Gate, Parts)| {
        let Finding(verdict, sentence) = parts.finish(tests, &mut adjusted);
        let (metric, is_relative) = subject(&gate.condition.0);
        GateResult { text: gate.text, verdict, sentence, metric, is_relative }
    };
    gates.iter().zip(parts).map(result).collect()
}

/// Returns the metric of a condition, and whether it is compared with the baseline.
fn subject(kind: &Kind) -> (Option<&'static str>, bool) {
    match kind {
        Kind::Score { metric, .. } => (Some(*metric), false),
        Kind::PassedAt { metric, .. } => (*metric, false),
        Kind::Failed { .. } | Kind::Abstained { .. } | Kind::Latency { .. } => (None, false),
        Kind::NoWorse { metric, .. } | Kind::Better { metric } => (Some(*metric), true),
        Kind::Each { condition, .. } => subject(condition),
    }
}

struct Decider<'a> {
    run: &'a Finished<'a>,
    baseline: &'a Result<Baseline, String>,
    seed: u64,
}

impl Decider<'_> {
    fn parts(&self, kind: &Kind) -> Parts {
        let Kind::Each { field, condition } = kind else {
            let part = self.part(kind, &self.run.whole, None);
            return Parts { parts: vec![(None, part)], note: String::new() };
        };
        let (groups, without) = self.run.by(field);
        if groups.is_empty() {
            let reason = format!("no row has the field `{}`", escape::name(field));
            let part = Part::Decided(Finding(GateVerdict::Failed, reason));
            return Parts { parts: vec![(None, part)], note: String::new() };
        }
        let part = |(name, group): (String, super::figures::GroupOfRows)| {
            let part = self.part(condition, &group.figures, Some(&group.ids));
            (Some(name), part)
        };
        let note = match without {
            0 => String::new(),
            rows => format!("; {rows} rows lack `{}` and are in no group", escape::name(field)),
        };
        Parts { parts: groups.into_iter().map(part).collect(), note }
    }

    fn part(&self, kind: &Kind, figures: &Figures, ids: Option<&HashSet<String>>) -> Part {
        let finding = match kind {
            Kind::Score { metric, end, bound } => self.score(figures, metric, *end, *bound),
            Kind::PassedAt { metric, k, bound } => passed_at(figures, *metric, *k, *bound),
            Kind::Failed { bound } => share(figures.failed_rows, figures.rows, "failed", *bound),
            Kind::Abstained { bound } => abstained(figures, *bound),
            Kind::Latency { seconds } => self.latency(figures, *seconds),
            Kind::NoWorse { metric, by } => return self.compared(metric, Some(*by), ids),
            Kind::Better { metric } => return self.compared(metric, None, ids),
            // The macro rejects a nested `each`.
            Kind::Each { .. } => Finding(GateVerdict::Failed, "`each` within `each`".to_owned()),
        };
        Part::Decided(finding)
    }

    fn score(&self, figures: &Figures, metric: &str, end: End, bound: Bound) -> Finding {
        let summary = match scored(figures, metric) {
            Ok(summary) => summary,
            Err(finding) => return finding,
        };
        if let Some(finding) = self.run.metric(metric).and_then(|it| favoured(figures, it, summary))
        {
            return finding;
        }
        let value = match end {
            End::Estimate => summary.score,
            End::Lower => summary.uncertainty.ci95().map(|interval| interval.low),
            End::Upper => summary.uncertainty.ci95().map(|interval| interval.high),
        };
        match value {
            None => Finding(GateVerdict::Undecided, format!("no interval: {summary}")),
            Some(value) if bound.holds(value) => Finding(GateVerdict::Passed, summary.to_string()),
            Some(_) => Finding(GateVerdict::Failed, summary.to_string()),
        }
    }

    fn latency(&self, figures: &Figures, seconds: f64) -> Finding {
        // A metric of this name measures what its author defined.
        if figures.metric("latency").is_some() {
            return self.score(figures, "latency", End::Estimate, Bound::AtMost(seconds));
        }
        match figures.latency_s {
            None => {
                Finding(GateVerdict::Failed, "no program was run, so no time is known".to_owned())
            }
            Some(mean) => {
                let is_below = mean <= seconds;
                let verdict = if is_below { GateVerdict::Passed } else { GateVerdict::Failed };
                Finding(verdict, format!("{mean:.3} s per row (mean of {} rows)", figures.rows))
            }
        }
    }

    fn compared(&self, metric: &str, by: Option<f64>, ids: Option<&HashSet<String>>) -> Part {
        match self.comparison(metric, ids) {
            Ok(comparison) => Part::Compared { by, comparison },
            Err(reason) => Part::Decided(Finding(GateVerdict::Undecided, reason)),
        }
    }

    /// Compares the rows with the baseline.
    fn comparison(
        &self,
        metric: &str,
        ids: Option<&HashSet<String>>,
    ) -> Result<Box<MetricComparison>, String> {
        let baseline = self.baseline.as_ref().map_err(Clone::clone)?;
        let changed = baseline.changed_gold(self.run.results);
        if !changed.is_empty() {
            return Err(format!(
                "the gold rows of {} changed since the baseline",
                escape::names(changed.into_iter())
            ));
        }
        let of_group;
        let (old, new) = match ids {
            None => (&baseline.results, self.run.results),
            Some(ids) => {
                let of = |results: &Results| results.only(|row| ids.contains(&row.id));
                of_group = (of(&baseline.results), of(self.run.results));
                (&of_group.0, &of_group.1)
            }
        };
        let mut builder = Comparison::builder().metrics([metric]).only_paired(true).seed(self.seed);
        if let Some(group) = &self.run.group {
            builder = builder.group(group);
        }
        let comparison = builder.of(old, new).map_err(|error| match error {
            crate::results::CompareError::NoMetric { .. } => {
                format!("the baseline has no `{}`", escape::name(metric))
            }
            crate::results::CompareError::DifferentIdentities { identity } => {
                let of_baseline = identity.sentences().join("; ");
                of_baseline.replace(" in A,", " in the baseline,").replace(" in B", " now")
            }
            error => error.to_string(),
        })?;
        let found = comparison.metrics.into_iter().next();
        found.map(Box::new).ok_or_else(|| "it is not compared".to_owned())
    }
}

impl Parts {
    fn p_values(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().filter_map(|(_, part)| part.p_value())
    }

    /// Decides with the adjusted p-values, and reduces the groups to the worst of them.
    fn finish(self, tests: usize, adjusted: &mut impl Iterator<Item = f64>) -> Finding {
        let mut findings: Vec<(Option<String>, Finding)> = self
            .parts
            .into_iter()
            .map(|(group, part)| {
                let p_adjusted = part.p_value().and_then(|_| adjusted.next());
                (group, part.finish(tests, p_adjusted))
            })
            .collect();
        let groups = findings.len();
        // Stable: groups with the same verdict stay in the order of the rows.
        findings.sort_by_key(|(_, Finding(verdict, _))| std::cmp::Reverse(*verdict));
        let worst =
            findings.first().map_or(GateVerdict::Passed, |(_, Finding(verdict, _))| *verdict);
        let of_worst = findings.iter().filter(|(_, Finding(verdict, _))| *verdict == worst);
        let sentence = match findings.first() {
            Some((None, Finding(_, sentence))) => sentence.clone(),
            _ => {
                let count = of_worst.clone().count();
                let shown = of_worst.take(SHOWN_GROUPS).filter_map(|(group, finding)| {
                    Some(format!("{}: {}", escape::name(group.as_deref()?), finding.1))
                });
                let shown = shown.collect::<Vec<_>>().join("; ");
                let more = match count.saturating_sub(SHOWN_GROUPS) {
                    0 => String::new(),
                    more => format!("; and {more} more"),
                };
                format!("{} in {count} of {groups} groups: {shown}{more}", worst.name())
            }
        };
        Finding(worst, sentence + &self.note)
    }
}

impl Part {
    fn p_value(&self) -> Option<f64> {
        match self {
            Self::Decided(_) => None,
            Self::Compared { comparison, .. } => comparison.overall.p_value,
        }
    }

    fn finish(self, tests: usize, p_adjusted: Option<f64>) -> Finding {
        match self {
            Self::Decided(finding) => finding,
            Self::Compared { by, comparison } => relative(&comparison, by, p_adjusted, tests),
        }
    }
}

/// Decides `no_worse` and, without a margin, `better`.
fn relative(
    comparison: &MetricComparison,
    by: Option<f64>,
    p_adjusted: Option<f64>,
    tests: usize,
) -> Finding {
    let (it, unit) = (&comparison.overall, Unit(comparison.kind));
    if let Some(reason) = &comparison.not_tested {
        return Finding(GateVerdict::Undecided, reason.clone());
    }
    // Rows that all change by the same amount have no standard error.
    let constant =
        it.difference.filter(|_| it.n > 1 && it.wins.max(it.losses).max(it.ties) == it.n);
    let constant = constant.map(|difference| Interval { low: difference, high: difference });
    let (Some(difference), Some(interval)) = (it.difference, it.ci95.or(constant)) else {
        let reason =
            format!("not enough rows to compare with the baseline: {} in both have a score", it.n);
        return Finding(GateVerdict::Undecided, reason);
    };
    let sign = match comparison.direction {
        Direction::HigherIsBetter => 1.0,
        Direction::LowerIsBetter => -1.0,
    };
    let gain = sign * difference;
    let gains = match comparison.direction {
        Direction::HigherIsBetter => interval,
        Direction::LowerIsBetter => Interval { low: -interval.high, high: -interval.low },
    };
    let is_significant = p_adjusted.is_some_and(|p| p < LEVEL);
    let (is_better, is_worse) = (is_significant && gain > 0.0, is_significant && gain < 0.0);
    let margin = by.unwrap_or(0.0);
    let verdict = match by {
        Some(_) if gains.low > -margin => GateVerdict::Passed,
        None if is_better => GateVerdict::Passed,
        _ if gains.high < -margin || is_worse => GateVerdict::Failed,
        _ => GateVerdict::Undecided,
    };
    let found = match it.clusters {
        Some(groups) => format!("{} rows in {groups} groups", it.n),
        None => format!("{} rows", it.n),
    };
    let p = p_adjusted.map_or_else(String::new, |p| {
        let adjusted = if tests > 1 { "adjusted " } else { "" };
        format!("{adjusted}p {}, ", crate::results::p_equals(p))
    });
    if it.ties == it.n {
        return Finding(verdict, format!("no row changed against the baseline ({found})"));
    }
    let mut sentence = format!(
        "{} {} against the baseline ({p}{found})",
        unit.change_with_unit(difference),
        unit.interval(interval),
    );
    if verdict == GateVerdict::Undecided {
        sentence.push_str(&undecided(comparison, unit, by, gain));
    }
    let failed = [comparison.failed.a, comparison.failed.b];
    if failed != [0, 0] {
        sentence.push_str(&format!("; {} failed before and {} now", failed[0], failed[1]));
    }
    if comparison.not_compared > 0 {
        sentence.push_str(&format!("; {} rows without a score", comparison.not_compared));
    }
    Finding(verdict, sentence)
}

/// What these rows can show, and how many rows it takes.
fn undecided(comparison: &MetricComparison, unit: Unit, by: Option<f64>, gain: f64) -> String {
    let it = &comparison.overall;
    let Some(stderr) = it.stderr else { return String::new() };
    let shown = unit.size(detectable_difference(stderr));
    let wanted = by.unwrap_or(gain.abs());
    let takes = rows_for_power(stderr * (it.n as f64).sqrt(), wanted).map(about);
    let takes = takes.map_or_else(String::new, |rows| format!(", which takes about {rows} rows"));
    match by {
        Some(by) => format!(
            "; these rows can show a difference of {shown}, not of {}{takes}",
            unit.size(by)
        ),
        None => format!("; these rows can show a difference of {shown}{takes}"),
    }
}

/// Returns the summary of a metric that has a score.
fn scored<'f>(figures: &'f Figures, metric: &str) -> Result<&'f MetricSummary, Finding> {
    let failed = |reason: String| Finding(GateVerdict::Failed, reason);
    let Some(summary) = figures.metric(metric) else {
        return Err(failed(format!("there is no metric `{}`", escape::name(metric))));
    };
    match summary.score {
        Some(_) if summary.scored > 0 => Ok(summary),
        _ => Err(failed(format!("no row has a score: {summary}"))),
    }
}

/// Returns a finding if failed rows improve the score.
fn favoured(
    figures: &Figures,
    metric: &super::figures::MetricOfRun,
    summary: &MetricSummary,
) -> Option<Finding> {
    let worst = figures.worst_below_failures(metric)?;
    let (failed, score) = (summary.failed, summary.failure_score);
    Some(Finding(
        GateVerdict::Failed,
        format!(
            "{failed} rows failed and would count as {score}, which is better than the score {worst}; write `failure_score = {worst}` or a worse value"
        ),
    ))
}

fn passed_at(figures: &Figures, metric: Option<&str>, k: u32, bound: f64) -> Finding {
    let first = figures.metrics.first().map(|metric| &*metric.name);
    let Some(name) = metric.or(first) else {
        return Finding(GateVerdict::Failed, "there is no metric".to_owned());
    };
    let summary = match scored(figures, name) {
        Ok(summary) => summary,
        Err(finding) => return finding,
    };
    let at = summary.repeats.as_ref().and_then(|repeats| repeats.pass_at.get(&k));
    match at {
        None => Finding(
            GateVerdict::Failed,
            format!(
                "`{}` has no verdict in every repeat, so pass@{k} is not known",
                escape::name(name)
            ),
        ),
        Some(at) => {
            let verdict = if *at >= bound { GateVerdict::Passed } else { GateVerdict::Failed };
            Finding(verdict, format!("pass@{k} {:.2}%; {summary}", 100.0 * at))
        }
    }
}

fn abstained(figures: &Figures, bound: f64) -> Finding {
    let most = figures.metrics.iter().max_by_key(|metric| metric.abstained);
    match most {
        Some(most) => share(
            most.abstained,
            figures.rows,
            &format!("abstained by {}", escape::name(&most.name)),
            bound,
        ),
        None => Finding(GateVerdict::Failed, "there is no metric".to_owned()),
    }
}

fn share(count: u64, rows: u64, what: &str, bound: f64) -> Finding {
    let share = count as f64 / rows.max(1) as f64;
    let verdict = if share <= bound { GateVerdict::Passed } else { GateVerdict::Failed };
    Finding(verdict, format!("{:.2}% {what} ({count}/{rows} rows)", 100.0 * share))
}
