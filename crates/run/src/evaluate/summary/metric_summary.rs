//! Counts and means over rows, each with its denominator.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::counts::RepeatSummary;
use super::counts::UnknownField;
use crate::contract::ScoreKind;
use crate::evaluate::manifest::{JudgedBy, TruthResult};
use crate::messages::escape;
use crate::stats::decimals::decimals;
use crate::stats::{Histogram, Interval, Uncertainty};

/// The summary of a metric, or of one of its named scores, over all rows.
///
/// Every row is counted in exactly one of `scored`, `failed`, `gated`, `skipped`, `abstained`, `not_needed`
/// and `not_sampled`.
///
/// | number | sum | divided by |
/// | --- | --- | --- |
/// | `mean_scored` | values of scored rows | `scored` |
/// | `mean` | the same, and `failure_score` for each failed row | `scored + failed` |
///
/// Both means exclude rows that were gated, skipped, not needed or not sampled, and rows on which the metric abstained.
/// The headline counts these rows. If a scored row has no value for a named score, it counts as abstained for that
/// score. Sums are exact, so the result does not depend on the order in which rows finish.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricSummary {
    /// The metric's name, or `NAME.PART` for a named score.
    #[serde(skip)]
    pub name: String,
    /// The score, in the metric's range: the share of `true` for a bool (in [0, 1]), the mean for a number, or the
    /// corpus score for a corpus metric. `None` if no row has a score, if the corpus score is [not
    /// defined](Self::not_defined), or if a field that the metric reads is missing from every prediction.
    pub score: Option<f64>,
    /// The standard error and the 95% interval of [`score`](Self::score). Bools use a Wilson interval. Numbers use a
    /// Student's t interval, or a Wilson interval if [most scores are
    /// equal](crate::stats::Moments::uncertainty_within). The interval is cluster-robust if rows have
    /// [groups](crate::StatisticsSettings::group_by), and BCa with a [bootstrap](crate::StatisticsSettings::bootstrap).
    /// Failed rows count as the failure score here too.
    #[serde(flatten)]
    pub uncertainty: Uncertainty,
    /// The number of groups with at least one row in the mean; `None` if rows have no groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// Statistics over the repeats, if rows are evaluated [several times](crate::EvaluateBuilder::repeats); `None` for
    /// a named score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Box<RepeatSummary>>,
    /// The mean over scored and failed rows. A failed row counts as the failure score.
    pub mean: Option<f64>,
    /// The mean over the scored rows.
    pub mean_scored: Option<f64>,
    /// The kind of score, such as a bool or a number.
    pub kind: ScoreKind,
    /// The number of rows with a score.
    pub scored: u64,
    /// The number of rows on which the program or the metric failed.
    pub failed: u64,
    /// The number of rows that a cheaper metric rejected.
    pub gated: u64,
    /// The number of rows that the budget did not cover.
    pub skipped: u64,
    /// The number of rows on which the metric abstained. For a named score, this includes scored rows without a value
    /// for it.
    pub abstained: u64,
    /// The number of rows that were not evaluated because the gates had already been decided; see
    /// [`when_decided`](crate::StopSettings::when_decided).
    #[serde(skip_serializing_if = "is_zero")]
    pub not_needed: u64,
    /// The number of rows outside the sample that the metric judged; see [`truth`](crate::EvaluateBuilder::truth).
    #[serde(skip_serializing_if = "is_zero")]
    pub not_sampled: u64,
    /// The estimate from the sample. It determines the [`score`](Self::score), [`mean`](Self::mean) and interval.
    /// `None` if the metric evaluated all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Box<TruthResult>>,
    /// The number of rows that passed, because the score is `true` or meets the threshold. `None` if the metric has no
    /// verdict.
    pub passed: Option<u64>,
    /// The total cost of scored and failed rows, in millisatoshis; 0 for a named score.
    pub cost_msats: u64,
    /// The number of rows that the judge scored offline, using token overlap instead of a model.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_offline: u64,
    /// The number of scored rows whose prediction lacks a field that the metric reads, or has `null` in that field; see
    /// [`Scored::missing_fields`](dsrs_metrics_core::Scored::missing_fields).
    #[serde(skip_serializing_if = "is_zero")]
    pub missing: u64,
    /// The number of rows that lack each field, by field name. A row can lack several fields.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing_fields: BTreeMap<String, u64>,
    /// The fields that the metric reads but no scored prediction has. If there are any, the metric has no headline,
    /// because the names must be wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_fields: Vec<UnknownField>,
    /// The number of rows scored by only part of a panel, because a judge returned no verdict.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_in_part: u64,
    /// The number of rows scored by only part of a panel that does not set a `quorum`, so losing a judge was not
    /// explicitly allowed.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_without_quorum: u64,
    /// The models that replied to the judges of this metric and its components, as reported by their providers. Lists
    /// at most 100, ordered by judge, model and fingerprint, and counts only replies for scored rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judged_by: Vec<JudgedBy>,
    /// The number of replies from models that [`judged_by`](Self::judged_by) does not name.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_by_others: u64,
    /// The corpus score over all scored rows, such as corpus BLEU or micro F1. `None` unless the metric returns
    /// [counts](dsrs_metrics_core::CorpusCounts) and this score differs from the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus: Option<f64>,
    /// The reason a corpus metric has no score for these rows, if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_defined: Option<String>,
    /// The distribution of the scores, if the scores are numbers in a finite range; `None` for a named score.
    #[serde(skip)]
    pub histogram: Option<Histogram>,
    /// The error of the first judge that returned no verdict, in input order.
    #[serde(skip)]
    #[doc(hidden)]
    pub first_lost_judge: Option<String>,
    #[serde(skip)]
    pub(crate) failure_score: f64,
    #[serde(skip)]
    pub(crate) ones: u64,
    /// `true` if fewer than 30 rows differ from the most common score.
    #[serde(skip)]
    pub(crate) has_few: bool,
    /// `false` during a run: the interval is computed at the end.
    #[serde(skip)]
    pub(crate) has_interval: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl MetricSummary {
    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        let unscored = self.gated + self.skipped + self.abstained;
        self.scored + self.failed + unscored + self.not_needed + self.not_sampled
    }

    /// Returns [`score`](Self::score) times 100, unrounded. This is a percentage if the metric's range is [0, 1].
    pub fn percent(&self) -> Option<f64> {
        self.score.map(|score| 100.0 * score)
    }

    /// Returns `true` if the score of a row is a mean of repeats.
    pub(crate) fn has_repeats(&self) -> bool {
        self.repeats
            .as_ref()
            .is_some_and(|repeats| repeats.repeats > 1)
    }

    /// Returns a share in percent, or a number.
    fn figure(&self, value: f64) -> String {
        match self.kind {
            ScoreKind::Bool => format!("{:.2}%", 100.0 * value),
            ScoreKind::Number | ScoreKind::Corpus => decimals(value, 4),
        }
    }

    fn headline(&self, mean: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} (", self.figure(mean), self.interval())?;
        match &self.sampled {
            Some(sampled) => f.write_str(&sampled.counts()),
            None if self.kind == ScoreKind::Bool && !self.has_repeats() => {
                write!(f, "{}/{}", self.ones, self.scored + self.failed)
            }
            None => write!(f, "mean of {}/{}", self.scored, self.rows()),
        }
    }

    fn headline_corpus(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.score, &self.not_defined) {
            (Some(score), _) => f.write_str(&decimals(score, 4))?,
            (None, Some(reason)) => write!(f, "not defined: {}", escape::escaped(reason))?,
            (None, None) => f.write_str("not defined")?,
        }
        write!(f, " (over {}/{} rows", self.scored, self.rows())
    }

    fn fmt_repeats(&self, repeats: &RepeatSummary, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; {} repeats", repeats.repeats)?;
        let (failed, evaluations) = (repeats.failed, repeats.evaluations);
        if failed > 0 {
            write!(f, ", {failed} of {evaluations} evaluations failed")?;
        }
        if let Some(consistency) = repeats.consistency {
            write!(f, ", consistency {consistency:.2}")?;
        }
        let hat = repeats.pass_hat.values().last();
        if let Some(((k, at), hat)) = repeats.pass_at.iter().last().zip(hat) {
            let (at, hat) = (100.0 * at, 100.0 * hat);
            write!(f, ", pass@{k} {at:.2}%, pass^{k} {hat:.2}%")?;
        }
        Ok(())
    }

    /// Returns the interval as shown in the headline, after a space: `[0.8470, 0.8794]`, in percent for a bool;
    /// `[not enough rows]`.
    fn interval(&self) -> String {
        let is_share = self.kind == ScoreKind::Bool && !self.has_repeats();
        let note = match self.groups {
            Some(groups) => format!("; {groups} groups"),
            None if !self.has_few || is_share => String::new(),
            None if self.scored + self.failed < 30 => "; few rows".to_owned(),
            None => "; few rows differ".to_owned(),
        };
        match (self.uncertainty.ci95(), self.uncertainty.reason()) {
            _ if !self.has_interval => String::new(),
            (Some(Interval { low, high }), _) if self.kind == ScoreKind::Bool => {
                format!(" [{:.2}, {:.2}{note}]", 100.0 * low, 100.0 * high)
            }
            (Some(Interval { low, high }), _) => {
                format!(" [{}, {}{note}]", decimals(low, 4), decimals(high, 4))
            }
            (None, reason) => format!(" [{}]", reason.unwrap_or_default()),
        }
    }
}

/// The headline with its interval and its denominators: `74.87% [72.33, 77.25] (891/1190, 0 failed)`,
/// `0.8632 [0.8459, 0.8805] (mean of 1190/1190, 0 failed)`.
impl fmt::Display for MetricSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(unknown) = self.unknown_fields.first() {
            return write!(f, "not scored: {unknown} (0/{} rows)", self.rows());
        }
        match (self.mean, self.kind) {
            _ if let Some(sampled) = &self.sampled => self.headline(sampled.mean, f)?,
            (_, ScoreKind::Corpus) if self.scored > 0 => self.headline_corpus(f)?,
            (None, _) | (_, ScoreKind::Corpus) => {
                write!(f, "not enough rows (0/{} scored", self.rows())?;
            }
            (Some(mean), _) => self.headline(mean, f)?,
        }
        write!(f, ", {} failed", self.failed)?;
        if self.failed > 0 && self.mean.is_some() {
            write!(f, " counted as {}", self.failure_score)?;
        }
        let unscored = [
            (self.gated, "gated"),
            (self.skipped, "skipped"),
            (self.abstained, "abstained"),
            (self.not_needed, "not needed"),
            (self.not_sampled, "not sampled"),
        ];
        // The counts of a sample say the last one.
        let unscored = &unscored[..unscored.len() - usize::from(self.sampled.is_some())];
        for (count, what) in unscored.iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {what}")?;
        }
        if self.missing > 0 {
            let names = escape::names(self.missing_fields.keys().map(String::as_str));
            write!(f, ", {} without {names}", self.missing)?;
        }
        let has_other_mean = self.mean != self.mean_scored && self.sampled.is_none();
        if let Some(mean) = self.mean_scored.filter(|_| has_other_mean) {
            let of = match self.kind {
                ScoreKind::Bool => "of",
                ScoreKind::Number | ScoreKind::Corpus => "over",
            };
            write!(f, "; {} {of} the {} scored", self.figure(mean), self.scored)?;
        }
        if let Some(repeats) = &self.repeats {
            self.fmt_repeats(repeats, f)?;
        }
        if self.judged_in_part > 0 {
            write!(f, ", {} judged by part of the panel", self.judged_in_part)?;
        }
        if self.judged_offline > 0 {
            write!(f, "; judge: {}", crate::contract::score::OFFLINE_JUDGE)?;
        }
        if let Some(note) = self.sampled.as_ref().and_then(|it| it.note.as_ref()) {
            write!(f, "; {}", escape::escaped(note))?;
        }
        f.write_str(")")?;
        if let Some(corpus) = self.corpus {
            write!(f, "; corpus {}", decimals(corpus, 4))?;
            if self.failed > 0 {
                write!(f, " over the {} scored", self.scored)?;
            }
        }
        Ok(())
    }
}
