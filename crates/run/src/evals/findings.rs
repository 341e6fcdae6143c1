//! The findings on a figure or a comparison, each with its sentence.

use super::figures::{Figures, MetricOfRun};
use crate::core::spec::Direction;
use crate::evaluate::MetricSummary;
use crate::messages::escape;
use crate::results::{MetricComparison, Unit, about, p_equals};
use crate::stats::{Interval, detectable_difference, rows_for_power};

/// The level of the tests.
const LEVEL: f64 = 0.05;

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

/// A verdict with its reason.
pub(super) struct Finding(pub(super) GateVerdict, pub(super) String);

/// Decides `no_worse` and, without a margin, `better`.
pub(super) fn relative(
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
        format!("{adjusted}p {}, ", p_equals(p))
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
pub(super) fn scored<'f>(figures: &'f Figures, metric: &str) -> Result<&'f MetricSummary, Finding> {
    let failed = |reason: String| Finding(GateVerdict::Failed, reason);
    let Some(summary) = figures.metric(metric) else {
        return Err(failed(format!("unknown metric `{}`", escape::name(metric))));
    };
    match summary.score {
        Some(_) if summary.scored > 0 => Ok(summary),
        _ => Err(failed(format!("no row has a score: {summary}"))),
    }
}

/// Returns a finding if failed rows improve the score.
pub(super) fn favoured(
    figures: &Figures,
    metric: &MetricOfRun,
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

pub(super) fn passed_at(figures: &Figures, metric: Option<&str>, k: u32, bound: f64) -> Finding {
    let first = figures.metrics.first().map_or("", |metric| &*metric.name);
    let name = metric.unwrap_or(first);
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

pub(super) fn abstained(figures: &Figures, bound: f64) -> Finding {
    let Some(most) = figures.metrics.iter().max_by_key(|metric| metric.abstained) else {
        return Finding(GateVerdict::Failed, "no metric was evaluated".to_owned());
    };
    let what = format!("abstained by {}", escape::name(&most.name));
    share(most.abstained, figures.rows, &what, bound)
}

pub(super) fn share(count: u64, rows: u64, what: &str, bound: f64) -> Finding {
    let share = count as f64 / rows.max(1) as f64;
    let verdict = if share <= bound { GateVerdict::Passed } else { GateVerdict::Failed };
    Finding(verdict, format!("{:.2}% {what} ({count}/{rows} rows)", 100.0 * share))
}
