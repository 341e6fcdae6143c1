//! Counts and means over rows, each with its denominator.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::counts::{RepeatSummary, UnknownField};
use crate::contract::ScoreKind;
use crate::evaluate::manifest::{JudgedBy, TruthResult};
use crate::messages::escape;
use crate::stats::decimals;
use crate::stats::{Histogram, Interval, Uncertainty};

/// A summary of a metric's scores over all rows.
///
/// The summary can also cover one of the metric's named scores.
///
/// Every row counts towards exactly one of `scored`, `failed`, `gated`, `skipped`, `abstained`, `not_needed` and
/// `not_sampled`.
///
/// | number | sum | divided by |
/// | --- | --- | --- |
/// | `mean_scored` | values of scored rows | `scored` |
/// | `mean` | the same, and `failure_score` for each failed row | `scored + failed` |
///
/// [`mean`](Self::mean) and [`mean_scored`](Self::mean_scored) exclude rows that were gated, skipped, not needed or not
/// sampled. They also exclude rows on which the metric abstained. The headline reports the number of these rows.
///
/// If a scored row has no value for a named score, it counts as abstained for that score.
///
/// Sums are exact, so the result does not depend on the order in which rows finish.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricSummary {
    /// The metric's name.
    ///
    /// This is `NAME.PART` for a named score.
    #[serde(skip)]
    pub name: String,
    /// The score of the metric, in the metric's range.
    ///
    /// For a bool, this is the fraction of rows that are `true`, in [0, 1]. For a number, it is the mean. For a corpus
    /// metric, it is the corpus score.
    ///
    /// This is `None` if no row has a score, or if the corpus score is [not defined](Self::not_defined). It is also
    /// `None` if every prediction lacks a field that the metric reads.
    pub score: Option<f64>,
    /// The standard error and the 95% interval of [`score`](Self::score).
    ///
    /// Bools use a Wilson interval. Numbers use a Student's t interval, or a Wilson interval if [most scores are
    /// equal](crate::stats::Moments::uncertainty_within).
    ///
    /// The interval is cluster-robust if rows have [groups](crate::StatisticsSettings::group_by), and BCa with a
    /// [bootstrap](crate::StatisticsSettings::bootstrap).
    ///
    /// Failed rows count as the failure score here too.
    #[serde(flatten)]
    pub uncertainty: Uncertainty,
    /// The number of groups with at least one row in the mean.
    ///
    /// This is `None` if rows have no groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// Statistics over the repeats, if rows are evaluated [several times](crate::EvaluateBuilder::repeats).
    ///
    /// This is `None` for a named score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Box<RepeatSummary>>,
    /// The mean over scored and failed rows.
    ///
    /// Each failed row counts as the failure score.
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
    /// The number of rows on which the metric abstained.
    ///
    /// For a named score, this includes scored rows that have no value for the named score.
    pub abstained: u64,
    /// The number of rows not evaluated because the gates were already decided.
    ///
    /// See [`when_decided`](crate::StopSettings::when_decided).
    #[serde(skip_serializing_if = "is_zero")]
    pub not_needed: u64,
    /// The number of rows that are outside the metric's sample.
    ///
    /// See [`truth`](crate::EvaluateBuilder::truth).
    #[serde(skip_serializing_if = "is_zero")]
    pub not_sampled: u64,
    /// The estimate from the sample, if the metric judged only a sample of the rows.
    ///
    /// The [`score`](Self::score), [`mean`](Self::mean) and interval are taken from this estimate. This field is `None`
    /// if the metric evaluated all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Box<TruthResult>>,
    /// The number of rows that passed.
    ///
    /// A row passes if its score is `true` or meets the threshold. This field is `None` if the metric has no verdict.
    pub passed: Option<u64>,
    /// The total cost of scored and failed rows, in millisatoshis.
    ///
    /// This is 0 for a named score.
    pub cost_msats: u64,
    /// The number of rows that the judge scored offline.
    ///
    /// An offline judge uses token overlap instead of a model.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_offline: u64,
    /// The number of scored rows whose prediction lacks a field that the metric reads.
    ///
    /// A field that is `null` counts as missing. See
    /// [`Scored::missing_fields`](dsrs_metrics_core::Scored::missing_fields).
    #[serde(skip_serializing_if = "is_zero")]
    pub missing: u64,
    /// The number of rows that lack each field, by field name.
    ///
    /// A row can lack several fields.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing_fields: BTreeMap<String, u64>,
    /// The fields that the metric reads but no scored prediction has.
    ///
    /// If this list is not empty, the metric has no headline, because the field names are probably wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_fields: Vec<UnknownField>,
    /// The number of rows scored by only some of a panel's judges.
    ///
    /// For each of these rows, at least one judge on the panel returned no verdict.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_in_part: u64,
    /// The number of rows scored by only some judges of a panel without a `quorum`.
    ///
    /// Panels with a `quorum` are not counted, because they allow missing verdicts.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_without_quorum: u64,
    /// The models that the judges of this metric and its components used.
    ///
    /// The providers report the names of the models. The list has at most 100 entries, ordered by judge, model and
    /// fingerprint.
    ///
    /// Only replies for scored rows are counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judged_by: Vec<JudgedBy>,
    /// The number of replies from models that [`judged_by`](Self::judged_by) does not name.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged_by_others: u64,
    /// The corpus score over all scored rows, such as corpus BLEU or micro F1.
    ///
    /// This is `None` if the metric returns no [counts](dsrs_metrics_core::CorpusCounts), or if the corpus score is the
    /// same as the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus: Option<f64>,
    /// The reason the corpus score is undefined, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_defined: Option<String>,
    /// The distribution of the scores, if they are numbers in a finite range.
    ///
    /// This is `None` for a named score.
    #[serde(skip)]
    pub histogram: Option<Histogram>,
    /// The error from the first judge that returned no verdict.
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

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl MetricSummary {
    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        let unscored = self.gated + self.skipped + self.abstained;
        self.scored + self.failed + unscored + self.not_needed + self.not_sampled
    }

    /// Returns the [`score`](Self::score) times 100, unrounded.
    ///
    /// This is a percentage if the metric's range is [0, 1].
    pub fn percent(&self) -> Option<f64> {
        self.score.map(|score| 100.0 * score)
    }

    /// Returns `true` if the score of a row is a mean of repeats.
    pub(crate) fn has_repeats(&self) -> bool {
        self.repeats
            .as_ref()
            .is_some_and(|repeats| repeats.repeats > 1)
    }

    /// Formats a share as a percentage, or a number as it is.
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

    /// Formats the interval as shown in the headline, after a space: `[0.8470, 0.8794]`, in percent for a bool;
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

/// Writes the headline with its interval and its denominators: `74.87% [72.33, 77.25] (891/1190, 0 failed)`,
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
        // The counts of a sample already include the last one.
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
