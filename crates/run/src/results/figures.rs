//! The figures of one metric over the rows of a run: counts, mean, interval.
//!
//! The file is long because each figure has its rules about failed and missing rows.

use std::fmt;

use super::ResultOutcome;
use super::run_scores::{RunScores, Score};
use crate::contract::{MetricIdentity, ScoreKind, ScoreRange};
use crate::evaluate::TruthResult;
use crate::evaluate::summary::{Place, Sample};
use crate::stats::decimals;
use crate::stats::{Interval, Proportion, Uncertainty};

/// The number of rows with each outcome.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub scored: u64,
    pub failed: u64,
    pub gated: u64,
    pub skipped: u64,
    pub abstained: u64,
    pub not_needed: u64,
    pub not_sampled: u64,
    /// The number of rows that have no result for the metric.
    pub(super) absent: u64,
    /// The number of scored rows that lack a field that the metric reads.
    pub(super) missing: u64,
    pub(super) judged_offline: u64,
}

impl Counts {
    pub(super) fn record(&mut self, outcome: Option<ResultOutcome>) {
        *match outcome {
            None => &mut self.absent,
            Some(ResultOutcome::Scored | ResultOutcome::Counted) => &mut self.scored,
            Some(ResultOutcome::Gated) => &mut self.gated,
            Some(ResultOutcome::Skipped) => &mut self.skipped,
            Some(ResultOutcome::Abstained) => &mut self.abstained,
            Some(ResultOutcome::NotNeeded) => &mut self.not_needed,
            Some(ResultOutcome::NotSampled) => &mut self.not_sampled,
            Some(ResultOutcome::MetricFailed | ResultOutcome::ProgramFailed) => &mut self.failed,
        } += 1;
    }

    pub(super) fn rows(&self) -> u64 {
        let unscored = self.gated + self.skipped + self.abstained;
        let not_evaluated = self.not_needed + self.not_sampled + self.absent;
        self.scored + self.failed + unscored + not_evaluated
    }
}

/// The values that a score can have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bounds {
    /// Declared by the metric; `None` means any number.
    Declared(Option<ScoreRange>),
    /// Assumed, and used only if it contains all values. For a named score, this is its metric's range; for a metric
    /// that declares none, it is [0, 1].
    Assumed(Option<ScoreRange>),
}

impl Bounds {
    pub(super) const UNKNOWN: Self = Self::Assumed(Some(ScoreRange::UNIT));

    /// Returns the bounds of a metric or one of its named scores, from the run's manifest.
    pub(super) fn of(scores: &RunScores, name: &str) -> Self {
        let range = |name| scores.run.identity(name).map(MetricIdentity::range);
        if let Some(range) = range(name) {
            return Self::Declared(range);
        }
        let of_metric = name.split_once('.').and_then(|(metric, _)| range(metric));
        of_metric.map_or(Self::UNKNOWN, Self::Assumed)
    }

    /// Returns the bounds of a metric. If the metric declares no range, the bounds are assumed.
    pub(super) fn of_metric(scores: &RunScores, metric: &str) -> Self {
        let identity = scores.run.identity(metric);
        match identity.is_some_and(|it| !it.declares_range()) {
            true => Self::UNKNOWN,
            false => Self::of(scores, metric),
        }
    }

    /// Returns the bounds for two runs. If only one run declares them, those are used.
    pub(super) fn of_both(runs: [&RunScores; 2], name: &str) -> Self {
        match runs.map(|run| Self::of(run, name)) {
            [Self::Assumed(_), declared @ Self::Declared(_)] => declared,
            [first, _] => first,
        }
    }

    /// Returns a range that contains all values from `least` to `most`. A failed row may count as a value outside the
    /// metric's range.
    pub(super) fn range(self, kind: ScoreKind, least: f64, most: f64) -> Option<ScoreRange> {
        let range = match self {
            _ if kind == ScoreKind::Bool => Some(ScoreRange::UNIT),
            Self::Declared(range) => range,
            Self::Assumed(range) => range.filter(|it| it.min <= least && most <= it.max),
        };
        range.map(|it| ScoreRange {
            min: it.min.min(least),
            max: it.max.max(most),
        })
    }
}

/// A metric's statistics over all rows of a run.
///
/// The statistics are used to write files in the formats of other programs.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricFigures {
    /// The kind of the scores.
    ///
    /// Each row's score is a verdict or a number, or there is a single corpus score.
    pub kind: ScoreKind,
    /// The mean, or the corpus score of a corpus metric.
    ///
    /// In a mean, a failed row counts as the failure score.
    pub score: Option<f64>,
    /// The standard error and 95% interval of the score.
    pub uncertainty: Uncertainty,
    /// The method used to compute the interval.
    pub method: &'static str,
    /// The number of rows with each outcome.
    pub counts: Counts,
    /// The share of `true` rows among those in the mean.
    passed: Proportion,
    /// The lowest and highest values, or infinities if there are no values.
    extent: [f64; 2],
}

impl MetricFigures {
    /// Computes the mean of these scores. Each score comes with its row's group. The interval is computed as for a
    /// run's headline.
    pub(super) fn of(
        kind: ScoreKind,
        scores: impl Iterator<Item = (Score, Option<usize>)>,
        failure_score: f64,
        has_groups: bool,
        bounds: Bounds,
    ) -> Self {
        let mut counts = Counts::default();
        let mut values = Vec::new();
        for (score, group) in scores {
            counts.record(score.outcome);
            values.extend(score.counted(failure_score).map(|it| (it, group)));
        }
        if counts.scored == 0 {
            values.clear();
        }
        let mut sample = Sample::new(has_groups, None);
        let mut passed = Proportion::default();
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut is_verdict = true;
        for (value, group) in values {
            is_verdict &= value == 0.0 || value == 1.0;
            (least, most) = (least.min(value), most.max(value));
            passed.record(value >= 1.0);
            let group = group.map_or(u32::MAX, |group| u32::try_from(group).unwrap_or(u32::MAX));
            sample.record(Place { row: 0, group }, value);
        }
        let of_values = if is_verdict { kind } else { ScoreKind::Number };
        Self {
            kind,
            score: sample.mean(),
            uncertainty: sample.uncertainty(of_values, bounds.range(kind, least, most)),
            method: match kind {
                _ if has_groups => "cluster-robust (CR2)",
                ScoreKind::Bool => "Wilson",
                ScoreKind::Number | ScoreKind::Corpus => "Student's t",
            },
            counts,
            passed,
            extent: [least, most],
        }
    }

    /// Returns the mean, its interval and the number of rows as JSON.
    #[cfg(feature = "html")]
    pub(super) fn data(&self) -> serde_json::Value {
        let ci95 = self.uncertainty.ci95().filter(|_| self.score.is_some());
        serde_json::json!({
            "is_bool": self.kind == ScoreKind::Bool,
            "mean": self.score,
            "ci95": ci95,
            "no_interval": self.uncertainty.reason(),
            "extent": self.extent,
            "passed": [self.passed.successes, self.passed.trials],
            "rows": self.counts.rows(),
        })
    }
}

/// Writes the score with its interval and denominators: `68.06% [53.43, 82.68] (mean of 23/24, 1 failed counted as 0; 71.01% of the 23
/// scored)`.
impl fmt::Display for MetricFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { scored, failed, .. } = self.counts;
        let all = self.counts.rows();
        let Some(score) = self.score else {
            return write!(f, "not enough rows (0/{all} scored, {failed} failed)");
        };
        let unit = Unit(self.kind);
        write!(f, "{} ", unit.figure(score))?;
        match (self.uncertainty.ci95(), self.uncertainty.reason()) {
            (Some(ci95), _) => f.write_str(&unit.interval(ci95))?,
            (None, reason) => write!(f, "[{}]", reason.unwrap_or_default())?,
        }
        write!(f, " (mean of {scored}/{all}, {failed} failed")?;
        for (count, what) in [
            (self.counts.abstained, "abstained"),
            (self.counts.absent, "absent"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        if failed > 0 {
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 rows")]
            let of_scored = score * (scored + failed) as f64 / scored as f64;
            write!(
                f,
                " counted as 0; {} over the {scored} scored",
                unit.figure(of_scored)
            )?;
        }
        f.write_str(")")
    }
}

impl RunScores {
    /// Returns a metric's statistics over all rows.
    #[doc(hidden)]
    pub fn figures(&self, metric: &str) -> MetricFigures {
        let kind = self.run.kind(metric).unwrap_or(ScoreKind::Number);
        let has_groups = (0..self.rows.len()).any(|row| self.group_number(row).is_some());
        let figures = self.figures_of(metric, kind, has_groups);
        match self.run.known(metric).is_counted {
            true => MetricFigures {
                kind: ScoreKind::Corpus,
                score: self.corpus_score(metric),
                uncertainty: Uncertainty::NotComputed,
                method: "none: one score over all rows",
                ..figures
            },
            false => figures,
        }
    }

    /// Returns the mean over all rows. If the run ended once its gates were decided, the interval is the confidence
    /// sequence. If the metric judged a sample, the figures are estimates for all rows.
    pub(super) fn figures_of(
        &self,
        metric: &str,
        kind: ScoreKind,
        has_groups: bool,
    ) -> MetricFigures {
        let scores = self.column(metric).enumerate();
        let scores = scores.map(|(row, score)| (score, self.group_number(row)));
        let (failure_score, bounds) = (self.run.failure_score, Bounds::of_metric(self, metric));
        let mut figures = MetricFigures::of(kind, scores, failure_score, has_groups, bounds);
        let manifest = self.run.manifest();
        let early = manifest.and_then(|it| it.run.early.as_ref()?.ci95.get(metric));
        if let Some([low, high]) = early.copied() {
            let ci95 = Interval { low, high };
            figures.uncertainty = Uncertainty::WithoutStderr { ci95 };
            figures.method = "confidence sequence";
        }
        if let Some(truth) = self.truth(metric) {
            let ci95 = truth.interval();
            figures.score = Some(truth.mean);
            figures.uncertainty = Uncertainty::WithoutStderr { ci95 };
            figures.method = truth.method.name();
        }
        figures
    }

    /// Returns the estimate of a metric that judged a sample of the rows.
    pub(super) fn truth(&self, metric: &str) -> Option<&TruthResult> {
        let mut truths = self.run.manifest()?.run.truth.iter();
        truths.find(|truth| truth.metric == metric)
    }

    /// Computes the score over all rows from their contributions. Returns `None` for files from an earlier version,
    /// which contain no contributions.
    fn corpus_score(&self, metric: &str) -> Option<f64> {
        let mut counted = (0..self.rows.len()).filter_map(|row| self.corpus(metric, row));
        let mut all = counted.next()?.clone();
        counted.for_each(|more| all.merge(more));
        all.score().ok()
    }
}

/// The unit of a metric's figures: percent for pass or fail.
#[derive(Clone, Copy)]
pub(crate) struct Unit(pub(crate) ScoreKind);

impl Unit {
    pub(super) fn number(self, value: f64) -> String {
        match self.0 {
            ScoreKind::Bool => decimals(100.0 * value, 2),
            ScoreKind::Number | ScoreKind::Corpus => number(value),
        }
    }

    /// Returns the unit of a difference.
    pub(super) fn points(self) -> &'static str {
        match self.0 {
            ScoreKind::Bool => " percentage points",
            ScoreKind::Number | ScoreKind::Corpus => "",
        }
    }

    pub(crate) fn figure(self, value: f64) -> String {
        let percent = if self.0 == ScoreKind::Bool { "%" } else { "" };
        format!("{}{percent}", self.number(value))
    }

    /// Formats a difference with its sign.
    pub(super) fn change(self, value: f64) -> String {
        let sign = if value > 0.0 { "+" } else { "" };
        format!("{sign}{}", self.number(value))
    }

    pub(crate) fn change_with_unit(self, value: f64) -> String {
        format!("{}{}", self.change(value), self.points())
    }

    /// Formats the size of a difference with its unit.
    pub(crate) fn size(self, value: f64) -> String {
        format!("{}{}", self.number(value), self.points())
    }

    pub(crate) fn interval(self, Interval { low, high }: Interval) -> String {
        format!("[{}, {}]", self.number(low), self.number(high))
    }

    /// Formats an interval that follows its figure. Returns an empty string if there is no interval. If `sign` is -1,
    /// the figure is the difference in the opposite direction.
    pub(super) fn interval_after(self, interval: Option<Interval>, sign: f64) -> String {
        interval.map_or(String::new(), |Interval { low, high }| {
            let (low, high) = (sign * low, sign * high);
            let (low, high) = (low.min(high), low.max(high));
            format!(" {}", self.interval(Interval { low, high }))
        })
    }
}

/// Formats a number with four decimals, or with three significant digits if it would be shown as 0.
pub(super) fn number(value: f64) -> String {
    match value == 0.0 || value.abs() >= 0.000_05 {
        true if value.abs() < 1e9 => decimals(value, 4),
        _ => format!("{value:.2e}"),
    }
}

/// Formats a p-value as `= 0.012`.
pub(crate) fn p_equals(p: f64) -> String {
    match p < 0.001 {
        true => "< 0.001".to_owned(),
        false => format!("= {p:.3}"),
    }
}

#[cfg(all(test, feature = "html"))]
mod tests {
    use super::*;
    use crate::stats::decimals;

    fn figures(kind: ScoreKind, values: &[f64]) -> MetricFigures {
        let scores = values.iter().map(|value| (Score::of_part(*value), None));
        MetricFigures::of(kind, scores, 0.0, false, Bounds::UNKNOWN)
    }

    /// Formats the mean and the interval with four decimals, or the reason there is none.
    fn shown(figures: &MetricFigures) -> String {
        let mean = figures.score;
        let mean = mean.map_or("none".to_owned(), |mean| decimals(mean, 4));
        match figures.uncertainty.ci95() {
            Some(ci95) => format!("{mean} {ci95:.4}"),
            None => format!("{mean}, {}", figures.uncertainty.reason().unwrap()),
        }
    }

    #[test]
    fn numbers_that_differ_have_nearly_students_interval() {
        let bools = figures(ScoreKind::Bool, &[[1.0; 9].as_slice(), &[0.0]].concat());
        assert_eq!(shown(&bools), "0.9000 [0.5958, 0.9821]");
        let numbers = figures(ScoreKind::Number, &[0.5, 1.0, 0.0, 0.75, 0.25]);
        assert_eq!(shown(&numbers), "0.5000 [0.1497, 0.8503]");
    }

    #[test]
    fn the_interval_of_values_in_0_to_1_is_within_0_to_1() {
        let shown = |values: &[f64]| shown(&figures(ScoreKind::Number, values));
        assert_eq!(shown(&[0.9, 1.0]), "0.9500 [0.0951, 0.9997]");
        assert_eq!(shown(&[1.0; 1_000]), "1.0000 [0.9962, 1.0000]");
        assert_eq!(shown(&[0.9, 1.1]), "1.0000 [-0.2706, 2.2706]");
    }

    #[test]
    fn too_few_rows_have_no_interval() {
        let shown = |values: &[f64]| shown(&figures(ScoreKind::Number, values));
        assert_eq!(shown(&[]), "none, not enough rows");
        assert_eq!(shown(&[0.5]), "0.5000, not enough rows");
        assert_eq!(shown(&[1.5, 1.5]), "1.5000, all scores are equal");
    }

    #[test]
    fn rows_of_one_group_do_not_count_as_independent() {
        let copies = |times: usize| {
            let rows = (0..8).zip([1.0, 0.0].into_iter().cycle());
            let rows = std::iter::repeat_n(rows, times).flatten();
            let scores = rows.map(|(group, value)| (Score::of_part(value), Some(group)));
            let (kind, bounds) = (ScoreKind::Bool, Bounds::UNKNOWN);
            shown(&MetricFigures::of(kind, scores, 0.0, true, bounds))
        };
        assert_eq!(copies(1), "0.5000 [0.1668, 0.8332]");
        assert_eq!(copies(5), copies(1));
    }

    #[test]
    fn counts_have_thousands_separators() {
        let shown = [0, 999, 1_000, 20_000, 1_234_567].map(crate::results::thousands);
        assert_eq!(shown, ["0", "999", "1,000", "20,000", "1,234,567"]);
    }
}
