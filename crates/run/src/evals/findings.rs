//! The findings on a figure or a comparison, each as a sentence.

use super::condition::{Bound, End};
use super::figures::{Figures, Finished};
use crate::contract::{Direction, ScoreKind};
use crate::evaluate::MetricSummary;
use crate::evaluate::report::ResultRow;
use crate::messages::{escape, thousands};
use crate::results::{MetricComparison, Unit, p_equals};
use crate::stats::{Interval, Proportion, rows_for_power};

/// The significance level of the tests.
const LEVEL: f64 = 0.05;

/// The maximum share of rows that may have a score in only one run. Beyond it, a comparison with the baseline is
/// undecided.
const MAX_LOST: f64 = 0.05;

/// The verdict of a gate, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GateVerdict {
    Passed,
    /// No row differs from the baseline, so there is no sign that `no_worse` is violated.
    Unchanged,
    /// Not enough evidence either way.
    Undecided,
    /// Not enough evidence either way, but the estimate is beyond the margin.
    Suspected,
    Failed,
}

impl GateVerdict {
    pub(super) const fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Unchanged => "unchanged",
            Self::Undecided | Self::Suspected => "undecided",
            Self::Failed => "failed",
        }
    }
}

/// A verdict with its reason.
#[derive(Clone)]
pub(super) struct Finding(pub(super) GateVerdict, pub(super) String);

/// The change in a metric since the baseline; positive is better.
struct Change<'a> {
    comparison: &'a MetricComparison,
    gain: f64,
    /// The interval of the gain, or `None` if it is unknown.
    gains: Option<Interval>,
    sign: f64,
}

impl<'a> Change<'a> {
    fn of(comparison: &'a MetricComparison) -> Option<Self> {
        let it = &comparison.overall;
        let sign = sign(comparison.direction);
        let negated = |it: Interval| Interval {
            low: -it.high,
            high: -it.low,
        };
        let gains = match comparison.direction {
            Direction::HigherIsBetter => it.ci95,
            Direction::LowerIsBetter => it.ci95.map(negated),
        };
        Some(Self {
            comparison,
            gain: sign * it.difference?,
            gains,
            sign,
        })
    }

    /// Decides `no_worse`: passes if the whole interval is above the margin, and fails if all of it is below.
    fn no_worse(&self, by: f64) -> GateVerdict {
        let is_beyond = |gain: f64| gain < -by;
        match self.gains {
            Some(gains) if gains.low > -by => GateVerdict::Passed,
            _ if self.is_unchanged() => GateVerdict::Unchanged,
            Some(gains) if is_beyond(gains.high) => GateVerdict::Failed,
            _ if is_beyond(self.gain) => GateVerdict::Suspected,
            _ => GateVerdict::Undecided,
        }
    }

    /// Decides `better`: pass and fail both need a significant difference.
    fn better(&self, p_adjusted: Option<f64>) -> GateVerdict {
        let is_significant = p_adjusted.is_some_and(|p| p < LEVEL);
        match is_significant {
            true if self.gain > 0.0 => GateVerdict::Passed,
            true if self.gain < 0.0 => GateVerdict::Failed,
            _ => GateVerdict::Undecided,
        }
    }

    fn is_unchanged(&self) -> bool {
        self.comparison.overall.ties == self.comparison.overall.n
    }

    fn rows(&self) -> String {
        let it = &self.comparison.overall;
        match it.clusters {
            _ if let Some(sampled) = &self.comparison.sampled => sampled.found(it.n),
            Some(groups) => format!("{} rows in {groups} groups", it.n),
            None => format!("{} rows", it.n),
        }
    }
}

/// Returns 1 if a higher score is better, and -1 if a lower one is.
pub(super) fn sign(direction: Direction) -> f64 {
    match direction {
        Direction::HigherIsBetter => 1.0,
        Direction::LowerIsBetter => -1.0,
    }
}

/// Decides `no_worse`, or `better` if there is no margin.
pub(super) fn relative(
    comparison: &MetricComparison,
    by: Option<f64>,
    p_adjusted: Option<f64>,
    tests: usize,
) -> Finding {
    if let Some(reason) = &comparison.not_tested {
        return Finding(GateVerdict::Undecided, reason.clone());
    }
    let lost = lost(comparison, by);
    let Some(change) = Change::of(comparison) else {
        let Finding(verdict, lost) = lost.unwrap_or(Finding(GateVerdict::Undecided, String::new()));
        let n = comparison.overall.n;
        let reason = "not enough rows to compare with the baseline";
        return Finding(verdict, format!("{lost}{reason}: {n} have a score in both"));
    };
    let verdict = match by {
        Some(by) => change.no_worse(by),
        None => change.better(p_adjusted),
    };
    let sentence = sentence(&change, verdict, by, p_adjusted.map(|p| (p, tests)));
    match lost {
        Some(Finding(of_lost, lost)) => Finding(verdict.max(of_lost), lost + &sentence),
        None => Finding(verdict, sentence),
    }
}

/// Returns a finding if too many rows have a score in only one run. It is `Suspected` if the loss exceeds the margin
/// once lost rows count as failed.
fn lost(comparison: &MetricComparison, by: Option<f64>) -> Option<Finding> {
    let lost = comparison.scored_in_one();
    let rows = comparison.overall.n + lost;
    if lost as f64 <= MAX_LOST * rows as f64 {
        return None;
    }
    let gain = comparison.difference_with_lost;
    let gain = gain.map(|difference| sign(comparison.direction) * difference);
    let is_beyond = gain.zip(by).is_some_and(|(gain, by)| gain < -by);
    let (verdict, beyond) = match is_beyond {
        true => (
            GateVerdict::Suspected,
            "counted as failures, they are beyond the margin; ",
        ),
        false => (GateVerdict::Undecided, ""),
    };
    let share = 100.0 * MAX_LOST;
    Some(Finding(
        verdict,
        format!("{lost} of {rows} rows have a score in only one run, more than {share}%; {beyond}"),
    ))
}

fn sentence(
    change: &Change<'_>,
    verdict: GateVerdict,
    by: Option<f64>,
    p_value: Option<(f64, usize)>,
) -> String {
    let (comparison, rows) = (change.comparison, change.rows());
    let (it, unit) = (&comparison.overall, Unit(comparison.kind));
    let mut sentence = if change.is_unchanged() {
        let loss = change.gains.map(|gains| unit.size(-gains.low));
        let possible = loss.map(|loss| format!("; a loss of up to {loss} is still possible"));
        let possible = possible.unwrap_or_default();
        format!("no row changed from the baseline ({rows}){possible}")
    } else {
        let interval = it
            .ci95
            .map_or("[no interval]".to_owned(), |it| unit.interval(it));
        let p = p_value.map_or_else(String::new, |(p, tests)| {
            let adjusted = if tests > 1 { "adjusted " } else { "" };
            format!("{adjusted}p {}, ", p_equals(p))
        });
        let difference = unit.change_with_unit(change.sign * change.gain);
        format!("{difference} {interval} against the baseline ({p}{rows})")
    };
    match (verdict, by) {
        (GateVerdict::Suspected, Some(by)) => {
            sentence += &format!("; the estimate is beyond the margin of {}", unit.size(by));
        }
        (GateVerdict::Undecided, Some(by)) => {
            let deviation = it.stderr.map(|stderr| stderr * (it.n as f64).sqrt());
            let rows = deviation.and_then(|deviation| rows_for_power(deviation, by));
            if let Some(rows) = rows.filter(|rows| *rows > it.n) {
                let (loss, rows) = (unit.size(by), thousands(rows));
                sentence += &format!(
                    "; ruling out a loss of {loss} takes about {rows} rows if both are equally good"
                );
            }
        }
        (GateVerdict::Passed | GateVerdict::Failed, None) if it.has_low_power() => {
            sentence.push_str("; the true difference is probably smaller (power below 80%)");
        }
        _ => {}
    }
    let (before, now) = (comparison.failed.a, comparison.failed.b);
    if before + now > 0 {
        sentence += &format!("; {before} failed before and {now} now");
    }
    let without = comparison.not_compared;
    if without > 0 {
        sentence += &format!("; {without} rows without a score");
    }
    sentence
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

/// Says how often a program passes if its true share of passing rows is exactly the limit.
pub(super) fn chance(summary: &MetricSummary, end: End, bound: Bound) -> String {
    let (limit, trials) = (bound.limit(), summary.scored + summary.failed);
    let is_share = (summary.kind, end) == (ScoreKind::Bool, End::Estimate)
        && !summary.has_repeats()
        && summary.sampled.is_none();
    let passing = (0..=trials).filter(|it| bound.holds(*it as f64 / trials as f64));
    let passing = passing.count() as u64;
    if !is_share || !(1..=trials).contains(&passing) {
        return String::new();
    }
    let at_most = |successes| Proportion { successes, trials }.chance_of_at_most(limit);
    let chance = match bound {
        Bound::AtLeast(_) => 1.0 - at_most(trials - passing),
        Bound::AtMost(_) => at_most(passing - 1),
    };
    let (limit, share) = (Unit(summary.kind).figure(limit), 100.0 * chance);
    format!("; a program at exactly {limit} passes {share:.0}% of the time")
}

/// Returns a finding if failed rows improve the score.
pub(super) fn favoured(
    run: &Finished<'_>,
    figures: &Figures,
    summary: &MetricSummary,
) -> Option<Finding> {
    let is_of = |row: &&ResultRow| figures.ids.as_ref().is_none_or(|ids| ids.contains(&row.id));
    let rows = run.results.rows().iter().filter(is_of);
    let scores = rows.filter_map(|row| row.scores.get(&summary.name)?.value);
    let (failed, score) = (summary.failed, summary.failure_score);
    let worst = match run.direction(&summary.name)? {
        Direction::HigherIsBetter => scores.fold(score, f64::min),
        Direction::LowerIsBetter => scores.fold(score, f64::max),
    };
    (failed > 0 && worst != score).then(|| {
        let sentence = format!(
            "{failed} rows failed and would count as {score}, which is better than the score {worst}; write `failure_score = {worst}` or a worse value"
        );
        Finding(GateVerdict::Failed, sentence)
    })
}

pub(super) fn passed_at(
    figures: &Figures,
    metric: Option<&str>,
    k: u32,
    bound: f64,
) -> Result<Finding, Finding> {
    let first = figures.metrics.first().map_or("", |metric| &*metric.name);
    let name = metric.unwrap_or(first);
    let summary = scored(figures, name)?;
    let repeats = summary.repeats.as_ref();
    let at = repeats.and_then(|repeats| repeats.pass_at.get(&k));
    let at = at.ok_or_else(|| {
        let name = escape::name(name);
        let reason = format!("`{name}` lacks a verdict in some repeats, so pass@{k} is unknown");
        Finding(GateVerdict::Failed, reason)
    })?;
    let verdict = GateVerdict::of(*at >= bound);
    Ok(Finding(
        verdict,
        format!("pass@{k} {:.2}%; {summary}", 100.0 * at),
    ))
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
    let sentence = format!("{:.2}% {what} ({count}/{rows} rows)", 100.0 * share);
    Finding(GateVerdict::of(share <= bound), sentence)
}
